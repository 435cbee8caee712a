/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic symbols of a shared object: which ones it wants from others, and whether it has a certain
 * one. Look-ups go through the file's own hash table (.gnu.hash, else .hash), so that a library of
 * 300,000 symbols costs a few reads each; nothing of it is mapped. Facts of the format: gABI,
 * glibc.
 */
#ifndef SYS_ELF_SYMBOL_H
#define SYS_ELF_SYMBOL_H

#include "sys/elf.h"

struct elf_symbols {
	struct elf e;
	struct elf_section sym, str, gnu, sysv;
	bool has_gnu, has_sysv;
	uint32_t buckets, first; /* of the hash table that is used */
	uint32_t bloom_words, bloom_shift;
};

/* False when the file has no dynamic symbols or no hash table that makes sense. `fd` is borrowed.
 */
bool elf_symbols_open(struct arena *a, int fd, const struct elf *e, struct elf_symbols *ret);
/* Does it define this symbol for others? False also when its tables make no sense. */
bool elf_symbols_defines(const struct elf_symbols *s, const char *name);
/*
 * Names that it wants and that must be there (weak ones need not), of which `wanted` says true; at
 * most `max`. Works without a hash table.
 */
const char **elf_undefined(struct arena *a, const struct elf *e, bool (*wanted)(const char *name),
			   size_t max, size_t *ret_n);

#endif

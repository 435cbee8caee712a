/* SPDX-License-Identifier: Apache-2.0 */
/* Builds small ELF libraries and GPU code in memory, so that tests can say what is in them and then
 * damage it. */
#ifndef TESTS_ELF_MAKE_H
#define TESTS_ELF_MAKE_H

#include <stddef.h>
#include <stdint.h>

enum { ELF_MAKE_MAX = 1 << 16 };

struct elf_make {
	/* what goes in; NULL or empty: left out */
	const char *soname, *rpath, *runpath;
	const char *needed[4];
	const char *versions[4]; /* GLIBC_2.17, ...: needs of libc.so.6 */
	const unsigned char *fat;
	size_t fat_n;
	const uint64_t *blobs; /* offsets in `fat`: .nvFatBinSegment is made of them */
	size_t n_blobs;
	/* what came out */
	unsigned char buf[ELF_MAKE_MAX];
	size_t n;
	size_t dyn, strtab, verneed, fat_at, records, shdr; /* offsets */
};

void elf_make(struct elf_make *m);
/* An unlinked temporary file with these bytes, at offset 0. */
int elf_make_fd(const void *buf, size_t n);

/* GPU code: appends to `buf` (size *n, at most ELF_MAKE_MAX). */
struct fat_make {
	unsigned char buf[ELF_MAKE_MAX];
	size_t n;
	size_t blob; /* offset of the last blob */
};
void fat_blob(struct fat_make *f);
/* kind 1 PTX, 2 cubin; suffix '\0', 'a', 'f'; payload bytes behind the header of 64. */
void fat_entry(struct fat_make *f, unsigned kind, unsigned arch, char suffix, size_t payload);

void elf_put(unsigned char *p, uint64_t v, size_t width);

#endif

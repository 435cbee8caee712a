/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an ELF file says about itself, by bounded reads over a descriptor: machine, soname, needed,
 * RPATH, RUNPATH, sections, the glibc that it needs. Nothing is mapped, so that a file that shrinks
 * cannot hurt. Facts of the format: elf(5), System V gABI, Linux Standard Base (symbol versions).
 */
#ifndef SYS_ELF_H
#define SYS_ELF_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"

struct arena;

struct elf_section {
	uint64_t addr, off, size;
	uint32_t type;
};

struct elf {
	int fd; /* borrowed */
	uint64_t base;	    /* where it begins in the file: not 0 for a member of an archive */
	uint64_t file_size; /* its own bytes */
	bool wide;           /* ELFCLASS64 */
	bool big;            /* big-endian: only header facts are read */
	uint16_t machine;    /* EM_* */
	uint16_t type;       /* ET_* */
	const char *soname;  /* NULL when there is none */
	const char **needed; /* n_needed strings */
	size_t n_needed;
	const char *rpath;   /* DT_RPATH, NULL when there is none */
	const char *runpath; /* DT_RUNPATH, NULL when there is none */
	const char *interp;  /* PT_INTERP, NULL when there is none */
	const char *glibcxx; /* highest GLIBCXX_x.y.z, as glibc below */
	const char *cxxabi;  /* highest CXXABI_x.y.z, likewise */
	uint64_t flags_1;    /* DT_FLAGS_1 */
	bool dynamic;        /* has a dynamic section */
	const char
		*glibc; /* highest GLIBC_x.y that a version need names: "2.28"; NULL without one */
	const char
		*damage; /* first thing in it that makes no sense, untranslated; NULL when sound */
	uint64_t shoff, dyn_off, dyn_size, interp_off, interp_size;
	uint32_t shnum, shstrndx;
	uint16_t shentsize;
	struct elf_load {
		uint64_t addr, off, size;
	} * loads; /* PT_LOAD segments */
	size_t n_loads;
};

/*
 * Reads the header, the segments, the dynamic section and the version needs of the regular file
 * `fd`. Strings are on the arena. 0: it is an ELF file, and what `damage` names was left out;
 * -ENOEXEC: it is none (text, archive, linker script, too short); another negative errno of
 * reading.
 */
int elf_read(struct arena *a, int fd, struct elf *ret) ATTR_MUST;
/* The same for the `size` bytes at `base`, which lie within the file. Offsets count from `base`. */
int elf_read_at(struct arena *a, int fd, uint64_t base, uint64_t size, struct elf *ret) ATTR_MUST;
/* Reads exactly n bytes at offset `off` of the object. */
bool elf_at(const struct elf *e, void *buf, size_t n, uint64_t off);
/* Section by name; false when the file has none such or its table makes no sense. */
bool elf_section(const struct elf *e, const char *name, struct elf_section *ret);
struct elf_named {
	const char *name; /* "" when it cannot be read; cut at 63 bytes */
	struct elf_section s;
};
/* All sections by few reads; NULL and 0 when there are none or the table makes no sense. */
struct elf_named *elf_sections(struct arena *a, const struct elf *e, size_t *ret_n);
/* "x86_64", "aarch64", ... as uname -m prints it; "unknown" otherwise. */
const char *elf_machine_name(const struct elf *e);

/* A little-endian number of 1 to 8 bytes. */
static inline uint64_t elf_le(const void *p, size_t width)
{
	uint64_t v = 0;

	memcpy(&v, p, width);
	return le64toh(v);
}
/* Reads exactly n bytes at off; false at the end of the file or on an error. */
bool elf_pread(int fd, void *buf, size_t n, uint64_t off);

#endif

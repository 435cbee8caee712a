/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Windows program or DLL (PE) says about itself, by bounded reads: machine, imports,
 * exports, sections. Format: Microsoft's "PE Format". Used for the Windows wheels of frameworks;
 * nothing is run.
 */
#ifndef SYS_PE_H
#define SYS_PE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/elf.h"

struct arena;

enum { PE_SECTIONS = 96 };

struct pe_section {
	char name[9];
	uint32_t rva, vsize, off, size;
};

struct pe {
	int fd;
	uint64_t base, size; /* in the file */
	uint16_t machine;
	bool dll, wide;
	uint64_t image_base;
	const char *name;	 /* by its export table; NULL */
	const char **imports;	 /* DLLs that it needs at once */
	size_t n_imports;
	const char **delayed;	 /* DLLs that it loads when they are first called */
	size_t n_delayed;
	uint32_t n_exports;	 /* names */
	bool python;		 /* exports PyInit_...: an extension module of Python */
	struct pe_section sections[PE_SECTIONS];
	size_t n_sections;
	const char *damage; /* untranslated; NULL when sound */
};

/* 0; -ENOEXEC: it is none. */
int pe_read(struct arena *a, int fd, uint64_t base, uint64_t size, struct pe *ret);
/* A section as the fatbin reader wants it: offset in the file, address as pointers hold it. */
bool pe_section(const struct pe *p, const char *name, struct elf_section *ret);
/* "x86_64", "arm64", "i386" or "unknown". */
const char *pe_machine_name(const struct pe *p);

#endif

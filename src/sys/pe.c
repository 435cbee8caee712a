/* SPDX-License-Identifier: Apache-2.0 */
/* Headers, import and export tables of a PE file; must not trust any address or count in them. */
#include "sys/pe.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"

enum {
	DOS_HEADER = 64,
	LFANEW = 0x3c,
	COFF_HEADER = 24, /* with the signature */
	SECTION_HEADER = 40,
	OPTIONAL_MAX = 512,
	MAGIC_32 = 0x10b,
	MAGIC_64 = 0x20b,
	IS_DLL = 0x2000,
	DIR_EXPORT = 0,
	DIR_IMPORT = 1,
	DIR_DELAY = 13,
	IMPORT_ENTRY = 20,
	DELAY_ENTRY = 32,
	EXPORT_TABLE = 40,
	IMPORTS_MAX = 1024,
	NAME_LEN_MAX = 512,
	EXPORTS_LOOKED_AT = 4096,
	MACHINE_I386 = 0x14c,
	MACHINE_X86_64 = 0x8664,
	MACHINE_ARM64 = 0xaa64,
};

struct directory {
	uint32_t rva, size;
};

static void damaged(struct pe *p, const char *what)
{
	if (!p->damage)
		p->damage = what;
}

static bool at(const struct pe *p, void *buf, size_t n, uint64_t off)
{
	return off <= p->size && n <= p->size - off && elf_pread(p->fd, buf, n, p->base + off);
}

/* Offset of an address in the file, and how many bytes of its section follow. */
static bool rva_offset(const struct pe *p, uint32_t rva, uint64_t *ret_off, uint64_t *ret_left)
{
	size_t i;

	for (i = 0; i < p->n_sections; i++) {
		const struct pe_section *s = &p->sections[i];

		if (rva < s->rva || rva - s->rva >= s->size)
			continue;
		*ret_off = (uint64_t)s->off + (rva - s->rva);
		*ret_left = s->size - (rva - s->rva);
		return true;
	}
	return false;
}

static bool at_rva(const struct pe *p, void *buf, size_t n, uint32_t rva)
{
	uint64_t off, left;

	return rva_offset(p, rva, &off, &left) && left >= n && at(p, buf, n, off);
}

static const char *string_at(struct arena *a, const struct pe *p, uint32_t rva)
{
	char buf[NAME_LEN_MAX];
	uint64_t off, left;
	size_t n;

	if (!rva_offset(p, rva, &off, &left) || off > p->size)
		return NULL;
	n = left < sizeof(buf) ? (size_t)left : sizeof(buf);
	if (n > p->size - off)
		n = (size_t)(p->size - off);
	if (!at(p, buf, n, off) || !memchr(buf, 0, n))
		return NULL;
	return arena_strdup(a, buf);
}

static void read_sections(struct pe *p, uint64_t off, unsigned n)
{
	unsigned char h[SECTION_HEADER];
	struct pe_section *s;
	unsigned i;

	if (n > PE_SECTIONS) {
		damaged(p, "too many sections");
		n = PE_SECTIONS;
	}
	for (i = 0; i < n; i++) {
		if (!at(p, h, sizeof(h), off + (uint64_t)i * SECTION_HEADER))
			return damaged(p, "the section table lies past the end");
		s = &p->sections[p->n_sections++];
		memcpy(s->name, h, 8);
		s->vsize = (uint32_t)elf_le(h + 8, 4);
		s->rva = (uint32_t)elf_le(h + 12, 4);
		s->size = (uint32_t)elf_le(h + 16, 4);
		s->off = (uint32_t)elf_le(h + 20, 4);
		if (s->off > p->size || s->size > p->size - s->off) {
			damaged(p, "a section lies past the end");
			s->size = s->off > p->size ? 0 : (uint32_t)(p->size - s->off);
			s->off = s->size ? s->off : 0;
		}
	}
}

/* Names of the DLLs in a table of entries of `step` bytes, whose name is at `name_at`. */
static const char **read_imports(struct arena *a, struct pe *p, struct directory d,
				 const size_t shape[2], size_t *ret_n)
{
	unsigned char e[DELAY_ENTRY];
	const char **list = NULL, *name;
	uint32_t i, rva;

	*ret_n = 0;
	for (i = 0; d.rva && i < IMPORTS_MAX; i++) {
		if (!at_rva(p, e, shape[0], (uint32_t)(d.rva + i * shape[0]))) {
			damaged(p, "the import table lies outside the sections");
			break;
		}
		rva = (uint32_t)elf_le(e + shape[1], 4);
		if (!rva)
			break;
		name = string_at(a, p, rva);
		if (!name) {
			damaged(p, "an import has no name");
			break;
		}
		*ARENA_APPEND(a, list, *ret_n) = name;
	}
	if (i == IMPORTS_MAX)
		damaged(p, "too many imports");
	return list;
}

static void read_exports(struct arena *a, struct pe *p, struct directory d)
{
	unsigned char t[EXPORT_TABLE], r[4];
	uint32_t names, i;
	const char *name;

	if (!d.rva)
		return;
	if (!at_rva(p, t, sizeof(t), d.rva))
		return damaged(p, "the export table lies outside the sections");
	p->name = string_at(a, p, (uint32_t)elf_le(t + 12, 4));
	p->n_exports = (uint32_t)elf_le(t + 24, 4);
	names = (uint32_t)elf_le(t + 32, 4);
	for (i = 0; i < p->n_exports && i < EXPORTS_LOOKED_AT && !p->python; i++) {
		if (!at_rva(p, r, sizeof(r), names + i * 4)) {
			damaged(p, "the names of the exports lie outside the sections");
			p->n_exports = i;
			return;
		}
		name = string_at(a, p, (uint32_t)elf_le(r, 4));
		p->python = name && strncmp(name, "PyInit_", 7) == 0;
	}
}

static struct directory directory(const unsigned char *o, size_t n, size_t first, unsigned i)
{
	struct directory d = { 0 };
	size_t count = n >= first ? (size_t)elf_le(o + first - 4, 4) : 0;

	if (i >= count || first + ((size_t)i + 1) * 8 > n)
		return d;
	d.rva = (uint32_t)elf_le(o + first + (size_t)i * 8, 4);
	d.size = (uint32_t)elf_le(o + first + (size_t)i * 8 + 4, 4);
	return d;
}

int pe_read(struct arena *a, int fd, uint64_t base, uint64_t size, struct pe *ret)
{
	static const size_t import_shape[] = { IMPORT_ENTRY, 12 },
			    delay_shape[] = { DELAY_ENTRY, 4 };
	unsigned char dos[DOS_HEADER], h[COFF_HEADER], o[OPTIONAL_MAX] = { 0 };
	struct pe p = { .fd = fd, .base = base, .size = size };
	size_t n, first;
	uint64_t off;

	if (!at(&p, dos, sizeof(dos), 0) || memcmp(dos, "MZ", 2) != 0)
		return -ENOEXEC;
	off = elf_le(dos + LFANEW, 4);
	if (!at(&p, h, sizeof(h), off) || memcmp(h, "PE\0\0", 4) != 0)
		return -ENOEXEC;
	p.machine = (uint16_t)elf_le(h + 4, 2);
	p.dll = (elf_le(h + 22, 2) & IS_DLL) != 0;
	n = (size_t)elf_le(h + 20, 2);
	read_sections(&p, off + COFF_HEADER + n, (unsigned)elf_le(h + 6, 2));
	if (n > sizeof(o))
		n = sizeof(o);
	if (n < 2 || !at(&p, o, n, off + COFF_HEADER)) {
		damaged(&p, "shorter than its header");
		n = 0;
	}
	p.wide = elf_le(o, 2) == MAGIC_64;
	if (n && !p.wide && elf_le(o, 2) != MAGIC_32) {
		damaged(&p, "unknown class");
		n = 0;
	}
	/* Where the directories begin; their count stands in front of them. */
	first = p.wide ? 112 : 96;
	p.image_base = p.wide ? elf_le(o + 24, 8) : elf_le(o + 28, 4);
	p.imports =
		read_imports(a, &p, directory(o, n, first, DIR_IMPORT), import_shape, &p.n_imports);
	p.delayed =
		read_imports(a, &p, directory(o, n, first, DIR_DELAY), delay_shape, &p.n_delayed);
	read_exports(a, &p, directory(o, n, first, DIR_EXPORT));
	*ret = p;
	return 0;
}

bool pe_section(const struct pe *p, const char *name, struct elf_section *ret)
{
	size_t i;

	for (i = 0; i < p->n_sections; i++) {
		if (strcmp(p->sections[i].name, name) != 0)
			continue;
		*ret = (struct elf_section){ .addr = p->image_base + p->sections[i].rva,
					     .off = p->base + p->sections[i].off,
					     .size = p->sections[i].size };
		/* What is in the file is padded; the size in memory is the true one. */
		if (p->sections[i].vsize && p->sections[i].vsize < ret->size)
			ret->size = p->sections[i].vsize;
		return true;
	}
	return false;
}

const char *pe_machine_name(const struct pe *p)
{
	switch (p->machine) {
	case MACHINE_X86_64:
		return "x86_64";
	case MACHINE_ARM64:
		return "arm64";
	case MACHINE_I386:
		return "i386";
	default:
		return "unknown";
	}
}

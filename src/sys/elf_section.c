/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of an ELF file by name, and the names of machines; must not trust the section table. */
#include <elf.h>
#include <string.h>

#include "base/arena.h"
#include "base/view.h"
#include "sys/elf.h"

enum { SECTION_MAX = 8192, NAME_LEN = 64, NAMES_MAX = 1 << 20 };

/* One entry of the table, whose bytes are at `p`. */
static void entry(const struct elf *e, const unsigned char *p, uint32_t *ret_name,
		  struct elf_section *ret)
{
	size_t w = e->wide ? 8 : 4;

	*ret_name = (uint32_t)elf_le(p, 4);
	ret->type = (uint32_t)elf_le(p + 4, 4);
	ret->addr = elf_le(p + (e->wide ? 16 : 12), w);
	ret->off = elf_le(p + (e->wide ? 24 : 16), w);
	ret->size = elf_le(p + (e->wide ? 32 : 20), w);
}

static bool read_entry(const struct elf *e, uint64_t i, uint32_t *ret_name, struct elf_section *ret)
{
	unsigned char buf[sizeof(Elf64_Shdr)];
	size_t size = e->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);

	if (!elf_at(e, buf, size, e->shoff + i * e->shentsize))
		return false;
	entry(e, buf, ret_name, ret);
	return true;
}

/*
 * The count and the index of the names move into entry 0 when they do not fit (gABI, extended
 * numbering).
 */
static bool table_size(const struct elf *e, uint64_t *ret_n, struct elf_section *ret_names)
{
	size_t size = e->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint64_t n = e->shnum, names = e->shstrndx;
	unsigned char buf[sizeof(Elf64_Shdr)];
	uint32_t name;

	if (e->big || !e->shoff || e->shoff >= e->file_size || e->shentsize < size)
		return false;
	if (!n || names == SHN_XINDEX) {
		if (!elf_at(e, buf, size, e->shoff))
			return false;
		if (!n)
			n = elf_le(buf + (e->wide ? 32 : 20), e->wide ? 8 : 4);
		if (names == SHN_XINDEX)
			names = elf_le(buf + (e->wide ? 40 : 24), 4);
	}
	if (!n || n > SECTION_MAX || names >= n || !read_entry(e, names, &name, ret_names))
		return false;
	*ret_n = n;
	return ret_names->off < e->file_size;
}

static bool name_is(const struct elf *e, const struct elf_section *names, uint32_t at,
		    const char *name)
{
	char buf[NAME_LEN];
	size_t n = strlen(name) + 1;

	return n <= sizeof(buf) && at < names->size && names->size - at >= n &&
	       names->off <= e->file_size && elf_at(e, buf, n, names->off + at) &&
	       memcmp(buf, name, n) == 0;
}

bool elf_section(const struct elf *e, const char *name, struct elf_section *ret)
{
	struct elf_section names, s;
	uint32_t at;
	uint64_t n, i;

	if (!table_size(e, &n, &names))
		return false;
	for (i = 1; i < n; i++) {
		if (!read_entry(e, i, &at, &s))
			return false;
		if (!name_is(e, &names, at, name))
			continue;
		if (s.type == SHT_NOBITS || s.off > e->file_size || s.size > e->file_size - s.off)
			return false;
		*ret = s;
		return true;
	}
	return false;
}

/* Bytes of the string table of section names, at most NAMES_MAX. */
static struct view read_names(struct arena *a, const struct elf *e, const struct elf_section *names)
{
	uint64_t n = names->size;
	char *buf;

	if (names->off >= e->file_size)
		return (struct view){ .n = 0 };
	if (n > e->file_size - names->off)
		n = e->file_size - names->off;
	if (n > NAMES_MAX)
		n = NAMES_MAX;
	buf = arena_alloc(a, n + 1);
	return (struct view){ .p = buf, .n = elf_at(e, buf, n, names->off) ? n : 0 };
}

struct elf_named *elf_sections(struct arena *a, const struct elf *e, size_t *ret_n)
{
	struct elf_section names_at;
	struct elf_named *list;
	struct view names;
	unsigned char *buf;
	uint64_t n, i;
	uint32_t at;

	*ret_n = 0;
	if (!table_size(e, &n, &names_at))
		return NULL;
	buf = arena_calloc(a, n, e->shentsize);
	if (!elf_at(e, buf, n * e->shentsize, e->shoff))
		return NULL;
	names = read_names(a, e, &names_at);
	list = arena_calloc(a, n, sizeof(*list));
	for (i = 0; i < n; i++) {
		entry(e, buf + i * e->shentsize, &at, &list[i].s);
		list[i].name = at < names.n ? arena_strndup(a, names.p + at,
							    strnlen(names.p + at, NAME_LEN - 1))
					    : "";
	}
	*ret_n = n;
	return list;
}

const char *elf_machine_name(const struct elf *e)
{
	switch (e->machine) {
	case EM_X86_64:
		return "x86_64";
	case EM_AARCH64:
		return "aarch64";
	case EM_386:
		return "i386";
	case EM_ARM:
		return "arm";
	case EM_PPC64:
		return e->big ? "ppc64" : "ppc64le";
	case EM_RISCV:
		return "riscv64";
	default:
		return "unknown";
	}
}

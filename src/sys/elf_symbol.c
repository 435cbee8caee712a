/* SPDX-License-Identifier: Apache-2.0 */
/* Reads symbol and hash tables piece by piece; must not trust any index, count or offset in them.
 */
#include "sys/elf_symbol.h"

#include <elf.h>

#include "base/arena.h"

enum {
	NAME_MAX_LEN = 2048, /* mangled names of torch reach a few hundred bytes */
	CHAIN_MAX = 4096,
	SYMBOLS_MAX = 1 << 20, /* an extension has thousands */
	PIECE = 512,	       /* symbols in one read */
};

static bool read_u32(const struct elf *e, const struct elf_section *s, uint64_t at, uint32_t *ret)
{
	unsigned char b[4];

	if (at > s->size || s->size - at < sizeof(b) ||
	    !elf_pread(e->fd, b, sizeof(b), s->off + at))
		return false;
	*ret = (uint32_t)elf_le(b, sizeof(b));
	return true;
}

static bool open_gnu(struct elf_symbols *s)
{
	unsigned char h[16];

	if (!elf_section(&s->e, ".gnu.hash", &s->gnu) || s->gnu.size < sizeof(h) ||
	    !elf_pread(s->e.fd, h, sizeof(h), s->gnu.off))
		return false;
	s->buckets = (uint32_t)elf_le(h, 4);
	s->first = (uint32_t)elf_le(h + 4, 4);
	s->bloom_words = (uint32_t)elf_le(h + 8, 4);
	s->bloom_shift = (uint32_t)elf_le(h + 12, 4);
	return s->buckets && s->bloom_words && !(s->bloom_words & (s->bloom_words - 1)) &&
	       s->bloom_shift < 64;
}

static bool open_sysv(struct elf_symbols *s)
{
	return elf_section(&s->e, ".hash", &s->sysv) && read_u32(&s->e, &s->sysv, 0, &s->buckets) &&
	       s->buckets;
}

bool elf_symbols_open(struct arena *a, int fd, const struct elf *e, struct elf_symbols *ret)
{
	(void)a;
	*ret = (struct elf_symbols){ .e = *e };
	ret->e.fd = fd;
	if (!e->wide || e->big || !elf_section(&ret->e, ".dynsym", &ret->sym) ||
	    !elf_section(&ret->e, ".dynstr", &ret->str))
		return false;
	ret->has_gnu = open_gnu(ret);
	if (!ret->has_gnu)
		ret->has_sysv = open_sysv(ret);
	return ret->has_gnu || ret->has_sysv;
}

/* Is symbol i defined for others, and called so? */
static bool is_it(const struct elf_symbols *s, uint32_t i, const char *name, size_t len)
{
	unsigned char b[sizeof(Elf64_Sym)];
	char text[NAME_MAX_LEN];
	uint64_t at = (uint64_t)i * sizeof(b), str;

	if (at > s->sym.size || s->sym.size - at < sizeof(b) ||
	    !elf_pread(s->e.fd, b, sizeof(b), s->sym.off + at))
		return false;
	str = elf_le(b, 4);
	if (elf_le(b + 6, 2) == SHN_UNDEF || ELF64_ST_BIND(b[4]) == STB_LOCAL ||
	    len >= sizeof(text) || str >= s->str.size || s->str.size - str < len + 1 ||
	    !elf_pread(s->e.fd, text, len + 1, s->str.off + str))
		return false;
	return memcmp(text, name, len + 1) == 0;
}

static bool in_gnu(const struct elf_symbols *s, const char *name, size_t len)
{
	uint64_t bloom = 16, buckets = bloom + (uint64_t)s->bloom_words * 8,
		 chains = buckets + (uint64_t)s->buckets * 4, word;
	uint32_t h = 5381, i, c, n;
	unsigned char b[8];
	const char *p;

	for (p = name; *p; p++)
		h = h * 33 + (unsigned char)*p;
	word = bloom + (uint64_t)(h / 64 & (s->bloom_words - 1)) * 8;
	if (word > s->gnu.size || s->gnu.size - word < sizeof(b) ||
	    !elf_pread(s->e.fd, b, sizeof(b), s->gnu.off + word))
		return false;
	word = elf_le(b, sizeof(b));
	if (!(word >> (h % 64) & 1) || !(word >> (h >> s->bloom_shift) % 64 & 1))
		return false;
	if (!read_u32(&s->e, &s->gnu, buckets + (uint64_t)(h % s->buckets) * 4, &i) || i < s->first)
		return false;
	for (n = 0; n < CHAIN_MAX; n++, i++) {
		if (!read_u32(&s->e, &s->gnu, chains + (uint64_t)(i - s->first) * 4, &c))
			return false;
		if ((c | 1) == (h | 1) && is_it(s, i, name, len))
			return true;
		if (c & 1)
			return false;
	}
	return false;
}

static bool in_sysv(const struct elf_symbols *s, const char *name, size_t len)
{
	uint32_t h = 0, g, i, n;
	const char *p;

	for (p = name; *p; p++) {
		h = (h << 4) + (unsigned char)*p;
		g = h & 0xf0000000;
		h = (h ^ g >> 24) & ~g;
	}
	if (!read_u32(&s->e, &s->sysv, 8 + (uint64_t)(h % s->buckets) * 4, &i))
		return false;
	for (n = 0; i && n < CHAIN_MAX; n++) {
		if (is_it(s, i, name, len))
			return true;
		if (!read_u32(&s->e, &s->sysv, 8 + ((uint64_t)s->buckets + i) * 4, &i))
			return false;
	}
	return false;
}

bool elf_symbols_defines(const struct elf_symbols *s, const char *name)
{
	size_t len = strlen(name);

	return s->has_gnu ? in_gnu(s, name, len) : s->has_sysv && in_sysv(s, name, len);
}

/* The name at `at`; NULL when it lies outside the table or has no end. */
static const char *name_at(const struct elf *e, const struct elf_section *str, uint64_t at,
			   char buf[NAME_MAX_LEN])
{
	size_t n = NAME_MAX_LEN;

	if (at >= str->size)
		return NULL;
	if (str->size - at < n)
		n = (size_t)(str->size - at);
	if (!elf_pread(e->fd, buf, n, str->off + at) || !memchr(buf, 0, n))
		return NULL;
	return buf;
}

const char **elf_undefined(struct arena *a, const struct elf *e, bool (*wanted)(const char *name),
			   size_t max, size_t *ret_n)
{
	unsigned char b[PIECE * sizeof(Elf64_Sym)];
	struct elf_section sym, str;
	const char **list = NULL, *name;
	uint64_t n, i = 1, k, piece;
	char buf[NAME_MAX_LEN];
	size_t found = 0;

	*ret_n = 0;
	if (!e->wide || e->big || !elf_section(e, ".dynsym", &sym) ||
	    !elf_section(e, ".dynstr", &str))
		return NULL;
	n = sym.size / sizeof(Elf64_Sym);
	if (n > SYMBOLS_MAX)
		n = SYMBOLS_MAX;
	for (; i < n && found < max; i += piece) {
		piece = n - i < PIECE ? n - i : PIECE;
		if (!elf_pread(e->fd, b, (size_t)piece * sizeof(Elf64_Sym),
			       sym.off + i * sizeof(Elf64_Sym)))
			break;
		for (k = 0; k < piece && found < max; k++) {
			const unsigned char *s = b + k * sizeof(Elf64_Sym);

			if (elf_le(s + 6, 2) != SHN_UNDEF || ELF64_ST_BIND(s[4]) != STB_GLOBAL)
				continue;
			name = name_at(e, &str, elf_le(s, 4), buf);
			if (name && wanted(name))
				*ARENA_APPEND(a, list, found) = arena_strdup(a, name);
		}
	}
	*ret_n = found;
	return list;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing ld.so.cache. It must believe no number of the file. Format: dl-cache.h of glibc. */
#include "sys/ldcache.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"

#define OLD_MAGIC "ld.so-1.7.0"
#define NEW_MAGIC "glibc-ld.so.cache1.1"

enum {
	OLD_HEADER = 16, /* magic, padding, count */
	OLD_ENTRY = 12,	 /* flags, name, path */
	NEW_HEADER = 48, /* magic, count, length of strings, flags, extension, reserved */
	NEW_ENTRY = 24,	 /* flags, name, path, OS version, hwcap */
	ENDIAN_MASK = 3,
	SIZE_LIMIT = 16 << 20,
	EXTENSION_AT = 32, /* in the new header: where the extensions begin */
	EXTENSION_SECTION = 16,
	EXTENSION_SECTIONS_MAX = 64,
	TAG_HWCAPS = 1,
	ELF_ANY = 1, /* flags of a library of an unknown C library */
};
static const uint32_t extension_magic = 0xEAA42174;
/* Bits of an entry's hwcap. */
static const uint64_t hwcap_extension = UINT64_C(1) << 62, hwcap_tls = UINT64_C(1) << 63;
static const uint64_t isa_level_mask = 0x3ff;

static uint32_t u32(struct view v, size_t at)
{
	uint32_t x;

	memcpy(&x, v.p + at, sizeof(x));
	return x;
}

static size_t fitting(size_t count, size_t room, size_t entry, struct ldcache *c)
{
	if (count <= room / entry)
		return count;
	c->damage = "counts more entries than it holds";
	return room / entry;
}

/* The list of names of glibc-hwcaps folders, which entries refer to by index. */
static void parse_extension(struct view text, size_t at, struct ldcache *ret)
{
	size_t ext = u32(text, at + EXTENSION_AT), n, i, off, size;

	if (!ext || ext > text.n - at || text.n - at - ext < 8)
		return;
	ext += at;
	n = u32(text, ext + 4);
	if (u32(text, ext) != extension_magic || n > EXTENSION_SECTIONS_MAX)
		return;
	for (i = 0; i < n && (i + 1) * EXTENSION_SECTION <= text.n - ext - 8; i++) {
		off = u32(text, ext + 8 + i * EXTENSION_SECTION + 8);
		size = u32(text, ext + 8 + i * EXTENSION_SECTION + 12);
		if (u32(text, ext + 8 + i * EXTENSION_SECTION) != TAG_HWCAPS)
			continue;
		if (off > text.n - at || size > text.n - at - off)
			ret->damage = "a list lies outside the file";
		else
			ret->hwcaps = at + off, ret->n_hwcaps = size / 4;
	}
}

static int parse_new(struct view text, size_t at, struct ldcache *ret)
{
	unsigned endian = (unsigned char)text.p[at + 28] & ENDIAN_MASK;

	/* 0: written before the byte order was noted. The other order: the loader refuses the file.
	 */
	if (endian != 0 && endian != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 2U : 3U))
		return -EINVAL;
	ret->is_new = true;
	ret->entries = at + NEW_HEADER;
	ret->strings = at;
	ret->n = fitting(u32(text, at + 20), text.n - at - NEW_HEADER, NEW_ENTRY, ret);
	parse_extension(text, at, ret);
	return 0;
}

int ldcache_parse(struct view text, struct ldcache *ret)
{
	size_t at;

	*ret = (struct ldcache){ .text = text };
	if (text.n >= NEW_HEADER && view_starts(text, NEW_MAGIC))
		return parse_new(text, 0, ret);
	if (text.n < OLD_HEADER || !view_starts(text, OLD_MAGIC))
		return -EINVAL;
	ret->entries = OLD_HEADER;
	ret->n = fitting(u32(text, 12), text.n - OLD_HEADER, OLD_ENTRY, ret);
	ret->strings = OLD_HEADER + ret->n * OLD_ENTRY;
	at = (ret->strings + 7) & ~(size_t)7;
	if (!ret->damage && text.n >= NEW_HEADER && at <= text.n - NEW_HEADER &&
	    view_starts(view_skip(text, at), NEW_MAGIC))
		return parse_new(text, at, ret);
	return 0;
}

int ldcache_read(const struct sysroot *r, struct arena *a, struct ldcache *ret)
{
	struct view text;
	int e = sysroot_read(r, a, LDCACHE_PATH, SIZE_LIMIT, &text, NULL);

	*ret = (struct ldcache){ 0 };
	return e ? e : ldcache_parse(text, ret);
}

/* A string of the file that ends within it. */
static const char *string_at(const struct ldcache *c, uint32_t offset)
{
	size_t room = c->text.n - c->strings;

	if (offset >= room)
		return NULL;
	return memchr(c->text.p + c->strings + offset, 0, room - offset)
		       ? c->text.p + c->strings + offset
		       : NULL;
}

bool ldcache_entry(const struct ldcache *c, size_t i, struct ldcache_entry *ret)
{
	size_t at;

	if (i >= c->n)
		return false;
	at = c->entries + i * (c->is_new ? NEW_ENTRY : OLD_ENTRY);
	ret->flags = (int)u32(c->text, at);
	ret->name = string_at(c, u32(c->text, at + 4));
	ret->path = string_at(c, u32(c->text, at + 8));
	ret->hwcap = 0;
	if (c->is_new)
		memcpy(&ret->hwcap, c->text.p + at + 16, sizeof(ret->hwcap));
	return ret->name && ret->path;
}

bool ldcache_find(const struct ldcache *c, const char *name, int flags, size_t *pos,
		  struct ldcache_entry *ret)
{
	while (*pos < c->n)
		if (ldcache_entry(c, (*pos)++, ret) && !ret->hwcap &&
		    (flags == LDCACHE_ANY || ret->flags == flags) && strcmp(ret->name, name) == 0)
			return true;
	return false;
}

/* A number in a name, as the loader reads it: in 32 bits. */
static uint32_t number(const char **p)
{
	uint32_t x = 0;

	while (**p >= '0' && **p <= '9')
		x = x * 10 + (uint32_t)(*(*p)++ - '0');
	return x;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The order of names in the cache: numbers by their value. */
static int compare(const char *a, const char *b)
{
	uint32_t x, y;

	while (*a) {
		if (is_digit(*a) != is_digit(*b))
			return is_digit(*a) ? 1 : -1;
		if (is_digit(*a)) {
			x = number(&a);
			y = number(&b);
			if (x != y)
				return (int32_t)(x - y) < 0 ? -1 : 1;
		} else if (*a != *b) {
			return (signed char)*a - (signed char)*b;
		} else {
			a++;
			b++;
		}
	}
	return -(signed char)*b;
}

/* Rank of the entry's glibc-hwcaps folder among those that are searched, from 1; 0: not searched.
 */
static unsigned hwcap_rank(const struct ldcache *c, uint64_t hwcap, const struct ldcache_cpu *cpu)
{
	size_t i = (uint32_t)hwcap;
	const char *name;
	unsigned k;

	if (i >= c->n_hwcaps)
		return 0;
	name = string_at(c, u32(c->text, c->hwcaps + i * 4));
	for (k = 0; name && cpu->hwcaps && cpu->hwcaps[k]; k++)
		if (strcmp(cpu->hwcaps[k], name) == 0)
			return k + 1;
	return 0;
}

static bool is_named_hwcap(uint64_t hwcap)
{
	return ((hwcap >> 32) & ~isa_level_mask) == hwcap_extension >> 32;
}

/* Of the entries from `i` on that bear the name, the one that fits best. */
static const char *best_of(const struct ldcache *c, size_t i, const char *name, int flags,
			   const struct ldcache_cpu *cpu)
{
	const char *best = NULL;
	unsigned best_rank = 0, rank;
	struct ldcache_entry e;

	for (; i < c->n; i++) {
		if (!ldcache_entry(c, i, &e)) {
			if (!e.name)
				break;
			continue;
		}
		if (compare(name, e.name) != 0)
			break;
		if (flags != LDCACHE_ANY && e.flags != flags && e.flags != ELF_ANY)
			continue;
		if (is_named_hwcap(e.hwcap)) {
			rank = hwcap_rank(c, e.hwcap, cpu);
			if (rank && (!best || rank < best_rank)) {
				best = e.path;
				best_rank = rank;
			}
			continue;
		}
		/* Those of glibc-hwcaps stand in front. */
		if (best && best_rank)
			break;
		if (e.hwcap && (!cpu->legacy || (e.hwcap & ~(cpu->bits | hwcap_tls))))
			continue;
		if (!best || e.flags == flags)
			best = e.path;
		if (e.flags == flags || flags == LDCACHE_ANY)
			break;
	}
	return best;
}

const char *ldcache_lookup(const struct ldcache *c, const char *name, int flags,
			   const struct ldcache_cpu *cpu)
{
	size_t left = 0, right = c->n, mid;
	struct ldcache_entry e;
	int d;

	while (left < right) {
		mid = left + (right - 1 - left) / 2;
		/* The value may be bad, the name may not. */
		if (!ldcache_entry(c, mid, &e) && !e.name)
			return NULL;
		d = compare(name, e.name);
		if (d < 0) {
			left = mid + 1;
		} else if (d > 0) {
			right = mid;
		} else {
			while (mid && (ldcache_entry(c, mid - 1, &e) || e.name) &&
			       compare(name, e.name) == 0)
				mid--;
			return best_of(c, mid, name, flags, cpu);
		}
	}
	return NULL;
}

int ldcache_flags(const char *arch)
{
	static const struct {
		const char *arch;
		int flags;
	} rows[] = {
		{ .arch = "x86_64", .flags = LDCACHE_X86_64 },
		{ .arch = "aarch64", .flags = LDCACHE_AARCH64 },
		{ .arch = "ppc64le", .flags = LDCACHE_PPC64 },
		{ .arch = "armv7l", .flags = LDCACHE_ARM_HF },
		{ .arch = "riscv64", .flags = LDCACHE_RISCV64 },
		{ .arch = "i686", .flags = LDCACHE_I386 },
	};
	size_t i;

	for (i = 0; arch && i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].arch, arch) == 0)
			return rows[i].flags;
	return LDCACHE_ANY;
}

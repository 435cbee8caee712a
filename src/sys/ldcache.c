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
};

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

/* SPDX-License-Identifier: Apache-2.0 */
/* Steps from header to header of an ar archive. It must always go forward. */
#include "sys/ar.h"

#include <ar.h>
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/view.h"
#include "sys/elf.h"

enum { MEMBERS_MAX = 1 << 17, NAMES_MAX = 16 << 20, NAME_LEN_MAX = 4096 };

#define THIN_MAGIC "!<thin>\n"

int ar_open(struct arena *a, int fd, uint64_t base, uint64_t size, struct ar *ret)
{
	char magic[SARMAG];

	*ret = (struct ar){ .a = a, .fd = fd, .base = base, .size = size, .at = SARMAG };
	if (size < SARMAG || !elf_pread(fd, magic, SARMAG, base))
		return -ENOEXEC;
	if (memcmp(magic, THIN_MAGIC, SARMAG) == 0)
		return -ENOTSUP;
	return memcmp(magic, ARMAG, SARMAG) == 0 ? 0 : -ENOEXEC;
}

static bool damaged(struct ar *ar, const char *what)
{
	if (!ar->damage)
		ar->damage = what;
	return false;
}

static bool field(const char *p, size_t n, uint64_t *ret)
{
	return view_u64(view_trim((struct view){ .p = p, .n = n }), 10, ret);
}

/* Reads the table of long names; a second one replaces the first. */
static bool read_names(struct ar *ar, uint64_t off, uint64_t size)
{
	char *buf;

	if (size > NAMES_MAX)
		return damaged(ar, "the table of long names is too large");
	buf = arena_alloc(ar->a, size + 1);
	if (!elf_pread(ar->fd, buf, size, off))
		return damaged(ar, "the table of long names cannot be read");
	ar->names = buf;
	ar->names_n = size;
	return true;
}

/* "/123": offset into the table, where a name ends in "/\n". */
static const char *long_name(struct ar *ar, const char *digits, size_t n)
{
	uint64_t at;
	const char *p;
	size_t len = 0;

	if (!field(digits, n, &at) || at >= ar->names_n)
		return NULL;
	p = ar->names + at;
	while (len < ar->names_n - at && len < NAME_LEN_MAX && p[len] != '\n' && p[len])
		len++;
	if (len && p[len - 1] == '/')
		len--;
	return arena_strndup(ar->a, p, len);
}

/* "#1/20": the name is the first 20 bytes of the member. */
static const char *bsd_name(struct ar *ar, const char *digits, size_t n, struct ar_member *m)
{
	uint64_t len;
	char *buf;

	if (!field(digits, n, &len) || len > m->size || len > NAME_LEN_MAX)
		return NULL;
	buf = arena_alloc(ar->a, len + 1);
	if (!elf_pread(ar->fd, buf, len, m->off))
		return NULL;
	m->off += len;
	m->size -= len;
	return buf;
}

/* False for a table, which is no member; m->name is NULL when the name makes no sense. */
static bool read_name(struct ar *ar, const struct ar_hdr *h, struct ar_member *m)
{
	struct view name = view_trim((struct view){ .p = h->ar_name, .n = sizeof(h->ar_name) });

	if (view_is(name, "/") || view_is(name, "/SYM64/") || view_starts(name, "__.SYMDEF"))
		return false;
	if (view_is(name, "//")) {
		(void)read_names(ar, m->off, m->size);
		return false;
	}
	if (view_starts(name, "#1/"))
		m->name = bsd_name(ar, name.p + 3, name.n - 3, m);
	else if (name.n && name.p[0] == '/')
		m->name = long_name(ar, name.p + 1, name.n - 1);
	else
		m->name = arena_strndup(ar->a, name.p,
					name.n && name.p[name.n - 1] == '/' ? name.n - 1 : name.n);
	/* The symbol table of BSD may have a long name. */
	return !m->name || strncmp(m->name, "__.SYMDEF", 9) != 0;
}

bool ar_next(struct ar *ar, struct ar_member *ret)
{
	struct ar_hdr h;
	uint64_t size;

	for (;;) {
		if (ar->at >= ar->size)
			return false;
		if (ar->count++ == MEMBERS_MAX)
			return damaged(ar, "too many members");
		if (ar->size - ar->at < sizeof(h) ||
		    !elf_pread(ar->fd, &h, sizeof(h), ar->base + ar->at))
			return damaged(ar, "a member's header is cut off");
		if (memcmp(h.ar_fmag, ARFMAG, 2) != 0 ||
		    !field(h.ar_size, sizeof(h.ar_size), &size))
			return damaged(ar, "a member's header makes no sense");
		ar->at += sizeof(h);
		if (size > ar->size - ar->at)
			return damaged(ar, "a member ends past the archive");
		*ret = (struct ar_member){ .off = ar->base + ar->at, .size = size };
		ar->at += size + (size & 1);
		if (!read_name(ar, &h, ret))
			continue;
		if (!ret->name) {
			ret->name = "?";
			(void)damaged(ar, "a member's name makes no sense");
		}
		return true;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads central directories, bounded; unpacks nothing. APPNOTE.TXT 4.3 has the records. */
#include "fetch/zipdir.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "fetch/walk.h"

enum {
	END_BYTES = 22,
	COMMENT_MAX = 65535,
	LOCATOR_BYTES = 20,
	END64_BYTES = 56,
	CENTRAL_BYTES = 46,
	LOCAL_BYTES = 30,
	DIRECTORY_MAX = 64 << 20,
	NAME_MAX_BYTES = 4096,
	ENTRIES_MAX = 200000,
};

/* How an entry is packed: APPNOTE.TXT 4.4.5. NVIDIA's archives know these two. */
enum { STORED = 0, DEFLATED = 8 };

struct entry {
	uint64_t at; /* of its local header */
	const char *name;
	unsigned method;
};

struct directory {
	struct arena *a;
	int fd;
	uint64_t size; /* of the file */
	uint64_t at, bytes;
	struct entry *entries;
	size_t n;
};

static uint64_t little(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

static bool read_at(const struct directory *d, uint64_t at, void *buf, size_t n)
{
	return at <= d->size && n <= d->size - at &&
	       pread(d->fd, buf, n, (off_t)at) == (ssize_t)n;
}

/* The record of the 64-bit form, which a locator in front of the end points to. */
static bool find_end64(const struct directory *d, uint64_t end, unsigned char *rec,
		       uint64_t *ret_at)
{
	unsigned char loc[LOCATOR_BYTES];

	if (end < LOCATOR_BYTES || !read_at(d, end - LOCATOR_BYTES, loc, sizeof(loc)) ||
	    memcmp(loc, "PK\6\7", 4) != 0)
		return false;
	*ret_at = little(loc + 8, 8);
	return read_at(d, *ret_at, rec, END64_BYTES) && memcmp(rec, "PK\6\6", 4) == 0;
}

/*
 * The directory ends where the end record begins: some readers count from the end of the file, and
 * would find another one there.
 */
static bool read_end(struct directory *d, uint64_t end, const unsigned char *p)
{
	unsigned char rec[END64_BYTES];
	uint64_t at = end;

	d->bytes = little(p + 12, 4);
	d->at = little(p + 16, 4);
	if (find_end64(d, end, rec, &at)) {
		if (d->bytes == 0xFFFFFFFF || d->at == 0xFFFFFFFF) {
			d->bytes = little(rec + 40, 8);
			d->at = little(rec + 48, 8);
		}
		/* Its length does not count its first two fields. */
		if (little(rec + 4, 8) != end - LOCATOR_BYTES - at - 12)
			return false;
	}
	return d->at <= at && d->bytes == at - d->at;
}

/* The last end record whose comment fills the file exactly. */
static bool find_end(struct directory *d)
{
	size_t n = d->size < END_BYTES + COMMENT_MAX ? (size_t)d->size : END_BYTES + COMMENT_MAX, i;
	unsigned char *tail = arena_alloc(d->a, n + 1);

	if (n < END_BYTES || !read_at(d, d->size - n, tail, n))
		return false;
	for (i = n - END_BYTES + 1; i-- > 0;) {
		if (memcmp(tail + i, "PK\5\6", 4) != 0 ||
		    i + END_BYTES + little(tail + i + 20, 2) != n)
			continue;
		return read_end(d, d->size - n + i, tail + i);
	}
	return false;
}

/* Offset of the local header out of the 64-bit extra field: behind the sizes that are not in 32. */
static bool offset64(const unsigned char *central, const unsigned char *extra, size_t n,
		     uint64_t *ret)
{
	size_t i = 0, skip = 0;

	if (little(central + 24, 4) == 0xFFFFFFFF)
		skip += 8;
	if (little(central + 20, 4) == 0xFFFFFFFF)
		skip += 8;
	while (i + 4 <= n) {
		size_t len = (size_t)little(extra + i + 2, 2);

		if (i + 4 + len > n)
			return false;
		if (little(extra + i, 2) == 1 && len >= skip + 8) {
			*ret = little(extra + i + 4 + skip, 8);
			return true;
		}
		i += 4 + len;
	}
	return false;
}

/* Does the local header say the same name and method? One reader goes by it, another does not. */
static bool local_agrees(const struct directory *d, const struct entry *e)
{
	unsigned char head[LOCAL_BYTES];
	char name[NAME_MAX_BYTES];
	size_t n = strlen(e->name);

	return read_at(d, e->at, head, sizeof(head)) && memcmp(head, "PK\3\4", 4) == 0 &&
	       little(head + 8, 2) == e->method && little(head + 26, 2) == n &&
	       n <= sizeof(name) &&
	       read_at(d, e->at + LOCAL_BYTES, name, n) && memcmp(name, e->name, n) == 0;
}

/* One entry at `p`; its length, 0 when it is none. */
static size_t read_entry(struct directory *d, const unsigned char *p, size_t left)
{
	size_t name_n, extra_n, n;
	struct entry e;

	if (left < CENTRAL_BYTES || memcmp(p, "PK\1\2", 4) != 0)
		return 0;
	name_n = (size_t)little(p + 28, 2);
	extra_n = (size_t)little(p + 30, 2);
	n = CENTRAL_BYTES + name_n + extra_n + (size_t)little(p + 32, 2);
	if (n > left || name_n > NAME_MAX_BYTES || d->n >= ENTRIES_MAX)
		return 0;
	e.at = little(p + 42, 4);
	if (e.at == 0xFFFFFFFF &&
	    !offset64(p, p + CENTRAL_BYTES + name_n, extra_n, &e.at))
		return 0;
	e.name = arena_strndup(d->a, (const char *)p + CENTRAL_BYTES, name_n);
	e.method = (unsigned)little(p + 10, 2);
	if (strlen(e.name) != name_n || !local_agrees(d, &e))
		return 0;
	*ARENA_APPEND(d->a, d->entries, d->n) = e;
	return n;
}

static int by_place(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static bool read_all(struct directory *d)
{
	unsigned char *text;
	uint64_t i = 0;

	if (!find_end(d) || d->bytes > DIRECTORY_MAX)
		return false;
	text = arena_alloc(d->a, (size_t)d->bytes + 1);
	if (!read_at(d, d->at, text, (size_t)d->bytes))
		return false;
	while (i < d->bytes) {
		size_t n = read_entry(d, text + i, (size_t)(d->bytes - i));

		if (!n)
			return false;
		i += n;
	}
	return d->n > 0;
}

int zipdir_fingerprint(struct arena *a, int fd, uint64_t *ret, struct err *err)
{
	struct directory d = { .a = a, .fd = fd };
	uint64_t fingerprint = 0;
	struct stat st;
	size_t i;

	if (fstat(fd, &st) == 0 && st.st_size > 0)
		d.size = (uint64_t)st.st_size;
	if (!read_all(&d))
		return err_set(
			err, ERR_DATA,
			_("the archive is refused, nothing is installed: the directory of the zip is damaged, or names other files than its entries"));
	/* Each decoder more is code that a stranger's bytes reach; and not all readers have them.
	 */
	for (i = 0; i < d.n; i++)
		if (d.entries[i].method != STORED && d.entries[i].method != DEFLATED)
			return err_set(
				err, ERR_DATA,
				_("the archive is refused, nothing is installed: \"%.300s\" is packed "
				  "by method %u of zip, only 0 (stored) and 8 (deflate) are taken"),
				d.entries[i].name, d.entries[i].method);
	qsort(d.entries, d.n, sizeof(*d.entries), by_place);
	for (i = 0; i < d.n; i++)
		fingerprint = walk_fingerprint(fingerprint, d.entries[i].name);
	*ret = fingerprint;
	return 0;
}

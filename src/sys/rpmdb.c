/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads rpm's database through libsqlite3, in a child: the file may be damaged or made to do harm.
 * The library's functions are declared here as its documentation gives them, so that its headers
 * are not needed; no other file knows them.
 */
#include "sys/rpmdb.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/child.h"
#include "sys/dl.h"

enum {
	SQLITE_OK = 0,
	SQLITE_ROW = 100,
	SQLITE_DONE = 101,
	OPEN_READONLY = 0x1,
	OPEN_URI = 0x40,
	DESERIALIZE_READONLY = 4,
	PACKAGES_MAX = 256,
	FILE_MAX = 1 << 30,
	HEADER_MAX = 64 << 20,
	HEAP_MAX = 256 << 20,
};

struct sqlite;
struct statement;

struct sqlite_api {
	int (*open)(const char *name, struct sqlite **ret, int flags, const char *vfs);
	int (*prepare)(struct sqlite *db, const char *sql, int n, struct statement **ret,
		       const char **tail);
	int (*step)(struct statement *s);
	int (*reset)(struct statement *s);
	int (*bind)(struct statement *s, int at, int64_t n);
	int64_t (*number)(struct statement *s, int column);
	const unsigned char *(*text)(struct statement *s, int column);
	const void *(*blob)(struct statement *s, int column);
	int (*bytes)(struct statement *s, int column);
	int (*deserialize)(struct sqlite *db, const char *schema, unsigned char *data, int64_t n,
			   int64_t room, unsigned flags);
	int64_t (*heap_limit)(int64_t n);
};

#define ROW(field, symbol, must) \
	{ .name = symbol, .offset = offsetof(struct sqlite_api, field), .required = must }

static const struct dl_symbol symbols[] = {
	ROW(open, "sqlite3_open_v2", true),
	ROW(prepare, "sqlite3_prepare_v2", true),
	ROW(step, "sqlite3_step", true),
	ROW(reset, "sqlite3_reset", true),
	ROW(bind, "sqlite3_bind_int64", true),
	ROW(number, "sqlite3_column_int64", true),
	ROW(text, "sqlite3_column_text", true),
	ROW(blob, "sqlite3_column_blob", true),
	ROW(bytes, "sqlite3_column_bytes", true),
	ROW(deserialize, "sqlite3_deserialize", false),
	ROW(heap_limit, "sqlite3_hard_heap_limit64", false),
};

enum state { READ, NO_LIBRARY, NO_NAME, DAMAGED };

struct question {
	char path[64];	     /* of the descriptor in the parent, or empty */
	unsigned char *data; /* else the file's bytes */
	size_t n;
	rpmdb_wanted *wanted;
};

struct answer {
	uint32_t state, n;
	struct dl_report library;
	struct rpm_package list[PACKAGES_MAX];
};

/* -------- a header */

static uint32_t be32(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

/* The string behind a tag, or NULL. An entry is tag, type, offset and count. */
static const char *string_of(struct view h, uint32_t tag)
{
	enum { HEAD = 8, ENTRY = 16, STRING = 6 };
	uint32_t entries = be32(h.p), bytes = be32(h.p + 4), i, at;
	const char *store = h.p + HEAD + (size_t)entries * ENTRY;

	for (i = 0; i < entries; i++) {
		const char *e = h.p + HEAD + (size_t)i * ENTRY;

		if (be32(e) != tag || be32(e + 4) != STRING)
			continue;
		at = be32(e + 8);
		return at < bytes && memchr(store + at, '\0', bytes - at) ? store + at : NULL;
	}
	return NULL;
}

static bool header_is_whole(struct view h)
{
	uint64_t entries, bytes;

	if (h.n < 8)
		return false;
	entries = be32(h.p);
	bytes = be32(h.p + 4);
	return entries <= 65536 && bytes <= HEADER_MAX && 8 + entries * 16 + bytes <= h.n;
}

bool rpmdb_header(struct view h, struct rpm_package *ret)
{
	enum { NAME = 1000, VERSION = 1001, RELEASE = 1002, VENDOR = 1011 };
	const char *name, *version, *release, *vendor;

	if (!header_is_whole(h))
		return false;
	name = string_of(h, NAME);
	version = string_of(h, VERSION);
	release = string_of(h, RELEASE);
	vendor = string_of(h, VENDOR);
	if (!name || !version || !*name)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	snprintf(ret->version, sizeof(ret->version), "%s%s%s", version, release ? "-" : "",
		 release ? release : "");
	snprintf(ret->vendor, sizeof(ret->vendor), "%s", vendor ? vendor : "");
	return true;
}

/* -------- in the child */

static void keep(const struct question *q, struct answer *an, const void *blob, int n)
{
	struct rpm_package p = { .name = "" };
	struct view h = { .p = blob, .n = n > 0 ? (size_t)n : 0 };

	if (an->n < PACKAGES_MAX && blob && rpmdb_header(h, &p) && q->wanted(view_of(p.name)))
		an->list[an->n++] = p;
}

/* Every package, where the table of names is not to be had. */
static int by_packages(const struct question *q, const struct sqlite_api *api, struct sqlite *db,
		       struct answer *an)
{
	struct statement *s;
	int r = api->prepare(db, "SELECT blob FROM Packages", -1, &s, NULL);

	if (r != SQLITE_OK)
		return r;
	while ((r = api->step(s)) == SQLITE_ROW) {
		const void *blob = api->blob(s, 0);

		keep(q, an, blob, api->bytes(s, 0));
	}
	return r;
}

static int by_name(const struct question *q, const struct sqlite_api *api, struct sqlite *db,
		   struct answer *an)
{
	struct statement *names, *one;
	int r;

	if (api->prepare(db, "SELECT CAST(key AS TEXT), hnum FROM Name", -1, &names, NULL) !=
		    SQLITE_OK ||
	    api->prepare(db, "SELECT blob FROM Packages WHERE hnum = ?1", -1, &one, NULL) !=
		    SQLITE_OK)
		return by_packages(q, api, db, an);
	while ((r = api->step(names)) == SQLITE_ROW) {
		const char *name = (const char *)api->text(names, 0);

		if (!name || !q->wanted(view_of(name)))
			continue;
		api->reset(one);
		if (api->bind(one, 1, api->number(names, 1)) == SQLITE_OK &&
		    api->step(one) == SQLITE_ROW) {
			const void *blob = api->blob(one, 0);

			keep(q, an, blob, api->bytes(one, 0));
		}
	}
	return r;
}

static struct sqlite *open_file(const struct question *q, const struct sqlite_api *api,
				struct answer *an)
{
	char uri[128];
	struct sqlite *db = NULL;

	an->state = DAMAGED;
	if (q->path[0]) {
		/* immutable: no locks, no log, no file beside it. */
		snprintf(uri, sizeof(uri), "file:%s?immutable=1", q->path);
		return api->open(uri, &db, OPEN_READONLY | OPEN_URI, NULL) == SQLITE_OK ? db : NULL;
	}
	if (!api->deserialize) {
		an->state = NO_NAME;
		return NULL;
	}
	/* A log beside it is of no use without its file: bytes 18 and 19 say that there is none. */
	if (q->n >= 100)
		q->data[18] = q->data[19] = 1;
	if (api->open(":memory:", &db, OPEN_READONLY, NULL) != SQLITE_OK ||
	    api->deserialize(db, "main", q->data, (int64_t)q->n, (int64_t)q->n,
			     DESERIALIZE_READONLY) != SQLITE_OK)
		return NULL;
	return db;
}

static long ask(void *ctx, void *answer, size_t size)
{
	const struct question *q = ctx;
	struct answer *an = answer;
	struct sqlite_api api = { 0 };
	struct sqlite *db;

	if (size < sizeof(*an))
		return -1;
	an->state = NO_LIBRARY;
	dl_load("libsqlite3.so.0", symbols, ARRAY_LEN(symbols), &api, &an->library);
	if (an->library.state != DL_LOADED)
		return (long)sizeof(*an);
	if (api.heap_limit)
		api.heap_limit(HEAP_MAX);
	db = open_file(q, &api, an);
	if (db && by_name(q, &api, db, an) == SQLITE_DONE)
		an->state = READ;
	return (long)sizeof(*an);
}

/* -------- in the parent */

static int failed(const struct answer *an, struct err *err)
{
	switch (an->state) {
	case NO_LIBRARY:
		return err_set(err, ERR_UNSUPPORTED,
			       _("rpm's database is read with libsqlite3.so.0 (%.150s)"),
			       an->library.text);
	case NO_NAME:
		return err_set(err, ERR_UNSUPPORTED, "%s",
			       _("this libsqlite3 reads no database of an image"));
	default:
		return err_set(err, ERR_PARSE, "%s", _("rpm's database is damaged"));
	}
}

static int answered(struct arena *a, struct answer *an, struct rpm_packages *ret, struct err *err)
{
	size_t i;

	an->library.text[sizeof(an->library.text) - 1] = '\0';
	if (an->state != READ || an->n > PACKAGES_MAX)
		return failed(an, err);
	ret->list = arena_alloc(a, (an->n + 1) * sizeof(*ret->list));
	ret->n = an->n;
	for (i = 0; i < an->n; i++) {
		ret->list[i] = an->list[i];
		ret->list[i].name[sizeof(ret->list[i].name) - 1] = '\0';
		ret->list[i].version[sizeof(ret->list[i].version) - 1] = '\0';
		ret->list[i].vendor[sizeof(ret->list[i].vendor) - 1] = '\0';
	}
	return 0;
}

static int run(struct arena *a, struct question *q, long deadline_ms, struct rpm_packages *ret,
	       struct err *err)
{
	struct answer *an = arena_alloc(a, sizeof(*an));
	struct child_result r;
	struct child c;

	child_start(&c, ask, q, sizeof(*an), NULL, deadline_ms);
	child_wait(&c, an, sizeof(*an), &r);
	if (r.end == CHILD_HUNG)
		return err_set(err, ERR_TIMEOUT, _("rpm's database gave no answer within %ld ms"),
			       deadline_ms);
	if (r.end != CHILD_ANSWERED || r.n != sizeof(*an))
		return err_set(err, ERR_PARSE, "%s", _("rpm's database is damaged"));
	return answered(a, an, ret, err);
}

int rpmdb_read(struct arena *a, int fd, rpmdb_wanted *wanted, long deadline_ms,
	       struct rpm_packages *ret, struct err *err)
{
	struct question q = { .wanted = wanted };
	struct stat st;
	void *p;
	int r;

	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "rpmdb.sqlite");
	if (st.st_size < 100 || st.st_size > FILE_MAX)
		return err_set(err, ERR_PARSE, "%s", _("rpm's database is damaged"));
	if (st.st_nlink) {
		/* The child has no descriptor of it, and its name is the kernel's: no links. */
		snprintf(q.path, sizeof(q.path), "/proc/%d/fd/%d", (int)getpid(), fd);
		return run(a, &q, deadline_ms, ret, err);
	}
	/* Bytes of an image: in no folder, and nobody else's to change. */
	q.n = (size_t)st.st_size;
	p = mmap(NULL, q.n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return err_errno(err, errno, "rpmdb.sqlite");
	q.data = p;
	r = run(a, &q, deadline_ms, ret, err);
	munmap(p, q.n);
	return r;
}

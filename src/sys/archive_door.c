/* SPDX-License-Identifier: Apache-2.0 */
/* libarchive by dlopen; no other file includes its headers. It must never be told to write. */
#include "sys/archive_door.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/dl.h"

#if __has_include(<archive.h>)
#include <archive.h>
#include <archive_entry.h>

struct archive_api {
	__typeof__(archive_read_new) *read_new;
	__typeof__(archive_read_free) *read_free;
	__typeof__(archive_read_support_filter_gzip) *gzip;
	__typeof__(archive_read_support_filter_xz) *xz;
	__typeof__(archive_read_support_filter_zstd) *zstd;
	__typeof__(archive_read_support_filter_bzip2) *bzip2;
	__typeof__(archive_read_support_format_tar) *tar;
	__typeof__(archive_read_support_format_zip_seekable) *zip;
	__typeof__(archive_read_open_fd) *open_fd;
	__typeof__(archive_read_next_header) *next_header;
	__typeof__(archive_read_data) *read_data;
	__typeof__(archive_error_string) *error_string;
	__typeof__(archive_entry_pathname) *pathname;
	__typeof__(archive_entry_filetype) *filetype;
	__typeof__(archive_entry_size) *size;
	__typeof__(archive_entry_size_is_set) *size_is_set;
	__typeof__(archive_entry_is_data_encrypted) *is_encrypted;
	__typeof__(archive_entry_hardlink) *hardlink;
};

struct packed {
	struct archive_api api;
	struct archive *handle; /* NULL when it was closed */
	uint64_t packed_size, unpacked;
	unsigned members;
};

#define ROW(field, symbol) \
	{ .name = symbol, .offset = offsetof(struct archive_api, field), .required = true }

static const struct dl_symbol symbols[] = {
	ROW(read_new, "archive_read_new"),
	ROW(read_free, "archive_read_free"),
	ROW(gzip, "archive_read_support_filter_gzip"),
	ROW(xz, "archive_read_support_filter_xz"),
	ROW(zstd, "archive_read_support_filter_zstd"),
	ROW(bzip2, "archive_read_support_filter_bzip2"),
	ROW(tar, "archive_read_support_format_tar"),
	ROW(zip, "archive_read_support_format_zip_seekable"),
	ROW(open_fd, "archive_read_open_fd"),
	ROW(next_header, "archive_read_next_header"),
	ROW(read_data, "archive_read_data"),
	ROW(error_string, "archive_error_string"),
	ROW(pathname, "archive_entry_pathname"),
	ROW(filetype, "archive_entry_filetype"),
	ROW(size, "archive_entry_size"),
	ROW(size_is_set, "archive_entry_size_is_set"),
	ROW(is_encrypted, "archive_entry_is_data_encrypted"),
	ROW(hardlink, "archive_entry_hardlink"),
};

enum {
	BLOCK = 256 << 10,
	MEMBERS_MAX = 200000,
	RATIO_MAX = 200,		/* more than any library packs to */
	RATIO_FREE = 64 << 20,		/* bytes before the ratio counts */
};
static const uint64_t total_max = UINT64_C(64) << 30;

static void release(void *v)
{
	packed_close(v);
}

void packed_close(struct packed *p)
{
	if (p->handle)
		p->api.read_free(p->handle);
	p->handle = NULL;
}

static int broken(struct packed *p, struct err *err)
{
	const char *text = p->api.error_string(p->handle);

	return err_set(err, ERR_PARSE, "%.200s", text && *text ? text : _("the archive is damaged"));
}

int packed_open(struct arena *a, int fd, struct packed **ret, struct err *err)
{
	struct packed *p = arena_alloc(a, sizeof(*p));
	struct dl_report r;
	struct stat st;

	dl_load("libarchive.so.13", symbols, ARRAY_LEN(symbols), &p->api, &r);
	if (r.state != DL_LOADED)
		return err_set(err, ERR_UNSUPPORTED, _("looking into archives needs libarchive.so.13 (%.150s)"),
			       r.text);
	if (fstat(fd, &st) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return err_errno(err, errno, _("archive"));
	p->packed_size = (uint64_t)st.st_size;
	p->handle = p->api.read_new();
	if (!p->handle)
		return err_set(err, ERR_NOMEM, "%s", _(err_text(ERR_NOMEM)));
	arena_defer(a, release, p);
	/* A missing filter is a warning here and an error when an archive needs it. */
	(void)p->api.gzip(p->handle);
	(void)p->api.xz(p->handle);
	(void)p->api.zstd(p->handle);
	(void)p->api.bzip2(p->handle);
	(void)p->api.tar(p->handle);
	(void)p->api.zip(p->handle);
	if (p->api.open_fd(p->handle, fd, BLOCK) != ARCHIVE_OK)
		return broken(p, err);
	*ret = p;
	return 0;
}

int packed_next(struct packed *p, struct packed_member *ret, struct err *err)
{
	struct archive_entry *e = NULL;
	const char *name;
	int rc = p->api.next_header(p->handle, &e);

	if (rc == ARCHIVE_EOF)
		return 0;
	if (rc < ARCHIVE_WARN || !e)
		return broken(p, err);
	if (++p->members > MEMBERS_MAX)
		return err_set(err, ERR_TOOBIG, _("more than %d members"), MEMBERS_MAX);
	name = p->api.pathname(e);
	*ret = (struct packed_member){
		.name = name ? name : "?",
		.size = p->api.size_is_set(e) && p->api.size(e) > 0 ? (uint64_t)p->api.size(e) : 0,
		.is_file = p->api.filetype(e) == AE_IFREG && !p->api.hardlink(e),
		.is_locked = p->api.is_encrypted(e) > 0,
	};
	return 1;
}

int64_t packed_read(struct packed *p, void *buf, size_t n, struct err *err)
{
	la_ssize_t k = p->api.read_data(p->handle, buf, n);

	if (k < 0)
		return broken(p, err);
	p->unpacked += (uint64_t)k;
	if (p->unpacked > total_max ||
	    (p->unpacked > RATIO_FREE && p->unpacked / RATIO_MAX > p->packed_size))
		return err_set(err, ERR_TOOBIG, _("unpacks to far more than it should: a bomb"));
	return k;
}

#else

struct packed {
	int unused;
};

int packed_open(struct arena *a, int fd, struct packed **ret, struct err *err)
{
	(void)a;
	(void)fd;
	*ret = NULL;
	return err_set(err, ERR_UNSUPPORTED, _("this cuvet was built without libarchive"));
}

int packed_next(struct packed *p, struct packed_member *ret, struct err *err)
{
	(void)p;
	*ret = (struct packed_member){ .name = "?" };
	return err_set(err, ERR_UNSUPPORTED, "%s", "");
}

int64_t packed_read(struct packed *p, void *buf, size_t n, struct err *err)
{
	(void)p;
	(void)buf;
	(void)n;
	return err_set(err, ERR_UNSUPPORTED, "%s", "");
}

void packed_close(struct packed *p)
{
	(void)p;
}

#endif

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

#define ARCHIVE_API(ROW)                                             \
	ROW(read_new, archive_read_new)                              \
	ROW(read_free, archive_read_free)                            \
	ROW(gzip, archive_read_support_filter_gzip)                  \
	ROW(xz, archive_read_support_filter_xz)                      \
	ROW(zstd, archive_read_support_filter_zstd)                  \
	ROW(bzip2, archive_read_support_filter_bzip2)                \
	ROW(lzma, archive_read_support_filter_lzma)                  \
	ROW(lz4, archive_read_support_filter_lz4)                    \
	ROW(cpio, archive_read_support_format_cpio)                  \
	ROW(tar, archive_read_support_format_tar)                    \
	ROW(zip, archive_read_support_format_zip_seekable)           \
	ROW(raw, archive_read_support_format_raw)                    \
	ROW(zip_stream, archive_read_support_format_zip_streamable)  \
	ROW(open_fd, archive_read_open_fd)                           \
	ROW(open_source, archive_read_open)                          \
	ROW(filter_count, archive_filter_count)                      \
	ROW(filter_bytes, archive_filter_bytes)                      \
	ROW(symlink, archive_entry_symlink)                          \
	ROW(perm, archive_entry_perm)                                \
	ROW(xattr_reset, archive_entry_xattr_reset)                  \
	ROW(xattr_next, archive_entry_xattr_next)                    \
	ROW(next_header, archive_read_next_header)                   \
	ROW(read_data, archive_read_data)                            \
	ROW(error_string, archive_error_string)                      \
	ROW(pathname, archive_entry_pathname)                        \
	ROW(filetype, archive_entry_filetype)                        \
	ROW(size, archive_entry_size)                                \
	ROW(size_is_set, archive_entry_size_is_set)                  \
	ROW(is_encrypted, archive_entry_is_data_encrypted)           \
	ROW(hardlink, archive_entry_hardlink)

struct archive_api {
#define ROW(field, symbol) __typeof__(symbol) *field;
	ARCHIVE_API(ROW)
#undef ROW
};

struct packed {
	struct archive_api api;
	struct archive *handle; /* NULL when it was closed */
	uint64_t packed_size, unpacked;
	unsigned members;
	bool unlimited; /* the caller has limits of its own */
	packed_source *source;
	void *ctx;
	char *block;   /* what the source filled last, */
	size_t filled; /* so much of it, */
	uint64_t given; /* and this much in all */
};

static const struct dl_symbol symbols[] = {
#define ROW(field, symbol) DL_ROW(struct archive_api, field, symbol),
	ARCHIVE_API(ROW)
#undef ROW
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

	return err_set(err, ERR_PARSE, "%.200s",
		       text && *text ? text : _("the archive is damaged"));
}

static int load(struct archive_api *api, struct err *err)
{
	struct dl_report r;

	dl_load("libarchive.so.13", symbols, ARRAY_LEN(symbols), api, &r);
	if (r.state == DL_LOADED)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		       _("looking into archives needs libarchive.so.13 (%.150s)"), r.text);
}

int packed_load(struct err *err)
{
	struct archive_api api;

	return load(&api, err);
}

static int start(struct arena *a, struct packed **ret, struct err *err)
{
	struct packed *p = arena_alloc(a, sizeof(*p));
	int r = load(&p->api, err);

	if (r)
		return r;
	p->handle = p->api.read_new();
	if (!p->handle)
		return err_set(err, ERR_NOMEM, "%s", _(err_text(ERR_NOMEM)));
	arena_defer(a, release, p);
	*ret = p;
	return 0;
}

static la_ssize_t pull(struct archive *handle, void *ctx, const void **ret_block)
{
	struct packed *p = ctx;
	int64_t n = p->source(p->ctx, p->block, BLOCK);

	(void)handle;
	*ret_block = p->block;
	if (n > 0) {
		p->filled = (size_t)n;
		p->given += (uint64_t)n;
	}
	return (la_ssize_t)n;
}

static int open_source(struct arena *a, struct packed *p, packed_source *source, void *ctx)
{
	p->unlimited = true;
	p->source = source;
	p->ctx = ctx;
	p->block = arena_alloc(a, BLOCK);
	return p->api.open_source(p->handle, p, NULL, pull, NULL);
}

/* False for a warning, too: it would be done by a program, which has no place here. */
static bool add_filter(struct packed *p, char letter)
{
	switch (letter) {
	case '\0':
		return true;
	case 'x':
		return p->api.xz(p->handle) == ARCHIVE_OK;
	case 'g':
		return p->api.gzip(p->handle) == ARCHIVE_OK;
	case 'z':
		return p->api.zstd(p->handle) == ARCHIVE_OK;
	case 'b':
		return p->api.bzip2(p->handle) == ARCHIVE_OK;
	case 'l':
		return p->api.lz4(p->handle) == ARCHIVE_OK;
	case 'm':
		return p->api.lzma(p->handle) == ARCHIVE_OK;
	default:
		return false;
	}
}

int packed_open_filter(struct arena *a, packed_source *source, void *ctx, const char *filters,
		       struct packed **ret, struct err *err)
{
	struct packed *p;
	int r = start(a, &p, err);

	if (r)
		return r;
	if (!add_filter(p, *filters) || p->api.raw(p->handle) != ARCHIVE_OK)
		return err_set(err, ERR_UNSUPPORTED,
			       _("this libarchive does not do the compression of the archive"));
	if (open_source(a, p, source, ctx) != ARCHIVE_OK)
		return broken(p, err);
	/* Behind each filter stands what it reads from. */
	if (p->api.filter_count(p->handle) != (*filters ? 2 : 1))
		return err_set(
			err, ERR_DATA,
			*filters ? _("the archive is not compressed as its name says, or twice")
				 : _("the archive is compressed, which its name does not say"));
	*ret = p;
	return 0;
}

int packed_open_tar(struct arena *a, packed_source *source, void *ctx, struct packed **ret,
		    struct err *err)
{
	struct packed *p;
	int r = start(a, &p, err);

	if (r)
		return r;
	if (p->api.tar(p->handle) != ARCHIVE_OK ||
	    open_source(a, p, source, ctx) != ARCHIVE_OK)
		return broken(p, err);
	*ret = p;
	return 0;
}

int packed_open_cpio(struct arena *a, packed_source *source, void *ctx, char filter,
		     struct packed **ret, struct err *err)
{
	struct packed *p;
	int r = start(a, &p, err);

	if (r)
		return r;
	if (!add_filter(p, filter))
		return err_set(err, ERR_UNSUPPORTED,
			       _("this libarchive does not do the compression of the archive"));
	if (p->api.cpio(p->handle) != ARCHIVE_OK ||
	    open_source(a, p, source, ctx) != ARCHIVE_OK)
		return broken(p, err);
	*ret = p;
	return 0;
}

int packed_open_zip(struct arena *a, int fd, struct packed **ret, struct err *err)
{
	struct packed *p;
	int r = start(a, &p, err);

	if (r)
		return r;
	p->unlimited = true;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_errno(err, errno, _("archive"));
	if (p->api.zip(p->handle) != ARCHIVE_OK ||
	    p->api.open_fd(p->handle, fd, BLOCK) != ARCHIVE_OK)
		return broken(p, err);
	*ret = p;
	return 0;
}

int packed_open_zip_stream(struct arena *a, packed_source *source, void *ctx, struct packed **ret,
			   struct err *err)
{
	struct packed *p;
	int r = start(a, &p, err);

	if (r)
		return r;
	if (p->api.zip_stream(p->handle) != ARCHIVE_OK ||
	    open_source(a, p, source, ctx) != ARCHIVE_OK)
		return broken(p, err);
	*ret = p;
	return 0;
}

int packed_open(struct arena *a, int fd, struct packed **ret, struct err *err)
{
	struct packed *p;
	struct stat st;
	int r = start(a, &p, err);

	if (r)
		return r;
	if (fstat(fd, &st) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return err_errno(err, errno, _("archive"));
	p->packed_size = (uint64_t)st.st_size;
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

static bool has_capabilities(const struct packed *p, struct archive_entry *e)
{
	const char *name;
	const void *value;
	size_t n;

	(void)p->api.xattr_reset(e);
	while (p->api.xattr_next(e, &name, &value, &n) == ARCHIVE_OK)
		if (name && strcmp(name, "security.capability") == 0)
			return true;
	return false;
}

static char type_of(const struct packed *p, struct archive_entry *e)
{
	if (p->api.hardlink(e))
		return 'h';
	switch (p->api.filetype(e)) {
	case AE_IFREG:
		return 'f';
	case AE_IFDIR:
		return 'd';
	case AE_IFLNK:
		return 'l';
	default:
		return '?';
	}
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
		.name_ok = name != NULL,
		.size = p->api.size_is_set(e) && p->api.size(e) > 0 ? (uint64_t)p->api.size(e) : 0,
		.is_file = p->api.filetype(e) == AE_IFREG && !p->api.hardlink(e),
		.is_locked = p->api.is_encrypted(e) > 0,
		.type = type_of(p, e),
		.mode = (unsigned)p->api.perm(e),
		.capabilities = has_capabilities(p, e),
	};
	if (ret->type == 'h')
		ret->link = p->api.hardlink(e);
	else if (ret->type == 'l')
		ret->link = p->api.symlink(e);
	return 1;
}

int64_t packed_read(struct packed *p, void *buf, size_t n, struct err *err)
{
	la_ssize_t k = p->api.read_data(p->handle, buf, n);

	if (k < 0)
		return broken(p, err);
	p->unpacked += (uint64_t)k;
	if (p->unlimited)
		return k;
	if (p->unpacked > total_max ||
	    (p->unpacked > RATIO_FREE && p->unpacked / RATIO_MAX > p->packed_size))
		return err_set(err, ERR_TOOBIG, _("unpacks to far more than it should: a bomb"));
	return k;
}

struct view packed_rest(struct packed *p)
{
	int64_t taken = p->api.filter_bytes(p->handle, 0);
	uint64_t left = taken >= 0 && (uint64_t)taken < p->given ? p->given - (uint64_t)taken : 0;

	if (left > p->filled)
		left = p->filled;
	return (struct view){ .p = p->block + (p->filled - left), .n = (size_t)left };
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

static int without(struct packed **ret, struct err *err)
{
	*ret = NULL;
	return err_set(err, ERR_UNSUPPORTED, _("this cuvet was built without libarchive"));
}

int packed_open_filter(struct arena *a, packed_source *source, void *ctx, const char *filters,
		       struct packed **ret, struct err *err)
{
	(void)a;
	(void)source;
	(void)ctx;
	(void)filters;
	return without(ret, err);
}

int packed_open_tar(struct arena *a, packed_source *source, void *ctx, struct packed **ret,
		    struct err *err)
{
	(void)a;
	(void)source;
	(void)ctx;
	return without(ret, err);
}

int packed_open_cpio(struct arena *a, packed_source *source, void *ctx, char filter,
		     struct packed **ret, struct err *err)
{
	(void)a;
	(void)source;
	(void)ctx;
	(void)filter;
	return without(ret, err);
}

int packed_open_zip(struct arena *a, int fd, struct packed **ret, struct err *err)
{
	(void)a;
	(void)fd;
	return without(ret, err);
}

int packed_open_zip_stream(struct arena *a, packed_source *source, void *ctx, struct packed **ret,
			   struct err *err)
{
	(void)a;
	(void)source;
	(void)ctx;
	return without(ret, err);
}

struct view packed_rest(struct packed *p)
{
	(void)p;
	return (struct view){ .p = "" };
}

int packed_load(struct err *err)
{
	struct packed *p;

	return without(&p, err);
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

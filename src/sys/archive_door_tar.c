/* SPDX-License-Identifier: Apache-2.0 */
/* tar through libarchive by dlopen. It must never be told to write, and knows no other format. */
#include <string.h>

#include "base/arena.h"
#include "sys/dl.h"
#include "sys/tar.h"

#if __has_include(<archive.h>)
#include <archive.h>
#include <archive_entry.h>

#define TAR_API(ROW)                                      \
	ROW(read_new, archive_read_new)                   \
	ROW(read_free, archive_read_free)                 \
	ROW(gzip, archive_read_support_filter_gzip)       \
	ROW(xz, archive_read_support_filter_xz)           \
	ROW(zstd, archive_read_support_filter_zstd)       \
	ROW(tar, archive_read_support_format_tar)         \
	ROW(set_read, archive_read_set_read_callback)     \
	ROW(set_skip, archive_read_set_skip_callback)     \
	ROW(set_data, archive_read_set_callback_data)     \
	ROW(open1, archive_read_open1)                    \
	ROW(next_header, archive_read_next_header)        \
	ROW(data_block, archive_read_data_block)          \
	ROW(position, archive_read_header_position)       \
	ROW(filter_code, archive_filter_code)             \
	ROW(error_string, archive_error_string)           \
	ROW(pathname, archive_entry_pathname)             \
	ROW(mode, archive_entry_mode)                     \
	ROW(size, archive_entry_size)                     \
	ROW(symlink, archive_entry_symlink)               \
	ROW(hardlink, archive_entry_hardlink)             \
	ROW(sparse_count, archive_entry_sparse_count)

struct tar_api {
#define ROW(field, symbol) __typeof__(symbol) *field;
	TAR_API(ROW)
#undef ROW
};

static const struct dl_symbol symbols[] = {
#define ROW(field, symbol) DL_ROW(struct tar_api, field, symbol),
	TAR_API(ROW)
#undef ROW
};

struct tar {
	struct tar_api api;
	struct archive *handle;
	struct tar_source src;
	uint64_t packed, unpacked; /* bytes taken in, given out */
	unsigned members;
};

enum {
	MEMBERS_MAX = 4000000,
	RATIO_MAX = 1000,      /* zeros pack to that; whole layers never do */
	RATIO_FREE = 256 << 20, /* bytes before the ratio counts */
};
static const uint64_t total_max = UINT64_C(256) << 30;

static la_ssize_t on_read(struct archive *h, void *ctx, const void **buf)
{
	struct tar *t = ctx;
	ssize_t n = t->src.read(t->src.ctx, buf);

	(void)h;
	if (n > 0)
		t->packed += (uint64_t)n;
	return n;
}

static la_int64_t on_skip(struct archive *h, void *ctx, la_int64_t n)
{
	struct tar *t = ctx;

	(void)h;
	return t->src.skip ? t->src.skip(t->src.ctx, n) : 0;
}

static void release(void *v)
{
	tar_close(v);
}

void tar_close(struct tar *t)
{
	if (t->handle)
		t->api.read_free(t->handle);
	t->handle = NULL;
}

static int broken(struct tar *t, struct err *err)
{
	const char *text = t->api.error_string(t->handle);

	return err_set(err, ERR_PARSE, "%.200s",
		       text && *text ? text : _("the archive is damaged"));
}

int tar_open(struct arena *a, const struct tar_source *src, struct tar **ret, struct err *err)
{
	struct tar *t = arena_calloc(a, 1, sizeof(*t));
	struct dl_report r;

	t->src = *src;
	dl_load("libarchive.so.13", symbols, ARRAY_LEN(symbols), &t->api, &r);
	if (r.state != DL_LOADED)
		return err_set(err, ERR_UNSUPPORTED,
			       _("looking into images needs libarchive.so.13 (%.150s)"), r.text);
	t->handle = t->api.read_new();
	if (!t->handle)
		return err_set(err, ERR_NOMEM, "%s", _(err_text(ERR_NOMEM)));
	arena_defer(a, release, t);
	/* A missing filter is a warning here and an error when an archive needs it. */
	(void)t->api.gzip(t->handle);
	(void)t->api.xz(t->handle);
	(void)t->api.zstd(t->handle);
	(void)t->api.tar(t->handle);
	(void)t->api.set_read(t->handle, on_read);
	(void)t->api.set_skip(t->handle, on_skip);
	(void)t->api.set_data(t->handle, t);
	if (t->api.open1(t->handle) != ARCHIVE_OK)
		return broken(t, err);
	*ret = t;
	return 0;
}

int tar_next(struct tar *t, struct tar_member *ret, struct err *err)
{
	struct archive_entry *e = NULL;
	int rc = t->api.next_header(t->handle, &e);
	const char *name;

	if (rc == ARCHIVE_EOF)
		return 0;
	if (rc < ARCHIVE_WARN || !e)
		return broken(t, err);
	if (++t->members > MEMBERS_MAX)
		return err_set(err, ERR_TOOBIG, _("more than %d members"), MEMBERS_MAX);
	name = t->api.pathname(e);
	*ret = (struct tar_member){
		.name = name ? name : "",
		.symlink = t->api.symlink(e),
		.hardlink = t->api.hardlink(e),
		.mode = t->api.mode(e),
		.size = t->api.size(e) > 0 ? t->api.size(e) : 0,
		.header = t->api.position(t->handle),
		.sparse = t->api.sparse_count(e) > 0,
	};
	return 1;
}

int64_t tar_data(struct tar *t, const void **ret, int64_t *ret_offset, struct err *err)
{
	la_int64_t at = 0;
	size_t n = 0;
	int rc = t->api.data_block(t->handle, ret, &n, &at);

	if (rc == ARCHIVE_EOF)
		return 0;
	if (rc < ARCHIVE_WARN)
		return broken(t, err);
	t->unpacked += n;
	if (t->unpacked > total_max ||
	    (t->unpacked > RATIO_FREE && t->unpacked / RATIO_MAX > t->packed))
		return err_set(err, ERR_TOOBIG, _("unpacks to far more than it should: a bomb"));
	*ret_offset = at;
	/* An empty piece of a sparse file is no end. */
	return n ? (int64_t)n : tar_data(t, ret, ret_offset, err);
}

bool tar_is_packed(const struct tar *t)
{
	return t->api.filter_code(t->handle, 0) != ARCHIVE_FILTER_NONE;
}

#else

struct tar {
	int unused;
};

int tar_open(struct arena *a, const struct tar_source *src, struct tar **ret, struct err *err)
{
	(void)a;
	(void)src;
	*ret = NULL;
	return err_set(err, ERR_UNSUPPORTED, _("this cuvet was built without libarchive"));
}

int tar_next(struct tar *t, struct tar_member *ret, struct err *err)
{
	(void)t;
	*ret = (struct tar_member){ .name = "" };
	return err_set(err, ERR_UNSUPPORTED, "%s", "");
}

int64_t tar_data(struct tar *t, const void **ret, int64_t *ret_offset, struct err *err)
{
	(void)t;
	*ret = NULL;
	*ret_offset = 0;
	return err_set(err, ERR_UNSUPPORTED, "%s", "");
}

bool tar_is_packed(const struct tar *t)
{
	(void)t;
	return true;
}

void tar_close(struct tar *t)
{
	(void)t;
}

#endif

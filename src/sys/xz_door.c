/* SPDX-License-Identifier: Apache-2.0 */
/* liblzma by dlopen; no other file includes its headers. Nothing is compressed. */
#include "sys/xz_door.h"

#include <sched.h>
#include <string.h>

#include "base/arena.h"
#include "sys/dl.h"

#if __has_include(<lzma.h>)
#include <lzma.h>
#endif

/* The threaded decoder is there since 5.4. */
#if defined(LZMA_VERSION) && LZMA_VERSION >= 50040002

struct xz_api {
	__typeof__(lzma_stream_decoder_mt) *decoder;
	__typeof__(lzma_code) *code;
	__typeof__(lzma_end) *end;
};

#define ROW(field, symbol) \
	{ .name = symbol, .offset = offsetof(struct xz_api, field), .required = true }

static const struct dl_symbol symbols[] = {
	ROW(decoder, "lzma_stream_decoder_mt"),
	ROW(code, "lzma_code"),
	ROW(end, "lzma_end"),
};

enum { BLOCK = 256 << 10, THREADS_MAX = 16 };
/* As much as libarchive lets a dictionary have. */
static const uint64_t memory_max = UINT64_C(1) << 30;

struct xz_threads {
	struct xz_api api;
	lzma_stream stream;
	packed_source *source;
	void *ctx;
	uint8_t *block;
	bool last, end;
};

static void release(void *v)
{
	struct xz_threads *x = v;

	x->api.end(&x->stream);
}

static uint32_t threads(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return n > THREADS_MAX ? THREADS_MAX : n > 0 ? (uint32_t)n : 1;
}

static int load(struct xz_api *api, struct err *err)
{
	struct dl_report r;

	dl_load("liblzma.so.5", symbols, ARRAY_LEN(symbols), api, &r);
	if (r.state == DL_LOADED)
		return 0;
	return err_set(err, ERR_UNSUPPORTED, "%.200s", r.text);
}

void xz_threads_load(void)
{
	struct xz_api api;

	/* Without it there is another way. */
	if (load(&api, NULL))
		return;
}

int xz_threads_open(struct arena *a, packed_source *source, void *ctx, struct xz_threads **ret,
		    struct err *err)
{
	struct xz_threads *x = arena_calloc(a, 1, sizeof(*x));
	const lzma_mt how = {
		.flags = LZMA_CONCATENATED,
		.threads = threads(),
		.memlimit_threading = XZ_THREADS_BYTES,
		.memlimit_stop = memory_max,
	};

	if (load(&x->api, err))
		return -(int)err->code;
	if (x->api.decoder(&x->stream, &how) != LZMA_OK)
		return err_set(err, ERR_UNSUPPORTED, "liblzma");
	arena_defer(a, release, x);
	x->source = source;
	x->ctx = ctx;
	x->block = arena_alloc(a, BLOCK);
	*ret = x;
	return 0;
}

static int damage(lzma_ret rc, struct err *err)
{
	switch (rc) {
	case LZMA_FORMAT_ERROR:
		return err_set(err, ERR_DATA,
			       _("the archive is not compressed as its name says, or twice"));
	case LZMA_MEM_ERROR:
		return err_set(err, ERR_NOMEM, "%s", _(err_text(ERR_NOMEM)));
	case LZMA_MEMLIMIT_ERROR:
		return err_set(err, ERR_TOOBIG,
			       _("its xz stream wants more than %llu MiB of memory"),
			       (unsigned long long)memory_max >> 20);
	case LZMA_OPTIONS_ERROR:
		return err_set(err, ERR_UNSUPPORTED,
			       _("this liblzma does not do the compression of the archive"));
	case LZMA_BUF_ERROR:
		return err_set(err, ERR_DATA,
			       _("the archive is damaged: its xz stream is cut off"));
	default:
		return err_set(err, ERR_DATA, _("the archive is damaged: its xz stream is wrong"));
	}
}

int64_t xz_threads_read(struct xz_threads *x, void *buf, size_t n, struct err *err)
{
	lzma_stream *s = &x->stream;

	s->next_out = buf;
	s->avail_out = n;
	while (!x->end && s->avail_out == n) {
		lzma_ret rc;

		if (!s->avail_in && !x->last) {
			int64_t k = x->source(x->ctx, x->block, BLOCK);

			if (k < 0)
				return err_set(err, ERR_IO, _("unpacking was given up"));
			x->last = k == 0;
			s->next_in = x->block;
			s->avail_in = (size_t)k;
		}
		rc = x->api.code(s, x->last ? LZMA_FINISH : LZMA_RUN);
		if (rc == LZMA_STREAM_END)
			x->end = true;
		else if (rc != LZMA_OK)
			return damage(rc, err);
	}
	return (int64_t)(n - s->avail_out);
}

#else

void xz_threads_load(void)
{
}

int xz_threads_open(struct arena *a, packed_source *source, void *ctx, struct xz_threads **ret,
		    struct err *err)
{
	(void)a;
	(void)source;
	(void)ctx;
	*ret = NULL;
	return err_set(err, ERR_UNSUPPORTED, "%s", _(err_text(ERR_UNSUPPORTED)));
}

int64_t xz_threads_read(struct xz_threads *x, void *buf, size_t n, struct err *err)
{
	(void)x;
	(void)buf;
	(void)n;
	return err_set(err, ERR_UNSUPPORTED, "%s", _(err_text(ERR_UNSUPPORTED)));
}

#endif

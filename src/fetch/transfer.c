/* SPDX-License-Identifier: Apache-2.0 */
/* When to try again, when to begin anew and when to give up. */
#include "fetch/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "net/http.h"

enum {
	BLOCK = 1 << 20,
	PROGRESS = 1 << 20, /* bytes by which a try was worth it and does not count */
	PAUSE_MS = 500,	    /* the first, doubled each time */
	PAUSE_MAX_MS = 15000,
	WAIT_MAX_S = 300, /* longer waits that a server asks for are for the user to decide */
	SLICE_MS = 50,
};

struct attempt {
	struct transfer *t;
	bool no_range; /* ranges did not work: from the beginning */
	bool never;    /* the fault will not pass */
	bool again;    /* the taker ended it, to be asked anew */
};

static int never(struct attempt *at, struct err *err, const char *fmt, ...) ATTR_PRINTF(3, 4);
static int never(struct attempt *at, struct err *err, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	at->never = true;
	va_start(ap, fmt);
	text = arena_vprintf(at->t->a, fmt, ap);
	va_end(ap);
	return err_set(err, ERR_IO, "%.400s: %s", at->t->url, text);
}

static bool changes_bytes(const char *encoding)
{
	static const char *const names[] = {
		"gzip", "x-gzip", "deflate", "br", "zstd", "compress"
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcasecmp(encoding, names[i]) == 0)
			return true;
	return false;
}

static int begin_anew(struct transfer *t, struct err *err)
{
	t->have = 0;
	t->validator[0] = '\0';
	return t->restart(t->ctx, err);
}

/* Two strong ETags that differ: another file, whatever the server made of If-Range. */
static bool changed(const struct transfer *t, const struct http_head *h)
{
	return t->validator[0] == '"' && h->etag[0] == '"' && strcmp(t->validator, h->etag) != 0;
}

static int on_part(struct attempt *at, const struct http_head *h, struct err *err)
{
	struct transfer *t = at->t;
	bool fits = h->range_from >= 0 && (uint64_t)h->range_from == t->have && t->have > 0 &&
		    (!t->size || (uint64_t)h->range_total == t->size);

	if (fits && !changed(t, h))
		return 0;
	if (at->no_range)
		return never(at, err,
			     _("the server answers with a part (206) that was not asked for"));
	at->no_range = at->again = true;
	if (begin_anew(t, err))
		return -(int)err->code;
	return err_set(err, ERR_IO,
		       _("%.400s: the server answers with another part than was asked for"),
		       t->url);
}

static int on_head(void *ctx, const struct http_head *h, struct err *err)
{
	struct attempt *at = ctx;
	struct transfer *t = at->t;

	if (changes_bytes(h->encoding))
		return never(at, err,
			     _("the server sends it encoded (%.30s), which was not asked for"),
			     h->encoding);
	if (h->status == 206)
		return on_part(at, h, err);
	/* The server does not do ranges, or the file is another one by now. */
	if (t->have && begin_anew(t, err))
		return -(int)err->code;
	if (h->length >= 0 && t->size && (uint64_t)h->length != t->size)
		return never(at, err, _("%llu bytes are wanted, the server sends %lld (%.60s)"),
			     (unsigned long long)t->size, (long long)h->length,
			     h->type[0] ? h->type : _("of no type"));
	if (h->length >= 0 && !t->size && (uint64_t)h->length > t->max)
		return never(at, err,
			     _("the server sends %lld bytes, more than the limit of %llu MiB"),
			     (long long)h->length, (unsigned long long)(t->max >> 20));
	if (h->etag[0] == '"')
		memcpy(t->validator, h->etag, sizeof(t->validator));
	else if (h->modified[0])
		memcpy(t->validator, h->modified, sizeof(h->modified));
	return 0;
}

static int on_body(void *ctx, const char *p, size_t n, struct err *err)
{
	struct attempt *at = ctx;
	struct transfer *t = at->t;
	uint64_t most = t->size ? t->size : t->max;
	int r;

	if (n > most - t->have)
		return never(at, err, _("more than %llu bytes came, which is all there should be"),
			     (unsigned long long)most);
	r = t->bytes(t->ctx, p, n, err);
	if (!r)
		t->have += n;
	return r;
}

static int on_tick(void *ctx, struct err *err)
{
	const struct attempt *at = ctx;

	return at->t->tick ? at->t->tick(at->t->ctx, err) : 0;
}

/* 0 or what the tick ended it with. */
static int pause_for(struct transfer *t, long ms, struct err *err)
{
	const struct timespec slice = { .tv_nsec = SLICE_MS * 1000000L };
	struct timespec now;
	long long end, at;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec * 1000LL + now.tv_nsec / 1000000 + ms;
	for (;;) {
		int r = t->tick ? t->tick(t->ctx, err) : 0;

		if (r)
			return r;
		clock_gettime(CLOCK_MONOTONIC, &now);
		at = now.tv_sec * 1000LL + now.tv_nsec / 1000000;
		if (at >= end)
			return 0;
		nanosleep(&slice, NULL);
	}
}

/* Half of it to all of it, so that many who were refused at once do not come back at once. */
static long pause_ms(int failures)
{
	long ms = PAUSE_MS;
	unsigned char dice = 0;

	while (failures-- > 1 && ms < PAUSE_MAX_MS)
		ms *= 2;
	if (ms > PAUSE_MAX_MS)
		ms = PAUSE_MAX_MS;
	if (getrandom(&dice, 1, GRND_NONBLOCK) != 1)
		dice = 0x80;
	return ms / 2 + ms / 2 * dice / 255;
}

/* One try. 1: again, 0: whole, else -code. */
static int try_once(struct attempt *at, struct http_head *head, struct err *err)
{
	struct transfer *t = at->t;
	const struct http_taker taker = {
		.head = on_head, .body = on_body, .tick = on_tick, .ctx = at };
	const struct http_ask ask = {
		.url = t->url,
		.ca_bundle = t->o->ca_bundle,
		.proxy = t->o->proxy,
		.timeout_s = t->o->timeout_s,
		.limit_rate = t->o->limit_rate,
		.allow_http = t->o->allow_http,
		.from = t->have,
		.if_range = t->validator,
	};
	enum http_end end = http_stream(t->http, &ask, &taker, head, err);

	at->never |= end == HTTP_NEVER;
	if (end == HTTP_WHOLE && (!t->size || t->have == t->size))
		return 0;
	if (end == HTTP_WHOLE) {
		err_set(err, ERR_IO, _("%.400s: it ended after %llu of %llu bytes"), t->url,
			(unsigned long long)t->have, (unsigned long long)t->size);
		return 1;
	}
	if (end == HTTP_NEVER && head->status == 416 && t->have) {
		if (begin_anew(t, err))
			return -(int)err->code;
		at->never = false;
		at->no_range = true;
		return 1;
	}
	if (end == HTTP_STOPPED && at->again) {
		at->again = false;
		return 1;
	}
	return end == HTTP_AGAIN ? 1 : -(int)err->code;
}

int transfer_http(struct transfer *t, struct err *err)
{
	struct attempt at = { .t = t };
	int failures = 0, r;

	for (;;) {
		struct http_head head = { 0 };
		uint64_t before = t->have;
		long ms;

		r = try_once(&at, &head, err);
		if (r <= 0)
			return r;
		if (t->have > before && t->have - before >= PROGRESS)
			failures = 0;
		if (++failures > t->o->retries)
			return t->o->retries ? err_wrap(err, _("given up after %d tries"), failures)
					     : -(int)err->code;
		ms = pause_ms(failures);
		if (head.retry_after > WAIT_MAX_S)
			return err_wrap(err, _("the server asks to wait for %ld seconds"),
					head.retry_after);
		if (head.retry_after * 1000 > ms)
			ms = head.retry_after * 1000;
		if (t->pause)
			t->pause(t->ctx, ms, err->msg);
		r = pause_for(t, ms, err);
		if (r)
			return r;
	}
}

int transfer_file(struct transfer *t, const char *path, struct err *err)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *block = arena_alloc(t->a, BLOCK);
	uint64_t most = t->size ? t->size : t->max;
	struct stat st;
	int r = 0;

	if (fd < 0)
		return err_set(err, errno == ENOENT ? ERR_ABSENT : ERR_IO, "%.400s: %s", path,
			       strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_TYPE, _("%.400s: not a regular file"), path);
	if (t->size ? (uint64_t)st.st_size != t->size : (uint64_t)st.st_size > t->max)
		return err_set(err, ERR_IO, _("%.400s: %llu bytes are wanted, the file has %lld"),
			       path, (unsigned long long)most, (long long)st.st_size);
	while (!r) {
		ssize_t n = pread(fd, block, BLOCK, (off_t)t->have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, errno, "%.400s", path);
		if (n == 0)
			break;
		if ((uint64_t)n > most - t->have)
			return err_set(err, ERR_IO, _("%.400s: it grows while it is read"), path);
		r = t->bytes(t->ctx, block, (size_t)n, err);
		t->have += (uint64_t)n;
		if (!r && t->tick)
			r = t->tick(t->ctx, err);
	}
	if (!r && t->size && t->have != t->size)
		return err_set(err, ERR_IO, _("%.400s: it ended after %llu of %llu bytes"), path,
			       (unsigned long long)t->have, (unsigned long long)t->size);
	return r;
}

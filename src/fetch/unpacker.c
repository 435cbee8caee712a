/* SPDX-License-Identifier: Apache-2.0 */
/* Forks the unpacking children and talks to them; must leave none behind. */
#include "fetch/unpacker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "fetch/sandbox.h"
#include "fetch/tarcheck.h"
#include "fetch/zipdir.h"
#include "net/crypto.h"
#include "sys/archive_door.h"
#include "sys/xz_door.h"

enum {
	DECODER,
	UNPACKER,
	BLOCK = 256 << 10,
	TELL_AFTER = 256 << 10, /* bytes */
	PIPE_BYTES = 1 << 20,
	WAIT_MS = 100,
	REST_MAX = 64 << 20, /* zeros behind a tar; they fill its last block */
};

struct news {
	uint64_t there;
	uint64_t last;
};

struct answer {
	int32_t code; /* 0 or err_code */
	uint32_t whole;
	struct unpack_done done;
	char msg[1024];
};

/* -------- in the children */

struct feed {
	int fd, news;
	uint64_t pos, there;
	bool last, broken;
};

/* Waits until more than `pos` bytes are there or no more will come. */
static bool feed_wait(struct feed *f)
{
	struct news n;
	ssize_t k;

	while (f->pos >= f->there && !f->last) {
		k = read(f->news, &n, sizeof(n));
		if (k < 0 && errno == EINTR)
			continue;
		if (k != sizeof(n)) {
			f->broken = true;
			return false;
		}
		f->there = n.there;
		f->last = n.last != 0;
	}
	return f->pos < f->there;
}

static int64_t feed_read(void *ctx, void *buf, size_t n)
{
	struct feed *f = ctx;
	ssize_t k;

	if (!feed_wait(f))
		return f->broken ? -1 : 0;
	if (n > f->there - f->pos)
		n = (size_t)(f->there - f->pos);
	do {
		k = pread(f->fd, buf, n, (off_t)f->pos);
	} while (k < 0 && errno == EINTR);
	if (k <= 0)
		return -1;
	f->pos += (uint64_t)k;
	return k;
}

static int64_t pipe_read(void *ctx, void *buf, size_t n)
{
	const int *fd = ctx;
	ssize_t k;

	do {
		k = read(*fd, buf, n);
	} while (k < 0 && errno == EINTR);
	return k;
}

static int put_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return -1;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

struct job {
	const struct unpacker_ask *ask;
	struct arena *a;
	struct feed feed;
	int pipe; /* between the two; -1 */
};

static const char *filters_of(const char *name)
{
	static const char *const rows[][2] = {
		{ ".tar.xz", "x" }, { ".txz", "x" },  { ".tar.gz", "g" },
		{ ".tgz", "g" },    { ".tar.zst", "z" }, { ".tar", "" },
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (view_ends(view_of(name), rows[i][0]))
			return rows[i][1];
	return NULL;
}

static bool is_zip(const char *name)
{
	return view_ends(view_of(name), ".zip");
}

int unpacker_kind_ok(const char *name, struct err *err)
{
	if (filters_of(name) || is_zip(name))
		return 0;
	return err_set(err, ERR_DATA, _("%.300s: neither a tar (xz, gzip, zstd) nor a zip"), name);
}

/* False when the other one gave up, who says why. */
static bool hand_on(struct job *j, const char *block, size_t n)
{
	return put_all(j->pipe, block, n) == 0;
}

/*
 * By threads, where liblzma has them. 1: it has none, or they could not be had; *ret_done bytes
 * were handed on.
 */
static int decode_by_threads(struct job *j, char *block, uint64_t *ret_done, struct err *err)
{
	static const char magic[6] = { '\xFD', '7', 'z', 'X', 'Z', '\0' };
	struct xz_threads *x;
	int64_t n;

	*ret_done = 0;
	if (xz_threads_open(j->a, feed_read, &j->feed, &x, err))
		return 1;
	while ((n = xz_threads_read(x, block, BLOCK, err)) > 0) {
		if (!*ret_done && n >= (int64_t)sizeof(magic) &&
		    memcmp(block, magic, sizeof(magic)) == 0)
			return err_set(
				err, ERR_DATA,
				_("the archive is not compressed as its name says, or twice"));
		if (!hand_on(j, block, (size_t)n))
			return 0;
		*ret_done += (uint64_t)n;
	}
	return n == -(int)ERR_NOMEM || n == -(int)ERR_UNSUPPORTED ? 1 : (int)n;
}

static int decode(struct job *j, struct unpack_done *done, struct err *err)
{
	char *block = arena_alloc(j->a, BLOCK);
	const char *filters = filters_of(j->ask->name);
	uint64_t before = 0;
	struct packed_member m;
	struct packed *p;
	int64_t n;
	int r = 1;

	(void)done;
	sandbox_enter(-1);
	if (strcmp(filters, "x") == 0)
		r = decode_by_threads(j, block, &before, err);
	if (r <= 0)
		return r;
	/* Once more from the beginning; what the other one has already is passed over. */
	j->feed.pos = 0;
	r = packed_open_filter(j->a, feed_read, &j->feed, filters, &p, err);
	if (!r && packed_next(p, &m, err) < 0)
		r = -(int)ERR_DATA;
	if (r)
		return r;
	while ((n = packed_read(p, block, BLOCK, err)) > 0) {
		size_t skip = before < (uint64_t)n ? (size_t)before : (size_t)n;

		before -= skip;
		if (!hand_on(j, block + skip, (size_t)n - skip))
			return 0;
	}
	return n < 0 ? (int)n : 0;
}

/* What follows the end of a tar is zeros: another reader could find more there. */
static int rest_is_zero(struct job *j, struct packed *p, struct err *err)
{
	struct view rest = packed_rest(p);
	char *block = arena_alloc(j->a, BLOCK);
	uint64_t total = 0;
	size_t i;

	for (;;) {
		int64_t n;

		for (i = 0; i < rest.n; i++)
			if (rest.p[i])
				return err_set(
					err, ERR_DATA,
					_("the archive is refused, nothing is installed: there is more behind its end"));
		n = pipe_read(&j->pipe, block, BLOCK);
		if (n < 0)
			return err_errno(err, errno, _("unpacking"));
		if (n == 0)
			return 0;
		rest = (struct view){ .p = block, .n = (size_t)n };
		total += (uint64_t)n;
		if (total > REST_MAX)
			return err_set(
				err, ERR_TOOBIG,
				_("the archive is refused, nothing is installed: zeros without end behind it"));
	}
}

/* The tar, read twice: by libarchive, and by who follows its headers. */
struct tar {
	int pipe;
	struct tarcheck *check;
	struct err fault; /* what the second reader says */
};

static int64_t tar_read(void *ctx, void *buf, size_t n)
{
	struct tar *t = ctx;
	int64_t k = pipe_read(&t->pipe, buf, n);

	return k > 0 && tarcheck_add(t->check, buf, (size_t)k, &t->fault) ? -1 : k;
}

static int unpack_tar(struct job *j, struct unpack_done *done, struct err *err)
{
	struct tar t = { .pipe = j->pipe, .check = tarcheck_new(j->a) };
	struct packed *p;
	int r = packed_open_tar(j->a, tar_read, &t, &p, err);

	if (!r)
		r = unpack_into(j->a, p, j->ask->staging, &j->ask->limits, j->ask->crypto, done,
				err);
	/* That its source failed is all that libarchive knows. */
	if (t.fault.code)
		return err_set(err, t.fault.code, "%s", t.fault.msg);
	return r ? r : rest_is_zero(j, p, err);
}

/* Central directory and local headers have to tell the same names in the same order. */
static int compare_zip(struct job *j, uint64_t directory, uint64_t seen, struct err *err)
{
	uint64_t fingerprint = 0;
	struct packed_member m;
	struct packed *p;
	int r;

	j->feed.pos = 0;
	r = packed_open_zip_stream(j->a, feed_read, &j->feed, &p, err);
	while (!r && (r = packed_next(p, &m, err)) > 0) {
		fingerprint = walk_fingerprint(fingerprint, m.name);
		r = 0;
	}
	if (r < 0)
		return r;
	if (fingerprint != seen || directory != seen)
		return err_set(
			err, ERR_DATA,
			_("the archive is refused, nothing is installed: its directory and its entries name different files"));
	return 0;
}

static int unpack_zip(struct job *j, struct unpack_done *done, struct err *err)
{
	uint64_t directory;
	struct packed *p;
	int r;

	/* Its directory is at the end: all of it has to be there. */
	while (!j->feed.last) {
		j->feed.pos = j->feed.there;
		if (!feed_wait(&j->feed) && j->feed.broken)
			return err_set(err, ERR_IO, _("unpacking was given up"));
	}
	/* First, so that no decoder runs but those that it admits. */
	r = zipdir_fingerprint(j->a, j->feed.fd, &directory, err);
	if (!r)
		r = packed_open_zip(j->a, j->feed.fd, &p, err);
	if (!r)
		r = unpack_into(j->a, p, j->ask->staging, &j->ask->limits, j->ask->crypto, done,
				err);
	return r ? r : compare_zip(j, directory, done->fingerprint, err);
}

static int unpack(struct job *j, struct unpack_done *done, struct err *err)
{
	sandbox_enter(j->ask->staging);
	return is_zip(j->ask->name) ? unpack_zip(j, done, err) : unpack_tar(j, done, err);
}

static void close_others(const int *keep, size_t n)
{
	int fd;

	for (fd = 3; fd < 1024; fd++) {
		size_t i;

		for (i = 0; i < n && keep[i] != fd; i++)
			;
		if (i == n)
			close(fd);
	}
}

static void run_child(struct job *j, int which, int answer, pid_t parent)
{
	const struct rlimit none = { 0 };
	const int keep[] = { j->feed.fd, j->feed.news, j->pipe, answer,
			     which == UNPACKER ? j->ask->staging : -1 };
	struct answer said = { .whole = 1 };
	struct err err = { 0 };
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	(void)setrlimit(RLIMIT_CORE, &none);
	close_others(keep, ARRAY_LEN(keep));
	j->a = arena_new(NULL);
	r = which == DECODER ? decode(j, &said.done, &err) : unpack(j, &said.done, &err);
	if (which == DECODER)
		close(j->pipe);
	if (r) {
		said.code = err.code ? (int32_t)err.code : ERR_IO;
		memcpy(said.msg, err.msg, sizeof(said.msg));
	}
	_exit(put_all(answer, (const char *)&said, sizeof(said)) < 0 ? 1 : 0);
}

/* -------- in the parent */


static int pipe_pair(int fds[2], struct err *err)
{
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(err, errno, "pipe");
	return 0;
}

/* One child; `pipe`: the one of the two ends that it keeps. */
static int start_one(struct unpacker *w, struct job *j, int which, int pipe, struct err *err)
{
	int news[2] = { -1, -1 }, answer[2] = { -1, -1 };
	const pid_t parent = getpid();
	pid_t pid;

	if (pipe_pair(news, err) || pipe_pair(answer, err)) {
		cleanup_fd(&news[0]);
		cleanup_fd(&news[1]);
		return -(int)ERR_IO;
	}
	j->pipe = pipe;
	j->feed.news = news[0];
	pid = fork();
	if (pid == 0)
		run_child(j, which, answer[1], parent);
	close(news[0]);
	close(answer[1]);
	(void)fcntl(news[1], F_SETFL, O_NONBLOCK);
	w->feed[which] = news[1];
	w->answer[which] = answer[0];
	if (pid < 0)
		return err_errno(err, errno, _("the unpacker does not start"));
	*(which == DECODER ? &w->decoder : &w->unpacker) = pid;
	return 0;
}

int unpacker_start(struct arena *a, const struct unpacker_ask *ask, struct unpacker *w,
		   struct err *err)
{
	struct job j = { .ask = ask, .feed = { .fd = ask->fd }, .pipe = -1 };
	int between[2] = { -1, -1 }, r;

	(void)a;
	*w = (struct unpacker){ .feed = { -1, -1 }, .answer = { -1, -1 } };
	r = unpacker_kind_ok(ask->name, err);
	/* Before the children shut themselves in. */
	if (!r)
		r = packed_load(err);
	xz_threads_load();
	if (!r && !is_zip(ask->name))
		r = pipe_pair(between, err);
	if (!r && between[0] >= 0)
		(void)fcntl(between[0], F_SETPIPE_SZ, PIPE_BYTES);
	if (!r && between[1] >= 0)
		r = start_one(w, &j, DECODER, between[1], err);
	cleanup_fd(&between[1]);
	if (!r)
		r = start_one(w, &j, UNPACKER, between[0], err);
	cleanup_fd(&between[0]);
	if (r)
		unpacker_stop(w);
	return r;
}

static void tell(struct unpacker *w, int which, const struct news *n)
{
	if (w->feed[which] < 0)
		return;
	if (n->last)
		(void)fcntl(w->feed[which], F_SETFL, 0);
	/* A full pipe holds news enough; a closed one means that the child is gone. */
	if (write(w->feed[which], n, sizeof(*n)) < 0 && !n->last)
		return;
	/* Should the last ones not have come through, the end of the pipe is what the child sees.
	 */
	if (n->last)
		cleanup_fd(&w->feed[which]);
}

void unpacker_feed(struct unpacker *w, uint64_t n, bool last)
{
	const struct news news = { .there = n, .last = last };

	if (!last && n - w->told < TELL_AFTER)
		return;
	w->told = n;
	/* The unpacker of a tar reads from the decoder alone. */
	if (w->decoder > 0)
		tell(w, DECODER, &news);
	else
		tell(w, UNPACKER, &news);
}

bool unpacker_ended(struct unpacker *w, int ms)
{
	struct pollfd p[] = { { .fd = w->answer[DECODER], .events = POLLIN },
			      { .fd = w->answer[UNPACKER], .events = POLLIN } };

	/* The decoder ends before the unpacker when all is well. */
	return poll(p + 1, 1, ms) > 0;
}

static void take(struct unpacker *w, int which, struct answer *ret)
{
	char *to = (char *)ret;
	size_t n = 0;

	while (n < sizeof(*ret)) {
		ssize_t k = read(w->answer[which], to + n, sizeof(*ret) - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			break;
		n += (size_t)k;
	}
	ret->msg[sizeof(ret->msg) - 1] = '\0';
	if (n != sizeof(*ret) || ret->whole != 1 || ret->code < 0 || ret->code >= ERR_COUNT) {
		*ret = (struct answer){ .code = ERR_IO };
		memcpy(ret->msg, "?", 2);
	}
}

static int say(const struct answer *said, struct err *err)
{
	if (strcmp(said->msg, "?") == 0)
		return err_set(err, ERR_IO, _("the unpacker ended without an answer"));
	return err_set(err, said->code == ERR_PARSE ? ERR_DATA : (enum err_code)said->code, "%s",
		       said->msg);
}

int unpacker_wait(struct unpacker *w, int (*tick)(void *ctx, struct err *err), void *ctx,
		struct unpack_done *ret, struct err *err)
{
	struct answer said[2] = { { .whole = 1 }, { .whole = 1 } };
	int r;

	while (!unpacker_ended(w, WAIT_MS)) {
		r = tick ? tick(ctx, err) : 0;
		if (r) {
			unpacker_stop(w);
			return r;
		}
	}
	take(w, UNPACKER, &said[UNPACKER]);
	/* What one refuses the other cannot know: the pipe between them is closed then. */
	if (w->decoder > 0) {
		cleanup_fd(&w->feed[DECODER]);
		take(w, DECODER, &said[DECODER]);
	}
	unpacker_stop(w);
	/* A damaged stream is a damaged archive too: the cause is named. */
	if (said[DECODER].code && (said[DECODER].code != ERR_IO || !said[UNPACKER].code ||
				   strcmp(said[DECODER].msg, "?") != 0))
		return say(&said[DECODER], err);
	if (said[UNPACKER].code)
		return say(&said[UNPACKER], err);
	*ret = said[UNPACKER].done;
	return 0;
}

void unpacker_stop(struct unpacker *w)
{
	pid_t *const pids[] = { &w->decoder, &w->unpacker };
	size_t i;

	for (i = 0; i < ARRAY_LEN(pids); i++) {
		if (*pids[i] <= 0)
			continue;
		(void)kill(*pids[i], SIGKILL);
		while (waitpid(*pids[i], NULL, 0) < 0 && errno == EINTR)
			;
		*pids[i] = 0;
	}
	for (i = 0; i < ARRAY_LEN(w->feed); i++) {
		cleanup_fd(&w->feed[i]);
		cleanup_fd(&w->answer[i]);
		w->feed[i] = w->answer[i] = -1;
	}
}

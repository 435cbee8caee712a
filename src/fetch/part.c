/* SPDX-License-Identifier: Apache-2.0 */
/* An archive into the cache: whole and right, or a part that the next run goes on with. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "fetch/cache.h"
#include "fetch/prefix.h"
#include "fetch/tree.h"
#include "net/crypto.h"

enum { BLOCK = 1 << 20, LOCK_PAUSE_MS = 50 };

#define PART_ENDING ".part"

struct part {
	struct cache *c;
	const struct fetch_item *item;
	const struct cache_taker *taker;
	struct digest *digest;
	struct transfer t;
	const char *rel; /* NAME.part */
	const char *base, *final_base;
	int dir, fd;
	bool resumed;
	struct timespec told;
};

static void progress(struct part *p, enum fetch_phase phase, uint64_t done)
{
	const struct fetch_watch *w = &p->c->o->watch;

	if (w->progress)
		w->progress(w->ctx, phase, p->item->url, done, p->item->size);
}

bool cache_has(struct cache *c, const struct fetch_item *item)
{
	_cleanup_fd_ int fd =
		c->fd < 0 ? -1 : tree_open(c->fd, item->rel, O_RDONLY | O_NONBLOCK, 0);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (uint64_t)st.st_size == item->size;
}

bool cache_has_part(struct cache *c, const struct fetch_item *item)
{
	_cleanup_fd_ int fd =
		c->fd < 0 ? -1
			  : tree_open(c->fd, arena_printf(c->a, "%s" PART_ENDING, item->rel),
				      O_RDONLY | O_NONBLOCK, 0);

	return fd >= 0;
}

/* Digest and taker for what is in the file already. */
static int read_there(struct part *p, int fd, uint64_t n, struct err *err)
{
	char *block = arena_alloc(p->c->a, BLOCK);
	uint64_t done = 0;

	while (done < n) {
		ssize_t k = pread(fd, block, BLOCK, (off_t)done);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return err_errno(err, k < 0 ? errno : EIO, "%.300s/%.300s", p->c->path,
					 p->item->rel);
		digest_add(p->digest, block, (size_t)k);
		done += (uint64_t)k;
		p->taker->more(p->taker->ctx, done);
		progress(p, FETCH_VERIFY, done);
		if (stop_check(err))
			return -(int)err->code;
	}
	return 0;
}

static bool digest_is(struct part *p, const char **ret_came)
{
	unsigned char hash[HASH_BYTES];

	*ret_came = "?";
	if (!digest_end(p->digest, hash))
		return false;
	*ret_came = hex_text(p->c->a, hash, HASH_BYTES);
	return strcmp(*ret_came, p->item->sha256) == 0;
}

/* A whole archive that is there already. 0: right, 1: there is none, or a wrong one that went. */
static int take_whole(struct part *p, int *ret_fd, struct err *err)
{
	_cleanup_fd_ int fd = p->c->fd < 0 ? -1 : tree_open(p->c->fd, p->item->rel,
							    O_RDONLY | O_NONBLOCK, 0);
	const char *came;
	struct stat st;
	int r;

	if (fd < 0)
		return 1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != p->item->size) {
		cache_drop_one(p->c, p->item->rel);
		return 1;
	}
	digest_restart(p->digest);
	r = p->taker->start(p->taker->ctx, fd, err);
	if (!r)
		r = read_there(p, fd, p->item->size, err);
	if (r)
		return r;
	if (!digest_is(p, &came)) {
		cache_drop_one(p->c, p->item->rel);
		return 1;
	}
	*ret_fd = take_fd(&fd);
	return 0;
}

static int on_restart(void *ctx, struct err *err)
{
	struct part *p = ctx;

	if (ftruncate(p->fd, 0) < 0)
		return err_errno(err, errno, "%.300s/%.300s", p->c->path, p->rel);
	p->resumed = false;
	digest_restart(p->digest);
	cache_drop_one(p->c, cache_note_of(p->c, p->rel));
	return p->taker->start(p->taker->ctx, p->fd, err);
}

static int full_disk(struct part *p, int errnum, struct err *err)
{
	if (errnum == ENOSPC || errnum == EDQUOT)
		return err_set(err, ERR_IO, _("no space left in the cache %.300s for %.300s (%s)"),
			       p->c->path, p->rel, strerror(errnum));
	return err_errno(err, errnum, "%.300s/%.300s", p->c->path, p->rel);
}

static int on_bytes(void *ctx, const char *data, size_t n, struct err *err)
{
	struct part *p = ctx;
	size_t done = 0;

	if (!p->t.have && p->t.validator[0])
		cache_write_small(p->c, cache_note_of(p->c, p->rel),
			    view_of(arena_printf(p->c->a, "%s\n%s\n", p->item->url,
						 p->t.validator)));
	while (done < n) {
		ssize_t k = pwrite(p->fd, data + done, n - done, (off_t)(p->t.have + done));

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return full_disk(p, k < 0 ? errno : EIO, err);
		done += (size_t)k;
	}
	digest_add(p->digest, data, n);
	p->taker->more(p->taker->ctx, p->t.have + n);
	progress(p, FETCH_DOWNLOAD, p->t.have + n);
	return 0;
}

static void on_pause(void *ctx, long ms, const char *why)
{
	const struct part *p = ctx;
	const struct fetch_watch *w = &p->c->o->watch;

	if (w->note)
		w->note(w->ctx, arena_printf(p->c->a, _("%s; trying again in %.1f s"), why,
					     (double)ms / 1000));
}

static int on_tick(void *ctx, struct err *err)
{
	(void)ctx;
	return stop_check(err);
}

/* The part, locked by this process and still under its name. */
static int open_part(struct part *p, struct err *err)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000000L };
	struct stat mine, named;

	for (;;) {
		p->fd = openat(p->dir, p->base,
			       O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
		if (p->fd < 0)
			return full_disk(p, errno, err);
		while (flock(p->fd, LOCK_EX | LOCK_NB) < 0) {
			if (errno != EWOULDBLOCK && errno != EINTR)
				return full_disk(p, errno, err);
			if (stop_check(err))
				return -(int)err->code;
			nanosleep(&pause, NULL);
		}
		if (fstat(p->fd, &mine) < 0 || !S_ISREG(mine.st_mode))
			return err_set(err, ERR_TYPE, _("%.300s/%.300s: not a regular file"),
				       p->c->path, p->rel);
		if (fstatat(p->dir, p->base, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		    named.st_ino == mine.st_ino && named.st_dev == mine.st_dev)
			return 0;
		/* Another one finished it meanwhile. */
		cleanup_fd(&p->fd);
	}
}

static int space_for(struct part *p, int fd, uint64_t bytes, const char *where, struct err *err)
{
	struct statvfs v;
	uint64_t free_bytes;

	if (fstatvfs(fd, &v) < 0)
		return 0;
	free_bytes = (uint64_t)v.f_bavail * (v.f_frsize ? v.f_frsize : v.f_bsize);
	if (free_bytes >= bytes)
		return 0;
	return err_set(err, ERR_IO,
		       _("not enough space in %.300s: %.300s needs %llu MiB, %llu MiB are free"),
		       where, p->item->url, (unsigned long long)(bytes + (1 << 20) - 1) >> 20,
		       (unsigned long long)free_bytes >> 20);
}

/* What an earlier run left: goes on with it, by the note of where it came from. */
static int take_up(struct part *p, struct err *err)
{
	struct view note, url, rest;
	struct stat st;
	int r;

	if (fstat(p->fd, &st) < 0)
		return full_disk(p, errno, err);
	digest_restart(p->digest);
	if ((uint64_t)st.st_size > p->item->size) {
		if (ftruncate(p->fd, 0) < 0)
			return full_disk(p, errno, err);
		st.st_size = 0;
	}
	r = space_for(p, p->fd, p->item->size - (uint64_t)st.st_size, p->c->path, err);
	if (!r)
		r = p->taker->start(p->taker->ctx, p->fd, err);
	if (r || !st.st_size)
		return r;
	p->resumed = true;
	p->t.have = (uint64_t)st.st_size;
	if (cache_read_small(p->c, cache_note_of(p->c, p->rel), CACHE_NOTE_MAX, &note)) {
		url = view_cut(note, '\n', &rest);
		rest = view_trim(rest);
		if (view_is(url, p->item->url) && rest.n < sizeof(p->t.validator)) {
			memcpy(p->t.validator, rest.p, rest.n);
			p->t.validator[rest.n] = '\0';
		}
	}
	return read_there(p, p->fd, p->t.have, err);
}

static int get_bytes(struct part *p, struct err *err)
{
	struct cache *c = p->c;

	if (p->t.have == p->item->size)
		return 0;
	if (c->folder)
		return transfer_file(&p->t, p->item->url, err);
	if (c->o->offline)
		return err_set(err, ERR_IO, _("--offline: %.300s/%.300s is not in the cache"),
			       c->path, p->item->rel);
	if (cache_http(c, err))
		return -(int)err->code;
	p->t.http = c->http;
	return transfer_http(&p->t, err);
}

static int wrong_hash(struct part *p, const char *came, struct err *err)
{
	cache_drop_one(p->c, p->rel);
	cache_drop_one(p->c, cache_note_of(p->c, p->rel));
	cache_prune(p->c, p->rel);
	return err_set(
		err, ERR_DATA,
		_("%.400s: not what the manifest promises: sha256 %s wanted, %s came; nothing is installed"),
		p->item->url, p->item->sha256, came);
}

/* A part that holds nothing is no use to the next run. */
static void leave_part(struct part *p)
{
	struct stat st;

	if (p->fd < 0 || fstat(p->fd, &st) < 0 || st.st_size)
		return;
	(void)unlinkat(p->dir, p->base, 0);
	cache_drop_one(p->c, cache_note_of(p->c, p->rel));
	cache_prune(p->c, p->rel);
}

static int get_part(struct part *p, int *ret_fd, struct err *err)
{
	const char *came;
	int r = open_part(p, err), tries;

	if (r)
		return r;
	/* Whoever held it may have finished it. */
	r = take_whole(p, ret_fd, err);
	if (r <= 0) {
		leave_part(p);
		return r;
	}
	r = take_up(p, err);
	for (tries = 0; !r; tries++) {
		r = get_bytes(p, err);
		if (r)
			break;
		if (digest_is(p, &came)) {
			if (renameat(p->dir, p->base, p->dir, p->final_base) < 0)
				return full_disk(p, errno, err);
			cache_drop_one(p->c, cache_note_of(p->c, p->rel));
			*ret_fd = take_fd(&p->fd);
			return 0;
		}
		/* What an earlier run left may be of another file: once more, from the beginning.
		 */
		if (!p->resumed || tries)
			return wrong_hash(p, came, err);
		p->t.have = 0;
		p->t.validator[0] = '\0';
		r = on_restart(p, err);
	}
	leave_part(p);
	return r;
}

int cache_archive(struct cache *c, const struct fetch_item *item, const struct cache_taker *t,
		  int *ret_fd, struct err *err)
{
	struct part p = { .c = c, .item = item, .taker = t, .dir = -1, .fd = -1 };
	int r;

	r = cache_crypto(c, err);
	if (!r)
		r = cache_make(c, err);
	if (r)
		return err_wrap(err, _("the cache %.300s cannot be used"), c->path);
	p.digest = digest_new(c->a, c->crypto);
	if (!p.digest)
		return err_set(err, ERR_UNSUPPORTED, _("this libcrypto does not do SHA-256"));
	p.rel = arena_printf(c->a, "%s" PART_ENDING, item->rel);
	p.t = (struct transfer){
		.a = c->a,
		.o = &c->o->transfer,
		.url = item->url,
		.size = item->size,
		.restart = on_restart,
		.bytes = on_bytes,
		.tick = on_tick,
		.pause = on_pause,
		.ctx = &p,
	};
	r = take_whole(&p, ret_fd, err);
	if (r <= 0)
		return r;
	p.dir = tree_parent(c->fd, p.rel, true, &p.base);
	if (p.dir < 0)
		return err_errno(err, -p.dir, _("the cache %.300s cannot be used: %.300s"), c->path,
				 p.rel);
	p.final_base = strrchr(item->rel, '/') ? strrchr(item->rel, '/') + 1 : item->rel;
	r = get_part(&p, ret_fd, err);
	cleanup_fd(&p.fd);
	cleanup_fd(&p.dir);
	return r;
}

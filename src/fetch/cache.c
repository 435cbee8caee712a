/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the cache and where they come from; gives no file its name before its hash was right. */
#include "fetch/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "fetch/manifest.h"
#include "fetch/prefix.h"
#include "fetch/tree.h"
#include "net/crypto.h"
#include "net/http.h"

static int set_mirror(struct cache *c, struct err *err)
{
	const char *m = c->o->mirror ? c->o->mirror : FETCH_BASE;
	size_t n = strlen(m);

	while (n > 1 && m[n - 1] == '/')
		n--;
	m = arena_strndup(c->a, m, n);
	if (strncmp(m, "file://", 7) == 0) {
		m += 7;
		if (strncmp(m, "localhost/", 10) == 0)
			m += 9;
		if (m[0] != '/' || strchr(m, '%'))
			return err_set(
				err, ERR_USAGE,
				_("--mirror file://%.300s: not an absolute path; name the folder itself"),
				m);
	} else if (http_is_url(m)) {
		c->base = m;
		return c->o->transfer.allow_http ? http_allowed_plain(m, err)
						 : http_allowed(m, err);
	}
	c->folder = m;
	return 0;
}

int cache_init(struct arena *a, const struct fetch_options *o, struct cache *ret, struct err *err)
{
	struct cache c = { .a = a, .o = o, .fd = -1, .path = o->cache };
	int r;

	if (!c.path) {
		c.path = arena_printf(a, "%s/%s", o->prefix, PREFIX_CACHE);
		c.own = true;
	}
	r = set_mirror(&c, err);
	if (r)
		return r;
	c.fd = open(c.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c.fd < 0 && errno != ENOENT)
		return err_errno(err, errno, _("the cache %.300s"), c.path);
	*ret = c;
	return 0;
}

void cache_done(struct cache *c)
{
	cleanup_fd(&c->fd);
	c->fd = -1;
	/* Only when nothing is in it. */
	if (c->own)
		(void)rmdir(c->path);
}

int cache_make(struct cache *c, struct err *err)
{
	if (c->fd >= 0)
		return 0;
	return tree_user_dir(c->a, c->path, &c->fd, err);
}

int cache_crypto(struct cache *c, struct err *err)
{
	return c->crypto ? 0 : crypto_open(c->a, &c->crypto, err);
}

int cache_http(struct cache *c, struct err *err)
{
	return c->http ? 0 : http_open(c->a, &c->http, err);
}

const char *cache_url(const struct cache *c, const char *rel)
{
	return arena_printf(c->a, "%s/%s", c->base ? c->base : c->folder, rel);
}

static int watch_tick(void *ctx, struct err *err)
{
	(void)ctx;
	return stop_check(err);
}

/* -------- small files */

bool cache_read_small(struct cache *c, const char *rel, size_t limit, struct view *ret)
{
	_cleanup_fd_ int fd = c->fd < 0 ? -1 : tree_open(c->fd, rel, O_RDONLY | O_NONBLOCK, 0);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       file_read_fd(c->a, fd, rel, limit, ret, NULL) == 0;
}

/* What fails here is only not cached. */
void cache_write_small(struct cache *c, const char *rel, struct view text)
{
	const char *base, *fresh;
	_cleanup_fd_ int dir = -1, fd = -1;

	if (cache_make(c, NULL))
		return;
	dir = tree_parent(c->fd, rel, true, &base);
	if (dir < 0)
		return;
	fresh = arena_printf(c->a, ".new-%ld-%.200s", (long)getpid(), base);
	fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return;
	if (file_write_fd(fd, rel, text, NULL) || renameat(dir, fresh, dir, base) < 0)
		(void)unlinkat(dir, fresh, 0);
}

/* Takes away folders of the cache that are empty now. */
void cache_prune(struct cache *c, const char *rel)
{
	char *path = arena_strdup(c->a, rel), *slash;

	while (c->fd >= 0 && (slash = strrchr(path, '/'))) {
		const char *base;
		int dir;

		*slash = '\0';
		dir = tree_parent(c->fd, path, false, &base);
		if (dir < 0)
			return;
		(void)unlinkat(dir, base, AT_REMOVEDIR);
		close(dir);
	}
}

void cache_drop_one(struct cache *c, const char *rel)
{
	const char *base;
	_cleanup_fd_ int dir = c->fd < 0 ? -1 : tree_parent(c->fd, rel, false, &base);

	if (dir >= 0)
		(void)unlinkat(dir, base, 0);
}

const char *cache_note_of(struct cache *c, const char *rel)
{
	return arena_printf(c->a, "%s.from", rel);
}

void cache_drop(struct cache *c, const char *rel)
{
	cache_drop_one(c, rel);
	cache_drop_one(c, cache_note_of(c, rel));
	cache_prune(c, rel);
}

/* -------- manifests */

struct memory {
	struct cache *c;
	struct strbuf text;
};

static int memory_restart(void *ctx, struct err *err)
{
	struct memory *m = ctx;

	(void)err;
	strbuf_init(&m->text, m->c->a);
	return 0;
}

static int memory_bytes(void *ctx, const char *p, size_t n, struct err *err)
{
	struct memory *m = ctx;

	(void)err;
	strbuf_addn(&m->text, p, n);
	return 0;
}

static void memory_pause(void *ctx, long ms, const char *why)
{
	const struct memory *m = ctx;
	const struct fetch_watch *w = &m->c->o->watch;

	if (w->note)
		w->note(w->ctx, arena_printf(m->c->a, _("%s; trying again in %.1f s"), why,
					     (double)ms / 1000));
}

static int get_manifest(struct cache *c, const char *rel, struct view *ret, struct err *err)
{
	struct memory m = { .c = c };
	struct transfer t = {
		.a = c->a,
		.o = &c->o->transfer,
		.url = cache_url(c, rel),
		.max = MANIFEST_MAX,
		.restart = memory_restart,
		.bytes = memory_bytes,
		.tick = watch_tick,
		.pause = memory_pause,
		.ctx = &m,
	};
	int r;

	strbuf_init(&m.text, c->a);
	if (c->o->watch.progress)
		c->o->watch.progress(c->o->watch.ctx, FETCH_MANIFEST, t.url, 0, 0);
	if (c->folder) {
		r = transfer_file(&t, t.url, err);
	} else {
		r = cache_http(c, err);
		t.http = c->http;
		/* A manifest begins anew: it is small, and a change half-way would go unseen. */
		if (!r)
			r = transfer_http(&t, err);
	}
	*ret = (struct view){ .p = m.text.s, .n = m.text.n };
	return r;
}

static bool hash_is(struct cache *c, struct view text, const char *hex)
{
	unsigned char hash[HASH_BYTES];

	return crypto_sha256(c->crypto, text, hash, NULL) == 0 &&
	       strcmp(hex_text(c->a, hash, HASH_BYTES), hex) == 0;
}

int cache_manifest(struct cache *c, const char *rel, const char *pinned, bool anew,
		   struct cache_manifest *ret, struct err *err)
{
	struct cache_manifest m = { 0 };
	struct view from;
	bool there, same = false;

	if (cache_crypto(c, err))
		return -(int)err->code;
	there = cache_read_small(c, rel, MANIFEST_MAX, &m.text);
	/* The one that is pinned is the same wherever it came from. */
	m.known = there && pinned && hash_is(c, m.text, pinned);
	if (there && !m.known && !anew)
		same = cache_read_small(c, cache_note_of(c, rel), CACHE_NOTE_MAX, &from) &&
		       view_is(view_trim(from), cache_url(c, rel));
	if (!m.known && !same && !(there && c->o->offline)) {
		if (c->o->offline && c->base)
			return err_set(err, ERR_ABSENT,
				       _("--offline: %.300s/%.300s is not in the cache"), c->path,
				       rel);
		if (get_manifest(c, rel, &m.text, err))
			return -(int)err->code;
		m.fresh = true;
		m.known = pinned && hash_is(c, m.text, pinned);
	}
	m.republished = pinned && !m.known;
	*ret = m;
	return 0;
}

void cache_keep_manifest(struct cache *c, const char *rel, const struct view *text)
{
	cache_write_small(c, rel, *text);
	cache_write_small(c, cache_note_of(c, rel),
			  view_of(arena_printf(c->a, "%s\n", cache_url(c, rel))));
}

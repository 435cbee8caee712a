/* SPDX-License-Identifier: Apache-2.0 */
/* From what is asked for to what is installed, in order: manifest, items, licence, archive, name.
 */
#include "fetch/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "fetch/cache.h"
#include "fetch/choose.h"
#include "fetch/into.h"
#include "fetch/manifest.h"
#include "fetch/prefix.h"
#include "fetch/there.h"
#include "fetch/tree.h"
#include "fetch/unpacker.h"

enum { ENTRIES_MAX = 50000, RATIO_MAX = 200 };
static const uint64_t unpacked_max = UINT64_C(8) << 30;

struct fetch {
	struct arena *a;
	const struct fetch_options *o;
	struct cache cache;
	const char *manifest_rel;
	struct cache_manifest manifest;
};

const char *fetch_state_name(enum fetch_state s)
{
	static const char *const names[] = {
		[FETCH_PLANNED] = "planned",
		[FETCH_CACHED] = "cached",
		[FETCH_INSTALLED] = "installed",
	};

	return names[s];
}

static void note(const struct fetch *f, const char *text)
{
	if (f->o->watch.note)
		f->o->watch.note(f->o->watch.ctx, text);
}

/* -------- planning */

/* One name for a product whose manifest has several components: what the product is about. */
static const char *main_component(const struct fetch *f, const struct manifest *m, const char **all,
				  size_t n)
{
	const char *product = f->o->product, *name;
	size_t i;

	/* Of all platforms: where it was not built for this one, its samples are no answer. */
	for (i = 0; i < m->n; i++) {
		name = m->leaves[i].component;
		if (strcmp(name, product) == 0 ||
		    (strncmp(name, "lib", 3) == 0 && strcmp(name + 3, product) == 0))
			return name;
	}
	return n == 1 ? all[0] : NULL;
}

static int components_of(struct fetch *f, const struct manifest *m, const char *const **ret,
			 size_t *ret_n, struct err *err)
{
	const char **one, **all;
	struct strbuf names;
	size_t n, i;

	if (f->o->n_components) {
		*ret = f->o->components;
		*ret_n = f->o->n_components;
		return 0;
	}
	all = manifest_components(f->a, m, f->o->platform, &n);
	one = arena_calloc(f->a, 1, sizeof(*one));
	one[0] = strcmp(f->o->product, "cuda") == 0 ? NULL : main_component(f, m, all, n);
	if (one[0]) {
		*ret = one;
		*ret_n = 1;
		return 0;
	}
	strbuf_init(&names, f->a);
	for (i = 0; i < n && names.n < 900; i++) {
		strbuf_sep(&names, ",");
		strbuf_add(&names, all[i]);
	}
	if (!n)
		return err_set(err, ERR_NOENT, _("%.300s: nothing for %s"), m->name,
			       f->o->platform);
	return err_set(err, ERR_USAGE, _("%s %s: say which with --components: %s"), f->o->product,
		       f->o->label, names.s);
}

/* The CUDA that an archive is for: what the leaf says, else the label's major for CUDA itself. */
static const char *cuda_of(struct fetch *f, const struct leaf *l)
{
	struct version v;

	if (l->cuda)
		return l->cuda;
	if (strcmp(f->o->product, "cuda") == 0 && version_parse(view_of(f->o->label), &v))
		return arena_printf(f->a, "%u", v.part[0]);
	return NULL;
}

static void plan_item(struct fetch *f, const struct leaf *l, struct prefix *s,
		      struct fetch_item *ret)
{
	const struct fetch_options *o = f->o;
	const char *cuda = cuda_of(f, l);
	struct fetch_item item = {
		.name = l->component,
		.version = l->version,
		.label = o->label,
		.cuda = cuda,
		.platform = l->platform,
		.sha256 = l->sha256,
		.size = l->size,
		.licence = l->licence ? l->licence : "NVIDIA",
	};
	const char *licence = l->licence_path
				      ? l->licence_path
				      : arena_printf(f->a, "%s/LICENSE.txt", l->component);

	item.rel = arena_printf(f->a, "%s/redist/%s", o->product, l->path);
	item.url = cache_url(&f->cache, item.rel);
	/* NVIDIA's own text, whatever the archive comes from. */
	item.licence_url = arena_printf(f->a, "%s/%s/redist/%s", FETCH_BASE, o->product, licence);
	item.dir = arena_printf(f->a, "%s%s%s", l->version, cuda ? "-cuda" : "", cuda ? cuda : "");
	item.path =
		o->into ? o->into : arena_printf(f->a, "%s/%s/%s", o->prefix, item.name, item.dir);
	if (there_is(s, o, &item))
		item.state = FETCH_INSTALLED;
	else if (cache_has(&f->cache, &item))
		item.state = FETCH_CACHED;
	*ret = item;
}

static int get_manifest(struct fetch *f, struct compat *c, bool anew, struct manifest *ret,
			struct err *err)
{
	const struct fetch_options *o = f->o;
	bool listed;
	const char *pinned = choose_pinned(c, o->product, o->label, &listed), *url;
	int r;

	f->manifest_rel = arena_printf(f->a, "%s/redist/redistrib_%s.json", o->product, o->label);
	url = cache_url(&f->cache, f->manifest_rel);
	r = cache_manifest(&f->cache, f->manifest_rel, pinned, anew, &f->manifest, err);
	if (r)
		return r;
	if (f->manifest.republished && o->strict)
		return err_set(
			err, ERR_DATA,
			_("%.400s: not the manifest whose sha256 is known (%s); --strict takes no other"),
			url, pinned);
	r = manifest_read(f->a, f->manifest.text, url, ret, err);
	/* A damaged copy must not be in the way for good. */
	if (r && !f->manifest.fresh)
		cache_drop(&f->cache, f->manifest_rel);
	if (!r && f->manifest.republished && (f->manifest.fresh || o->offline))
		note(f,
		     arena_printf(
			     f->a,
			     _("%s: a re-published file: not the manifest whose sha256 is known (%s)"),
			     url, pinned));
	if (!r && ret->label && strcmp(ret->label, o->label) != 0)
		note(f, arena_printf(f->a, _("%s: it calls itself %s"), url, ret->label));
	return r;
}

static int plan_items(struct fetch *f, const struct manifest *m, struct fetch_item **ret,
		      size_t *ret_n, struct err *err)
{
	const struct fetch_options *o = f->o;
	const char *const *names;
	struct fetch_item *items;
	struct prefix s;
	bool leftovers;
	size_t n = 0, i;
	int r = components_of(f, m, &names, &n, err);

	if (!r)
		r = prefix_look(f->a, o->prefix, &s, err);
	if (r)
		return r;
	/* Then what is in the way may be what is cleared first. */
	leftovers = prefix_has_leftovers(&s);
	items = arena_calloc(f->a, n, sizeof(*items));
	for (i = 0; i < n && !r; i++) {
		const struct leaf *l;

		r = manifest_pick(f->a, m, names[i], o->platform, o->cuda, &l, err);
		if (!r)
			plan_item(f, l, &s, &items[i]);
		if (!r && !o->into && items[i].state != FETCH_INSTALLED && !leftovers)
			r = prefix_free_for(&s, &items[i], err);
		if (r == -(int)ERR_NOENT && o->n_components)
			r = err_set(err, ERR_USAGE, "%s", arena_strdup(f->a, err->msg));
	}
	prefix_close(&s);
	for (i = 0; i < n && !r; i++)
		r = there_whole(&items[i], o, err);
	for (i = 0; i < n && !r; i++)
		if (items[i].other)
			note(f,
			     arena_printf(
				     f->a,
				     _("%s was installed from another archive than the manifest names now (sha256 %s)"),
				     items[i].path, items[i].sha256));
	*ret = items;
	*ret_n = r ? 0 : n;
	return r;
}

/*
 * A copy of a manifest whose hash nobody pinned may be out of date: it will do for what needs no
 * network, and for nothing else.
 */
static int plan(struct fetch *f, struct compat *c, struct fetch_item **ret, size_t *ret_n,
		struct err *err)
{
	struct manifest m;
	size_t i;
	int r = get_manifest(f, c, false, &m, err);

	if (!r)
		r = plan_items(f, &m, ret, ret_n, err);
	if (f->o->offline || f->manifest.fresh || f->manifest.known || !f->manifest.text.p)
		return r;
	for (i = 0; !r && i < *ret_n && (*ret)[i].state != FETCH_PLANNED; i++)
		;
	if (!r && i == *ret_n)
		return 0;
	r = get_manifest(f, c, true, &m, err);
	return r ? r : plan_items(f, &m, ret, ret_n, err);
}

static int licence(struct fetch *f, const struct fetch_item *item, struct err *err)
{
	const struct fetch_watch *w = &f->o->watch;

	if (f->o->accept || (w->licence && w->licence(w->ctx, item)))
		return 0;
	return err_set(err, ERR_USAGE,
		       _("the licence of %s is not accepted: read %.400s and say --accept-license"),
		       item->name, item->licence_url);
}

/* -------- installing one */

struct install {
	struct fetch *f;
	struct prefix *s;
	struct fetch_item *item;
	const char *stage;
	int stage_fd;
	bool staged; /* something may be in it */
	struct into into;
	struct unpacker worker;
	bool running;
};

static int make_stage(struct install *in, struct err *err)
{
	const char *into = in->f->o->into;
	int r;

	if (!into)
		return prefix_stage(in->s, &in->stage, &in->stage_fd, err);
	r = into_begin(in->s, in->item, into, &in->into, err);
	in->stage_fd = in->into.stage_fd;
	return r;
}

static void drop_stage(struct install *in)
{
	if (in->running)
		unpacker_stop(&in->worker);
	in->running = false;
	if (in->f->o->into) {
		if (in->into.id)
			into_end(in->s, &in->into);
		in->into = (struct into){ .fd = -1, .stage_fd = -1 };
	} else {
		cleanup_fd(&in->stage_fd);
		prefix_unstage(in->s, in->stage);
		in->stage = NULL;
	}
	in->stage_fd = -1;
}

static void set_limits(struct install *in, struct walk_limits *l)
{
	uint64_t max = in->f->o->max_size;

	*l = (struct walk_limits){
		.total = max ? max : unpacked_max,
		.archive = max ? 0 : in->item->size,
		.ratio = RATIO_MAX,
		.entries = ENTRIES_MAX,
	};
}

/* The archive's bytes begin, or begin anew: what was unpacked so far is thrown away. */
static int on_start(void *ctx, int fd, struct err *err)
{
	struct install *in = ctx;
	struct unpacker_ask ask = {
		.name = in->item->rel, .fd = fd, .crypto = in->f->cache.crypto };
	int r;

	if (in->staged) {
		drop_stage(in);
		r = make_stage(in, err);
		if (r)
			return r;
	}
	in->staged = true;
	ask.staging = in->stage_fd;
	set_limits(in, &ask.limits);
	r = unpacker_start(in->f->a, &ask, &in->worker, err);
	in->running = !r;
	return r;
}

static void on_more(void *ctx, uint64_t n)
{
	struct install *in = ctx;

	unpacker_feed(&in->worker, n, false);
}

static int on_wait(void *ctx, struct err *err)
{
	struct install *in = ctx;
	const struct fetch_watch *w = &in->f->o->watch;

	if (w->progress)
		w->progress(w->ctx, FETCH_UNPACK, in->item->url, 0, 0);
	return stop_check(err);
}

/* What unpacks is at least as large as the archive; how much larger is not known before. */
static int space_for(struct install *in, struct err *err)
{
	struct statvfs v;
	uint64_t left;

	if (fstatvfs(in->stage_fd, &v) < 0)
		return 0;
	left = (uint64_t)v.f_bavail * (v.f_frsize ? v.f_frsize : v.f_bsize);
	if (left >= in->item->size)
		return 0;
	return err_set(
		err, ERR_IO,
		_("not enough space in %.300s: %s needs more than %llu MiB, %llu MiB are free"),
		in->f->o->into ? in->f->o->into : in->f->o->prefix, in->item->name,
		(unsigned long long)(in->item->size + (1 << 20) - 1) >> 20,
		(unsigned long long)left >> 20);
}

static const char *today(struct arena *a)
{
	time_t now = time(NULL);
	struct tm tm;

	if (!gmtime_r(&now, &tm))
		return "?";
	return arena_printf(a, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

static int publish(struct install *in, struct err *err)
{
	struct fetch *f = in->f;
	const char *accepted = arena_printf(f->a, "%s %s", today(f->a),
					    f->o->accept ? "--accept-license" : "asked");
	int r;

	r = stop_check(err);
	if (r)
		return r;
	if (f->o->into)
		return into_commit(in->s, &in->into, in->item, accepted, err);
	return prefix_publish(in->s, in->stage, in->item, accepted, err);
}

static int get_and_unpack(struct install *in, struct err *err)
{
	const struct cache_taker taker = { .start = on_start, .more = on_more, .ctx = in };
	struct fetch *f = in->f;
	struct unpack_done done;
	_cleanup_fd_ int fd = -1;
	int r = cache_archive(&f->cache, in->item, &taker, &fd, err);

	if (r)
		return r;
	unpacker_feed(&in->worker, in->item->size, true);
	r = unpacker_wait(&in->worker, on_wait, in, &done, err);
	in->running = false;
	if (!r)
		return publish(in, err);
	/* An archive that is refused is of no use, right hash or not. */
	if (err->code == ERR_DATA || err->code == ERR_TOOBIG)
		cache_drop(&f->cache, in->item->rel);
	return err_wrap(err, "%.300s", in->item->url);
}

static int install(struct fetch *f, struct prefix *s, struct fetch_item *item, struct err *err)
{
	struct install in = { .f = f, .s = s, .item = item, .stage_fd = -1,
			      .into = { .fd = -1, .stage_fd = -1 } };
	int r;

	/* Another run may have done it while this one waited for the lock. */
	if (there_is(s, f->o, item)) {
		item->state = FETCH_INSTALLED;
		return there_whole(item, f->o, err);
	}
	r = f->o->into ? 0 : prefix_free_for(s, item, err);
	if (!r)
		r = unpacker_kind_ok(item->url, err);
	if (!r)
		r = make_stage(&in, err);
	if (!r)
		r = space_for(&in, err);
	if (!r)
		r = get_and_unpack(&in, err);
	drop_stage(&in);
	if (r)
		return r;
	item->state = FETCH_INSTALLED;
	item->fresh = true;
	return 0;
}

static int install_all(struct fetch *f, struct fetch_item *items, size_t n, struct err *err)
{
	struct prefix s;
	size_t i, open = 0;
	bool kept = false;
	int r;

	for (i = 0; i < n; i++)
		open += items[i].state != FETCH_INSTALLED;
	if (!open)
		return 0;
	for (i = 0; i < n; i++)
		if (items[i].state != FETCH_INSTALLED && licence(f, &items[i], err))
			return -(int)err->code;
	r = prefix_open(f->a, f->o->prefix, &f->o->watch, &s, err);
	for (i = 0; !r && i < n; i++)
		if (items[i].state != FETCH_INSTALLED)
			r = install(f, &s, &items[i], err);
	/* With an archive, or a part of one, its manifest is of use to the next run. */
	for (i = 0; i < n; i++)
		kept |= cache_has(&f->cache, &items[i]) || cache_has_part(&f->cache, &items[i]);
	if (f->manifest.fresh && f->cache.fd >= 0 && kept &&
	    (!r || err->code == ERR_IO || err->code == ERR_TIMEOUT))
		cache_keep_manifest(&f->cache, f->manifest_rel, &f->manifest.text);
	prefix_close(&s);
	return r;
}

int fetch_run(struct arena *a, struct compat *c, const struct fetch_options *o,
	      struct fetch_item **ret, size_t *ret_n, struct err *err)
{
	struct fetch f = { .a = a, .o = o };
	sigset_t mask;
	int r;

	*ret = NULL;
	*ret_n = 0;
	if (!manifest_name_ok(o->product) || !manifest_label_ok(o->label))
		return err_set(err, ERR_USAGE, _("%.64s %.64s: not a product and a version"),
			       o->product, o->label);
	if (!o->dry_run && !o->accept && !o->watch.licence)
		return err_set(
			err, ERR_USAGE,
			_("the licence is not accepted: read %s/%s/redist/%s/LICENSE.txt and say --accept-license"),
			FETCH_BASE, o->product, o->n_components ? o->components[0] : o->product);
	r = cache_init(a, o, &f.cache, err);
	if (r)
		return r;
	stop_block(&mask);
	r = plan(&f, c, ret, ret_n, err);
	if (!r && !o->dry_run) {
		r = install_all(&f, *ret, *ret_n, err);
		/* A file that is not there is no answer to what was asked. */
		if (r && err->code == ERR_NOENT)
			err->code = ERR_IO;
	}
	cache_done(&f.cache);
	stop_unblock(&mask);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* fetch: the release that is had for this machine, the newest first. */
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "cli/fetch_out.h"
#include "cli/opts.h"
#include "fetch/choose.h"
#include "fetch/manifest.h"
#include "probe/toolkit.h"
#include "sys/sysroot.h"

enum { VERSION_FILE_MAX = 256 << 10 };

int fetch_say(struct run *r, const struct fetch_options *f, const struct fetch_item *items,
	      size_t n, const char *why)
{
	const struct fetch_shown shown = {
		.product = f->product,
		.label = f->label,
		.why = why,
		.prefix = f->prefix,
		.items = items,
		.n = n,
		.dry_run = f->dry_run,
		.into = f->into,
	};

	return fetch_show(r, &shown);
}

/* What is fetched, for whom, and how it was chosen. */
struct getting {
	struct compat *c;
	const struct snapshot *s; /* NULL: no machine counts */
	struct choose_ask ask;
	struct choice choice;
	struct fetch_options *f;
};

/* "12.4.127": what a toolkit says of itself; NULL when it says nothing. */
static const char *cuda_of_toolkit(struct run *r, const char *folder)
{
	const char *json = path_join(r->a, folder, "version.json"), *version = NULL;
	const char *txt = path_join(r->a, folder, "version.txt");
	struct view text;

	if (file_read(r->a, json, VERSION_FILE_MAX, &text, NULL) == 0)
		version = toolkit_version_json(r->a, text, json);
	if (!version && file_read(r->a, txt, VERSION_FILE_MAX, &text, NULL) == 0)
		version = toolkit_version_txt(r->a, text);
	return version && manifest_label_ok(version) ? version : NULL;
}

static void aim(struct run *r, struct getting *g)
{
	struct fetch_options *f = g->f;
	const char *why = NULL;

	/* For another platform, what this machine has says nothing. */
	if (f->platform && g->s && !r->o->assume.n &&
	    strcmp(f->platform, choose_platform(g->s)) != 0)
		g->s = NULL;
	if (!f->platform)
		f->platform = choose_platform(g->s);
	/* What goes into a toolkit is built for that one. */
	if (f->into && !f->cuda && strcmp(f->product, "cudnn") == 0) {
		f->cuda = cuda_of_toolkit(r, f->into);
		why = f->cuda ? arena_printf(r->a, _("%.300s is CUDA %s"), f->into, f->cuda) : NULL;
	}
	g->ask = (struct choose_ask){
		.s = g->s,
		.version = f->label,
		.cuda = f->cuda,
		.cuda_why = why,
		.platform = f->platform,
	};
}

static int choose(struct run *r, struct getting *g, struct err *err)
{
	int e;

	if (strcmp(g->f->product, "cudnn") != 0)
		return 0;
	e = choose_cudnn(r->a, g->c, &g->ask, &g->choice, err);
	if (e)
		return e;
	g->f->label = g->choice.label;
	g->f->cuda = g->choice.cuda;
	return 0;
}

/*
 * Which platforms a release has stands in its manifest, and a folder or a cache may hold some
 * releases alone: then the next older one is asked for.
 */
static bool older(struct run *r, struct getting *g, const struct err *err)
{
	struct err none = { 0 };

	if (!g->choice.version || g->f->n_components)
		return false;
	if (err->code != ERR_NOENT && (err->code != ERR_ABSENT || g->ask.version))
		return false;
	g->ask.below = g->choice.version;
	return choose(r, g, &none) == 0;
}

static int run_fetch(struct run *r, struct getting *g)
{
	struct fetch_options *f = g->f;
	struct fetch_progress p;
	struct fetch_item *items = NULL;
	struct err err = { 0 }, first = { 0 };
	size_t n = 0;
	int e = choose(r, g, &first);

	if (e) {
		cli_fail(&first);
		return first.code == ERR_NOENT ? EXIT_BLOCKED : err_exit_code(first.code);
	}
	fetch_progress_init(&p, r);
	f->watch = (struct fetch_watch){
		.progress = fetch_progress,
		.note = fetch_note,
		.licence = isatty(STDIN_FILENO) && p.tty && !r->o->json ? fetch_ask_licence : NULL,
		.ctx = &p,
	};
	do {
		e = fetch_run(r->a, g->c, f, &items, &n, &err);
		/* The newest is the one to tell of, when none is there; else what stopped it. */
		if (e && (!first.code || (err.code != ERR_NOENT && err.code != ERR_ABSENT)))
			first = err;
	} while (e && older(r, g, &err));
	fetch_progress_end(&p);
	if (!e)
		return fetch_say(r, f, items, n, g->choice.why);
	cli_fail(&first);
	return first.code == ERR_NOENT ? EXIT_BLOCKED : err_exit_code(first.code);
}

int fetch_get(struct run *r, struct compat *c, const struct snapshot *s, struct fetch_options *f)
{
	struct getting g = { .c = c, .s = s, .f = f };

	aim(r, &g);
	return run_fetch(r, &g);
}

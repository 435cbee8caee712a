/* SPDX-License-Identifier: Apache-2.0 */
/* guide: the steps of a set-up, which are done here, which is next, and its command. */
#include <string.h>

#include "base/arena.h"
#include "cli/judged.h"
#include "cli/opts.h"
#include "cli/present.h"
#include "env/check.h"
#include "guide/guide.h"
#include "plan/plan.h"
#include "report/guide.h"

/* The tree that facts come from, if there is one: this machine, or --root. */
static int open_root(struct run *r, const struct snapshot *s, const struct sysroot **ret)
{
	const struct options *o = r->o;
	struct sysroot *root;
	struct err err = { 0 };

	*ret = NULL;
	if (!o->root && !(fact_is(&s->source, "live") && !o->args.n))
		return 0;
	if (sysroot_open(r->a, o->root ? o->root : "/", &root, &err))
		return cli_fail(&err);
	*ret = root;
	return 0;
}

/* A plan that cannot be made is a sentence of the guide, not a failure of it. */
static void make_plan(struct run *r, struct guide_input *in)
{
	struct plan_options po = { .driver_upgrade = false };
	struct requirement_list list = { .n = 0 };
	struct plan_target *t = arena_alloc(r->a, sizeof(*t));
	struct matrix *m = matrix_new(r->a, in->c);
	struct err err = { 0 };
	struct wishes *w;

	if (plan_wishes(r->a, m, &list, &w, &err) || plan_target_read(r->a, m, in->s, t, &err))
		in->plan_why = arena_strdup(r->a, err.msg);
	else
		in->plan = plan_solve(r->a, m, t, w, &po);
}

static void judge(struct run *r, struct guide_input *in, const struct judge_options *asked,
		  struct results *results)
{
	struct env_check with = { .fix = "eval \"$(cuvet env)\"", .root = in->root };
	struct judge_options jo = *asked;
	struct results *paths;

	/* The verdict is that of `cuvet check`; what env --check sees beside it is for one step. */
	judge_run(r->a, in->s, in->c, &jo, results);
	in->r = in->paths = results;
	if (!in->root)
		return;
	jo.more = env_check;
	jo.with = &with;
	paths = arena_alloc(r->a, sizeof(*paths));
	judge_run(r->a, in->s, in->c, &jo, paths);
	in->paths = paths;
}

static int run(struct run *r)
{
	const struct options *o = r->o;
	struct judge_options jo = { .n_ignore = o->ignore.n, .n_error = o->error.n };
	struct guide_input in = { .dev = o->dev };
	struct results results = { 0 };
	struct report rep = { .command = "guide" };
	const struct guide *g;
	struct snapshot s;
	struct compat *c;
	struct strbuf out;
	int code = judged_names(r, &jo.ignore, &jo.error);

	if (!code)
		code = judged_snapshot(r, &c, &s);
	if (!code)
		code = open_root(r, &s, &in.root);
	if (code)
		return code;
	in.s = &s;
	in.c = c;
	judge(r, &in, &jo, &results);
	make_plan(r, &in);
	g = guide_make(r->a, &in);
	if (compat_error(c))
		return cli_fail(compat_error(c));
	/* As `cuvet plan` answers: where nothing can be installed, nothing will run. */
	if (g->unfit &&
	    (results.verdict == VERDICT_STACK_OK || results.verdict == VERDICT_DEGRADED))
		results.verdict = VERDICT_BLOCKED;
	rep.s = &s;
	rep.r = &results;
	rep.data_date = compat_date(c);
	present_report(r, &rep);
	strbuf_init(&out, r->a);
	if (o->json)
		guide_json(g, &rep, &out);
	else if (o->format && strcmp(o->format, "markdown") == 0)
		guide_markdown(r->a, g, &rep, &out);
	else
		guide_text(r->a, g, &rep, &out);
	code = cli_write(r, out.s, out.n);
	return code ? code : judged_exit(o, results.verdict);
}

static const struct opt opt_dev = {
	.name = "dev",
	.kind = OPT_FLAG,
	.offset = offsetof(struct options, dev),
	.help = N_("something is to be compiled here: with toolkit, cuDNN and variables"),
};
static const struct opt *const opts[] = { &opt_dev, &opt_require, &opt_deep, &opt_timeout, NULL };

const struct cmd cmd_guide = {
	.name = "guide",
	.args = "[SOURCE]",
	.summary =
		N_("the steps of a set-up: which are done here, which is next, with its command"),
	.details = N_(
		"Walks through card, driver, toolkit, cuDNN, variables, Python, PyTorch, verification "
		"and proof, and says of each step whether it is done, next, later or not needed, with "
		"the evidence and the exact command. Nothing is executed; what is chosen is what "
		"`cuvet plan`, `cuvet env` and `cuvet fetch` choose. Then it says what the memory of "
		"the GPU and of the host allows, and where older guides are out of date.\n"
		"\n"
		"SOURCE is what `cuvet check` takes. Exit codes are those of `cuvet check`, and 1 where "
		"nothing that could be installed fits.\n"
		"\n"
		"  cuvet guide\n"
		"  cuvet guide --dev\n"
		"  cuvet guide snapshot.json --format markdown\n"
		"  cuvet guide --no-live --assume gpu='RTX 4090' --assume driver=580 \\\n"
		"      --assume python=3.12\n"),
	.opts = opts,
	.run = run,
};

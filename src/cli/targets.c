/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check over the targets of .cuvet.toml: every project file for every target, one report. Adds the
 * findings of each target once; decides nothing itself.
 */
#include "cli/targets.h"

#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "cli/fix.h"
#include "cli/judged.h"
#include "cli/present.h"
#include "project/config.h"
#include "project/project.h"
#include "report/report.h"
#include "source/project.h"
#include "source/source.h"

struct targets {
	struct run *r;
	struct compat *c;
	struct project_config config;
	struct judge_options jo;
	struct report_target *rows;
	size_t n_rows;
	struct kept {
		struct finding *f;
		const char *message, *names; /* without names of targets; those */
		size_t n;
	} *kept;
	size_t n_kept;
	struct finding **findings; /* of all targets, those of the first first */
	size_t n_findings;
	struct snapshot s; /* of the target with the worst verdict */
	struct results results;
	const struct project_overlay *overlay;
	size_t n_overlay;
	bool any;
};

static bool names_target(const struct options *o)
{
	static const char *const keys[] = { "gpu=", "driver=" };
	size_t i, k;

	for (i = 0; i < o->assume.n; i++)
		for (k = 0; k < ARRAY_LEN(keys); k++)
			if (strncmp(o->assume.v[i], keys[k], strlen(keys[k])) == 0)
				return true;
	return false;
}

static struct source_options source_of(struct targets *t, const struct config_target *target)
{
	const struct options *o = t->r->o;
	size_t n = o->assume.n + (target ? target->n_assume : 0), i, k = 0;
	const char **assume = arena_calloc(t->r->a, n + 1, sizeof(*assume));
	const char **require =
		arena_calloc(t->r->a, o->require.n + t->config.n_require + 1, sizeof(*require));

	for (i = 0; target && i < target->n_assume; i++)
		assume[k++] = target->assume[i];
	for (i = 0; i < o->assume.n; i++)
		assume[k++] = o->assume.v[i];
	for (i = 0; i < o->require.n; i++)
		require[i] = o->require.v[i];
	for (i = 0; i < t->config.n_require; i++)
		require[o->require.n + i] = t->config.require[i];
	return (struct source_options){
		.inputs = o->args.v,
		.n_inputs = o->args.n,
		.assume = assume,
		.n_assume = n,
		.require = require,
		.n_require = o->require.n + t->config.n_require,
		.overlay = t->overlay,
		.n_overlay = t->n_overlay,
		.no_live = true,
	};
}

/* Entries whose day is over leave nothing out any more. */
static void leave_out(struct targets *t, struct snapshot *s)
{
	time_t now = time(NULL);
	struct tm tm;
	char today[16] = "";
	size_t i;

	if (gmtime_r(&now, &tm))
		strftime(today, sizeof(today), "%Y-%m-%d", &tm);
	for (i = 0; i < t->config.n_ignores; i++) {
		const struct config_ignore *g = &t->config.ignores[i];
		struct left_out *l;

		l = ARENA_APPEND(t->r->a, s->pragmas, s->n_pragmas);
		if (g->expires && strcmp(g->expires, today) < 0) {
			fact_broken(&l->name, g->at,
				    arena_printf(t->r->a, _("%s is left out no more since %s"),
						 g->name, g->expires));
			continue;
		}
		fact_set(&l->name, g->name, g->at);
		fact_set(&l->reason, g->reason, g->at);
		if (g->file)
			fact_set(&l->file, g->file, g->at);
	}
}

static struct kept *known(struct targets *t, const struct finding *f)
{
	size_t i;

	for (i = 0; i < t->n_kept; i++)
		if (t->kept[i].f->id == f->id && strcmp(t->kept[i].f->subject, f->subject) == 0 &&
		    t->kept[i].f->severity == f->severity &&
		    strcmp(t->kept[i].message, f->message) == 0)
			return &t->kept[i];
	return NULL;
}

/* The same for several targets is one finding, which names them. */
static void keep(struct targets *t, const struct results *r, const char *name)
{
	struct kept *k;
	size_t i;

	for (i = 0; i < r->n_findings; i++) {
		struct finding *f = r->findings[i];

		k = known(t, f);
		if (!k) {
			k = ARENA_APPEND(t->r->a, t->kept, t->n_kept);
			*k = (struct kept){ .f = f, .message = f->message };
			*ARENA_APPEND(t->r->a, t->findings, t->n_findings) = f;
		}
		if (!name)
			continue;
		k->names = k->names ? arena_printf(t->r->a, "%s, %s", k->names, name) : name;
		k->n++;
		k->f->message = arena_printf(t->r->a,
					     lang_plural("[target %s] %s", "[targets %s] %s", k->n),
					     k->names, k->message);
	}
}

/*
 * One row of the table a project: judged by itself, so that no other takes its place. What is wrong
 * with the machine (its driver and its GPU) is judged once and stands for a file that is fine.
 */
static void rows(struct targets *t, const struct snapshot *s, const char *target)
{
	struct judge_options alone = t->jo;
	struct snapshot one = *s;
	struct results machine = { 0 };
	size_t i;

	alone.files_alone = true;
	one.n_projects = 0;
	judge_run(t->r->a, &one, t->c, &t->jo, &machine);
	for (i = 0; i < s->n_projects; i++) {
		struct results r = { 0 };
		const struct results *said = &r;

		one.projects = &s->projects[i];
		one.n_projects = 1;
		judge_run(t->r->a, &one, t->c, &alone, &r);
		if (r.verdict != VERDICT_BLOCKED && machine.verdict == VERDICT_BLOCKED)
			said = &machine;
		*ARENA_APPEND(t->r->a, t->rows, t->n_rows) = (struct report_target){
			.target = target,
			.file = fact_value(&one.projects->file, ""),
			.part = fact_value(&one.projects->name, NULL),
			.verdict = said->verdict,
			.finding = said->root ? finding_info(said->root->id)->name : NULL,
		};
	}
}

static int one_target(struct targets *t, const struct config_target *target, struct err *err)
{
	struct source_options so = source_of(t, target);
	const char *name = target ? target->name : NULL;
	struct results r = { 0 };
	struct snapshot s;
	bool worse;

	if (source_snapshot(t->r->a, t->c, &so, &s, err))
		return -(int)err->code;
	leave_out(t, &s);
	rows(t, &s, name ? name : "");
	judge_run(t->r->a, &s, t->c, &t->jo, &r);
	keep(t, &r, name);
	worse = !t->any ||
		(r.verdict == VERDICT_BLOCKED && t->results.verdict != VERDICT_BLOCKED) ||
		(r.verdict != VERDICT_STACK_OK && t->results.verdict == VERDICT_STACK_OK);
	if (worse) {
		t->s = s;
		t->results = r;
	}
	t->any = true;
	return 0;
}

bool targets_apply(struct run *r)
{
	const struct options *o = r->o;
	struct source_options so = { .inputs = o->args.v, .n_inputs = o->args.n };

	return o->args.n && !o->root && source_is_project(r->a, &so);
}

/* Everything but the report; 0 or the exit code of a complaint that was printed. */
static int judge_all(struct targets *t)
{
	const struct options *o = t->r->o;
	struct err err = { 0 };
	size_t i;
	int code;

	t->jo = (struct judge_options){ .n_ignore = o->ignore.n, .n_error = o->error.n };
	if (project_config_read(t->r->a, o->args.v[0], &t->config, &err) ||
	    (!t->c && compat_open(t->r->a, o->data, &t->c, &err)))
		return cli_fail(&err);
	code = judged_names(t->r, &t->jo.ignore, &t->jo.error);
	if (code)
		return code;
	if (names_target(o))
		t->config.n_targets = 0;
	for (i = 0; i < t->config.n_targets; i++)
		if (one_target(t, &t->config.targets[i], &err))
			return cli_fail(&err);
	if (!t->config.n_targets && one_target(t, NULL, &err))
		return cli_fail(&err);
	if (compat_error(t->c))
		return cli_fail(compat_error(t->c));
	t->results.findings = t->findings;
	t->results.n_findings = t->n_findings;
	return 0;
}

int targets_judge(struct run *r, struct compat **c, const struct project_overlay *overlay,
		  size_t n_overlay, struct results *ret)
{
	struct targets t = { .r = r, .c = *c, .overlay = overlay, .n_overlay = n_overlay };
	int code = judge_all(&t);

	if (code)
		return code;
	*c = t.c;
	*ret = t.results;
	return 0;
}

int targets_run(struct run *r, const char *command)
{
	struct targets t = { .r = r };
	struct report rep = { .command = command };
	int code = fix_check(r);

	code = code ? code : judge_all(&t);
	if (code)
		return code;
	rep.s = &t.s;
	rep.r = &t.results;
	rep.data_date = compat_date(t.c);
	present_report(r, &rep);
	if (t.config.n_targets || t.n_rows > 1) {
		rep.targets = t.rows;
		rep.n_targets = t.n_rows;
	}
	code = judged_put(r, &rep);
	return code ? code : judged_exit(r->o, t.results.verdict);
}

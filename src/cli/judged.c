/* SPDX-License-Identifier: Apache-2.0 */
/* Options to source, results to report and exit code. */
#include "cli/judged.h"

#include <time.h>

#include "base/arena.h"
#include "base/jsonw.h"
#include "base/version.h"
#include "cli/fix.h"
#include "cli/present.h"
#include "model/snapshot_json.h"
#include "report/fix_script.h"
#include "report/report.h"
#include "rule/rule.h"
#include "source/source.h"

int judged_snapshot(struct run *r, struct compat **ret_c, struct snapshot *ret_s)
{
	const struct options *o = r->o;
	struct source_options so = {
		.root = o->root,
		.facts = o->facts,
		.python = o->python,
		.inputs = o->args.v,
		.n_inputs = o->args.n,
		.assume = o->assume.v,
		.n_assume = o->assume.n,
		.require = o->require.v,
		.n_require = o->require.n,
		.no_live = o->no_live,
		.deep = o->deep,
	};
	struct err err = { 0 };
	uint64_t seconds;

	if (o->timeout) {
		if (!view_u64(view_of(o->timeout), 10, &seconds) || !seconds || seconds > 600) {
			err_set(&err, ERR_USAGE, _("--timeout %.40s: whole seconds from 1 to 600"),
				o->timeout);
			return cli_fail(&err);
		}
		so.timeout_ms = (long)seconds * 1000;
	}
	if (o->facts && !o->root) {
		err_set(&err, ERR_USAGE, _("--facts goes with --root"));
		return cli_fail(&err);
	}
	if (o->root && o->args.n) {
		err_set(&err, ERR_USAGE, _("--root and %.200s exclude each other"), o->args.v[0]);
		return cli_fail(&err);
	}
	if (compat_open(r->a, o->data, ret_c, &err) ||
	    source_snapshot(r->a, *ret_c, &so, ret_s, &err))
		return cli_fail(&err);
	return 0;
}

static int names(struct run *r, const char *option, const struct str_list *list,
		 const enum finding_id **ret)
{
	enum finding_id *ids = arena_calloc(r->a, list->n + 1, sizeof(*ids)), id;
	const char *near;
	struct err err;
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (!finding_lookup(list->v[i], &id)) {
			near = finding_near(list->v[i]);
			err_set(&err, ERR_USAGE, _("--%s %.80s: no finding has this name%s%s%s"),
				option, list->v[i], near ? _("; did you mean ") : "",
				near ? near : "", near ? "?" : "");
			return cli_fail(&err);
		}
		ids[i] = id;
	}
	*ret = ids;
	return 0;
}

int judged_exit(const struct options *o, enum verdict v)
{
	switch (v) {
	case VERDICT_STACK_OK:
		return EXIT_OK;
	case VERDICT_DEGRADED:
		return o->strict ? EXIT_BLOCKED : EXIT_OK;
	case VERDICT_BLOCKED:
		return EXIT_BLOCKED;
	case VERDICT_UNDETERMINED:
		break;
	}
	return EXIT_UNDETERMINED;
}

/* All findings that are not of the command's subject, behind those that the user ignores. */
static void leave_out(struct run *r, const struct judged_subject *of, struct judge_options *jo)
{
	enum finding_id *ids = arena_calloc(r->a, jo->n_ignore + FINDING_COUNT, sizeof(*ids)), id;
	size_t i, n = 0;

	for (i = 0; i < jo->n_ignore; i++)
		ids[n++] = jo->ignore[i];
	for (id = 0; id < FINDING_COUNT; id++)
		if (!of->covers(id))
			ids[n++] = id;
	jo->ignore = ids;
	jo->n_ignore = n;
	jo->more = of->more;
	jo->with = of->with;
}

int judged_names(struct run *r, const enum finding_id **ret_ignore,
		 const enum finding_id **ret_error)
{
	int code = names(r, "ignore", &r->o->ignore, ret_ignore);

	return code ? code : names(r, "error", &r->o->error, ret_error);
}

int judged_put(struct run *r, const struct report *rep)
{
	struct strbuf out;
	int code = 0;

	if (r->o->fix_script) {
		strbuf_init(&out, r->a);
		fix_script(r->a, rep, &out);
		code = fix_write(r, &out);
	}
	if (code || fix_instead(r))
		return code;
	strbuf_init(&out, r->a);
	report_format(r->o->format ? r->o->format : "text")->render(r->a, rep, &out);
	return cli_write(r, out.s, out.n);
}

int judged_run(struct run *r, const char *command)
{
	return judged_run_of(r, command, NULL);
}

int judged_run_of(struct run *r, const char *command, const struct judged_subject *of)
{
	const struct options *o = r->o;
	struct judge_options jo = { .n_ignore = o->ignore.n, .n_error = o->error.n };
	struct report rep = { .command = command };
	struct results results = { 0 };
	struct snapshot s;
	struct compat *c;
	int code;

	code = fix_check(r);
	if (!code)
		code = names(r, "ignore", &o->ignore, &jo.ignore);
	if (!code)
		code = names(r, "error", &o->error, &jo.error);
	if (!code)
		code = judged_snapshot(r, &c, &s);
	if (code)
		return code;
	if (of)
		leave_out(r, of, &jo);
	judge_run(r->a, &s, c, &jo, &results);
	rep.s = &s;
	rep.r = &results;
	rep.data_date = compat_date(c);
	present_report(r, &rep);
	if (compat_error(c))
		return cli_fail(compat_error(c));
	code = judged_put(r, &rep);
	return code ? code : judged_exit(o, results.verdict);
}

static const char *today(struct arena *a)
{
	time_t now = time(NULL);
	struct tm tm;

	if (!gmtime_r(&now, &tm))
		return NULL;
	return arena_printf(a, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

void judged_facts(struct arena *a, const struct snapshot *s, struct strbuf *out)
{
	struct jsonw w;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_kstr(&w, "schema", "cuvet.snapshot/1");
	jsonw_kstr(&w, "cuvet", CUVET_VERSION);
	jsonw_kstr(&w, "date", today(a));
	jsonw_key(&w, "facts");
	snapshot_save(&w, s);
	jsonw_end_object(&w);
	strbuf_addc(out, '\n');
}

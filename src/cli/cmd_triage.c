/* SPDX-License-Identifier: Apache-2.0 */
/* triage: pasted text, the rules, the root cause. */
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "cli/fix.h"
#include "cli/judged.h"
#include "cli/opts.h"
#include "cli/present.h"
#include "plan/mend.h"
#include "report/fix_script.h"
#include "report/reply.h"
#include "report/report.h"
#include "rule/rule.h"
#include "source/redact.h"
#include "source/source.h"
#include "triage/triage.h"

static const struct opt opt_each = { .name = "each",
				     .kind = OPT_FLAG,
				     .offset = offsetof(struct options, each),
				     .help = N_("take each file as a case of its own") };
static const struct opt opt_snapshot = {
	.name = "snapshot",
	.kind = OPT_FLAG,
	.offset = offsetof(struct options, facts_only),
	.help = N_("write the facts that the text holds, redacted, as JSON")
};
static const struct opt opt_reply = { .name = "reply",
				      .kind = OPT_STRING,
				      .arg = "FORMAT",
				      .choices = "markdown",
				      .offset = offsetof(struct options, reply),
				      .help = N_("write an answer to paste back") };

static int add_file(struct run *r, const char *path, struct text *t)
{
	struct err err = { 0 };
	struct view raw;

	if (file_read_operand(r->a, path, TRIAGE_MAX, &raw, &err))
		return cli_fail(&err);
	text_add(r->a, t, strcmp(path, "-") == 0 ? NULL : path, raw);
	return 0;
}

/* The tables, opened once for all cases, and what the user wants left out or raised. */
struct known {
	struct compat *c;
	struct matrix *m;
	struct judge_options jo;
};

static int judge_text(const struct run *r, const struct known *k, const struct text *t,
		      struct strbuf *out, enum verdict *ret)
{
	struct compat *c = k->c;
	const struct options *o = r->o;
	struct report rep = { .command = "triage" };
	struct results results = { 0 };
	struct err err = { 0 };
	struct strbuf script;
	struct snapshot s;
	int code;

	if (triage_snapshot(r->a, c, t, &s, &err))
		return cli_fail(&err);
	source_redact_text(r->a, &s, t->s);
	source_enrich(r->a, c, &s);
	if (source_assume(r->a, c, o->assume.v, o->assume.n, &s, &err))
		return cli_fail(&err);
	if (o->facts_only) {
		judged_facts(r->a, &s, out);
		*ret = VERDICT_STACK_OK;
		return 0;
	}
	judge_run(r->a, &s, c, &k->jo, &results);
	plan_mend(r->a, k->m, &s, &results);
	if (compat_error(c))
		return cli_fail(compat_error(c));
	rep.s = &s;
	rep.r = &results;
	rep.data_date = compat_date(c);
	present_report(r, &rep);
	if (o->fix_script) {
		strbuf_init(&script, r->a);
		fix_script(r->a, &rep, &script);
		code = fix_write(r, &script);
		if (code)
			return code;
	}
	if (fix_instead(r))
		;
	else if (o->reply)
		report_reply(r->a, &rep, out);
	else
		report_format(o->format ? o->format : "text")->render(r->a, &rep, out);
	*ret = results.verdict;
	return 0;
}

static bool is_json(const struct options *o)
{
	return o->format && strcmp(o->format, "json") == 0 && !o->reply;
}

/* Each on memory of its own: a thousand cases take no more than the largest. */
static int one_case(const struct run *r, const struct known *k, const char *path,
		    struct strbuf *out, enum verdict *ret)
{
	struct arena *a = arena_new(NULL);
	struct run own = *r;
	struct text t = { 0 };
	struct strbuf b;
	int code;

	own.a = a;
	strbuf_init(&b, a);
	code = add_file(&own, path, &t);
	if (!code)
		code = judge_text(&own, k, &t, &b, ret);
	if (!code)
		strbuf_addn(out, b.s, b.n);
	arena_free(a);
	return code;
}

/* One report a file; the worst verdict decides: blocked before undetermined before the rest. */
static int each(struct run *r, const struct known *k, struct strbuf *out, enum verdict *ret)
{
	static const int rank[] = { [VERDICT_STACK_OK] = 0,
				    [VERDICT_DEGRADED] = 1,
				    [VERDICT_UNDETERMINED] = 2,
				    [VERDICT_BLOCKED] = 3 };
	const struct str_list *args = &r->o->args;
	bool json = is_json(r->o);
	enum verdict v;
	size_t i;
	int code;

	*ret = VERDICT_STACK_OK;
	if (json)
		strbuf_add(out, "{\"schema\":\"cuvet.reports/1\",\"reports\":[");
	for (i = 0; i < args->n; i++) {
		if (json && i)
			strbuf_addc(out, ',');
		else if (!json)
			strbuf_printf(out, "%s== %s\n", i ? "\n" : "",
				      clean(r->a, source_redact_line(r->a, args->v[i])));
		code = one_case(r, k, args->v[i], out, &v);
		if (code)
			return code;
		if (rank[v] > rank[*ret])
			*ret = v;
	}
	if (json)
		strbuf_add(out, "]}\n");
	return 0;
}

static int run(struct run *r)
{
	static const char *const input[] = { "-" };
	const char *const *v = r->o->args.n ? r->o->args.v : input;
	size_t i, n = r->o->args.n ? r->o->args.n : 1;
	enum verdict verdict = VERDICT_UNDETERMINED;
	struct text t = { 0 };
	struct err err = { 0 };
	struct known k = { .jo = { .triage = true,
				   .n_ignore = r->o->ignore.n,
				   .n_error = r->o->error.n } };
	struct strbuf out;
	int code = fix_check(r);

	if (!code)
		code = judged_names(r, &k.jo.ignore, &k.jo.error);
	if (code)
		return code;
	if (r->o->fix_script && r->o->each) {
		err_set(&err, ERR_USAGE, _("--fix-script and --each exclude each other"));
		return cli_fail(&err);
	}
	if (r->o->each && present_formats(r))
		return EXIT_USAGE;
	if (compat_open(r->a, r->o->data, &k.c, &err))
		return cli_fail(&err);
	k.m = matrix_new(r->a, k.c);
	strbuf_init(&out, r->a);
	if (r->o->each && r->o->args.n) {
		code = each(r, &k, &out, &verdict);
	} else {
		for (i = 0; i < n && !code; i++)
			code = add_file(r, v[i], &t);
		if (!code)
			code = judge_text(r, &k, &t, &out, &verdict);
	}
	if (!code)
		code = cli_write(r, out.s, out.n);
	return code ? code : judged_exit(r->o, verdict);
}

static const struct opt *const opts[] = { &opt_each, &opt_reply, &opt_snapshot, &opt_fix_script,
					  &opt_force, NULL };

const struct cmd cmd_triage = {
	.name = "triage",
	.args = "[FILE...|-]",
	.judges = true,
	.summary = N_("name the root cause from pasted text"),
	.details = N_(
		"Reads what people paste (collect_env, nvidia-smi, tracebacks, pip list, dmesg, docker's errors, "
		"or their own words), in any order and encoding, and names the cause, with the lines that show "
		"it, or says what to ask for when the text does not decide. Several files are one case.\n"
		"\n"
		"A host and a container, two machines or environments, a state before and after are told "
		"apart; what fails is judged. Project files in the text are judged too, and no file that "
		"they name is opened. The answer says what the text rules out, by which line, and what "
		"fails next. Names of people and machines, addresses, keys, tokens and serial numbers "
		"are masked in all of it.\n"
		"\n"
		"  cuvet triage report.txt\n"
		"  cuvet triage --each case-*.txt\n"
		"  cuvet triage --reply markdown issue.md\n"
		"  cuvet triage --fix-script fix.sh report.txt\n"
		"  xclip -o | cuvet triage -\n"),
	.opts = opts,
	.run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* plan: what to install for a target, and why not the rest. */
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "cli/fix.h"
#include "cli/judged.h"
#include "cli/opts.h"
#include "cli/present.h"
#include "plan/plan.h"
#include "report/fix_script.h"
#include "report/plan_json.h"
#include "report/plan_text.h"
#include "report/report.h"
#include "source/source.h"

enum { BATCH_MAX = 256 << 20, LINE_MAX_BYTES = 64 << 10, FLUSH = 64 << 10 };

static int read_requirements(struct arena *a, const struct options *o,
			     struct requirement_list *list, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < o->args.n; i++)
		rc = requirement_argument(a, o->args.v[i], i + 1, ARENA_APPEND(a, list->v, list->n),
					  err);
	for (i = 0; !rc && i < o->requirement.n; i++)
		rc = reqfile_read(a, o->requirement.v[i], false, list, err);
	return rc;
}

static int render(struct run *r, const struct plan *p, const char *date)
{
	const struct options *o = r->o;
	struct plan_view v = {
		.width = present_width(r),
		.colour = present_colour(r),
		.all = o->all,
		.markdown = o->format && strcmp(o->format, "markdown") == 0,
		.upgrade_asked = o->driver_upgrade,
	};
	struct strbuf out;
	int code = 0;

	strbuf_init(&out, r->a);
	if (o->fix_script) {
		fix_script_plan(r->a, p, date, &out);
		code = fix_write(r, &out);
		strbuf_init(&out, r->a);
	}
	if (code || fix_instead(r))
		return code ? code : p->chosen ? EXIT_OK : EXIT_BLOCKED;
	if (o->json)
		plan_json(p, date, false, &out);
	else
		plan_text(r->a, p, &v, &out);
	code = cli_write(r, out.s, out.n);
	return code ? code : p->chosen ? EXIT_OK : EXIT_BLOCKED;
}

/* -------- one target */

static int one(struct run *r)
{
	struct options o = *r->o;
	struct run quiet = *r;
	struct plan_options po = { .driver_upgrade = o.driver_upgrade };
	struct requirement_list list = { .n = 0 };
	struct plan_target t;
	struct err err = { 0 };
	const struct plan *p;
	struct wishes *w;
	struct matrix *m;
	struct snapshot s;
	struct compat *c;
	int code;

	code = fix_check(r);
	if (code)
		return code;
	/* Bad input is said before the machine is asked, and operands are no sources here. */
	if (read_requirements(r->a, &o, &list, &err))
		return cli_fail(&err);
	o.args = (struct str_list){ .n = 0 };
	quiet.o = &o;
	code = judged_snapshot(&quiet, &c, &s);
	if (code)
		return code;
	m = matrix_new(r->a, c);
	if (plan_wishes(r->a, m, &list, &w, &err) || plan_target_read(r->a, m, &s, &t, &err))
		return cli_fail(&err);
	p = plan_solve(r->a, m, &t, w, &po);
	if (compat_error(c))
		return cli_fail(compat_error(c));
	return render(r, p, compat_date(c));
}

/* -------- many targets */

/* A GPU by the name that the lines give it: looking it up costs more than planning for it. */
struct named_gpu {
	const char *name;
	struct gpu gpu;
};

struct batch {
	struct run *r;
	struct compat *c;
	struct matrix *m;
	const char *name;
	size_t line;
	bool bad; /* a line was */
	struct named_gpu *gpus;
	size_t n_gpus;
};

/* Keys of a target that go the way of --assume as they are. */
static const char *const assumed[] = { "driver", "os",     "arch",		"glibc",
				       "python", "distro", "driver-flavor", NULL };

static bool among(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

static int strings(struct arena *a, const struct json *v, struct str_list *ret, const char *key,
		   struct err *err)
{
	const struct json *one = json_type(v) == JSON_ARRAY ? json_first(v) : v;

	for (; one; one = json_type(v) == JSON_ARRAY ? json_next(one) : NULL) {
		if (!json_str(one))
			return err_set(err, ERR_PARSE,
				       _("\"%.40s\" is neither a string nor a list of strings"),
				       key);
		*ARENA_APPEND(a, ret->v, ret->n) = json_str(one);
	}
	return 0;
}

static int add_gpu(struct arena *a, struct batch *b, const char *name, struct snapshot *s,
		   struct err *err)
{
	struct snapshot one = { .n_gpus = 0 };
	struct named_gpu *known = NULL;
	const char *assume;
	size_t i;
	int rc;

	for (i = 0; i < b->n_gpus && !known; i++)
		if (strcmp(b->gpus[i].name, name) == 0)
			known = &b->gpus[i];
	if (!known) {
		assume = arena_printf(b->r->a, "gpu=%s", name);
		rc = source_assume(b->r->a, b->c, &assume, 1, &one, err);
		if (rc)
			return rc;
		known = ARENA_APPEND(b->r->a, b->gpus, b->n_gpus);
		known->name = arena_strdup(b->r->a, name);
		known->gpu = one.gpus[0];
	}
	*ARENA_APPEND(a, s->gpus, s->n_gpus) = known->gpu;
	return 0;
}

static int target_of(struct arena *a, struct batch *b, const struct json *doc, struct snapshot *s,
		     struct requirement_list *list, struct err *err)
{
	struct str_list assume = { .n = 0 }, values, reqs = { .n = 0 }, gpus = { .n = 0 };
	const struct json *v;
	size_t i;
	int rc = 0;

	if (json_type(doc) != JSON_OBJECT)
		return err_set(err, ERR_PARSE, _("not an object"));
	for (v = json_first(doc); !rc && v; v = json_next(v)) {
		values = (struct str_list){ .n = 0 };
		if (strcmp(json_key(v), "req") == 0)
			rc = strings(a, v, &reqs, "req", err);
		else if (strcmp(json_key(v), "gpu") == 0)
			rc = strings(a, v, &gpus, "gpu", err);
		else if (among(assumed, json_key(v)))
			rc = strings(a, v, &values, json_key(v), err);
		else if (strcmp(json_key(v), "id") != 0)
			rc = err_set(err, ERR_PARSE, _("unknown key \"%.40s\""), json_key(v));
		for (i = 0; !rc && i < values.n; i++)
			*ARENA_APPEND(a, assume.v, assume.n) =
				arena_printf(a, "%s=%s", json_key(v), values.v[i]);
	}
	for (i = 0; !rc && i < reqs.n; i++)
		rc = requirement_argument(a, reqs.v[i], i + 1, ARENA_APPEND(a, list->v, list->n),
					  err);
	if (!rc)
		rc = source_assume(a, b->c, assume.v, assume.n, s, err);
	for (i = 0; !rc && i < gpus.n; i++)
		rc = add_gpu(a, b, gpus.v[i], s, err);
	return rc;
}

static void put_error(struct batch *b, const struct err *err, struct strbuf *out)
{
	struct jsonw w;

	b->bad = true;
	jsonw_init(&w, out, false);
	jsonw_object(&w);
	jsonw_kstr(&w, "error", arena_printf(out->a, "%s:%zu: %s", b->name, b->line, err->msg));
	jsonw_end_object(&w);
	strbuf_addc(out, '\n');
}

static int solve_line(struct arena *a, struct batch *b, struct view text, struct strbuf *out,
		      struct err *err)
{
	struct plan_options po = { .brief = true, .driver_upgrade = false };
	struct requirement_list list = { .n = 0 };
	struct snapshot *s = arena_alloc(a, sizeof(*s));
	struct plan_target *t = arena_alloc(a, sizeof(*t));
	const struct json *doc;
	struct wishes *w;
	int rc;

	if (text.n > LINE_MAX_BYTES)
		return err_set(err, ERR_PARSE, _("longer than %d bytes"), LINE_MAX_BYTES);
	rc = json_parse(a, text, _("target"), &doc, err);
	if (!rc)
		rc = target_of(a, b, doc, s, &list, err);
	if (!rc)
		rc = plan_wishes(a, b->m, &list, &w, err);
	if (!rc)
		rc = plan_target_read(a, b->m, s, t, err);
	if (!rc)
		plan_json(plan_solve(a, b->m, t, w, &po), NULL, true, out);
	return rc;
}

static int batch_line(struct batch *b, struct view text)
{
	struct arena *a = arena_new(NULL);
	struct err err = { 0 };
	struct strbuf out;
	int code = EXIT_OK;

	strbuf_init(&out, a);
	if (view_trim(text).n && solve_line(a, b, text, &out, &err))
		put_error(b, &err, &out);
	if (out.n)
		code = cli_write(b->r, out.s, out.n);
	arena_free(a);
	return code;
}

static int batch(struct run *r)
{
	struct batch b = { .r = r, .name = r->o->batch };
	struct err err = { 0 };
	struct view text, one_line;
	int code = EXIT_OK;

	if (r->o->fix_script) {
		err_set(&err, ERR_USAGE, _("--fix-script and --batch exclude each other"));
		return cli_fail(&err);
	}
	if (r->o->args.n || r->o->requirement.n) {
		err_set(&err, ERR_USAGE,
			_("--batch takes the requirements from its file (\"req\")"));
		return cli_fail(&err);
	}
	if (file_read_operand(r->a, b.name, BATCH_MAX, &text, &err) ||
	    compat_open(r->a, r->o->data, &b.c, &err))
		return cli_fail(&err);
	b.m = matrix_new(r->a, b.c);
	while (code == EXIT_OK && view_line(&text, &one_line)) {
		b.line++;
		code = batch_line(&b, one_line);
	}
	if (code == EXIT_OK && compat_error(b.c))
		return cli_fail(compat_error(b.c));
	return code ? code : b.bad ? EXIT_USAGE : EXIT_OK;
}

static int run(struct run *r)
{
	return r->o->batch ? batch(r) : one(r);
}

/* clang-format off */
static const struct opt opt_requirement = { .name = "requirement", .letter = 'r', .kind = OPT_LIST, .arg = "FILE",
	.offset = offsetof(struct options, requirement),
	.help = N_("read requirements from FILE, as pip does (repeatable)") };
static const struct opt opt_driver_upgrade = { .name = "driver-upgrade", .kind = OPT_FLAG,
	.offset = offsetof(struct options, driver_upgrade),
	.help = N_("say what a newer driver would allow") };
static const struct opt opt_all = { .name = "all", .kind = OPT_FLAG,
	.offset = offsetof(struct options, all),
	.help = N_("every refused build, not folded") };
static const struct opt opt_batch = { .name = "batch", .kind = OPT_STRING, .arg = "FILE",
	.offset = offsetof(struct options, batch),
	.help = N_("one JSON target a line in, one JSON answer a line out") };
/* clang-format on */
static const struct opt *const opts[] = { &opt_requirement, &opt_driver_upgrade, &opt_all,
					  &opt_batch, &opt_fix_script, &opt_force, NULL };

const struct cmd cmd_plan = {
	.name = "plan",
	.args = "[REQ...]",
	.summary = N_("what to install here, and why not the rest"),
	.details = N_(
		"Finds the newest PyTorch that runs on every GPU, with the driver, the Python and the C library that "
		"are there or declared, and within the requirements; says what to type for pip, uv, conda, pixi, "
		"poetry and Docker, and why every other build was refused. Also for tensorflow, jax, "
		"onnxruntime-gpu, cupy, vllm, flash-attn, xformers and bitsandbytes.\n"
		"\n"
		"  cuvet plan\n"
		"  cuvet plan 'torch>=2.4,<2.7' transformers --assume gpu='GTX 1080 Ti' \\\n"
		"      --assume driver=580 --assume python=3.12\n"
		"  cuvet plan -r requirements.txt --no-live --assume gpu=H100 --assume driver=550\n"
		"  cuvet plan --batch targets.ndjson\n"
		"\n"
		"A line of --batch: {\"gpu\":[\"T4\"],\"driver\":\"535\",\"python\":\"3.11\",\"req\":[\"torch>=2.4\"]}\n"),
	.opts = opts,
	.run = run,
};

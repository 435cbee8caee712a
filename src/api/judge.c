/* SPDX-License-Identifier: Apache-2.0 */
/* Judgement and reports of the last look. */
#include "api/context.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "base/version.h"
#include "model/snapshot_json.h"
#include "report/report.h"
#include "source/redact.h"

enum { TEXT_WIDTH = 80 };

static int verdict_of(enum verdict v)
{
	switch (v) {
	case VERDICT_STACK_OK:
		return CUVET_STACK_OK;
	case VERDICT_DEGRADED:
		return CUVET_DEGRADED;
	case VERDICT_BLOCKED:
		return CUVET_BLOCKED;
	case VERDICT_UNDETERMINED:
		break;
	}
	return CUVET_UNDETERMINED;
}

static int do_judge(struct cuvet *c, const void *with)
{
	struct judge_options jo = {
		.ignore = c->ignore, .n_ignore = c->n_ignore, .error = c->error,
		.n_error = c->n_error, .triage = c->text,
	};

	(void)with;
	if (!c->looked)
		return api_usage(c, "%s", _("nothing was looked at"));
	if (!c->judged) {
		c->results = (struct results){ 0 };
		judge_run(c->look, &c->s, c->compat, &jo, &c->results);
		if (compat_error(c->compat)) {
			c->err = *compat_error(c->compat);
			return CUVET_ERROR_DATA;
		}
		c->judged = true;
	}
	return verdict_of(c->results.verdict);
}

int cuvet_judge(struct cuvet *c)
{
	return api_call(c, do_judge, NULL);
}

const char *cuvet_root_cause(const struct cuvet *c)
{
	if (!c || c->dead || !c->judged || !c->results.root)
		return NULL;
	return finding_info(c->results.root->id)->name;
}

struct wanted_text {
	const char *format;
	const char **ret;
	size_t *ret_n;
};

static int give(const struct wanted_text *w, const struct strbuf *b)
{
	*w->ret = b->s;
	*w->ret_n = b->n;
	return CUVET_OK;
}

static int do_report(struct cuvet *c, const void *with)
{
	const struct wanted_text *w = with;
	const struct report_format *f = report_format(w->format);
	struct report rep = { .command = c->text ? "triage" : "check", .utf8 = true,
			      .width = TEXT_WIDTH };
	struct strbuf b;
	int r;

	if (!f)
		return api_usage(c, _("unknown format %.80s"), w->format);
	r = do_judge(c, NULL);
	if (r < 0)
		return r;
	rep.s = &c->s;
	rep.r = &c->results;
	rep.data_date = compat_date(c->compat);
	strbuf_init(&b, c->look);
	f->render(c->look, &rep, &b);
	return give(w, &b);
}

int cuvet_report(struct cuvet *c, const char *format, const char **ret, size_t *ret_n)
{
	struct wanted_text w = { .format = format, .ret = ret, .ret_n = ret_n };

	return format && ret && ret_n ? api_call(c, do_report, &w) : CUVET_ERROR_USAGE;
}

static void put_facts(struct cuvet *c, const struct snapshot *s, bool bare, struct strbuf *b)
{
	struct jsonw w;

	strbuf_init(b, c->look);
	jsonw_init(&w, b, !bare);
	if (!bare) {
		jsonw_object(&w);
		jsonw_kstr(&w, "schema", "cuvet.snapshot/1");
		jsonw_kstr(&w, "cuvet", CUVET_VERSION);
		jsonw_key(&w, "facts");
	}
	snapshot_save(&w, s);
	if (!bare) {
		jsonw_end_object(&w);
		strbuf_addc(b, '\n');
	}
}

/* Masking changes facts in place, so that it is done to a copy. */
static int do_snapshot(struct cuvet *c, const void *with)
{
	const struct wanted_text *w = with;
	const struct json *doc;
	struct snapshot s;
	struct strbuf b;

	if (!c->looked)
		return api_usage(c, "%s", _("nothing was looked at"));
	put_facts(c, &c->s, true, &b);
	if (json_parse(c->look, (struct view){ .p = b.s, .n = b.n }, "snapshot", &doc, &c->err) ||
	    snapshot_load(c->look, doc, "snapshot", &s, &c->err))
		return api_status(c);
	source_redact(c->look, &s);
	put_facts(c, &s, false, &b);
	return give(w, &b);
}

int cuvet_snapshot(struct cuvet *c, const char **ret, size_t *ret_n)
{
	struct wanted_text w = { .ret = ret, .ret_n = ret_n };

	return ret && ret_n ? api_call(c, do_snapshot, &w) : CUVET_ERROR_USAGE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as cuvet.plan/1 (design: fields may be added, never changed). Decides nothing. */
#include <string.h>

#include "base/jsonw.h"
#include "base/version.h"
#include "report/formats.h"
#include "report/plan_json.h"

enum { BRIEF_ALTERNATIVES = 6 };

static void put_reasons(struct jsonw *w, const struct plan_build *b)
{
	size_t i;

	jsonw_key(w, "reasons");
	jsonw_array(w);
	for (i = 0; i < b->n_reasons; i++) {
		jsonw_object(w);
		jsonw_kstr(w, "name", finding_info(b->reasons[i].id)->name);
		jsonw_kstr(w, "text", b->reasons[i].text);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void put_build(struct jsonw *w, const struct plan_build *b, bool alternative)
{
	jsonw_object(w);
	jsonw_kstr(w, "torch", b->torch ? b->torch->version : NULL);
	jsonw_kstr(w, "variant", b->torch ? b->torch->variant : NULL);
	if (b->package) {
		jsonw_kstr(w, "package", b->package);
		jsonw_kstr(w, "version", b->version);
		jsonw_kstr(w, "cuda", b->cuda);
	}
	if (alternative && b->torch) {
		jsonw_kstr(w, "cuda", b->torch->cuda);
		jsonw_kstr(w, "python", b->python);
		jsonw_kstr(w, "index_url", b->torch->index_url);
	}
	if (alternative)
		jsonw_kstr(w, "why", b->why);
	put_reasons(w, b);
	jsonw_end_object(w);
}

static void put_builds(struct jsonw *w, const char *key, const struct plan_build *b, size_t n,
		       bool alternative)
{
	size_t i;

	jsonw_key(w, key);
	jsonw_array(w);
	for (i = 0; i < n; i++)
		put_build(w, &b[i], alternative);
	jsonw_end_array(w);
}

static void put_commands(struct jsonw *w, const struct plan_choice *c)
{
	size_t t;

	jsonw_key(w, "commands");
	jsonw_object(w);
	for (t = 0; t < TOOL_COUNT; t++)
		jsonw_kstrs(w, plan_tool_name((enum plan_tool)t), c->commands[t].lines,
			    c->commands[t].n);
	jsonw_end_object(w);
	jsonw_key(w, "notes");
	jsonw_object(w);
	for (t = 0; t < TOOL_COUNT; t++)
		if (c->commands[t].note)
			jsonw_kstr(w, plan_tool_name((enum plan_tool)t), c->commands[t].note);
	jsonw_end_object(w);
}

static void put_packages(struct jsonw *w, const struct plan_choice *c)
{
	size_t i;

	jsonw_key(w, "packages");
	jsonw_array(w);
	for (i = 0; i < c->n_packages; i++) {
		jsonw_object(w);
		jsonw_kstr(w, "name", c->packages[i].name);
		jsonw_kstr(w, "version", c->packages[i].version);
		jsonw_kstr(w, "pin", c->packages[i].pin);
		jsonw_kstr(w, "cuda", c->packages[i].cuda);
		jsonw_kstr(w, "note", c->packages[i].note);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void put_choice(struct jsonw *w, const struct plan *p)
{
	const struct plan_choice *c = p->chosen;

	jsonw_key(w, "chosen");
	if (!c) {
		jsonw_null(w);
		return;
	}
	jsonw_object(w);
	jsonw_kstr(w, "torch", c->torch ? c->torch->version : NULL);
	jsonw_kstr(w, "variant", c->torch ? c->torch->variant : NULL);
	jsonw_kstr(w, "cuda", c->cuda);
	jsonw_kstr(w, "python", c->python->text);
	jsonw_kstr(w, "torchvision", c->torch ? c->torch->torchvision : NULL);
	jsonw_kstr(w, "torchaudio", c->torch ? c->torch->torchaudio : NULL);
	jsonw_kstr(w, "cudnn", c->cudnn);
	jsonw_kstr(w, "triton", c->torch ? c->torch->triton : NULL);
	jsonw_kstr(w, "index_url", c->torch ? c->torch->index_url : NULL);
	jsonw_kbool(w, "ptx", c->ptx);
	jsonw_kbool(w, "native", c->native);
	put_packages(w, c);
	put_commands(w, c);
	jsonw_end_object(w);
}

static void put_unfit(struct jsonw *w, const struct plan *p)
{
	size_t i;

	jsonw_key(w, "clash");
	jsonw_array(w);
	for (i = 0; i < p->n_clash; i++) {
		jsonw_object(w);
		jsonw_kstr(w, "constraint", p->clash[i].what);
		jsonw_kstr(w, "from", p->clash[i].from);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_key(w, "serves");
	jsonw_array(w);
	for (i = 0; i < p->n_serves; i++) {
		jsonw_object(w);
		jsonw_kstr(w, "gpu", p->serves[i].gpu->name);
		jsonw_kstr(w, "torch", p->serves[i].torch ? p->serves[i].torch->version : NULL);
		jsonw_kstr(w, "variant", p->serves[i].torch ? p->serves[i].torch->variant : NULL);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void put_upgrade(struct jsonw *w, const struct plan *p)
{
	jsonw_key(w, "driver_upgrade");
	if (!p->upgrade) {
		jsonw_null(w);
		return;
	}
	jsonw_object(w);
	jsonw_kstr(w, "torch", p->upgrade->version);
	jsonw_kstr(w, "variant", p->upgrade->variant);
	jsonw_kstr(w, "cuda", p->upgrade->cuda);
	jsonw_kstr(w, "driver", p->upgrade_driver);
	jsonw_end_object(w);
}

static void put_reads(struct jsonw *w, const struct plan *p)
{
	size_t i;

	jsonw_key(w, "reads");
	jsonw_array(w);
	for (i = 0; i < p->target->n_reads; i++) {
		jsonw_object(w);
		jsonw_kstr(w, "field", p->target->reads[i].field);
		jsonw_kstr(w, "value", p->target->reads[i].value);
		jsonw_kstr(w, "source", p->target->reads[i].source);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void plan_json(const struct plan *p, const char *data_date, bool brief, struct strbuf *out)
{
	const struct plan_choice *c = p->chosen;
	struct jsonw w;

	jsonw_init(&w, out, !brief);
	jsonw_object(&w);
	jsonw_kstr(&w, "schema", "cuvet.plan/1");
	if (!brief) {
		jsonw_kstr(&w, "cuvet", CUVET_VERSION);
		jsonw_kstr(&w, "data", data_date);
	}
	jsonw_kstr(&w, "platform", p->target->platform);
	put_choice(&w, p);
	jsonw_kstrs(&w, "why", c ? c->why : p->why, c ? c->n_why : p->n_why);
	put_builds(&w, "alternatives", p->alternatives,
		   brief && p->n_alternatives > BRIEF_ALTERNATIVES ? BRIEF_ALTERNATIVES :
								     p->n_alternatives, true);
	if (!brief) {
		put_builds(&w, "refused", p->refused, p->n_refused, false);
		put_upgrade(&w, p);
		put_reads(&w, p);
	}
	put_unfit(&w, p);
	json_put_remedies(&w, p->remedies, p->n_remedies);
	jsonw_end_object(&w);
	strbuf_addc(out, '\n');
}

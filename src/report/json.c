/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON report, cuvet.report/1: fields may be added, never changed (docs/design.md). */
#include <string.h>

#include "base/jsonw.h"
#include "base/version.h"
#include "model/snapshot_json.h"
#include "report/formats.h"

void json_put_evidence(struct jsonw *w, const struct evidence *evidence, size_t n)
{
	const struct evidence *e;

	jsonw_key(w, "evidence");
	jsonw_array(w);
	for (e = evidence; e < evidence + n; e++) {
		jsonw_object(w);
		jsonw_kstr(w, "field", e->field);
		jsonw_kstr(w, "seen", e->seen);
		jsonw_kstr(w, "wanted", e->wanted);
		jsonw_kstr(w, "source", e->source);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void json_put_remedies(struct jsonw *w, const struct remedy *remedies, size_t n)
{
	const struct remedy *r;

	jsonw_key(w, "remedies");
	jsonw_array(w);
	for (r = remedies; r < remedies + n; r++) {
		jsonw_object(w);
		jsonw_kstr(w, "text", r->text);
		jsonw_kstrs(w, "commands", r->commands, r->n_commands);
		jsonw_kbool(w, "needs_root", r->needs_root);
		jsonw_kbool(w, "needs_reboot", r->needs_reboot);
		jsonw_kstr(w, "risk", risk_name(r->risk));
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void put_finding(struct jsonw *w, const struct finding *f)
{
	const struct finding_info *info = finding_info(f->id);

	jsonw_object(w);
	jsonw_kstr(w, "code", info->code);
	jsonw_kstr(w, "name", info->name);
	jsonw_kstr(w, "layer", layer_name(info->layer));
	jsonw_kstr(w, "severity", severity_name(f->severity));
	jsonw_kstr(w, "certainty", certainty_name(f->certainty));
	jsonw_kstr(w, "subject", f->subject);
	jsonw_kstr(w, "message", f->message);
	jsonw_kstr(w, "consequence_of", f->has_cause ? finding_info(f->cause)->name : NULL);
	json_put_evidence(w, f->evidence, f->n_evidence);
	json_put_remedies(w, f->remedies, f->n_remedies);
	jsonw_end_object(w);
}

static void put_skipped(struct jsonw *w, const struct results *r)
{
	const struct skip *s;

	jsonw_key(w, "skipped");
	jsonw_array(w);
	for (s = r->skipped; s < r->skipped + r->n_skipped; s++) {
		jsonw_object(w);
		jsonw_kstr(w, "rule", s->rule);
		jsonw_kstr(w, "needs", s->needs);
		jsonw_kstr(w, "why", s->why);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

/* triage alone: what the text rules out, and what it shows besides that will fail next. */
static void put_ruled(struct jsonw *w, const struct results *r)
{
	const struct ruled_out *o;
	size_t i;

	jsonw_key(w, "ruled_out");
	jsonw_array(w);
	for (o = r->ruled; o < r->ruled + r->n_ruled; o++) {
		jsonw_object(w);
		jsonw_kstr(w, "name", finding_info(o->id)->name);
		jsonw_kstr(w, "text", o->text);
		jsonw_kstr(w, "source", o->source);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_key(w, "next");
	jsonw_array(w);
	for (i = 0; i < r->n_findings; i++)
		if (bites_next(r, r->findings[i]))
			jsonw_str(w, finding_info(r->findings[i]->id)->name);
	jsonw_end_array(w);
}

/* Only where there are several: a file for several targets, or several files. */
static void put_targets(struct jsonw *w, const struct report *rep)
{
	const struct report_target *t;

	if (!rep->n_targets)
		return;
	jsonw_key(w, "targets");
	jsonw_array(w);
	for (t = rep->targets; t < rep->targets + rep->n_targets; t++) {
		jsonw_object(w);
		jsonw_kstr(w, "target", *t->target ? t->target : NULL);
		jsonw_kstr(w, "file", t->file);
		jsonw_kstr(w, "part", t->part);
		jsonw_kstr(w, "verdict", verdict_name(t->verdict));
		jsonw_kstr(w, "root_cause", t->finding);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void render(struct arena *a, const struct report *rep, struct strbuf *out)
{
	const struct results *r = rep->r;
	struct jsonw w;
	size_t i;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_kstr(&w, "schema", "cuvet.report/1");
	jsonw_kstr(&w, "cuvet", CUVET_VERSION);
	jsonw_kstr(&w, "data", rep->data_date);
	jsonw_kstr(&w, "command", rep->command);
	jsonw_kstr(&w, "verdict", verdict_name(r->verdict));
	jsonw_key(&w, "root_cause");
	if (r->root)
		put_finding(&w, r->root);
	else
		jsonw_null(&w);
	jsonw_key(&w, "findings");
	jsonw_array(&w);
	for (i = 0; i < r->n_findings; i++)
		put_finding(&w, r->findings[i]);
	jsonw_end_array(&w);
	jsonw_kstrs(&w, "asks", r->asks, r->n_asks);
	if (strcmp(rep->command, "triage") == 0)
		put_ruled(&w, r);
	jsonw_key(&w, "snapshot");
	snapshot_report(a, &w, rep->s);
	put_skipped(&w, r);
	put_targets(&w, rep);
	jsonw_end_object(&w);
	strbuf_addc(out, '\n');
}

const struct report_format report_json = { .name = "json", .render = render };

/* SPDX-License-Identifier: Apache-2.0 */
/* The guided path as JSON: schema cuvet.guide/1. */
#include "base/jsonw.h"
#include "base/version.h"
#include "report/formats.h"
#include "report/guide.h"

static void put_step(struct jsonw *w, const struct guide_step *st)
{
	jsonw_object(w);
	jsonw_kstr(w, "id", st->id);
	jsonw_kstr(w, "title", _(st->title));
	jsonw_kstr(w, "state", guide_state_name(st->state));
	jsonw_kstr(w, "why", st->why);
	json_put_evidence(w, st->evidence, st->n_evidence);
	jsonw_kstrs(w, "commands", st->commands, st->n_commands);
	jsonw_kbool(w, "needs_root", st->needs_root);
	jsonw_kbool(w, "needs_reboot", st->needs_reboot);
	jsonw_kstr(w, "finding", st->finding ? finding_info(st->finding->id)->name : NULL);
	jsonw_end_object(w);
}

static void put_memory(struct jsonw *w, const struct guide_memory *m)
{
	const struct guide_fit *f;

	jsonw_object(w);
	jsonw_kstr(w, "subject", m->subject);
	jsonw_kint(w, "mib", m->mib);
	jsonw_kstr(w, "source", m->source);
	jsonw_key(w, "fits");
	jsonw_array(w);
	for (f = m->fits; f < m->fits + m->n_fits; f++) {
		jsonw_object(w);
		jsonw_kstr(w, "case", f->what);
		jsonw_key(w, "bytes_per_param");
		jsonw_num(w, f->bytes_per_param);
		jsonw_key(w, "billion_params");
		jsonw_num(w, f->billions);
		jsonw_kbool(w, "inferred", f->inferred);
		jsonw_kstrs(w, "sources", f->sources, f->n_sources);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
	jsonw_end_object(w);
}

void guide_json(const struct guide *g, const struct report *rep, struct strbuf *out)
{
	struct jsonw w;
	size_t i;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_kstr(&w, "schema", "cuvet.guide/1");
	jsonw_kstr(&w, "cuvet", CUVET_VERSION);
	jsonw_kstr(&w, "data", rep->data_date);
	jsonw_kstr(&w, "verdict", verdict_name(rep->r->verdict));
	jsonw_kstr(&w, "next", g->next ? g->next->id : NULL);
	jsonw_key(&w, "steps");
	jsonw_array(&w);
	for (i = 0; i < g->n_steps; i++)
		put_step(&w, &g->steps[i]);
	jsonw_end_array(&w);
	jsonw_key(&w, "memory");
	jsonw_array(&w);
	for (i = 0; i < g->n_memory; i++)
		put_memory(&w, &g->memory[i]);
	jsonw_end_array(&w);
	jsonw_key(&w, "outdated");
	jsonw_array(&w);
	for (i = 0; i < g->n_outdated; i++) {
		jsonw_object(&w);
		jsonw_kstr(&w, "id", g->outdated[i].id);
		jsonw_kstr(&w, "said", g->outdated[i].said);
		jsonw_kstr(&w, "holds", g->outdated[i].holds);
		jsonw_kstr(&w, "here", g->outdated[i].here);
		jsonw_kstr(&w, "source", g->outdated[i].source);
		jsonw_end_object(&w);
	}
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	strbuf_addc(out, '\n');
}

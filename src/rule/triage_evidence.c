/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines and facts stand under a finding of triage as its evidence. Decides nothing. */
#include <string.h>

#include "rule/rules.h"
#include "rule/triage.h"

enum { LINES_SHOWN = 8 };

static void add_line(struct triage *t, struct finding *f, const char *field,
		     const struct fact *line)
{
	size_t i;

	for (i = 0; i < f->n_evidence; i++)
		if (f->evidence[i].source && line->source &&
		    strcmp(f->evidence[i].source, line->source) == 0)
			return;
	if (f->n_evidence < LINES_SHOWN)
		finding_evidence(t->j, f, field, line->value, NULL, line->source);
}

/* The card that is meant: the only one, or the one of the capability that is shown already. */
static const struct fact *card_of(const struct snapshot *s, const struct finding *f)
{
	size_t i, k;

	if (s->n_gpus == 1)
		return &s->gpus[0].name;
	for (i = 0; i < f->n_evidence; i++)
		for (k = 0; k < s->n_gpus; k++)
			if (strcmp(f->evidence[i].field, "gpu.compute_capability") == 0 &&
			    f->evidence[i].seen &&
			    fact_is(&s->gpus[k].compute_capability, f->evidence[i].seen))
				return &s->gpus[k].name;
	return NULL;
}

/* What makes an atom hold that is no sign. */
static void add_fact(struct triage *t, struct finding *f, const char *atom)
{
	const struct snapshot *s = t->j->s;
	const struct torch *torch = s->n_pythons ? &s->pythons[0].torch : NULL;
	const struct {
		const char *atom, *field;
		const struct fact *fact;
	} facts[] = {
		{ "gpu", "gpu.name", card_of(s, f) },
		{ "driver", "driver.version", &s->driver.version },
		{ "torch", "torch.version", torch ? &torch->version : NULL },
		{ "torch-cpu", "torch.version", torch ? &torch->version : NULL },
		{ "torch-cuda", "torch.version", torch ? &torch->version : NULL },
		{ "torch-rocm", "torch.version", torch ? &torch->version : NULL },
		{ "toolkit", "toolkit.version", s->n_toolkits ? &s->toolkits[0].version : NULL },
		{ "toolkit-other-major", "toolkit.version",
		  s->n_toolkits ? &s->toolkits[0].version : NULL },
		{ "aarch64", "host.arch", &s->host.arch },
		{ "musl", "host.libc", &s->host.libc },
		{ "windows", "host.system", &s->host.system },
		{ "macos", "host.system", &s->host.system },
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(facts); i++)
		if (strcmp(facts[i].atom, atom) == 0 && facts[i].fact &&
		    fact_known(facts[i].fact) && facts[i].fact->source)
			add_line(t, f, facts[i].field, facts[i].fact);
}

void triage_evidence_sign(struct triage *t, struct finding *f, const struct sign *g)
{
	add_line(t, f, "text", &g->text);
	if (fact_known(&g->end))
		add_line(t, f, "text", &g->end);
}

void triage_evidence(struct triage *t, struct finding *f, const char *atom)
{
	const struct sign *g = triage_sign(t, atom);

	if (g)
		triage_evidence_sign(t, f, g);
	else
		add_fact(t, f, atom);
}

static const struct {
	enum finding_id id;
	const char *atoms;
} more[] = {
#define E(id_, atoms_) { .id = FINDING_##id_, .atoms = atoms_ },
#include "rule/triage_evidence.def"
};

static void all_of(struct triage *t, struct finding *f, const char *atom)
{
	size_t i;
	bool any = false;

	for (i = 0; i < t->n_atoms; i++) {
		if (!t->atoms[i].sign || strcmp(t->atoms[i].name, atom) != 0)
			continue;
		triage_evidence_sign(t, f, t->atoms[i].sign);
		any = true;
	}
	if (!any && triage_has(t, atom))
		add_fact(t, f, atom);
}

void triage_evidence_more(struct triage *t, struct finding *f)
{
	struct view rest, atom;
	size_t i;

	for (i = 0; i < ARRAY_LEN(more); i++) {
		if (more[i].id != f->id)
			continue;
		for (rest = view_of(more[i].atoms); view_word(&rest, &atom);)
			all_of(t, f, view_dup(t->j->a, atom));
	}
}

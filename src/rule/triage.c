/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions over what holds: rows of triage.def and of the table; then the rules that compute. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "rule/look.h"
#include "rule/mend.h"
#include "rule/triage_parts.h"

/* One of "a|b|c"; the first that holds gives the evidence. */
static bool one_of(struct triage *t, struct view term, struct finding *f)
{
	struct view name;
	char buf[64];

	while (term.n) {
		name = view_cut(term, '|', &term);
		if (!name.n || name.n >= sizeof(buf))
			return false;
		memcpy(buf, name.p, name.n);
		buf[name.n] = '\0';
		if (!triage_has(t, buf))
			continue;
		if (f)
			triage_evidence(t, f, buf);
		return true;
	}
	return false;
}

bool triage_holds(struct triage *t, const char *terms, struct finding *f)
{
	struct view rest = view_of(terms), term;

	while (view_word(&rest, &term)) {
		bool no = term.p[0] == '!';

		if (one_of(t, no ? view_skip(term, 1) : term, no ? NULL : f) == no)
			return false;
	}
	return true;
}

bool triage_of_another(const struct snapshot *s, const struct finding *f)
{
	const struct python *p = look_python_of(s, f->subject);

	return p && fact_no(&p->active);
}

struct finding *triage_add(struct triage *t, enum finding_id id, int weight, const char *terms)
{
	struct finding *f = NULL;
	size_t i;

	for (i = 0; i < t->j->n_findings && !f; i++)
		if (t->j->findings[i]->id == id && !triage_of_another(t->j->s, t->j->findings[i]))
			f = t->j->findings[i];
	if (!f) {
		f = finding_add(t->j, id, "");
		f->subject = _("the pasted text");
		f->weight = weight;
	} else {
		/* A second reason for the same: a little more than the stronger of the two. */
		int was = f->weight ? f->weight : TRIAGE_FACTS;

		f->weight = (was > weight ? was : weight) + 4;
	}
	if (weight < 80)
		finding_inferred(f);
	if (terms)
		triage_holds(t, terms, f);
	return f;
}

/* -------- rows */

struct condition {
	enum finding_id id;
	int weight;
	const char *terms, *message;
};

static const struct condition conditions[] = {
#define T(id_, weight_, terms_, message_) \
	{ .id = FINDING_##id_, .weight = weight_, .terms = terms_, .message = message_ },
#include "rule/triage.def"
#undef T
};

static void rows(struct triage *t)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(conditions); i++) {
		const struct condition *c = &conditions[i];
		struct finding *f;

		if (!triage_holds(t, c->terms, NULL))
			continue;
		f = triage_add(t, c->id, c->weight, c->terms);
		if (c->message)
			f->message = _(c->message);
	}
}

/* What a row of the table says by itself: "for" with 50 and more. */
static void table_rows(struct triage *t)
{
	const struct json *v;
	enum finding_id id;
	size_t i;
	int64_t w;

	for (i = 0; i < t->n_hits; i++) {
		if (!triage_row_decides(t, t->hits[i].row))
			continue;
		for (v = json_first(json_get(t->hits[i].row, "for")); v; v = json_next(v))
			if (json_int(v, &w) && w >= TRIAGE_ROOT && w <= 100 &&
			    finding_lookup(json_key(v), &id))
				triage_add(t, id, (int)w, t->hits[i].sign->id.value);
	}
}

/* -------- all of it */

/* What the user wants left out explains nothing either. */
static void leave_out(struct judge *j, const struct judge_options *o)
{
	size_t i, n = 0;

	for (i = 0; i < j->n_findings; i++)
		if (!finding_listed(o->ignore, o->n_ignore, j->findings[i]->id))
			j->findings[n++] = j->findings[i];
	j->n_findings = n;
}

const struct finding *triage_root(struct judge *j, const struct judge_options *o)
{
	struct triage *t = arena_alloc(j->a, sizeof(*t));
	struct finding *root;
	size_t n_ordinary = j->n_findings;

	t->j = j;
	triage_atoms(t);
	rows(t);
	table_rows(t);
	triage_versions(t);
	triage_label(t);
	triage_cards(t);
	triage_modules(t);
	triage_libraries(t);
	triage_machine(t);
	triage_driver_rules(t);
	triage_install(t);
	triage_frameworks(t);
	triage_refute(t);
	leave_out(j, o);
	root = triage_weigh(t, n_ordinary);
	triage_evidence_more(t, root);
	triage_rule_out(t, root);
	triage_mend(t, root);
	return root;
}

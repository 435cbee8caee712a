/* SPDX-License-Identifier: Apache-2.0 */
/* Weighs the causes that were found: the root, what else bites, what the text says against it. */
#include <string.h>

#include "rule/triage_parts.h"

/* About a project file in the text: an excerpt, of which nobody says that it is what failed. */
static bool of_project(const struct snapshot *s, const struct finding *f)
{
	size_t i, n;

	for (i = 0; i < s->n_projects; i++) {
		const char *file = fact_value(&s->projects[i].file, "");

		n = strlen(file);
		if (n && f->subject && strncmp(f->subject, file, n) == 0 &&
		    (f->subject[n] == '\0' || f->subject[n] == ','))
			return true;
	}
	return false;
}

static void weigh(struct triage *t)
{
	bool well = triage_all_well(t);
	size_t i;

	for (i = 0; i < t->j->n_findings; i++) {
		struct finding *f = t->j->findings[i];

		if (!f->weight) {
			f->weight = f->severity == SEVERITY_ERROR && of_project(t->j->s, f)
					    ? TRIAGE_PROJECT
				    : f->severity == SEVERITY_ERROR   ? TRIAGE_FACTS
				    : f->severity == SEVERITY_WARNING ? TRIAGE_WARNING
								      : 20;
			if (t->points[f->id])
				f->weight += TRIAGE_POINTED;
		}
		if (t->against[f->id])
			f->weight -= TRIAGE_AGAINST;
		if (f->id == FINDING_HARMLESS_WARNING && f->weight >= TRIAGE_ROOT &&
		    triage_failure_left(t, f))
			f->weight = TRIAGE_WARNING;
		/* What might fail, and does not, is nobody's complaint. */
		if (well && !finding_is_fine(f->id) && f->weight >= TRIAGE_ROOT)
			f->weight = TRIAGE_WARNING;
		/* Of another environment than the one that fails: it bites there. */
		if (triage_of_another(t->j->s, f) && f->weight >= TRIAGE_ROOT)
			f->weight = TRIAGE_WARNING;
	}
}

static struct finding *strongest(struct judge *j)
{
	struct finding *best = NULL;
	size_t i;

	for (i = 0; i < j->n_findings; i++) {
		struct finding *f = j->findings[i];

		if (f->id == FINDING_INSUFFICIENT_EVIDENCE || f->weight < TRIAGE_ROOT)
			continue;
		if (!best || f->weight > best->weight ||
		    (f->weight == best->weight &&
		     finding_info(f->id)->layer < finding_info(best->id)->layer))
			best = f;
	}
	return best;
}

static bool ordinary(const struct judge *j, const struct finding *f, size_t n)
{
	return (size_t)f->order < n && f->certainty == CERTAINTY_OBSERVED &&
	       f->weight >= TRIAGE_FACTS && !of_project(j->s, f);
}

/* The deepest of those that explain it and are about as strong. */
static struct finding *deepest(struct judge *j, struct finding *root, size_t n_ordinary)
{
	size_t i, steps;

	for (steps = 0; steps < 8; steps++) {
		struct finding *deeper = NULL;

		for (i = 0; i < j->n_findings; i++) {
			struct finding *f = j->findings[i];

			/* What follows from facts by the ordinary rules holds, however plainly a
			 * message names the consequence. */
			if (f != root && f->weight >= TRIAGE_ROOT &&
			    (f->weight + TRIAGE_CLOSE >= root->weight ||
			     ordinary(j, f, n_ordinary)) &&
			    finding_explains(f->id, root->id) &&
			    !finding_explains(root->id, f->id) &&
			    (!deeper || f->weight > deeper->weight))
				deeper = f;
		}
		if (!deeper)
			return root;
		root = deeper;
	}
	return root;
}

/* Two names for one build without CUDA: mending the one mends the other. */
static bool is_twin(const struct finding *f, const struct finding *root)
{
	return strncmp(finding_info(f->id)->name, "cpu-only-", 9) == 0 &&
	       strncmp(finding_info(root->id)->name, "cpu-only-", 9) == 0;
}

/*
 * The root explains the complaint, whatever it weighs elsewhere; what else the text shows bites
 * later. What it only lets one guess is another guess at the first.
 */
static void severities(struct judge *j, struct finding *root)
{
	size_t i;

	for (i = 0; i < j->n_findings; i++) {
		struct finding *f = j->findings[i];

		if (f == root)
			f->severity =
				finding_is_fine(f->id) || f->id == FINDING_INSUFFICIENT_EVIDENCE
					? SEVERITY_INFO
					: SEVERITY_ERROR;
		else if (finding_is_fine(f->id) || f->weight < TRIAGE_ROOT || is_twin(f, root) ||
			 f->certainty == CERTAINTY_INFERRED)
			f->severity = SEVERITY_INFO;
		else
			f->severity = SEVERITY_WARNING;
	}
}

/* A rule that found too little does not stand against one that found enough. */
static void drop_undecided(struct judge *j)
{
	size_t i, n = 0;

	for (i = 0; i < j->n_findings; i++)
		if (j->findings[i]->id != FINDING_INSUFFICIENT_EVIDENCE)
			j->findings[n++] = j->findings[i];
	j->n_findings = n;
}

static struct finding *undecided(struct triage *t)
{
	struct finding *f = finding_add(t->j, FINDING_INSUFFICIENT_EVIDENCE, "");
	const struct sign *g;
	size_t i;

	f->subject = _("the pasted text");
	f->severity = SEVERITY_INFO;
	f->message =
		_("The text shows what failed, and not why: several causes would look like this.");
	for (i = 0; i < t->j->s->n_signs && f->n_evidence < 3; i++) {
		g = &t->j->s->signs[i];
		if (triage_row(t, g->id.value) && strncmp(g->id.value, "word-", 5) != 0)
			triage_evidence_sign(t, f, g);
	}
	if (!f->n_evidence)
		f->message = _("The text holds nothing that could be judged.");
	triage_asks(t);
	return f;
}

/* What the text says of it elsewhere, and differently: the conclusion is less certain then. */
static void contradicted(struct judge *j, struct finding *root)
{
	size_t i, k, n = root->n_evidence;

	if (root->id == FINDING_MULTIPLE_ENVS)
		return;
	for (i = 0; i < j->s->n_signs; i++) {
		const struct sign *g = &j->s->signs[i];

		if (strncmp(fact_value(&g->id, ""), "differs:", 8) != 0)
			continue;
		for (k = 0; k < n && k < root->n_evidence; k++) {
			if (strcmp(root->evidence[k].field, g->id.value + 8) != 0)
				continue;
			finding_inferred(root);
			finding_evidence(j, root, root->evidence[k].field,
					 fact_value(&g->value, ""), NULL, g->value.source);
			break;
		}
	}
}

struct finding *triage_weigh(struct triage *t, size_t n_ordinary)
{
	struct finding *root;

	weigh(t);
	root = strongest(t->j);
	if (root)
		drop_undecided(t->j);
	root = root ? deepest(t->j, root, n_ordinary) : undecided(t);
	severities(t->j, root);
	contradicted(t->j, root);
	return root;
}

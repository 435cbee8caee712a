/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs of one model in one machine against one another: what a table cannot know (a slot behind a
 * switch, a hot place in the case) shows there. Looks at finished rows alone.
 */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "prove/prove.h"

/* Rungs whose figures depend on the GPU and its link, not on what else the host does. */
static bool is_compared(const struct proof_test *t)
{
	static const char *const names[] = { "bench-h2d", "bench-d2h", "bench-memory" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(t->name, names[i]) == 0)
			return t->gpu >= 0 && (t->o.result == PROOF_PASS ||
					       t->o.result == PROOF_INCONCLUSIVE);
	return false;
}

static bool is_measured(const char *name)
{
	size_t n = strlen(name), m = strlen("gb_per_s");

	return n >= m && strcmp(name + n - m, "gb_per_s") == 0 && strncmp(name, "bus", 3) != 0 &&
	       strncmp(name, "expected", 8) != 0;
}

static const struct proof_figure *figure(const struct proof_outcome *o, const char *name)
{
	uint32_t i;

	for (i = 0; i < o->n_figures; i++)
		if (strcmp(o->figures[i].name, name) == 0)
			return &o->figures[i];
	return NULL;
}

static bool same_model(const struct proof *p, int a, int b)
{
	return a != b && (size_t)a < p->n_gpus && (size_t)b < p->n_gpus && p->gpus[a].known &&
	       p->gpus[b].known && strcmp(p->gpus[a].name, p->gpus[b].name) == 0;
}

struct sibling {
	double ratio; /* to the best one, of the figure that is lowest; 0: there is none */
	int best;
};

static struct sibling compare(const struct proof *p, const struct proof_test *t)
{
	struct sibling s = { .ratio = 0 };
	const struct proof_figure *f;
	uint32_t i;
	size_t k;

	for (i = 0; i < t->o.n_figures; i++) {
		if (!is_measured(t->o.figures[i].name))
			continue;
		for (k = 0; k < p->n; k++) {
			if (strcmp(p->tests[k].name, t->name) != 0 || !is_compared(&p->tests[k]) ||
			    !same_model(p, t->gpu, p->tests[k].gpu))
				continue;
			f = figure(&p->tests[k].o, t->o.figures[i].name);
			if (!f || f->value <= 0 ||
			    (s.ratio > 0 && t->o.figures[i].value / f->value >= s.ratio))
				continue;
			s = (struct sibling){ t->o.figures[i].value / f->value, p->tests[k].gpu };
		}
	}
	return s;
}

void sibling_judge(const struct prove_options *o, struct proof *p)
{
	struct sibling s;
	size_t i, n;

	for (i = 0; i < p->n; i++) {
		struct proof_outcome *t = &p->tests[i].o;

		s = is_compared(&p->tests[i]) ? compare(p, &p->tests[i]) : (struct sibling){ 0 };
		if (s.ratio <= 0)
			continue;
		outcome_figure(t, "of_best_sibling", s.ratio);
		if (s.ratio >= 0.8 || o->busy)
			continue;
		n = strlen(t->why);
		snprintf(t->why + n, sizeof(t->why) - n,
			 _("%s%.0f%% of GPU %d, which is of the same model"), n ? "; " : "",
			 s.ratio * 100, s.best);
		t->result = PROOF_INCONCLUSIVE;
	}
}

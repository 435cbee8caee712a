/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps about what project files would install: its faults are mended in the files, whatever layer
 * they belong to.
 */
#include <string.h>

#include "guide/parts.h"

bool guide_is_project(const struct guiding *w)
{
	return fact_is(&w->in->s->source, "project");
}

/* The PyTorch that they would install: the last environment that has one. */
static const struct wanted *torch_wanted(const struct snapshot *s)
{
	const struct wanted *found = NULL;
	size_t i, k;

	for (i = 0; i < s->n_projects; i++)
		for (k = 0; k < s->projects[i].n_packages; k++)
			if (fact_is(&s->projects[i].packages[k].name, "torch"))
				found = &s->projects[i].packages[k];
	return found;
}

enum outcome guide_project_python(struct guiding *w, struct guide_step *st)
{
	const struct snapshot *s = w->in->s;
	size_t i;

	for (i = 0; i < s->n_projects; i++)
		step_fact(w, st, "python.version", &s->projects[i].python);
	step_why(w, st, "%s", _("The project files bring the Python that is judged with them."));
	return st->n_evidence ? OUTCOME_DONE : OUTCOME_NOT_NEEDED;
}

enum outcome guide_project_torch(struct guiding *w, struct guide_step *st)
{
	const struct finding *f = guide_error(w, ~0u);
	const struct wanted *t = torch_wanted(w->in->s);

	if (f)
		return step_finding(w, st, f);
	if (!t) {
		step_why(w, st, "%s", _("The project files install no PyTorch."));
		return OUTCOME_NOT_NEEDED;
	}
	step_fact(w, st, "torch", &t->text);
	step_fact(w, st, "torch.version", &t->version);
	step_why(w, st, "%s", _("What the project files install fits this target."));
	return OUTCOME_DONE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures that a harmless message beside them does not explain. Without this rule the message
 * would be the answer, and the failure would go unsaid. Adds no finding.
 */
#include <string.h>

#include "base/attr.h"
#include "rule/triage.h"

static bool is_evidence(const struct finding *f, const char *source)
{
	size_t i;

	for (i = 0; source && i < f->n_evidence; i++)
		if (f->evidence[i].source && strcmp(f->evidence[i].source, source) == 0)
			return true;
	return false;
}

/* What shows that the GPU is not used or not reached, whatever the reason. */
static const char *const symptoms[] = {
	"cuda-available-false",
	"said-false",
	"cpu-said",
	"cuda-fails",
	"no-device",
	"tf-no-gpu",
	"smi-fails",
	"nccl-fails",
	"nccl-hang",
};

bool triage_failure_left(const struct triage *t, const struct finding *harmless)
{
	const struct snapshot *s = t->j->s;
	size_t i;

	if (triage_has(t, "works") || triage_has(t, "cuda-works") ||
	    triage_has(t, "cuda-available-true") || triage_has(t, "gpu-in-use-said"))
		return false;
	for (i = 0; i < ARRAY_LEN(symptoms); i++) {
		const struct sign *g = triage_sign(t, symptoms[i]);

		if (g ? !is_evidence(harmless, g->value.source) : triage_has(t, symptoms[i]))
			return true;
	}
	for (i = 0; i < s->n_signs; i++)
		if (fact_is(&s->signs[i].id, "failure-line") &&
		    !is_evidence(harmless, s->signs[i].value.source))
			return true;
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures that a harmless message beside them does not explain. Without this rule the message
 * would be the answer, and the failure would go unsaid. Adds no finding.
 */
#include <stdlib.h>
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
	"crash-said",
};

static const char *const successes[] = { "works", "cuda-works", "cuda-available-true",
					 "gpu-in-use-said" };

static bool is_success(const char *atom)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(successes); i++)
		if (strcmp(atom, successes[i]) == 0)
			return true;
	return false;
}

/* "pasted line 12" to 12. */
long triage_line_of(const char *source)
{
	const char *at = source ? strstr(source, "line ") : NULL;

	return at ? strtol(at + 5, NULL, 10) : 0;
}

bool triage_failure_left(const struct triage *t, const struct finding *harmless)
{
	const struct snapshot *s = t->j->s;
	bool works = false;
	long last = 0;
	size_t i;

	for (i = 0; i < t->n_atoms; i++) {
		const struct sign *g = t->atoms[i].sign;

		if (!is_success(t->atoms[i].name))
			continue;
		works = true;
		if (g && triage_line_of(g->text.source) > last)
			last = triage_line_of(g->text.source);
	}
	for (i = 0; !works && i < ARRAY_LEN(symptoms); i++) {
		const struct sign *g = triage_sign(t, symptoms[i]);

		if (g ? !is_evidence(harmless, g->text.source) : triage_has(t, symptoms[i]))
			return true;
	}
	/* What works below the failure was not kept from it. */
	for (i = 0; i < s->n_signs; i++)
		if (fact_is(&s->signs[i].id, "failure-line") &&
		    !is_evidence(harmless, s->signs[i].text.source) &&
		    (!works || (last && triage_line_of(s->signs[i].text.source) > last)))
			return true;
	return false;
}

bool triage_no_gpu_got(const struct triage *t)
{
	return triage_has(t, "cuda-fails") || triage_has(t, "no-device") ||
	       triage_has(t, "cuda-available-false") || triage_has(t, "tf-no-gpu");
}

bool triage_all_well(struct triage *t)
{
	return !triage_holds(t, "mig-list-chosen|mig-several one-device-only", NULL) &&
	       !triage_holds(t, "cross-gpu-copy tensor-zeros iommu-fault|iommu-on", NULL) &&
	       !triage_has(t, "copied-zeros") &&
	       triage_holds(t,
			    "works|cuda-works|cuda-available-true !complaint !error-seen "
			    "!failure-line !cuda-available-false !cuda-fails !smi-fails "
			    "!smi-absent !no-device !crash-said !oom !tf-no-gpu !said-false "
			    "!cpu-said !lib-missing !no-kernel-image !nvcc-arch !reasons-wanted",
			    NULL);
}

bool triage_stack_fails(struct triage *t)
{
	return triage_no_gpu_got(t) ||
	       triage_holds(t,
			    "smi-fails|smi-absent|no-driver-seen|module-trouble|module-absent|"
			    "no-module-seen|insert-enodev|nvrm-none|rm-init-failed|probe-failed|"
			    "handle-fails|libcuda-missing|nvml-mismatch|nvml-999|cpu-said|"
			    "said-false|bad-ordinal|no-kernel-image|lib-missing|jax-cpu-said",
			    NULL);
}

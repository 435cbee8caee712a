/* SPDX-License-Identifier: Apache-2.0 */
/* What an add-on was compiled for, where the text shows it: TORCH_CUDA_ARCH_LIST, nvcc options. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/lang.h"
#include "rule/look.h"
#include "rule/triage.h"

int triage_compiled_for(const struct triage *t)
{
	const struct snapshot *s = t->j->s;
	int high = -1, cc;
	size_t i;

	for (i = 0; i < s->n_signs; i++) {
		if (!fact_is(&s->signs[i].id, "gencode-said"))
			continue;
		cc = (int)strtol(fact_value(&s->signs[i].value, "0"), NULL, 10);
		high = cc > high ? cc : high;
	}
	return high;
}

const char *triage_image_cuda(struct triage *t)
{
	const char *v = triage_value(t, "image-from-cuda");
	size_t n = v ? strlen(v) : 0;

	if (n < 2 || strchr(v, '.'))
		return v;
	return arena_printf(t->j->a, "%.*s.%c", (int)n - 1, v, v[n - 1]);
}

/* Options that an add-on was given leave every GPU of that generation out. */
static bool left_out(struct triage *t, int options, int cc)
{
	return options > 0 && cc > 0 && (options / 10 != cc / 10 || options > cc) &&
	       triage_has(t, "addon-named");
}

bool triage_compiled(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *list = snapshot_env(s, "TORCH_CUDA_ARCH_LIST");
	int options = triage_compiled_for(t);
	struct finding *f;
	size_t i;

	if (!list)
		list = triage_value(t, "arch-list-said");
	if (!triage_has(t, "no-kernel-image") || triage_has(t, "arch-misfit"))
		return false;
	for (i = 0; i < s->n_gpus; i++) {
		const struct gpu *g = &s->gpus[i];
		bool listed = !list || look_arch_list_covers(list, look_cc(g));

		if (listed && !left_out(t, options, look_cc(g)))
			continue;
		f = triage_add(t, FINDING_EXTENSION_MISSING_GPU_ARCH, 82, "no-kernel-image");
		finding_fact(t->j, f, "gpu.compute_capability", &g->compute_capability, NULL);
		finding_message(t->j, f,
				_("What was compiled here was compiled for other GPUs than one of "
				  "compute capability %s."),
				fact_value(&g->compute_capability, "?"));
		return true;
	}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as a remedy. Decides nothing by itself: it asks plan_solve, and says what that chose. */
#include "plan/mend.h"

#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"

/* Causes that another build ends. */
static bool by_build(enum finding_id id)
{
	static const enum finding_id ids[] = {
		FINDING_CPU_ONLY_WHEEL,
		FINDING_CPU_ONLY_CONDA_BUILD,
		FINDING_CPU_ONLY_REPLACED_BY_DEPENDENCY,
		FINDING_TORCH_REPLACED_BY_DEPENDENCY,
		FINDING_DRIVER_TOO_OLD,
		FINDING_GPU_TOO_NEW_FOR_BUILD,
		FINDING_GPU_TOO_OLD_FOR_BUILD,
		FINDING_TORCH_TORCHVISION_MISMATCH,
		FINDING_WRONG_INDEX_TAG,
		FINDING_PYTHON_NO_WHEEL,
		FINDING_ROCM_BUILD_ON_NVIDIA,
		FINDING_GLIBC_TOO_OLD,
		FINDING_CHANNEL_HAS_NO_RELEASE,
		FINDING_MIXED_CUDA_WHEELS,
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(ids); i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* The release that is there, as a requirement; NULL when it is not known. */
static const char *same_release(struct arena *a, const struct snapshot *s)
{
	const struct python *p = snapshot_active_python(s);
	const char *v = p ? fact_value(&p->torch.version, NULL) : NULL;
	size_t n = v ? strspn(v, "0123456789.") : 0;

	return n >= 5 && (v[n] == '\0' || v[n] == '+') ? arena_printf(a, "torch==%.*s", (int)n, v)
						       : NULL;
}

/* torch, and what of its companions the environment has. */
static int wishes_of(struct arena *a, struct matrix *m, const struct snapshot *s, const char *torch,
		     struct wishes **ret)
{
	static const char *const companions[] = { "torchvision", "torchaudio" };
	const struct python *p = snapshot_active_python(s);
	struct requirement_list list = { .n = 0 };
	struct err err;
	size_t i;
	int rc;

	rc = requirement_argument(a, torch, 1, ARENA_APPEND(a, list.v, list.n), &err);
	for (i = 0; !rc && p && i < ARRAY_LEN(companions); i++)
		if (python_package(p, companions[i]))
			rc = requirement_argument(a, companions[i], 2 + i,
						  ARENA_APPEND(a, list.v, list.n), &err);
	return rc ? rc : plan_wishes(a, m, &list, ret, &err);
}

/* Was PyTorch installed by conda, as far as the text shows? */
static enum plan_tool tool_of(const struct snapshot *s, const struct plan_choice *c)
{
	size_t i;

	for (i = 0; i < s->n_signs; i++)
		if ((fact_is(&s->signs[i].id, "conda-torch-cpu") ||
		     fact_is(&s->signs[i].id, "conda-torch-cuda")) &&
		    c->commands[TOOL_CONDA].n)
			return TOOL_CONDA;
	return TOOL_PIP;
}

static const char *for_whom(struct arena *a, const struct snapshot *s, const struct plan_target *t,
			    const struct plan_choice *c)
{
	struct strbuf b;

	strbuf_init(&b, a);
	strbuf_add(&b, t->n_gpus ? t->gpus[0].name : "-");
	if (t->driver && (fact_known(&s->driver.version) || !fact_is(&s->source, "pasted")))
		strbuf_printf(&b, _(", driver %s"), t->driver);
	if (t->python_known && c->python)
		strbuf_printf(&b, _(", Python %s"), c->python->text);
	/* A paste that does not say its system has none. */
	if (fact_known(&s->host.system) || fact_known(&s->host.os_id) ||
	    !fact_is(&s->source, "pasted"))
		strbuf_printf(&b, ", %s", t->platform);
	return b.s;
}

static void put_first(struct arena *a, struct finding *f, struct remedy r)
{
	struct remedy *v = arena_calloc(a, arena_room(f->n_remedies + 1), sizeof(*v));

	v[0] = r;
	if (f->n_remedies)
		memcpy(v + 1, f->remedies, f->n_remedies * sizeof(*v));
	f->remedies = v;
	f->n_remedies++;
}

/* Does a remedy that a rule gave name this very build already? */
static bool said(const struct finding *f, const char *pin)
{
	size_t i, k;

	for (i = 0; i < f->n_remedies; i++)
		for (k = 0; k < f->remedies[i].n_commands; k++)
			if (strstr(f->remedies[i].commands[k], pin))
				return true;
	return false;
}

static bool same_text(const struct finding *f, const char *text)
{
	size_t i;

	for (i = 0; i < f->n_remedies; i++)
		if (strcmp(f->remedies[i].text, text) == 0)
			return true;
	return false;
}

static void give(struct arena *a, const struct snapshot *s, const struct plan *p, struct finding *f)
{
	const struct plan_choice *c = p->chosen;
	enum plan_tool tool;

	if (!c || !c->torch) {
		if (p->n_remedies && !same_text(f, p->remedies[0].text))
			put_first(a, f, p->remedies[0]);
		return;
	}
	/* One build is enough: a rule's keeps the release that is there. */
	if (said(f, " torch=="))
		return;
	tool = tool_of(s, c);
	if (!c->commands[tool].n)
		return;
	put_first(a, f,
		  (struct remedy){
			  .text = arena_printf(a, _("For %s: torch %s with CUDA %s fits."),
					       for_whom(a, s, p->target, c), c->torch->version,
					       c->cuda ? c->cuda : "-"),
			  .commands = c->commands[tool].lines,
			  .n_commands = c->commands[tool].n,
			  .risk = RISK_CHANGES,
		  });
}

/* The release that is there in another build, where one fits, else the best of all. */
static const struct plan *solve(struct arena *a, struct matrix *m, const struct plan_target *t,
				const struct snapshot *s)
{
	struct plan_options brief = { .brief = true }, whole = { .brief = false };
	const char *same = same_release(a, s);
	const struct plan *p = NULL;
	struct wishes *w;

	if (same && !wishes_of(a, m, s, same, &w))
		p = plan_solve(a, m, t, w, &brief);
	if (p && p->chosen)
		return p;
	return wishes_of(a, m, s, "torch", &w) ? NULL : plan_solve(a, m, t, w, &whole);
}

/* A program that brings its own GPU code, where nothing speaks of PyTorch: no build of that helps.
 */
static bool of_another_program(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_pythons; i++)
		if (fact_known(&s->pythons[i].torch.version))
			return false;
	for (i = 0; i < s->n_signs; i++)
		if (fact_is(&s->signs[i].id, "word-other-program") ||
		    fact_is(&s->signs[i].id, "conda-tf-cpu") ||
		    fact_is(&s->signs[i].id, "rapids"))
			return true;
	return false;
}

/* Where a text names none: of a maintained branch, and one that drives the newest GPU. */
static const char *usual_driver(const struct plan_target *t)
{
	size_t i;

	for (i = 0; i < t->n_gpus; i++)
		if (t->gpus[i].cc >= 100)
			return "570.26";
	return "550.54.14";
}

void plan_mend(struct arena *a, struct matrix *m, const struct snapshot *s, struct results *r)
{
	struct plan_target *t;
	const struct plan *p;
	struct err err;
	size_t i;

	if (!r->root || !by_build(r->root->id) || !s->n_gpus || of_another_program(s))
		return;
	t = arena_alloc(a, sizeof(*t));
	if (plan_target_read(a, m, s, t, &err))
		return;
	if (!t->driver && fact_is(&s->source, "pasted"))
		t->driver = usual_driver(t);
	p = solve(a, m, t, s);
	for (i = 0; i < r->n_findings && p; i++)
		if (r->findings[i] == r->root)
			give(a, s, p, r->findings[i]);
}

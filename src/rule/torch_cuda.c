/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about a build's CUDA and code against driver and GPUs: driver too old, PTX too new, no code
 * for a GPU. */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* Subject of a finding about one GPU and one environment: another environment than the deciding one
 * is named. */
static const char *subject_of(struct judge *j, const struct python *p, size_t gpu)
{
	return p == look_deciding(j->s) ? gpu_subject(j, gpu) : look_prefix(p);
}

/* In a sentence: the model, else the GPU's number. */
static const char *name_of(struct judge *j, size_t gpu)
{
	const char *name = fact_value(&j->s->gpus[gpu].name, gpu_subject(j, gpu));

	/* A GPU that was named by its capability alone. */
	return view_starts(view_of(name), "compute capability") || view_starts(view_of(name), "cc:")
		       ? _("This GPU") : name;
}

/* -------- driver-too-old: the minor-version rule */

/* A driver for that CUDA, or a build for the driver that is there. */
static void newer_or_older(struct judge *j, struct finding *f, const struct python *p,
			   const char *cuda)
{
	const char *branch = remedy_branch(j, cuda);

	if (branch)
		remedy_driver(j, f, branch, remedy_driver_kind(j));
	remedy_torch(j, f, p);
}

static void too_old_in(struct judge *j, const struct python *p, const struct fact *driver)
{
	const char *cuda = look_torch_cuda(j, &p->torch), *least, *ceiling;
	struct fact ceiling_fact = { 0 };
	bool inferred, ceiling_inferred;
	struct finding *f;

	if (!cuda || look_unpublished(j, p))
		return;
	least = compat_min_driver(j->c, cuda, look_is_windows(j->s), &inferred);
	if (!least) {
		judge_skip(j, "cuda.min_driver", _("not known for CUDA %s"), cuda);
		return;
	}
	ceiling = look_ceiling(j, &ceiling_fact, &ceiling_inferred);
	/* cuInit answered and the driver knows this CUDA: nothing that a table says can outweigh
	 * that. */
	if (!look_driver_below(driver->value, least) ||
	    (look_cuda_works(j->s) && !ceiling_inferred && version_at_least(ceiling, cuda)))
		return;
	f = finding_add(j, FINDING_DRIVER_TOO_OLD, look_prefix(p));
	if (ceiling)
		finding_message(
			j, f,
			_("Driver %s runs CUDA up to %s; this torch was built for CUDA %s, which "
			  "needs %s or newer."),
			driver->value, ceiling, cuda, least);
	else
		finding_message(
			j, f,
			_("Driver %s is too old: this torch was built for CUDA %s, which needs %s "
			  "or newer."),
			driver->value, cuda, least);
	finding_fact(j, f, "driver.version", driver, arena_printf(j->a, ">= %s", least));
	if (ceiling)
		finding_fact(j, f, "driver.cuda_ceiling", &ceiling_fact, NULL);
	finding_fact(j, f, "torch.cuda",
		     fact_known(&p->torch.cuda) ? &p->torch.cuda : &p->torch.version, NULL);
	if (inferred)
		finding_inferred(f);
	newer_or_older(j, f, p, cuda);
}

static void run_driver_too_old(struct judge *j)
{
	const struct fact *driver = look_driver_or_skip(j);
	size_t i;

	if (!driver)
		return;
	/* With a compat libcuda in front, that library is the driver's CUDA; its own rule judges
	 * it. */
	if (look_compat_libcuda(j->s))
		return;
	for (i = 0; i < j->s->n_pythons; i++)
		if (fact_known(&j->s->pythons[i].torch.version))
			too_old_in(j, &j->s->pythons[i], driver);
}

/* -------- code for each GPU */

static const char *list_text(struct judge *j, const struct look_archs *archs)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, j->a);
	for (i = 0; i < archs->n && i < 32; i++) {
		strbuf_sep(&b, " ");
		strbuf_add(&b, archs->list[i]);
	}
	return b.s;
}

/* Lowest and highest capability that the list names; false when it holds nothing that can be read.
 */
static bool list_range(const struct look_archs *archs, int *ret_low, int *ret_high)
{
	struct arch t;
	size_t i;

	*ret_low = *ret_high = -1;
	for (i = 0; i < archs->n; i++) {
		if (!arch_parse(archs->list[i], &t))
			continue;
		if (*ret_low < 0 || t.cc < *ret_low)
			*ret_low = t.cc;
		if (t.cc > *ret_high)
			*ret_high = t.cc;
	}
	return *ret_high >= 0;
}

static void arch_evidence(struct judge *j, struct finding *f, const struct python *p, size_t gpu,
			  const struct look_archs *archs)
{
	int cc = look_cc(&j->s->gpus[gpu]);

	finding_fact(j, f, "gpu.compute_capability", &j->s->gpus[gpu].compute_capability, NULL);
	finding_evidence(j, f, "torch.arch_list", list_text(j, archs),
			 arena_printf(j->a, "sm_%d", cc), archs->source);
	finding_fact(j, f, "torch.version", &p->torch.version, NULL);
	if (archs->from_table)
		finding_inferred(f);
}

static void no_code(struct judge *j, const struct python *p, size_t gpu,
		    const struct look_archs *archs)
{
	const struct gpu *g = &j->s->gpus[gpu];
	int low, high, cc = look_cc(g);
	struct finding *f;

	if (!list_range(archs, &low, &high)) {
		judge_skip(j, "torch.arch_list", "%s", _("the arch list cannot be read"));
		return;
	}
	/* A gap in the middle of the list is a chip that came after the ones below it. */
	f = finding_add(j, cc < low ? FINDING_GPU_TOO_OLD_FOR_BUILD : FINDING_GPU_TOO_NEW_FOR_BUILD,
			subject_of(j, p, gpu));
	if (cc < low)
		finding_message(j, f,
				_("%s has compute capability %s; torch %s holds code from %s up."),
				name_of(j, gpu), cc_text(j->a, cc), p->torch.version.value,
				cc_text(j->a, low));
	else if (cc > high)
		finding_message(
			j, f,
			_("%s has compute capability %s; torch %s holds code up to %s and no PTX "
			  "that fits."),
			name_of(j, gpu), cc_text(j->a, cc), p->torch.version.value,
			cc_text(j->a, high));
	else
		finding_message(
			j, f,
			_("%s has compute capability %s; torch %s holds no code that runs on it."),
			name_of(j, gpu), cc_text(j->a, cc), p->torch.version.value);
	arch_evidence(j, f, p, gpu, archs);
	remedy_torch(j, f, p);
}

static void only_ptx(struct judge *j, const struct python *p, size_t gpu,
		     const struct look_archs *archs, const char *entry)
{
	const char *cuda = look_torch_cuda(j, &p->torch), *ceiling;
	struct fact ceiling_fact = { 0 };
	struct finding *f;
	bool inferred;

	ceiling = look_ceiling(j, &ceiling_fact, &inferred);
	if (!cuda || !ceiling) {
		judge_skip(j, "driver.cuda_ceiling", "%s",
			   _("the driver's newest CUDA, or the build's, is not known"));
		return;
	}
	if (version_at_least(ceiling, cuda))
		return;
	f = finding_add(j, FINDING_PTX_NEWER_THAN_DRIVER, subject_of(j, p, gpu));
	finding_message(
		j, f,
		_("torch %s has only PTX (%s) of CUDA %s for this GPU, and the driver compiles "
		  "PTX up to CUDA %s."),
		p->torch.version.value, entry ? entry : "PTX", cuda, ceiling);
	finding_fact(j, f, "driver.cuda_ceiling", &ceiling_fact, arena_printf(j->a, ">= %s", cuda));
	arch_evidence(j, f, p, gpu, archs);
	if (inferred)
		finding_inferred(f);
	newer_or_older(j, f, p, cuda);
}

/*
 * A build that was only named has no binary to look into: whether it has code for the GPU is the
 * question itself, and an answer that leaves it open is no pass.
 */
static void codes_unknown(struct judge *j, const struct python *p)
{
	struct finding *f;
	bool any = false;
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++)
		any = any || (look_gpu_used(j->s, i) && look_cc(&j->s->gpus[i]) > 0);
	if (!any || !look_declared(&p->torch) || p != look_deciding(j->s) || look_is_tegra(j))
		return;
	f = finding_add(j, FINDING_INSUFFICIENT_EVIDENCE, look_prefix(p));
	f->severity = SEVERITY_INFO;
	finding_message(j, f,
			_("The matrix does not hold for which GPUs torch %s was built, and there "
			  "is no binary of it here that says so."),
			p->torch.version.value);
	finding_fact(j, f, "torch.version", &p->torch.version, _("a build with a known arch list"));
	judge_ask(j, "%s", "python -c 'import torch; print(torch.cuda.get_arch_list())'");
}

static void code_in(struct judge *j, const struct python *p)
{
	struct look_archs archs;
	const char *entry;
	size_t i;

	if (look_unpublished(j, p))
		return;
	if (!look_torch_cuda(j, &p->torch)) {
		/* Newer than the matrix and named without a variant: it may be any build. */
		if (!look_torch_variant(j, &p->torch))
			codes_unknown(j, p);
		return;
	}
	if (!look_torch_archs(j, &p->torch, &archs)) {
		judge_skip(
			j, "torch.arch_list",
			_("neither the binary nor the matrix says for which GPUs torch %s was "
			  "built"),
			p->torch.version.value);
		codes_unknown(j, p);
		return;
	}
	for (i = 0; i < j->s->n_gpus; i++) {
		int cc = look_cc(&j->s->gpus[i]);

		if (!look_gpu_used(j->s, i))
			continue;
		if (cc < 0) {
			judge_skip(j, "gpu.compute_capability", _("not known for %s"),
				   gpu_subject(j, i));
			continue;
		}
		switch (compat_arch_fit(archs.list, archs.n, cc, &entry)) {
		case ARCH_FIT_SASS:
			break;
		case ARCH_FIT_PTX:
			only_ptx(j, p, i, &archs, entry);
			break;
		case ARCH_FIT_NONE:
			no_code(j, p, i, &archs);
			break;
		}
	}
}

static void run_torch_gpu(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->s->n_pythons; i++)
		if (fact_known(&j->s->pythons[i].torch.version))
			code_in(j, &j->s->pythons[i]);
}

const struct rule rule_driver_too_old = {
	.name = "driver-too-old",
	.needs = NEED_TORCH,
	.layer = LAYER_DRIVER,
	.run = run_driver_too_old,
};
const struct rule rule_torch_gpu = {
	.name = "gpu-too-new-for-build",
	.needs = NEED_GPU | NEED_TORCH,
	.layer = LAYER_FRAMEWORK,
	.run = run_torch_gpu,
};

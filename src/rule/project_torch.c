/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the PyTorch that project files would install: driver, GPU, CUDA at all. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "rule/project.h"
#include "rule/rules.h"

static const char *build_name(struct judge *j, const struct wanted *w)
{
	const char *variant = fact_value(&w->variant, NULL);

	if (!variant || strcmp(variant, "cuda") == 0 || strchr(fact_value(&w->version, ""), '+'))
		return fact_value(&w->version, "");
	return arena_printf(j->a, "%s+%s", fact_value(&w->version, ""), variant);
}

/* The arch list of the build: by table, of pip's or of conda's. */
static bool archs_of(struct judge *j, const struct planned *p, const struct wanted *w,
		     const char *const **ret, size_t *ret_n)
{
	const struct torch_row *row;
	const char *channel = fact_value(&w->channel, NULL), *cuda = fact_value(&w->cuda, NULL);
	const char *version = fact_value(&w->version, NULL), *v, *to;
	size_t i, n = compat_count(j->c, "torch_conda");

	if (!version)
		return false;
	if (!channel) {
		row = compat_torch(j->c, version, fact_value(&p->platform, ""),
				   fact_value(&w->variant, ""));
		*ret = row ? (const char *const *)row->arch_list : NULL;
		*ret_n = row ? row->n_arch : 0;
		return *ret != NULL;
	}
	for (i = compat_find(j->c, "torch_conda", 0, "channel", channel); i < n && cuda;
	     i = compat_find(j->c, "torch_conda", i + 1, "channel", channel)) {
		const struct json *r = compat_row(j->c, "torch_conda", i);

		v = json_get_str(r, "version");
		to = json_get_str(r, "to");
		if (!v || version_cmp_str(version, v) < 0 ||
		    version_cmp_str(version, to ? to : v) > 0)
			continue;
		*ret = json_str_list(j->a, json_get(json_get(r, "arch_lists"), cuda), ret_n);
		if (*ret)
			return true;
	}
	return false;
}

/* Does this build run on all GPUs with the driver? NULL: it does, else the finding's name. */
static enum finding_id unfit(struct judge *j, const struct planned *p, const struct wanted *w,
			     long *ret_gpu, const char **ret_least)
{
	const char *const *archs;
	bool old;
	size_t n;

	*ret_gpu = -1;
	*ret_least = NULL;
	if (project_driver_below(j, p, fact_value(&w->cuda, NULL), ret_least))
		return FINDING_DRIVER_TOO_OLD;
	if (!archs_of(j, p, w, &archs, &n))
		return FINDING_COUNT;
	*ret_gpu = project_gpu_unfit(j, archs, n, &old);
	if (*ret_gpu < 0)
		return FINDING_COUNT;
	return old ? FINDING_GPU_TOO_OLD_FOR_BUILD : FINDING_GPU_TOO_NEW_FOR_BUILD;
}

static void index_line(struct judge *j, struct finding *f, const struct wanted *w)
{
	if (fact_known(&w->index) && strcmp(w->index.source, w->name.source) != 0)
		finding_fact(j, f, "index", &w->index, NULL);
}

static void too_old_driver(struct judge *j, const struct planned *p, const struct wanted *w,
			   const char *least)
{
	struct finding *f = project_finding(j, FINDING_DRIVER_TOO_OLD, p, "torch", &w->text, NULL);

	finding_message(
		j, f,
		_("torch %s would be installed, which is built for CUDA %s and needs driver %s; "
		  "the target has %s."),
		build_name(j, w), w->cuda.value, least, look_cuda_driver(j->s)->value);
	index_line(j, f, w);
	finding_fact(j, f, "driver.version", look_cuda_driver(j->s), least);
	project_fix_torch(j, f, p, w);
	project_fix_driver(j, f, w->cuda.value);
}

static void wrong_gpu(struct judge *j, const struct planned *p, const struct wanted *w,
		      enum finding_id id, long gpu)
{
	const struct gpu *g = &j->s->gpus[gpu];
	struct finding *f = project_finding(j, id, p, "torch", &w->text, NULL);

	finding_message(
		j, f,
		_("torch %s would be installed, which has no code for %s (compute capability %s)."),
		build_name(j, w), gpu_subject(j, (size_t)gpu),
		fact_value(&g->compute_capability, "?"));
	index_line(j, f, w);
	finding_fact(j, f, "gpu.compute_capability", &g->compute_capability, NULL);
	project_fix_torch(j, f, p, w);
}

/* -------- builds without CUDA */

/* For releases that cudatoolkit chooses: name the toolkits that the channel was built for. */
static bool conda_toolkit(struct judge *j, struct finding *f, const struct wanted *w)
{
	const char *version = fact_value(&w->version, NULL);
	size_t i, n = compat_count(j->c, "torch_conda");

	if (!version || version_at_least(version, "1.13"))
		return false;
	for (i = compat_find(j->c, "torch_conda", 0, "channel", "pytorch"); i < n;
	     i = compat_find(j->c, "torch_conda", i + 1, "channel", "pytorch")) {
		const struct json *row = compat_row(j->c, "torch_conda", i), *v;

		if (!json_get_str(row, "version") ||
		    strcmp(json_get_str(row, "version"), version) != 0)
			continue;
		for (v = json_first(json_get(row, "cuda_builds")); v; v = json_next(v)) {
			struct remedy *r = finding_remedy(
				j, f, _("PyTorch %s was built for this one:"), version);

			remedy_command(j, r, "cudatoolkit=%s", json_str(v) ? json_str(v) : "");
			r->risk = RISK_SAFE;
		}
		return true;
	}
	return false;
}

static const char *conda_cpu_message(struct judge *j, const struct wanted *w)
{
	if (fact_is(&w->fault, "toolkit"))
		return arena_printf(
			j->a,
			_("The channel has no build of PyTorch %s for this cudatoolkit: what "
			  "can be solved is the CPU build."),
			fact_value(&w->version, ""));
	if (!fact_is(&w->fault, "cpu-solve"))
		return _("This asks for the CPU build of PyTorch.");
	if (fact_is(&w->tool, "pixi"))
		return _("Without a declared CUDA (system-requirements) pixi solves for a machine "
			 "without a GPU and takes the CPU build of PyTorch.");
	if (fact_is(&w->channel, "pytorch"))
		return _(
			"From 1.13 on pytorch-cuda (with the nvidia channel) chooses the CUDA build of "
			"the pytorch channel; without it the CPU build is installed.");
	return _(
		"Where this is solved no driver is seen (__cuda), or it is too old for every build: "
		"conda takes the CPU build of PyTorch.");
}

static void conda_cpu(struct judge *j, const struct planned *p, const struct wanted *w)
{
	struct finding *f =
		project_finding(j, FINDING_CPU_ONLY_CONDA_BUILD, p, "torch", &w->variant, NULL);
	bool pixi = fact_is(&w->tool, "pixi"), forge = fact_is(&w->channel, "conda-forge");
	struct remedy *r;

	f->evidence->seen = project_text(w);
	if (strcmp(w->text.source, w->variant.source) != 0)
		finding_fact(j, f, "pytorch", &w->text, NULL);
	finding_message(j, f, "%s", conda_cpu_message(j, w));
	if (!pixi && !forge && !conda_toolkit(j, f, w)) {
		r = finding_remedy(
			j, f, "%s",
			_("Name the CUDA build: pytorch-cuda beside pytorch, and the nvidia channel "
			  "behind pytorch; and leave cpuonly out."));
		remedy_command(j, r, "channels: [pytorch, nvidia]");
		remedy_command(j, r, "dependencies: [pytorch, pytorch-cuda=12.1]");
		r->risk = RISK_SAFE;
	}
	project_fix_torch(j, f, p, w);
	if (pixi || !forge)
		return;
	r = finding_remedy(j, f, "%s",
			   _("Where it is built without a GPU, declare the CUDA of the target."));
	remedy_command(j, r, "ENV CONDA_OVERRIDE_CUDA=12.4");
	r->risk = RISK_SAFE;
}

/* Another framework has the GPU: jax or TensorFlow with the extra that brings CUDA. */
static bool gpu_elsewhere(const struct planned *p)
{
	const struct wanted *jax = project_package(p, "jax");
	const struct wanted *tensorflow = project_package(p, "tensorflow");

	return (jax && view_find(view_of(fact_value(&jax->extras, "")), "cuda") >= 0) ||
	       (tensorflow && project_extra(tensorflow, "and-cuda"));
}

static void without_cuda(struct judge *j, const struct planned *p, const struct wanted *w)
{
	bool own_index = fact_known(&w->index) && strstr(w->index.value, "/cpu");
	bool elsewhere = project_aarch64(p) || fact_is(&p->platform, "macos_arm64");
	struct finding *f;

	if (!look_has_nvidia(j->s))
		return;
	if (fact_known(&w->channel)) {
		conda_cpu(j, p, w);
		return;
	}
	f = project_finding(
		j, elsewhere && !own_index ? FINDING_CPU_ONLY_PLATFORM : FINDING_CPU_ONLY_WHEEL, p,
		"torch", &w->text, NULL);
	/* Chosen for the CPU, to read data or to convert. */
	if (own_index && gpu_elsewhere(p))
		f->severity = SEVERITY_WARNING;
	finding_message(
		j, f,
		_("torch %s would be installed, which has no CUDA code: %s serves it for %s."),
		build_name(j, w), fact_value(&w->index, "the index"),
		fact_value(&p->platform, "this platform"));
	index_line(j, f, w);
	project_fix_torch(j, f, p, w);
}

/* -------- a later package that takes another torch */

/* Did the build that was there fit? */
static bool old_fits(struct judge *j, const struct planned *p, const struct wanted *w)
{
	struct wanted old = { 0 };
	struct view variant, version = view_cut(view_of(w->replaces.value), '+', &variant);
	const char *cu, *least;
	long gpu;

	fact_set(&old.version, view_dup(j->a, version), "");
	fact_set(&old.variant, view_dup(j->a, variant), "");
	cu = version_of_cu_tag(j->a, old.variant.value);
	if (!cu)
		return false;
	fact_set(&old.cuda, cu, "");
	return unfit(j, p, &old, &gpu, &least) == FINDING_COUNT;
}

static void replaced(struct judge *j, const struct planned *p, const struct wanted *w, bool cpu,
		     enum severity severity)
{
	struct finding *f = project_finding(j,
					    cpu ? FINDING_CPU_ONLY_REPLACED_BY_DEPENDENCY
						: FINDING_TORCH_REPLACED_BY_DEPENDENCY,
					    p, "torch", &w->because, NULL);
	struct remedy *r;

	f->severity = severity;
	finding_message(j, f, _("%s puts torch %s in the place of the chosen %s."),
			w->because.value, build_name(j, w), w->replaces.value);
	finding_fact(j, f, "torch.replaced", &w->replaces, NULL);
	r = finding_remedy(
		j, f,
		_("Take a release of %s that goes with torch %s, and hold torch fast: with a constraint "
		  "(-c constraints.txt holding \"torch==%s\"), in one command with torch and the same "
		  "index, or with --no-deps."),
		w->because.value, w->replaces.value, w->replaces.value);
	r->risk = RISK_SAFE;
	if (view_find(view_of(w->replaces.value), "+cu") > 0) {
		struct view rest, version = view_cut(view_of(w->replaces.value), '+', &rest);

		remedy_command(
			j, r,
			"pip install torch==%s %s --index-url https://download.pytorch.org/whl/%s",
			view_dup(j->a, version), w->because.value, view_dup(j->a, rest));
	}
}

/* -------- the rule */

static void judge_torch(struct judge *j, const struct planned *p, const struct wanted *w)
{
	bool cpu = fact_known(&w->variant) && (view_starts(view_of(w->variant.value), "cpu") ||
					       fact_is(&w->variant, "xpu"));
	bool taken = fact_known(&w->replaces) && fact_known(&w->because);
	const char *least;
	enum finding_id id;
	long gpu;

	/* A machine that is lent for a job has no GPU; only a swap of builds would be a mistake. */
	if (fact_yes(&p->hosted) && !(cpu && taken))
		return;
	/* What cannot be installed has no build to be judged; the CPU's is one. */
	if (fact_known(&w->fault) && !fact_is(&w->fault, "cpu-solve") &&
	    !fact_is(&w->fault, "toolkit"))
		return;
	if (cpu && taken) {
		if (look_has_nvidia(j->s))
			replaced(j, p, w, true, SEVERITY_ERROR);
		return;
	}
	if (cpu) {
		without_cuda(j, p, w);
		return;
	}
	if (fact_known(&w->variant) && view_starts(view_of(w->variant.value), "rocm")) {
		struct finding *f;

		if (!look_has_nvidia(j->s))
			return;
		f = project_finding(j, FINDING_ROCM_BUILD_ON_NVIDIA, p, "torch", &w->text, NULL);
		index_line(j, f, w);
		project_fix_torch(j, f, p, w);
		return;
	}
	id = unfit(j, p, w, &gpu, &least);
	if (id == FINDING_COUNT)
		return;
	if (taken && old_fits(j, p, w))
		replaced(j, p, w, false, SEVERITY_ERROR);
	else if (id == FINDING_DRIVER_TOO_OLD)
		too_old_driver(j, p, w, least);
	else
		wrong_gpu(j, p, w, id, gpu);
}

static void judge_project(struct judge *j, const struct planned *p)
{
	const struct wanted *w = project_package(p, "torch");

	if (w && fact_yes(&p->final))
		judge_torch(j, p, w);
}

static void run_project_torch(struct judge *j)
{
	project_each(j, judge_project);
}

const struct rule rule_project_torch = {
	.name = "project-torch",
	.needs = NEED_PROJECT,
	.layer = LAYER_FRAMEWORK,
	.run = run_project_torch,
};

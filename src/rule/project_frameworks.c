/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about TensorFlow, JAX, CuPy and add-ons that project files would install. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "model/pep440.h"
#include "rule/project.h"
#include "rule/rules.h"

/* Row of a table whose `version` (through `to`) holds this release; series rows hold 1.20.x. */
const struct json *project_row(struct judge *j, const char *table, const char *version,
				  const char *field, const char *value)
{
	size_t i, n = compat_count(j->c, table);
	struct version v, a, b;

	if (!version || !version_prefix(view_of(version), &v))
		return NULL;
	for (i = 0; i < n; i++) {
		const struct json *row = compat_row(j->c, table, i);
		const char *first = json_get_str(row, "version"), *to = json_get_str(row, "to");
		unsigned k;

		if (field &&
		    (!json_get_str(row, field) || strcmp(json_get_str(row, field), value) != 0))
			continue;
		if (!first || !version_prefix(view_of(first), &a) ||
		    !version_prefix(view_of(to ? to : first), &b))
			continue;
		/* Compare only what the row writes: 1.20 is every 1.20.x. */
		for (k = b.n; k < VERSION_PARTS; k++)
			b.part[k] = 999999;
		if (version_cmp(&v, &a) >= 0 && version_cmp(&v, &b) <= 0)
			return row;
	}
	return NULL;
}

/* A patch release by the row of its series: 2.16.2 by 2.16.1. */
const struct json *project_tensorflow(struct judge *j, const char *version)
{
	const struct json *row = project_row(j, "tensorflow", version, "platform", "linux_x86_64");
	size_t i, n = compat_count(j->c, "tensorflow");
	struct version v, a;

	if (row || !version || !version_prefix(view_of(version), &v))
		return row;
	for (i = 0; i < n; i++) {
		const char *w = compat_text(j->c, "tensorflow", i, "version");
		const char *platform = compat_text(j->c, "tensorflow", i, "platform");

		if (w && platform && strcmp(platform, "linux_x86_64") == 0 &&
		    version_prefix(view_of(w), &a) && a.part[0] == v.part[0] &&
		    a.part[1] == v.part[1])
			return compat_row(j->c, "tensorflow", i);
	}
	return NULL;
}

/* -------- libraries of the image that a framework takes from the system */

static bool has_wheels(const struct planned *p, const char *part)
{
	size_t i;

	for (i = 0; i < p->n_packages; i++)
		if (strncmp(p->packages[i].name.value, "nvidia-", 7) == 0 &&
		    strstr(p->packages[i].name.value, part))
			return true;
	return false;
}

static void lib_finding(struct judge *j, const struct planned *p, const struct lib_need *n,
			enum finding_id id, const struct fact *image, const char *text)
{
	struct finding *f = project_finding(j, id, p, n->w->name.value, &n->w->text, NULL);
	struct remedy *r;

	finding_message(j, f, "%s", text);
	finding_evidence(j, f, "image", fact_value(image, "absent"), NULL, p->image.source);
	if (n->extra) {
		r = finding_remedy(j, f, _("Let the package bring its libraries: %s."), n->extra);
		remedy_command(j, r, "%s==%s", n->extra, fact_value(&n->w->version, "..."));
		r->risk = RISK_SAFE;
	}
	finding_remedy(j, f, "%s", n->other)->risk = RISK_SAFE;
}

/* Holds what a framework loads from the system against what the image has. */
void project_system_libraries(struct judge *j, const struct planned *p, const struct lib_need *n)
{
	const char *name = n->w->name.value,
		   *version = fact_value(&n->w->version, _("(the newest)"));
	unsigned cuda = project_major(fact_value(&p->image_cuda, NULL));
	unsigned cudnn = project_major(fact_value(&p->image_cudnn, NULL));
	bool whole = fact_is(&p->image_family, "nvidia/cuda") ||
		     fact_is(&p->image_family, "tensorflow");

	if (project_has_libraries(p) || has_wheels(p, "cudnn") || !fact_yes(&p->final) ||
	    look_is_tegra(j))
		return;
	if (fact_yes(&p->image_bare) && !project_package(p, "torch")) {
		lib_finding(
			j, p, n, FINDING_MISSING_CUDA_RUNTIME_LIB, &p->image,
			arena_printf(
				j->a,
				_("%s %s loads CUDA and cuDNN from the system, and this image has "
				  "neither: it runs on the CPU."),
				name, version));
		return;
	}
	if (!whole || !cuda)
		return;
	if (n->cuda && cuda != n->cuda) {
		lib_finding(
			j, p, n, FINDING_MISSING_CUDA_RUNTIME_LIB, &p->image,
			arena_printf(
				j->a,
				_("%s %s loads libraries of CUDA %u, and the image has CUDA %u."),
				name, version, n->cuda, cuda));
		return;
	}
	if (!n->cudnn || project_package(p, "torch"))
		return;
	if (!fact_known(&p->image_cudnn))
		lib_finding(
			j, p, n, FINDING_CUDNN_NOT_FOUND, &p->image,
			arena_printf(j->a,
				     _("%s %s loads libcudnn.so.%u, and this image has no cuDNN."),
				     name, version, n->cudnn));
	else if (cudnn && cudnn != n->cudnn)
		lib_finding(
			j, p, n, FINDING_CUDNN_MAJOR_MISMATCH, &p->image,
			arena_printf(j->a,
				     _("%s %s loads libcudnn.so.%u, and the image has cuDNN %u."),
				     name, version, n->cudnn, cudnn));
}

/* -------- TensorFlow */

/* Platforms without GPU code in the wheels; true when it was said. */
static bool tf_platform(struct judge *j, const struct planned *p, const struct wanted *w)
{
	const char *version = fact_value(&w->version, NULL);
	struct finding *f;
	struct remedy *r;

	if (fact_is(&p->platform, "linux_x86_64"))
		return false;
	if (fact_is(&p->platform, "windows_x86_64")) {
		if (version && !version_at_least(version, "2.11"))
			return true;
		f = project_finding(j, FINDING_TF_WINDOWS_NO_GPU, p, "tensorflow", &w->text, NULL);
		finding_message(j, f, "%s",
				_("TensorFlow on native Windows has no GPU support from 2.11 on."));
		r = finding_remedy(j, f, "%s",
				   _("Use WSL2, or stay at 2.10 with CUDA 11.2 and cuDNN 8.1."));
		remedy_command(j, r, "tensorflow==2.10.1");
		return true;
	}
	f = project_finding(j, FINDING_CPU_ONLY_PLATFORM, p, "tensorflow", &w->text, NULL);
	finding_message(j, f, _("TensorFlow's wheels for %s hold no CUDA code."),
			fact_value(&p->platform, "this platform"));
	finding_remedy(
		j, f, "%s",
		_("Take NVIDIA's container (nvcr.io/nvidia/tensorflow) for this platform, or the "
		  "Jetson build of it."));
	return true;
}

/* "3.9-3.12" against the Python of the project. */
static bool tf_python(struct judge *j, const struct planned *p, const struct wanted *w,
		      const struct json *row)
{
	const char *range = json_get_str(row, "python"), *dash = range ? strchr(range, '-') : NULL;
	const char *have;
	struct finding *f;
	struct version v;

	if (!fact_known(&p->python) || !dash || !fact_yes(&w->pinned) ||
	    !version_prefix(view_of(p->python.value), &v) || v.n < 2)
		return false;
	have = arena_printf(j->a, "%u.%u", v.part[0], v.part[1]);
	if (version_cmp_str(have, arena_strndup(j->a, range, (size_t)(dash - range))) >= 0 &&
	    version_cmp_str(have, dash + 1) <= 0)
		return false;
	f = project_finding(j, FINDING_PYTHON_NO_WHEEL, p, "tensorflow", &w->text, range);
	finding_message(j, f, _("tensorflow %s has wheels for Python %s, not for %s."),
			w->version.value, range, have);
	finding_fact(j, f, "python", &p->python, range);
	finding_remedy(j, f, _("Take Python %s, or a release of tensorflow for %s."), dash + 1,
		       have)
		->risk = RISK_SAFE;
	return true;
}

static bool tf_driver(struct judge *j, const struct planned *p, const struct wanted *w,
		      const char *cuda)
{
	const char *least;
	struct finding *f;
	struct remedy *r;

	if (!project_driver_below(j, p, cuda, &least))
		return false;
	f = project_finding(j, FINDING_DRIVER_TOO_OLD, p, "tensorflow", &w->text, NULL);
	finding_message(
		j, f,
		_("tensorflow %s is built for CUDA %s and needs driver %s; the target has %s."),
		w->version.value, cuda, least, look_cuda_driver(j->s)->value);
	finding_fact(j, f, "driver.version", look_cuda_driver(j->s), least);
	project_fix_driver(j, f, cuda);
	if (project_major(cuda) < 12)
		return true;
	r = finding_remedy(j, f, "%s", _("Or take the last release for CUDA 11."));
	remedy_command(j, r, "tensorflow==2.14.0");
	r->risk = RISK_SAFE;
	return true;
}

/* Newer GPUs run TensorFlow's PTX; older ones nothing of it. */
static bool tf_gpu(struct judge *j, const struct planned *p, const struct wanted *w,
		   const struct json *row)
{
	const char **archs;
	struct finding *f;
	bool old = false;
	size_t n;
	long gpu;

	archs = json_str_list(j->a, json_get(row, "arch_list"), &n);
	gpu = archs ? project_gpu_unfit(j, (const char *const *)archs, n, &old) : -1;
	if (gpu < 0 || !old)
		return false;
	f = project_finding(j, FINDING_GPU_TOO_OLD_FOR_BUILD, p, "tensorflow", &w->text, NULL);
	finding_message(j, f, _("tensorflow %s has no code for %s."), w->version.value,
			gpu_subject(j, (size_t)gpu));
	finding_remedy(j, f, "%s", _("Take an older release of tensorflow, or another GPU."));
	return true;
}

/* Until it was withdrawn it had the releases of tensorflow, for the same Pythons. */
static void tensorflow_gpu(struct judge *j, const struct planned *p, const struct wanted *w)
{
	const char *version = fact_value(&w->version, NULL);
	const struct json *row = project_tensorflow(j, version);

	if (row && !fact_known(&w->channel) && fact_is(&p->platform, "linux_x86_64") &&
	    !version_at_least(version, "2.12"))
		tf_python(j, p, w, row);
}

static void tensorflow(struct judge *j, const struct planned *p, const struct wanted *w)
{
	const struct json *row = project_tensorflow(j, fact_value(&w->version, NULL));
	struct lib_need need = { .w = w, .extra = "tensorflow[and-cuda]" };
	const char *cuda;

	if (!look_has_nvidia(j->s) || fact_known(&w->channel) || tf_platform(j, p, w) || !row)
		return;
	cuda = json_get_str(row, "cuda");
	if (tf_python(j, p, w, row) || tf_driver(j, p, w, cuda) || tf_gpu(j, p, w, row) ||
	    project_extra(w, "and-cuda"))
		return;
	need.cuda = project_major(cuda);
	need.cudnn = project_major(json_get_str(row, "cudnn"));
	need.other =
		need.cudnn == 8
			? _("Or take an image whose cuDNN is 8 (cudnn8), or tensorflow 2.18 and later for "
			    "cuDNN 9.")
			: _("Or take an image with CUDA 12 and cuDNN 9 "
			    "(nvidia/cuda:12.6.3-cudnn-runtime-ubuntu22.04).");
	if (!json_is_true(json_get(row, "and_cuda"))) {
		need.extra = NULL;
		need.other = _("Take an image with CUDA 11 and cuDNN 8 "
			       "(nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04), or "
			       "tensorflow[and-cuda] 2.14 or later, which brings both.");
	}
	project_system_libraries(j, p, &need);
}

static void tensorflow_cpu(struct judge *j, const struct planned *p, const struct wanted *w)
{
	struct finding *f;

	/* Beside the framework that computes, it was chosen so that it takes no GPU memory. */
	if (!look_has_nvidia(j->s) || project_package(p, "torch") || project_package(p, "jax"))
		return;
	f = project_finding(j, FINDING_CPU_ONLY_WHEEL, p, "tensorflow-cpu", &w->text, NULL);
	finding_message(j, f, "%s", _("tensorflow-cpu has no CUDA code."));
	remedy_command(j, finding_remedy(j, f, "%s", _("Write the package with GPU code.")),
		       "tensorflow[and-cuda]");
}

/* -------- JAX */

static const char *jax_flavour(const struct planned *p, const struct wanted *w)
{
	if (project_extra(w, "cuda13") || project_extra(w, "cuda13-local") ||
	    project_package(p, "jax-cuda13-plugin"))
		return "cuda13";
	if (project_extra(w, "cuda12") || project_extra(w, "cuda12-pip") ||
	    project_extra(w, "cuda12-local") || project_extra(w, "cuda") ||
	    project_package(p, "jax-cuda12-plugin"))
		return "cuda12";
	if (project_extra(w, "cuda11-pip") || project_extra(w, "cuda11-local") ||
	    project_extra(w, "cuda11"))
		return "cuda11";
	return NULL;
}

/* The row's extras hold this one, with "_" and "-" alike. */
static bool names_extra(const struct json *row, struct view extra)
{
	const struct json *v;
	size_t i;

	for (v = json_first(json_get(row, "extras")); v; v = json_next(v)) {
		const char *s = json_str(v);

		for (i = 0; s && i < extra.n && s[i]; i++)
			if (s[i] != extra.p[i] && !(strchr("_-", s[i]) && strchr("_-", extra.p[i])))
				break;
		if (s && i == extra.n && !s[i])
			return true;
	}
	return false;
}

/* An extra for CUDA is asked for by a name that this release does not have, and by no other. */
static const char *lost_extra(struct judge *j, const struct json *row, const struct wanted *w)
{
	struct view rest = view_of(fact_value(&w->extras, "")), one, lost = { 0 };
	size_t i = compat_count(j->c, "jax");

	/* Of the newest it is not known yet: as the one before. */
	while (!json_get(row, "extras") && i-- > 0)
		row = compat_row(j->c, "jax", i);
	while (rest.n) {
		one = view_cut(rest, ',', &rest);
		if (!view_starts(one, "cuda"))
			continue;
		if (names_extra(row, one))
			return NULL;
		lost = one;
	}
	return lost.n ? view_dup(j->a, lost) : NULL;
}

/* Of a flavour. */
static bool has_extra(const struct json *row, const char *flavour)
{
	const struct json *v;

	if (!json_get(row, "extras"))
		return true;
	for (v = json_first(json_get(row, "extras")); v; v = json_next(v))
		if (json_str(v) && strncmp(json_str(v), flavour, 6) == 0)
			return true;
	return false;
}

static void jax_cpu(struct judge *j, const struct planned *p, const struct wanted *w,
		    const char *lost)
{
	struct finding *f = project_finding(j, FINDING_JAX_CPU_ONLY, p, "jax", &w->text, NULL);
	const struct fact *driver = look_cuda_driver(j->s);
	const char *best =
		driver && look_driver_below(driver->value, "580.65.06") ? "cuda12" : "cuda13";
	const char *version = fact_value(&w->version, NULL);
	struct remedy *r;

	if (lost)
		finding_message(j, f,
				_("jax %s has no extra %s: pip warns and installs the CPU build."),
				version ? version : "", lost);
	else
		finding_message(j, f, "%s",
				_("Without an extra for CUDA jax comes with the CPU build alone."));
	if (version && !version_at_least(version, "0.7.1"))
		best = "cuda12";
	r = finding_remedy(j, f, "%s", _("Ask for the CUDA plugin."));
	if (fact_yes(&w->pinned) && version)
		remedy_command(j, r, "jax[%s]==%s", best, version);
	else
		remedy_command(j, r, "jax[%s]", best);
	if (!strpbrk(project_text(w), ";@[ ") &&
	    (fact_yes(&w->pinned) || !strpbrk(project_text(w), "<>=!~")))
		remedy_correct(j, r, &w->text, project_text(w), r->commands[0]);
	r->risk = RISK_SAFE;
	if (lost && strncmp(lost, "cuda11", 6) == 0)
		finding_remedy(j, f, "%s", _("The extras for CUDA 11 ended with jax 0.4.25."))
			->risk = RISK_SAFE;
}

static void jax_python(struct judge *j, const struct planned *p, const struct wanted *w,
		       const struct json *row)
{
	const char *range = json_get_str(row, "python");
	struct finding *f;

	if (!range || !fact_yes(&w->pinned) || !fact_known(&p->python) ||
	    pep440_text_holds(j->a, range, p->python.value))
		return;
	f = project_finding(j, FINDING_PYTHON_NO_WHEEL, p, "jax", &w->text, range);
	finding_message(j, f, _("jax %s needs Python %s; here it is %s."),
			fact_value(&w->version, ""), range, p->python.value);
	finding_fact(j, f, "python", &p->python, range);
	finding_remedy(j, f, "%s",
		       _("Take a Python that it supports, or an older release of jax."));
}

static bool jax_driver(struct judge *j, const struct planned *p, const struct wanted *w,
		       const char *flavour)
{
	bool thirteen = strcmp(flavour, "cuda13") == 0;
	const char *cuda = thirteen ? "13.0" : strcmp(flavour, "cuda12") == 0 ? "12.1" : "11.8";
	const char *least;
	struct finding *f;
	struct remedy *r;

	if (!project_driver_below(j, p, cuda, &least))
		return false;
	f = project_finding(j, FINDING_DRIVER_TOO_OLD, p, "jax", &w->text, NULL);
	finding_message(j, f, _("The %s extra of jax needs driver %s; the target has %s."), flavour,
			least, look_cuda_driver(j->s)->value);
	finding_fact(j, f, "driver.version", look_cuda_driver(j->s), least);
	if (thirteen) {
		r = finding_remedy(j, f, "%s",
				   _("Take the extra for CUDA 12 of the same release."));
		remedy_command(j, r, fact_yes(&w->pinned) ? "jax[cuda12]==%s" : "jax[cuda12]",
			       fact_value(&w->version, ""));
		r->risk = RISK_SAFE;
	}
	project_fix_driver(j, f, cuda);
	return true;
}

static void jax_gpu(struct judge *j, const struct planned *p, const struct wanted *w,
		    const struct json *row, const char *flavour)
{
	const struct json *mins = row ? json_get(row, "cc_min") : NULL;
	const char *cc = mins ? json_get_str(mins, flavour) : NULL;
	struct finding *f;
	size_t i;

	if (mins && !cc)
		cc = json_get_str(mins, "any");
	for (i = 0; cc && i < j->s->n_gpus; i++) {
		const struct gpu *g = &j->s->gpus[i];

		if (look_cc(g) <= 0 || look_cc(g) >= cc_parse(cc))
			continue;
		f = project_finding(j, FINDING_GPU_TOO_OLD_FOR_BUILD, p, "jax", &w->text, NULL);
		finding_message(j, f, _("jax %s with %s needs compute capability %s; %s has %s."),
				fact_value(&w->version, ""), flavour, cc, gpu_subject(j, i),
				fact_value(&g->compute_capability, "?"));
		remedy_command(j,
			       finding_remedy(j, f, "%s",
					      _("Take the extra for CUDA 12, or another GPU.")),
			       "jax[cuda12]");
		return;
	}
}

/* Are GPU parts there that no extra names? */
static bool jax_otherwise(const struct planned *p, const struct wanted *w)
{
	const struct wanted *lib = project_package(p, "jaxlib");

	/* Old releases had GPU builds of jaxlib itself, by a local label or a page of links. */
	return (lib && strstr(fact_value(&lib->version, ""), "cuda")) ||
	       project_package(p, "jax-cuda12-pjrt") || project_package(p, "jax-cuda13-pjrt") ||
	       (fact_known(&w->index) && strstr(w->index.value, "jax") && !jax_flavour(p, w));
}

static bool gpu_elsewhere(const struct planned *p)
{
	const struct wanted *torch = project_package(p, "torch");
	const struct wanted *tensorflow = project_package(p, "tensorflow");

	return (torch && fact_known(&torch->cuda)) ||
	       (tensorflow && project_extra(tensorflow, "and-cuda"));
}

static void jax(struct judge *j, const struct planned *p, const struct wanted *w)
{
	const char *flavour = jax_flavour(p, w);
	const struct json *row = project_row(j, "jax", fact_value(&w->version, NULL), NULL, NULL);

	if (!look_has_nvidia(j->s) || fact_known(&w->channel) || look_is_tegra(j))
		return;
	/* "cuda" was CUDA 11 until there was a 12. */
	if (flavour && strcmp(flavour, "cuda12") == 0 && project_extra(w, "cuda") && row &&
	    !has_extra(row, "cuda12") && has_extra(row, "cuda11"))
		flavour = "cuda11";
	if (row)
		jax_python(j, p, w, row);
	/* Chosen for the CPU, beside what runs on the GPU. */
	if (project_extra(w, "cpu") && !flavour && gpu_elsewhere(p))
		return;
	if (jax_otherwise(p, w))
		return;
	if (!flavour || !project_linux(p))
		jax_cpu(j, p, w, NULL);
	else if (row && !has_extra(row, flavour))
		jax_cpu(j, p, w, flavour);
	else if (row && lost_extra(j, row, w))
		jax_cpu(j, p, w, lost_extra(j, row, w));
	else if (!jax_driver(j, p, w, flavour))
		jax_gpu(j, p, w, row, flavour);
}

static void judge_project(struct judge *j, const struct planned *p)
{
	static const struct {
		const char *name;
		void (*fn)(struct judge *j, const struct planned *p, const struct wanted *w);
	} judges[] = {
		{ .name = "tensorflow", .fn = tensorflow },
		{ .name = "tensorflow-cpu", .fn = tensorflow_cpu },
		{ .name = "tensorflow-gpu", .fn = tensorflow_gpu },
		{ .name = "jax", .fn = jax },
		{ .name = "onnxruntime-gpu", .fn = project_onnxruntime },
		{ .name = "bitsandbytes", .fn = project_bitsandbytes },
		{ .name = "ctranslate2", .fn = project_ctranslate2 },
		{ .name = "faster-whisper", .fn = project_ctranslate2 },
	};
	size_t k, m;

	if (!fact_yes(&p->final) || fact_yes(&p->hosted))
		return;
	for (k = 0; k < p->n_packages; k++) {
		const struct wanted *w = &p->packages[k];

		if (fact_known(&w->clash))
			continue;
		for (m = 0; m < ARRAY_LEN(judges); m++)
			if (fact_is(&w->name, judges[m].name))
				judges[m].fn(j, p, w);
		if (strncmp(w->name.value, "cupy-", 5) == 0)
			project_cupy(j, p, w);
		if (fact_is(&w->name, "flash-attn"))
			project_least_cc(j, p, w, FINDING_GPU_FEATURE_UNSUPPORTED);
		if (fact_is(&w->name, "vllm"))
			project_vllm(j, p, w);
		if (fact_is(&w->name, "xformers"))
			project_least_cc(j, p, w, FINDING_EXTENSION_MISSING_GPU_ARCH);
	}
}

static void run_project_frameworks(struct judge *j)
{
	project_each(j, judge_project);
}

const struct rule rule_project_frameworks = {
	.name = "project-frameworks",
	.needs = NEED_PROJECT,
	.layer = LAYER_FRAMEWORK,
	.run = run_project_frameworks,
};

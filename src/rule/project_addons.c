/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about CuPy, bitsandbytes, xformers and flash-attn that project files would install. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "model/pep440.h"
#include "rule/project.h"

void project_cupy(struct judge *j, const struct planned *p, const struct wanted *w)
{
	const char *name = w->name.value, *digits = name + strcspn(name, "0123456789"), *least;
	unsigned major = project_major(arena_strndup(j->a, digits, strlen(digits) >= 2 ? 2 : 0));
	struct finding *f;
	size_t i;

	if (strncmp(name, "cupy-cuda", 9) != 0 || major < 11 || !look_has_nvidia(j->s))
		return;
	if (project_driver_below(j, p, arena_printf(j->a, "%u.%s", major, major == 11 ? "2" : "0"),
				 &least)) {
		f = project_finding(j, FINDING_DRIVER_TOO_OLD, p, name, &w->text, NULL);
		finding_message(j, f, _("%s needs driver %s; the target has %s."), name, least,
				look_cuda_driver(j->s)->value);
		finding_fact(j, f, "driver.version", look_cuda_driver(j->s), least);
		finding_remedy(j, f, _("Take cupy-cuda%ux, for the CUDA of the driver."), major - 1)
			->risk = RISK_SAFE;
		project_fix_driver(j, f, arena_printf(j->a, "%u.0", major));
		return;
	}
	for (i = 0; major >= 13 && i < j->s->n_gpus; i++)
		if (look_cc(&j->s->gpus[i]) > 0 && look_cc(&j->s->gpus[i]) < 75) {
			f = project_finding(j, FINDING_GPU_TOO_OLD_FOR_BUILD, p, name, &w->text,
					    NULL);
			finding_message(j, f, _("CUDA 13 has no code for %s."), gpu_subject(j, i));
			remedy_command(
				j, finding_remedy(j, f, "%s", _("Take the package for CUDA 12.")),
				"cupy-cuda12x");
			return;
		}
	if (fact_is(&p->image_family, "nvidia/cuda") &&
	    project_major(fact_value(&p->image_cuda, NULL)) &&
	    project_major(fact_value(&p->image_cuda, NULL)) != major && !project_extra(w, "ctk") &&
	    !project_has_libraries(p) && !fact_is(&p->image_flavor, "base")) {
		f = project_finding(j, FINDING_MISSING_CUDA_RUNTIME_LIB, p, name, &w->text, NULL);
		finding_message(j, f,
				_("%s loads libraries of CUDA %u, and the image has CUDA %s."),
				name, major, p->image_cuda.value);
		finding_fact(j, f, "image", &p->image, NULL);
		remedy_command(
			j, finding_remedy(j, f, "%s", _("Take the package for the image's CUDA.")),
			"cupy-cuda%ux", project_major(p->image_cuda.value));
	}
}

/* CUDA of a library in the wheel is that of torch; from 0.50 on any of the same major does. */
static bool bnb_has(const struct json *row, const char *version, const char *cuda)
{
	const struct json *v;
	struct version want, have;

	if (!version_prefix(view_of(cuda), &want))
		return true;
	for (v = json_first(json_get(row, "cuda_builds")); v; v = json_next(v))
		if (json_str(v) && version_prefix(view_of(json_str(v)), &have) &&
		    have.part[0] == want.part[0] &&
		    (have.part[1] == want.part[1] || version_at_least(version, "0.50")))
			return true;
	return false;
}

void project_bitsandbytes(struct judge *j, const struct planned *p, const struct wanted *w)
{
	const struct wanted *torch = project_package(p, "torch");
	const char *version = fact_value(&w->version, NULL), *cuda, *good = NULL;
	size_t i, n = compat_count(j->c, "addon"), at = n;
	struct finding *f;
	struct remedy *r;

	if (!version || !torch || !fact_known(&torch->cuda) || !fact_known(&torch->version) ||
	    project_var(p, "BNB_CUDA_VERSION") || fact_known(&torch->fault))
		return;
	cuda = torch->cuda.value;
	for (i = compat_find(j->c, "addon", 0, "package", "bitsandbytes"); i < n;
	     i = compat_find(j->c, "addon", i + 1, "package", "bitsandbytes")) {
		const struct json *row = compat_row(j->c, "addon", i);
		const char *v = json_get_str(row, "version");

		if (v && strcmp(v, version) == 0)
			at = i;
		if (v && bnb_has(row, v, cuda))
			good = v;
	}
	if (at == n || bnb_has(compat_row(j->c, "addon", at), version, cuda))
		return;
	f = project_finding(j, FINDING_EXTENSION_NO_BUILD_FOR_CUDA, p, "bitsandbytes", &w->text,
			    NULL);
	finding_message(
		j, f,
		_("bitsandbytes %s holds no library for CUDA %s, which torch %s is built for."),
		version, cuda, torch->version.value);
	finding_fact(j, f, "torch", &torch->text, NULL);
	if (good) {
		r = finding_remedy(j, f, "%s", _("Take a release that has one."));
		remedy_command(j, r, "bitsandbytes==%s", good);
		r->risk = RISK_SAFE;
	}
	finding_remedy(j, f, _("Or a torch of a CUDA that this release has, such as cu126."))
		->risk = RISK_SAFE;
}

static const struct json *addon_row(struct judge *j, const char *package, const char *version)
{
	size_t i, n = compat_count(j->c, "addon");
	struct pep440 v, a, b;
	const struct json *newest = NULL;

	for (i = compat_find(j->c, "addon", 0, "package", package); i < n;
	     i = compat_find(j->c, "addon", i + 1, "package", package)) {
		const struct json *row = compat_row(j->c, "addon", i);
		const char *first = json_get_str(row, "version"), *to = json_get_str(row, "to");

		newest = row;
		if (!version || !first || !pep440_parse(view_of(version), &v) ||
		    !pep440_parse(view_of(first), &a) ||
		    !pep440_parse(view_of(to ? to : first), &b))
			continue;
		if (pep440_cmp(&v, &a) >= 0 && pep440_cmp(&v, &b) <= 0)
			return row;
	}
	return version ? NULL : newest;
}

/* Add-ons whose code begins at a compute capability. */
void project_least_cc(struct judge *j, const struct planned *p, const struct wanted *w,
		      enum finding_id id)
{
	const char *name = w->name.value, *version = fact_value(&w->version, NULL);
	const struct json *row = addon_row(j, name, version);
	const char *cc = row ? json_get_str(row, "cc_min") : NULL;
	struct finding *f;
	size_t i;

	for (i = 0; cc && i < j->s->n_gpus; i++) {
		if (look_cc(&j->s->gpus[i]) <= 0 || look_cc(&j->s->gpus[i]) >= cc_parse(cc))
			continue;
		f = project_finding(j, id, p, name, &w->text, cc);
		finding_message(j, f, _("%s%s%s needs compute capability %s; %s has %s."), name,
				version ? " " : "", version ? version : "", cc, gpu_subject(j, i),
				fact_value(&j->s->gpus[i].compute_capability, "?"));
		finding_fact(j, f, "gpu.compute_capability", &j->s->gpus[i].compute_capability, cc);
		if (strcmp(name, "flash-attn") == 0)
			finding_remedy(
				j, f, "%s",
				_("Remove it and use PyTorch's own attention (sdpa), xformers, or "
				  "flash-attn 1.x (1.0.9) for Turing."))
				->risk = RISK_SAFE;
		else
			finding_remedy(j, f,
				       _("Take an older release of %s that has code for this GPU."),
				       name)
				->risk = RISK_SAFE;
		return;
	}
}

/* vLLM has its own kernels; they were built for 7.0 and later from its first wheels on. */
void project_vllm(struct judge *j, const struct planned *p, const struct wanted *w)
{
	struct finding *f;
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu *g = &j->s->gpus[i];

		if (look_cc(g) <= 0 || look_cc(g) >= 70 || !look_is_nvidia(g))
			continue;
		f = project_finding(j, FINDING_GPU_TOO_OLD_FOR_BUILD, p, "vllm", &w->text, "7.0");
		finding_message(j, f, _("vllm needs compute capability 7.0; %s has %s."),
				gpu_subject(j, i), fact_value(&g->compute_capability, "?"));
		finding_remedy(
			j, f, "%s",
			_("Take another server for this GPU, such as llama.cpp, or another GPU."))
			->risk = RISK_SAFE;
		return;
	}
}

/* -------- CTranslate2, which faster-whisper brings: it loads cuBLAS and cuDNN from the system */

/* The release of CTranslate2 that decides, newest first: 4.5 on cuDNN 9, 4.0 on CUDA 12. */
static const char *ctranslate2_series(struct judge *j, const struct planned *p)
{
	static const char *const last[] = { "4.6.0", "4.4.0", "3.24.0" };
	const struct wanted *own = project_package(p, "ctranslate2");
	const struct wanted *whisper = project_package(p, "faster-whisper");
	const char *spec;
	size_t i;

	if (own && fact_known(&own->version))
		return own->version.value;
	spec = own ? project_text(own) + strcspn(project_text(own), "<>=!~") : "";
	/* Below 1.0 faster-whisper holds it below 4. */
	if (!*spec && whisper && fact_known(&whisper->version) &&
	    !version_at_least(whisper->version.value, "1.0"))
		return last[2];
	for (i = 0; i < ARRAY_LEN(last); i++)
		if (!*spec || pep440_text_holds(j->a, spec, last[i]))
			return last[i];
	return NULL;
}

void project_ctranslate2(struct judge *j, const struct planned *p, const struct wanted *w)
{
	const char *version = ctranslate2_series(j, p);
	struct lib_need need = { .w = w };

	/* On an image without CUDA it may be meant for the CPU. */
	if (!version || !look_has_nvidia(j->s) || fact_yes(&p->image_bare) ||
	    (fact_is(&w->name, "faster-whisper") && project_package(p, "ctranslate2")))
		return;
	need.cuda = version_at_least(version, "4.0") ? 12 : 11;
	need.cudnn = version_at_least(version, "4.5") ? 9 : 8;
	need.other =
		_("CTranslate2 4.5 and later loads CUDA 12 and cuDNN 9, 4.0 to 4.4 CUDA 12 and "
		  "cuDNN 8, 3.24 CUDA 11 and cuDNN 8: take the release, or the image "
		  "(nvidia/cuda:12.9.1-cudnn-runtime-ubuntu22.04), that fits.");
	project_system_libraries(j, p, &need);
}

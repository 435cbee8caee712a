/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the ONNX Runtime that project files would install. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "rule/project.h"
#include "rule/rules.h"

static void ort_shadowed(struct judge *j, const struct planned *p, const struct wanted *cpu,
			 const struct wanted *gpu)
{
	struct finding *f = project_finding(j, FINDING_ONNXRUNTIME_CPU_SHADOWS_GPU, p,
					    "onnxruntime", &cpu->text, NULL);
	struct remedy *r;

	/* Both only carried along by a lock: which one is written last is not said. */
	if (fact_known(&cpu->text) && strstr(cpu->text.source, ".lock:"))
		f->severity = SEVERITY_WARNING;
	finding_message(
		j, f, "%s",
		_("onnxruntime and onnxruntime-gpu are one and the same import package: the "
		  "CPU's may hide the CUDA provider."));
	finding_fact(j, f, "onnxruntime-gpu", &gpu->text, NULL);
	r = finding_remedy(j, f, "%s",
			   _("Remove the line of onnxruntime; keep only onnxruntime-gpu."));
	remedy_command(j, r, "pip uninstall -y onnxruntime");
	remedy_correct(j, r, &cpu->text, project_text(cpu), NULL);
	r->risk = RISK_SAFE;
}

static bool ort_platform(struct judge *j, const struct planned *p, const struct wanted *gpu)
{
	struct finding *f;

	if (!project_aarch64(p) && !fact_is(&p->platform, "macos_arm64"))
		return false;
	f = project_finding(j, FINDING_CPU_ONLY_PLATFORM, p, "onnxruntime-gpu", &gpu->text, NULL);
	finding_message(j, f, _("PyPI has no wheel of onnxruntime-gpu for %s."),
			fact_value(&p->platform, "this platform"));
	finding_remedy(
		j, f, "%s",
		_("On a Jetson take the build of https://pypi.jetson-ai-lab.io; elsewhere build "
		  "it from source."));
	return true;
}

static bool ort_driver(struct judge *j, const struct planned *p, const struct wanted *gpu,
		       const struct json *row, unsigned major)
{
	const char *cuda = arena_printf(j->a, "%u.%s", major, major == 11 ? "8" : "0"), *least;
	struct finding *f;

	/* A row that was only inferred is no ground for an error. */
	if (!major || json_get_str(row, "confidence") || !project_driver_below(j, p, cuda, &least))
		return false;
	f = project_finding(j, FINDING_DRIVER_TOO_OLD, p, "onnxruntime-gpu", &gpu->text, NULL);
	finding_message(
		j, f,
		_("onnxruntime-gpu %s is built for CUDA %u and needs driver %s; the target has "
		  "%s."),
		gpu->version.value, major, least, look_cuda_driver(j->s)->value);
	finding_fact(j, f, "driver.version", look_cuda_driver(j->s), least);
	project_fix_driver(j, f, cuda);
	return true;
}

/* What else helps when the libraries are not the right ones. */
static const char *ort_other(unsigned cuda, unsigned cudnn)
{
	if (cuda == 11)
		return _(
			"Take onnxruntime-gpu 1.19 or later, which is built for CUDA 12 and cuDNN 9, or "
			"an image of CUDA 11.8 with cuDNN 8 "
			"(nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04).");
	if (cuda >= 13)
		return _(
			"Or take an image with CUDA 13 and cuDNN 9 "
			"(nvidia/cuda:13.0.2-cudnn-runtime-ubuntu24.04), or onnxruntime-gpu 1.26 and "
			"earlier for CUDA 12.");
	return cudnn >= 9
		       ? _("Or take an image with CUDA 12 and cuDNN 9 (a -cudnn- tag from 12.4.1 "
			   "on), or onnxruntime-gpu 1.18 and earlier for cuDNN 8; "
			   "nvidia-cudnn-cu12 brings cuDNN 9 as well.")
		       : _("Or take an image with cuDNN 8 (cudnn8).");
}

/* Has the image itself no library that could serve in the place of torch's? */
static bool image_without(const struct planned *p, unsigned cuda)
{
	return fact_yes(&p->final) && !project_has_libraries(p) &&
	       (fact_yes(&p->image_bare) ||
		(fact_is(&p->image_family, "nvidia/cuda") && fact_known(&p->image_cuda) &&
		 project_major(p->image_cuda.value) != cuda));
}

/* torch brings another major of CUDA than this build loads; true when it was said. */
static bool ort_other_cuda(struct judge *j, const struct planned *p, const struct lib_need *n,
			   const struct wanted *torch)
{
	unsigned has = project_major(torch->cuda.value);
	struct finding *f;

	if (!n->cuda || !has || has == n->cuda ||
	    (fact_known(&p->image_cuda) && project_major(p->image_cuda.value) == n->cuda) ||
	    project_has_libraries(p))
		return false;
	f = project_finding(j, FINDING_MISSING_CUDA_RUNTIME_LIB, p, "onnxruntime-gpu", &n->w->text,
			    NULL);
	/* Without an image the libraries may lie on the machine. */
	if (!image_without(p, n->cuda))
		f->severity = SEVERITY_WARNING;
	finding_message(
		j, f,
		_("onnxruntime-gpu %s loads libraries of CUDA %u, and torch %s brings those "
		  "of CUDA %u."),
		n->w->version.value, n->cuda, torch->version.value, has);
	finding_fact(j, f, "torch", &torch->text, NULL);
	finding_remedy(j, f, "%s", n->other)->risk = RISK_SAFE;
	return true;
}

/* With torch beside it the libraries are torch's (preload, or import torch first). */
static void ort_and_torch(struct judge *j, const struct planned *p, const struct lib_need *n,
			  const struct wanted *torch)
{
	const struct torch_row *t = compat_torch(j->c, torch->version.value,
						 fact_value(&p->platform, ""),
						 fact_value(&torch->variant, ""));
	unsigned has = t ? project_major(t->cudnn) : 0;
	struct finding *f;

	if (ort_other_cuda(j, p, n, torch))
		return;
	if (!has || !n->cudnn || has == n->cudnn || fact_known(&p->image_cudnn))
		return;
	f = project_finding(j, FINDING_CUDNN_MAJOR_MISMATCH, p, "onnxruntime-gpu", &n->w->text,
			    NULL);
	if (!fact_yes(&p->image_bare) || !fact_yes(&p->final) || project_has_libraries(p))
		f->severity = SEVERITY_WARNING;
	finding_message(j, f,
			_("onnxruntime-gpu %s loads libcudnn.so.%u, and torch %s brings cuDNN %u."),
			n->w->version.value, n->cudnn, torch->version.value, has);
	finding_fact(j, f, "torch", &torch->text, NULL);
	finding_remedy(
		j, f, "%s",
		_("Take torch 2.4 or later for cuDNN 9, onnxruntime-gpu 1.18 and earlier for "
		  "cuDNN 8, or onnxruntime-gpu[cuda,cudnn]."))
		->risk = RISK_SAFE;
}

void project_onnxruntime(struct judge *j, const struct planned *p, const struct wanted *gpu)
{
	const struct wanted *cpu = project_package(p, "onnxruntime");
	const struct wanted *torch = project_package(p, "torch");
	const struct json *row =
		project_row(j, "onnxruntime", fact_value(&gpu->version, NULL), "channel", "pypi");
	struct lib_need need = { .w = gpu };
	bool windows = fact_is(&p->platform, "windows_x86_64");

	if (cpu) {
		ort_shadowed(j, p, cpu, gpu);
		return;
	}
	if (!look_has_nvidia(j->s) || ort_platform(j, p, gpu) || !row)
		return;
	need.cuda = project_major(json_get_str(row, "cuda_major"));
	need.cudnn = project_major(json_get_str(row, windows ? "cudnn_windows" : "cudnn_linux"));
	/* The extras are there from 1.21 on (microsoft/onnxruntime#23659); pip ignores others. */
	if (version_at_least(fact_value(&gpu->version, ""), "1.21"))
		need.extra = "onnxruntime-gpu[cuda,cudnn]";
	need.other = ort_other(need.cuda, need.cudnn);
	if (ort_driver(j, p, gpu, row, need.cuda) ||
	    (need.extra && project_extra(gpu, "cuda") && project_extra(gpu, "cudnn")))
		return;
	if (torch && fact_known(&torch->version) && fact_known(&torch->cuda) &&
	    !fact_known(&torch->channel))
		ort_and_torch(j, p, &need, torch);
	else
		project_system_libraries(j, p, &need);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Remedies of a pasted text about compiled add-ons that lack CUDA code or code for the GPU. */
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/mend.h"

/* "8.6", of the GPU that the text names; NULL: not known. */
static const char *target(struct triage *t)
{
	const char *cc =
		t->j->s->n_gpus ? fact_value(&t->j->s->gpus[0].compute_capability, NULL) : NULL;

	return cc && strspn(cc, "0123456789.") == strlen(cc) ? cc : NULL;
}

static void targets(struct triage *t, struct remedy *r)
{
	if (target(t))
		remedy_command(t->j, r, "export TORCH_CUDA_ARCH_LIST=%s", target(t));
	else
		remedy_command(t->j, r,
			       "export TORCH_CUDA_ARCH_LIST=$(python -c \"import torch; "
			       "print('%%d.%%d' %% torch.cuda.get_device_capability())\")");
}

static bool in_docker_build(struct triage *t, struct finding *f)
{
	if (!triage_has(t, "docker-build"))
		return false;
	finding_remedy(
		t->j, f,
		_("While an image is built no GPU is visible, so say it in the Dockerfile before the add-on is "
		  "compiled: `ENV FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST=\"%s\"` with the capabilities of your GPUs, in "
		  "an image with nvcc (-devel). Then build without the old layers and build directory: `docker "
		  "build --no-cache`."),
		target(t) ? target(t) : "7.5 8.0 8.6 8.9 9.0")
		->risk = RISK_SAFE;
	return true;
}

static bool without_cuda(struct triage *t, struct finding *f)
{
	const char *name = mend_add_on_name(t);
	struct remedy *r;

	if (triage_has(t, "faiss-cpu") || triage_has(t, "opencv-no-cuda") ||
	    triage_has(t, "word-llama-cpp-python") || triage_has(t, "windows"))
		return false;
	if (in_docker_build(t, f))
		return true;
	if (!name)
		return false;
	r = finding_remedy(
		t->j, f,
		_("Prefer a ready-made CUDA wheel of %s for your torch. To compile it: a toolkit of torch's CUDA "
		  "with nvcc, the GPU's capability named, the old build directory deleted."),
		name);
	targets(t, r);
	if (strncmp(name, "mmcv", 4) == 0)
		remedy_command(t->j, r, "export MMCV_WITH_OPS=1");
	remedy_command(t->j, r, "export FORCE_CUDA=1");
	if (triage_has(t, "build-from-source"))
		remedy_command(
			t->j, r,
			"rm -rf build && python -m pip install --no-build-isolation --no-cache-dir .");
	else
		remedy_command(
			t->j, r,
			"python -m pip install --no-build-isolation --no-cache-dir --force-reinstall "
			"--no-deps --no-binary %s %s",
			name, name);
	return true;
}

static bool missing_arch(struct triage *t, struct finding *f)
{
	const char *name = mend_add_on_name(t);
	struct remedy *r;

	if (!name || triage_has(t, "windows"))
		return false;
	r = finding_remedy(
		t->j, f,
		_("PyTorch is not at fault: only %s lacks code for this GPU. Take a newer release of it, whose "
		  "notes name the GPU; or compile it for the card, with a toolkit that knows it."),
		name);
	targets(t, r);
	remedy_command(
		t->j, r,
		"python -m pip install --no-build-isolation --no-cache-dir --force-reinstall --no-deps "
		"--no-binary %s %s",
		name, name);
	return true;
}

bool mend_add_on(struct triage *t, struct finding *f)
{
	switch (f->id) {
	case FINDING_EXTENSION_BUILT_WITHOUT_CUDA:
		return without_cuda(t, f);
	case FINDING_EXTENSION_MISSING_GPU_ARCH:
		return missing_arch(t, f);
	default:
		return false;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA that a package's name carries (mxnet-cu101, cupy-cuda102, .post97), or that PyTorch was
 * built with, against the GPU. Only where the text shows that a kernel or a library fails for want
 * of code; what is known of PyTorch's own lists is weighed in triage_archs.c.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/triage.h"

/* "101" is 10.1, "80" is 8.0; "12" alone names no release. PaddlePaddle says it at start. */
static const char *label_cuda(const struct triage *t)
{
	const char *v = triage_value(t, "cuda-label-of-package"),
		   *said = triage_value(t, "paddle-runtime-cuda");
	long n = v ? strtol(v, NULL, 10) : 0;

	if (said)
		return said;
	return n >= 60 && n < 200 ? arena_printf(t->j->a, "%ld.%ld", n / 10, n % 10) : NULL;
}

/* Library calls that fail on a GPU which their release has no code for, and that name no cause. */
static void label_too_old(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *cuda = label_cuda(t);
	const struct cuda_row *row = cuda ? compat_cuda(t->j->c, cuda) : NULL;
	struct finding *f;
	size_t i;

	if (!row || row->nvcc_max_cc <= 0 ||
	    !triage_holds(t, "no-kernel-image|cublas-fails|nvrtc-arch|device-kernel-image-invalid",
			  NULL))
		return;
	for (i = 0; i < s->n_gpus; i++) {
		if (look_cc(&s->gpus[i]) <= row->nvcc_max_cc)
			continue;
		f = triage_add(
			t, FINDING_GPU_TOO_NEW_FOR_BUILD, 82,
			"no-kernel-image|cublas-fails|nvrtc-arch|device-kernel-image-invalid");
		finding_fact(t->j, f, "gpu.name", &s->gpus[i].name, NULL);
		finding_message(
			t->j, f,
			_("The package was built with CUDA %s, which is older than this GPU."),
			cuda);
		return;
	}
}

/* cuFFT before CUDA 11.8 has no code for Ada and fails there, whatever PTX PyTorch brings. */
static void fft_before_ada(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct torch *torch = s->n_pythons ? &s->pythons[0].torch : NULL;
	const char *cuda = torch ? look_torch_cuda(t->j, torch) : NULL;
	struct finding *f;
	size_t i;

	if (!cuda || !triage_has(t, "cufft-internal") || version_cmp_str(cuda, "11.8") >= 0)
		return;
	for (i = 0; i < s->n_gpus; i++) {
		if (look_cc(&s->gpus[i]) < 89)
			continue;
		f = triage_add(t, FINDING_GPU_TOO_NEW_FOR_BUILD, 82, "cufft-internal");
		finding_fact(t->j, f, "gpu.name", &s->gpus[i].name, NULL);
		finding_message(t->j, f,
				_("PyTorch was built with CUDA %s, which is older than this GPU."),
				cuda);
		return;
	}
}

/*
 * TensorRT runs with the CUDA beside it; its kernels fail on a GPU that this CUDA does not know.
 * "CUDA Version: 10.2" in a report counts too: no driver of that CUDA would drive such a GPU.
 */
static void tensorrt_cuda(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct fact *said = s->n_toolkits ? &s->toolkits[0].version : &s->driver.cuda_ceiling;
	const char *cuda = fact_value(said, NULL);
	const struct cuda_row *row = cuda ? compat_cuda(t->j->c, cuda) : NULL;
	struct finding *f;
	size_t i;

	if (!row || row->nvcc_max_cc <= 0 || !triage_has(t, "trt-cask"))
		return;
	for (i = 0; i < s->n_gpus; i++) {
		if (look_cc(&s->gpus[i]) / 10 <= row->nvcc_max_cc / 10)
			continue;
		f = triage_add(t, FINDING_GPU_TOO_NEW_FOR_BUILD, 76, "trt-cask");
		finding_fact(t->j, f, "gpu.name", &s->gpus[i].name, NULL);
		finding_fact(t->j, f, "cuda", said, NULL);
		return;
	}
}

void triage_label(struct triage *t)
{
	tensorrt_cuda(t);
	label_too_old(t);
	fft_before_ada(t);
}

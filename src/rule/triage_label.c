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

/* The first GPU of this capability (89) or more; NULL when there is none. */
static const struct gpu *gpu_from(const struct snapshot *s, int cc)
{
	size_t i;

	for (i = 0; i < s->n_gpus; i++)
		if (look_cc(&s->gpus[i]) >= cc)
			return &s->gpus[i];
	return NULL;
}

/* Library calls that fail on a GPU which their release has no code for, and that name no cause. */
static void label_too_old(struct triage *t)
{
	static const char fails[] =
		"no-kernel-image|cublas-fails|nvrtc-arch|device-kernel-image-invalid";
	const char *cuda = label_cuda(t);
	const struct cuda_row *row = cuda ? compat_cuda(t->j->c, cuda) : NULL;
	const struct gpu *newer =
		row && row->nvcc_max_cc > 0 ? gpu_from(t->j->s, row->nvcc_max_cc + 1) : NULL;
	struct finding *f;

	if (!newer || !triage_holds(t, fails, NULL))
		return;
	f = triage_add(t, FINDING_GPU_TOO_NEW_FOR_BUILD, 82, fails);
	finding_fact(t->j, f, "gpu.name", &newer->name, NULL);
	finding_message(t->j, f,
			_("The package was built with CUDA %s, which is older than this GPU."),
			cuda);
}

/* cuFFT before CUDA 11.8 has no code for Ada and fails there, whatever PTX PyTorch brings. */
static void fft_before_ada(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct torch *torch = s->n_pythons ? &s->pythons[0].torch : NULL;
	const char *cuda = torch ? look_torch_cuda(t->j, torch) : NULL;
	const struct gpu *ada = gpu_from(s, 89);
	struct finding *f;

	if (!ada || !cuda || !triage_has(t, "cufft-internal") || version_cmp_str(cuda, "11.8") >= 0)
		return;
	f = triage_add(t, FINDING_GPU_TOO_NEW_FOR_BUILD, 82, "cufft-internal");
	finding_fact(t->j, f, "gpu.name", &ada->name, NULL);
	finding_message(t->j, f, _("PyTorch was built with CUDA %s, which is older than this GPU."),
			cuda);
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
	/* Of a later major capability: 8.9 runs what was made for 8.6. */
	const struct gpu *newer =
		row && row->nvcc_max_cc > 0 ? gpu_from(s, (row->nvcc_max_cc / 10 + 1) * 10) : NULL;
	struct finding *f;

	if (!newer || !triage_has(t, "trt-cask"))
		return;
	f = triage_add(t, FINDING_GPU_TOO_NEW_FOR_BUILD, 76, "trt-cask");
	finding_fact(t->j, f, "gpu.name", &newer->name, NULL);
	finding_fact(t->j, f, "cuda", said, NULL);
}

void triage_label(struct triage *t)
{
	tensorrt_cuda(t);
	label_too_old(t);
	fft_before_ada(t);
}

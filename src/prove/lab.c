/* SPDX-License-Identifier: Apache-2.0 */
/* The tools of the rungs. */
#include "prove/lab.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { POISON = 0xff }; /* 0xffffffff is NaN as a float, half, bfloat16 and e4m3 alike */

const char *const cu_call_names[CU_CALLS] = {
#define REQ(name, args) #name,
#define OPT(name, args) #name,
#include "prove/cu.def"
};

/* ---- calls and verdicts */

void lab_calls(struct lab *l, enum cu_call c)
{
	l->progress->call = (int32_t)c;
}

int lab_called(struct lab *l, enum cu_call c, int code)
{
	const char *name = NULL;

	l->code = code;
	if (code == 0)
		return 0;
	l->o->code = code == LAB_CODE_LACKS ? 0 : code;
	snprintf(l->o->call, sizeof(l->o->call), "%s", cu_call_names[c]);
	if (code == LAB_CODE_LACKS)
		lab_skip(l, N_("this driver has no %s"), cu_call_names[c]);
	else if (l->cu.cuGetErrorName && !l->cu.cuGetErrorName((CUresult)code, &name) && name)
		lab_fail(l, N_("%s gave %d (%.80s)"), cu_call_names[c], code, name);
	else
		lab_fail(l, N_("%s gave %d"), cu_call_names[c], code);
	return code;
}

void lab_doing(struct lab *l, const char *what)
{
	size_t i;

	for (i = 0; i + 1 < sizeof(l->progress->doing) && what[i]; i++)
		l->progress->doing[i] = what[i];
	l->progress->doing[i] = '\0';
	l->progress->call = -1;
}

static ATTR_PRINTF(3, 0) void say(struct lab *l, enum proof_result r, const char *fmt, va_list ap)
{
	l->o->result = r;
	vsnprintf(l->o->why, sizeof(l->o->why), _(fmt), ap);
}

int lab_fail(struct lab *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(l, PROOF_FAIL, fmt, ap);
	va_end(ap);
	return -1;
}

int lab_skip(struct lab *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(l, PROOF_SKIP, fmt, ap);
	va_end(ap);
	return -1;
}

int lab_doubt(struct lab *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(l, PROOF_INCONCLUSIVE, fmt, ap);
	va_end(ap);
	return -1;
}

void lab_figure(struct lab *l, const char *name, double value)
{
	outcome_figure(l->o, name, value);
}

double lab_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- random numbers: splitmix64, from a seed that is new in every run */

static uint64_t random64(struct lab *l)
{
	uint64_t z = (l->random += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

uint32_t lab_u32(struct lab *l)
{
	return (uint32_t)(random64(l) >> 32);
}

void lab_fill_u32(struct lab *l, uint32_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = lab_u32(l);
}

float lab_float(struct lab *l, float lo, float hi)
{
	return lo + (hi - lo) * (float)(lab_u32(l) >> 8) * 0x1p-24f;
}

/* ---- buffers */

int lab_in(struct lab *l, const void *from, size_t bytes, struct lab_buffer *ret)
{
	ret->bytes = bytes;
	ret->base = 0;
	TRY(l, cuMemAlloc_v2, &ret->base, bytes);
	ret->p = ret->base;
	TRY(l, cuMemcpyHtoD_v2, ret->p, from, bytes);
	return 0;
}

int lab_out(struct lab *l, size_t bytes, struct lab_buffer *ret)
{
	ret->bytes = bytes;
	ret->base = 0;
	TRY(l, cuMemAlloc_v2, &ret->base, bytes + 2UL * LAB_FENCE);
	ret->p = ret->base + LAB_FENCE;
	TRY(l, cuMemsetD8_v2, ret->base, POISON, bytes + 2UL * LAB_FENCE);
	return 0;
}

int lab_take(struct lab *l, struct lab_buffer *b, void *to)
{
	unsigned char fence[2][LAB_FENCE];
	size_t i;

	TRY(l, cuCtxSynchronize);
	/* Poison here too: a copy that does nothing must not show what was there before. */
	memset(to, POISON, b->bytes);
	memset(fence, 0, sizeof(fence));
	TRY(l, cuMemcpyDtoH_v2, to, b->p, b->bytes);
	TRY(l, cuMemcpyDtoH_v2, fence[0], b->base, LAB_FENCE);
	TRY(l, cuMemcpyDtoH_v2, fence[1], b->p + b->bytes, LAB_FENCE);
	for (i = 0; i < LAB_FENCE; i++)
		if (fence[0][i] != POISON || fence[1][i] != POISON)
			return lab_fail(l, N_("a kernel wrote outside of its result"));
	return lab_free(l, b);
}

int lab_free(struct lab *l, struct lab_buffer *b)
{
	TRY(l, cuMemFree_v2, b->base);
	b->base = b->p = 0;
	return 0;
}

int lab_compare(struct lab *l, const char *what, const uint32_t *got, const uint32_t *want,
		size_t n)
{
	size_t i, bad = 0, first = 0, unwritten = 0;

	for (i = 0; i < n; i++) {
		if (got[i] == want[i])
			continue;
		if (!bad++)
			first = i;
		unwritten += got[i] == 0xffffffffU;
	}
	if (!bad)
		return 0;
	lab_figure(l, "wrong_words", (double)bad);
	lab_figure(l, "words", (double)n);
	if (unwritten == bad)
		return lab_fail(l, N_("%s: %zu of %zu words were never written"), what, bad, n);
	return lab_fail(l, N_("%s: %zu of %zu words are wrong; word %zu is 0x%08x, not 0x%08x"),
			what, bad, n, first, got[first], want[first]);
}

int lab_near(struct lab *l, const char *what, const float *got, const double *want,
	     const double *bound, size_t n)
{
	double worst = 0, e;
	struct proof_figure *f;
	size_t i;

	for (i = 0; i < n; i++) {
		e = fabs((double)got[i] - want[i]);
		/* Written so that NaN fails. */
		if (!(e <= bound[i]))
			return lab_fail(l, N_("%s: element %zu is %.9g, not %.9g within %.3g"),
					what, i, (double)got[i], want[i], bound[i]);
		if (bound[i] > 0 && e / bound[i] > worst)
			worst = e / bound[i];
	}
	/* Of several the worst. */
	for (f = l->o->figures; f < l->o->figures + l->o->n_figures; f++) {
		if (strcmp(f->name, "error_of_bound") != 0)
			continue;
		f->value = worst > f->value ? worst : f->value;
		return 0;
	}
	lab_figure(l, "error_of_bound", worst);
	return 0;
}

/* ---- kernels */

static int load(struct lab *l, enum lab_image image)
{
	char text[60], log[512] = "";
	CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { log, (void *)(size_t)(sizeof(log) - 1) };
	size_t n;

	if (l->modules[image])
		return 0;
	snprintf(text, sizeof(text), "JIT of %s", lab_image_name(image));
	lab_doing(l, text);
	lab_called(l, CU_CALL_cuModuleLoadDataEx,
		   (int)l->cu.cuModuleLoadDataEx(&l->modules[image], lab_image_text(image, &n), 2,
						 options, values));
	if (l->code == 0)
		return 0;
	l->modules[image] = NULL;
	log[sizeof(log) - 1] = '\0';
	if (l->code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION && image != IMAGE_BASE)
		return lab_skip(
			l, N_("this driver does not know the PTX of %s: a newer one is needed"),
			lab_image_name(image));
	if (log[0])
		return lab_fail(l, N_("the JIT compiler refuses %s with %d: %.150s"),
				lab_image_name(image), l->code, log);
	return -1;
}

int lab_kernel(struct lab *l, enum lab_image image, const char *name, CUfunction *ret)
{
	if (load(l, image))
		return -1;
	TRY(l, cuModuleGetFunction, ret, l->modules[image], name);
	return 0;
}

int lab_launch(struct lab *l, const struct lab_launch *how, void **args)
{
	TRY(l, cuLaunchKernel, how->f, how->blocks, 1, 1, how->threads, 1, 1, how->shared,
	    how->stream, args, NULL);
	return 0;
}

int lab_run(struct lab *l, enum lab_image image, const char *name, unsigned blocks,
	    unsigned threads, void **args)
{
	struct lab_launch how = { .blocks = blocks, .threads = threads };

	return lab_kernel(l, image, name, &how.f) || lab_launch(l, &how, args) ? -1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transform by cuFFT, a linear system by cuSOLVER, each small and checked. Facts: the
 * documentation of these libraries (enumerations, prototypes).
 */
#include <math.h>
#include <string.h>

#include "prove/stack_call.h"

/* ---- cuFFT */

enum { FFT = 64, BATCH = 16 };

static int cufft(struct lab *l, const struct stack *s)
{
	size_t n = (size_t)FFT * BATCH * 2, i, b, k;
	float *in = arena_calloc(l->a, n, 4), *got = arena_calloc(l->a, n, 4);
	double *want = arena_calloc(l->a, n, 8), *bound = arena_calloc(l->a, n, 8), angle;
	void *h = stack_open(l, s, STACK_CUFFT);
	struct lab_buffer din, out;
	int plan = 0, version = 0;

	if (!h)
		return -1;
	FUNCTION(l, h, int, get_version, "cufftGetVersion", (int *));
	FUNCTION(l, h, int, make, "cufftPlan1d", (int *, int, int, int));
	FUNCTION(l, h, int, run, "cufftExecC2C", (int, void *, void *, int));
	FUNCTION(l, h, int, destroy, "cufftDestroy", (int));

	MUST(l, "cufftGetVersion", get_version(&version));
	stack_version(l, version);
	for (i = 0; i < n; i++)
		in[i] = lab_float(l, -1, 1);
	for (b = 0; b < BATCH; b++) {
		for (k = 0; k < FFT; k++) {
			double *w = want + (b * FFT + k) * 2;

			for (i = 0; i < FFT; i++) {
				const float *v = in + (b * FFT + i) * 2;

				angle = -2 * M_PI * (double)(i * k % FFT) / FFT;
				w[0] += (double)v[0] * cos(angle) - (double)v[1] * sin(angle);
				w[1] += (double)v[0] * sin(angle) + (double)v[1] * cos(angle);
			}
			/* Six stages, each of values up to 64. */
			bound[(b * FFT + k) * 2] = bound[(b * FFT + k) * 2 + 1] = 64 * 6 * 0x1p-22;
		}
	}
	if (lab_in(l, in, n * 4, &din) || lab_out(l, n * 4, &out))
		return -1;
	MUST(l, "cufftPlan1d", make(&plan, FFT, 0x29, BATCH));
	MUST(l, "cufftExecC2C", run(plan, (void *)din.p, (void *)out.p, -1));
	if (lab_take(l, &out, got))
		return -1;
	MUST(l, "cufftDestroy", destroy(plan));
	return lab_near(l, "cufftExecC2C", got, want, bound, n);
}

/* ---- cuSOLVER: LU of a system that is well conditioned */

enum { S = 32 };

static int solution_check(struct lab *l, const double *a, const double *b, const double *x)
{
	double r, worst = 0;
	int i, k;

	for (i = 0; i < S; i++) {
		for (r = -b[i], k = 0; k < S; k++)
			r += a[k * S + i] * x[k];
		if (!(fabs(r) < 1e-10))
			return lab_fail(l, N_("row %d of the system is off by %g"), i, r);
		worst = fabs(r) > worst ? fabs(r) : worst;
	}
	lab_figure(l, "residual", worst);
	return 0;
}

static int cusolver(struct lab *l, const struct stack *s)
{
	double a[S * S], b[S], x[S];
	void *h = stack_open(l, s, STACK_CUSOLVER), *handle = NULL;
	int version = 0, size = 0, i, zero = 0, info = -1;
	struct lab_buffer da, db, pivots, dinfo, space;

	if (!h)
		return -1;
	FUNCTION(l, h, int, get_version, "cusolverGetVersion", (int *));
	FUNCTION(l, h, int, create, "cusolverDnCreate", (void **));
	FUNCTION(l, h, int, destroy, "cusolverDnDestroy", (void *));
	FUNCTION(l, h, int, get_size, "cusolverDnDgetrf_bufferSize",
		 (void *, int, int, double *, int, int *));
	FUNCTION(l, h, int, factor, "cusolverDnDgetrf",
		 (void *, int, int, double *, int, double *, int *, int *));
	FUNCTION(l, h, int, solve, "cusolverDnDgetrs",
		 (void *, int, int, int, const double *, int, const int *, double *, int, int *));

	MUST(l, "cusolverGetVersion", get_version(&version));
	stack_version(l, version);
	for (i = 0; i < S * S; i++)
		a[i] = (double)lab_float(l, -1, 1) + (i % (S + 1) == 0 ? S : 0);
	for (i = 0; i < S; i++)
		b[i] = (double)lab_float(l, -1, 1);
	MUST(l, "cusolverDnCreate", create(&handle));
	if (lab_in(l, a, sizeof(a), &da) || lab_in(l, b, sizeof(b), &db) ||
	    lab_out(l, S * sizeof(int), &pivots) || lab_in(l, &zero, sizeof(zero), &dinfo))
		return -1;
	MUST(l, "cusolverDnDgetrf_bufferSize", get_size(handle, S, S, (double *)da.p, S, &size));
	if (size < 0 || size > 1 << 26 || lab_out(l, (size_t)size * 8 + 8, &space))
		return l->o->result == PROOF_FAIL
			       ? -1
			       : lab_fail(l, N_("a buffer of %d makes no sense"), size);
	MUST(l, "cusolverDnDgetrf",
	     factor(handle, S, S, (double *)da.p, S, (double *)space.p, (int *)pivots.p,
		    (int *)dinfo.p));
	MUST(l, "cusolverDnDgetrs",
	     solve(handle, 0, S, 1, (double *)da.p, S, (int *)pivots.p, (double *)db.p, S,
		   (int *)dinfo.p));
	TRY(l, cuCtxSynchronize);
	memset(x, 0xff, sizeof(x));
	TRY(l, cuMemcpyDtoH_v2, x, db.p, sizeof(x));
	TRY(l, cuMemcpyDtoH_v2, &info, dinfo.p, sizeof(info));
	if (info)
		return lab_fail(l, N_("cusolverDnDgetrf: info is %d"), info);
	MUST(l, "cusolverDnDestroy", destroy(handle));
	return solution_check(l, a, b, x);
}

const struct stack_rung stack_cufft = {
	.name = "stack-cufft",
	.run = cufft,
	.deadline_s = 120,
	.needs = STACK_CUFFT,
	.before = { STACK_NVJITLINK, STACK_LIBRARIES },
};
const struct stack_rung stack_cusolver = {
	.name = "stack-cusolver",
	.run = cusolver,
	.deadline_s = 120,
	.needs = STACK_CUSOLVER,
	.before = { STACK_NVJITLINK, STACK_CUBLASLT, STACK_CUBLAS, STACK_CUSPARSE },
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products by cuBLAS and cuBLASLt, on whole numbers, whose sums are exact in any order.
 * Facts: cuBLAS documentation (cublasGemmEx, cublasLtMatmul, enumerations).
 */
#include <stdio.h>
#include <string.h>

#include "prove/gauge.h"
#include "prove/reference.h"
#include "prove/stack_call.h"

enum { M = 192, N = 128, K = 64 };
enum {
	R_32F = 0,
	R_16F = 2,
	R_16BF = 14,
	R_8F_E4M3 = 28,
	COMPUTE_32F = 68,
	COMPUTE_FAST_TF32 = 77
};
enum { OP_N = 0, OP_T = 1 };

struct kind {
	const char *name; /* of its figure */
	enum ref_format f;
	int type, compute, whole, first_cc;
};

static const struct kind kinds[] = {
	{ "fp32", REF_TF32, R_32F, COMPUTE_32F, 255, 0 },
	{ "tf32", REF_TF32, R_32F, COMPUTE_FAST_TF32, 255, 80 },
	{ "bf16", REF_BF16, R_16BF, COMPUTE_32F, 255, 80 },
	{ "fp16", REF_F16, R_16F, COMPUTE_32F, 255, 53 },
	{ "fp8", REF_E4M3, R_8F_E4M3, COMPUTE_32F, 7, 89 },
};

/* D = A^T * B as these libraries count (by columns), with the reference. */
struct problem {
	struct lab_buffer a, b, out;
	uint32_t *want;
};

static int problem_make(struct lab *l, const struct kind *k, struct problem *p)
{
	size_t na = (size_t)M * K, nb = (size_t)N * K, i, x, y;
	void *a = arena_calloc(l->a, na, 4), *b = arena_calloc(l->a, nb, 4);
	double *da = arena_calloc(l->a, na, 8), *db = arena_calloc(l->a, nb, 8);
	double *sum = arena_calloc(l->a, (size_t)M * N, 8);
	struct ref_product ref = { .m = M, .n = N, .k = K, .a = da, .b = db };
	unsigned span = 2U * (unsigned)k->whole + 1;

	p->want = arena_calloc(l->a, (size_t)M * N, 4);
	for (i = 0; i < na; i++)
		ref_set(k->f, a, i, (int)(lab_u32(l) % span) - k->whole);
	for (i = 0; i < nb; i++)
		ref_set(k->f, b, i, (int)(lab_u32(l) % span) - k->whole);
	ref_decode(k->f, a, na, da);
	ref_decode(k->f, b, nb, db);
	ref_product(&ref, sum, NULL);
	for (y = 0; y < M; y++)
		for (x = 0; x < N; x++)
			((float *)(void *)p->want)[x * M + y] = (float)sum[y * N + x];
	return lab_in(l, a, na * ref_size(k->f), &p->a) ||
			       lab_in(l, b, nb * ref_size(k->f), &p->b) ||
			       lab_out(l, 4UL * M * N, &p->out)
		       ? -1
		       : 0;
}

static int problem_check(struct lab *l, const struct kind *k, struct problem *p)
{
	uint32_t *got = arena_calloc(l->a, (size_t)M * N, 4);
	size_t n;

	if (lab_take(l, &p->out, got) || lab_free(l, &p->a) || lab_free(l, &p->b) ||
	    lab_compare(l, k->name, got, p->want, (size_t)M * N))
		return -1;
	/* What held so far. */
	n = strlen(l->o->why);
	snprintf(l->o->why + n, sizeof(l->o->why) - n, "%s%s", n ? ", " : "", k->name);
	return 0;
}

/* ---- cuBLAS */

static int cublas(struct lab *l, const struct stack *s)
{
	void *h = stack_open(l, s, STACK_CUBLAS), *handle = NULL;
	float one = 1, zero = 0;
	struct problem p;
	int version = 0;
	size_t i;

	if (!h)
		return -1;
	FUNCTION(l, h, int, create, "cublasCreate_v2", (void **));
	FUNCTION(l, h, int, destroy, "cublasDestroy_v2", (void *));
	FUNCTION(l, h, int, get_version, "cublasGetVersion_v2", (void *, int *));
	FUNCTION(l, h, int, gemm, "cublasGemmEx",
		 (void *, int, int, int, int, int, const void *, const void *, int, int,
		  const void *, int, int, const void *, void *, int, int, int, int));

	MUST(l, "cublasCreate", create(&handle));
	MUST(l, "cublasGetVersion", get_version(handle, &version));
	stack_version(l, version);
	for (i = 0; i + 1 < ARRAY_LEN(kinds); i++) {
		const struct kind *k = &kinds[i];

		if (l->cc < k->first_cc)
			continue;
		if (problem_make(l, k, &p))
			return -1;
		/* Before 11.0 the computation was named by the type. */
		MUST(l, "cublasGemmEx",
		     gemm(handle, OP_T, OP_N, M, N, K, &one, (void *)p.a.p, k->type, K,
			  (void *)p.b.p, k->type, K, &zero, (void *)p.out.p, R_32F, M,
			  version < 11000 ? R_32F : k->compute, -1));
		if (problem_check(l, k, &p))
			return -1;
	}
	MUST(l, "cublasDestroy", destroy(handle));
	return 0;
}

/* ---- cuBLASLt */

struct lt_heuristic {
	uint64_t algo[8];
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
};

struct lt {
	void *handle;
	int (*desc_create)(void **, int, int);
	int (*desc_set)(void *, int, const void *, size_t);
	int (*desc_destroy)(void *);
	int (*layout_create)(void **, int, uint64_t, uint64_t, int64_t);
	int (*layout_destroy)(void *);
	int (*preference_create)(void **);
	int (*preference_set)(void *, int, const void *, size_t);
	int (*heuristic)(void *, void *, void *, void *, void *, void *, void *, int,
			 struct lt_heuristic *, int *);
	int (*matmul)(void *, void *, const void *, const void *, void *, const void *, void *,
		      const void *, const void *, void *, void *, void *, const uint64_t *, void *,
		      size_t, void *);
	CUdeviceptr workspace;
	size_t workspace_size;
};

static int lt_open(struct lab *l, const struct stack *s, struct lt *t)
{
	static const struct {
		const char *name;
		size_t offset;
	} rows[] = {
#define ROW(field, name) { name, offsetof(struct lt, field) }
		ROW(desc_create, "cublasLtMatmulDescCreate"),
		ROW(desc_set, "cublasLtMatmulDescSetAttribute"),
		ROW(desc_destroy, "cublasLtMatmulDescDestroy"),
		ROW(layout_create, "cublasLtMatrixLayoutCreate"),
		ROW(layout_destroy, "cublasLtMatrixLayoutDestroy"),
		ROW(preference_create, "cublasLtMatmulPreferenceCreate"),
		ROW(preference_set, "cublasLtMatmulPreferenceSetAttribute"),
		ROW(heuristic, "cublasLtMatmulAlgoGetHeuristic"),
		ROW(matmul, "cublasLtMatmul"),
	};
	void *h = stack_open(l, s, STACK_CUBLASLT), *p;
	size_t i;

	if (!h)
		return -1;
	FUNCTION(l, h, int, create, "cublasLtCreate", (void **));
	FUNCTION(l, h, size_t, get_version, "cublasLtGetVersion", (void));
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		p = stack_symbol(l, h, rows[i].name);
		if (!p)
			return -1;
		memcpy((char *)t + rows[i].offset, &p, sizeof(p));
	}
	stack_version(l, (int)get_version());
	MUST(l, "cublasLtCreate", create(&t->handle));
	t->workspace_size = 32 << 20;
	TRY(l, cuMemAlloc_v2, &t->workspace, t->workspace_size);
	return 0;
}

/* A product D[m x n] = A[k x m]^T * B[k x n], ready to be started many times. */
struct lt_plan {
	void *desc, *a, *b, *d;
	struct lt_heuristic best;
	CUdeviceptr pa, pb, pd;
};

static int lt_plan(struct lab *l, struct lt *t, const struct kind *k, const int size[3],
		   int out_type, struct lt_plan *p)
{
	int op = OP_T, found = 0;
	void *preference = NULL;

	MUST(l, "cublasLtMatmulDescCreate", t->desc_create(&p->desc, k->compute, R_32F));
	/* CUBLASLT_MATMUL_DESC_TRANSA */
	MUST(l, "cublasLtMatmulDescSetAttribute", t->desc_set(p->desc, 3, &op, sizeof(op)));
	MUST(l, "cublasLtMatrixLayoutCreate",
	     t->layout_create(&p->a, k->type, (uint64_t)size[2], (uint64_t)size[0], size[2]));
	MUST(l, "cublasLtMatrixLayoutCreate",
	     t->layout_create(&p->b, k->type, (uint64_t)size[2], (uint64_t)size[1], size[2]));
	MUST(l, "cublasLtMatrixLayoutCreate",
	     t->layout_create(&p->d, out_type, (uint64_t)size[0], (uint64_t)size[1], size[0]));
	MUST(l, "cublasLtMatmulPreferenceCreate", t->preference_create(&preference));
	/* CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES */
	MUST(l, "cublasLtMatmulPreferenceSetAttribute",
	     t->preference_set(preference, 1, &t->workspace_size, sizeof(t->workspace_size)));
	MUST(l, "cublasLtMatmulAlgoGetHeuristic",
	     t->heuristic(t->handle, p->desc, p->a, p->b, p->d, p->d, preference, 1, &p->best,
			  &found));
	if (found < 1)
		return lab_fail(l, N_("cuBLASLt has no algorithm for %s"), k->name);
	return 0;
}

static int lt_start(struct lab *l, struct lt *t, struct lt_plan *p)
{
	float one = 1, zero = 0;

	MUST(l, "cublasLtMatmul",
	     t->matmul(t->handle, p->desc, &one, (void *)p->pa, p->a, (void *)p->pb, p->b, &zero,
		       (void *)p->pd, p->d, (void *)p->pd, p->d, p->best.algo, (void *)t->workspace,
		       t->workspace_size, NULL));
	return 0;
}

static int cublaslt(struct lab *l, const struct stack *s)
{
	static const int size[3] = { M, N, K };
	struct lt t = { 0 };
	struct problem p;
	size_t i;

	if (lt_open(l, s, &t))
		return -1;
	for (i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct kind *k = &kinds[i];
		struct lt_plan plan = { 0 };

		if (l->cc < k->first_cc)
			continue;
		if (problem_make(l, k, &p) || lt_plan(l, &t, k, size, R_32F, &plan))
			return -1;
		plan.pa = p.a.p;
		plan.pb = p.b.p;
		plan.pd = p.out.p;
		if (lt_start(l, &t, &plan) || problem_check(l, k, &p))
			return -1;
	}
	return 0;
}

/* ---- speed */

enum { GEMM_SIZE = 8192, GEMM_TIMES = 7 };

/* Random values in all of the format, by the hardware's fill and a kernel's: no zeros to go faster.
 */
static int random_matrix(struct lab *l, CUdeviceptr *p, const struct kind *k, size_t bytes)
{
	enum { PART = 1 << 20 };
	uint8_t *host = arena_alloc(l->a, PART);
	size_t n = PART / ref_size(k->f), i, at;

	for (i = 0; i < n; i++)
		ref_set(k->f, host, i, (double)lab_float(l, -1, 1));
	TRY(l, cuMemAlloc_v2, p, bytes);
	for (at = 0; at < bytes; at += PART)
		TRY(l, cuMemcpyHtoD_v2, *p + at, host, bytes - at < PART ? bytes - at : PART);
	return 0;
}

struct speed {
	struct lt t;
	struct gauge g;
	struct gauge_claim low; /* the lowest of its expectation; expected 0: none was known */
};

static void gemm_claim(struct lab *l, struct speed *s, const char *name, double value)
{
	enum perf_kind kind = compat_perf_kind(name);
	struct gauge_claim c = { .of = GAUGE_COMPUTE,
				 .name = name,
				 .value = value,
				 .expected = gauge_expected(&s->g, kind) };

	if (c.expected <= 0)
		return;
	c.inferred = s->g.perf.inferred[kind];
	gauge_figures(l, &c);
	if (s->low.expected <= 0 || value / c.expected < s->low.value / s->low.expected)
		s->low = c;
}

static int gemm_measure(struct lab *l, struct speed *s, const struct kind *k, int n)
{
	struct lt *t = &s->t;
	const int size[3] = { n, n, n };
	size_t elements = (size_t)n * (size_t)n;
	int out_type = k->type == R_8F_E4M3 ? R_16BF : k->type, i, j;
	struct lt_plan p = { 0 };
	double ms[GEMM_TIMES], x;
	char name[PROOF_NAME];
	CUevent start, end;
	float once = 0;

	if (lt_plan(l, t, k, size, out_type, &p) ||
	    random_matrix(l, &p.pa, k, elements * ref_size(k->f)) ||
	    random_matrix(l, &p.pb, k, elements * ref_size(k->f)))
		return -1;
	TRY(l, cuMemAlloc_v2, &p.pd, elements * 4);
	TRY(l, cuEventCreate, &start, 0);
	TRY(l, cuEventCreate, &end, 0);
	for (i = -2; i < GEMM_TIMES; i++) {
		TRY(l, cuEventRecord, start, NULL);
		for (j = 0; j < 5; j++)
			if (lt_start(l, t, &p))
				return -1;
		TRY(l, cuEventRecord, end, NULL);
		/* They are under way. */
		gauge_read(&s->g);
		TRY(l, cuEventSynchronize, end);
		TRY(l, cuEventElapsedTime, &once, start, end);
		for (j = i; i >= 0 && j > 0 && ms[j - 1] > (double)once; j--)
			ms[j] = ms[j - 1];
		if (i >= 0)
			ms[j] = (double)once;
	}
	x = 5 * 2.0 * n * n * n * 1e-12;
	snprintf(name, sizeof(name), "%s_tflop_per_s", k->name);
	lab_figure(l, name, x / ms[GEMM_TIMES / 2] * 1e3);
	gemm_claim(l, s, k->name, x / ms[GEMM_TIMES / 2] * 1e3);
	snprintf(name, sizeof(name), "%s_spread", k->name);
	lab_figure(l, name, (ms[GEMM_TIMES - 2] - ms[1]) / ms[GEMM_TIMES / 2]);
	TRY(l, cuMemFree_v2, p.pa);
	TRY(l, cuMemFree_v2, p.pb);
	TRY(l, cuMemFree_v2, p.pd);
	return 0;
}

static int gemm_speed(struct lab *l, const struct stack *s)
{
	size_t free = 0, total = 0, i;
	struct speed speed = { .low = { .name = "" } };
	int n = GEMM_SIZE;

	if (lt_open(l, s, &speed.t))
		return -1;
	gauge_open(l, &speed.g);
	l->o->n_figures = 0;
	TRY(l, cuMemGetInfo_v2, &free, &total);
	while (n > 1024 && (size_t)n * (size_t)n * 16 > free)
		n /= 2;
	for (i = 0; i < ARRAY_LEN(kinds); i++)
		if (l->cc >= kinds[i].first_cc && gemm_measure(l, &speed, &kinds[i], n))
			return -1;
	/* The lowest of all speaks for them. */
	return gauge_judge(l, &speed.g, &speed.low);
}

const struct stack_rung stack_cublas = {
	.name = "stack-cublas",
	.run = cublas,
	.deadline_s = 120,
	.needs = STACK_CUBLAS,
	.before = { STACK_CUBLASLT, STACK_LIBRARIES },
};
const struct stack_rung stack_cublaslt = {
	.name = "stack-cublaslt",
	.run = cublaslt,
	.deadline_s = 120,
	.needs = STACK_CUBLASLT,
	.before = { STACK_LIBRARIES },
};
const struct stack_rung stack_gemm = {
	.name = "bench-gemm",
	.run = gemm_speed,
	.deadline_s = 120,
	.needs = STACK_CUBLASLT,
	.before = { STACK_LIBRARIES },
	.bench = true,
};

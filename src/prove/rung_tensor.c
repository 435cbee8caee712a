/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensor cores. Each product runs twice: on small whole numbers, where every sum is exact in any
 * order and the result has to be right to the bit, and on fractions that use the whole mantissa,
 * with the bound that the accumulators leave.
 */
#include "prove/lab.h"
#include "prove/reference.h"

enum { M = 256, N = 128, K = 64 };

struct tensor {
	const char *kernel;
	enum lab_image image;
	enum ref_format f;
	unsigned tile_m, tile_n, threads;
	int whole;    /* numbers from -whole to whole; K * whole^2 fits the accumulator */
	double bound; /* error of a sum, in parts of the sum of the products' sizes; 0: none is
			 allowed */
};

struct operands {
	void *a, *b;
	double *da, *db;
};

static void operands_fill(struct lab *l, const struct tensor *t, struct operands *x, int exact)
{
	size_t i, na = (size_t)M * K, nb = (size_t)N * K;
	int span = 2 * t->whole + 1;
	double v;

	for (i = 0; i < na + nb; i++) {
		if (exact)
			v = (int)(lab_u32(l) % (unsigned)span) - t->whole;
		else
			v = (double)lab_float(l, -1, 1);
		ref_set(t->f, i < na ? x->a : x->b, i < na ? i : i - na, v);
	}
	ref_decode(t->f, x->a, na, x->da);
	ref_decode(t->f, x->b, nb, x->db);
}

static int tensor_run(struct lab *l, const struct tensor *t, const struct operands *x, void *got)
{
	unsigned tiles = (M / t->tile_m) * (N / t->tile_n);
	uint32_t m = M, n = N, k = K;
	struct lab_buffer a, b, out;
	void *args[] = { &out.p, &a.p, &b.p, &m, &n, &k };

	if (lab_in(l, x->a, (size_t)M * K * ref_size(t->f), &a) ||
	    lab_in(l, x->b, (size_t)N * K * ref_size(t->f), &b) || lab_out(l, 4UL * M * N, &out) ||
	    lab_run(l, t->image, t->kernel, tiles, t->threads, args) || lab_take(l, &out, got))
		return -1;
	return lab_free(l, &a) || lab_free(l, &b) ? -1 : 0;
}

static int tensor(struct lab *l, const struct tensor *t)
{
	struct operands x = {
		.a = arena_calloc(l->a, (size_t)M * K, 4),
		.b = arena_calloc(l->a, (size_t)N * K, 4),
		.da = arena_calloc(l->a, (size_t)M * K, 8),
		.db = arena_calloc(l->a, (size_t)N * K, 8),
	};
	struct ref_product p = { .m = M, .n = N, .k = K, .a = x.da, .b = x.db };
	size_t n = (size_t)M * N, i;
	double *want = arena_calloc(l->a, n, 8), *bound = arena_calloc(l->a, n, 8);
	uint32_t *got = arena_calloc(l->a, n, 4), *bits = arena_calloc(l->a, n, 4);

	operands_fill(l, t, &x, 1);
	ref_product(&p, want, NULL);
	for (i = 0; i < n; i++) {
		if (t->f == REF_S8)
			((int32_t *)(void *)bits)[i] = (int32_t)want[i];
		else
			((float *)(void *)bits)[i] = (float)want[i];
	}
	if (tensor_run(l, t, &x, got) || lab_compare(l, t->kernel, got, bits, n))
		return -1;
	if (t->bound == 0)
		return 0;
	operands_fill(l, t, &x, 0);
	ref_product(&p, want, bound);
	for (i = 0; i < n; i++)
		bound[i] *= t->bound;
	if (tensor_run(l, t, &x, got))
		return -1;
	return lab_near(l, t->kernel, (const float *)(const void *)got, want, bound, n);
}

/* Products of halves are exact; each of the K / 16 sums may lose what lies below 2^-22 of it. */
static const struct tensor f16_volta = {
	"cuvet_tensor_f16", IMAGE_TENSOR70, REF_F16, 16, 16, 32, 255, 0x1p-19
};
static const struct tensor s8_volta = {
	"cuvet_tensor_s8", IMAGE_TENSOR72, REF_S8, 16, 16, 32, 127, 0
};
static const struct tensor f16 = {
	"cuvet_tensor_f16", IMAGE_TENSOR80, REF_F16, 16, 8, 32, 255, 0x1p-19
};
static const struct tensor bf16 = {
	"cuvet_tensor_bf16", IMAGE_TENSOR80, REF_BF16, 16, 8, 32, 255, 0x1p-19
};
static const struct tensor tf32 = {
	"cuvet_tensor_tf32", IMAGE_TENSOR80, REF_TF32, 16, 8, 32, 255, 0x1p-19
};
static const struct tensor s8 = { "cuvet_tensor_s8", IMAGE_TENSOR80, REF_S8, 16, 8, 32, 127, 0 };
/* Ada and Hopper sum products of 8-bit floats with some 13 bits. */
static const struct tensor e4m3 = {
	"cuvet_tensor_e4m3", IMAGE_TENSOR89, REF_E4M3, 16, 8, 32, 7, 0x1p-10
};
static const struct tensor e5m2 = {
	"cuvet_tensor_e5m2", IMAGE_TENSOR89, REF_E5M2, 16, 8, 32, 7, 0x1p-10
};
static const struct tensor wgmma = {
	"cuvet_tensor_wgmma", IMAGE_TENSOR90A, REF_F16, 64, 8, 128, 255, 0x1p-19
};

static int run_f16(struct lab *l)
{
	return tensor(l, l->cc >= 80 ? &f16 : &f16_volta);
}

static int run_s8(struct lab *l)
{
	return tensor(l, l->cc >= 80 ? &s8 : &s8_volta);
}

static int run_bf16(struct lab *l)
{
	return tensor(l, &bf16);
}

static int run_tf32(struct lab *l)
{
	return tensor(l, &tf32);
}

static int run_fp8(struct lab *l)
{
	return tensor(l, &e4m3) || tensor(l, &e5m2) ? -1 : 0;
}

static int run_wgmma(struct lab *l)
{
	return tensor(l, &wgmma);
}

const struct rung rung_f16 = {
	.name = "tensor-fp16", .run = run_f16, .deadline_s = 60, .first_cc = 70
};
const struct rung rung_bf16 = {
	.name = "tensor-bf16", .run = run_bf16, .deadline_s = 60, .first_cc = 80
};
const struct rung rung_tf32 = {
	.name = "tensor-tf32", .run = run_tf32, .deadline_s = 60, .first_cc = 80
};
const struct rung rung_s8 = {
	.name = "tensor-int8", .run = run_s8, .deadline_s = 60, .first_cc = 72
};
const struct rung rung_fp8 = {
	.name = "tensor-fp8", .run = run_fp8, .deadline_s = 60, .first_cc = 89
};
const struct rung rung_wgmma = {
	.name = "tensor-wgmma", .run = run_wgmma, .deadline_s = 60, .only_cc = 90
};

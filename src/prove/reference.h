/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels of kernels/ have to give, in plain C: to the bit where the arithmetic has one
 * result. Used by the rungs to judge, and by the tests' stand-in for a driver.
 */
#ifndef PROVE_REFERENCE_H
#define PROVE_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

uint32_t ref_mix(uint32_t x);
void ref_fma(float *out, const float *a, const float *b, uint32_t n, uint32_t steps);
void ref_fma64(double *out, const double *a, const double *b, uint32_t n, uint32_t steps);
void ref_int(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t n);
/* cell: 64 words as they were before. */
void ref_atomics(uint64_t *cell, const uint64_t *in, uint32_t n);
void ref_shared(uint32_t *out, const uint32_t *in, uint32_t blocks);
void ref_warp(uint32_t *out, const uint32_t *in, uint32_t warps);
/* Of 256 threads each. */
void ref_diverge(uint32_t *out, uint32_t blocks);
void ref_reduce(float *out, const float *in, uint32_t n, uint32_t blocks);
void ref_dynamic(uint32_t *out, uint32_t blocks, uint32_t threads, uint32_t words, uint32_t seed);
void ref_grid(uint32_t *out, uint32_t blocks, uint32_t rounds, uint32_t seed);
void ref_texture(uint32_t *out, const uint32_t *in, uint32_t width, uint32_t height);

enum ref_format { REF_F16, REF_BF16, REF_TF32, REF_S8, REF_E4M3, REF_E5M2 };

size_t ref_size(enum ref_format f); /* bytes of an element */
double ref_value(enum ref_format f, const void *p, size_t i);
/* The nearest one of a finite value that the format can hold in size, ties to even. */
void ref_set(enum ref_format f, void *p, size_t i, double v);
void ref_decode(enum ref_format f, const void *p, size_t n, double *out);
/* out[m][n] = a[m][k] * b[n][k], of decoded values; magnitude (may be NULL): the sums of |a * b|.
 */
struct ref_product {
	uint32_t m, n, k;
	const double *a, *b;
};
void ref_product(const struct ref_product *p, double *out, double *magnitude);

#endif

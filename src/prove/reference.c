/* SPDX-License-Identifier: Apache-2.0 */
/* The references of the kernels, written apart from them. */
#include "prove/reference.h"

#include <math.h>
#include <string.h>

uint32_t ref_mix(uint32_t x)
{
	x = (x ^ x >> 16) * 0x7feb352dU;
	x = (x ^ x >> 15) * 0x846ca68bU;
	return x ^ x >> 16;
}

void ref_fma(float *out, const float *a, const float *b, uint32_t n, uint32_t steps)
{
	uint32_t i, s;
	float x;

	for (i = 0; i < n; i++) {
		for (x = a[i], s = 0; s < steps; s++)
			x = fmaf(x, b[i], a[(i + s) % n]);
		out[i] = x;
	}
}

void ref_fma64(double *out, const double *a, const double *b, uint32_t n, uint32_t steps)
{
	uint32_t i, s;
	double x;

	for (i = 0; i < n; i++) {
		for (x = a[i], s = 0; s < steps; s++)
			x = fma(x, b[i], a[(i + s) % n]);
		out[i] = x;
	}
}

static uint64_t high_half(uint64_t x, uint64_t y)
{
	uint64_t a = x >> 32, b = x & 0xffffffffU, c = y >> 32, d = y & 0xffffffffU;
	uint64_t middle = a * d + (b * d >> 32), low = (middle & 0xffffffffU) + b * c;

	return a * c + (middle >> 32) + (low >> 32);
}

void ref_int(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t n)
{
	uint64_t x, y, h;
	uint32_t i;

	for (i = 0; i < n; i++) {
		x = a[i];
		y = b[i] | 1;
		h = x * y ^ high_half(x, y);
		h += x / y + x % y * 3;
		h ^= x << (y & 63) | y >> (x & 63);
		h += (uint64_t)__builtin_popcountll(x) << 32 | (uint64_t)__builtin_clzll(y);
		h ^= x >> 7 | (x >> 63 ? ~(~0ULL >> 7) : 0);
		out[i] = h;
	}
}

void ref_atomics(uint64_t *cell, const uint64_t *in, uint32_t n)
{
	uint64_t *set, v;
	uint32_t i;

	for (i = 0; i < n; i++) {
		v = in[i];
		set = cell + (size_t)(i & 7) * 8;
		set[0] += v;
		set[1] = v > set[1] ? v : set[1];
		set[2] = v < set[2] ? v : set[2];
		set[3] ^= v;
		set[4] = (set[4] & ~0xffffffffULL) | (uint32_t)(set[4] + v);
		set[5] += v * 3;
	}
}

void ref_shared(uint32_t *out, const uint32_t *in, uint32_t blocks)
{
	uint32_t s[256], next[256], b, t, r, v;

	for (b = 0; b < blocks; b++) {
		memcpy(s, in + (size_t)b * 256, sizeof(s));
		for (r = 1; r <= 16; r++) {
			for (t = 0; t < 256; t++) {
				v = s[(t + r * 17) & 255] * 2654435761U + s[t ^ r];
				next[t] = v ^ v >> 13;
			}
			memcpy(s, next, sizeof(s));
		}
		for (t = 0; t < 256; t++)
			out[(size_t)b * 256 + t] = s[255 - t];
	}
}

void ref_warp(uint32_t *out, const uint32_t *in, uint32_t warps)
{
	uint32_t w, lane, ballot, any, all, h, k;
	const uint32_t *v;

	for (w = 0; w < warps; w++) {
		v = in + (size_t)w * 32;
		for (ballot = any = 0, all = 1, lane = 0; lane < 32; lane++) {
			ballot |= (uint32_t)((v[lane] & 4) != 0) << lane;
			any |= (v[lane] & 31) == 9;
			all &= (v[lane] & 63) != 9;
		}
		for (lane = 0; lane < 32; lane++) {
			h = v[lane ^ 5];
			h = h * 31 + v[lane >= 3 ? lane - 3 : lane];
			h = h * 31 + v[lane + 7 < 32 ? lane + 7 : lane];
			h = h * 31 + v[v[lane] & 31];
			h = h * 31 + (ballot ^ any << 8 ^ all << 9);
			for (k = 0; k < lane; k++)
				h = h & 1 ? h * 3 + k : h >> 1 ^ lane;
			out[(size_t)w * 32 + lane] = h;
		}
	}
}

void ref_diverge(uint32_t *out, uint32_t blocks)
{
	uint32_t i, round, word = 0, h;

	for (i = 0; i < blocks * 256; i++) {
		h = i;
		for (word = i / 256, round = 0; round < 32; round++) {
			word = ref_mix(word + round);
			if ((i & 31) != round)
				h = h * 31 + round;
			h ^= word;
		}
		out[i] = h;
	}
}

void ref_reduce(float *out, const float *in, uint32_t n, uint32_t blocks)
{
	uint32_t b, t, d, i, total = blocks * 256;
	float s[256], x;

	for (b = 0; b < blocks; b++) {
		for (t = 0; t < 256; t++) {
			for (x = 0, i = b * 256 + t; i < n; i += total)
				x += in[i];
			s[t] = x;
		}
		for (d = 128; d; d >>= 1)
			for (t = 0; t < d; t++)
				s[t] += s[t + d];
		out[b] = s[0];
	}
}

void ref_dynamic(uint32_t *out, uint32_t blocks, uint32_t threads, uint32_t words, uint32_t seed)
{
	uint32_t b, t, i, sum;

	for (b = 0; b < blocks; b++)
		for (t = 0; t < threads; t++) {
			for (sum = 0, i = t; i < words; i += threads)
				sum += ref_mix(seed + b * words + words - 1 - i) * (i + 1);
			out[(size_t)b * threads + t] = sum;
		}
}

/* out is also the state of a round; the neighbours' values are those of the round before. */
void ref_grid(uint32_t *out, uint32_t blocks, uint32_t rounds, uint32_t seed)
{
	uint32_t b, r, was[1024];

	for (b = 0; b < blocks; b++)
		out[b] = ref_mix(seed + b);
	for (r = 1; r <= rounds; r++) {
		memcpy(was, out, blocks * sizeof(*out));
		for (b = 0; b < blocks; b++)
			out[b] = was[b] * 3 + was[(b + r) % blocks];
	}
}

void ref_texture(uint32_t *out, const uint32_t *in, uint32_t width, uint32_t height)
{
	uint32_t i, x, y, next;

	for (i = 0; i < width * height; i++) {
		x = i / height;
		y = i % height;
		next = x + 1 < width ? x + 1 : x;
		out[i] = in[y * width + x] + 31 * in[y * width + next];
	}
}

/* ---- formats of matrix elements */

static const struct {
	size_t bytes;
	int exponent_bits, mantissa_bits, bias;
} formats[] = {
	[REF_F16] = { 2, 5, 10, 15 }, [REF_BF16] = { 2, 8, 7, 127 }, [REF_TF32] = { 4, 8, 10, 127 },
	[REF_S8] = { 1, 0, 0, 0 },    [REF_E4M3] = { 1, 4, 3, 7 },   [REF_E5M2] = { 1, 5, 2, 15 },
};

size_t ref_size(enum ref_format f)
{
	return formats[f].bytes;
}

double ref_value(enum ref_format f, const void *p, size_t i)
{
	int mb = formats[f].mantissa_bits, eb = formats[f].exponent_bits;
	uint32_t u = 0, mantissa, exponent;
	double v;

	memcpy(&u, (const char *)p + i * formats[f].bytes, formats[f].bytes);
	if (f == REF_S8)
		return (int8_t)u;
	if (f == REF_TF32)
		u >>= 13;
	mantissa = u & ((1U << mb) - 1);
	exponent = u >> mb & ((1U << eb) - 1);
	if (exponent == 0)
		v = ldexp(mantissa, 1 - formats[f].bias - mb);
	else
		v = ldexp(mantissa | 1U << mb, (int)exponent - formats[f].bias - mb);
	return u >> (mb + eb) & 1 ? -v : v;
}

void ref_set(enum ref_format f, void *p, size_t i, double v)
{
	int mb = formats[f].mantissa_bits, bias = formats[f].bias, e;
	uint32_t sign = signbit(v) ? 1 : 0, u;
	double m;

	if (f == REF_S8) {
		u = (uint32_t)(int32_t)nearbyint(v);
	} else if (v == 0) {
		u = 0;
	} else {
		frexp(v, &e);
		e = e - 1 < 1 - bias ? 1 - bias : e - 1;
		m = nearbyint(ldexp(fabs(v), mb - e));
		/* A mantissa that rounded up to the next power of two carries into the exponent. */
		u = (uint32_t)((e + bias - 1) << mb) + (uint32_t)m;
		u |= sign << (mb + formats[f].exponent_bits);
	}
	if (f == REF_TF32)
		u <<= 13;
	memcpy((char *)p + i * formats[f].bytes, &u, formats[f].bytes);
}

void ref_decode(enum ref_format f, const void *p, size_t n, double *out)
{
	size_t i;

	for (i = 0; i < n; i++)
		out[i] = ref_value(f, p, i);
}

void ref_product(const struct ref_product *p, double *out, double *magnitude)
{
	const double *a, *b;
	double sum, size;
	uint32_t x, y, i;

	for (y = 0; y < p->m; y++) {
		for (x = 0; x < p->n; x++) {
			a = p->a + (size_t)y * p->k;
			b = p->b + (size_t)x * p->k;
			for (sum = 0, i = 0; i < p->k; i++)
				sum += a[i] * b[i];
			out[(size_t)y * p->n + x] = sum;
			for (size = 0, i = 0; magnitude && i < p->k; i++)
				size += fabs(a[i] * b[i]);
			if (magnitude)
				magnitude[(size_t)y * p->n + x] = size;
		}
	}
}

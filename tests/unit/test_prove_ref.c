/* SPDX-License-Identifier: Apache-2.0 */
/* The references of the kernels, and the sizes of what goes through pipes and to the driver. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "prove/reference.h"
#include "prove/worker.h"

static void formats_keep_what_they_can_hold(void **state)
{
	static const struct {
		enum ref_format f;
		uint32_t bits;
		double value;
	} rows[] = {
		{ REF_F16, 0x3c00, 1 },	      { REF_F16, 0xc500, -5 },
		{ REF_F16, 0x0001, 0x1p-24 }, { REF_F16, 0x7bff, 65504 },
		{ REF_BF16, 0x3f80, 1 },      { REF_BF16, 0xc37f, -255 },
		{ REF_TF32, 0x3f800000, 1 },  { REF_S8, 0x80, -128 },
		{ REF_S8, 0x7f, 127 },	      { REF_E4M3, 0x38, 1 },
		{ REF_E4M3, 0x7e, 448 },      { REF_E4M3, 0x01, 0x1p-9 },
		{ REF_E5M2, 0x3c, 1 },	      { REF_E5M2, 0x7b, 57344 },
		{ REF_E5M2, 0xc7, -7 },
	};
	uint32_t u;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		u = 0;
		ref_set(rows[i].f, &u, 0, rows[i].value);
		assert_int_equal(u, rows[i].bits);
		assert_true(ref_value(rows[i].f, &u, 0) == rows[i].value);
	}
	/* To the nearest, ties to even, with a carry into the exponent. */
	u = 0;
	ref_set(REF_E4M3, &u, 0, 1.0625);
	assert_true(ref_value(REF_E4M3, &u, 0) == 1.0);
	ref_set(REF_E4M3, &u, 0, 1.97);
	assert_true(ref_value(REF_E4M3, &u, 0) == 2.0);
}

static void every_value_of_a_format_survives(void **state)
{
	static const struct {
		enum ref_format f;
		uint32_t n, nan;
	} rows[] = { { REF_E4M3, 256, 0x7f }, { REF_E5M2, 256, 0x7c }, { REF_F16, 65536, 0x7c00 } };
	uint32_t u, v, sign;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		sign = rows[i].n / 2;
		for (u = 0; u < rows[i].n; u++) {
			if ((u & (sign - 1)) >= rows[i].nan || u == sign)
				continue;
			v = 0;
			ref_set(rows[i].f, &v, 0, ref_value(rows[i].f, &u, 0));
			assert_int_equal(u, v);
		}
	}
}

static void high_half_is_that_of_128_bits(void **state)
{
	uint64_t a = 0xfedcba9876543210ULL, b = 0xffffffffffffffffULL, out, x = a, y = b, h;

	(void)state;
	ref_int(&out, &a, &b, 1);
	h = x * y ^ (uint64_t)((unsigned __int128)x * y >> 64);
	h += x / y + x % y * 3;
	h ^= x << (y & 63) | y >> (x & 63);
	h += (uint64_t)__builtin_popcountll(x) << 32 | (uint64_t)__builtin_clzll(y);
	h ^= (uint64_t)((int64_t)x >> 7);
	assert_true(out == h);
}

static void a_note_comes_whole(void **state)
{
	(void)state;
	assert_true(sizeof(struct worker_note) <= PIPE_BUF);
	assert_int_equal(sizeof(CUDA_RESOURCE_DESC), 144);
	assert_int_equal(sizeof(CUDA_TEXTURE_DESC), 104);
	assert_int_equal(sizeof(CUDA_ARRAY3D_DESCRIPTOR), 40);
}

static void ladder_is_in_order(void **state)
{
	size_t i;
	bool base = true;

	(void)state;
	for (i = 0; ladder[i]; i++) {
		/* What all rest on comes first, in one piece. */
		assert_true(base || !ladder[i]->base);
		base = ladder[i]->base;
		assert_true(ladder[i]->deadline_s > 0);
	}
	assert_true(i < WORKER_RUNGS_MAX);
}

static void a_figure_or_a_verdict(void **state)
{
	struct proof_test t[2] = { { .name = "ptx-jit" }, { .name = "memory" } };
	struct proof p = { .tests = t, .n = 2 };

	(void)state;
	assert_int_equal(proof_exit(&p), 0);
	t[1].o.result = PROOF_HUNG;
	assert_int_equal(proof_exit(&p), 1);
	t[1].o.result = PROOF_INCONCLUSIVE;
	assert_string_equal(proof_verdict(&p), "degraded");
	t[0].o.result = PROOF_SKIP;
	assert_int_equal(proof_exit(&p), 3);
	t[0].o.result = PROOF_PASS;
	p.interrupted = true;
	assert_int_equal(proof_exit(&p), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_keep_what_they_can_hold),
		cmocka_unit_test(every_value_of_a_format_survives),
		cmocka_unit_test(high_half_is_that_of_128_bits),
		cmocka_unit_test(a_note_comes_whole),
		cmocka_unit_test(ladder_is_in_order),
		cmocka_unit_test(a_figure_or_a_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

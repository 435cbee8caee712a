/* SPDX-License-Identifier: Apache-2.0 */
/* Versions, compute capabilities and the rules of binary compatibility, row by row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/attr.h"
#include "model/version.h"

static void dotted_versions_compare_by_number(void **state)
{
	static const struct {
		const char *a, *b;
		int sign;
	} rows[] = {
		{ .a = "580.65.06", .b = "580.65.6", .sign = 0 },
		{ .a = "9.10", .b = "9.9", .sign = 1 },
		{ .a = "12.4", .b = "12.4.0", .sign = 0 },
		{ .a = "535.183.01", .b = "535.54", .sign = 1 },
		{ .a = "2.6.0+cu124", .b = "2.6", .sign = 0 },
		{ .a = "470", .b = "470.1", .sign = -1 },
		{ .a = "junk", .b = "1", .sign = -1 },
		{ .a = NULL, .b = NULL, .sign = 0 },
	};
	size_t i;
	int c;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		c = version_cmp_str(rows[i].a, rows[i].b);
		assert_int_equal((c > 0) - (c < 0), rows[i].sign);
	}
	assert_true(version_at_least("525.60.13", "525.60.13"));
	assert_false(version_at_least("525.60.12", "525.60.13"));
	assert_false(version_at_least("x", "1"));
}

static void malformed_versions_are_refused(void **state)
{
	static const char *const bad[] = {
		"", ".", "1.", ".1", "1..2", "1.2.3.4.5.6.7", "1.99999999999", "v1", "1 "
	};
	struct version v;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(version_parse(view_of(bad[i]), &v));
	assert_true(version_prefix(VIEW("570.86.15-0ubuntu1"), &v) && v.n == 3 && v.part[1] == 86);
	assert_true(version_prefix(VIEW("12."), &v) && v.n == 1);
}

static void tags_and_numbers_name_cuda(void **state)
{
	struct arena *a = arena_new(NULL);

	(void)state;
	assert_string_equal(version_of_cu_tag(a, "cu124"), "12.4");
	assert_string_equal(version_of_cu_tag(a, "cu92"), "9.2");
	assert_null(version_of_cu_tag(a, "cpu"));
	assert_null(version_of_cu_tag(a, "cu1"));
	assert_null(version_of_cu_tag(a, "cu12a"));
	assert_string_equal(version_of_cuda_number(a, 12040), "12.4");
	assert_string_equal(version_of_cuda_number(a, 13000), "13.0");
	assert_null(version_of_cuda_number(a, 0));
	assert_int_equal(cc_parse("8.9"), 89);
	assert_int_equal(cc_parse("12.0"), 120);
	assert_int_equal(cc_parse("8"), -1);
	assert_int_equal(cc_parse("8.10"), -1);
	assert_int_equal(cc_parse(NULL), -1);
	arena_free(a);
}

/*
 * Source: CUDA C++ Programming Guide (binary and PTX compatibility), NVCC manual (arch- and
 * family-specific targets).
 */
static void code_runs_where_the_guide_says(void **state)
{
	static const struct {
		const char *target;
		int device;
		enum arch_run want;
	} rows[] = {
		{ .target = "sm_80", .device = 80, .want = ARCH_RUNS },
		{ .target = "sm_80", .device = 86, .want = ARCH_RUNS },
		{ .target = "sm_80", .device = 89, .want = ARCH_RUNS },
		{ .target = "sm_86", .device = 80, .want = ARCH_NO },
		{ .target = "sm_80", .device = 87, .want = ARCH_NO }, /* Orin is a Tegra */
		{ .target = "sm_87", .device = 87, .want = ARCH_RUNS },
		{ .target = "sm_70", .device = 75, .want = ARCH_RUNS },
		{ .target = "sm_60", .device = 61, .want = ARCH_RUNS },
		{ .target = "sm_60", .device = 62, .want = ARCH_NO },
		{ .target = "sm_50", .device = 52, .want = ARCH_RUNS },
		{ .target = "sm_90", .device = 100, .want = ARCH_NO },
		{ .target = "sm_90a", .device = 90, .want = ARCH_RUNS },
		{ .target = "sm_90a", .device = 100, .want = ARCH_NO },
		{ .target = "sm_100", .device = 103, .want = ARCH_RUNS },
		{ .target = "sm_100f", .device = 103, .want = ARCH_RUNS },
		{ .target = "sm_100f", .device = 120, .want = ARCH_NO },
		{ .target = "sm_100a", .device = 103, .want = ARCH_NO },
		{ .target = "sm_101", .device = 110, .want = ARCH_RUNS }, /* renamed in 13.0 */
		{ .target = "sm_120", .device = 121, .want = ARCH_RUNS },
		{ .target = "sm_120", .device = 100, .want = ARCH_NO },
		{ .target = "compute_50", .device = 90, .want = ARCH_RUNS_JIT },
		{ .target = "compute_90", .device = 89, .want = ARCH_NO },
		{ .target = "compute_90a", .device = 90, .want = ARCH_RUNS_JIT },
		{ .target = "compute_90a", .device = 100, .want = ARCH_NO },
		{ .target = "compute_37", .device = 121, .want = ARCH_RUNS_JIT },
		{ .target = "compute_80", .device = 87, .want = ARCH_RUNS_JIT },
	};
	struct arch t;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(arch_parse(rows[i].target, &t));
		if (arch_runs(&t, rows[i].device) != rows[i].want)
			fail_msg("%s on %d", rows[i].target, rows[i].device);
	}
	assert_false(arch_parse("sm_", &t));
	assert_false(arch_parse("sm_9", &t));
	assert_false(arch_parse("gfx90a", &t));
	assert_false(arch_parse("sm_90b", &t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dotted_versions_compare_by_number),
		cmocka_unit_test(malformed_versions_are_refused),
		cmocka_unit_test(tags_and_numbers_name_cuda),
		cmocka_unit_test(code_runs_where_the_guide_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drivers, CUDA releases and PyTorch builds in the real tables, where the rules are easily got
 * wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/attr.h"
#include "compat/compat.h"

struct fixture {
	struct arena *a;
	struct compat *c;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->a = arena_new(NULL);
	assert_int_equal(compat_open(f->a, NULL, &f->c, NULL), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	assert_null(compat_error(f->c));
	arena_free(f->a);
	free(f);
	return 0;
}

static void same_text(const char *got, const char *wanted, const char *what)
{
	if (got && wanted && strcmp(got, wanted) == 0)
		return;
	if (!got && !wanted)
		return;
	print_error("%s: %s, not %s\n", what, got ? got : "(null)", wanted ? wanted : "(null)");
	fail();
}

static void one_minimum_a_major_from_cuda_11_on(void **state)
{
	static const struct {
		const char *cuda, *linux_, *windows;
		bool inferred;
	} rows[] = {
		{ .cuda = "8.0", .linux_ = "367.48", .windows = "369.30" },
		{ .cuda = "9.0", .linux_ = "384.81", .windows = "385.54" },
		{ .cuda = "10.2", .linux_ = "440.33", .windows = "441.22" },
		{ .cuda = "11.0", .linux_ = "450.80.02", .windows = "452.39" },
		{ .cuda = "11.8", .linux_ = "450.80.02", .windows = "452.39" },
		{ .cuda = "12.0", .linux_ = "525.60.13", .windows = "527.41" },
		{ .cuda = "12.4", .linux_ = "525.60.13", .windows = "527.41" },
		{ .cuda = "12.4.1", .linux_ = "525.60.13", .windows = "527.41" },
		{ .cuda = "12.9", .linux_ = "525.60.13", .windows = "527.41" },
		{ .cuda = "13.0", .linux_ = "580.65.06", .windows = "580" },
		{ .cuda = "13.5", .linux_ = "580.65.06", .windows = "580" },
		/* beyond the table: the major's rule, said to be inferred; a major without a row
		   has none */
		{ .cuda = "13.9", .linux_ = "580.65.06", .windows = "580", .inferred = true },
		{ .cuda = "12.15", .linux_ = "525.60.13", .windows = "527.41", .inferred = true },
		{ .cuda = "10.9", .linux_ = NULL, .windows = NULL },
		{ .cuda = "14.0", .linux_ = NULL, .windows = NULL },
		{ .cuda = "12", .linux_ = NULL, .windows = NULL },
		{ .cuda = "junk", .linux_ = NULL, .windows = NULL },
		{ .cuda = NULL, .linux_ = NULL, .windows = NULL },
	};
	struct fixture *f = *state;
	bool inferred;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const char *what = rows[i].cuda ? rows[i].cuda : "(null)";

		same_text(compat_min_driver(f->c, rows[i].cuda, false, &inferred), rows[i].linux_,
			  what);
		assert_int_equal(inferred, rows[i].inferred);
		same_text(compat_min_driver(f->c, rows[i].cuda, true, NULL), rows[i].windows, what);
	}
}

static void a_driver_knows_the_cuda_of_its_branch(void **state)
{
	static const struct {
		const char *driver, *cuda;
		int branch; /* 0: none */
		bool exact;
	} rows[] = {
		{ .driver = "535.183.01", .cuda = "12.2", .branch = 535, .exact = true },
		{ .driver = "580.65.06", .cuda = "13.0", .branch = 580, .exact = true },
		{ .driver = "580", .cuda = "13.0", .branch = 580, .exact = true },
		{ .driver = "565.57.01", .cuda = "12.7", .branch = 565, .exact = true },
		{ .driver = "470.256.02", .cuda = "11.4", .branch = 470, .exact = true },
		/* not listed: the neighbour below; Windows' numbers come out right by it */
		{ .driver = "585.10", .cuda = "13.0", .branch = 580 },
		{ .driver = "551.61", .cuda = "12.4", .branch = 550 },
		{ .driver = "528.33", .cuda = "12.0", .branch = 525 },
		{ .driver = "999.1", .cuda = "13.5", .branch = 620 },
		/* a branch without a ceiling of its own: the releases' minimums */
		{ .driver = "352.39", .cuda = "7.5", .branch = 340 },
		{ .driver = "12.0", .cuda = NULL, .branch = 0 },
		{ .driver = "junk", .cuda = NULL, .branch = 0 },
		{ .driver = "", .cuda = NULL, .branch = 0 },
		{ .driver = NULL, .cuda = NULL, .branch = 0 },
		{ .driver = "99999999.1", .cuda = NULL, .branch = 0 },
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const char *what = rows[i].driver ? rows[i].driver : "(null)";
		const struct driver_row *d;
		bool exact;

		d = compat_driver(f->c, rows[i].driver, &exact);
		assert_int_equal(d ? d->branch : 0, rows[i].branch);
		assert_int_equal(exact, rows[i].exact);
		if (rows[i].branch || !rows[i].driver || rows[i].driver[0] < '9')
			same_text(compat_driver_cuda(f->c, rows[i].driver), rows[i].cuda, what);
	}
}

static void recommended_branches_are_maintained(void **state)
{
	static const struct {
		const char *cuda, *branch;
	} rows[] = {
		{ .cuda = "11.8", .branch = "580" }, /* 535 ended before the table's date */
		{ .cuda = "12.4", .branch = "580" }, { .cuda = "13.0", .branch = "580" },
		{ .cuda = "13.2", .branch = "595" }, { .cuda = "13.5", .branch = "620" },
		{ .cuda = "14.0", .branch = NULL },  { .cuda = NULL, .branch = NULL },
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		same_text(compat_recommended_branch(f->c, rows[i].cuda), rows[i].branch,
			  rows[i].cuda ? rows[i].cuda : "(null)");
}

static void cuda_releases_are_found_by_major_and_minor(void **state)
{
	struct fixture *f = *state;
	const struct cuda_row *r = compat_cuda(f->c, "12.4.1");

	assert_non_null(r);
	assert_string_equal(r->cuda, "12.4");
	assert_string_equal(r->min_driver_linux, "550.54.14");
	assert_string_equal(r->minor_min_linux, "525.60.13");
	assert_int_equal(r->nvcc_max_cc, 90);
	assert_ptr_equal(compat_cuda(f->c, "12.4"), r);
	assert_null(compat_cuda(f->c, "12"));
	assert_null(compat_cuda(f->c, "12.40"));
	assert_null(compat_cuda(f->c, NULL));
}

static void builds_are_found_whole(void **state)
{
	struct fixture *f = *state;
	const struct torch_row *r = compat_torch(f->c, "2.6.0", "linux_x86_64", "cu124");

	assert_non_null(r);
	assert_string_equal(r->cudnn, "9.1.0.70");
	assert_string_equal(r->cuda, "12.4");
	assert_string_equal(r->torchvision, "0.21.0");
	assert_true(r->pypi_default);
	assert_string_equal(r->index_url, "https://download.pytorch.org/whl/cu124");
	assert_ptr_equal(compat_torch(f->c, "2.6", "linux_x86_64", "cu124"), r);
	assert_ptr_equal(compat_torch(f->c, "2.6.0+cu118", "linux_x86_64", "cu124"), r);
	assert_null(compat_torch(f->c, "2.6.0a0+git1", "linux_x86_64", "cu124"));
	assert_null(compat_torch(f->c, "2.6.0", "linux_x86_64", "cu132"));
	assert_null(compat_torch(f->c, "2.6.0", "linux_x86_64", NULL));
	assert_null(compat_torch(f->c, NULL, NULL, NULL));
	assert_true(compat_torch_release(f->c, "2.6.0"));
	assert_false(compat_torch_release(f->c, "9.9"));
	assert_false(compat_torch_release(f->c, "2.6.0rc1"));
	assert_string_equal(compat_torch_of(f->c, "torchvision", "0.21.0"), "2.6.0");
	assert_string_equal(compat_torch_of(f->c, "torchvision", "0.21.0+cu124"), "2.6.0");
	assert_null(compat_torch_of(f->c, "torchvision", "99.0"));
	assert_null(compat_torch_of(f->c, "numpy", "0.21.0"));
	r = compat_torch(f->c, "1.0.0", "linux_x86_64", "cu100");
	assert_true(r && r->find_links);
}

/* All ways to a row give the same row. */
static void rows_one_by_one_and_all_at_once_agree(void **state)
{
	struct fixture *f = *state;
	const struct torch_row *all, *r;
	const struct torch_row *const *some;
	size_t n, i, of_release = 0;

	r = compat_torch_at(f->c, 5);
	all = compat_torch_rows(f->c, &n);
	assert_int_equal(n, compat_count(f->c, "torch"));
	assert_string_equal(all[5].source, r->source);
	for (i = 0; i < n; i += 13) {
		r = compat_torch(f->c, all[i].version, all[i].platform, all[i].variant);
		assert_non_null(r);
		assert_string_equal(r->source, all[i].source);
		assert_int_equal(r->n_arch, all[i].n_arch);
	}
	for (i = 0; i < n; i++)
		of_release += strcmp(all[i].version, "2.7.1") == 0;
	some = compat_torch_of_release(f->c, "2.7.1");
	for (i = 0; some[i]; i++)
		assert_string_equal(some[i]->version, "2.7.1");
	assert_int_equal(i, of_release);
	assert_null(compat_torch_of_release(f->c, "junk")[0]);
}

static void code_is_taken_before_ptx(void **state)
{
	static const char *const wheel[] = { "sm_50", "sm_80",	    "sm_86",
					     "sm_90", "compute_90", "compute_50" };
	static const char *const orin[] = { "sm_87", "sm_80" };
	static const struct {
		int cc;
		enum arch_fit fit;
		const char *entry;
	} rows[] = {
		{ .cc = 89, .fit = ARCH_FIT_SASS, .entry = "sm_86" },
		{ .cc = 80, .fit = ARCH_FIT_SASS, .entry = "sm_80" },
		{ .cc = 61, .fit = ARCH_FIT_PTX, .entry = "compute_50" },
		{ .cc = 120, .fit = ARCH_FIT_PTX, .entry = "compute_90" },
		{ .cc = 52, .fit = ARCH_FIT_SASS, .entry = "sm_50" },
		{ .cc = 37, .fit = ARCH_FIT_NONE, .entry = NULL },
		{ .cc = 87, .fit = ARCH_FIT_PTX, .entry = "compute_50" },
		{ .cc = -1, .fit = ARCH_FIT_NONE, .entry = NULL },
	};
	const char *entry;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(compat_arch_fit(wheel, ARRAY_LEN(wheel), rows[i].cc, &entry),
				 rows[i].fit);
		same_text(entry, rows[i].entry, "entry");
	}
	/* A Tegra's code is its own. */
	assert_int_equal(compat_arch_fit(orin, 2, 87, &entry), ARCH_FIT_SASS);
	same_text(entry, "sm_87", "Orin");
	assert_int_equal(compat_arch_fit(orin, 2, 86, &entry), ARCH_FIT_SASS);
	same_text(entry, "sm_80", "8.6 beside Orin");
	assert_int_equal(compat_arch_fit(NULL, 0, 86, NULL), ARCH_FIT_NONE);
}

static void sources_can_be_read(void **state)
{
	struct fixture *f = *state;

	assert_non_null(strstr(compat_source(f->c, "gpu", "I"), "pci.ids"));
	assert_string_equal(compat_source(f->c, "gpu", "no such key"), "no such key");
	assert_string_equal(compat_source(f->c, "no such table", "I"), "I");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(one_minimum_a_major_from_cuda_11_on),
		T(a_driver_knows_the_cuda_of_its_branch),
		T(recommended_branches_are_maintained),
		T(cuda_releases_are_found_by_major_and_minor),
		T(builds_are_found_whole),
		T(rows_one_by_one_and_all_at_once_agree),
		T(code_is_taken_before_ptx),
		T(sources_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

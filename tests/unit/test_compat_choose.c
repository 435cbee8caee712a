/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chooser against an exhaustive search that shares no code with it, over random wishes; and
 * wishes worth a name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/attr.h"
#include "compat/table.h"

enum { WISHES = 4000, PARTS = 4 };

/* -------- a second opinion, written from the rules and not from the program */

static void parts_of(const char *s, long p[PARTS])
{
	char *end;
	int i;

	memset(p, 0, PARTS * sizeof(*p));
	for (i = 0; s && i < PARTS && *s; i++) {
		p[i] = strtol(s, &end, 10);
		s = *end == '.' ? end + 1 : "";
	}
}

static int order(const char *a, const char *b)
{
	long x[PARTS], y[PARTS];
	int i;

	parts_of(a, x);
	parts_of(b, y);
	for (i = 0; i < PARTS; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static bool integrated(int cc)
{
	return cc == 53 || cc == 62 || cc == 72 || cc == 87 || cc == 110;
}

/* 2 machine code, 1 PTX, 0 nothing */
static int fit_of(const struct torch_row *r, int cc)
{
	int best = 0;
	size_t i;

	for (i = 0; i < r->n_arch; i++) {
		const char *s = r->arch_list[i];
		bool ptx = strncmp(s, "compute_", 8) == 0;
		char *end;
		int target = (int)strtol(s + (ptx ? 8 : 3), &end, 10), fit = 0;

		if (target == 101)
			target = 110;
		if (*end == 'a')
			fit = target == cc ? (ptx ? 1 : 2) : 0;
		else if (ptx)
			fit = target <= cc ? 1 : 0;
		else if (integrated(target) || integrated(cc))
			fit = target == cc ? 2 : 0;
		else
			fit = target / 10 == cc / 10 && target <= cc ? 2 : 0;
		best = fit > best ? fit : best;
	}
	return best;
}

/* Release notes: what a driver branch prints as its CUDA version. */
static const char *const ceilings[][2] = {
	{ "390.157", "9.1" },	  { "418.39", "10.1" },	   { "450.80.02", "11.0" },
	{ "470.199.02", "11.4" }, { "510.47.03", "11.6" }, { "525.60.13", "12.0" },
	{ "535.183.01", "12.2" }, { "550.54.14", "12.4" }, { "565.57.01", "12.7" },
	{ "570.86.16", "12.8" },  { "575.51.03", "12.9" }, { "580.65.06", "13.0" },
	{ "590.48.01", "13.1" },  { "595.45.04", "13.2" }, { "620.70.06", "13.5" },
};

static const char *least_driver(struct compat *c, const char *cuda, bool windows)
{
	const struct cuda_row *r;

	switch (atoi(cuda)) {
	case 11:
		return windows ? "452.39" : "450.80.02";
	case 12:
		return windows ? "527.41" : "525.60.13";
	case 13:
		return windows ? "580" : "580.65.06";
	default:
		r = compat_cuda(c, cuda);
		return !r ? NULL : windows ? r->min_driver_windows : r->min_driver_linux;
	}
}

static bool holds(const char *const *list, const char *s)
{
	for (; *list; list++)
		if (strcmp(*list, s) == 0)
			return true;
	return false;
}

/* 0 when the row does not serve; else its rank within its release, and the worst fit. */
static int rank_of(struct compat *c, const struct torch_wish *w, const struct torch_row *r,
		   const char *ceiling, int *ret_fit)
{
	const char *platform = w->platform  ? w->platform
			       : w->windows ? "windows_x86_64"
					    : "linux_x86_64";
	bool native = true;
	int fit = 2, f;
	size_t i;

	if (strcmp(r->platform, platform) != 0 || strncmp(r->variant, "cu", 2) != 0 ||
	    !r->arch_list || r->unconfirmed || !r->index_url)
		return 0;
	if (w->version && order(r->version, w->version) != 0)
		return 0;
	if (w->python && !holds((const char *const *)r->python, w->python))
		return 0;
	if (w->glibc && strncmp(platform, "linux", 5) == 0 &&
	    (!r->min_glibc || order(w->glibc, r->min_glibc) < 0))
		return 0;
	for (i = 0; i < w->n_ccs; i++) {
		f = fit_of(r, w->ccs[i]);
		fit = f < fit ? f : fit;
	}
	if (w->driver) {
		const char *least = least_driver(c, r->cuda, w->windows);

		native = order(ceiling, r->cuda) >= 0;
		if (!least || order(w->driver, least) < 0 || (fit == 1 && !native))
			return 0;
	}
	*ret_fit = fit;
	return fit ? 1000000 * native + 100000 * r->pypi_default +
			       (int)(10 * strtod(r->cuda, NULL)) * 10
		   : 0;
}

static const struct torch_row *search(struct compat *c, const struct torch_wish *w,
				      const char *ceiling)
{
	const struct torch_row *rows, *best = NULL;
	int best_fit = 0, best_rank = 0, rank, fit, o;
	size_t n, i;

	rows = compat_torch_rows(c, &n);
	for (i = 0; i < n; i++) {
		rank = rank_of(c, w, &rows[i], ceiling, &fit);
		if (!rank)
			continue;
		o = best ? order(rows[i].version, best->version) : 1;
		if (!best || fit > best_fit ||
		    (fit == best_fit && (o > 0 || (o == 0 && rank > best_rank)))) {
			best = &rows[i];
			best_fit = fit;
			best_rank = rank;
		}
	}
	return best;
}

/* -------- random wishes; the generator is fixed, so a failure can be repeated */

static unsigned next(uint64_t *seed, unsigned below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*seed >> 33) % below;
}

struct wish {
	struct torch_wish w;
	int ccs[3];
	const char *ceiling;
};

static void random_wish(uint64_t *seed, struct wish *r)
{
	static const int ccs[] = { 30, 35, 37, 50, 52, 53, 60,	61,  62,  70,  72,
				   75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121 };
	static const char *const pythons[] = { "2.7",  "3.6",  "3.8",  "3.9", "3.10",
					       "3.11", "3.12", "3.13", "3.14" };
	static const char *const glibcs[] = { "2.12", "2.17", "2.27", "2.28", "2.31", "2.39" };
	static const char *const versions[] = { "1.0.0",  "1.7.1",  "1.13.1", "2.0.1",
						"2.3.1",  "2.5.1",  "2.6.0",  "2.7.1",
						"2.8.0",  "2.9.1",  "2.11.0", "2.13.0",
						"2.14.0", "2.14.1", "2.15.0", "9.9" };
	size_t i, k;

	*r = (struct wish){ .w = { .n_ccs = next(seed, 4) } };
	for (i = 0; i < r->w.n_ccs; i++)
		r->ccs[i] = ccs[next(seed, ARRAY_LEN(ccs))];
	r->w.ccs = r->ccs;
	if (next(seed, 4)) {
		k = next(seed, ARRAY_LEN(ceilings));
		r->w.driver = ceilings[k][0];
		r->ceiling = ceilings[k][1];
	}
	if (next(seed, 2))
		r->w.python = pythons[next(seed, ARRAY_LEN(pythons))];
	if (next(seed, 3) == 0)
		r->w.glibc = glibcs[next(seed, ARRAY_LEN(glibcs))];
	if (next(seed, 3) == 0)
		r->w.version = versions[next(seed, ARRAY_LEN(versions))];
	r->w.windows = next(seed, 5) == 0;
	if (!r->w.windows && next(seed, 4) == 0)
		r->w.platform = "linux_aarch64";
}

static void print_wish(const struct wish *r)
{
	size_t i;

	print_error("wish: driver %s python %s glibc %s torch %s windows %d platform %s cc",
		    r->w.driver, r->w.python, r->w.glibc, r->w.version, r->w.windows,
		    r->w.platform);
	for (i = 0; i < r->w.n_ccs; i++)
		print_error(" %d", r->ccs[i]);
	print_error("\n");
}

static void the_choice_is_the_best_of_all(void **state)
{
	struct arena *a = arena_new(NULL);
	const struct torch_row *got, *wanted;
	size_t i, found = 0, bad = 0;
	uint64_t seed = 20261130;
	struct compat *c;
	struct wish r;

	(void)state;
	assert_int_equal(compat_open(a, NULL, &c, NULL), 0);
	for (i = 0; i < WISHES; i++) {
		random_wish(&seed, &r);
		got = compat_torch_choose(c, &r.w);
		wanted = search(c, &r.w, r.ceiling);
		found += wanted != NULL;
		if (!got == !wanted && (!got || strcmp(got->source, wanted->source) == 0))
			continue;
		print_wish(&r);
		print_error("chosen %s, best %s\n", got ? got->source : "none",
			    wanted ? wanted->source : "none");
		if (++bad == 5)
			break;
	}
	assert_int_equal(bad, 0);
	/* Neither "always none" nor "always some" would show anything. */
	assert_in_range(found, WISHES / 10, WISHES * 9 / 10);
	assert_null(compat_error(c));
	arena_free(a);
}

static void choices_that_people_rely_on(void **state)
{
	static const int pascal[] = { 61 }, volta[] = { 70 }, mixed[] = { 75, 90 },
			 blackwell[] = { 120 }, kepler[] = { 35 }, impossible[] = { 30, 120 };
	static const struct {
		struct torch_wish w;
		const char *variant; /* NULL: nothing serves */
	} rows[] = {
		{ .w = { .ccs = pascal, .n_ccs = 1, .driver = "580.65.06" }, .variant = "cu126" },
		{ .w = { .ccs = volta, .n_ccs = 1, .driver = "535.183.01" }, .variant = "cu126" },
		{ .w = { .ccs = mixed, .n_ccs = 2, .driver = "580.65.06" }, .variant = "cu130" },
		{ .w = { .ccs = blackwell, .n_ccs = 1, .driver = "570.86.16" },
		  .variant = "cu129" },
		{ .w = { .ccs = blackwell, .n_ccs = 1, .driver = "570.86.16", .version = "2.6.0" },
		  .variant = NULL },
		{ .w = { .ccs = pascal, .n_ccs = 1, .version = "2.7.1", .driver = "580.65.06" },
		  .variant = "cu126" },
		{ .w = { .ccs = kepler, .n_ccs = 1, .driver = "470.199.02", .python = "3.12" },
		  .variant = NULL },
		{ .w = { .ccs = impossible, .n_ccs = 2 }, .variant = NULL },
		{ .w = { .version = "2.15.0" }, .variant = NULL }, /* its code is not known */
		{ .w = { .version = "9.9" }, .variant = NULL },
		{ .w = { .version = "junk" }, .variant = NULL },
		{ .w = { .platform = "riscv" }, .variant = NULL },
		{ .w = { .platform = "macos_arm64" }, .variant = "cpu" },
		{ .w = { .python = "3.12.4", .version = "2.6.0" }, .variant = "cu124" },
		{ .w = { .python = "3.13t", .version = "2.6.0", .driver = "550.54.14" },
		  .variant = "cu124" },
		{ .w = { .glibc = "2.17", .version = "2.7.1" }, .variant = NULL },
	};
	struct arena *a = arena_new(NULL);
	struct compat *c;
	size_t i, bad = 0;

	(void)state;
	assert_int_equal(compat_open(a, NULL, &c, NULL), 0);
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const struct torch_row *r = compat_torch_choose(c, &rows[i].w);

		if (!r == !rows[i].variant && (!r || strcmp(r->variant, rows[i].variant) == 0))
			continue;
		print_error("row %zu: chosen %s, not %s\n", i, r ? r->source : "none",
			    rows[i].variant ? rows[i].variant : "none");
		bad++;
	}
	assert_int_equal(bad, 0);
	arena_free(a);
}

#define BUILD(version, variant, cuda, archs, more)                                          \
	"{\"version\":\"" version "\",\"platform\":\"linux_x86_64\",\"variant\":\"" variant \
	"\",\"cuda\":\"" cuda "\","                                                         \
	"\"python\":[\"3.12\"],\"arch_list\":[" archs                                       \
	"],\"min_glibc\":\"2.28\",\"index_url\":\"u\"" more "}"

/*
 * What no published build shows today: newer releases with PTX alone, and one that nobody has
 * confirmed.
 */
static const char made_up[] =
	"{\"schema\":\"cuvet.compat/1\",\"table\":\"torch\",\"rows\":["
	BUILD("4.0.0", "cu130", "13.0", "\"sm_90\"", ",\"status\":\"unconfirmed\"") ","
	BUILD("4.0.1", "cu130", "13.0", "\"sm_90\"", ",\"arch_confidence\":\"unverified\"") ","
	BUILD("2.9.0", "cu128", "12.8", "\"sm_90\"", "") "," /* not in order: the version counts */
	BUILD("3.1.0", "cu130", "13.0", "\"compute_80\"", "") ","
	BUILD("3.0.0", "cu128", "12.8", "\"compute_80\"", "") ","
	BUILD("3.0.0", "cu126", "12.6", "\"compute_80\"", ",\"pypi_default\":true") ","
	BUILD("2.8.0", "cu126", "12.6", "\"sm_90\"", "") "]}";

static void code_for_every_gpu_outranks_a_newer_release(void **state)
{
	static const int hopper[] = { 90 }, ampere[] = { 80 };
	static const struct {
		struct torch_wish w;
		const char *version, *variant;
	} rows[] = {
		{ .w = { .ccs = hopper, .n_ccs = 1 }, .version = "2.9.0", .variant = "cu128" },
		{ .w = { .ccs = ampere, .n_ccs = 1 }, .version = "3.1.0", .variant = "cu130" },
		/* PTX needs a driver that knows the build's CUDA; the newest such release, then
		   PyPI's default */
		{ .w = { .ccs = ampere, .n_ccs = 1, .driver = "570.86.16" },
		  .version = "3.0.0",
		  .variant = "cu126" },
		{ .w = { .ccs = ampere, .n_ccs = 1, .driver = "550.54.14" }, .version = NULL },
		{ .w = { .ccs = hopper, .n_ccs = 1, .driver = "550.54.14" },
		  .version = "2.9.0",
		  .variant = "cu128" },
	};
	struct arena *a = arena_new(NULL);
	struct compat *c;
	size_t i;

	(void)state;
	assert_int_equal(compat_open(a, NULL, &c, NULL), 0);
	compat_replace(c, "torch", view_of(made_up));
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const struct torch_row *r = compat_torch_choose(c, &rows[i].w);

		assert_int_equal(r != NULL, rows[i].version != NULL);
		if (!r)
			continue;
		assert_string_equal(r->version, rows[i].version);
		assert_string_equal(r->variant, rows[i].variant);
	}
	assert_null(compat_error(c));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_for_every_gpu_outranks_a_newer_release),
		cmocka_unit_test(choices_that_people_rely_on),
		cmocka_unit_test(the_choice_is_the_best_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

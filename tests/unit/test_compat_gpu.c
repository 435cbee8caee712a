/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs in the real tables: names row by row from tests/data/gpu-names.data, ids, chips and
 * capabilities.
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
#include "base/file.h"
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

static int by_text(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* "AD106 AD107": chips of all rows, each once. */
static const char *chips_of(struct arena *a, const struct gpu_match *m)
{
	const char **list = arena_calloc(a, m->n + 1, sizeof(*list)), *out = "", *last = "";
	size_t n = 0, i;

	for (i = 0; i < m->n; i++)
		if (m->rows[i]->chip)
			list[n++] = m->rows[i]->chip;
	qsort(list, n, sizeof(*list), by_text);
	for (i = 0; i < n; i++) {
		if (strcmp(list[i], last) != 0)
			out = arena_printf(a, "%s%s%s", out, *out ? " " : "", list[i]);
		last = list[i];
	}
	return out;
}

static bool among(const struct gpu_match *m, struct view wanted)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (view_is(wanted, m->rows[i]->name ? m->rows[i]->name : "") ||
		    view_is(wanted, m->rows[i]->id ? m->rows[i]->id : ""))
			return true;
	return false;
}

static bool name_line(struct fixture *f, struct view line)
{
	struct view input, cc, chips, rest, one;
	struct gpu_match m;
	const char *got_cc, *got_chips;
	bool good = true;

	input = view_cut(line, '|', &rest);
	cc = view_cut(rest, '|', &rest);
	chips = view_cut(rest, '|', &rest);
	compat_gpu_find(f->c, view_dup(f->a, input), &m);
	got_cc = !m.n ? "-" : m.cc < 0 ? "?" : cc_text(f->a, m.cc);
	got_chips = chips_of(f->a, &m);
	if (!view_is(cc, got_cc) || (chips.n && !view_is(chips, got_chips))) {
		print_error("%.*s: cc %s, chips %s\n", (int)line.n, line.p, got_cc, got_chips);
		good = false;
	}
	while (rest.n) {
		one = view_cut(rest, ';', &rest);
		if (!among(&m, one)) {
			print_error("%.*s: %.*s is not among %zu rows\n", (int)input.n, input.p,
				    (int)one.n, one.p, m.n);
			good = false;
		}
	}
	return good;
}

static void names_mean_what_the_list_says(void **state)
{
	struct fixture *f = *state;
	struct view text, line;
	size_t bad = 0, n = 0;

	assert_int_equal(file_read(f->a, "tests/data/gpu-names.data", 1 << 20, &text, NULL), 0);
	while (view_line(&text, &line)) {
		if (!line.n || line.p[0] == '#')
			continue;
		n++;
		bad += !name_line(f, line);
	}
	assert_true(n > 80);
	assert_int_equal(bad, 0);
}

/*
 * Every name that a table holds finds the row that it stands in: "whole" excludes nothing that is
 * there.
 */
static void every_name_finds_its_row(void **state)
{
	struct fixture *f = *state;
	size_t i, n = compat_count(f->c, "gpu"), bad = 0;
	const char *id, *name;
	struct gpu_match m;

	assert_true(n > 1400);
	for (i = 0; i < n; i += 17) {
		id = compat_text(f->c, "gpu", i, "id");
		name = compat_text(f->c, "gpu", i, "name");
		if (!name || strstr(name, "..."))
			continue;
		compat_gpu_find(f->c, name, &m);
		if (!among(&m, view_of(id))) {
			print_error("%s does not find %s\n", name, id);
			bad++;
		}
	}
	assert_int_equal(bad, 0);
	n = compat_count(f->c, "name");
	for (i = 0; i < n; i += 61) {
		name = compat_text(f->c, "name", i, "name");
		compat_gpu_find(f->c, name, &m);
		if (!among(&m, view_of(name))) {
			print_error("%s is not found\n", name);
			bad++;
		}
	}
	assert_int_equal(bad, 0);
}

static void a_guest_has_no_memory_of_its_own(void **state)
{
	struct fixture *f = *state;
	struct gpu_match m;

	compat_gpu_find(f->c, "GRID T4-2A", &m);
	assert_int_equal(m.n, 1);
	assert_string_equal(m.rows[0]->gpu_class, "vgpu");
	assert_true(m.rows[0]->memory_gib == 0);
	assert_string_equal(m.rows[0]->source, "matrix name GRID T4-2A");
}

static void unknown_names_get_near_ones(void **state)
{
	struct fixture *f = *state;
	struct gpu_match m;
	size_t i;

	compat_gpu_find(f->c, "RTX 9999", &m);
	assert_int_equal(m.n, 0);
	assert_int_equal(m.cc, -1);
	for (i = 0; m.near[i]; i++)
		;
	assert_in_range(i, 1, 5);
	compat_gpu_find(f->c, "GeForce RTX 4080 Superr", &m);
	assert_string_equal(m.near[0], "NVIDIA GeForce RTX 4080 SUPER");
	compat_gpu_find(f->c, NULL, &m);
	assert_int_equal(m.n, 0);
	assert_null(m.near[0]);
}

/* X1, X7: no length and no byte of a name may do more than find nothing. */
static void hostile_names_find_nothing(void **state)
{
	struct fixture *f = *state;
	struct gpu_match m;
	char big[70000];
	size_t i;

	memset(big, 'A', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	for (i = 0; i < 2; i++) {
		compat_gpu_find(f->c, big, &m);
		assert_int_equal(m.n, 0);
		memcpy(big + sizeof(big) - 4, "...", 3);
	}
	for (i = 1; i < 256; i++) {
		char s[] = { (char)i, '\0' }, t[] = { 'c', 'c', ':', (char)i, '\0' };

		compat_gpu_find(f->c, s, &m);
		assert_int_equal(m.n, 0);
		compat_gpu_find(f->c, t, &m);
		assert_int_equal(m.n, 0);
	}
}

static void the_first_driver_is_the_device_s_own_only_when_exact(void **state)
{
	struct fixture *f = *state;
	const struct gpu_row *g;
	size_t exact = 0, i;

	for (i = 0; (g = compat_gpu_at(f->c, i)); i++) {
		struct version v;

		if (!g->first_driver)
			continue;
		assert_true(version_parse(view_of(g->first_driver), &v));
		if (g->first_driver_exact) {
			assert_true(v.n >= 2);
			exact++;
		}
	}
	assert_true(exact > 100);
	g = compat_gpu(f->c, "1b06"); /* GTX 1080 Ti: the chip's */
	assert_non_null(g);
	assert_false(g->first_driver_exact);
	assert_int_equal(version_cmp_str(g->first_driver, "400") < 0, 1);
	assert_string_equal(g->last_driver, "580");
	assert_string_equal(g->open_module, "unsupported");
	g = compat_gpu(f->c, "2b85"); /* RTX 5090 */
	assert_true(g->first_driver_exact);
	assert_null(g->last_driver);
	assert_true(g->last_driver_known);
	assert_string_equal(g->open_module, "required");
}

static void subsystems_choose_the_name(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(compat_gpu_subsystem(f->c, "1e30", "10de:129e")->name,
			    "Quadro RTX 8000");
	assert_string_equal(compat_gpu_subsystem(f->c, "1e30", "10DE:129E")->name,
			    "Quadro RTX 8000");
	assert_string_equal(compat_gpu_subsystem(f->c, "1e30", "10de:ffff")->name,
			    "Quadro RTX 6000");
	assert_string_equal(compat_gpu_subsystem(f->c, "1e30", NULL)->name, "Quadro RTX 6000");
	assert_null(compat_gpu_subsystem(f->c, "ffff", "10de:129e"));
	assert_null(compat_gpu(f->c, NULL));
	assert_null(compat_gpu(f->c, "2684 "));
	assert_ptr_equal(compat_gpu(f->c, "2684"), compat_gpu(f->c, "2684"));
}

static void capabilities_stand_for_what_their_chips_share(void **state)
{
	struct fixture *f = *state;
	const struct gpu_row *g = compat_gpu_of_cc(f->c, 61);

	assert_string_equal(g->name, "compute capability 6.1");
	assert_string_equal(g->last_driver, "580");
	assert_string_equal(g->architecture, "Pascal");
	assert_null(g->id);
	assert_string_equal(compat_gpu_of_cc(f->c, 87)->gpu_class, "tegra");
	assert_null(compat_gpu_of_cc(f->c, 99));
	assert_null(compat_gpu_of_cc(f->c, -1));
	assert_null(compat_gpu_of_cc(f->c, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(names_mean_what_the_list_says),
		T(every_name_finds_its_row),
		T(a_guest_has_no_memory_of_its_own),
		T(unknown_names_get_near_ones),
		T(hostile_names_find_nothing),
		T(the_first_driver_is_the_device_s_own_only_when_exact),
		T(subsystems_choose_the_name),
		T(capabilities_stand_for_what_their_chips_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

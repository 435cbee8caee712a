/* SPDX-License-Identifier: Apache-2.0 */
/* Python's versions by the published rules: tests/data/pep440-*.data, one assertion a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/file.h"
#include "model/pep440.h"

enum { VERSIONS_MAX = 256 };

struct spelled {
	struct pep440 v;
	const char *text;
	size_t line;
};

static struct view read_data(struct arena *a, const char *path)
{
	struct view text;
	struct err err;

	if (file_read(a, path, 1 << 16, &text, &err))
		fail_msg("%s", err.msg);
	return text;
}

static void order_of_the_published_rules(void **state)
{
	struct arena *a = arena_new(NULL);
	struct view text = read_data(a, "tests/data/pep440-order.data"), line, word;
	static struct spelled list[VERSIONS_MAX];
	size_t n = 0, lines = 0, i, k;

	(void)state;
	while (view_line(&text, &line)) {
		lines++;
		if (view_starts(line, "#"))
			continue;
		while (view_word(&line, &word)) {
			assert_true(n < VERSIONS_MAX);
			list[n].text = view_dup(a, word);
			list[n].line = lines;
			if (!pep440_parse(word, &list[n].v))
				fail_msg("not read: %s", list[n].text);
			n++;
		}
	}
	assert_true(n > 80);
	for (i = 0; i < n; i++) {
		for (k = 0; k < n; k++) {
			int want = (list[i].line > list[k].line) - (list[i].line < list[k].line);
			int got = pep440_cmp(&list[i].v, &list[k].v);

			if ((got > 0) - (got < 0) != want)
				fail_msg("%s against %s: %d", list[i].text, list[k].text, got);
		}
	}
	arena_free(a);
}

static void specifiers_of_the_published_rules(void **state)
{
	struct arena *a = arena_new(NULL);
	struct view text = read_data(a, "tests/data/pep440-specifiers.data"), line, rest, spec,
		    version;
	size_t rows = 0, at;

	(void)state;
	while (view_line(&text, &line)) {
		struct pep440_spec s;
		struct pep440 v;
		const char *what;
		bool ok, holds;

		if (view_starts(line, "#"))
			continue;
		rows++;
		spec = view_cut(line, '|', &rest);
		version = view_trim(view_cut(rest, '|', &rest));
		rest = view_trim(rest);
		ok = pep440_spec_parse(a, spec, &s, &at, &what);
		if (ok == view_is(rest, "bad"))
			fail_msg("%s", view_dup(a, line));
		if (!ok) {
			assert_true(at <= spec.n && what && *what);
			continue;
		}
		assert_true(pep440_parse(version, &v));
		holds = pep440_spec_holds(&s, &v, version);
		if (holds != view_is(rest, "yes"))
			fail_msg("%s: %s", view_dup(a, line), holds ? "holds" : "does not");
	}
	assert_true(rows > 90);
	arena_free(a);
}

static void what_is_no_version_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		" ",
		"v",
		"a",
		"1.",
		".1",
		"1..2",
		"1!",
		"!1",
		"1!2!3",
		"1.0x",
		"1.0-",
		"1.0+",
		"1.0+a+b",
		"1.0+.a",
		"1.0+a.",
		"1 .0",
		"1.0 a",
		"1.0a1b1",
		"1.0.post1.post2",
		"1.0.dev1.dev2",
		"1.0.dev1a1",
		"french toast",
		"1.0+\xc3\xa9",
		"1.18446744073709551616",
		"latest",
		"2.6.*",
	};
	struct pep440 v;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(bad); i++)
		if (pep440_parse(view_of(bad[i]), &v))
			fail_msg("read: \"%s\"", bad[i]);
	assert_true(pep440_parse(VIEW("  1.0\t"), &v));
}

static void a_fault_is_placed(void **state)
{
	static const struct {
		const char *spec;
		size_t at;
	} rows[] = {
		{ .spec = ">=2.4,<<3", .at = 7 },
		{ .spec = ">=2.4, 3", .at = 7 },
		{ .spec = "~=2", .at = 2 },
		{ .spec = "== x", .at = 3 },
	};
	struct arena *a = arena_new(NULL);
	struct pep440_spec s;
	const char *what;
	size_t i, at;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_false(pep440_spec_parse(a, view_of(rows[i].spec), &s, &at, &what));
		assert_int_equal(at, rows[i].at);
	}
	assert_true(pep440_text_holds(a, ">=3.8", "3.12"));
	assert_false(pep440_text_holds(a, ">=3.8", "junk"));
	assert_false(pep440_text_holds(a, "junk", "3.12"));
	assert_false(pep440_text_holds(a, NULL, "3.12"));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_of_the_published_rules),
		cmocka_unit_test(specifiers_of_the_published_rules),
		cmocka_unit_test(what_is_no_version_is_refused),
		cmocka_unit_test(a_fault_is_placed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

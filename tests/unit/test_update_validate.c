/* SPDX-License-Identifier: Apache-2.0 */
/* The order of keys and the dates that a validation takes, beside data/compat/README.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "compat/schema.h"
#include "compat/validate_parts.h"

static void versions_sort_as_releases_do(void **state)
{
	static const char *const sorted[] = { "x",
					      "0.9",
					      "1.0.dev3",
					      "1.0a1",
					      "1.0a2",
					      "1.0b1",
					      "1.0rc1",
					      "1.0",
					      "1.0.post1",
					      "1.0.1",
					      "1.2",
					      "1.10",
					      "1.10.1",
					      "2.0.dev1",
					      "2.0",
					      "12.4",
					      "99999999999999999999" };
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_LEN(sorted); i++)
		for (k = 0; k < ARRAY_LEN(sorted); k++) {
			int d = validate_order("version", sorted[i], sorted[k]);

			assert_true(i < k ? d < 0 : i > k ? d > 0 : d == 0);
		}
	assert_true(validate_order("int", "9", "10") < 0);
	assert_true(validate_order("text", "9", "10") > 0);
	assert_true(validate_order("hex", "00ff", "0100") < 0);
}

static void dates_are_days_that_exist(void **state)
{
	static const char *const days[] = { "2026-11-30", "2024-02-29", "2000-02-29",
					    "0001-01-01" };
	static const char *const none[] = {
		"2026-02-29", "1900-02-29", "2026-13-01",  "2026-00-01",  "2026-04-31",
		"2026-1-1",   "26-01-01",   "2026-01-01 ", "2026-01-01-", "2026/01/01",
		"",	      "-",	    "2026-",	   "20260101",	  "2026-01-0x"
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(days); i++)
		assert_true(compat_is_date(days[i], false));
	for (i = 0; i < ARRAY_LEN(none); i++)
		assert_false(compat_is_date(none[i], true));
	assert_true(compat_is_date("2026-11", true) && compat_is_date("2026", true));
	assert_false(compat_is_date("2026-11", false) || compat_is_date("2026", false));
}

static void count_problem(void *ctx, const char *path, const char *text)
{
	(void)path;
	(void)text;
	++*(int *)ctx;
}

static int problems(const char *schema, const char *doc, bool unknown_ok)
{
	struct arena *a = arena_new(NULL);
	const struct json *s, *d;
	int n = 0;

	assert_int_equal(json_parse(a, view_of(schema), "schema", &s, NULL), 0);
	assert_int_equal(json_parse(a, view_of(doc), "doc", &d, NULL), 0);
	schema_check(a, s, d, unknown_ok, count_problem, &n);
	arena_free(a);
	return n;
}

static void every_keyword_can_fail(void **state)
{
	static const struct {
		const char *schema, *good, *bad;
	} rows[] = {
		{ "{\"type\":\"integer\"}", "3", "3.5" },
		{ "{\"type\":\"number\"}", "3.5", "\"3\"" },
		{ "{\"type\":\"boolean\"}", "true", "1" },
		{ "{\"type\":\"null\"}", "null", "0" },
		{ "{\"const\":\"a\"}", "\"a\"", "\"b\"" },
		{ "{\"enum\":[\"a\",null,2]}", "2", "\"c\"" },
		{ "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "null", "1" },
		{ "{\"$ref\":\"#/$defs/x\",\"$defs\":{\"x\":{\"type\":\"string\"}}}", "\"\"", "1" },
		{ "{\"required\":[\"a\"]}", "{\"a\":null}", "{}" },
		{ "{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"b\":1}", "{\"a\":1}" },
		{ "{\"additionalProperties\":{\"type\":\"string\"}}", "{\"b\":\"\"}", "{\"b\":1}" },
		{ "{\"items\":{\"type\":\"string\"}}", "[\"\"]", "[\"\",1]" },
		{ "{\"minItems\":2}", "[1,2]", "[1]" },
		{ "{\"uniqueItems\":true}", "[1,2,\"1\"]", "[1,2,1]" },
		{ "{\"minimum\":2}", "2", "1" },
		{ "{\"minimum\":2}", "\"\"", "1.5" },
		{ "{\"maximum\":2}", "2", "3" },
		{ "{\"minLength\":1}", "\"a\"", "\"\"" },
		{ "{\"pattern\":\"^[0-9]{2}$\"}", "\"12\"", "\"123\"" },
		{ "{\"pattern\":\"^[^\\\\u0000-\\\\u001f\\\\u007f]*$\"}", "\"a\xC3\xA9\"",
		  "\"a\\u001b\"" },
		{ "{}", "1", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(problems(rows[i].schema, rows[i].good, false), 0);
		if (rows[i].bad)
			assert_true(problems(rows[i].schema, rows[i].bad, false) > 0);
	}
}

static void what_a_schema_says_and_is_not_known_is_no_pass(void **state)
{
	(void)state;
	assert_true(problems("{\"multipleOf\":3}", "1", false) > 0);
	assert_true(problems("{\"$ref\":\"#/$defs/none\"}", "1", false) > 0);
	assert_true(problems("{\"pattern\":\"[\"}", "\"a\"", false) > 0);
	assert_true(problems("{\"$ref\":\"#/$defs/x\",\"$defs\":{\"x\":{\"$ref\":\"#/$defs/x\"}}}",
			     "1", false) > 0);
	assert_true(problems("[]", "1", false) > 0);
}

static void fields_that_are_new_are_let_through_when_asked(void **state)
{
	static const char schema[] = "{\"properties\":{\"a\":{}},\"additionalProperties\":false}";

	(void)state;
	assert_int_equal(problems(schema, "{\"a\":1,\"b\":2}", false), 1);
	assert_int_equal(problems(schema, "{\"a\":1,\"b\":2}", true), 0);
}

static void the_embedded_tables_hold(void **state)
{
	struct arena *a = arena_new(NULL);
	struct data_report d;
	struct compat *c;

	(void)state;
	assert_int_equal(compat_open(a, NULL, &c, NULL), 0);
	compat_validate(c, false, &d);
	compat_validate_layout(c, &d);
	if (d.n)
		fail_msg("%s %s: %s", d.v[0].table, d.v[0].where, d.v[0].text);
	assert_true(d.tables > 20 && d.rows > 1000);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_sort_as_releases_do),
		cmocka_unit_test(dates_are_days_that_exist),
		cmocka_unit_test(every_keyword_can_fail),
		cmocka_unit_test(what_a_schema_says_and_is_not_known_is_no_pass),
		cmocka_unit_test(fields_that_are_new_are_let_through_when_asked),
		cmocka_unit_test(the_embedded_tables_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

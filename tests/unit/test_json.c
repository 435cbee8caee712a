/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and writing JSON: what cJSON alone would let through, and what must never come out (P11,
 * X7, X8).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/jsonw.h"

static int parse(struct arena *a, const char *text, const struct json **ret, struct err *err)
{
	return json_parse(a, view_of(text), "x.json", ret, err);
}

static void P11_malformed_text_is_located(void **state)
{
	struct arena *a = arena_new(NULL);
	const struct json *doc = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(parse(a, "{\n \"a\": tru }", &doc, &err), -ERR_PARSE);
	assert_non_null(strstr(err.msg, "x.json:2:"));
	assert_int_equal(parse(a, "{} junk", &doc, &err), -ERR_PARSE);
	assert_int_equal(parse(a, "", &doc, &err), -ERR_PARSE);
	assert_int_equal(parse(a, "{\"a\":\"\xFF\"}", &doc, &err), -ERR_PARSE);
	assert_non_null(strstr(err.msg, "UTF-8"));
	assert_null(doc);
	arena_free(a);
}

static void P11_duplicate_keys_are_refused(void **state)
{
	struct arena *a = arena_new(NULL);
	const struct json *doc;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(parse(a, "[{\"a\":{\"k\":1,\"b\":2,\"k\":3}}]", &doc, &err), -ERR_PARSE);
	assert_non_null(strstr(err.msg, "\"k\""));
	assert_int_equal(parse(a, "[{\"a\":1},{\"a\":1}]", &doc, &err), 0);
	arena_free(a);
}

static void P10_deep_nesting_is_an_error_not_a_crash(void **state)
{
	struct arena *a = arena_new(NULL);
	const struct json *doc;
	struct err err = { 0 };
	size_t n = 200000;
	char *text = arena_alloc(a, n + 1);

	(void)state;
	memset(text, '[', n);
	assert_int_equal(parse(a, text, &doc, &err), -ERR_PARSE);
	arena_free(a);
}

static void P11_numbers_are_whole_or_refused(void **state)
{
	struct arena *a = arena_new(NULL);
	const struct json *doc;
	int64_t i = 5;

	(void)state;
	assert_int_equal(
		parse(a, "{\"a\":42,\"b\":1.5,\"c\":1e300,\"d\":-7,\"e\":\"9\"}", &doc, NULL), 0);
	assert_true(json_get_int(doc, "a", &i) && i == 42);
	assert_true(json_get_int(doc, "d", &i) && i == -7);
	assert_false(json_get_int(doc, "b", &i));
	assert_false(json_get_int(doc, "c", &i));
	assert_false(json_get_int(doc, "e", &i));
	assert_false(json_get_int(doc, "none", &i));
	assert_int_equal(i, -7);
	arena_free(a);
}

static void X7_control_characters_never_come_out(void **state)
{
	struct arena *a = arena_new(NULL);
	char all[256];
	struct strbuf b;
	struct jsonw w;
	size_t i;

	(void)state;
	for (i = 0; i < 255; i++)
		all[i] = (char)(i + 1);
	all[255] = '\0';
	strbuf_init(&b, a);
	jsonw_init(&w, &b, false);
	jsonw_object(&w);
	jsonw_kstr(&w, all, all);
	jsonw_kstr(&w, "c1", "\xC2\x9B" "31m \xE2\x80\xAE bidi");
	jsonw_end_object(&w);
	for (i = 0; i < b.n; i++) {
		unsigned char c = (unsigned char)b.s[i];

		assert_true(c >= 0x20 && c != 0x7F);
	}
	assert_null(strstr(b.s, "\xC2\x9B"));
	assert_null(strstr(b.s, "\xE2\x80\xAE"));
	assert_non_null(strstr(b.s, "\\u009b31m"));
	arena_free(a);
}

static void X8_bytes_that_are_not_utf8_become_replacements(void **state)
{
	struct arena *a = arena_new(NULL);
	const struct json *doc;
	struct strbuf b;
	struct jsonw w;

	(void)state;
	strbuf_init(&b, a);
	jsonw_init(&w, &b, true);
	jsonw_str(&w, "a\xFF\xC3" "b\"\\");
	assert_int_equal(json_parse(a, (struct view){ .p = b.s, .n = b.n }, "out", &doc, NULL), 0);
	assert_string_equal(json_str(doc), "a\xEF\xBF\xBD\xEF\xBF\xBD" "b\"\\");
	arena_free(a);
}

static void written_documents_parse_again(void **state)
{
	static const char *const list[] = { "x", "", "\n\t" };
	struct arena *a = arena_new(NULL);
	const struct json *doc;
	struct strbuf b;
	struct jsonw w;
	int pretty;

	(void)state;
	for (pretty = 0; pretty < 2; pretty++) {
		strbuf_init(&b, a);
		jsonw_init(&w, &b, pretty);
		jsonw_object(&w);
		jsonw_kstrs(&w, "list", list, 3);
		jsonw_kint(&w, "n", -12);
		jsonw_kbool(&w, "t", true);
		jsonw_kstr(&w, "nil", NULL);
		jsonw_key(&w, "empty");
		jsonw_array(&w);
		jsonw_end_array(&w);
		jsonw_end_object(&w);
		assert_int_equal(
			json_parse(a, (struct view){ .p = b.s, .n = b.n }, "out", &doc, NULL), 0);
		assert_int_equal(json_count(json_get(doc, "list")), 3);
		assert_int_equal(json_type(json_get(doc, "nil")), JSON_NULL);
		assert_true(json_get_bool(doc, "t", false));
		assert_int_equal(json_count(json_get(doc, "empty")), 0);
	}
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(P11_malformed_text_is_located),
		cmocka_unit_test(P11_duplicate_keys_are_refused),
		cmocka_unit_test(P10_deep_nesting_is_an_error_not_a_crash),
		cmocka_unit_test(P11_numbers_are_whole_or_refused),
		cmocka_unit_test(X7_control_characters_never_come_out),
		cmocka_unit_test(X8_bytes_that_are_not_utf8_become_replacements),
		cmocka_unit_test(written_documents_parse_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

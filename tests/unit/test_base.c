/* SPDX-License-Identifier: Apache-2.0 */
/* Arena, views, string building, UTF-8, errors and suggestions. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/errname.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "base/view.h"

static void count_call(void *p)
{
	++*(int *)p;
}

static void arena_zeroes_aligns_and_defers(void **state)
{
	struct arena *a = arena_new(NULL);
	int calls = 0;
	size_t i, k;

	(void)state;
	arena_defer(a, count_call, &calls);
	for (i = 1; i < 3000; i += 7) {
		unsigned char *p = arena_alloc(a, i);

		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (k = 0; k < i; k++)
			assert_int_equal(p[k], 0);
		memset(p, 0xAA, i);
	}
	assert_int_equal(calls, 0);
	arena_free(a);
	assert_int_equal(calls, 1);
	arena_free(NULL);
}

static void arena_append_keeps_what_was_there(void **state)
{
	struct arena *a = arena_new(NULL);
	size_t *arr = NULL, n = 0, i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		*ARENA_APPEND(a, arr, n) = i;
		if (i % 3 == 0)
			arena_alloc(a, 5); /* the array cannot always grow in place */
	}
	assert_int_equal(n, 1000);
	for (i = 0; i < n; i++)
		assert_int_equal(arr[i], i);
	arena_free(a);
}

/* What was allocated at once can be appended to where it has that room: nothing behind it changes.
 */
static void arena_room_is_what_append_counts_on(void **state)
{
	struct arena *a = arena_new(NULL);
	size_t n, i, k;

	(void)state;
	for (n = 1; n < 70; n++) {
		size_t *arr = arena_calloc(a, arena_room(n), sizeof(*arr)), have = n;
		size_t *behind = arena_calloc(a, 64, sizeof(*behind));

		for (i = 0; i < 40; i++)
			*ARENA_APPEND(a, arr, have) = SIZE_MAX;
		assert_int_equal(have, n + 40);
		for (k = 0; k < 64; k++)
			assert_int_equal(behind[k], 0);
	}
	arena_free(a);
}

static jmp_buf oom_jump;

static void oom(void)
{
	longjmp(oom_jump, 1);
}

static void arena_overflow_is_out_of_memory(void **state)
{
	struct arena *a = arena_new(oom);

	(void)state;
	if (setjmp(oom_jump) == 0) {
		arena_calloc(a, SIZE_MAX / 2, 16);
		fail_msg("an overflowing size was served");
	}
	if (setjmp(oom_jump) == 0) {
		arena_alloc(a, SIZE_MAX - 8);
		fail_msg("an impossible size was served");
	}
	arena_free(a);
}

static void views_split_lines_words_and_fields(void **state)
{
	struct view text = VIEW("one two\r\n\n  three\tfour\nlast"), line, word, rest;
	int lines = 0;

	(void)state;
	while (view_line(&text, &line))
		lines++;
	assert_int_equal(lines, 4);
	assert_true(view_is(line, "last"));
	text = VIEW("  a\tbc  ");
	assert_true(view_word(&text, &word) && view_is(word, "a"));
	assert_true(view_word(&text, &word) && view_is(word, "bc"));
	assert_false(view_word(&text, &word));
	assert_true(view_is(view_cut(VIEW("k=v=w"), '=', &rest), "k"));
	assert_true(view_is(rest, "v=w"));
	assert_true(view_is(view_trim(VIEW(" \t x y \n")), "x y"));
	assert_int_equal(view_find(VIEW("abcabc"), "ca"), 2);
	assert_int_equal(view_find(VIEW(""), "x"), -1);
}

/* Short and long texts of few letters, in which nearly every place looks like the needle. */
static void find_agrees_with_memmem(void **state)
{
	static const char letters[] = "aab_e";
	static char text[3000];
	char needle[8];
	uint32_t x = 1;
	int turn;

	(void)state;
	for (turn = 0; turn < 20000; turn++) {
		size_t n, k, i;
		const char *q;

		x = x * 1103515245 + 12345;
		n = turn % 3 ? (x >> 8) % 40 : 400 + (x >> 8) % 2600;
		k = 1 + (x >> 20) % 7;
		for (i = 0; i < n; i++) {
			x = x * 1103515245 + 12345;
			/* Long ones of one letter alone too, up to near their end. */
			text[i] = turn % 9 == 0 && i + 9 < n ? 'a' : letters[(x >> 16) % 5];
		}
		for (i = 0; i < k; i++) {
			x = x * 1103515245 + 12345;
			needle[i] = letters[(x >> 16) % 5];
		}
		needle[k] = '\0';
		q = memmem(text, n, needle, k);
		assert_int_equal(view_find((struct view){ text, n }, needle), q ? q - text : -1);
	}
}

static void numbers_are_strict(void **state)
{
	uint64_t u = 7;
	int64_t i = 7;

	(void)state;
	assert_true(view_u64(VIEW("18446744073709551615"), 10, &u) && u == UINT64_MAX);
	assert_false(view_u64(VIEW("18446744073709551616"), 10, &u));
	assert_true(view_u64(VIEW("0x10de"), 16, &u) && u == 0x10de);
	assert_false(view_u64(VIEW("12x"), 10, &u));
	assert_false(view_u64(VIEW(" 12"), 10, &u));
	assert_false(view_u64(VIEW(""), 10, &u));
	assert_false(view_u64(VIEW("0x"), 16, &u));
	assert_true(view_i64(VIEW("-42"), &i) && i == -42);
	assert_false(view_i64(VIEW("9223372036854775808"), &i));
}

static void strbuf_grows_and_terminates(void **state)
{
	struct arena *a = arena_new(NULL);
	struct strbuf b;
	int i;

	(void)state;
	strbuf_init(&b, a);
	assert_string_equal(b.s, "");
	for (i = 0; i < 500; i++) {
		strbuf_sep(&b, ",");
		strbuf_printf(&b, "%d", i);
	}
	assert_int_equal(strlen(b.s), b.n);
	assert_memory_equal(b.s, "0,1,2,3", 7);
	assert_string_equal(b.s + b.n - 8, ",498,499");
	arena_free(a);
}

static void utf8_refuses_overlong_surrogates_and_cut_sequences(void **state)
{
	static const char *const bad[] = { "\xC0\x80",	   "\xE0\x80\x80",
					   "\xED\xA0\x80", "\xF4\x90\x80\x80",
					   "\xE2\x82",	   "\x80",
					   "a\xFFz" };
	size_t i, at;

	(void)state;
	assert_true(utf8_valid(VIEW("plain \xED\x95\x9C\xEA\xB8\x80 \xF0\x9F\x98\x80"), NULL));
	for (i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(utf8_valid(view_of(bad[i]), &at));
	assert_int_equal(at, 1);
	assert_int_equal(utf8_columns("\xED\x95\x9C" "a"), 3);
	assert_true(utf8_is_control(0x9B) && utf8_is_control(0x7F) && !utf8_is_control('a'));
	assert_true(utf8_is_format(0x202E) && utf8_is_format(0x200B) && !utf8_is_format(0xD55C));
}

static void errors_wrap_and_fit(void **state)
{
	struct err err = { 0 };
	char big[4000];
	int i;

	(void)state;
	assert_int_equal(err_errno(&err, EACCES, "%s", "/proc/x"), -ERR_ACCESS);
	assert_string_equal(err.msg, "/proc/x: Permission denied");
	err_wrap(&err, "reading %s", "facts");
	assert_string_equal(err.msg, "reading facts: /proc/x: Permission denied");
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	err_set(&err, ERR_IO, "%s", big);
	assert_true(strlen(err.msg) < sizeof(err.msg));
	assert_string_equal(err.msg + strlen(err.msg) - 3, "...");
	for (i = 0; i < 5; i++)
		err_wrap(&err, "%s", big);
	assert_true(strlen(err.msg) < sizeof(err.msg));
	assert_int_equal(err_set(NULL, ERR_USAGE, "x"), -ERR_USAGE);
	assert_int_equal(err_exit_code(ERR_USAGE), 2);
	assert_int_equal(err_exit_code(ERR_NOMEM), 4);
}

static void errno_names_go_both_ways(void **state)
{
	(void)state;
	assert_string_equal(errname(EACCES), "EACCES");
	assert_int_equal(errname_number("ENXIO"), ENXIO);
	assert_int_equal(errname_number("EWHAT"), 0);
	assert_string_equal(errname(4095), "errno");
}

static void suggestions_are_near_or_none(void **state)
{
	static const char *const names[] = { "check", "show", "explain", "snapshot", NULL };

	(void)state;
	assert_string_equal(suggest("chekc", names), "check");
	assert_string_equal(suggest("snapshto", names), "snapshot");
	assert_null(suggest("zzzzzzzz", names));
	assert_null(suggest("", names));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_zeroes_aligns_and_defers),
		cmocka_unit_test(arena_append_keeps_what_was_there),
		cmocka_unit_test(arena_room_is_what_append_counts_on),
		cmocka_unit_test(arena_overflow_is_out_of_memory),
		cmocka_unit_test(views_split_lines_words_and_fields),
		cmocka_unit_test(find_agrees_with_memmem),
		cmocka_unit_test(numbers_are_strict),
		cmocka_unit_test(strbuf_grows_and_terminates),
		cmocka_unit_test(utf8_refuses_overlong_surrogates_and_cut_sequences),
		cmocka_unit_test(errors_wrap_and_fit),
		cmocka_unit_test(errno_names_go_both_ways),
		cmocka_unit_test(suggestions_are_near_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

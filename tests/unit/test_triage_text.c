/* SPDX-License-Identifier: Apache-2.0 */
/* Text to lines: encodings, escapes, prompts, whose output a line is; whatever comes in (P1-P9,
 * P14). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/regex.h"
#include "base/utf8.h"
#include "triage/text.h"

static struct view copy(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);

	memcpy(p, s, n);
	return (struct view){ .p = p, .n = n };
}

static struct text text_of(struct arena *a, const char *s, size_t n)
{
	struct text t = { 0 };

	text_add(a, &t, NULL, copy(a, s, n));
	return t;
}
#define TEXT(a, lit) text_of((a), (lit), sizeof(lit) - 1)

static void line_is(const struct text *t, size_t i, const char *want)
{
	assert_true(i < t->n);
	if (!view_is(t->lines[i].s, want))
		fail_msg("line %zu: \"%.*s\", want \"%s\"", i, (int)t->lines[i].s.n,
			 t->lines[i].s.p, want);
}

static void P4_encodings_and_line_ends(void **state)
{
	static const char wide[] = "\xff\xfe"
				   "o\0k\0\r\0\n\0"
				   "G\0P\0U\0";
	static const char cp949[] = "\xb5\xe5\xb6\xf3\xc0\xcc\xb9\xf6 535\r\n";
	struct arena *a = arena_new(NULL);
	struct text t = TEXT(a, "\xef\xbb\xbfone\r\ntwo\rthree\nfour");

	(void)state;
	assert_int_equal(t.n, 4);
	line_is(&t, 0, "one");
	line_is(&t, 1, "two");
	line_is(&t, 2, "three");
	/* A progress bar's residue is no line of its own in the paste. */
	assert_int_equal(t.lines[2].number, 2);
	assert_int_equal(t.lines[3].number, 3);
	t = text_of(a, wide, sizeof(wide) - 1);
	line_is(&t, 0, "ok");
	line_is(&t, 1, "GPU");
	t = text_of(a, cp949, sizeof(cp949) - 1);
	line_is(&t, 0, "\xeb\x93\x9c\xeb\x9d\xbc\xec\x9d\xb4\xeb\xb2\x84 535");
	arena_free(a);
}

static void P5_escapes_are_gone(void **state)
{
	struct arena *a = arena_new(NULL);
	struct text t = TEXT(a, "\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n"
				"\x1b]52;c;QUJD\x07x\n[0mplain[1;32m\n&lt;a&gt; &amp;");

	(void)state;
	line_is(&t, 0, "red link");
	line_is(&t, 1, "x");
	line_is(&t, 2, "plain");
	line_is(&t, 3, "<a> &");
	arena_free(a);
}

static void P6_invisible_characters_are_gone(void **state)
{
	struct arena *a = arena_new(NULL);
	struct text t =
		TEXT(a, "to\xe2\x80\x8brch\xe2\x80\xae 2.1\n\xe2\x80\x9cq\xe2\x80\x9d\xc2\xa0z");

	(void)state;
	line_is(&t, 0, "torch 2.1");
	line_is(&t, 1, "\"q\" z");
	arena_free(a);
}

static void P1_binary_becomes_text(void **state)
{
	char bytes[4096];
	struct arena *a = arena_new(NULL);
	struct text t;
	uint32_t x = 1;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bytes); i++) {
		x = x * 1664525u + 1013904223u;
		bytes[i] = (char)(x >> 24);
	}
	t = text_of(a, bytes, sizeof(bytes));
	assert_true(utf8_valid(t.s, NULL));
	for (i = 0; i < t.s.n; i++)
		assert_true(t.s.p[i] == '\n' || t.s.p[i] == '\t' ||
			    (unsigned char)t.s.p[i] >= 0x20);
	arena_free(a);
}

static void P3_one_line_without_an_end(void **state)
{
	size_t n = 1 << 20;
	struct arena *a = arena_new(NULL);
	char *s = arena_alloc(a, n);
	struct text t = { 0 };

	(void)state;
	memset(s, 'x', n);
	text_add(a, &t, NULL, (struct view){ .p = s, .n = n });
	assert_int_equal(t.n, 1);
	assert_int_equal(t.lines[0].s.n, n);
	arena_free(a);
}

static void P8_commands_and_their_output(void **state)
{
	struct arena *a = arena_new(NULL);
	struct text t = TEXT(a, "$ lsmod | grep nvidia\n$ uname -r\n6.5.0-14-generic\n"
				"root@0a1b2c3d4e5f:/# ls /dev\nnull\n>>> import torch\n"
				"# a comment\n> > quoted\n>>> x\nC:\\Users\\me> dir\n");

	(void)state;
	assert_true(view_is(line_cmd(&t.lines[0]), "lsmod | grep nvidia"));
	assert_true(text_silent(&t, 0));
	assert_false(text_silent(&t, 1));
	assert_int_equal(t.lines[2].by, 1);
	assert_true(view_is(line_cmd(&t.lines[3]), "ls /dev"));
	assert_int_equal(t.lines[4].by, 3);
	assert_true(view_is(line_cmd(&t.lines[5]), "import torch"));
	assert_int_equal(line_cmd(&t.lines[6]).n, 0);
	line_is(&t, 7, "quoted");
	assert_true(view_is(line_cmd(&t.lines[9]), "dir"));
	arena_free(a);
}

static void several_texts_are_one_case(void **state)
{
	struct arena *a = arena_new(NULL);
	struct text t = { 0 };

	(void)state;
	text_add(a, &t, "a.txt", copy(a, "one\ntwo", 7));
	text_add(a, &t, "b.txt", copy(a, "three", 5));
	assert_int_equal(t.n, 3);
	line_is(&t, 1, "two");
	line_is(&t, 2, "three");
	assert_string_equal(text_source(a, &t, 1), "a.txt line 2");
	assert_string_equal(text_source(a, &t, 2), "b.txt line 1");
	assert_int_equal(text_line_at(&t, (size_t)(t.lines[2].s.p - t.s.p) + 2), 2);
	arena_free(a);
}

static void P14_a_pattern_gives_up(void **state)
{
	struct arena *a = arena_new(NULL);
	char bait[64];
	struct regex_match m;
	struct regex *re;

	(void)state;
	memset(bait, 'a', sizeof(bait));
	bait[sizeof(bait) - 1] = '!';
	assert_int_equal(regex_new(a, "^(a+)+$", &re, NULL), 0);
	assert_int_equal(regex_find(re, (struct view){ bait, sizeof(bait) }, 0, &m), REGEX_GAVE_UP);
	assert_int_equal(regex_find(re, VIEW("aaaa"), 0, &m), REGEX_YES);
	assert_int_equal(m.group[1].n, 4);
	assert_int_equal(regex_new(a, "(", &re, NULL), -ERR_DATA);
	arena_free(a);
}

static void programs_are_found(void **state)
{
	static const char *const names[] = {
#define PROGRAM(name) name,
#include "triage/programs.def"
#undef PROGRAM
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(!i || strcmp(names[i - 1], names[i]) < 0);
		/* "sudo" alone runs none. */
		assert_int_equal(text_is_program(view_of(names[i])), strcmp(names[i], "sudo") != 0);
	}
	assert_true(text_is_program(view_of("sudo dmesg -T")));
	assert_true(text_is_program(view_of("./run.sh")));
	assert_false(text_is_program(view_of("l")));
	assert_false(text_is_program(view_of("lsx")));
	assert_false(text_is_program(view_of("nvidia-cuda-mps-controller")));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(P4_encodings_and_line_ends),
		cmocka_unit_test(P5_escapes_are_gone),
		cmocka_unit_test(P6_invisible_characters_are_gone),
		cmocka_unit_test(P1_binary_becomes_text),
		cmocka_unit_test(P3_one_line_without_an_end),
		cmocka_unit_test(P8_commands_and_their_output),
		cmocka_unit_test(programs_are_found),
		cmocka_unit_test(several_texts_are_one_case),
		cmocka_unit_test(P14_a_pattern_gives_up),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

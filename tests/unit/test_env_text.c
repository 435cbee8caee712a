/* SPDX-License-Identifier: Apache-2.0 */
/* Search paths and the marked block of `cuvet env`, without files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "env/check.h"
#include "env/env.h"
#include "env/lang.h"

static void test_add(void **state)
{
	struct arena *a = arena_new(NULL);
	static const struct {
		const char *added, *old, *want;
		enum env_kind kind;
	} cases[] = {
		{ "/c", NULL, "/c", ENV_LIST },
		{ "/c", "", "/c", ENV_LIST },
		{ "/c", "/a", "/c:/a", ENV_LIST },
		{ "/c", ":/a", "/c:/a", ENV_LIST },
		{ "/c", "/a:", "/c:/a", ENV_LIST },
		{ "/c", "/a::/b:/a", "/c:/a:/b", ENV_LIST },
		{ "/c", "/a:/c", "/c:/a", ENV_LIST },
		{ "/c:/d", "/d:/e", "/c:/d:/e", ENV_LIST },
		{ "/c", NULL, "/c:", ENV_MANLIST },
		{ "/c", "/a", "/c:/a", ENV_MANLIST },
		{ "/c", ":/a:", "/c::/a", ENV_MANLIST },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(
			env_list_add(a, cases[i].added, cases[i].old, cases[i].kind),
			cases[i].want);
	arena_free(a);
}

static void test_undo(void **state)
{
	struct arena *a = arena_new(NULL);

	(void)state;
	/* Nothing else changed: exactly what was there before. */
	assert_null(env_list_undo(a, "/c", "/c", NULL, ENV_LIST));
	assert_string_equal(env_list_undo(a, "/c", "/c", "", ENV_LIST), "");
	assert_string_equal(env_list_undo(a, "/c:/a", "/c", ":/a:/a", ENV_LIST), ":/a:/a");
	/* Something did: ours goes, the rest stays as it is, and so does what was the user's. */
	assert_string_equal(env_list_undo(a, "/n:/c:/a", "/c", "/a", ENV_LIST), "/n:/a");
	assert_string_equal(env_list_undo(a, "/n::/c:/a", "/c", "/a:/c", ENV_LIST), "/n::/c:/a");
	assert_null(env_list_undo(a, "", "/c", NULL, ENV_LIST));
	assert_null(env_list_undo(a, NULL, "/c", NULL, ENV_LIST));
	arena_free(a);
}

static const char *edit(struct arena *a, const char *text, const char *comment, const char *body)
{
	const char *out;
	size_t n;
	bool had;

	assert_int_equal(env_block_edit(a, view_of(text), comment, body, &out, &n, &had, NULL), 0);
	assert_int_equal(strlen(out), n);
	return out;
}

static void test_block(void **state)
{
	struct arena *a = arena_new(NULL);
	static const char *const texts[] = {
		"", "a\n", "a", "\n", "a\r\nb\r\n", "a\r\nb", "\n\na\n"
	};
	const char *once;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(texts); i++) {
		once = edit(a, texts[i], "#", "x\ny\n");
		assert_non_null(strstr(once, "# >>> cuvet env"));
		assert_string_equal(edit(a, once, "#", "x\ny\n"), once);
		assert_string_equal(edit(a, edit(a, once, "#", "z\n"), "#", "x\ny\n"), once);
		assert_string_equal(edit(a, once, NULL, NULL), texts[i]);
	}
	/* Where it stands it stays. */
	assert_string_equal(
		edit(a, "a\n-- >>> cuvet env >>>\nold\n-- <<< cuvet env <<<\nb\n", "--", "new\n"),
		"a\n-- >>> cuvet env >>>\nnew\n-- <<< cuvet env <<<\nb\n");
	/* What was added behind a block keeps its line. */
	assert_string_equal(edit(a, arena_printf(a, "%sb\n", edit(a, "a", "#", "x\n")), "#", NULL),
			    "a\nb\n");
	arena_free(a);
}

static void test_block_bad(void **state)
{
	static const char *const texts[] = {
		"# >>> cuvet env >>>\nx\n",
		"# <<< cuvet env <<<\n",
		"# >>> cuvet env >>>\n# >>> cuvet env >>>\n# <<< cuvet env <<<\n",
		"# >>> cuvet env >>>\n# <<< cuvet env <<<\n# >>> cuvet env >>>\n# <<< cuvet env <<<\n",
	};
	struct arena *a = arena_new(NULL);
	struct view nul = { .p = "a\0b", .n = 3 };
	struct err err = { 0 };
	const char *out;
	size_t n, i;
	bool had;

	(void)state;
	for (i = 0; i < ARRAY_LEN(texts); i++)
		assert_int_equal(env_block_edit(a, view_of(texts[i]), "#", "x\n", &out, &n, &had,
						&err),
				 -ERR_PARSE);
	assert_int_equal(env_block_edit(a, nul, "#", "x\n", &out, &n, &had, &err), -ERR_PARSE);
	arena_free(a);
}

static void test_diff(void **state)
{
	struct arena *a = arena_new(NULL);

	(void)state;
	assert_string_equal(env_diff(a, "f", view_of("a\n"), view_of("a\n")), "");
	assert_string_equal(
		env_diff(a, "f", view_of("1\n2\n3\n4\n5\n"), view_of("1\n2\n3\n4\nx\n5\n")),
		"--- f\n+++ f\n@@ -2,4 +2,5 @@\n 2\n 3\n 4\n+x\n 5\n");
	assert_string_equal(env_diff(a, "f", view_of("a"), view_of("a\nb\n")),
			    "--- f\n+++ f\n@@ -1,1 +1,2 @@\n-a\n\\ No newline at end of file\n"
			    "+a\n+b\n");
	assert_string_equal(env_diff(a, "f", view_of(""), view_of("b\n")),
			    "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+b\n");
	arena_free(a);
}

static void check_quote(struct arena *a, void (*quote)(struct strbuf *, const char *),
			const char *want)
{
	struct strbuf b;

	strbuf_init(&b, a);
	quote(&b, "a'b\"c\\d!e\nf$g");
	assert_string_equal(b.s, want);
}

static void test_quote(void **state)
{
	struct arena *a = arena_new(NULL);
	struct strbuf b;

	(void)state;
	check_quote(a, env_quote_sh, "'a'\\''b\"c\\d!e\nf$g'");
	check_quote(a, env_quote_csh, "'a'\\''b\"c\\d'\\!'e\nf$g'");
	check_quote(a, env_quote_fish, "'a\\'b\"c\\\\d!e\nf$g'");
	check_quote(a, env_quote_doubled, "'a''b\"c\\d!e\nf$g'");
	check_quote(a, env_quote_powershell, "'a''b\"c\\d!e\nf$g'");
	check_quote(a, env_quote_nu, "\"a'b\\\"c\\\\d!e\\u{a}f$g\"");
	check_quote(a, env_quote_python, "'a\\'b\"c\\\\d!e\\x0af$g'");
	check_quote(a, env_quote_json, "\"a'b\\\"c\\\\d!e\\u000af$g\"");
	/* The quotes that PowerShell takes for quotes as well. */
	strbuf_init(&b, a);
	env_quote_powershell(&b, "\xe2\x80\x98");
	assert_string_equal(b.s, "'\xe2\x80\x98\xe2\x80\x98'");
	/* Nothing ends a comment (X7). */
	strbuf_init(&b, a);
	env_comment(&b, "# ", "a\nrm -rf /\r\x1b[31m\xe2\x80\xae", "");
	assert_string_equal(b.s, "# a?rm -rf /??[31m?\n");
	arena_free(a);
}

static void test_form_of_file(void **state)
{
	static const struct {
		const char *path, *form;
	} cases[] = {
		{ "/home/a/.bashrc", "bash" },
		{ ".zshrc", "zsh" },
		{ "/home/a/.config/fish/conf.d/cuda.fish", "fish" },
		{ "/etc/profile.d/cuda.sh", "dash" },
		{ "/opt/c/etc/conda/activate.d/cuda.sh", "conda" },
		{ "/opt/c/etc/conda/activate.d/cuda.fish", "fish" },
		{ "/etc/ld.so.conf.d/cuda.conf", "ldconf" },
		{ "/home/a/.config/environment.d/50-cuda.conf", "environment.d" },
		{ "/etc/systemd/system/x.service.d/cuda.conf", "systemd" },
		{ "/v/bin/activate", "venv" },
		{ "Dockerfile", "dockerfile" },
		{ "/m/cuda/12.4.lua", "lmod" },
		{ "x.ps1", "powershell" },
		{ "/home/a/notes", NULL },
		{ "/home/a/conf.d/cuda.conf", NULL },
	};
	const struct env_form *f;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		f = env_form_of_file(cases[i].path);
		if (!cases[i].form)
			assert_null(f);
		else
			assert_string_equal(f->name, cases[i].form);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),	  cmocka_unit_test(test_undo),
		cmocka_unit_test(test_block),	  cmocka_unit_test(test_block_bad),
		cmocka_unit_test(test_diff),	  cmocka_unit_test(test_quote),
		cmocka_unit_test(test_form_of_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

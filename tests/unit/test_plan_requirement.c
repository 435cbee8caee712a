/* SPDX-License-Identifier: Apache-2.0 */
/* Requirements, markers and requirements files: what is read, and where a fault is said to stand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/file.h"
#include "plan/reqfile.h"

static void requirements_are_read(void **state)
{
	static const struct {
		const char *text, *name, *extras, *marker;
		size_t clauses;
	} rows[] = {
		{ .text = "torch", .name = "torch" },
		{ .text = " Torch_Vision >= 0.1 ", .name = "torch-vision", .clauses = 1 },
		{ .text = "a.-_b", .name = "a-b" },
		{ .text = "jax[cuda12]==0.4.30", .name = "jax", .extras = "cuda12", .clauses = 1 },
		{ .text = "x [ a , B_c ] (>=1,<2)", .name = "x", .extras = "a,b-c", .clauses = 2 },
		{ .text = "x[]", .name = "x" },
		{ .text = "numpy<2; python_version < '3.9'", .name = "numpy", .clauses = 1,
		  .marker = "python_version < '3.9'" },
		{ .text = "x;os_name=='nt'", .name = "x", .marker = "os_name=='nt'" },
	};
	struct arena *a = arena_new(NULL);
	size_t i, at;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct requirement r = { .name = NULL };
		const char *what = "";

		if (!requirement_parse(a, view_of(rows[i].text), &r, &at, &what))
			fail_msg("%s: %s", rows[i].text, what);
		assert_string_equal(r.name, rows[i].name);
		assert_int_equal(r.spec.n, rows[i].clauses);
		assert_true(rows[i].extras ? r.extras && strcmp(r.extras, rows[i].extras) == 0
					   : !r.extras);
		assert_true(view_is(r.marker, rows[i].marker ? rows[i].marker : ""));
	}
	arena_free(a);
}

static void a_fault_has_its_column(void **state)
{
	static const struct {
		const char *text;
		size_t at;
	} rows[] = {
		{ .text = "", .at = 0 },
		{ .text = "-torch", .at = 0 },
		{ .text = "torch-", .at = 5 },
		{ .text = "torch>>2", .at = 6 },
		{ .text = "torch >= 2, == x", .at = 15 },
		{ .text = "torch[cu", .at = 8 },
		{ .text = "torch[a b]", .at = 8 },
		{ .text = "torch (>=2", .at = 10 },
		{ .text = "torch @ https://example.org/t.whl", .at = 6 },
		{ .text = "https://example.org/t.whl", .at = 0 },
		{ .text = "./wheels/t.whl", .at = 0 },
		{ .text = "torch; python > '3'", .at = 7 },
		{ .text = "torch; python_version > '3", .at = 24 },
		{ .text = "torch; python_version '3'", .at = 22 },
		{ .text = "torch; (os_name == 'nt'", .at = 23 },
		{ .text = "torch; os_name == 'nt' x", .at = 23 },
		{ .text = "torch;", .at = 6 },
	};
	struct arena *a = arena_new(NULL);
	size_t i, at;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct requirement r = { .name = NULL };
		const char *what = NULL;

		if (requirement_parse(a, view_of(rows[i].text), &r, &at, &what))
			fail_msg("read: %s", rows[i].text);
		assert_non_null(what);
		if (at != rows[i].at)
			fail_msg("%s: column %zu, wanted %zu", rows[i].text, at, rows[i].at);
	}
	arena_free(a);
}

static void markers_hold_for_a_target(void **state)
{
	static const struct marker_env env = {
		.python = "3.10",
		.python_full = "3.10.4",
		.sys_platform = "linux",
		.platform_system = "Linux",
		.platform_machine = "x86_64",
		.os_name = "posix",
	};
	static const struct {
		const char *text;
		bool holds;
	} rows[] = {
		{ .text = "python_version >= '3.9'", .holds = true },
		{ .text = "python_version < '3.9'" },
		{ .text = "'3.9' <= python_version", .holds = true },
		{ .text = "python_full_version == '3.10.*'", .holds = true },
		{ .text = "python_version in '3.9 3.10'", .holds = true },
		{ .text = "python_version not in '3.9 3.10'" },
		{ .text = "sys_platform == 'linux' and platform_machine == 'x86_64'",
		  .holds = true },
		{ .text = "sys_platform == 'win32' or os_name == 'posix'", .holds = true },
		{ .text = "os_name == 'posix' or os_name == 'nt' and os_name == 'java'",
		  .holds = true },
		{ .text = "(os_name == 'posix' or os_name == 'nt') and os_name == 'java'" },
		{ .text = "extra == 'test'" },
		{ .text = "platform_system != \"Darwin\"", .holds = true },
		{ .text = "implementation_name == 'cpython'", .holds = true },
		{ .text = "platform_release > '5'", .holds = true }, /* not known: it stays in */
	};
	struct arena *a = arena_new(NULL);
	size_t i, at;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const char *what;
		bool holds;

		assert_true(marker_eval(a, view_of(rows[i].text), &env, &holds, &at, &what));
		if (holds != rows[i].holds)
			fail_msg("%s", rows[i].text);
	}
	arena_free(a);
}

static void files_are_read_as_pip_does(void **state)
{
	static const char text[] = "\xef\xbb\xbf# comment\r\n"
				   "torch>=2.4  # why\n"
				   "\n"
				   "--index-url https://example.org/simple\n"
				   "numpy \\\n  >=1.20, \\\n  <2\n"
				   "x==1 --hash=sha256:00 \\\n  --hash=sha256:11\n"
				   "name#not-a-comment==1\n";
	struct arena *a = arena_new(NULL);
	struct requirement_list list = { .n = 0 };
	struct err err = { .code = ERR_OK };

	(void)state;
	assert_int_not_equal(reqfile_parse(a, view_of(text), "r.txt", &list, &err), 0);
	assert_non_null(strstr(err.msg, "r.txt:10:5: "));
	assert_int_equal(list.n, 3);
	assert_string_equal(list.v[0].name, "torch");
	assert_string_equal(list.v[0].from, "r.txt:2");
	assert_string_equal(list.v[1].name, "numpy");
	assert_int_equal(list.v[1].spec.n, 2);
	assert_string_equal(list.v[2].text, "x==1");
	arena_free(a);
}

static void faults_in_a_file_have_line_and_column(void **state)
{
	static const struct {
		const char *text, *where;
	} rows[] = {
		{ .text = "torch>>2\n", .where = "r.txt:1:7: " },
		{ .text = "a\nb\n  torch =2\n", .where = "r.txt:3:9: " },
		{ .text = "numpy \\\n  >=1,\\\n  >>2\n", .where = "r.txt:3:4: " },
		{ .text = "-e .\n", .where = "r.txt:1:1: " },
		{ .text = "a\n--frobnicate\n", .where = "r.txt:2:1: " },
		{ .text = "-r\n", .where = "r.txt:1:3: " },
		{ .text = "-r https://example.org/r.txt\n", .where = "r.txt:1:4: " },
		{ .text = "-r no/such/file.txt\n", .where = "r.txt:1:4: " },
		{ .text = "-r r.txt\n", .where = "r.txt:1:4: " },
		{ .text = "torch @ file:///x\n", .where = "r.txt:1:7: " },
	};
	struct arena *a = arena_new(NULL);
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct requirement_list list = { .n = 0 };
		struct err err = { .code = ERR_OK };

		assert_int_not_equal(reqfile_parse(a, view_of(rows[i].text), "r.txt", &list, &err),
				     0);
		if (strncmp(err.msg, rows[i].where, strlen(rows[i].where)) != 0)
			fail_msg("%s is not at %s", err.msg, rows[i].where);
		assert_int_equal(err_exit_code(err.code), 2);
	}
	arena_free(a);
}

static void put(const char *dir, const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(file_write(path, view_of(text), NULL), 0);
}

static void includes_are_followed_and_loops_are_not(void **state)
{
	char dir[] = "/tmp/cuvet-reqfile-XXXXXX", path[512];
	struct arena *a = arena_new(NULL);
	struct requirement_list list = { .n = 0 };
	struct err err = { .code = ERR_OK };
	static const char *const names[] = { "a.txt",	 "b.txt",    "c.txt",
					     "loop.txt", "back.txt", "abs.txt" };
	size_t i;

	(void)state;
	assert_non_null(mkdtemp(dir));
	put(dir, "a.txt", "torch\n-r b.txt\n-c c.txt\n--requirement=b.txt\n");
	put(dir, "b.txt", "jax");
	put(dir, "c.txt", "numpy<2\n");
	put(dir, "loop.txt", "-r back.txt\n");
	put(dir, "back.txt", "torch\n-r loop.txt\n");
	snprintf(path, sizeof(path), "-r %s/b.txt\n", dir);
	put(dir, "abs.txt", path);
	snprintf(path, sizeof(path), "%s/a.txt", dir);
	assert_int_equal(reqfile_read(a, path, false, &list, &err), 0);
	assert_int_equal(list.n, 4);
	assert_string_equal(list.v[1].name, "jax");
	assert_true(list.v[2].constraint);
	assert_false(list.v[3].constraint);
	list.n = 0;
	snprintf(path, sizeof(path), "%s/abs.txt", dir);
	assert_int_equal(reqfile_read(a, path, false, &list, &err), 0);
	assert_int_equal(list.n, 1);
	snprintf(path, sizeof(path), "%s/loop.txt", dir);
	assert_int_not_equal(reqfile_read(a, path, false, &list, &err), 0);
	assert_non_null(strstr(err.msg, "back.txt:2:4: "));
	for (i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requirements_are_read),
		cmocka_unit_test(a_fault_has_its_column),
		cmocka_unit_test(markers_hold_for_a_target),
		cmocka_unit_test(files_are_read_as_pip_does),
		cmocka_unit_test(faults_in_a_file_have_line_and_column),
		cmocka_unit_test(includes_are_followed_and_loops_are_not),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

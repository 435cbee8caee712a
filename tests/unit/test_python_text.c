/* SPDX-License-Identifier: Apache-2.0 */
/* The texts that describe environments and packages, in all the forms that were seen, and senseless
 * ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "probe/python.h"

static struct arena *a;

static int setup(void **state)
{
	(void)state;
	a = arena_new(NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

static void test_pyvenv(void **state)
{
	struct pyvenv v;

	(void)state;
	pyvenv_parse(
		a,
		VIEW("home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.10.12\n"),
		&v);
	assert_string_equal(v.home, "/usr/bin");
	assert_string_equal(v.version, "3.10.12");
	assert_false(v.system_site);
	pyvenv_parse(a,
		     VIEW("HOME=/usr/bin\r\nuv = 0.11.15\r\nversion_info = 3.12.3.final.0\r\n"
			  "include-system-site-packages = TRUE"),
		     &v);
	assert_string_equal(v.version, "3.12.3.final.0");
	assert_string_equal(v.uv, "0.11.15");
	assert_true(v.system_site);
}

static void test_t15_pyvenv(void **state)
{
	struct pyvenv v;

	(void)state;
	pyvenv_parse(a, VIEW("home = usr/bin\nversion = 3.10\033[1m\n=\nversion_info\n\0\0home=\n"),
		     &v);
	assert_null(v.home);
	assert_null(v.version);
	pyvenv_parse(a, VIEW("home = /usr/\033]0;x\007bin\n"), &v);
	assert_null(v.home);
	pyvenv_parse(a, VIEW(""), &v);
	assert_null(v.version);
}

static void test_version_py(void **state)
{
	static const char text[] =
		"from typing import Optional\n\n"
		"__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']\n"
		"__version__ = '2.6.0+cu124'\ndebug = False\n"
		"cuda: Optional[str] = '12.4'\ngit_version = '2236df1770800ffea5697b11b'\n"
		"hip: Optional[str] = None\n  xpu = '1'\n";

	(void)state;
	assert_string_equal(py_assigned(a, VIEW(text), "__version__"), "2.6.0+cu124");
	assert_string_equal(py_assigned(a, VIEW(text), "cuda"), "12.4");
	assert_string_equal(py_assigned(a, VIEW(text), "hip"), "None");
	assert_string_equal(py_assigned(a, VIEW(text), "debug"), "False");
	assert_null(py_assigned(a, VIEW(text), "xpu"));
	assert_null(py_assigned(a, VIEW(text), "git"));
	assert_string_equal(py_assigned(a, VIEW("__version__ = \"2.8.0a0+34c6371d24.nv25.08\"\r\n"),
					"__version__"),
			    "2.8.0a0+34c6371d24.nv25.08");
	assert_string_equal(py_assigned(a, VIEW("cuda = None # no\n"), "cuda"), "None");
}

static void test_t15_version_py(void **state)
{
	(void)state;
	assert_string_equal(py_assigned(a, VIEW("cuda = '12.4\033[5m'\n"), "cuda"), "");
	assert_string_equal(py_assigned(a, VIEW("cuda = '12.4\n"), "cuda"), "");
	assert_string_equal(py_assigned(a, VIEW("cuda = os.system('x')\n"), "cuda"), "");
	assert_string_equal(py_assigned(a, VIEW("cuda ="), "cuda"), "");
	assert_null(py_assigned(a, VIEW("cuda"), "cuda"));
	assert_null(py_assigned(a, VIEW(""), "cuda"));
}

static void test_metadata(void **state)
{
	struct py_metadata m;

	(void)state;
	py_metadata_parse(a, VIEW("Metadata-Version: 2.1\nName: Flash_Attn\nVersion: 2.5.7\n"), &m);
	assert_string_equal(m.name, "flash-attn");
	assert_string_equal(m.version, "2.5.7");
	/* A body is no header. */
	py_metadata_parse(a, VIEW("Name: x\n\nVersion: 1\n"), &m);
	assert_null(m.version);
	py_metadata_parse(a, VIEW("Name: ev\033[31mil\nVersion: 1.0\007\n"), &m);
	assert_null(m.name);
	assert_null(m.version);
}

static void test_normalize(void **state)
{
	(void)state;
	assert_string_equal(py_normalize(a, VIEW("Foo.-_Bar")), "foo-bar");
	assert_string_equal(py_normalize(a, VIEW("nvidia_cudnn_cu12")), "nvidia-cudnn-cu12");
	assert_null(py_normalize(a, VIEW("-x")));
	assert_null(py_normalize(a, VIEW("a\nb")));
	assert_null(py_normalize(a, VIEW("")));
}

static void test_wheel_tag(void **state)
{
	(void)state;
	assert_string_equal(
		py_wheel_tag(a,
			     VIEW("Wheel-Version: 1.0\nTag: cp312-cp312-manylinux_2_28_x86_64\n")),
		"cp312-cp312-manylinux_2_28_x86_64");
	assert_null(py_wheel_tag(a, VIEW("Wheel-Version: 1.0\n")));
	assert_string_equal(py_tag_glibc(a, "cp312-cp312-manylinux_2_28_x86_64"), "2.28");
	assert_string_equal(
		py_tag_glibc(a, "cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64"), "2.17");
	assert_string_equal(py_tag_glibc(a, "cp39-cp39-manylinux1_x86_64"), "2.5");
	assert_null(py_tag_glibc(a, "cp310-cp310-linux_x86_64"));
	assert_null(py_tag_glibc(a, "manylinux"));
	assert_null(py_tag_glibc(a, "a-b-manylinux_99999999999999999999_1_x"));
}

static void test_words(void **state)
{
	(void)state;
	assert_true(py_is_word(VIEW("2.8.0a0+34c6371d24.nv25.08")));
	assert_true(py_is_word(VIEW("1!2.0~rc1_x-1")));
	assert_false(py_is_word(VIEW("")));
	assert_false(py_is_word(VIEW("1.0\0")));
	assert_false(py_is_word(VIEW("1.0 ")));
	assert_false(py_is_word(VIEW("1/0")));
	assert_false(py_is_word(VIEW("1.0\302\233")));
}

static void test_minor(void **state)
{
	(void)state;
	assert_string_equal(py_minor(a, "3.12.3"), "3.12");
	assert_string_equal(py_minor(a, "3.13"), "3.13");
	assert_null(py_minor(a, "3"));
	assert_null(py_minor(a, "x"));
	assert_null(py_minor(a, "33.1"));
	assert_null(py_minor(a, NULL));
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_pyvenv),		T(test_t15_pyvenv), T(test_version_py),
		T(test_t15_version_py), T(test_metadata),   T(test_normalize),
		T(test_wheel_tag),	T(test_words),	    T(test_minor),
	};

	return cmocka_run_group_tests_name("python_text", tests, NULL, NULL);
}

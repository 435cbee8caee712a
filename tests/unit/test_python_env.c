/* SPDX-License-Identifier: Apache-2.0 */
/* Environments in small trees: which are found, which is active, what is installed, which PyTorch
 * it is. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "elf_make.h"
#include "probe/probe.h"
#include "probe/python.h"

struct tree {
	char top[64];
	struct arena *a;
	struct snapshot s;
	const char *python;
};

static const char *at(struct tree *t, const char *path)
{
	return arena_printf(t->a, "%s/%s", t->top, path);
}

static void parents(struct tree *t, const char *path)
{
	char *full = arena_strdup(t->a, at(t, path)), *p;

	for (p = full + strlen(t->top) + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
}

static void put_bytes(struct tree *t, const char *path, const void *data, size_t n)
{
	FILE *f;

	parents(t, path);
	f = fopen(at(t, path), "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	fclose(f);
	assert_int_equal(chmod(at(t, path), 0755), 0);
}

static void put(struct tree *t, const char *path, const char *text)
{
	put_bytes(t, path, text, strlen(text));
}

static void ln(struct tree *t, const char *text, const char *path)
{
	parents(t, path);
	assert_int_equal(symlink(text, at(t, path)), 0);
}

static void env(struct tree *t, const char *name, const char *value)
{
	struct var *v = ARENA_APPEND(t->a, t->s.environment, t->s.n_environment);

	fact_set(&v->name, name, "test");
	fact_set(&v->value, value, "test");
}

static void look(struct tree *t)
{
	struct probe_ctx p = { .a = t->a, .s = &t->s, .python = t->python };
	struct sysroot *r;

	assert_int_equal(sysroot_open(t->a, t->top, &r, NULL), 0);
	p.root = r;
	probe_python.run(&p);
}

static int setup(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	strcpy(t->top, "/tmp/cuvet-python-XXXXXX");
	if (!mkdtemp(t->top))
		return -1;
	t->a = arena_new(NULL);
	put(t, "usr/bin/python3.10", "");
	ln(t, "python3.10", "usr/bin/python3");
	put(t, "usr/lib/python3.10/os.py", "");
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct tree *t = *state;
	char cmd[256];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", t->top);
	arena_free(t->a);
	free(t);
	return system(cmd);
}

/* A venv of the system's Python with an empty site-packages. */
static void venv(struct tree *t, const char *prefix)
{
	ln(t, "/usr/bin/python3.10", arena_printf(t->a, "%s/bin/python3", prefix));
	put(t, arena_printf(t->a, "%s/pyvenv.cfg", prefix), "home = /usr/bin\nversion = 3.10.12\n");
	parents(t, arena_printf(t->a, "%s/lib/python3.10/site-packages/", prefix));
}

static void dist(struct tree *t, const char *site, const char *name)
{
	put(t, arena_printf(t->a, "%s/%s.dist-info/METADATA", site, name), "Name: x\n");
}

static const struct python *find(struct tree *t, const char *prefix)
{
	size_t i;

	for (i = 0; i < t->s.n_pythons; i++)
		if (fact_is(&t->s.pythons[i].prefix, prefix))
			return &t->s.pythons[i];
	fail_msg("%s was not found", prefix);
	return NULL;
}

static const char *active(struct tree *t)
{
	const struct python *p = snapshot_active_python(&t->s);
	size_t i, n = 0;

	for (i = 0; i < t->s.n_pythons; i++)
		n += fact_yes(&t->s.pythons[i].active);
	assert_int_equal(n, p ? 1 : 0);
	return p ? p->prefix.value : "";
}

static void test_path_decides(void **state)
{
	struct tree *t = *state;

	venv(t, "home/u/a");
	venv(t, "home/u/b");
	env(t, "HOME", "/home/u");
	env(t, "PATH", "relative:/nowhere:/home/u/b/bin:/usr/bin");
	env(t, "VIRTUAL_ENV", "/home/u/a");
	look(t);
	assert_string_equal(active(t), "/home/u/b");
	assert_int_equal(t->s.n_pythons, 3);
	assert_string_equal(find(t, "/home/u/a")->version.value, "3.10.12");
	assert_string_equal(find(t, "/home/u/a")->kind.value, "venv");
	assert_string_equal(find(t, "/usr")->kind.value, "system");
	assert_string_equal(find(t, "/usr")->abi.value, "cp310");
}

static void test_option_decides(void **state)
{
	struct tree *t = *state;

	venv(t, "home/u/a");
	env(t, "PATH", "/usr/bin");
	t->python = "/home/u/a/bin/python3";
	look(t);
	assert_string_equal(active(t), "/home/u/a");
	assert_true(fact_is(&find(t, "/home/u/a")->active_why, "--python"));
}

static void test_option_of_nothing(void **state)
{
	struct tree *t = *state;

	env(t, "PATH", "/usr/bin");
	t->python = "/none/bin/python3";
	look(t);
	assert_string_equal(active(t), "/none/bin/python3");
	assert_int_equal(t->s.pythons[0].interpreter.state, FACT_ABSENT);
	assert_int_equal(t->s.pythons[0].torch.version.state, FACT_ABSENT);
}

static void test_variables_without_path(void **state)
{
	struct tree *t = *state;

	venv(t, "home/u/a");
	env(t, "PATH", "/nowhere");
	env(t, "VIRTUAL_ENV", "/home/u/a");
	look(t);
	assert_string_equal(active(t), "/home/u/a");
}

static void test_image_guess(void **state)
{
	struct tree *t = *state;

	venv(t, "opt/venv");
	put(t, "opt/venv/lib/python3.10/site-packages/torch/version.py",
	    "__version__ = '2.6.0+cpu'\n");
	look(t);
	assert_string_equal(active(t), "/opt/venv");
}

static void test_places(void **state)
{
	static const char *const places[] = {
		"srv/x/venv",
		"home/u/proj/.venv",
		"home/v/w/x/y/z",
		"root/.local/share/uv/tools/t",
		"data/envs/p",
		"app/.venv",
		"home/u/.cache/pypoetry/virtualenvs/q",
	};
	struct tree *t = *state;
	size_t i;

	for (i = 0; i < ARRAY_LEN(places); i++)
		venv(t, places[i]);
	put(t, "home/u/.pyenv/versions/3.11.9/bin/python3", "");
	put(t, "home/u/.pyenv/versions/3.11.9/lib/python3.11/os.py", "");
	put(t, "root/.local/share/uv/python/cpython-3.13.1-linux-x86_64-gnu/bin/python3", "");
	put(t, "root/.local/share/uv/python/cpython-3.13.1-linux-x86_64-gnu/lib/python3.13t/os.py",
	    "");
	/* Reached through a kernel alone. */
	venv(t, "far/away");
	put(t, "usr/share/jupyter/kernels/k/kernel.json",
	    "{\"argv\":[\"/far/away/bin/python3\",\"-m\"]}");
	put(t, "usr/share/jupyter/kernels/bad/kernel.json", "{\"argv\":[[[[");
	look(t);
	for (i = 0; i < ARRAY_LEN(places); i++)
		find(t, arena_printf(t->a, "/%s", places[i]));
	find(t, "/far/away");
	assert_string_equal(find(t, "/home/u/.pyenv/versions/3.11.9")->version.value, "3.11.9");
	assert_string_equal(find(t, "/home/u/.pyenv/versions/3.11.9")->kind.value, "pyenv");
	assert_string_equal(
		find(t, "/root/.local/share/uv/python/cpython-3.13.1-linux-x86_64-gnu")->abi.value,
		"cp313t");
}

static void test_shim(void **state)
{
	struct tree *t = *state;

	put(t, "home/u/.pyenv/shims/python3", "#!/bin/sh\n");
	put(t, "home/u/.pyenv/version", "3.11.9\n");
	put(t, "home/u/.pyenv/versions/3.11.9/bin/python3", "");
	put(t, "home/u/.pyenv/versions/3.11.9/lib/python3.11/os.py", "");
	env(t, "PATH", "/home/u/.pyenv/shims:/usr/bin");
	look(t);
	assert_string_equal(active(t), "/home/u/.pyenv/versions/3.11.9");
}

static void test_removed_base(void **state)
{
	struct tree *t = *state;

	venv(t, "opt/v");
	assert_int_equal(unlink(at(t, "opt/v/bin/python3")), 0);
	ln(t, "/usr/bin/python3.9", "opt/v/bin/python3");
	look(t);
	assert_int_equal(find(t, "/opt/v")->interpreter.state, FACT_BROKEN);
}

static void test_site_order(void **state)
{
	struct tree *t = *state;
	const struct python *p;

	put(t, "usr/local/lib/python3.10/dist-packages/x.py", "");
	put(t, "usr/lib/python3/dist-packages/six-1.16.0.egg-info/PKG-INFO", "");
	dist(t, "home/u/.local/lib/python3.10/site-packages", "numpy-1.0");
	dist(t, "usr/local/lib/python3.10/dist-packages", "numpy-2.0");
	dist(t, "extra", "numpy-0.5");
	/* A folder called like a line of code is not followed. */
	parents(t, "home/u/.local/lib/python3.10/site-packages/import os/");
	put(t, "home/u/.local/lib/python3.10/site-packages/a.pth",
	    "import os\n#c\n/extra\n../../nowhere\n");
	env(t, "HOME", "/home/u");
	env(t, "PATH", "/usr/bin");
	look(t);
	p = find(t, "/usr");
	assert_int_equal(p->site_dirs.n, 4);
	assert_string_equal(p->site_dirs.values[0], "/home/u/.local/lib/python3.10/site-packages");
	assert_string_equal(p->site_dirs.values[1], "/extra");
	assert_string_equal(p->site_dirs.values[2], "/usr/local/lib/python3.10/dist-packages");
	assert_string_equal(python_package(p, "numpy")->version.value, "1.0");
	assert_string_equal(python_package(p, "six")->version.value, "1.16.0");
}

static void test_venv_sees_little(void **state)
{
	struct tree *t = *state;

	dist(t, "usr/local/lib/python3.10/dist-packages", "numpy-2.0");
	venv(t, "opt/a");
	venv(t, "opt/b");
	put(t, "opt/b/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = true\n");
	ln(t, "lib", "opt/b/lib64");
	env(t, "PYTHONNOUSERSITE", "1");
	look(t);
	assert_int_equal(find(t, "/opt/a")->n_packages, 0);
	assert_non_null(python_package(find(t, "/opt/b"), "numpy"));
	assert_int_equal(find(t, "/opt/b")->site_dirs.n, 2);
}

static void test_pythonpath_first(void **state)
{
	struct tree *t = *state;

	dist(t, "mine", "numpy-0.5");
	venv(t, "opt/a");
	dist(t, "opt/a/lib/python3.10/site-packages", "numpy-2.0");
	env(t, "PYTHONPATH", ":relative:/mine");
	look(t);
	assert_string_equal(python_package(find(t, "/opt/a"), "numpy")->version.value, "0.5");
}

static void test_conda(void **state)
{
	static const char meta[] =
		"{\n  \"build\": \"x\",\n  \"channel\": "
		"\"https://conda.anaconda.org/t/secret/conda-forge/linux-64\",\n";
	struct tree *t = *state;
	const struct python *p;

	put(t, "opt/conda/bin/python3", "");
	put(t, "opt/conda/lib/python3.12/os.py", "");
	put(t, "opt/conda/conda-meta/python-3.12.3-h955ad1f_1.json", meta);
	put(t, "opt/conda/conda-meta/pytorch-2.7.1-cuda128_mkl_py312_hd1c2b5a_301.json", meta);
	put(t, "opt/conda/conda-meta/numpy-2.2.6-py312_0.json", meta);
	put(t, "opt/conda/conda-meta/history", "");
	dist(t, "opt/conda/lib/python3.12/site-packages", "numpy-2.2.6");
	put(t, "opt/conda/envs/e/bin/python3", "");
	put(t, "opt/conda/envs/e/conda-meta/history", "");
	put(t, "opt/conda/envs/e/lib/python3.9/os.py", "");
	ln(t, "../..", "opt/conda/envs/loop");
	look(t);
	p = find(t, "/opt/conda");
	assert_string_equal(p->version.value, "3.12.3");
	assert_string_equal(p->kind.value, "conda");
	assert_string_equal(python_package(p, "numpy")->build.value, "py312_0");
	assert_string_equal(python_package(p, "pytorch")->channel.value, "conda-forge");
	assert_int_equal(p->n_packages, 3);
	/* No folder torch: only conda's list speaks of it. */
	assert_string_equal(p->torch.version.value, "2.7.1");
	assert_string_equal(p->torch.variant.value, "cu128");
	assert_string_equal(p->torch.origin.value, "conda-forge");
	assert_string_equal(find(t, "/opt/conda/envs/e")->version.value, "3.9");
	assert_int_equal(t->s.n_pythons, 3);
}

#define SITE "opt/v/lib/python3.10/site-packages/"

static void library(struct tree *t, const char *path, struct elf_make *m)
{
	elf_make(m);
	put_bytes(t, path, m->buf, m->n);
}

static void torch(struct tree *t, const char *rpath, const char *runpath)
{
	struct elf_make *m = calloc(1, sizeof(*m));
	struct fat_make *f = calloc(1, sizeof(*f));

	venv(t, "opt/v");
	put(t, SITE "torch/version.py", "__version__ = '2.6.0+cu124'\ncuda = '12.4'\nhip = None\n");
	put(t, SITE "torch-2.6.0+cu124.dist-info/WHEEL", "Tag: cp310-cp310-manylinux2014_x86_64\n");
	put(t, SITE "torch-2.6.0+cu124.dist-info/INSTALLER", "uv\n");
	put(t, SITE "torchvision/version.py", "__version__ = '0.21.0+cu124'\n");
	dist(t, "opt/v/lib/python3.10/site-packages", "nvidia_cudnn_cu12-9.1.0.70");
	m->soname = "libcudnn.so.9";
	library(t, SITE "nvidia/cudnn/lib/libcudnn.so.9", m);
	library(t, "sys/libcudnn.so.9", m);
	m->soname = "libtorch_python.so";
	m->versions[0] = "GLIBC_2.28";
	library(t, SITE "torch/lib/libtorch_python.so", m);
	m->soname = "libtorch_cuda.so";
	m->versions[0] = "GLIBC_2.3";
	m->needed[0] = "libcudnn.so.9";
	m->rpath = rpath;
	m->runpath = runpath;
	fat_blob(f);
	fat_entry(f, 2, 80, 0, 8);
	fat_entry(f, 2, 90, 0, 8);
	fat_entry(f, 1, 90, 0, 8);
	m->fat = f->buf;
	m->fat_n = f->n;
	library(t, SITE "torch/lib/libtorch_cuda.so", m);
	free(m);
	free(f);
}

static void test_torch(void **state)
{
	struct tree *t = *state;
	const struct torch *x;

	torch(t, "$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN", NULL);
	env(t, "LD_LIBRARY_PATH", "/sys");
	look(t);
	x = &find(t, "/opt/v")->torch;
	assert_string_equal(x->version.value, "2.6.0+cu124");
	assert_string_equal(x->variant.value, "cu124");
	assert_string_equal(x->cuda.value, "12.4");
	assert_int_equal(x->hip.state, FACT_ABSENT);
	assert_string_equal(x->origin.value, "pip");
	assert_string_equal(x->torchvision.value, "0.21.0+cu124");
	assert_int_equal(x->torchaudio.state, FACT_ABSENT);
	/* The tag says 2.17; libtorch_python asks for more. */
	assert_string_equal(x->min_glibc.value, "2.28");
	assert_true(fact_yes(&x->has_cuda_library));
	assert_int_equal(x->arch_list.n, 3);
	assert_string_equal(x->arch_list.values[2], "compute_90");
	/* DT_RPATH is asked before LD_LIBRARY_PATH. */
	assert_string_equal(x->cudnn.path.value, "/" SITE "nvidia/cudnn/lib/libcudnn.so.9");
	assert_string_equal(x->cudnn.via.value, "DT_RPATH");
	assert_string_equal(x->cudnn.version.value, "9.1.0.70");
	assert_int_equal(x->cudnn.shadowed.n, 1);
}

/* T15: lines of RECORD that lead elsewhere, are cut off or quoted; what is there is not named. */
static void test_t15_record(void **state)
{
	static const char record[] = "nvidia/cudnn/lib/libcudnn.so.9,sha256=x,1\n"
				     "\"nvidia/cudnn/lib/libcudnn_ops.so.9\",sha256=x,1\n"
				     "nvidia/cudnn/lib/libcudnn_adv.so.9,sha256=x,1\n"
				     "nvidia/../../../../../none.so,,\n"
				     "nvidia/cudnn/lib/\x01.so,,\n"
				     "nvidia/cudnn/include/cudnn.h,,\n"
				     "\"nvidia/cudnn/lib/open.so\n"
				     "nvidia/cudnn/lib/libcut.so";
	struct tree *t = *state;
	const struct package *pkg;

	torch(t, NULL, NULL);
	env(t, "PATH", "/opt/v/bin");
	put(t, SITE "nvidia_cudnn_cu12-9.1.0.70.dist-info/RECORD", record);
	put(t, SITE "nvidia/cudnn/lib/libcudnn_adv.so.9", "");
	look(t);
	pkg = python_package(find(t, "/opt/v"), "nvidia-cudnn-cu12");
	assert_int_equal(pkg->missing.n, 1);
	assert_string_equal(pkg->missing.values[0], "nvidia/cudnn/lib/libcudnn_ops.so.9");
}

static void test_t15_record_path(void **state)
{
	static const struct {
		const char *line, *path;
	} rows[] = {
		{ .line = "a/b.so,sha256=x,1", .path = "a/b.so" },
		{ .line = "\"a, b\",x,1", .path = "a, b" },
		{ .line = "\"a\"\"b\",,", .path = "a\"b" },
		{ .line = "\"a\"b,,", .path = NULL },
		{ .line = "\"a,,", .path = NULL },
		{ .line = "\"\",,", .path = NULL },
		{ .line = "/a,,", .path = NULL },
		{ .line = "a/../b,,", .path = NULL },
		{ .line = "a", .path = NULL },
		{ .line = "", .path = NULL },
	};
	struct tree *t = *state;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const char *got = py_record_path(t->a, view_of(rows[i].line));

		if (rows[i].path)
			assert_string_equal(got, rows[i].path);
		else
			assert_null(got);
	}
}

static void test_torch_runpath(void **state)
{
	struct tree *t = *state;
	const struct torch *x;

	/* Beside a DT_RUNPATH, DT_RPATH counts for nothing. */
	torch(t, "$ORIGIN/../../nvidia/cudnn/lib", "$ORIGIN/../../nvidia/cudnn/lib");
	env(t, "LD_LIBRARY_PATH", "/sys");
	look(t);
	x = &find(t, "/opt/v")->torch;
	assert_string_equal(x->cudnn.path.value, "/sys/libcudnn.so.9");
	assert_string_equal(x->cudnn.via.value, "LD_LIBRARY_PATH");
	/* The wheel's version is not that of this file. */
	assert_false(fact_known(&x->cudnn.version));
}

static void test_torch_cpu_and_others(void **state)
{
	static const struct {
		const char *text, *variant, *origin;
	} rows[] = {
		{ .text = "__version__ = '2.5.1+cpu'\ncuda = None\n",
		  .variant = "cpu",
		  .origin = "pip" },
		{ .text = "__version__ = '2.5.1'\ncuda = None\nhip = None\n",
		  .variant = "cpu",
		  .origin = "pip" },
		{ .text = "__version__ = '2.9.1'\ncuda = '13.0'\n",
		  .variant = "cu130",
		  .origin = "pip" },
		{ .text = "__version__ = '1.4.0'\ncuda = '10.1.243'\n",
		  .variant = "cu101",
		  .origin = "pip" },
		{ .text = "__version__ = '2.4.1+rocm6.1'\ncuda = None\nhip = '6.1.40091-a8db'\n",
		  .variant = "rocm6.1",
		  .origin = "pip" },
		{ .text = "__version__ = '2.8.0a0+34c6371d24.nv25.08'\ncuda = '13.0'\n",
		  .variant = "cu130",
		  .origin = "nvidia" },
		{ .text = "__version__ = '2.3.0a0+git1234abc'\ncuda = '12.1'\n",
		  .variant = "cu121",
		  .origin = "source" },
		{ .text = "__version__ = '2.0.0+cu117.with.pypi.cudnn'\ncuda = '11.7'\n",
		  .variant = "cu117",
		  .origin = "pip" },
	};
	struct tree *t = *state;
	size_t i;

	venv(t, "opt/v");
	put(t, SITE "torch-2.dist-info/INSTALLER", "pip\n");
	parents(t, SITE "torch/lib/");
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		memset(&t->s, 0, sizeof(t->s));
		put(t, SITE "torch/version.py", rows[i].text);
		look(t);
		assert_string_equal(find(t, "/opt/v")->torch.variant.value, rows[i].variant);
		assert_string_equal(find(t, "/opt/v")->torch.origin.value, rows[i].origin);
	}
}

static void test_t6_pipes(void **state)
{
	struct tree *t = *state;
	const struct torch *x;

	torch(t, "$ORIGIN", NULL);
	assert_int_equal(unlink(at(t, SITE "torch/version.py")), 0);
	assert_int_equal(mkfifo(at(t, SITE "torch/version.py"), 0644), 0);
	assert_int_equal(unlink(at(t, "opt/v/pyvenv.cfg")), 0);
	assert_int_equal(mkfifo(at(t, "opt/v/pyvenv.cfg"), 0644), 0);
	assert_int_equal(mkfifo(at(t, SITE "x.pth"), 0644), 0);
	look(t);
	assert_string_equal(find(t, "/opt/v")->version.value, "3.10");
	x = &find(t, "/opt/v")->torch;
	assert_string_equal(x->version.value, "2.6.0+cu124");
	assert_string_equal(x->cuda.value, "12.4");
}

static void test_e15_no_library(void **state)
{
	struct tree *t = *state;
	const struct torch *x;

	torch(t, "$ORIGIN", NULL);
	put(t, SITE "torch/lib/libtorch_cuda.so", "INPUT(libx.so)\n");
	look(t);
	x = &find(t, "/opt/v")->torch;
	assert_int_equal(x->arch_list.state, FACT_BROKEN);
	assert_int_equal(x->has_cuda_library.state, FACT_BROKEN);
}

static void test_t16_many_packages(void **state)
{
	struct tree *t = *state;
	unsigned i;

	venv(t, "opt/v");
	for (i = 0; i < 5100; i++)
		put(t, arena_printf(t->a, SITE "p%u-1.%u.egg-info", i, i), "");
	look(t);
	assert_int_equal(find(t, "/opt/v")->n_packages, 5000);
	assert_non_null(find(t, "/opt/v")->site_dirs.why);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_path_decides),
		T(test_option_decides),
		T(test_option_of_nothing),
		T(test_variables_without_path),
		T(test_image_guess),
		T(test_places),
		T(test_shim),
		T(test_removed_base),
		T(test_site_order),
		T(test_venv_sees_little),
		T(test_pythonpath_first),
		T(test_conda),
		T(test_torch),
		T(test_torch_runpath),
		T(test_t15_record),
		T(test_t15_record_path),
		T(test_torch_cpu_and_others),
		T(test_t6_pipes),
		T(test_e15_no_library),
		T(test_t16_many_packages),
	};

	return cmocka_run_group_tests_name("python_env", tests, NULL, NULL);
}

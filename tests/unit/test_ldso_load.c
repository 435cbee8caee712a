/* SPDX-License-Identifier: Apache-2.0 */
/* Load sessions over small roots: each rule of the search by itself. tests/inspect asks the real
 * loader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "elf_make.h"
#include "sys/ldso_python.h"
#include "tree.h"

#define LOADER "/lib64/ld-linux-x86-64.so.2"
#define BUILT_IN "\0/lib64/\0/usr/lib64/\0\0ld.so (GNU libc) stable release version 2.31.\0"

/* name:soname,needed;needed;rpath;runpath */
struct lib {
	const char *path, *soname, *needed[4], *rpath, *runpath;
};

static void put(struct tree *t, struct lib l)
{
	struct elf_make *m = calloc(1, sizeof(*m));

	m->soname = l.soname;
	memcpy(m->needed, l.needed, sizeof(m->needed));
	m->rpath = l.rpath;
	m->runpath = l.runpath;
	elf_make(m);
	tree_put_bytes(t, l.path, m->buf, m->n);
	free(m);
}

static int setup(void **state)
{
	int rc = tree_setup(state);

	if (!rc)
		tree_put_bytes(*state, LOADER, BUILT_IN, sizeof(BUILT_IN));
	return rc;
}

static struct load_session *start(struct tree *t, const char *path, const struct load_env *env)
{
	static const struct load_env none = { NULL, NULL, NULL };
	struct ldso_root *w = arena_alloc(t->a, sizeof(*w));
	struct load_session *s;

	ldso_root_init(w, t->p.root, t->a, NULL);
	s = load_session_new(t->a, w, env ? env : &none);
	assert_int_equal(load_session_main(s, path), 0);
	return s;
}

/* "name=path(via) ..." of all answers but the loader's. */
static const char *answers(struct tree *t, struct load_session *s)
{
	const struct load_answer *list;
	const char *line = "";
	size_t n, i;

	list = load_session_answers(s, &n);
	for (i = 0; i < n; i++)
		line = arena_printf(t->a, "%s%s%s=%s(%s)", line, i ? " " : "", list[i].name,
				    list[i].object->path ? list[i].object->path : "-",
				    load_via_name(list[i].via));
	return line;
}

static void test_root(void **state)
{
	struct tree *t = *state;
	struct ldso_root w;

	ldso_root_init(&w, t->p.root, t->a, NULL);
	assert_string_equal(w.version, "2.31");
	assert_string_equal(w.arch, "x86_64");
	assert_true(w.dirs_known);
	assert_int_equal(w.n_dirs, 2);
	assert_string_equal(w.dirs[1], "/usr/lib64/");
	assert_string_equal(w.lib, "lib64");
	/* 2.31 knows the old folders alone. */
	assert_string_equal(w.caps[0], "tls/x86_64/x86_64/");
	assert_string_equal(w.caps[w.n_caps - 1], "");
	assert_false(w.hwcaps_known);
}

static void test_inherited_rpath(void **state)
{
	struct tree *t = *state;
	struct load_env env = { .library_path = "/env" };

	put(t, (struct lib){ "/app/a", NULL, { "libb.so" }, "$ORIGIN/lib", NULL });
	put(t, (struct lib){ "/app/lib/libb.so", "libb.so", { "libc.so" }, NULL, NULL });
	put(t, (struct lib){ "/app/lib/libc.so", "libc.so", { "libd.so" }, NULL, "$ORIGIN" });
	put(t, (struct lib){ "/app/lib/libd.so", "libd.so", { NULL }, NULL, NULL });
	put(t, (struct lib){ "/env/libc.so", "libc.so", { NULL }, NULL, NULL });
	put(t, (struct lib){ "/env/libd.so", "libd.so", { NULL }, NULL, NULL });
	/* The program's DT_RPATH comes before LD_LIBRARY_PATH; for what libc.so with its DT_RUNPATH
	 * needs it does not count. */
	assert_string_equal(answers(t, start(t, "/app/a", &env)),
			    "libb.so=/app/lib/libb.so(DT_RPATH) "
			    "libc.so=/app/lib/libc.so(DT_RPATH of a loading object) "
			    "libd.so=/env/libd.so(LD_LIBRARY_PATH)");
}

static void test_shadowed(void **state)
{
	struct tree *t = *state;
	struct load_env env = { .library_path = "/x:/y" };
	const struct load_answer *list;
	size_t n;

	put(t, (struct lib){ "/app/a", NULL, { "libb.so" }, NULL, "/r" });
	put(t, (struct lib){ "/x/libb.so", "libb.so", { NULL }, NULL, NULL });
	put(t, (struct lib){ "/r/libb.so", "libb.so", { NULL }, NULL, NULL });
	put(t, (struct lib){ "/usr/lib64/libb.so", "libb.so", { NULL }, NULL, NULL });
	tree_dir(t, "/y");
	tree_link(t, "/x/libb.so", "/y/libb.so");
	list = load_session_answers(start(t, "/app/a", &env), &n);
	assert_int_equal(n, 1);
	/* The same file behind a link hides nothing. */
	assert_int_equal(list[0].object->n_shadowed, 2);
	assert_string_equal(list[0].object->shadowed[0].path, "/r/libb.so");
	assert_int_equal(list[0].object->shadowed[0].via, VIA_RUNPATH);
	assert_string_equal(list[0].object->shadowed[1].path, "/usr/lib64/libb.so");
	assert_int_equal(list[0].object->shadowed[1].via, VIA_DEFAULT);
}

static void test_loaded_soname(void **state)
{
	struct tree *t = *state;

	put(t, (struct lib){ "/app/a", NULL, { "libb-renamed.so", "libc.so" }, "/app", NULL });
	put(t, (struct lib){ "/app/libb-renamed.so", "libb.so.1", { NULL }, NULL, NULL });
	put(t, (struct lib){ "/app/libc.so", "libc.so", { "libb.so.1" }, NULL, NULL });
	put(t, (struct lib){ "/usr/lib64/libb.so.1", "libb.so.1", { NULL }, NULL, NULL });
	assert_string_equal(
		answers(t, start(t, "/app/a", NULL)),
		"libb-renamed.so=/app/libb-renamed.so(DT_RPATH) libc.so=/app/libc.so(DT_RPATH) "
		"libb.so.1=/app/libb-renamed.so(already loaded)");
}

/* E10: tokens known and unknown, a relative element without a known working directory. */
static void test_e10_tokens(void **state)
{
	struct tree *t = *state;
	struct load_session *s;

	put(t, (struct lib){ "/app/a",
			     NULL,
			     { "libb.so" },
			     "$ORIGINAL:${ORIGIN:$NOTHING/x:rel:${ORIGIN}/../o/$LIB/$PLATFORM",
			     NULL });
	put(t, (struct lib){ "/o/lib64/x86_64/libb.so", "libb.so", { NULL }, NULL, NULL });
	s = start(t, "/app/a", NULL);
	assert_string_equal(answers(t, s), "libb.so=/app/../o/lib64/x86_64/libb.so(DT_RPATH)");
	assert_true(load_session_skipped_relative(s));
}

/* E15: a linker script where a library is looked for ends the load; for LD_PRELOAD it does not. */
static void test_e15_script_in_the_way(void **state)
{
	struct tree *t = *state;
	struct load_env env = { .library_path = "/x", .preload = "libb.so" };
	const struct load_answer *list;
	struct load_session *s;
	size_t n;

	put(t, (struct lib){ "/app/a", NULL, { "libb.so" }, NULL, NULL });
	tree_put(t, "/x/libb.so",
		 "/* GNU ld script */ INPUT(libc.so.6) /* padding so that it is long enough */\n");
	s = start(t, "/app/a", &env);
	list = load_session_answers(s, &n);
	assert_int_equal(n, 2);
	assert_null(list[0].asker);
	assert_int_equal(list[1].object->state, LOAD_FATAL);
	assert_string_equal(list[1].object->why, "invalid ELF header");
	assert_null(load_session_loaded(s, "libb.so"));
}

/* T3, T4, T6: links that loop or dangle, a FIFO. */
static void test_links(void **state)
{
	struct tree *t = *state;
	struct load_env env = { .library_path = "/l:/m:/n" };

	put(t, (struct lib){ "/app/a", NULL, { "libb.so", "libc.so" }, NULL, NULL });
	tree_dir(t, "/l");
	tree_link(t, "libb.so", "/l/libb.so");
	tree_link(t, "nowhere", "/l/libc.so");
	put(t, (struct lib){ "/m/libb.so", "libb.so", { NULL }, NULL, NULL });
	put(t, (struct lib){ "/m/libc.so", "libc.so", { NULL }, NULL, NULL });
	/* A loop ends the list that it stands in, a dangling link does not. */
	assert_string_equal(answers(t, start(t, "/app/a", &env)),
			    "libb.so=-(not found) libc.so=/m/libc.so(LD_LIBRARY_PATH)");
}

static void test_e2_other_machine(void **state)
{
	struct tree *t = *state;
	struct elf_make *m = calloc(1, sizeof(*m));

	m->soname = "libb.so";
	elf_make(m);
	elf_put(m->buf + 18, 183, 2);
	tree_put_bytes(t, "/lib64/libb.so", m->buf, m->n);
	elf_put(m->buf + 18, 62, 2);
	tree_put_bytes(t, "/usr/lib64/libb.so", m->buf, m->n);
	free(m);
	put(t, (struct lib){ "/app/a", NULL, { "libb.so" }, NULL, NULL });
	assert_string_equal(answers(t, start(t, "/app/a", NULL)),
			    "libb.so=/usr/lib64/libb.so(default)");
}

static void test_dlopen(void **state)
{
	struct tree *t = *state;
	const struct load_object *o, *failed;
	struct load_session *s;

	put(t, (struct lib){ "/app/a", NULL, { NULL }, "/app/lib", NULL });
	put(t, (struct lib){ "/app/lib/libx.so", "libx.so", { "liby.so" }, NULL, NULL });
	put(t, (struct lib){ "/app/lib/liby.so", "liby.so", { NULL }, NULL, NULL });
	put(t, (struct lib){
		       "/app/lib/libz.so", "libz.so", { "liby2.so", "libgone.so" }, NULL, NULL });
	put(t, (struct lib){ "/app/lib/liby2.so", "liby2.so", { NULL }, NULL, NULL });
	s = start(t, "/app/a", NULL);
	o = load_session_dlopen(s, "libx.so", NULL, &failed);
	assert_null(failed);
	assert_string_equal(o->path, "/app/lib/libx.so");
	assert_non_null(load_session_loaded(s, "liby.so"));
	/* What failed leaves nothing behind. */
	(void)load_session_dlopen(s, "libz.so", NULL, &failed);
	assert_string_equal(failed->name, "libgone.so");
	assert_null(load_session_loaded(s, "libz.so"));
	assert_null(load_session_loaded(s, "liby2.so"));
}

static void torch_wheels(struct tree *t, const char *global_rpath)
{
	put(t, (struct lib){ "/py/bin/python3", NULL, { NULL }, NULL, NULL });
	put(t, (struct lib){ "/py/site-packages/torch/lib/libtorch_global_deps.so",
			     "libtorch_global_deps.so",
			     { "libcudnn.so.9", "libcudart.so.12" },
			     global_rpath,
			     NULL });
	put(t, (struct lib){ "/py/site-packages/torch/_C.cpython-312-x86_64-linux-gnu.so", NULL,
			     { "libtorch_cuda.so" }, "$ORIGIN/lib", NULL });
	put(t, (struct lib){ "/py/site-packages/torch/lib/libtorch_cuda.so", "libtorch_cuda.so",
			     { "libcudnn.so.9" }, NULL, NULL });
	put(t, (struct lib){ "/py/site-packages/nvidia/cudnn/lib/libcudnn.so.9",
			     "libcudnn.so.9",
			     { NULL },
			     NULL,
			     NULL });
	put(t, (struct lib){ "/py/site-packages/nvidia/cuda_runtime/lib/libcudart.so.12",
			     "libcudart.so.12",
			     { NULL },
			     NULL,
			     NULL });
	put(t, (struct lib){ "/py/site-packages/nvidia/nvjitlink/lib/libnvJitLink.so.12",
			     "libnvJitLink.so.12",
			     { NULL },
			     NULL,
			     NULL });
	put(t, (struct lib){ "/env/libcudnn.so.9", "libcudnn.so.9", { NULL }, NULL, NULL });
}

static void test_torch(void **state)
{
	static const char *const sites[] = { "/py/site-packages" };
	struct tree *t = *state;
	struct load_env env = { .library_path = "/env" };
	struct torch_import r;
	struct load_session *s;

	torch_wheels(t, "$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN/../../nvidia/cuda_runtime/lib");
	s = start(t, "/py/bin/python3", &env);
	torch_import(s, "/py/site-packages/torch", sites, 1, &r);
	assert_null(r.failed);
	assert_false(r.preloaded);
	assert_non_null(r.extension);
	/* DT_RPATH of the wheel wins over LD_LIBRARY_PATH, and what is loaded already answers
	 * later. */
	assert_string_equal(load_session_loaded(s, "libcudnn.so.9")->path,
			    "/py/site-packages/torch/lib/../../nvidia/cudnn/lib/libcudnn.so.9");
	/* libcudart is that of the wheels: nvJitLink comes along. */
	assert_non_null(load_session_loaded(s, "libnvJitLink.so.12"));
}

static void test_torch_preloads(void **state)
{
	static const char *const sites[] = { "/nothing", "/py/site-packages" };
	struct tree *t = *state;
	struct torch_import r;
	struct load_session *s;

	torch_wheels(t, NULL);
	s = start(t, "/py/bin/python3", NULL);
	torch_import(s, "/py/site-packages/torch", sites, 2, &r);
	assert_true(r.preloaded);
	assert_null(r.failed);
	assert_string_equal(load_session_loaded(s, "libcudnn.so.9")->path,
			    "/py/site-packages/nvidia/cudnn/lib/libcudnn.so.9");
	/* The first one in its list that no directory has. */
	assert_string_equal(r.missing, "libcublas.so.");
}

static void test_musl(void **state)
{
	struct tree *t = *state;
	struct ldso_root w;

	tree_put(t, "/lib/ld-musl-x86_64.so.1", "x");
	assert_int_equal(unlinkat(t->p.root->fd, "lib64/ld-linux-x86-64.so.2", 0), 0);
	ldso_root_init(&w, t->p.root, t->a, NULL);
	assert_true(w.musl);
}

static void test_python_rows(void **state)
{
	(void)state;
	assert_non_null(package_load("/v/lib/python3.12/site-packages/torch/lib/libc10.so"));
	assert_null(package_load("/v/lib/python3.12/site-packages/torchvision/_C.so"));
	assert_null(package_load("/usr/lib/libc.so.6"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_root),
		TEST(test_inherited_rpath),
		TEST(test_shadowed),
		TEST(test_loaded_soname),
		TEST(test_e10_tokens),
		TEST(test_e15_script_in_the_way),
		TEST(test_links),
		TEST(test_e2_other_machine),
		TEST(test_dlopen),
		TEST(test_torch),
		TEST(test_torch_preloads),
		TEST(test_musl),
		TEST(test_python_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

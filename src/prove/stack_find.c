/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files an environment's frameworks would load. Where PyTorch is there, its libraries are
 * loaded in the mind (sys/ldso_load) as its interpreter would; else the folders are looked through.
 * Only looks.
 */
#include <stdlib.h>
#include <string.h>

#include "prove/stack.h"
#include "sys/ldso_load.h"

static const struct {
	const char *stem;
} stems[STACK_LIBRARIES] = {
	[STACK_CUDART] = { "libcudart.so" },	   [STACK_CUBLASLT] = { "libcublasLt.so" },
	[STACK_CUBLAS] = { "libcublas.so" },	   [STACK_CUDNN] = { "libcudnn.so" },
	[STACK_CUFFT] = { "libcufft.so" },	   [STACK_CUSPARSE] = { "libcusparse.so" },
	[STACK_CUSOLVER] = { "libcusolver.so" },   [STACK_NVRTC] = { "libnvrtc.so" },
	[STACK_NVJITLINK] = { "libnvJitLink.so" }, [STACK_NCCL] = { "libnccl.so" },
};

struct finder {
	struct arena *a;
	struct sysroot *root;
	struct stack *s;
};

/* "libcublas.so.13" for "libcublas.so": a number alone behind it. */
static bool is_soname(const char *name, const char *stem)
{
	size_t n = strlen(stem);

	return strncmp(name, stem, n) == 0 && name[n] == '.' && name[n + 1] &&
	       strspn(name + n + 1, "0123456789") == strlen(name + n + 1);
}

static int major_of(const char *soname)
{
	const char *dot = strrchr(soname, '.');
	uint64_t v = 0;

	return dot && view_u64(view_of(dot + 1), 10, &v) && v < 10000 ? (int)v : -1;
}

/* The newest soname of each library in a folder becomes the environment's own copy. */
static void look_in(struct finder *f, const char *dir)
{
	struct dirlist list;
	size_t i, k;

	if (sysroot_list(f->root, f->a, dir, 4096, &list))
		return;
	for (i = 0; i < list.n; i++) {
		for (k = 0; k < STACK_LIBRARIES; k++) {
			struct stack_library *b = &f->s->libraries[k];

			if (!is_soname(list.names[i], stems[k].stem) ||
			    (b->soname && major_of(b->soname) >= major_of(list.names[i])))
				continue;
			b->soname = list.names[i];
			b->path = b->own = path_join(f->a, dir, list.names[i]);
			b->via = N_("the environment's folder");
		}
	}
}

static void look_below(struct finder *f, const char *dir, const char *sub)
{
	struct dirlist list;
	size_t i;

	if (sysroot_list(f->root, f->a, dir, 4096, &list))
		return;
	for (i = 0; i < list.n; i++)
		look_in(f, path_join(f->a, path_join(f->a, dir, list.names[i]), sub));
}

static void take_python(struct finder *f, const char *bin)
{
	const char *python = path_join(f->a, path_join(f->a, f->s->prefix, bin), "python3");

	if (!f->s->python && sysroot_exists(f->root, python))
		f->s->python = python;
}

/* A folder of packages: the first one, but for one that holds PyTorch or NVIDIA's wheels. */
static void take_site(struct finder *f, const char *site, bool *full)
{
	static const char *const signs[] = { "torch/lib", "nvidia" };
	bool holds = false;
	size_t i;

	if (!sysroot_is_dir(f->root, site))
		return;
	for (i = 0; i < ARRAY_LEN(signs); i++)
		holds = holds || sysroot_is_dir(f->root, path_join(f->a, site, signs[i]));
	if (f->s->site && (*full || !holds))
		return;
	f->s->site = site;
	*full = holds;
}

/* Environments and whole systems: where their interpreters keep packages, and the interpreter. */
static void find_site(struct finder *f)
{
	static const char *const libs[] = { "lib",     "lib64",		"local/lib",
					    "usr/lib", "usr/local/lib", "opt/conda/lib" };
	static const char *const bins[] = { "bin", "usr/bin", "usr/local/bin", "opt/conda/bin" };
	struct dirlist list;
	const char *lib, *dir;
	bool full = false;
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(libs); i++) {
		lib = path_join(f->a, f->s->prefix, libs[i]);
		if (sysroot_list(f->root, f->a, lib, 4096, &list))
			continue;
		for (k = 0; k < list.n; k++) {
			if (strncmp(list.names[k], "python3", 7) != 0)
				continue;
			dir = path_join(f->a, lib, list.names[k]);
			take_site(f, path_join(f->a, dir, "site-packages"), &full);
			take_site(f, path_join(f->a, dir, "dist-packages"), &full);
		}
	}
	/* The one beside the packages, else the first. */
	if (f->s->site && strstr(f->s->site, "/opt/conda/lib/"))
		take_python(f, "opt/conda/bin");
	for (i = 0; i < ARRAY_LEN(bins); i++)
		take_python(f, bins[i]);
}

/* A whole system without an environment: its toolkit, and what its distribution has. */
static void look_in_system(struct finder *f)
{
	static const char *const dirs[] = {
		"usr/local/cuda/lib64",
		"usr/local/cuda/targets/x86_64-linux/lib",
		"usr/local/cuda/targets/sbsa-linux/lib",
		"usr/lib/x86_64-linux-gnu",
		"usr/lib/aarch64-linux-gnu",
		"usr/lib64",
		"local/cuda/lib64",
		"lib/x86_64-linux-gnu",
		"lib/aarch64-linux-gnu",
		"cuda/lib64",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(dirs); i++)
		look_in(f, path_join(f->a, f->s->prefix, dirs[i]));
}

static size_t count(const struct stack *s)
{
	size_t i, n = 0;

	for (i = 0; i < STACK_LIBRARIES; i++)
		n += s->libraries[i].soname != NULL;
	return n;
}

/* What the loader takes when PyTorch's libraries are loaded. */
static void ask_loader(struct finder *f, const char *torch)
{
	struct load_env env = { .library_path = getenv("LD_LIBRARY_PATH") };
	struct ldso_root *w = arena_alloc(f->a, sizeof(*w));
	const struct load_answer *answers;
	const char *linalg = path_join(f->a, path_dir(f->a, torch), "libtorch_cuda_linalg.so");
	struct load_session *s;
	size_t i, k, n;

	ldso_root_init(w, f->root, f->a, NULL);
	s = load_session_new(f->a, w, &env);
	if (!f->s->python || load_session_main(s, f->s->python))
		if (load_session_main(s, torch))
			return;
	f->s->framework = torch;
	load_session_dlopen(s, torch, NULL, NULL);
	if (sysroot_exists(f->root, linalg))
		load_session_dlopen(s, linalg, NULL, NULL);
	answers = load_session_answers(s, &n);
	for (i = 0; i < n; i++) {
		for (k = 0; k < STACK_LIBRARIES; k++) {
			struct stack_library *b = &f->s->libraries[k];
			const struct load_object *o = answers[i].object;

			if (!is_soname(answers[i].name, stems[k].stem) || !o || o->state != LOAD_OK)
				continue;
			if (answers[i].via == VIA_LOADED && b->soname &&
			    strcmp(b->soname, answers[i].name) == 0)
				continue;
			b->soname = answers[i].name;
			b->path = o->path;
			b->via = load_via_name(answers[i].via);
		}
	}
}

/* An own copy that the loader passes over stays in `own`; one that it takes needs no second name.
 */
static void settle(struct finder *f)
{
	const char *x, *y;
	size_t k;

	for (k = 0; k < STACK_LIBRARIES; k++) {
		struct stack_library *b = &f->s->libraries[k];

		b->stem = stems[k].stem;
		/* Without the dots of $ORIGIN/../.. */
		if (b->path && !sysroot_realpath(f->root, f->a, path_dir(f->a, b->path), &x))
			b->path = path_join(f->a, x, path_base(b->path));
		if (b->own && b->path && !sysroot_realpath(f->root, f->a, b->own, &x) &&
		    !sysroot_realpath(f->root, f->a, b->path, &y) && strcmp(x, y) == 0)
			b->own = NULL;
		/* A copy of another major serves others. */
		if (b->own && strcmp(path_base(b->own), b->soname) != 0)
			b->own = NULL;
	}
}

static const char *python_prefix(struct finder *f)
{
	const char *path = getenv("PATH"), *candidate, *cfg;
	struct view rest = view_of(path), one;

	while (path && rest.n) {
		one = view_cut(rest, ':', &rest);
		if (!one.n || one.p[0] != '/')
			continue;
		candidate = path_join(f->a, arena_strndup(f->a, one.p, one.n), "python3");
		if (!sysroot_exists(f->root, candidate))
			continue;
		cfg = path_dir(f->a, path_dir(f->a, candidate));
		return cfg;
	}
	return NULL;
}

static const char *choose_prefix(struct finder *f)
{
	static const char *const variables[] = { "VIRTUAL_ENV", "CONDA_PREFIX" };
	const char *p;
	size_t i;

	for (i = 0; i < ARRAY_LEN(variables); i++) {
		p = getenv(variables[i]);
		if (p && p[0] == '/')
			return p;
	}
	p = python_prefix(f);
	return p ? p : "/usr/local/cuda";
}

int stack_find(struct arena *a, const char *prefix, struct stack *ret, struct err *err)
{
	struct finder f = { .a = a, .s = ret };
	static const char *const plain[] = { "lib", "lib64", "targets/x86_64-linux/lib",
					     "targets/sbsa-linux/lib" };
	const char *torch, *ptxas;
	size_t i;
	int r = sysroot_open(a, "/", &f.root, err);

	if (r)
		return r;
	*ret = (struct stack){ .prefix = strcmp(prefix, "auto") == 0 ? choose_prefix(&f) : prefix };
	if (ret->prefix[0] != '/' && sysroot_realpath(f.root, a, ret->prefix, &ret->prefix))
		return err_set(err, ERR_USAGE,
			       _("--stack %.200s: must be a path from the root on, or auto"),
			       prefix);
	if (!sysroot_is_dir(f.root, ret->prefix))
		return err_set(err, ERR_NOENT, _("--stack %.200s: no such folder"), ret->prefix);
	find_site(&f);
	for (i = 0; i < ARRAY_LEN(plain); i++)
		look_in(&f, path_join(a, ret->prefix, plain[i]));
	if (ret->site) {
		look_below(&f, path_join(a, ret->site, "nvidia"), "lib");
		look_in(&f, path_join(a, ret->site, "torch/lib"));
		ptxas = path_join(a, ret->site, "triton/backends/nvidia/bin/ptxas");
		if (sysroot_exists(f.root, ptxas))
			ret->ptxas = ptxas;
		ptxas = path_join(a, ret->site, "triton/backends/nvidia/bin/ptxas-blackwell");
		if (sysroot_exists(f.root, ptxas))
			ret->ptxas_10 = ptxas;
		torch = path_join(a, ret->site, "torch/lib/libtorch_cuda.so");
		if (sysroot_exists(f.root, torch))
			ask_loader(&f, torch);
	}
	if (!count(ret))
		look_in_system(&f);
	settle(&f);
	if (!count(ret))
		return err_set(err, ERR_NOENT, _("--stack %.200s: no CUDA library is in it"),
			       ret->prefix);
	return 0;
}

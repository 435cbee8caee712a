/* SPDX-License-Identifier: Apache-2.0 */
/* Which libraries of CUDA the frameworks and add-ons of an environment get from the loader. Nothing
 * is started. */
#include <string.h>

#include "base/arena.h"
#include "model/version.h"
#include "probe/hunt.h"

enum { ENVS_MAX = 8, NAMES_MAX = 4096, TEXT_MAX = 1 << 16 };

/* -------- frameworks */

static const char *module_file(struct hunt *h, const char *name)
{
	size_t i;

	for (i = 0; i < h->out->site_dirs.n; i++) {
		const char *path = path_join(h->p->a, h->out->site_dirs.values[i], name);

		if (sysroot_exists(h->p->root, path))
			return path;
	}
	return NULL;
}

static void torch(struct hunt *h)
{
	static const char *const files[] = { "libtorch_global_deps.so", "libtorch_python.so",
					     "libtorch_cuda.so", "libtorch_cuda_linalg.so" };
	const char *lib = path_join(h->p->a, fact_value(&h->out->torch.path, ""), "lib");
	size_t from = h->l.n, i;

	h->package = "torch";
	h->l.preload = true;
	for (i = 0; i < ARRAY_LEN(files); i++) {
		loading_open(&h->l, path_join(h->p->a, lib, files[i]));
		loading_all(&h->l);
	}
	h->l.preload = false;
	hunt_report(h, from);
}

/* Each framework is looked at as if its process had loaded no other. */
static void start(struct hunt *h, const char *package)
{
	h->package = package;
	h->l.list = NULL;
	h->l.n = 0;
}

static void onnxruntime(struct hunt *h)
{
	const char *file = module_file(h, "onnxruntime/capi/libonnxruntime_providers_cuda.so");

	if (!file)
		return;
	start(h, "onnxruntime-gpu");
	loading_open(&h->l, file);
	loading_all(&h->l);
	hunt_report(h, 0);
}

/* The quoted text behind a quoted key: ('cuda_version', '12.5'). */
static const char *value_of(struct arena *a, struct view text, const char *key)
{
	ptrdiff_t at = view_find(text, key);
	struct view rest, value;
	size_t n = 0;

	if (at < 1)
		return NULL;
	rest = view_skip(text, (size_t)at + strlen(key) + 1);
	while (n < rest.n && n < 8 && rest.p[n] != '\'' && rest.p[n] != '"')
		n++;
	if (n == rest.n || n == 8)
		return NULL;
	value = view_cut(view_skip(rest, n + 1), rest.p[n], &rest);
	return py_is_word(value) ? view_dup(a, value) : NULL;
}

static void ask(struct hunt *h, int by, const char *stem, const char *major)
{
	loading_find(&h->l, arena_printf(h->p->a, "%s.so.%s", stem, major), by);
}

/* TensorFlow opens its libraries by name, with the numbers that it was built with. */
static void tensorflow(struct hunt *h)
{
	const char *info = module_file(h, "tensorflow/python/platform/build_info.py"),
		   *lib = module_file(h, "tensorflow/libtensorflow_cc.so.2"), *cuda, *cudnn, *dot;
	struct view text;
	int by;

	if (!lib)
		lib = module_file(h, "tensorflow/libtensorflow_framework.so.2");
	if (!info || !lib ||
	    sysroot_read(h->p->root, h->p->a, info, TEXT_MAX, &text, NULL) != 0)
		return;
	cuda = value_of(h->p->a, text, "cuda_version'");
	cudnn = value_of(h->p->a, text, "cudnn_version'");
	if (!cuda || !cudnn)
		return;
	dot = strchr(cuda, '.');
	cuda = dot ? arena_strndup(h->p->a, cuda, (size_t)(dot - cuda)) : cuda;
	start(h, "tensorflow");
	by = loading_open(&h->l, lib);
	if (by < 0)
		return;
	ask(h, by, "libcudart", strcmp(cuda, "11") == 0 ? "11.0" : cuda);
	ask(h, by, "libcublas", cuda);
	ask(h, by, "libcudnn", cudnn);
	loading_all(&h->l);
	hunt_report(h, 0);
}

static void jax(struct hunt *h)
{
	static const char *const majors[] = { "12", "13" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(majors); i++) {
		const char *file = module_file(
			h, arena_printf(h->p->a, "jax_plugins/xla_cuda%s/xla_cuda_plugin.so",
					majors[i]));
		int by;

		if (!file)
			continue;
		start(h, "jax");
		h->l.preload = true;
		by = loading_open(&h->l, file);
		if (by >= 0) {
			ask(h, by, "libcublas", majors[i]);
			ask(h, by, "libcudnn", "9");
			loading_all(&h->l);
		}
		h->l.preload = false;
		hunt_report(h, 0);
	}
}

/*
 * Add-ons that leave finding CUDA's libraries to the loader. Of their folders every file counts but
 * those of libraries that are optional for them.
 */
static const struct addon {
	const char *package; /* or what it begins with: cupy-cuda12x */
	const char *dir;
} addons[] = {
	{ .package = "cupy", .dir = "cupy_backends/cuda/libs" },
	{ .package = "cupy", .dir = "cupy_backends/cuda/api" },
	{ .package = "cupy", .dir = "cupy/cuda" },
	{ .package = "llama-cpp-python", .dir = "llama_cpp/lib" },
	{ .package = "llama-cpp-python", .dir = "llama_cpp" },
	{ .package = "pycuda", .dir = "pycuda" },
};

static bool is_optional(const char *file)
{
	static const char *const stems[] = { "cudnn", "nccl", "cutensor", "cusparselt" };

	return py_begins(file, stems, ARRAY_LEN(stems));
}

static const struct package *addon_package(const struct python *out, const struct addon *ad)
{
	size_t i, n = strlen(ad->package);

	for (i = 0; i < out->n_packages; i++) {
		const char *name = fact_value(&out->packages[i].name, "");

		if (strncmp(name, ad->package, n) == 0 &&
		    (!name[n] || strncmp(name + n, "-cuda", 5) == 0))
			return &out->packages[i];
	}
	return NULL;
}

static void addon_files(struct hunt *h, const char *dir)
{
	struct dirlist list;
	size_t i;

	if (!dir || sysroot_list(h->p->root, h->p->a, dir, NAMES_MAX, &list) != 0)
		return;
	for (i = 0; i < list.n; i++)
		if (view_ends(view_of(list.names[i]), ".so") && !is_optional(list.names[i]))
			loading_open(&h->l, path_join(h->p->a, dir, list.names[i]));
}

static void addons_load(struct hunt *h)
{
	const struct package *pkg, *last = NULL;
	size_t i;

	for (i = 0; i < ARRAY_LEN(addons); i++) {
		pkg = addon_package(h->out, &addons[i]);
		/* From 14 on CuPy finds the wheels' libraries by way of this package. */
		if (!pkg || (strcmp(addons[i].package, "cupy") == 0 &&
			     python_package(h->out, "cuda-pathfinder")))
			continue;
		if (pkg != last)
			start(h, pkg->name.value);
		last = pkg;
		addon_files(h, module_file(h, addons[i].dir));
		/* Its folders stand together in the table. */
		if (i + 1 < ARRAY_LEN(addons) &&
		    strcmp(addons[i].package, addons[i + 1].package) == 0)
			continue;
		loading_all(&h->l);
		hunt_report(h, 0);
	}
}

/*
 * CTranslate2's wheels open cuBLAS and cuDNN by name when a model is put on a GPU. Those for
 * aarch64 are for the processor alone.
 */
static void ctranslate2(struct hunt *h)
{
	const struct package *pkg = python_package(h->out, "ctranslate2");
	const char *dir = module_file(h, "ctranslate2"), *version;
	struct dirlist list;
	size_t i;
	int by = -1;

	if (!pkg || !dir || strcmp(h->l.ld.arch, "x86_64") != 0 ||
	    !module_file(h, "ctranslate2.libs") ||
	    sysroot_list(h->p->root, h->p->a, dir, NAMES_MAX, &list) != 0)
		return;
	start(h, "ctranslate2");
	for (i = 0; i < list.n && by < 0; i++)
		if (view_ends(view_of(list.names[i]), ".so"))
			by = loading_open(&h->l, path_join(h->p->a, dir, list.names[i]));
	if (by < 0)
		return;
	version = fact_value(&pkg->version, NULL);
	ask(h, by, "libcublas", version_at_least(version, "4.0") ? "12" : "11");
	ask(h, by, "libcudnn", version_at_least(version, "4.5") ? "9" : "8");
	hunt_report(h, 0);
}

static bool worth(const struct python *out)
{
	static const char *const names[] = { "onnxruntime-gpu", "tensorflow", "jax",
					     "ctranslate2" };
	size_t i;

	if (fact_yes(&out->torch.has_cuda_library))
		return true;
	for (i = 0; i < ARRAY_LEN(names); i++)
		if (python_package(out, names[i]))
			return true;
	for (i = 0; i < ARRAY_LEN(addons); i++)
		if (addon_package(out, &addons[i]))
			return true;
	return false;
}

void py_loads(struct probe_ctx *p, const struct py_env *e, struct python *out)
{
	const char *source, *arch = fact_value(&p->s->host.arch, NULL);
	struct hunt h = { .p = p, .e = e, .out = out };
	size_t i, n = 0;

	for (i = 0; i < p->s->n_pythons; i++)
		n += p->s->pythons[i].n_loads != 0;
	if (!worth(out) || n >= ENVS_MAX)
		return;
	if (!arch)
		arch = ldso_arch(p->root, &source);
	if (!arch)
		return;
	loading_init(&h.l, p, e, out, arch);
	if (h.l.ld.musl)
		return;
	hunt_places(&h);
	if (fact_yes(&out->torch.has_cuda_library) && fact_known(&out->torch.path)) {
		start(&h, "torch");
		torch(&h);
	}
	onnxruntime(&h);
	tensorflow(&h);
	jax(&h);
	addons_load(&h);
	ctranslate2(&h);
}

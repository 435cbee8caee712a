/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which libraries of CUDA the frameworks of an environment get from the loader: what is taken,
 * which own copy another one hides, and where a missing one lies instead. Nothing is started.
 */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "model/version.h"
#include "probe/loading.h"
#include "sys/elf.h"
#include "sys/elf_symbol.h"
#include "sys/ldcache.h"

enum { ENVS_MAX = 8, NAMES_MAX = 4096, LIST_MAX = 16, SYMBOLS_MAX = 4000, TEXT_MAX = 1 << 16,
	FETCHED_MAX = 64 };

/* A folder in which libraries may lie. */
struct place {
	const char *dir;
	struct dirlist names;
	bool own; /* it belongs to the environment */
};

struct hunt {
	struct probe_ctx *p;
	const struct py_env *e;
	struct python *out;
	struct loading l;
	struct place *places;
	size_t n_places;
	const char *package; /* whose needs are looked at */
};

/* -------- where libraries lie */

static void add_place(struct hunt *h, const char *dir, bool own)
{
	struct dirlist names;
	const char *real;
	size_t i;

	if (sysroot_realpath(h->p->root, h->p->a, dir, &real) != 0)
		return;
	for (i = 0; i < h->n_places; i++)
		if (strcmp(h->places[i].dir, real) == 0)
			return;
	if (sysroot_list(h->p->root, h->p->a, real, NAMES_MAX, &names) != 0)
		return;
	*ARENA_APPEND(h->p->a, h->places, h->n_places) =
		(struct place){ .dir = real, .names = names, .own = own };
}

/*
 * What `cuvet fetch` unpacked: PREFIX/<name>/<version>[-cuda<N>]/lib, by the prefixes that `cuvet
 * env` knows too.
 */
static void add_fetched(struct hunt *h, const char *prefix)
{
	struct arena *a = h->p->a;
	struct dirlist names, versions;
	size_t i, k;

	if (sysroot_list(h->p->root, a, prefix, FETCHED_MAX, &names) != 0)
		return;
	for (i = 0; i < names.n; i++) {
		const char *top = path_join(a, prefix, names.names[i]);

		if (names.names[i][0] == '.' ||
		    sysroot_list(h->p->root, a, top, FETCHED_MAX, &versions) != 0)
			continue;
		for (k = 0; k < versions.n; k++)
			if (strcmp(versions.names[k], "current") != 0)
				add_place(h, arena_printf(a, "%s/%s/lib", top, versions.names[k]),
					  false);
	}
}

static void find_places(struct hunt *h)
{
	static const char *const libs[] = { "lib64", "lib", "targets/x86_64-linux/lib",
					    "targets/sbsa-linux/lib", "targets/aarch64-linux/lib" };
	const char *home = snapshot_env(h->p->s, "HOME");
	struct arena *a = h->p->a;
	struct dirlist list;
	size_t i, k;

	for (i = 0; i < h->out->site_dirs.n; i++) {
		const char *site = h->out->site_dirs.values[i], *top = path_join(a, site, "nvidia");

		add_place(h, path_join(a, site, "torch/lib"), true);
		add_place(h, path_join(a, site, "cusparselt/lib"), true);
		if (sysroot_list(h->p->root, a, top, (size_t)LIST_MAX * 4, &list) != 0)
			continue;
		for (k = 0; k < list.n; k++)
			add_place(h, arena_printf(a, "%s/%s/lib", top, list.names[k]), true);
	}
	if (h->e->kind == PY_CONDA)
		add_place(h, path_join(a, h->e->prefix, "lib"), true);
	for (i = 0; i < h->p->s->n_toolkits; i++)
		for (k = 0; k < ARRAY_LEN(libs); k++)
			if (fact_known(&h->p->s->toolkits[i].path))
				add_place(h, path_join(a, h->p->s->toolkits[i].path.value, libs[k]),
					  false);
	add_place(h, "/usr/local/cuda/lib64", false);
	add_place(h, "/usr/local/cudnn/lib", false);
	add_place(h, "/usr/local/cudnn/lib64", false);
	if (home && home[0] == '/')
		add_fetched(h, path_join(a, home, ".local/cuvet"));
	add_fetched(h, "/usr/local/cuvet");
	add_fetched(h, "/opt/cuvet");
}

static void note(struct hunt *h, struct fact_list *f, const char *path, const char *source)
{
	fact_list_add(h->p->a, f, path, source, LIST_MAX);
}

/* "9" of "libcudnn.so.9.1.0"; 0 when NAME is no version of that library. */
static unsigned major_of(const char *name, const char *stem, size_t n)
{
	struct version v;

	return strncmp(name, stem, n) == 0 && version_prefix(view_of(name + n), &v) ? v.part[0] : 0;
}

/* Length of "libcudnn.so." in a soname; 0 when it has no version. */
static size_t stem_of(const char *name)
{
	const char *at = strstr(name, ".so.");

	return at ? (size_t)(at - name) + 4 : 0;
}

/* Own copies, copies that are not searched, other majors. */
static void look_around(struct hunt *h, struct load *x, const char *name)
{
	size_t stem = stem_of(name), i, k;
	unsigned want = stem ? major_of(name, name, stem) : 0, m;
	struct ldcache_entry c;

	for (i = 0; i < h->n_places; i++) {
		const struct place *pl = &h->places[i];

		for (k = 0; k < pl->names.n; k++) {
			const char *s = pl->names.names[k], *path;

			if (!stem || strncmp(s, name, stem) != 0)
				continue;
			path = path_join(h->p->a, pl->dir, s);
			if (strcmp(s, name) == 0 && !pl->own && fact_is(&x->path, path))
				continue;
			if (strcmp(s, name) == 0)
				note(h, pl->own ? &x->own : &x->elsewhere, path, pl->dir);
			else if ((m = major_of(s, name, stem)) != 0 && m != want)
				note(h, &x->other, path, pl->dir);
		}
	}
	for (i = 0; stem && !h->l.ld.cache_error && i < h->l.ld.cache.n; i++)
		if (ldcache_entry(&h->l.ld.cache, i, &c) &&
		    (m = major_of(c.name, name, stem)) != 0 && m != want &&
		    sysroot_exists(h->p->root, c.path))
			note(h, &x->other, arena_strdup(h->p->a, c.path), LDCACHE_PATH);
}

/* -------- symbols */

/* Which library has to define what begins like that; the longest comes first. */
static const struct {
	const char *prefix, *library;
} homes[] = {
	{ .prefix = "__nvJitLink", .library = "libnvJitLink." },
	{ .prefix = "nvJitLink", .library = "libnvJitLink." },
	{ .prefix = "cublasLt", .library = "libcublasLt." },
	{ .prefix = "cudnn", .library = "libcudnn." },
	{ .prefix = "nccl", .library = "libnccl." },
};

static bool has_home(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(homes); i++)
		if (strncmp(name, homes[i].prefix, strlen(homes[i].prefix)) == 0)
			return true;
	return false;
}

/* Among `names`, those that belong to the library and that it does not define. */
static void lacks(struct hunt *h, struct load *x, const char **names, size_t n)
{
	_cleanup_fd_ int fd = -1;
	struct elf_symbols s;
	struct elf e;
	bool open = false;
	size_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < ARRAY_LEN(homes); k++)
			if (strncmp(names[i], homes[k].prefix, strlen(homes[k].prefix)) == 0)
				break;
		if (k == ARRAY_LEN(homes) ||
		    strncmp(x->name.value, homes[k].library, strlen(homes[k].library)) != 0)
			continue;
		if (!open) {
			fd = sysroot_open_file(h->p->root, x->path.value);
			if (fd < 0 || elf_read(h->p->a, fd, &e) != 0 ||
			    !elf_symbols_open(h->p->a, fd, &e, &s))
				return;
			open = true;
		}
		if (!elf_symbols_defines(&s, names[i]))
			note(h, &x->missing, names[i], x->by.value);
	}
}

static void find_missing(struct hunt *h, const struct loaded *asks, struct load *loads,
			 size_t n_loads)
{
	_cleanup_fd_ int fd = asks->path ? sysroot_open_file(h->p->root, asks->path) : -1;
	const char **names;
	struct elf e;
	size_t n, i, k;

	if (fd < 0 || elf_read(h->p->a, fd, &e) != 0)
		return;
	names = elf_undefined(h->p->a, &e, has_home, SYMBOLS_MAX, &n);
	for (k = 0; n && k < asks->n_needed; k++)
		for (i = 0; i < n_loads; i++)
			if (fact_known(&loads[i].path) && fact_is(&loads[i].name, asks->needed[k]))
				lacks(h, &loads[i], names, n);
}

/* -------- cuDNN and its parts */

/* Full versions behind libcudnn*.so.N of the folder, each once: "9.1.0 (libcudnn_ops.so.9)". */
static void cudnn_parts(struct hunt *h, struct load *x)
{
	const char *dir = path_dir(h->p->a, x->path.value), *seen[LIST_MAX];
	unsigned want = major_of(x->name.value, "libcudnn.so.", 12);
	struct dirlist list;
	size_t i, k, n = 0;

	if (strncmp(x->name.value, "libcudnn.so.", 12) != 0 ||
	    sysroot_list(h->p->root, h->p->a, dir, (size_t)NAMES_MAX * 4, &list) != 0)
		return;
	for (i = 0; i < list.n && n < LIST_MAX; i++) {
		const char *s = list.names[i], *real, *tail;
		size_t stem = stem_of(s);
		struct version v;

		if (strncmp(s, "libcudnn", 8) != 0 || !stem || major_of(s, s, stem) != want ||
		    strchr(s + stem, '.') ||
		    sysroot_realpath(h->p->root, h->p->a, path_join(h->p->a, dir, s), &real) != 0)
			continue;
		tail = strstr(path_base(real), ".so.");
		if (!tail || !version_parse(view_of(tail + 4), &v) || v.n < 3)
			continue;
		for (k = 0; k < n && strcmp(seen[k], tail + 4) != 0; k++)
			;
		if (k < n)
			continue;
		seen[n++] = tail + 4;
		note(h, &x->parts, arena_printf(h->p->a, "%s (%s)", tail + 4, s), dir);
	}
}

/* -------- results */

/* "12.4.5" of libcublas.so.12.4.5 behind the links; wheels do not write it. */
static void set_version(struct hunt *h, struct load *x)
{
	const char *real, *tail;
	struct version v;

	if (sysroot_realpath(h->p->root, h->p->a, x->path.value, &real) != 0)
		return;
	tail = strstr(path_base(real), ".so.");
	if (tail && version_parse(view_of(tail + 4), &v) && v.n >= 2)
		fact_set(&x->version, tail + 4, real);
}

/*
 * The copies that lie there cannot be read, or are no libraries: then it is not the search that
 * fails. One good copy, and it is.
 */
static void unusable(struct hunt *h, struct load *x)
{
	const struct fact_list *const lists[] = { &x->own, &x->elsewhere };
	const char *denied = NULL, *broken = NULL;
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(lists); i++)
		for (k = 0; k < lists[i]->n; k++) {
			const char *path = lists[i]->values[k];
			_cleanup_fd_ int fd = sysroot_open_file(h->p->root, path);
			struct elf e;

			if (fd == -EACCES || fd == -EPERM)
				denied = path;
			else if (fd >= 0 && elf_read(h->p->a, fd, &e) < 0)
				broken = path;
			else
				return;
		}
	if (denied)
		fact_denied(&x->path, denied, _("the file may not be read"));
	else if (broken)
		fact_broken(&x->path, broken, _("not an ELF file"));
	else if (h->l.ld.cache_error == EACCES || h->l.ld.cache_error == EPERM)
		fact_denied(&x->path, LDCACHE_PATH, _("the loader's cache may not be read"));
}

static void report(struct hunt *h, size_t from)
{
	size_t first = h->out->n_loads, i;

	for (i = from; i < h->l.n; i++) {
		const struct loaded *y = &h->l.list[i];
		struct load *x;

		if (!loading_is_cuda(y->name) || y->by < 0)
			continue;
		x = ARENA_APPEND(h->p->a, h->out->loads, h->out->n_loads);
		fact_set(&x->name, y->name, h->l.list[y->by].path);
		fact_set(&x->by, h->l.list[y->by].path ? h->l.list[y->by].path
						       : h->l.list[y->by].name,
			 h->package);
		fact_set(&x->package, h->package, h->package);
		if (y->path) {
			fact_set(&x->path, y->path, y->via);
			fact_set(&x->via, y->via, y->path);
			set_version(h, x);
		} else {
			fact_absent(&x->path, x->by.value);
		}
		look_around(h, x, y->name);
		if (y->path)
			cudnn_parts(h, x);
		else
			unusable(h, x);
	}
	for (i = from; i < h->l.n; i++)
		find_missing(h, &h->l.list[i], h->out->loads + first, h->out->n_loads - first);
}

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
	report(h, from);
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
	report(h, 0);
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
	report(h, 0);
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
		report(h, 0);
	}
}

static bool worth(const struct python *out)
{
	static const char *const names[] = { "onnxruntime-gpu", "tensorflow", "jax" };
	size_t i;

	if (fact_yes(&out->torch.has_cuda_library))
		return true;
	for (i = 0; i < ARRAY_LEN(names); i++)
		if (python_package(out, names[i]))
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
	find_places(&h);
	if (fact_yes(&out->torch.has_cuda_library) && fact_known(&out->torch.path)) {
		start(&h, "torch");
		torch(&h);
	}
	onnxruntime(&h);
	tensorflow(&h);
	jax(&h);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of each library of CUDA that a framework asks for: what is taken, which own copy it
 * hides, where a missing one lies instead, what it lacks. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "model/version.h"
#include "probe/hunt.h"
#include "sys/elf.h"
#include "sys/elf_symbol.h"
#include "sys/ldcache.h"

enum { NAMES_MAX = 4096, LIST_MAX = 16, SYMBOLS_MAX = 4000, FETCHED_MAX = 64 };

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
		(struct hunt_place){ .dir = real, .names = names, .own = own };
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

void hunt_places(struct hunt *h)
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
		const struct hunt_place *pl = &h->places[i];

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
static const struct home {
	const char *prefix, *library;
} homes[] = {
	{ .prefix = "__nvJitLink", .library = "libnvJitLink." },
	{ .prefix = "nvJitLink", .library = "libnvJitLink." },
	{ .prefix = "cublasLt", .library = "libcublasLt." },
	{ .prefix = "cudnn", .library = "libcudnn." },
	{ .prefix = "nccl", .library = "libnccl." },
};

static const struct home *home_of(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(homes); i++)
		if (strncmp(name, homes[i].prefix, strlen(homes[i].prefix)) == 0)
			return &homes[i];
	return NULL;
}

static bool has_home(const char *name)
{
	return home_of(name) != NULL;
}

/* Among `names`, those that belong to the library and that it does not define. */
static void lacks(struct hunt *h, struct load *x, const char **names, size_t n)
{
	_cleanup_fd_ int fd = -1;
	struct elf_symbols s;
	struct elf e;
	bool open = false;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct home *home = home_of(names[i]);

		if (!home || strncmp(x->name.value, home->library, strlen(home->library)) != 0)
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

void hunt_report(struct hunt *h, size_t from)
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

/* SPDX-License-Identifier: Apache-2.0 */
/* The loader's search for each library that is needed, in its order; nothing is mapped or run. */
#include "probe/loading.h"

#include <string.h>

#include "base/arena.h"

bool loading_is_cuda(const char *name)
{
	static const char *const stems[] = {
		"libcudart.",  "libcublas",   "libcudnn",	"libcufft",   "libcurand.",
		"libcusolver", "libcusparse", "libnccl.",	"libnvrtc.",  "libnvJitLink.",
		"libcupti.",   "libcufile.",  "libnvToolsExt.", "libnvshmem", "libnpp",
	};

	return py_begins(name, stems, ARRAY_LEN(stems));
}

static bool is_framework(const char *name)
{
	static const char *const stems[] = { "libtorch",  "libc10",	    "libshm.",
					     "libcaffe2", "libonnxruntime", "libtensorflow" };

	return py_begins(name, stems, ARRAY_LEN(stems));
}

bool loading_read_elf(struct probe_ctx *p, const char *path, struct elf *ret)
{
	_cleanup_fd_ int fd = sysroot_open_file(p->root, path);

	return fd >= 0 && elf_read(p->a, fd, ret) == 0;
}

void loading_init(struct loading *l, struct probe_ctx *p, const struct py_env *e,
		  const struct python *out, const char *machine)
{
	const char *real;
	struct elf exe;

	*l = (struct loading){ .p = p, .a = p->a, .out = out, .machine = machine };
	ldso_init(&l->ld, p->root, p->a, machine, snapshot_env(p->s, "LD_LIBRARY_PATH"));
	if (e->interpreter && sysroot_realpath(p->root, p->a, e->interpreter, &real) == 0 &&
	    loading_read_elf(p, real, &exe) && !exe.runpath && exe.rpath) {
		l->exe_dir = path_dir(p->a, real);
		l->exe_rpath = exe.rpath;
	}
}

/* Index of what is loaded under that name, or -1. */
static int known(const struct loading *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->list[i].name, name) == 0)
			return (int)i;
	return -1;
}

static int add(struct loading *l, const char *name, int by)
{
	struct loaded *x;

	if (l->n == LOADED_MAX)
		return -1;
	x = ARENA_APPEND(l->a, l->list, l->n);
	x->name = name;
	x->by = by;
	return (int)l->n - 1;
}

/* Takes dir/name into the entry when it is a library for this machine. */
static bool take(struct loading *l, int at, const char *dir, const char *name, const char *via)
{
	const char *path, *real;
	struct elf e;

	if (sysroot_realpath(l->p->root, l->a, dir, &real) != 0)
		return false;
	path = path_join(l->a, real, name);
	if (!loading_read_elf(l->p, path, &e) || strcmp(elf_machine_name(&e), l->machine) != 0)
		return false;
	l->list[at].path = path;
	l->list[at].via = via;
	l->list[at].rpath = e.runpath ? NULL : e.rpath;
	l->list[at].runpath = e.runpath;
	l->list[at].needed = e.needed;
	l->list[at].n_needed = e.n_needed;
	l->list[at].fresh = true;
	if (e.soname)
		l->list[at].name = e.soname;
	return true;
}

const char *loading_expand(struct arena *a, struct view entry, const char *origin)
{
	static const char *const tokens[] = { "$ORIGIN", "${ORIGIN}" };
	const char *text = view_dup(a, entry);
	size_t i;

	for (i = 0; i < ARRAY_LEN(tokens); i++)
		if (strncmp(text, tokens[i], strlen(tokens[i])) == 0)
			return arena_printf(a, "%s%s", origin, text + strlen(tokens[i]));
	return text[0] == '/' ? text : NULL;
}

static bool by_list(struct loading *l, int at, const char *name, const char *list,
		    const char *origin, const char *via)
{
	struct view rest = view_of(list), entry;
	const char *dir;

	while (rest.n) {
		entry = view_cut(rest, ':', &rest);
		dir = entry.n ? loading_expand(l->a, entry, origin) : NULL;
		if (dir && take(l, at, dir, name, via))
			return true;
	}
	return false;
}

/* DT_RPATH of the one that asks and of those that loaded it, and of the interpreter. */
static bool by_rpaths(struct loading *l, int at, const char *name, int by)
{
	int i;

	if (by >= 0 && l->list[by].runpath)
		return false;
	for (i = by; i >= 0; i = l->list[i].by)
		if (l->list[i].rpath && l->list[i].path &&
		    by_list(l, at, name, l->list[i].rpath, path_dir(l->a, l->list[i].path),
			    i == by ? "DT_RPATH" : "DT_RPATH of the loading library"))
			return true;
	return l->exe_rpath &&
	       by_list(l, at, name, l->exe_rpath, l->exe_dir, "DT_RPATH of the loading library");
}

static bool by_hits(struct loading *l, int at, const char *name, const struct ldso_hit *hits,
		    size_t n, bool variable)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!hits[i].broken && (strcmp(hits[i].via, "LD_LIBRARY_PATH") == 0) == variable &&
		    take(l, at, path_dir(l->a, hits[i].path), name, hits[i].via))
			return true;
	return false;
}

/* nvidia/cublas/lib, nvidia/cu13/lib, ... of each package directory. */
static bool by_wheels(struct loading *l, int at, const char *name)
{
	enum { FOLDERS_MAX = 256 };
	struct dirlist list;
	size_t i, k;

	for (i = 0; i < l->out->site_dirs.n; i++) {
		const char *top = path_join(l->a, l->out->site_dirs.values[i], "nvidia");

		if (sysroot_list(l->p->root, l->a, top, FOLDERS_MAX, &list) != 0)
			continue;
		for (k = 0; k < list.n; k++)
			if (take(l, at, arena_printf(l->a, "%s/%s/lib", top, list.names[k]), name,
				 "preload"))
				return true;
	}
	return false;
}

int loading_find(struct loading *l, const char *name, int by)
{
	struct ldso_hit *hits;
	int at = known(l, name);
	size_t n;

	if (at >= 0)
		return at;
	at = add(l, name, by);
	if (at < 0 || strchr(name, '/'))
		return at;
	if (by_rpaths(l, at, name, by))
		return at;
	n = ldso_search(&l->ld, name, &hits);
	if (by_hits(l, at, name, hits, n, true))
		return at;
	if (by >= 0 && l->list[by].runpath && l->list[by].path &&
	    by_list(l, at, name, l->list[by].runpath, path_dir(l->a, l->list[by].path),
		    "DT_RUNPATH"))
		return at;
	if (by_hits(l, at, name, hits, n, false))
		return at;
	if (l->preload)
		by_wheels(l, at, name);
	return at;
}

int loading_open(struct loading *l, const char *path)
{
	const char *name = path_base(path);
	int at = known(l, name);

	if (at >= 0)
		return at;
	at = add(l, name, -1);
	if (at >= 0 && !take(l, at, path_dir(l->a, path), name, "opened by its path")) {
		l->n--;
		return -1;
	}
	return at;
}

void loading_all(struct loading *l)
{
	size_t i, k;

	for (i = 0; i < l->n; i++) {
		if (!l->list[i].fresh)
			continue;
		l->list[i].fresh = false;
		for (k = 0; k < l->list[i].n_needed; k++) {
			const char *name = l->list[i].needed[k];

			if (loading_is_cuda(name) || is_framework(name))
				loading_find(l, name, (int)i);
		}
	}
}

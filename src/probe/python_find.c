/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where Python environments are looked for: fixed places first, then a search that ends at its
 * limits.
 */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "probe/python.h"

enum {
	LIVE_FOLDERS = 256,  /* a search opens so many folders at most on a live machine, */
	TREE_FOLDERS = 4000, /* so many in another tree */
	NAMES_MAX = 4096,    /* of one folder */
	HOMES_MAX = 256,
	LINES_MAX = 256,
	TEXT_MAX = 1 << 16,
	MINOR_FIRST = 6,
	MINOR_LAST = 29
};

enum place_how {
	PLACE_CHILDREN, /* each folder in it may be one */
	PLACE_SEARCH,	/* `depth` levels below it */
	PLACE_KERNELS,	/* folders with a kernel.json, which names an interpreter */
	PLACE_LINES,	/* a file with a prefix on each line */
	PLACE_CONDARC	/* conda's settings, which name folders of environments */
};

struct place {
	const char *path;
	enum place_how how;
	unsigned depth;
	bool not_live; /* too much to look at on a live machine */
};

/* clang-format off */
static const struct place home_places[] = {
	{ .path = ".pyenv/versions", .how = PLACE_CHILDREN },
	{ .path = ".local/share/uv/python", .how = PLACE_CHILDREN },
	{ .path = ".local/share/uv/tools", .how = PLACE_CHILDREN },
	{ .path = ".local/share/pipx/venvs", .how = PLACE_CHILDREN },
	{ .path = ".local/pipx/venvs", .how = PLACE_CHILDREN },
	{ .path = ".local/share/virtualenvs", .how = PLACE_CHILDREN },
	{ .path = ".local/share/hatch/env/virtual", .how = PLACE_SEARCH, .depth = 3 },
	{ .path = ".local/share/mise/installs/python", .how = PLACE_CHILDREN },
	{ .path = ".local/share/mamba/envs", .how = PLACE_CHILDREN },
	{ .path = ".asdf/installs/python", .how = PLACE_CHILDREN },
	{ .path = ".cache/pypoetry/virtualenvs", .how = PLACE_CHILDREN },
	{ .path = ".virtualenvs", .how = PLACE_CHILDREN },
	{ .path = ".venvs", .how = PLACE_CHILDREN },
	{ .path = ".conda/envs", .how = PLACE_CHILDREN },
	{ .path = ".conda/environments.txt", .how = PLACE_LINES },
	{ .path = ".condarc", .how = PLACE_CONDARC },
	{ .path = "micromamba/envs", .how = PLACE_CHILDREN },
	{ .path = ".local/share/jupyter/kernels", .how = PLACE_KERNELS },
	{ .path = "", .how = PLACE_SEARCH, .depth = 4 },
};

static const struct place system_places[] = {
	{ .path = "/opt", .how = PLACE_CHILDREN },
	{ .path = "/opt", .how = PLACE_SEARCH, .depth = 2 },
	{ .path = "/opt/python", .how = PLACE_CHILDREN },
	{ .path = "/opt/pyenv/versions", .how = PLACE_CHILDREN },
	{ .path = "/usr/local/pyenv/versions", .how = PLACE_CHILDREN },
	{ .path = "/usr/local", .how = PLACE_CHILDREN, .not_live = true },
	{ .path = "/venv", .how = PLACE_SEARCH, .depth = 2 },
	{ .path = "/srv", .how = PLACE_SEARCH, .depth = 3 },
	{ .path = "/app", .how = PLACE_SEARCH, .depth = 2 },
	{ .path = "/workspace", .how = PLACE_SEARCH, .depth = 2 },
	{ .path = "/workspaces", .how = PLACE_SEARCH, .depth = 3, .not_live = true },
	{ .path = "/data", .how = PLACE_SEARCH, .depth = 3, .not_live = true },
	{ .path = "/code", .how = PLACE_SEARCH, .depth = 2, .not_live = true },
	{ .path = "/usr/src/app", .how = PLACE_SEARCH, .depth = 2, .not_live = true },
	{ .path = "/etc/conda/environments.txt", .how = PLACE_LINES },
	{ .path = "/etc/conda/.condarc", .how = PLACE_CONDARC },
	{ .path = "/usr/local/share/jupyter/kernels", .how = PLACE_KERNELS },
	{ .path = "/usr/share/jupyter/kernels", .how = PLACE_KERNELS },
};

/* Large trees in which one may lie, when all that is more likely has been looked at. */
static const struct place last_places[] = {
	{ .path = "/opt", .how = PLACE_SEARCH, .depth = 4, .not_live = true },
	{ .path = "/work", .how = PLACE_SEARCH, .depth = 3, .not_live = true },
	{ .path = "/scratch", .how = PLACE_SEARCH, .depth = 3, .not_live = true },
	{ .path = "/mnt", .how = PLACE_SEARCH, .depth = 3, .not_live = true },
};

/* Folders without environments of their own, in which a search would only lose time. */
static const char *const dull[] = {
	"__pycache__/", "bin/", "build/", "etc/", "include/", "lib/", "lib32/", "lib64/",
	"libexec/", "man/", "node_modules/", "pkgs/", "proc/", "sbin/", "share/", "site-packages/", "snap/",
	"sys/", "target/", "dev/",
};
/* clang-format on */

static void add_children(struct py_find *f, const char *dir)
{
	struct dirlist l;
	size_t i;

	if (sysroot_list(f->p->root, f->p->a, dir, NAMES_MAX, &l) != 0)
		return;
	f->cut |= l.cut;
	for (i = 0; i < l.n; i++)
		py_add_prefix(f, path_join(f->p->a, dir, l.names[i]));
}

static bool has_name(const struct dirlist *l, const char *name)
{
	size_t lo = 0, hi = l->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		int d = strcmp(l->names[mid], name);

		if (d == 0)
			return true;
		if (d < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

static bool worth_a_look(const char *name)
{
	size_t i;

	/*
	 * Hidden folders are caches and settings, but for those that are called like environments.
	 */
	if (name[0] == '.')
		return strstr(name, "env") || strcmp(name, ".pixi/") == 0;
	for (i = 0; i < ARRAY_LEN(dull); i++)
		if (strcmp(name, dull[i]) == 0)
			return false;
	return true;
}

struct queue {
	struct {
		const char *path;
		unsigned depth;
	} * items;
	size_t n, next;
};

static void push(struct py_find *f, struct queue *q, const char *path, unsigned depth)
{
	__typeof__(q->items) item = ARENA_APPEND(f->p->a, q->items, q->n);

	item->path = path;
	item->depth = depth;
}

/*
 * Level by level, so that what lies near the top is found before the limit. Links are not followed.
 */
static void search(struct py_find *f, const char *top, unsigned depth)
{
	unsigned limit = f->p->root->live ? LIVE_FOLDERS : TREE_FOLDERS;
	struct queue q = { 0 };
	struct dirlist l;
	size_t i;

	push(f, &q, top, depth);
	while (q.next < q.n) {
		const char *dir = q.items[q.next].path;
		unsigned left = q.items[q.next++].depth;

		if (f->opened >= limit) {
			f->cut = true;
			return;
		}
		f->opened++;
		if (sysroot_list_marked(f->p->root, f->p->a, dir, NAMES_MAX, &l) != 0)
			continue;
		f->cut |= l.cut;
		if (has_name(&l, "pyvenv.cfg") || has_name(&l, "conda-meta/")) {
			py_add_prefix(f, dir);
			continue;
		}
		for (i = 0; left && i < l.n; i++) {
			size_t n = strlen(l.names[i]);

			if (l.names[i][n - 1] == '/' && worth_a_look(l.names[i]))
				push(f, &q,
				     arena_printf(f->p->a, "%s/%.*s", strcmp(dir, "/") ? dir : "",
						  (int)n - 1, l.names[i]),
				     left - 1);
		}
	}
}

static void add_kernels(struct py_find *f, const char *dir)
{
	struct dirlist l;
	size_t i;

	if (sysroot_list(f->p->root, f->p->a, dir, LINES_MAX, &l) != 0)
		return;
	for (i = 0; i < l.n; i++) {
		const char *path = arena_printf(f->p->a, "%s/%s/kernel.json", dir, l.names[i]);
		const char *argv0 = py_kernel(f, path);
		const struct py_env *e = argv0 ? py_add_interpreter(f, argv0) : NULL;
		struct snapshot *s = f->p->s;

		if (e && s->n_kernels && fact_is(&s->kernels[s->n_kernels - 1].path, path))
			fact_set(&s->kernels[s->n_kernels - 1].prefix, e->prefix, argv0);
	}
}

static void add_lines(struct py_find *f, const char *file)
{
	struct view text, line;
	unsigned i;

	if (sysroot_read(f->p->root, f->p->a, file, TEXT_MAX, &text, NULL) != 0)
		return;
	for (i = 0; i < LINES_MAX && view_line(&text, &line); i++) {
		line = view_trim(line);
		if (line.n && line.p[0] == '/')
			py_add_prefix(f, view_dup(f->p->a, line));
	}
}

static void add_envs_dir(struct py_find *f, struct view dir)
{
	const char *home = snapshot_env(f->p->s, "HOME");

	while (dir.n && (*dir.p == '"' || *dir.p == '\''))
		dir = view_skip(dir, 1);
	while (dir.n && (dir.p[dir.n - 1] == '"' || dir.p[dir.n - 1] == '\''))
		dir.n--;
	if (dir.n > 2 && view_starts(dir, "~/") && home && home[0] == '/')
		add_children(f, path_join(f->p->a, home, view_dup(f->p->a, view_skip(dir, 2))));
	else if (dir.n > 1 && *dir.p == '/')
		add_children(f, view_dup(f->p->a, dir));
}

/* The list `envs_dirs` of conda's settings, an entry a line as conda itself writes it. */
static void add_condarc(struct py_find *f, const char *file)
{
	struct view text, line, item;
	bool in_list = false;
	unsigned i;

	if (sysroot_read(f->p->root, f->p->a, file, TEXT_MAX, &text, NULL) != 0)
		return;
	for (i = 0; i < LINES_MAX && view_line(&text, &line); i++) {
		item = view_trim((struct view){ .p = line.p, .n = view_comment(line) });
		if (!item.n)
			continue;
		if (!view_starts(item, "-"))
			in_list = view_starts(line, "envs_dirs:");
		else if (in_list)
			add_envs_dir(f, view_trim(view_skip(item, 1)));
	}
}

static void look_at(struct py_find *f, const char *top, const struct place *pl)
{
	const char *path = pl->path[0] ? path_join(f->p->a, top, pl->path) : top;

	if (pl->not_live && f->p->root->live)
		return;
	switch (pl->how) {
	case PLACE_CHILDREN:
		add_children(f, path);
		break;
	case PLACE_SEARCH:
		search(f, path, pl->depth);
		break;
	case PLACE_KERNELS:
		add_kernels(f, path);
		break;
	case PLACE_LINES:
		add_lines(f, path);
		break;
	case PLACE_CONDARC:
		add_condarc(f, path);
		break;
	}
}

static void system_pythons(struct py_find *f)
{
	static const char *const dirs[] = { "/usr/local/bin", "/usr/bin" };
	struct stat st;
	unsigned n;
	size_t i;

	for (i = 0; i < ARRAY_LEN(dirs); i++) {
		const char *path = path_join(f->p->a, dirs[i], "python3");

		if (sysroot_stat(f->p->root, path, true, &st) == 0 && S_ISREG(st.st_mode))
			py_add_interpreter(f, path);
		for (n = MINOR_FIRST; n <= MINOR_LAST; n++) {
			path = arena_printf(f->p->a, "%s/python3.%u", dirs[i], n);
			if (sysroot_stat(f->p->root, path, true, &st) == 0 && S_ISREG(st.st_mode))
				py_add_interpreter(f, path);
		}
	}
}

/* On a live machine other people's homes are theirs; in another tree all of them are looked at. */
static void search_homes(struct py_find *f)
{
	const char *home = snapshot_env(f->p->s, "HOME"), *dirs[HOMES_MAX + 2];
	size_t n = 0, i, k;
	struct dirlist l;

	if (home && home[0] == '/' && home[1])
		dirs[n++] = home;
	if (!f->p->root->live) {
		dirs[n++] = "/root";
		if (sysroot_list(f->p->root, f->p->a, "/home", HOMES_MAX, &l) == 0)
			for (i = 0; i < l.n; i++)
				dirs[n++] = path_join(f->p->a, "/home", l.names[i]);
	}
	for (i = 0; i < n; i++) {
		for (k = 0; k < i && strcmp(dirs[k], dirs[i]) != 0; k++)
			;
		if (k < i)
			continue;
		for (k = 0; k < ARRAY_LEN(home_places); k++)
			look_at(f, dirs[i], &home_places[k]);
	}
}

/* Variables that name environments which need not be active. */
static void named_by_variables(struct py_find *f)
{
	static const struct {
		const char *name, *below;
	} vars[] = {
		{ .name = "VIRTUAL_ENV", .below = NULL },
		{ .name = "CONDA_PREFIX", .below = NULL },
		{ .name = "CONDA_PREFIX_1", .below = NULL },
		{ .name = "PYENV_ROOT", .below = "versions" },
		{ .name = "WORKON_HOME", .below = "" },
		{ .name = "UV_PYTHON_INSTALL_DIR", .below = "" },
		{ .name = "MAMBA_ROOT_PREFIX", .below = "envs" },
	};
	static const char *const lists[] = { "CONDA_ENVS_PATH", "CONDA_ENVS_DIRS" };
	const char *value;
	struct view rest;
	size_t i;

	for (i = 0; i < ARRAY_LEN(lists); i++)
		for (rest = view_of(snapshot_env(f->p->s, lists[i])); rest.n;)
			add_envs_dir(f, view_cut(rest, ':', &rest));
	for (i = 0; i < ARRAY_LEN(vars); i++) {
		value = snapshot_env(f->p->s, vars[i].name);
		if (!value || value[0] != '/')
			continue;
		if (!vars[i].below)
			py_add_prefix(f, value);
		else
			add_children(f, vars[i].below[0] ? path_join(f->p->a, value, vars[i].below)
							 : value);
	}
}

void py_find_all(struct py_find *f)
{
	size_t i;

	named_by_variables(f);
	system_pythons(f);
	for (i = 0; i < ARRAY_LEN(system_places); i++)
		look_at(f, "/", &system_places[i]);
	search_homes(f);
	for (i = 0; i < ARRAY_LEN(last_places); i++)
		look_at(f, "/", &last_places[i]);
	/* Grows while it is walked: a base environment leads to its envs, a version of pyenv to
	 * those that its virtualenv plugin made. */
	for (i = 0; i < f->n; i++) {
		const char *prefix = f->envs[i].prefix;

		if (f->envs[i].kind == PY_CONDA || strstr(prefix, "/versions/"))
			add_children(f, path_join(f->p->a, prefix, "envs"));
		if (f->envs[i].kind != PY_SYSTEM)
			add_kernels(f, path_join(f->p->a, prefix, "share/jupyter/kernels"));
	}
}

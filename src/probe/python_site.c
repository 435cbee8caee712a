/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The package directories of an environment in the order of sys.path, as CPython's site.py puts
 * them together.
 */
#include <string.h>

#include "base/arena.h"
#include "probe/python.h"

enum {
	DIRS_MAX = 48,
	PTH_FILES_MAX = 64,
	PTH_LINES_MAX = 256,
	PTH_SIZE_MAX = 1 << 16,
	NAMES_MAX = 50000
};

struct site {
	struct probe_ctx *p;
	const struct py_env *e;
	const char **dirs;
	const char **real; /* the same with links resolved: lib64 often leads to lib */
	size_t n, n_real;
};

static bool add_dir(struct site *s, const char *dir)
{
	const char *real;
	size_t i;

	if (s->n == DIRS_MAX || !sysroot_is_dir(s->p->root, dir) ||
	    sysroot_realpath(s->p->root, s->p->a, dir, &real) != 0)
		return false;
	for (i = 0; i < s->n; i++)
		if (strcmp(s->real[i], real) == 0)
			return false;
	*ARENA_APPEND(s->p->a, s->dirs, s->n) = dir;
	*ARENA_APPEND(s->p->a, s->real, s->n_real) = real;
	return true;
}

/* Lines of .pth files that are paths. Lines that are code ("import ...") are never followed. */
static void add_pth(struct site *s, const char *dir, const char *file)
{
	struct view text, line;
	unsigned i;

	if (sysroot_read(s->p->root, s->p->a, path_join(s->p->a, dir, file), PTH_SIZE_MAX, &text,
			 NULL) != 0)
		return;
	for (i = 0; i < PTH_LINES_MAX && view_line(&text, &line); i++) {
		const char *path;

		line = view_trim(line);
		if (!line.n || line.p[0] == '#' || view_starts(line, "import ") ||
		    view_starts(line, "import\t") || memchr(line.p, '\0', line.n))
			continue;
		path = view_dup(s->p->a, line);
		add_dir(s, path[0] == '/' ? path : path_join(s->p->a, dir, path));
	}
}

/* A directory that site.py adds, with what the .pth files in it add behind it. */
static void add_site_dir(struct site *s, const char *dir)
{
	struct dirlist l;
	unsigned files = 0;
	size_t i;

	if (!add_dir(s, dir) || sysroot_list(s->p->root, s->p->a, dir, NAMES_MAX, &l) != 0)
		return;
	for (i = 0; i < l.n && files < PTH_FILES_MAX; i++) {
		if (l.names[i][0] == '.' || !view_ends(view_of(l.names[i]), ".pth"))
			continue;
		files++;
		add_pth(s, dir, l.names[i]);
	}
}

static void add_format(struct site *s, const char *prefix, const char *fmt_lib, const char *leaf)
{
	add_site_dir(s, arena_printf(s->p->a, "%s/%s/python%s%s/%s", prefix, fmt_lib, s->e->minor,
				     s->e->threads ? "t" : "", leaf));
}

/* site-packages of a prefix; those of a distribution's own Python lie elsewhere. */
static void add_prefix_dirs(struct site *s, const char *prefix)
{
	if (strcmp(prefix, "/usr") != 0) {
		add_format(s, prefix, "lib", "site-packages");
		add_format(s, prefix, "lib64", "site-packages");
		return;
	}
	if (sysroot_is_dir(s->p->root, "/usr/lib/python3/dist-packages") ||
	    sysroot_is_dir(
		    s->p->root,
		    arena_printf(s->p->a, "/usr/local/lib/python%s/dist-packages", s->e->minor))) {
		add_format(s, "/usr/local", "lib", "dist-packages"); /* Debian, Ubuntu */
		add_site_dir(s, "/usr/lib/python3/dist-packages");
		add_format(s, "/usr", "lib", "dist-packages");
		return;
	}
	add_format(s, "/usr/local", "lib64", "site-packages"); /* Fedora, RHEL, SUSE, Arch */
	add_format(s, "/usr/local", "lib", "site-packages");
	add_format(s, "/usr", "lib64", "site-packages");
	add_format(s, "/usr", "lib", "site-packages");
}

static void add_user_dir(struct site *s)
{
	const char *base = snapshot_env(s->p->s, "PYTHONUSERBASE"), *home;
	const char *off = snapshot_env(s->p->s, "PYTHONNOUSERSITE");

	if (off && off[0])
		return;
	home = snapshot_env(s->p->s, "HOME");
	if (!home && !probe_is_running(s->p))
		home = "/root"; /* an image: its user is root unless it says otherwise */
	if (!base && home && home[0] == '/')
		base = path_join(s->p->a, home, ".local");
	if (base && base[0] == '/')
		add_format(s, base, "lib", "site-packages");
}

static void add_pythonpath(struct site *s)
{
	const char *list = snapshot_env(s->p->s, "PYTHONPATH");
	struct view rest = view_of(list), dir;

	while (rest.n) {
		dir = view_cut(rest, ':', &rest);
		if (dir.n && dir.p[0] == '/')
			add_dir(s, view_dup(s->p->a, dir));
	}
}

const char **py_site_dirs(struct probe_ctx *p, const struct py_env *e, size_t *ret_n)
{
	struct site s = { .p = p, .e = e };
	bool venv = e->kind == PY_VENV;

	add_pythonpath(&s);
	if (e->minor) {
		if (venv)
			add_prefix_dirs(&s, e->prefix);
		if (!venv || e->system_site) {
			add_user_dir(&s);
			if (!venv || e->base)
				add_prefix_dirs(&s, venv ? e->base : e->prefix);
		}
	}
	*ret_n = s.n;
	return s.dirs;
}

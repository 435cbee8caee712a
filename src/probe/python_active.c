/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which environment a user gets who types `python3`: --python, else PATH, else what variables name.
 */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "probe/python.h"

enum { PATH_ENTRIES_MAX = 256 };

static const char default_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static bool is_program(struct py_find *f, const char *path)
{
	struct stat st;

	return sysroot_stat(f->p->root, path, true, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_mode & 0111);
}

static void activate(struct py_env *e, const char *why)
{
	if (!e->why_active)
		e->why_active = why;
}

/*
 * Adds the Python of every folder on PATH. The first is the active one, unless something else
 * already is.
 */
static bool by_path(struct py_find *f, const char *list, const char *why, bool taken)
{
	static const char *const names[] = { "python3", "python" };
	struct view rest = view_of(list), dir;
	bool found = false;
	unsigned n;
	size_t i;

	for (n = 0; rest.n && n < PATH_ENTRIES_MAX; n++) {
		dir = view_cut(rest, ':', &rest);
		if (!dir.n || dir.p[0] != '/')
			continue;
		for (i = 0; i < ARRAY_LEN(names); i++) {
			const char *path = path_join(f->p->a, view_dup(f->p->a, dir), names[i]);
			struct py_env *e;

			if (!is_program(f, path))
				continue;
			e = py_add_interpreter(f, path);
			if (e && !found && !taken)
				activate(e, why);
			found |= e != NULL;
			break;
		}
	}
	return found;
}

/*
 * A host path below the root's own folder means the path in it; a relative one starts where the
 * user is.
 */
static const char *asked_path(struct py_find *f)
{
	const char *path = f->p->python, *dir = f->p->root->dir;
	char cwd[PATH_MAX];
	size_t n = strlen(dir);

	if (!f->p->root->live && n && strncmp(path, dir, n) == 0 &&
	    (path[n] == '/' || dir[n - 1] == '/'))
		return path_join(f->p->a, "", path + n);
	if (path[0] == '/')
		return path;
	return path_join(f->p->a, f->p->root->live && getcwd(cwd, sizeof(cwd)) ? cwd : "", path);
}

static void by_option(struct py_find *f)
{
	const char *path = asked_path(f);
	struct py_env *e = NULL, none = { .kind = PY_USER };

	while (strlen(path) > 1 && path[strlen(path) - 1] == '/')
		path = arena_strndup(f->p->a, path, strlen(path) - 1);
	if (sysroot_is_dir(f->p->root, path))
		e = py_add_prefix(f, path);
	else if (sysroot_exists(f->p->root, path))
		e = py_add_interpreter(f, path);
	if (!e) {
		/* Kept without an interpreter, so that the answer is about what was asked. */
		none.prefix = none.real = path;
		*ARENA_APPEND(f->p->a, f->envs, f->n) = none;
		e = &f->envs[f->n - 1];
	}
	activate(e, "--python");
}

void py_find_active(struct py_find *f)
{
	static const char *const vars[] = { "VIRTUAL_ENV", "CONDA_PREFIX" };
	const char *path = snapshot_env(f->p->s, "PATH"), *value;
	bool asked = f->p->python != NULL, found;
	size_t i;

	if (asked)
		by_option(f);
	found = by_path(f, path ? path : default_path,
			path ? "first on PATH" : "first on the usual PATH", asked);
	for (i = 0; !found && !asked && i < ARRAY_LEN(vars); i++) {
		struct py_env *e;

		value = snapshot_env(f->p->s, vars[i]);
		e = value && value[0] == '/' ? py_add_prefix(f, value) : NULL;
		if (e) {
			activate(e, vars[i]);
			found = true;
		}
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One Python environment from its prefix or its interpreter: kind, version, base. Reads files, runs
 * nothing.
 */
#include <string.h>

#include "base/arena.h"
#include "model/version.h"
#include "probe/python.h"

enum { ENVS_MAX = 512, CFG_MAX = 1 << 16, MINOR_FIRST = 6, MINOR_LAST = 29, META_MAX = 20000 };

static const char *join(struct py_find *f, const char *dir, const char *name)
{
	return path_join(f->p->a, dir, name);
}

/* "3.12.3" out of "3.12.3.final.0" (virtualenv) or "3.12.3"; NULL when it is no version. */
static const char *three_parts(struct arena *a, const char *text)
{
	struct version v;

	if (!text || !version_prefix(view_of(text), &v) || v.n < 2)
		return NULL;
	return v.n < 3 ? arena_printf(a, "%u.%u", v.part[0], v.part[1])
		       : arena_printf(a, "%u.%u.%u", v.part[0], v.part[1], v.part[2]);
}

/* Sets minor and threads by the folder of the standard library. */
static bool has_library(struct py_find *f, struct py_env *e, const char *minor)
{
	const char *lib = arena_printf(f->p->a, "%s/lib/python%s", e->prefix, minor);
	const char *lib64 = arena_printf(f->p->a, "%s/lib64/python%s", e->prefix, minor);
	const char *threaded = arena_printf(f->p->a, "%st", lib);

	if (sysroot_is_dir(f->p->root, lib) || sysroot_is_dir(f->p->root, lib64)) {
		e->minor = minor;
		return true;
	}
	if (sysroot_is_dir(f->p->root, threaded)) {
		e->minor = minor;
		e->threads = true;
		return true;
	}
	return false;
}

static void newest_library(struct py_find *f, struct py_env *e)
{
	unsigned n;

	for (n = MINOR_LAST; n >= MINOR_FIRST; n--)
		if (has_library(f, e, arena_printf(f->p->a, "3.%u", n)))
			return;
}

/* "3.12" out of "/usr/bin/python3.12" (or "python3.13t"). */
static const char *minor_of_file(struct py_find *f, const char *path)
{
	const char *base = path_base(path);

	return strncmp(base, "python", 6) == 0 ? py_minor(f->p->a, base + 6) : NULL;
}

static const char *find_interpreter(struct py_find *f, struct py_env *e)
{
	static const char *const names[] = { "bin/python3", "bin/python" };
	struct stat st;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		const char *path = join(f, e->prefix, names[i]);

		if (sysroot_stat(f->p->root, path, true, &st) == 0 && S_ISREG(st.st_mode))
			return path;
		if (sysroot_stat(f->p->root, path, false, &st) == 0)
			e->dead = true;
	}
	return NULL;
}

static void read_pyvenv(struct py_find *f, struct py_env *e)
{
	const char *path = join(f, e->prefix, "pyvenv.cfg");
	struct view text;
	struct pyvenv cfg;

	if (sysroot_read(f->p->root, f->p->a, path, CFG_MAX, &text, NULL) != 0)
		return;
	pyvenv_parse(f->p->a, text, &cfg);
	e->version = three_parts(f->p->a, cfg.version);
	e->version_from = path;
	e->system_site = cfg.system_site;
	if (cfg.home && strcmp(path_base(cfg.home), "bin") == 0)
		e->base = path_dir(f->p->a, cfg.home);
}

/* conda-meta/python-3.12.3-h955ad1f_1.json says which Python it is. */
static void read_conda(struct py_find *f, struct py_env *e)
{
	const char *dir = join(f, e->prefix, "conda-meta");
	struct dirlist l;
	size_t i;

	if (sysroot_list(f->p->root, f->p->a, dir, META_MAX, &l) != 0)
		return;
	for (i = 0; i < l.n; i++) {
		if (strncmp(l.names[i], "python-", 7) != 0 || l.names[i][7] < '2' ||
		    l.names[i][7] > '9')
			continue;
		e->version = three_parts(f->p->a, l.names[i] + 7);
		e->version_from = join(f, dir, l.names[i]);
	}
}

/* pyenv names the folder 3.12.3, uv cpython-3.12.3-linux-x86_64-gnu. */
static void version_of_folder(struct py_find *f, struct py_env *e)
{
	const char *name = path_base(e->real);

	if (strncmp(name, "cpython-", 8) == 0)
		name += 8;
	e->version = three_parts(f->p->a, name);
	e->version_from = e->prefix;
}

static enum python_kind kind_of(struct py_find *f, const struct py_env *e)
{
	struct stat st;

	/*
	 * Whatever pyvenv.cfg is, Python takes the folder for a venv; a pipe is no reason to
	 * overlook it.
	 */
	if (sysroot_stat(f->p->root, join(f, e->prefix, "pyvenv.cfg"), false, &st) == 0)
		return PY_VENV;
	if (sysroot_is_dir(f->p->root, join(f, e->prefix, "conda-meta")))
		return PY_CONDA;
	if (strcmp(e->real, "/usr") == 0 || strcmp(e->real, "/usr/local") == 0)
		return PY_SYSTEM;
	if (strstr(e->real, "pyenv/versions/"))
		return PY_PYENV;
	if (strstr(e->real, "/uv/python/"))
		return PY_UV;
	return PY_USER;
}

/*
 * Version and minor: by what describes the environment, the interpreter's name, the library's
 * folder.
 */
static void find_version(struct py_find *f, struct py_env *e)
{
	const char *real = NULL, *minor;

	if (e->kind == PY_VENV)
		read_pyvenv(f, e);
	else if (e->kind == PY_CONDA)
		read_conda(f, e);
	else if (e->kind == PY_PYENV || e->kind == PY_UV)
		version_of_folder(f, e);
	minor = py_minor(f->p->a, e->version);
	if (!minor && e->minor)
		minor = e->minor;
	if (!minor && e->interpreter &&
	    sysroot_realpath(f->p->root, f->p->a, e->interpreter, &real) == 0)
		minor = minor_of_file(f, real);
	e->minor = NULL;
	if (!minor || !has_library(f, e, minor))
		newest_library(f, e);
	if (!e->minor && e->kind == PY_VENV)
		e->minor = minor;
	if (!e->version || !e->minor || strcmp(py_minor(f->p->a, e->version), e->minor) != 0) {
		e->version = e->minor;
		e->version_from = e->interpreter ? e->interpreter : e->prefix;
	}
}

static struct py_env *known(struct py_find *f, const struct py_env *e)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (strcmp(f->envs[i].real, e->real) == 0 &&
		    (!e->minor || !f->envs[i].minor || strcmp(e->minor, f->envs[i].minor) == 0))
			return &f->envs[i];
	return NULL;
}

/* `e` holds prefix and perhaps interpreter and minor. */
static struct py_env *add(struct py_find *f, struct py_env *e)
{
	struct py_env *old;

	/* "/" is /usr on a merged tree, and is found as that. */
	if (sysroot_realpath(f->p->root, f->p->a, e->prefix, &e->real) != 0 ||
	    strcmp(e->real, "/") == 0)
		return NULL;
	old = known(f, e);
	if (old)
		return old;
	if (f->n == ENVS_MAX) {
		f->cut = true;
		return NULL;
	}
	e->kind = kind_of(f, e);
	if (!e->interpreter)
		e->interpreter = find_interpreter(f, e);
	if (e->kind != PY_VENV && !e->interpreter)
		return NULL;
	find_version(f, e);
	if (e->kind != PY_VENV && !e->minor)
		return NULL;
	old = known(f, e);
	if (old)
		return old;
	*ARENA_APPEND(f->p->a, f->envs, f->n) = *e;
	return &f->envs[f->n - 1];
}

struct py_env *py_add_prefix(struct py_find *f, const char *prefix)
{
	struct py_env e = { .prefix = prefix };

	return add(f, &e);
}

/* A shim of pyenv is a script; PYENV_VERSION or the file `version` says what it starts. */
static struct py_env *add_shim(struct py_find *f, const char *shims)
{
	const char *top = path_dir(f->p->a, shims), *name = snapshot_env(f->p->s, "PYENV_VERSION");

	if (!name && sysroot_read_line(f->p->root, f->p->a, join(f, top, "version"), &name) != 0)
		return NULL;
	if (!py_is_word(view_of(name)))
		return NULL;
	return py_add_prefix(f, arena_printf(f->p->a, "%s/versions/%s", top, name));
}

struct py_env *py_add_interpreter(struct py_find *f, const char *path)
{
	const char *bin = path_dir(f->p->a, path), *up = path_dir(f->p->a, bin), *real, *prefix,
		   *real_up;
	struct py_env e = { .interpreter = path };
	struct stat st;

	if (strcmp(path_base(bin), "shims") == 0)
		return add_shim(f, bin);
	if (sysroot_stat(f->p->root, join(f, up, "pyvenv.cfg"), false, &st) == 0)
		return py_add_prefix(f, up);
	if (sysroot_stat(f->p->root, join(f, bin, "pyvenv.cfg"), false, &st) == 0)
		return py_add_prefix(f, bin);
	if (sysroot_realpath(f->p->root, f->p->a, path, &real) != 0)
		return NULL;
	prefix = path_dir(f->p->a, path_dir(f->p->a, real));
	if (strcmp(prefix, "/") == 0)
		prefix = "/usr";
	/* The user's own spelling of the prefix, when it is only that. */
	if (sysroot_realpath(f->p->root, f->p->a, up, &real_up) == 0 &&
	    strcmp(real_up, prefix) == 0 && strcmp(up, "/") != 0)
		prefix = up;
	e.prefix = prefix;
	e.minor = minor_of_file(f, real);
	return add(f, &e);
}

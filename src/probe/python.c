/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python environments, their packages and their PyTorch, all from files: no interpreter is started.
 */
#include "probe/python.h"

#include <string.h>

#include "base/arena.h"

static const char *const kind_names[] = {
	[PY_SYSTEM] = "system", [PY_VENV] = "venv", [PY_CONDA] = "conda",
	[PY_PYENV] = "pyenv",	[PY_UV] = "uv",	    [PY_USER] = "user",
};

static void set_interpreter(struct fact *f, const struct py_env *e)
{
	if (e->interpreter)
		fact_set(f, e->interpreter, e->prefix);
	else if (e->dead)
		fact_broken(f, e->prefix, N_("the link leads nowhere: its Python was removed"));
	else
		fact_absent(f, e->prefix);
}

/* "cp312", "cp313t" of a free-threaded build. */
static const char *abi_of(struct arena *a, const struct py_env *e)
{
	struct view major, minor;

	if (!e->minor)
		return NULL;
	major = view_cut(view_of(e->minor), '.', &minor);
	return arena_printf(a, "cp%.*s%.*s%s", (int)major.n, major.p, (int)minor.n, minor.p,
			    e->threads ? "t" : "");
}

static void fill(struct probe_ctx *p, const struct py_env *e)
{
	struct python *out = ARENA_APPEND(p->a, p->s->pythons, p->s->n_pythons);

	fact_set(&out->prefix, e->prefix, e->prefix);
	fact_set(&out->kind, kind_names[e->kind], e->prefix);
	fact_set(&out->version, e->version, e->version_from ? e->version_from : e->prefix);
	set_interpreter(&out->interpreter, e);
	fact_set(&out->abi, abi_of(p->a, e), e->prefix);
	fact_flag(&out->active, e->why_active != NULL, e->prefix);
	if (e->why_active)
		fact_set(&out->active_why, e->why_active,
			 e->interpreter ? e->interpreter : e->prefix);
	py_packages(p, e, out);
	py_torch(p, e, out);
	py_state(p, e, out);
	py_records(p, e, out);
	py_triton(p, e, out);
	py_loads(p, e, out);
	py_extensions(p, e, out);
}

static bool has_torch(const struct python *py)
{
	return fact_known(&py->torch.version);
}

/*
 * Nobody said which environment is used: an image without its configuration, a mounted disk. If the
 * usual PATH leads to one without PyTorch and exactly one other has it, that one is what the image
 * is for.
 */
static void guess_active(struct probe_ctx *p)
{
	struct python *only = NULL, *py;
	size_t i, n = 0;

	for (i = 0; i < p->s->n_pythons; i++) {
		py = &p->s->pythons[i];
		if (!has_torch(py))
			continue;
		if (fact_yes(&py->active))
			return;
		only = py;
		n++;
	}
	if (n != 1)
		return;
	for (i = 0; i < p->s->n_pythons; i++) {
		fact_flag(&p->s->pythons[i].active, false, p->s->pythons[i].prefix.value);
		p->s->pythons[i].active_why = (struct fact){ .state = FACT_NOT_ASKED };
	}
	fact_flag(&only->active, true, only->prefix.value);
	fact_set(&only->active_why, "the only one with PyTorch", only->torch.version.source);
}

static void run(struct probe_ctx *p)
{
	struct py_find f = { .p = p };
	size_t i;

	py_find_active(&f);
	py_find_all(&f);
	/* The active one first: who looks at one alone looks at that. */
	for (i = 0; i < f.n; i++)
		if (f.envs[i].why_active)
			fill(p, &f.envs[i]);
	for (i = 0; i < f.n; i++)
		if (!f.envs[i].why_active)
			fill(p, &f.envs[i]);
	/* The PATH of an image is that before its entry point, which often activates something. */
	if (!p->python && (!snapshot_env(p->s, "PATH") || p->env))
		guess_active(p);
	fact_flag(&p->s->parts.python, true, p->root->dir);
	if (f.cut)
		p->s->parts.python.why = N_("the search for environments stopped at its limit");
}

const struct probe probe_python = { .name = "python", .run = run };

/* SPDX-License-Identifier: Apache-2.0 */
/* What all readers share: making the parts of a project, opening files within bounds. */
#include "project/project.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"

const char *place_text(struct arena *a, const struct place *p)
{
	if (!p->file)
		return "";
	if (!p->line)
		return p->file;
	if (!p->column)
		return arena_printf(a, "%s:%zu", p->file, p->line);
	return arena_printf(a, "%s:%zu:%zu", p->file, p->line, p->column);
}

const char *tool_name(enum tool t)
{
	static const char *const names[] = {
		[BY_PIP] = "pip",	[BY_UV_PIP] = "uv pip", [BY_UV] = "uv",
		[BY_POETRY] = "poetry", [BY_PDM] = "pdm",	[BY_PIPENV] = "pipenv",
		[BY_CONDA] = "conda",	[BY_PIXI] = "pixi",
	};

	return names[t];
}

const char *project_kind_name(enum project_kind k)
{
	static const char *const names[] = {
		[PROJECT_DOCKERFILE] = "dockerfile",
		[PROJECT_REQUIREMENTS] = "requirements",
		[PROJECT_PYPROJECT] = "pyproject",
		[PROJECT_CONDA] = "conda",
		[PROJECT_PIXI] = "pixi",
		[PROJECT_PIPFILE] = "pipfile",
		[PROJECT_SETUP] = "setup",
		[PROJECT_COMPOSE] = "compose",
		[PROJECT_KUBERNETES] = "kubernetes",
		[PROJECT_CI] = "ci",
		[PROJECT_APPTAINER] = "apptainer",
		[PROJECT_COG] = "cog",
		[PROJECT_DEVCONTAINER] = "devcontainer",
		[PROJECT_LOCK] = "lock",
		[PROJECT_MODAL] = "modal",
		[PROJECT_SPACK] = "spack",
		[PROJECT_SCRIPT] = "script",
		[PROJECT_SKYPILOT] = "skypilot",
	};

	return names[k];
}

struct project *project_new(struct project_reader *r, enum project_kind kind, const char *file)
{
	struct project *p = arena_alloc(r->a, sizeof(*p));

	*p = (struct project){ .kind = kind, .file = file, .final = true, .gpu_count = -1 };
	*ARENA_APPEND(r->a, r->list.v, r->list.n) = p;
	return p;
}

struct step *project_step(struct project_reader *r, struct project *p, enum tool tool,
			  struct place at)
{
	struct step *s = ARENA_APPEND(r->a, p->steps, p->n_steps);

	s->tool = tool;
	s->at = at;
	return s;
}

struct want *step_want(struct project_reader *r, struct step *s, struct place at)
{
	/* Each is held against each: no real lock has as many. The rest is read and left out. */
	enum { WANTS_MAX = 20000 };
	bool cut = s->n_wants >= WANTS_MAX;
	struct want *w = cut ? arena_alloc(r->a, sizeof(*w))
			     : ARENA_APPEND(r->a, s->wants, s->n_wants);

	if (cut && !s->cut_at.line)
		s->cut_at = at;
	w->at = at;
	w->spec = "";
	return w;
}

void project_doubt(struct project_reader *r, struct project *p, struct place at, const char *fmt,
		   ...)
{
	va_list ap;

	if (p->n_doubts >= 200)
		return;
	va_start(ap, fmt);
	ARENA_APPEND(r->a, p->doubts, p->n_doubts)->what = arena_vprintf(r->a, fmt, ap);
	va_end(ap);
	p->doubts[p->n_doubts - 1].at = at;
}

void project_action(struct project_reader *r, struct project *p, enum act act, const char *what,
		    const char *version, struct place at)
{
	*ARENA_APPEND(r->a, p->actions, p->n_actions) =
		(struct action){ .act = act, .what = what, .version = version, .at = at };
}

const struct setting *project_env(const struct project *p, const char *name)
{
	size_t i;

	for (i = p->n_env; i > 0; i--)
		if (strcmp(p->env[i - 1].name, name) == 0)
			return &p->env[i - 1];
	return NULL;
}

void project_set(struct project_reader *r, struct project *p, const char *name, const char *value,
		 struct place at)
{
	*ARENA_APPEND(r->a, p->env, p->n_env) =
		(struct setting){ .name = name, .value = value, .at = at };
}

const char *beside_file(struct arena *a, const char *file, const char *path)
{
	const char *slash = file ? strrchr(file, '/') : NULL;

	while (path[0] == '.' && path[1] == '/')
		path += 2;
	if (path[0] == '/' || !slash)
		return path;
	return arena_printf(a, "%.*s/%s", (int)(slash - file), file, path);
}

void project_use(struct project_reader *r, const char *path)
{
	*ARENA_APPEND(r->a, r->used, r->n_used) = path;
}

bool same_path(const char *a, const char *b)
{
	while (a[0] == '.' && a[1] == '/')
		a += 2;
	while (b[0] == '.' && b[1] == '/')
		b += 2;
	return strcmp(a, b) == 0;
}

bool project_used(const struct project_reader *r, const char *path)
{
	size_t i;

	for (i = 0; i < r->n_used; i++)
		if (same_path(r->used[i], path))
			return true;
	return false;
}

int project_open(struct project_reader *r, const char *path, struct view *ret, struct err *err)
{
	size_t i;
	int rc;

	/* "-r -" of a file must not make us wait for standard input. */
	if (strcmp(path, "-") == 0)
		return err_set(err, ERR_NOENT, _("standard input is no project file"));
	if (r->no_files)
		return err_set(err, ERR_NOENT, _("%.200s: files that a text names are not read"),
			       path);
	for (i = 0; i < r->n_overlay; i++)
		if (same_path(r->overlay[i].path, path)) {
			*ret = r->overlay[i].text;
			pragma_scan(r, *ret, path);
			return 0;
		}
	if (++r->n_files > PROJECT_FILES)
		return err_set(err, ERR_TOOBIG, _("%.200s: too many files are read"), path);
	rc = file_read(r->a, path, PROJECT_FILE_MAX, ret, err);
	if (!rc)
		pragma_scan(r, *ret, path);
	return rc;
}

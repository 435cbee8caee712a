/* SPDX-License-Identifier: Apache-2.0 */
/* pyproject.toml (PEP 621 and 735, uv, poetry, pdm) and Pipfile. */
#include <string.h>

#include "base/arena.h"
#include "base/doc.h"
#include "base/strbuf.h"
#include "model/requirement.h"
#include "project/pyproject.h"

/* -------- versions as poetry writes them */

/* Upper bound of "^1.2.3" (at the first part that is not zero) or "~1.2.3". */
static const char *upper(struct arena *a, const char *v, bool caret)
{
	struct version x;

	if (!version_prefix(view_of(v), &x) || !x.n)
		return NULL;
	if (!caret)
		return x.n == 1 ? arena_printf(a, "%u", x.part[0] + 1)
				: arena_printf(a, "%u.%u", x.part[0], x.part[1] + 1);
	if (x.part[0] || x.n == 1)
		return arena_printf(a, "%u", x.part[0] + 1);
	if (x.part[1] || x.n == 2)
		return arena_printf(a, "0.%u", x.part[1] + 1);
	return arena_printf(a, "0.0.%u", x.part[2] + 1);
}

/* A range by a labelled release ("^2.3.1+cu121"): the label is the index's, all of it have it. */
static const char *unlabelled(struct arena *a, const char *v)
{
	return arena_strndup(a, v, strcspn(v, "+"));
}

const char *poetry_spec(struct arena *a, const char *text)
{
	struct view rest = view_of(text), one;
	struct strbuf b;

	strbuf_init(&b, a);
	if (strstr(text, "||") || view_chr(rest, '|') >= 0)
		return NULL;
	while (rest.n) {
		const char *c = view_dup(a, view_trim(view_cut(rest, ',', &rest)));

		one = view_of(c);
		if (!one.n || strcmp(c, "*") == 0)
			continue;
		strbuf_sep(&b, ",");
		if (*c == '^' || (*c == '~' && c[1] != '=')) {
			const char *up = upper(a, c + 1 + strspn(c + 1, " "), *c == '^');

			if (!up)
				return NULL;
			strbuf_printf(&b, ">=%s,<%s", unlabelled(a, c + 1 + strspn(c + 1, " ")),
				      up);
		} else if (*c >= '0' && *c <= '9') {
			strbuf_printf(&b, "==%s", c);
		} else {
			strbuf_add(&b, *c == '=' || *c == '!' ? c : unlabelled(a, c));
		}
	}
	return b.s;
}

/* -------- PEP 621, 735 */

void py_wants(struct py *y, const struct doc *list)
{
	const struct doc *d;

	for (d = doc_first(list); d; d = d->next)
		if (doc_str(d))
			want_parse(y->r, y->p, py_step(y), view_of(doc_str(d)), py_value(y, d));
}

static void constrain_strings(struct py *y, const struct doc *list)
{
	size_t i = py_step(y)->n_wants;

	py_wants(y, list);
	for (; i < py_step(y)->n_wants; i++)
		py_step(y)->wants[i].constraint = true;
}

/* overrides of uv take the place of what was asked for */
static void override_strings(struct py *y, const struct doc *list)
{
	struct step *s = py_step(y);
	size_t before = s->n_wants, i, k;

	py_wants(y, list);
	for (i = before; i < s->n_wants; i++)
		for (k = 0; k < before; k++)
			if (strcmp(s->wants[k].name, s->wants[i].name) == 0)
				s->wants[k].spec = s->wants[k].spec ? "" : NULL;
}

static bool says_gpu(const char *name)
{
	return strstr(name, "gpu") || strstr(name, "cuda") ||
	       (strncmp(name, "cu1", 3) == 0 && strspn(name + 2, "0123456789") == strlen(name) - 2);
}

/* What a command asked for, and nothing else. */
static void chosen_extras(struct py *y)
{
	const struct doc *tables[] = { doc_at(y->doc, "project.optional-dependencies"),
				       doc_get(y->doc, "dependency-groups") };
	size_t i, k;

	for (i = 0; i < y->r->extras.n; i++)
		for (k = 0; k < ARRAY_LEN(tables); k++) {
			const struct doc *d = doc_get(tables[k], y->r->extras.name[i]);

			if (!d)
				continue;
			if (!y->extra || says_gpu(d->key))
				y->extra = d->key;
			py_wants(y, d);
		}
}

/* Extras and groups whose name says that they are for GPUs, when nothing else asks for any. */
static void gpu_extras(struct py *y)
{
	const struct doc *d;

	if (y->r->extras.chosen) {
		chosen_extras(y);
		return;
	}
	if (py_step(y)->n_wants && doc_at(y->doc, "tool.uv.conflicts"))
		return;
	for (d = doc_first(doc_at(y->doc, "project.optional-dependencies")); d; d = d->next)
		if (says_gpu(d->key)) {
			y->extra = d->key;
			py_wants(y, d);
			return;
		}
	for (d = doc_first(doc_get(y->doc, "dependency-groups")); d; d = d->next)
		if (says_gpu(d->key)) {
			y->extra = d->key;
			py_wants(y, d);
			return;
		}
}

static void read_python(struct py *y, const struct doc *d, bool poetry)
{
	const char *text = doc_str(d), *spec;

	if (!text)
		return;
	spec = poetry ? poetry_spec(y->r->a, text) : text;
	if (!spec)
		return;
	y->p->requires_python = spec;
	y->p->python_at = py_value(y, d);
}

/* -------- poetry */

static void poetry_sources(struct py *y)
{
	const struct doc *d = doc_first(doc_at(y->doc, "tool.poetry.source"));
	struct index *i;

	for (; d; d = d->next) {
		const struct doc *url = doc_get(d, "url");
		const char *priority = doc_get_str(d, "priority"), *name = doc_get_str(d, "name");

		if (!doc_str(url)) {
			if (!name || strcmp(name, "PyPI") != 0)
				continue;
			i = step_index(y->r, py_step(y), "https://pypi.org/simple",
				       py_value(y, d));
		} else {
			i = step_index(y->r, py_step(y), doc_str(url), py_value(y, url));
		}
		i->name = name;
		i->only_named = priority && strcmp(priority, "explicit") == 0;
		i->fallback = priority && (strcmp(priority, "supplemental") == 0 ||
					   strcmp(priority, "secondary") == 0);
		/* A primary source takes PyPI's place; several are searched together. */
		i->main = !i->only_named && !i->fallback;
	}
}

static void join_extras(struct py *y, struct want *w, const struct doc *list)
{
	struct strbuf b;
	const struct doc *d;

	strbuf_init(&b, y->r->a);
	for (d = doc_first(list); d; d = d->next) {
		if (!doc_str(d))
			continue;
		strbuf_sep(&b, ",");
		strbuf_add(&b, requirement_normal(y->r->a, view_of(doc_str(d))));
	}
	if (b.n)
		w->extras = b.s;
}

/* name = "^2.3", name = {version, extras, source, url, markers}, or a list of such. */
static void table_want(struct py *y, const struct doc *d, const char *name, struct place at,
		       bool pipfile)
{
	const char *version = d->kind == DOC_MAP ? doc_get_str(d, "version") : doc_str(d);
	struct want *w;

	if (d->kind == DOC_LIST) {
		const struct doc *one;

		for (one = d->first; one; one = one->next)
			if (one->kind == DOC_MAP)
				table_want(y, one, name,
					   py_value(y, one), pipfile);
		return;
	}
	w = step_want(y->r, py_step(y), at);
	w->name = requirement_normal(y->r->a, view_of(name));
	w->spec = version ? (pipfile ? (strcmp(version, "*") == 0 ? "" : version)
				     : poetry_spec(y->r->a, version))
			  : "";
	if (!w->spec) {
		project_doubt(y->r, y->p, at, _("%s: this range is not decided"), version);
		w->spec = "";
	}
	w->text = arena_printf(y->r->a, "%s%s", w->name, w->spec);
	if (d->kind != DOC_MAP)
		return;
	w->marker = doc_get_str(d, "markers");
	w->index = doc_get_str(d, pipfile ? "index" : "source");
	join_extras(y, w, doc_get(d, "extras"));
	if (doc_get_str(d, "platform") && !w->marker)
		w->marker =
			arena_printf(y->r->a, "sys_platform == '%s'", doc_get_str(d, "platform"));
	if (doc_get_str(d, "url") || doc_get_str(d, "git") || doc_get_str(d, "path") ||
	    doc_get_str(d, "file"))
		uv_source(y, w, d);
	if (doc_true(doc_get(d, "optional")))
		py_step(y)->n_wants--;
}

static void table_wants(struct py *y, const struct doc *table, bool pipfile)
{
	const struct doc *d;

	for (d = doc_first(table); d; d = d->next) {
		if (strcmp(d->key, "python") == 0 && !pipfile)
			read_python(y, d, true);
		else
			table_want(y, d, d->key, py_key(y, d), pipfile);
	}
}

static void poetry_part(struct py *y)
{
	const struct doc *d;

	poetry_sources(y);
	table_wants(y, doc_at(y->doc, "tool.poetry.dependencies"), false);
	for (d = doc_first(doc_at(y->doc, "tool.poetry.group")); d; d = d->next)
		if (!doc_true(doc_get(d, "optional")) && says_gpu(d->key))
			table_wants(y, doc_get(d, "dependencies"), false);
	/* Beside [project], the table of poetry says where its packages come from. */
	(void)d;
}

/* [{ markers = "...", source = "a" }, ...]: each stands where its marker holds. */
static void poetry_choices(struct py *y, const char *name, const struct doc *list)
{
	struct step *s = py_step(y);
	size_t i, n = s->n_wants;
	const struct doc *one;

	for (i = 0; i < n; i++) {
		if (strcmp(s->wants[i].name, name) != 0 || s->wants[i].constraint)
			continue;
		for (one = doc_first(list); one; one = one->next) {
			struct want copy = s->wants[i];

			if (!doc_get_str(one, "source"))
				continue;
			copy.index = doc_get_str(one, "source");
			copy.marker = doc_get_str(one, "markers");
			copy.extra = y->extra;
			if (copy.marker)
				*ARENA_APPEND(y->r->a, s->wants[i].unless, s->wants[i].n_unless) =
					copy.marker;
			*ARENA_APPEND(y->r->a, s->wants, s->n_wants) = copy;
		}
		s->wants[i].extra = y->extra;
	}
}

/* tool.poetry.dependencies that only enrich project.dependencies: source alone. */
static void poetry_enrich(struct py *y)
{
	const struct doc *d = doc_first(doc_at(y->doc, "tool.poetry.dependencies"));
	struct step *s = py_step(y);
	size_t i;

	for (; d; d = d->next) {
		const char *name = requirement_normal(y->r->a, view_of(d->key));

		if (d->kind == DOC_LIST)
			poetry_choices(y, name, d);
		for (i = 0; i < s->n_wants; i++)
			if (doc_get_str(d, "source") && strcmp(s->wants[i].name, name) == 0)
				s->wants[i].index = doc_get_str(d, "source");
	}
}

/* rye asks its sources beside PyPI, or in its place when one is the default. */
static void rye_sources(struct py *y)
{
	const struct doc *d = doc_first(doc_at(y->doc, "tool.rye.sources"));
	const char *name;
	struct index *i;

	for (; d; d = d->next) {
		const struct doc *url = doc_get(d, "url");

		if (!doc_str(url))
			continue;
		name = doc_get_str(d, "name");
		i = step_index(y->r, py_step(y), doc_str(url), py_value(y, url));
		i->main = name && strcmp(name, "default") == 0;
		i->links =
			doc_get_str(d, "type") && strcmp(doc_get_str(d, "type"), "find-links") == 0;
	}
}

static void pdm_part(struct py *y)
{
	const struct doc *d = doc_first(doc_at(y->doc, "tool.pdm.source")), *inc;
	struct index *i;
	size_t k;

	for (; d; d = d->next) {
		const struct doc *url = doc_get(d, "url");
		const char *name = doc_get_str(d, "name");

		if (!doc_str(url))
			continue;
		i = step_index(y->r, py_step(y), doc_str(url), py_value(y, url));
		i->name = name ? name : doc_str(url);
		i->main = name && strcmp(name, "pypi") == 0;
		i->links =
			doc_get_str(d, "type") && strcmp(doc_get_str(d, "type"), "find_links") == 0;
		inc = doc_first(doc_get(d, "include_packages"));
		i->only_named = inc != NULL;
		for (; inc; inc = inc->next)
			for (k = 0; doc_str(inc) && k < py_step(y)->n_wants; k++) {
				const char *pattern = doc_str(inc);
				size_t n = strcspn(pattern, "*");
				struct want *w = &py_step(y)->wants[k];

				if (strncmp(w->name, pattern, n) == 0 &&
				    (pattern[n] == '*' || !w->name[n]))
					w->index = i->name;
			}
	}
}

/* -------- the lock beside it */

static enum tool tool_of(const struct doc *doc, enum tool wanted)
{
	if (wanted != BY_PIP)
		return wanted;
	if (doc_at(doc, "tool.poetry"))
		return BY_POETRY;
	if (doc_at(doc, "tool.pdm"))
		return BY_PDM;
	if (doc_at(doc, "tool.uv"))
		return BY_UV;
	return BY_PIP;
}

static void locked(struct py *y, enum tool tool)
{
	static const char *const names[] = { "uv.lock", "poetry.lock", "pdm.lock", "pylock.toml" };
	const char *name = doc_get_str(doc_get(y->doc, "project"), "name");
	struct lock_scope scope = { .extra = y->extra };
	size_t i;

	if (name)
		scope.project = requirement_normal(y->r->a, view_of(name));

	for (i = 0; i < ARRAY_LEN(names); i++) {
		const char *path = beside_file(y->r->a, y->path, names[i]);

		/* pip reads no lock; every other tool its own. */
		if ((i == 0 && tool != BY_UV && tool != BY_PIP) || (i == 1 && tool != BY_POETRY) ||
		    (i == 2 && tool != BY_PDM))
			continue;
		if (lock_read(y->r, y->p, py_step(y), path, &scope)) {
			project_use(y->r, path);
			if (i == 0)
				py_step(y)->tool = BY_UV;
			return;
		}
	}
	if (y->workspace)
		lock_read(y->r, y->p, py_step(y), beside_file(y->r->a, y->workspace, "uv.lock"),
			  &scope);
}

int pyproject_read(struct project_reader *r, struct project *p, struct view text,
		   const char *path, enum tool wanted, struct err *err)
{
	struct py y = { .r = r, .p = p, .path = path };
	const struct doc *project;
	int rc = toml_parse(r->a, text, path, &y.doc, err);

	if (rc)
		return rc;
	project_use(r, path);
	if (doc_at(y.doc, "tool.pixi"))
		return pixi_read(r, p, text, path, true, err);
	y.step = p->n_steps;
	project_step(r, p, tool_of(y.doc, wanted), (struct place){ .file = path, .line = 1 });
	project = doc_get(y.doc, "project");
	read_python(&y, doc_get(project, "requires-python"), false);
	py_wants(&y, doc_get(project, "dependencies"));
	if (doc_get(project, "dependencies"))
		poetry_sources(&y);
	else
		poetry_part(&y);
	gpu_extras(&y);
	if (doc_get(project, "dependencies"))
		poetry_enrich(&y);
	constrain_strings(&y, doc_at(y.doc, "tool.uv.constraint-dependencies"));
	override_strings(&y, doc_at(y.doc, "tool.uv.override-dependencies"));
	uv_indexes(&y);
	uv_sources(&y);
	pdm_part(&y);
	rye_sources(&y);
	uv_workspace(&y);
	locked(&y, tool_of(y.doc, wanted));
	if (wanted == BY_PIP && p->kind == PROJECT_PYPROJECT)
		hatch_environments(&y);
	return 0;
}

/* tool.setuptools.dynamic.dependencies = { file = ["requirements.txt"] } */
static void dynamic_wants(struct py *y)
{
	const struct doc *files = doc_at(y->doc, "tool.setuptools.dynamic.dependencies.file"), *d;

	if (doc_str(files))
		requirements_read(y->r, y->p, py_step(y),
				  beside_file(y->r->a, y->path, doc_str(files)),
				  py_value(y, files), false);
	for (d = doc_first(files); d; d = d->next)
		if (doc_str(d))
			requirements_read(y->r, y->p, py_step(y),
					  beside_file(y->r->a, y->path, doc_str(d)),
					  py_value(y, d), false);
}

int pyproject_wants(struct project_reader *r, struct project *p, size_t step, struct view text,
		    const char *path, struct err *err)
{
	struct py y = { .r = r, .p = p, .path = path, .step = step };
	const char *requires_python = p->requires_python;
	struct place python_at = p->python_at;
	const struct doc *project;
	int rc = toml_parse(r->a, text, path, &y.doc, err);

	if (rc)
		return rc;
	project = doc_get(y.doc, "project");
	if (project || doc_at(y.doc, "tool.poetry"))
		project_use(r, path);
	py_wants(&y, doc_get(project, "dependencies"));
	if (!project)
		table_wants(&y, doc_at(y.doc, "tool.poetry.dependencies"), false);
	dynamic_wants(&y);
	chosen_extras(&y);
	/* pip knows no sources of other tools. */
	if (py_step(&y)->tool == BY_UV_PIP) {
		uv_indexes(&y);
		uv_sources(&y);
	}
	p->requires_python = requires_python;
	p->python_at = python_at;
	return 0;
}

/* -------- Pipfile */

int pipfile_read(struct project_reader *r, struct project *p, struct view text, const char *path,
		 struct err *err)
{
	struct py y = { .r = r, .p = p, .path = path };
	const struct doc *d;
	const char *lock = beside_file(r->a, path, "Pipfile.lock");
	struct index *i;
	bool first = true;
	int rc = toml_parse(r->a, text, path, &y.doc, err);

	if (rc)
		return rc;
	project_use(r, path);
	y.step = p->n_steps;
	project_step(r, p, BY_PIPENV, (struct place){ .file = path, .line = 1 });
	for (d = doc_first(doc_get(y.doc, "source")); d; d = d->next) {
		const struct doc *url = doc_get(d, "url");

		if (!doc_str(url))
			continue;
		i = step_index(r, py_step(&y), doc_str(url), py_value(&y, url));
		i->name = doc_get_str(d, "name");
		/* The first source serves all that name none; the others only who names them. */
		i->main = first;
		i->only_named = !first;
		first = false;
	}
	table_wants(&y, doc_get(y.doc, "packages"), true);
	d = doc_at(y.doc, "requires.python_full_version");
	if (!doc_str(d))
		d = doc_at(y.doc, "requires.python_version");
	if (doc_str(d)) {
		p->python = doc_str(d);
		p->python_at = py_value(&y, d);
	}
	if (lock_read(r, p, py_step(&y), lock, &(struct lock_scope){ .extra = NULL }))
		project_use(r, lock);
	return 0;
}

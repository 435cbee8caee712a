/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock files: uv.lock, poetry.lock, pdm.lock, pylock.toml, Pipfile.lock. What they hold is what is
 * installed, whatever the ranges beside them would allow.
 */
#include <string.h>

#include "base/arena.h"
#include "base/doc.h"
#include "base/file.h"
#include "base/path.h"
#include "model/requirement.h"
#include "project/lock.h"
#include "project/resolve.h"

bool lock_name(const char *base)
{
	return strcmp(base, "uv.lock") == 0 || strcmp(base, "poetry.lock") == 0 ||
	       strcmp(base, "pdm.lock") == 0 || strcmp(base, "Pipfile.lock") == 0 ||
	       strcmp(base, "pylock.toml") == 0 ||
	       strcmp(base, "pixi.lock") == 0 ||
	       (strncmp(base, "pylock.", 7) == 0 && strstr(base, ".toml"));
}

/* Only what bears on GPUs is kept: a lock may hold a thousand packages. NumPy is no such package by
 * itself, and breaks those that are. */
static bool matters(const char *name)
{
	return strcmp(name, "numpy") == 0 || package_matters(name);
}

static struct want *locked(struct project_reader *r, struct step *s, const char *name,
			   const char *version, struct place at)
{
	struct want *w = step_want(r, s, at);

	w->name = name;
	w->spec = arena_printf(r->a, "==%s", version);
	w->text = arena_printf(r->a, "%s==%s", name, version);
	w->locked = true;
	return w;
}

/* The index that the package was taken from: named after its address. */
static void from_index(struct project_reader *r, struct step *s, struct want *w, const char *url,
		       struct place at)
{
	struct index *i;
	size_t k;

	w->index = url;
	for (k = 0; k < s->n_indexes; k++)
		if (s->indexes[k].name && strcmp(s->indexes[k].name, url) == 0)
			return;
	i = step_index(r, s, url, at);
	i->name = url;
	i->only_named = true;
}

/* poetry and pdm: what is for extras or for other groups alone is not installed by itself. */
static bool left_out(const struct doc *package)
{
	const struct doc *g = doc_get(package, "groups");

	if (doc_true(doc_get(package, "optional")))
		return true;
	for (g = doc_first(g); g; g = g->next)
		if (doc_str(g) && (strcmp(doc_str(g), "main") == 0 ||
				   strcmp(doc_str(g), "default") == 0))
			return false;
	return doc_first(doc_get(package, "groups")) != NULL;
}

/* The index that a package of uv, poetry, pdm or pylock comes from; PyPI when none is named. */
static const char *source_url(const struct doc *package)
{
	const struct doc *src = doc_get(package, "source");
	const char *url = doc_get_str(src, "registry");

	if (!url)
		url = doc_get_str(src, "url");
	if (!url)
		url = doc_get_str(package, "index");
	return url ? url : "https://pypi.org/simple";
}

/* pylock and pdm write "marker", poetry "markers" (a text, or one a group). */
static const char *marker_of(const struct doc *package)
{
	const struct doc *m = doc_get(package, "markers");
	const char *one = doc_get_str(package, "marker");

	if (one)
		return one;
	return doc_str(m) ? doc_str(m) : doc_get_str(m, "main");
}

static void forks(struct project_reader *r, struct want *w, const struct doc *markers)
{
	const struct doc *m;

	for (m = doc_first(markers); m && w->n_only < 64; m = m->next)
		if (doc_str(m))
			*ARENA_APPEND(r->a, w->only, w->n_only) = doc_str(m);
}

/* uv, poetry, pdm, pylock: [[package]] (pylock: [[packages]]) with name, version, source, marker.
 */
static void toml_packages(struct project_reader *r, struct step *s, const struct doc *list,
			  const char *path, const struct lock_scope *scope)
{
	const struct doc *d, *version;
	struct lock_reached reached;
	bool known = lock_reach(r->a, list, scope, &reached);

	for (d = doc_first(list); d; d = d->next) {
		const char *name = doc_get_str(d, "name");
		const struct lock_package *need = known ? lock_find(&reached, d) : NULL;
		struct place at = { .file = path };
		struct want *w;

		version = doc_get(d, "version");
		if (!name || !doc_str(version))
			continue;
		name = requirement_normal(r->a, view_of(name));
		if (!matters(name) || (known ? !need : left_out(d)))
			continue;
		at.line = version->line;
		at.column = version->key_column;
		w = locked(r, s, name, doc_str(version), at);
		w->marker = need ? need->marker : marker_of(d);
		w->extra = need ? reached.extra : NULL;
		forks(r, w, doc_get(d, "resolution-markers"));
		from_index(r, s, w, source_url(d), at);
	}
}

static void pipfile_packages(struct project_reader *r, struct step *s, const struct doc *doc,
			     const char *path)
{
	const struct doc *d = doc_first(doc_get(doc, "default")), *from;

	for (; d; d = d->next) {
		const char *version = doc_get_str(d, "version"), *index = doc_get_str(d, "index");
		const char *name = requirement_normal(r->a, view_of(d->key));
		struct place at = { .file = path, .line = d->key_line, .column = d->key_column };
		struct want *w;

		if (!version || strncmp(version, "==", 2) != 0 || !matters(name))
			continue;
		w = locked(r, s, name, version + 2, at);
		w->marker = doc_get_str(d, "markers");
		for (from = doc_first(doc_at(doc, "_meta.sources")); from; from = from->next)
			if (index && doc_get_str(from, "name") && doc_get_str(from, "url") &&
			    strcmp(index, doc_get_str(from, "name")) == 0)
				from_index(r, s, w, doc_get_str(from, "url"), at);
	}
}

/* -------- pixi.lock */

/* ".../conda-forge/linux-64/pytorch-2.5.1-cuda126_py312_h1_301.conda": from the end, as conda does.
 */
static void conda_package(struct project_reader *r, struct step *s, const char *url,
			  struct place at)
{
	const char *base = path_base(url), *end = base + strlen(base), *build, *version;
	struct want *w;

	if (view_ends(view_of(base), ".conda"))
		end -= 6;
	else if (view_ends(view_of(base), ".tar.bz2"))
		end -= 8;
	for (build = end; build > base && build[-1] != '-'; build--)
		;
	for (version = build - 1; version > base && version[-1] != '-'; version--)
		;
	if (build <= base || version <= base + 1)
		return;
	w = step_want(r, s, at);
	w->name = arena_strndup(r->a, base, (size_t)(version - base) - 1);
	w->spec = arena_printf(r->a, "==%.*s", (int)(build - version - 1), version);
	w->build = arena_strndup(r->a, build, (size_t)(end - build));
	w->text = arena_strndup(r->a, base, (size_t)(end - base));
	w->locked = true;
	if (strstr(url, "conda-forge"))
		w->channel = "conda-forge";
	else if (strstr(url, "/pytorch/"))
		w->channel = "pytorch";
}

/* The environment that a GPU is for by its name, else the default one. */
static const struct doc *pixi_environment(const struct doc *doc)
{
	const struct doc *all = doc_get(doc, "environments"), *d;

	for (d = doc_first(all); d; d = d->next)
		if (strstr(d->key, "gpu") || strstr(d->key, "cuda"))
			return d;
	return doc_get(all, "default");
}

bool pixi_lock_read(struct project_reader *r, struct project *p, struct step *s, const char *path)
{
	const struct doc *doc, *d;
	struct view text;
	struct err e;

	if (project_open(r, path, &text, &e))
		return false;
	if (yaml_parse(r->a, text, path, &doc, &e)) {
		project_doubt(r, p, (struct place){ .file = path }, "%s", e.msg);
		return true;
	}
	doc = pixi_environment(doc_first(doc));
	for (d = doc_first(doc_at(doc, "packages.linux-64")); d; d = d->next) {
		const struct doc *conda = doc_get(d, "conda");
		struct place at = { .file = path, .line = d->line, .column = d->column };

		if (!doc_str(conda))
			continue;
		at.line = conda->line;
		at.column = conda->column;
		if (strstr(doc_str(conda), "/pytorch-") || strstr(doc_str(conda), "/python-3"))
			conda_package(r, s, doc_str(conda), at);
	}
	return true;
}

bool lock_read(struct project_reader *r, struct project *p, struct step *s, const char *path,
	       const struct lock_scope *scope)
{
	bool json = strcmp(path_base(path), "Pipfile.lock") == 0;
	const struct doc *doc, *list;
	struct view text;
	struct err e;
	int rc;

	if (project_open(r, path, &text, &e))
		return false;
	rc = json ? yaml_parse(r->a, text, path, &doc, &e) : toml_parse(r->a, text, path, &doc, &e);
	if (rc) {
		project_doubt(r, p, (struct place){ .file = path }, "%s", e.msg);
		return true;
	}
	if (json) {
		pipfile_packages(r, s, doc_first(doc), path);
		return true;
	}
	list = doc_get(doc, "package");
	toml_packages(r, s, list ? list : doc_get(doc, "packages"), path, scope);
	if (doc_get_str(doc, "requires-python") && !p->requires_python)
		p->requires_python = doc_get_str(doc, "requires-python");
	return true;
}

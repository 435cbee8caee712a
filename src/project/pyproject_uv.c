/* SPDX-License-Identifier: Apache-2.0 */
/* What uv's tables of a pyproject.toml say: indexes, sources of packages, workspaces. */
#include <string.h>

#include "base/arena.h"
#include "model/requirement.h"
#include "project/pyproject.h"

struct step *py_step(struct py *y)
{
	return &y->p->steps[y->step];
}

struct place py_value(const struct py *y, const struct doc *d)
{
	return (struct place){ .file = y->path, .line = d->line, .column = d->column };
}

struct place py_key(const struct py *y, const struct doc *d)
{
	return (struct place){ .file = y->path, .line = d->key_line, .column = d->key_column };
}

/* -------- uv: indexes and sources */

void uv_indexes(struct py *y)
{
	const struct doc *d = doc_first(doc_at(y->doc, "tool.uv.index"));
	const struct doc *one = doc_at(y->doc, "tool.uv.index-url");
	struct index *i;

	for (; d; d = d->next) {
		const struct doc *url = doc_get(d, "url");

		if (!doc_str(url))
			continue;
		i = step_index(y->r, py_step(y), doc_str(url), py_key(y, url));
		i->at.column = url->column;
		i->name = doc_get_str(d, "name");
		i->only_named = doc_true(doc_get(d, "explicit"));
		i->main = doc_true(doc_get(d, "default"));
	}
	if (doc_str(one))
		step_index(y->r, py_step(y), doc_str(one), py_value(y, one))->main = true;
	for (d = doc_first(doc_at(y->doc, "tool.uv.extra-index-url")); d; d = d->next)
		if (doc_str(d))
			step_index(y->r, py_step(y), doc_str(d), py_value(y, d));
	for (d = doc_first(doc_at(y->doc, "tool.uv.find-links")); d; d = d->next)
		if (doc_str(d))
			step_index(y->r, py_step(y), doc_str(d), py_value(y, d))->links = true;
	one = doc_at(y->doc, "tool.uv.index-strategy");
	if (doc_str(one) && strncmp(doc_str(one), "unsafe", 6) == 0)
		py_step(y)->best_match = true;
}

/* Both markers have to hold; either may be NULL. */
static const char *both(struct arena *a, const char *one, const char *other)
{
	if (!one || !other)
		return one ? one : other;
	return arena_printf(a, "(%s) and (%s)", one, other);
}

/* One source of tool.uv.sources for a package: its index, url, and marker. */
void uv_source(struct py *y, struct want *w, const struct doc *src)
{
	const char *url = doc_get_str(src, "url");

	if (doc_get_str(src, "index"))
		w->index = doc_get_str(src, "index");
	/* A Pipfile says "file" to an address, too. */
	if (!url && doc_get_str(src, "file") && strstr(doc_get_str(src, "file"), "://"))
		url = doc_get_str(src, "file");
	if (url) {
		struct step scratch = { .n_wants = 0 };

		want_parse(y->r, y->p, &scratch, view_of(url), w->at);
		w->url = url;
		w->spec = scratch.n_wants ? scratch.wants[0].spec : NULL;
		w->wheel_python = scratch.n_wants ? scratch.wants[0].wheel_python : NULL;
		if (w->spec)
			w->text = w->url;
	}
	if (doc_get_str(src, "git") || doc_get_str(src, "path") ||
	    doc_true(doc_get(src, "workspace"))) {
		w->url = doc_get_str(src, "git") ? doc_get_str(src, "git") : ".";
		w->spec = NULL;
	}
	w->marker = both(y->r->a, w->marker, doc_get_str(src, "marker"));
}

/*
 * A want served by one source. Where the source's marker does not hold, the plain want stays, and
 * the indexes that are for all serve it.
 */
static void uv_serve(struct py *y, struct step *s, size_t i, const struct doc *src)
{
	const char *marker = doc_get_str(src, "marker");
	struct want served = s->wants[i];

	uv_source(y, &served, src);
	if (!marker) {
		s->wants[i] = served;
		return;
	}
	*ARENA_APPEND(y->r->a, s->wants[i].unless, s->wants[i].n_unless) = marker;
	*ARENA_APPEND(y->r->a, s->wants, s->n_wants) = served;
}

/* Each want gets its source; with a list of them, one want a source that holds under its marker. */
void uv_sources(struct py *y)
{
	const struct doc *all = doc_at(y->doc, "tool.uv.sources"), *d, *src;
	struct step *s = py_step(y);
	size_t i, n = s->n_wants;

	for (d = doc_first(all); d; d = d->next) {
		const char *name = requirement_normal(y->r->a, view_of(d->key));

		for (i = 0; i < n; i++) {
			struct want *w = &s->wants[i];

			if (strcmp(w->name, name) != 0 || w->constraint)
				continue;
			if (d->kind == DOC_MAP) {
				uv_serve(y, s, i, d);
				continue;
			}
			for (src = doc_first(d); src; src = src->next) {
				const char *extra = doc_get_str(src, "extra");

				if (!extra)
					extra = doc_get_str(src, "group");
				/* A source for an extra that nobody asked for is out of play. */
				if (extra && (!y->extra || strcmp(extra, y->extra) != 0))
					continue;
				uv_serve(y, s, i, src);
				if (extra || !doc_get_str(src, "marker"))
					break;
			}
		}
	}
}

/* -------- workspaces of uv: the root's indexes, sources and lock hold for its members */

static const struct doc *workspace(struct py *y, const char **ret_path)
{
	const char *file = y->path, *slash, *up;
	const struct doc *doc;
	struct view text;
	struct err e;
	int i;

	for (i = 0; y->r->root && i < 6 && (slash = strrchr(file, '/')); i++) {
		const char *folder = arena_strndup(y->r->a, file, (size_t)(slash - file));

		if (*y->r->root && strlen(folder) <= strlen(y->r->root))
			return NULL;
		slash = strrchr(folder, '/');
		up = slash ? arena_printf(y->r->a, "%.*s/pyproject.toml", (int)(slash - folder),
					  folder)
			   : "pyproject.toml";
		file = folder;
		if (project_open(y->r, up, &text, &e) || view_find(text, "uv.workspace") < 0 ||
		    toml_parse(y->r->a, text, up, &doc, &e) || !doc_at(doc, "tool.uv.workspace"))
			continue;
		*ret_path = up;
		return doc;
	}
	return NULL;
}

void uv_workspace(struct py *y)
{
	struct py root = *y;

	root.doc = workspace(y, &root.path);
	if (!root.doc)
		return;
	py_step(y)->tool = BY_UV;
	uv_indexes(&root);
	if (!doc_at(y->doc, "tool.uv.sources"))
		uv_sources(&root);
	y->workspace = root.path;
}

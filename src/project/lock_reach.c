/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which packages of a uv.lock one project installs: the lock holds those of all extras, groups and
 * members of a workspace. Reads the document alone.
 */
#include "project/lock.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/marker.h"
#include "model/requirement.h"

struct entry {
	const char *name;
	const struct doc *doc;
	bool reached, always;
	const char *marker; /* of the edges to it, unless always */
};

struct reach {
	struct arena *a;
	struct entry *entries; /* by name */
	size_t n;
	size_t *todo; /* indexes that were reached and not yet looked at */
	size_t n_todo;
	struct marker_env env; /* knows the extra alone: all else holds */
};

static int by_name(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

/* A member of the workspace: its source is a folder of the checkout. */
static bool is_member(const struct doc *package)
{
	const struct doc *src = doc_get(package, "source");

	return doc_get(src, "editable") || doc_get(src, "virtual") || doc_get(src, "directory");
}

static bool edge_holds(struct reach *x, const struct doc *edge)
{
	const char *marker = doc_get_str(edge, "marker"), *what;
	bool holds;
	size_t at;

	return !marker || !marker_eval(x->a, view_of(marker), &x->env, &holds, &at, &what) || holds;
}

/* One edge without a marker makes it always needed; else one of them has to hold. */
static void mark(struct reach *x, size_t i, const char *marker)
{
	struct entry *e = &x->entries[i];

	if (!marker || (e->marker && strlen(e->marker) > 4000))
		e->always = true;
	else if (!e->marker)
		e->marker = arena_printf(x->a, "(%s)", marker);
	else if (!strstr(e->marker, marker))
		e->marker = arena_printf(x->a, "%s or (%s)", e->marker, marker);
	if (e->reached)
		return;
	x->entries[i].reached = true;
	x->todo[x->n_todo++] = i;
}

/* Where a package stands several times, the edge says which one by version and source. */
static bool meant(const struct doc *edge, const struct doc *package)
{
	const char *version = doc_get_str(edge, "version");
	const char *from = doc_get_str(doc_get(edge, "source"), "registry");
	const char *have = doc_get_str(doc_get(package, "source"), "registry");

	if (version && doc_get_str(package, "version") &&
	    strcmp(version, doc_get_str(package, "version")) != 0)
		return false;
	return !from || !have || strcmp(from, have) == 0;
}

/* The first of the entries of this name (they are sorted), x->n when there is none. */
static size_t first_of(const struct reach *x, const char *name)
{
	const struct entry key = { .name = name };
	const struct entry *any = bsearch(&key, x->entries, x->n, sizeof(key), by_name);
	size_t i = any ? (size_t)(any - x->entries) : x->n;

	while (i > 0 && i < x->n && strcmp(x->entries[i - 1].name, name) == 0)
		i--;
	return i;
}

static void follow_extras(struct reach *x, const struct doc *package, const struct doc *edge);

static void follow(struct reach *x, const struct doc *edges, bool extras)
{
	const struct doc *edge;
	const char *name;
	size_t i;

	for (edge = doc_first(edges); edge; edge = edge->next) {
		name = doc_get_str(edge, "name");
		if (!name || !edge_holds(x, edge))
			continue;
		i = first_of(x, name);
		for (; i < x->n && strcmp(x->entries[i].name, name) == 0; i++) {
			if (!meant(edge, x->entries[i].doc))
				continue;
			mark(x, i, doc_get_str(edge, "marker"));
			if (extras)
				follow_extras(x, x->entries[i].doc, edge);
		}
	}
}

/* The edges of an extra lead to packages, not to further extras: bounded by its list. */
static void follow_extra(struct reach *x, const struct doc *package, const char *extra)
{
	follow(x, doc_get(doc_get(package, "optional-dependencies"), extra), false);
}

static void follow_extras(struct reach *x, const struct doc *package, const struct doc *edge)
{
	const struct doc *extra;

	for (extra = doc_first(doc_get(edge, "extra")); extra; extra = extra->next)
		if (doc_str(extra))
			follow_extra(x, package, doc_str(extra));
}

/* uv writes the choice of an extra as "extra-<length of the name>-<name>-<extra>". */
static void choose(struct reach *x, const struct lock_scope *scope)
{
	if (scope->project && scope->extra)
		x->env.extra = arena_printf(x->a, "extra-%zu-%s-%s", strlen(scope->project),
					    scope->project, scope->extra);
}

static bool fill(struct reach *x, const struct doc *packages)
{
	const struct doc *d;

	x->entries = arena_calloc(x->a, packages->n + 1, sizeof(*x->entries));
	x->todo = arena_calloc(x->a, packages->n + 1, sizeof(*x->todo));
	for (d = packages->first; d; d = d->next)
		if (doc_get_str(d, "name"))
			x->entries[x->n++] =
				(struct entry){ .name = doc_get_str(d, "name"), .doc = d };
	if (x->n)
		qsort(x->entries, x->n, sizeof(*x->entries), by_name);
	return x->n > 0;
}

static bool start(struct reach *x, const struct lock_scope *scope, bool all)
{
	bool any = false;
	size_t i;

	for (i = 0; i < x->n; i++) {
		if (!is_member(x->entries[i].doc) ||
		    (!all && (!scope->project || strcmp(x->entries[i].name, scope->project) != 0)))
			continue;
		mark(x, i, NULL);
		any = true;
		if (scope->extra)
			follow_extra(x, x->entries[i].doc, scope->extra);
	}
	return any;
}

static int by_address(const void *pa, const void *pb)
{
	uintptr_t a = (uintptr_t)((const struct lock_package *)pa)->doc;
	uintptr_t b = (uintptr_t)((const struct lock_package *)pb)->doc;

	return (a > b) - (a < b);
}

bool lock_reach(struct arena *a, const struct doc *packages, const struct lock_scope *scope,
		struct lock_reached *ret)
{
	struct reach x = { .a = a };
	size_t i;

	if (!doc_is(packages, DOC_LIST) || !fill(&x, packages))
		return false;
	choose(&x, scope);
	if (!start(&x, scope, false) && !start(&x, scope, true))
		return false;
	while (x.n_todo)
		follow(&x, doc_get(x.entries[x.todo[--x.n_todo]].doc, "dependencies"),
		       true);
	*ret = (struct lock_reached){ .extra = x.env.extra };
	ret->v = arena_calloc(a, x.n, sizeof(*ret->v));
	for (i = 0; i < x.n; i++)
		if (x.entries[i].reached)
			ret->v[ret->n++] = (struct lock_package){
				.doc = x.entries[i].doc,
				.marker = x.entries[i].always ? NULL : x.entries[i].marker,
			};
	qsort(ret->v, ret->n, sizeof(*ret->v), by_address);
	return true;
}

const struct lock_package *lock_find(const struct lock_reached *r, const struct doc *package)
{
	struct lock_package key = { .doc = package };

	return r->n ? bsearch(&key, r->v, r->n, sizeof(key), by_address) : NULL;
}

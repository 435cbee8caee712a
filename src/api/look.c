/* SPDX-License-Identifier: Apache-2.0 */
/* The looks: each makes one snapshot from what the caller names; judges nothing. */
#include <stdint.h>

#include "api/context.h"
#include "base/arena.h"
#include "source/redact.h"
#include "source/source.h"
#include "triage/triage.h"

/* Everything is copied: facts point into it for as long as the snapshot lives. */
static const char *copy(struct cuvet *c, const char *s)
{
	return s ? arena_strdup(c->look, s) : NULL;
}

static int begin(struct cuvet *c)
{
	arena_free(c->look);
	c->look = NULL;
	c->looked = c->judged = c->text = false;
	if (!c->compat)
		return api_usage(c, "%s", _("the context could not be opened"));
	c->look = api_arena(c);
	return CUVET_OK;
}

static int from_source(struct cuvet *c, struct source_options *o)
{
	o->python = c->python;
	o->timeout_ms = c->timeout_ms;
	o->deep = c->deep;
	o->assume = c->assume.v;
	o->n_assume = c->assume.n;
	o->require = c->require.v;
	o->n_require = c->require.n;
	if (source_snapshot(c->look, c->compat, o, &c->s, &c->err))
		return api_status(c);
	c->looked = true;
	return CUVET_OK;
}

static int do_live(struct cuvet *c, const void *with)
{
	struct source_options o = { .no_live = false };
	int r = begin(c);

	(void)with;
	return r ? r : from_source(c, &o);
}

int cuvet_look_live(struct cuvet *c)
{
	return api_call(c, do_live, NULL);
}

static int do_assumed(struct cuvet *c, const void *with)
{
	struct source_options o = { .no_live = true };
	int r = begin(c);

	(void)with;
	return r ? r : from_source(c, &o);
}

int cuvet_look_assumed(struct cuvet *c)
{
	return api_call(c, do_assumed, NULL);
}

struct named {
	const char *name, *other;
	const char *const *list;
	size_t n;
};

static int do_root(struct cuvet *c, const void *with)
{
	const struct named *w = with;
	struct source_options o = { .no_live = true };
	int r = begin(c);

	if (r)
		return r;
	o.root = copy(c, w->name);
	o.facts = copy(c, w->other);
	return from_source(c, &o);
}

int cuvet_look_root(struct cuvet *c, const char *dir, const char *facts)
{
	struct named w = { .name = dir, .other = facts };

	return dir ? api_call(c, do_root, &w) : CUVET_ERROR_USAGE;
}

static int do_files(struct cuvet *c, const void *with)
{
	const struct named *w = with;
	struct source_options o = { .no_live = true };
	int r = begin(c);
	const char **paths;
	size_t i;

	if (r)
		return r;
	paths = arena_calloc(c->look, w->n, sizeof(*paths));
	for (i = 0; i < w->n; i++) {
		if (!w->list[i])
			return api_usage(c, "%s", _("a path is NULL"));
		paths[i] = copy(c, w->list[i]);
	}
	o.inputs = paths;
	o.n_inputs = w->n;
	return from_source(c, &o);
}

int cuvet_look_files(struct cuvet *c, const char *const *paths, size_t n)
{
	struct named w = { .list = paths, .n = n };

	return paths && n ? api_call(c, do_files, &w) : CUVET_ERROR_USAGE;
}

static int do_json(struct cuvet *c, const void *with)
{
	const struct named *w = with;
	struct source_options o = { .no_live = true };
	int r = begin(c);

	if (r)
		return r;
	o.json = (struct view){ .p = arena_strndup(c->look, w->other, w->n), .n = w->n };
	o.json_name = w->name ? copy(c, w->name) : "json";
	return from_source(c, &o);
}

int cuvet_look_json(struct cuvet *c, const char *name, const char *json, size_t n)
{
	struct named w = { .name = name, .other = json, .n = n };

	return json ? api_call(c, do_json, &w) : CUVET_ERROR_USAGE;
}

static int do_text(struct cuvet *c, const void *with)
{
	const struct named *w = with;
	struct text *t;
	int r = begin(c);

	if (r)
		return r;
	if (w->n > TRIAGE_MAX)
		return api_usage(c, _("more than %d MiB of text"), TRIAGE_MAX >> 20);
	t = arena_alloc(c->look, sizeof(*t));
	text_add(c->look, t, copy(c, w->name),
		 (struct view){ .p = arena_strndup(c->look, w->other, w->n), .n = w->n });
	if (triage_snapshot(c->look, c->compat, t, &c->s, &c->err))
		return api_status(c);
	source_redact(c->look, &c->s);
	source_enrich(c->look, c->compat, &c->s);
	if (source_assume(c->look, c->compat, c->assume.v, c->assume.n, &c->s, &c->err))
		return api_status(c);
	c->looked = c->text = true;
	return CUVET_OK;
}

int cuvet_look_text(struct cuvet *c, const char *name, const char *text, size_t n)
{
	struct named w = { .name = name, .other = text, .n = n };

	return text ? api_call(c, do_text, &w) : CUVET_ERROR_USAGE;
}

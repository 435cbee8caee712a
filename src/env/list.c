/* SPDX-License-Identifier: Apache-2.0 */
/* Search paths: what the snippets do in their own languages, once in C. Knows no shell. */
#include <string.h>

#include "base/arena.h"
#include "env/env.h"

struct list {
	struct arena *a;
	struct view *v;
	size_t n;
};

static bool has(const struct list *l, struct view e)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->v[i].n == e.n && (!e.n || memcmp(l->v[i].p, e.p, e.n) == 0))
			return true;
	return false;
}

/* All elements of a value, empty ones too; an empty value has one, NULL none. */
static struct list split(struct arena *a, const char *value)
{
	struct list l = { .a = a };
	struct view rest = view_of(value);
	ptrdiff_t at;

	if (!value)
		return l;
	while ((at = view_chr(rest, ':')) >= 0) {
		*ARENA_APPEND(a, l.v, l.n) = (struct view){ .p = rest.p, .n = (size_t)at };
		rest = view_skip(rest, (size_t)at + 1);
	}
	*ARENA_APPEND(a, l.v, l.n) = rest;
	return l;
}

static const char *join(const struct list *l)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, l->a);
	for (i = 0; i < l->n; i++) {
		if (i)
			strbuf_addc(&b, ':');
		strbuf_addv(&b, l->v[i]);
	}
	return b.s;
}

static void push(struct list *to, const struct list *from, enum env_kind kind)
{
	size_t i;

	for (i = 0; i < from->n; i++)
		if ((from->v[i].n || kind == ENV_MANLIST) && !has(to, from->v[i]))
			*ARENA_APPEND(to->a, to->v, to->n) = from->v[i];
}

const char *env_list_add(struct arena *a, const char *added, const char *old, enum env_kind kind)
{
	struct list in_front = split(a, added), behind = split(a, old ? old : ""), r = { .a = a };

	push(&r, &in_front, ENV_LIST);
	push(&r, &behind, kind);
	return join(&r);
}

const char *env_list_undo(struct arena *a, const char *now, const char *added, const char *old,
			  enum env_kind kind)
{
	struct list l = split(a, now), ours = split(a, added), own = split(a, old), r = { .a = a };
	size_t i;

	if (now && strcmp(now, env_list_add(a, added, old, kind)) == 0)
		return old;
	for (i = 0; i < l.n; i++)
		if (!has(&ours, l.v[i]) || has(&own, l.v[i]))
			*ARENA_APPEND(a, r.v, r.n) = l.v[i];
	if ((!r.n || (r.n == 1 && !r.v[0].n)) && !old)
		return NULL;
	return join(&r);
}

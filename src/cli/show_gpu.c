/* SPDX-License-Identifier: Apache-2.0 */
/* show for GPUs: one row for each chip that carries the name, with all its PCI ids. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "cli/show.h"

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Ids of one name that differ in nothing that decides are one row. */
static bool alike(const struct gpu_row *a, const struct gpu_row *b)
{
	return same(a->name, b->name) && same(a->chip, b->chip) && a->cc == b->cc &&
	       same(a->last_driver, b->last_driver) && same(a->open_module, b->open_module) &&
	       same(a->gpu_class, b->gpu_class);
}

/* The table row that a GPU's facts come from, and so its sources. */
static void set_origin(struct show *s, struct show_row *r)
{
	static const char *const tables[] = { "name", "gpu", "chip", "chip" };
	static const char *const fields[] = { "name", "id", "chip", "cc" };
	const struct gpu_row *g = r->gpu;
	const char *const keys[] = { g->name, g->id, g->chip,
				     g->cc > 0 ? cc_text(s->r->a, g->cc) : NULL };
	size_t i, at;

	for (i = 0; i < ARRAY_LEN(tables) && !r->row; i++) {
		at = keys[i] ? compat_find(s->c, tables[i], 0, fields[i], keys[i]) : SIZE_MAX;
		r->row =
			at < compat_count(s->c, tables[i]) ? compat_row(s->c, tables[i], at) : NULL;
		r->table = tables[i];
	}
}

static void add_gpu(struct show *s, const struct gpu_row *g)
{
	struct show_row *r = NULL;
	const char **id;
	size_t i;

	for (i = 0; i < s->n && !r; i++)
		if (alike(s->rows[i].gpu, g))
			r = &s->rows[i];
	if (!r) {
		r = ARENA_APPEND(s->r->a, s->rows, s->n);
		r->gpu = g;
		set_origin(s, r);
	}
	if (g->memory_gib != r->gpu->memory_gib) {
		struct gpu_row *copy = arena_alloc(s->r->a, sizeof(*copy));

		*copy = *r->gpu;
		copy->memory_gib = 0; /* the boards differ */
		r->gpu = copy;
	}
	if (!g->id)
		return;
	id = ARENA_APPEND(s->r->a, r->ids, r->n_ids);
	*id = arena_printf(s->r->a, "10de:%s", g->id);
}

/* A capability alone: every card that has it. */
static void add_capable(struct show *s, int cc)
{
	size_t i, n = compat_count(s->c, "gpu");
	const struct gpu_row *g;

	for (i = 0; i < n; i++) {
		g = compat_gpu_at(s->c, i);
		if (g && g->cc == cc)
			add_gpu(s, g);
	}
}

bool show_gpus(struct show *s, const char *name, struct gpu_match *ret)
{
	size_t i;

	compat_gpu_find(s->c, name, ret);
	if (ret->n == 1 && !ret->rows[0]->id && !ret->rows[0]->chip && ret->cc > 0)
		add_capable(s, ret->cc);
	for (i = s->n ? ret->n : 0; i < ret->n; i++)
		add_gpu(s, ret->rows[i]);
	return ret->n > 0;
}

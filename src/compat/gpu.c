/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of GPUs from their device ids, chips and capabilities. Names are gpu_name.c's. */
#include "compat/gpu.h"

#include <string.h>

/* Exact ("570.86.16") as opposed to a branch ("470") or a bound ("<=460"). */
static bool is_release(const char *driver)
{
	struct version v;

	return driver && version_parse(view_of(driver), &v) && v.n >= 2 && v.part[0] >= 100;
}

static bool is_branch(const char *driver)
{
	struct version v;

	return driver && version_parse(view_of(driver), &v);
}

const struct json *gpu_chip(struct compat *c, const char *chip)
{
	struct table *t = chip ? table_maybe(c, "chip") : NULL;
	size_t i = t ? table_find(c, t, 0, "chip", chip) : 0;

	return t && i < t->n ? table_row(c, t, i) : NULL;
}

static void set_first_driver(struct gpu_row *g, const struct json *row, const struct json *chip)
{
	const char *own = json_get_str(row, "first_driver");

	g->first_driver_exact = is_release(own);
	if (g->first_driver_exact) {
		g->first_driver = own;
		return;
	}
	/*
	 * A list that first names a device is no proof against older drivers; the chip's first
	 * driver is one.
	 */
	g->first_driver = json_get_str(chip, "first_driver");
	if (!g->first_driver && is_branch(own))
		g->first_driver = own;
}

void gpu_from_chip(struct compat *c, const char *name, struct gpu_row *g)
{
	const struct json *chip = gpu_chip(c, name), *last = json_get(chip, "last_driver");

	*g = (struct gpu_row){ .chip = name, .cc = cc_parse(json_get_str(chip, "cc")) };
	g->architecture = json_get_str(chip, "arch");
	g->last_driver = json_str(last);
	g->last_driver_known = last != NULL;
	g->last_driver_inferred = g->open_module_inferred = true;
	g->open_module = json_get_str(chip, "open");
	g->first_driver = json_get_str(chip, "first_driver");
	g->gpu_class = json_get_bool(chip, "tegra", false) ? "tegra" : NULL;
	g->source = arena_printf(c->a, "matrix chip %s", name);
	g->doubtful = !chip || row_doubtful(chip);
}

static const struct gpu_row *build(struct compat *c, const struct json *row)
{
	const struct json *chip = gpu_chip(c, json_get_str(row, "chip")), *last;
	struct gpu_row *g = arena_alloc(c->a, sizeof(*g));

	last = json_get(row, "last_driver");
	g->id = json_get_str(row, "id");
	g->name = json_get_str(row, "name");
	g->chip = json_get_str(row, "chip");
	g->architecture = json_get_str(chip, "arch");
	g->cc = cc_parse(json_get_str(row, "cc"));
	g->last_driver_inferred = !last || row_inferred(row, "last_driver");
	if (!last)
		last = json_get(chip, "last_driver");
	g->last_driver = json_str(last);
	g->last_driver_known = last != NULL;
	g->open_module = json_get_str(row, "open");
	g->open_module_inferred = row_inferred(row, "open");
	set_first_driver(g, row, chip);
	g->gpu_class = json_get_str(row, "class");
	if (!g->gpu_class && json_get_bool(chip, "tegra", false))
		g->gpu_class = "tegra";
	if (!json_num(json_get(row, "memory_gib"), &g->memory_gib) || g->memory_gib < 0)
		g->memory_gib = 0;
	g->source = arena_printf(c->a, "matrix gpu %s", g->id);
	g->doubtful = row_doubtful(row);
	return g;
}

const struct gpu_row *gpu_at(struct compat *c, struct table *t, size_t i)
{
	const struct json *row;

	if (!t->typed[i]) {
		row = table_row(c, t, i);
		if (!json_get_str(row, "id"))
			return NULL;
		t->typed[i] = build(c, row);
	}
	return t->typed[i];
}

const struct gpu_row *gpu_renamed(struct compat *c, const struct gpu_row *g, const char *name)
{
	struct gpu_row *copy;

	if (!g || (g->name && strcmp(g->name, name) == 0))
		return g;
	copy = arena_alloc(c->a, sizeof(*copy));
	*copy = *g;
	copy->name = name;
	return copy;
}

const struct gpu_row *compat_gpu(struct compat *c, const char *device_id)
{
	struct table *t = device_id ? table_get(c, "gpu") : NULL;
	size_t i = t ? table_find(c, t, 0, "id", device_id) : 0;

	return t && i < t->n ? gpu_at(c, t, i) : NULL;
}

const struct gpu_row *compat_gpu_at(struct compat *c, size_t i)
{
	struct table *t = table_get(c, "gpu");

	return t && i < t->n ? gpu_at(c, t, i) : NULL;
}

const struct gpu_row *compat_gpu_subsystem(struct compat *c, const char *device_id,
					   const char *subsystem)
{
	struct table *t = device_id ? table_get(c, "gpu") : NULL;
	size_t i = t ? table_find(c, t, 0, "id", device_id) : 0;
	const struct json *sub;
	const char *id, *name;

	if (!t || i >= t->n)
		return NULL;
	sub = subsystem ? json_first(json_get(table_row(c, t, i), "sub")) : NULL;
	for (; sub; sub = json_next(sub)) {
		id = json_get_str(sub, "id");
		name = json_get_str(sub, "name");
		if (id && name && view_is_nocase(view_of(subsystem), id))
			return gpu_renamed(c, gpu_at(c, t, i), name);
	}
	return gpu_at(c, t, i);
}

/* What two chips of one capability share stays; what differs is not known. */
static void merge_chip(struct gpu_row *g, const struct gpu_row *chip)
{
	if (g->last_driver_known != chip->last_driver_known ||
	    (g->last_driver && chip->last_driver ? strcmp(g->last_driver, chip->last_driver) != 0 :
						   g->last_driver != chip->last_driver)) {
		g->last_driver = NULL;
		g->last_driver_known = false;
	}
	if (g->open_module &&
	    (!chip->open_module || strcmp(g->open_module, chip->open_module) != 0))
		g->open_module = NULL;
	if (g->gpu_class && !chip->gpu_class)
		g->gpu_class = NULL;
	/* Any of the chips may be meant: no driver is too old that drives one of them. */
	if (g->first_driver &&
	    (!chip->first_driver || version_cmp_str(chip->first_driver, g->first_driver) < 0))
		g->first_driver = chip->first_driver;
	g->doubtful = g->doubtful && chip->doubtful;
}

/* Capabilities that nvcc knows without a chip in the table (8.8, and 10.1 before its renaming). */
static bool nvcc_knows(struct compat *c, int cc)
{
	struct table *t = table_maybe(c, "cuda");
	const struct json *v;
	size_t i;

	for (i = t ? t->n : 0; i-- > 0;)
		for (v = json_first(json_get(table_row(c, t, i), "nvcc_targets")); v;
		     v = json_next(v))
			if (cc_parse(json_str(v)) == cc)
				return true;
	return false;
}

const struct gpu_row *compat_gpu_of_cc(struct compat *c, int cc)
{
	struct table *t = table_get(c, "chip");
	const char *wanted = cc > 0 ? cc_text(c->a, cc) : NULL, *chip;
	struct gpu_row *g = arena_alloc(c->a, sizeof(*g)), one;
	size_t i, n = 0;

	if (!t || !wanted)
		return NULL;
	for (i = table_find(c, t, 0, "cc", wanted); i < t->n;
	     i = table_find(c, t, i + 1, "cc", wanted)) {
		chip = json_get_str(table_row(c, t, i), "chip");
		if (!chip)
			continue;
		gpu_from_chip(c, chip, &one);
		if (n++)
			merge_chip(g, &one);
		else
			*g = one;
	}
	if (n != 1)
		g->chip = NULL;
	if (!n && !nvcc_knows(c, cc))
		return NULL;
	g->cc = cc;
	g->name = arena_printf(c->a, "compute capability %s", wanted);
	g->source = arena_printf(c->a, "matrix chip, capability %s", wanted);
	return g;
}

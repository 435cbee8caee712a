/* SPDX-License-Identifier: Apache-2.0 */
/* Driver branches: what CUDA they know, and which one to recommend. */
#include <string.h>

#include "compat/table.h"

static const struct driver_row *driver_at(struct compat *c, struct table *t, size_t i)
{
	const struct json *row = table_row(c, t, i);
	struct driver_row *d;
	int64_t branch;

	if (!t->typed[i]) {
		if (!json_get_int(row, "branch", &branch) || branch < 0 || branch > 99999)
			return NULL;
		d = arena_alloc(c->a, sizeof(*d));
		d->branch = (int)branch;
		d->max_cuda = json_get_str(row, "max_cuda");
		d->kind = json_get_str(row, "kind");
		d->eol = json_get_str(row, "eol");
		d->source = arena_printf(c->a, "matrix driver %d", d->branch);
		t->typed[i] = d;
	}
	return t->typed[i];
}

const struct driver_row *compat_driver(struct compat *c, const char *version, bool *ret_exact)
{
	struct table *t = table_get(c, "driver");
	const struct driver_row *best = NULL, *d;
	struct version v;
	size_t i;

	if (ret_exact)
		*ret_exact = false;
	if (!t || !version || !version_prefix(view_of(version), &v) || v.part[0] > 99999)
		return NULL;
	for (i = 0; i < t->n; i++) {
		d = driver_at(c, t, i);
		if (d && d->branch <= (int)v.part[0] && (!best || d->branch > best->branch))
			best = d;
	}
	if (ret_exact)
		*ret_exact = best && best->branch == (int)v.part[0];
	return best;
}

/* Newest CUDA whose own minimum this driver reaches. */
static const char *cuda_by_minimum(struct compat *c, const char *version)
{
	struct table *t = table_get(c, "cuda");
	const char *best = NULL;
	size_t i;

	for (i = 0; t && i < t->n; i++) {
		struct view kind = table_text(c, t, i, "kind"), least, cuda;
		const char *text;

		if (!kind.p || !view_is(kind, "minor"))
			continue;
		least = table_text(c, t, i, "min_driver_linux");
		cuda = table_text(c, t, i, "cuda");
		if (!least.p || !cuda.p || !version_at_least(version, view_dup(c->a, least)))
			continue;
		text = view_dup(c->a, cuda);
		if (!best || version_cmp_str(text, best) > 0)
			best = text;
	}
	return best;
}

const char *compat_driver_cuda(struct compat *c, const char *version)
{
	bool exact;
	const struct driver_row *d = compat_driver(c, version, &exact);
	const char *by_minimum;

	if (d && exact && d->max_cuda)
		return d->max_cuda;
	/*
	 * A branch that is not listed, or Windows' numbers: its neighbour below, or what the
	 * releases ask for.
	 */
	by_minimum = d || (version && *version) ? cuda_by_minimum(c, version) : NULL;
	if (d && d->max_cuda && version_cmp_str(d->max_cuda, by_minimum) > 0)
		return d->max_cuda;
	return by_minimum;
}

/* Is the branch still maintained on the day of the table? What has no end yet is. */
static bool maintained(const struct driver_row *d, const char *today)
{
	if (!d->eol)
		return true;
	return strcmp(d->eol, "past") != 0 &&
	       (!today || strncmp(d->eol, today, strlen("2026-11")) >= 0);
}

const char *compat_recommended_branch(struct compat *c, const char *cuda)
{
	struct table *t = table_get(c, "driver");
	const struct driver_row *best = NULL, *d;
	const char *today = t ? table_head(c, t, "date") : NULL;
	size_t i;

	for (i = 0; t && i < t->n; i++) {
		d = driver_at(c, t, i);
		if (!d || !d->kind || (strcmp(d->kind, "PB") != 0 && strcmp(d->kind, "LTSB") != 0))
			continue;
		if (!version_at_least(d->max_cuda, cuda) || !maintained(d, today))
			continue;
		if (!best || d->branch < best->branch)
			best = d;
	}
	return best ? arena_printf(c->a, "%d", best->branch) : NULL;
}

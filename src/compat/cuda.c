/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA releases and the drivers that they need. */
#include <string.h>

#include "compat/table.h"

enum {
	MINOR_COMPAT_FROM = 11
}; /* CUDA Compatibility guide: minor-version compatibility begins with CUDA 11 */

static const struct cuda_row *cuda_at(struct compat *c, struct table *t, size_t i)
{
	const struct json *row = table_row(c, t, i);
	struct cuda_row *r;

	if (!row)
		return NULL;
	if (!t->typed[i]) {
		r = arena_alloc(c->a, sizeof(*r));
		r->cuda = json_get_str(row, "cuda");
		r->min_driver_linux = json_get_str(row, "min_driver_linux");
		r->min_driver_windows = json_get_str(row, "min_driver_windows");
		r->minor_min_linux = json_get_str(row, "minor_compat_linux");
		r->minor_min_windows = json_get_str(row, "minor_compat_windows");
		r->nvcc_min_cc = cc_parse(json_get_str(row, "nvcc_min_cc"));
		r->nvcc_max_cc = cc_parse(json_get_str(row, "nvcc_max_cc"));
		r->source = arena_printf(c->a, "matrix cuda %s", r->cuda ? r->cuda : "?");
		t->typed[i] = r;
	}
	return t->typed[i];
}

static bool is_minor(struct compat *c, struct table *t, size_t i)
{
	struct view kind = table_text(c, t, i, "kind");

	return kind.p && view_is(kind, "minor");
}

const struct cuda_row *compat_cuda(struct compat *c, const char *cuda)
{
	struct table *t = cuda ? table_get(c, "cuda") : NULL;
	const char *minor;
	struct version v;
	size_t i;

	if (!t || !version_parse(view_of(cuda), &v) || v.n < 2)
		return NULL;
	minor = arena_printf(c->a, "%u.%u", v.part[0], v.part[1]);
	for (i = table_find(c, t, 0, "cuda", minor); i < t->n;
	     i = table_find(c, t, i + 1, "cuda", minor))
		if (is_minor(c, t, i))
			return cuda_at(c, t, i);
	return NULL;
}

static const char *minimum(const struct cuda_row *r, unsigned major, bool windows)
{
	if (major >= MINOR_COMPAT_FROM)
		return windows ? r->minor_min_windows : r->minor_min_linux;
	return windows ? r->min_driver_windows : r->min_driver_linux;
}

const char *compat_min_driver(struct compat *c, const char *cuda, bool windows, bool *ret_inferred)
{
	const struct cuda_row *r = compat_cuda(c, cuda);
	struct table *t;
	struct version v, w;
	const char *least;
	size_t i;

	if (ret_inferred)
		*ret_inferred = false;
	if (!cuda || !version_parse(view_of(cuda), &v) || v.n < 2)
		return NULL;
	if (r)
		return minimum(r, v.part[0], windows);
	/* Not listed: the rule speaks of the whole major from 11 on, of nothing before. */
	t = v.part[0] >= MINOR_COMPAT_FROM ? table_get(c, "cuda") : NULL;
	for (i = 0; t && i < t->n; i++) {
		if (!is_minor(c, t, i) || !(r = cuda_at(c, t, i)) || !r->cuda ||
		    !version_parse(view_of(r->cuda), &w) || w.part[0] != v.part[0])
			continue;
		least = minimum(r, v.part[0], windows);
		if (!least)
			continue;
		if (ret_inferred)
			*ret_inferred = true;
		return least;
	}
	return NULL;
}

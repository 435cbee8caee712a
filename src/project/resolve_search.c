/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates for PyTorch on the indexes of a step, by table, in the installer's order. Notes
 * nothing. */
#include <string.h>

#include "base/arena.h"
#include "project/resolve.h"

/* -------- candidates */

static bool on_pypi(struct site *t, const struct torch_row *r)
{
	const struct torch_row *const *rows;
	size_t i;

	if (r->pypi_default)
		return true;
	/* A release whose rows do not say: as its predecessor, CUDA 13 from PyPI. */
	if (strcmp(r->variant, "cu130") != 0 || !version_at_least(r->version, "2.15"))
		return false;
	rows = compat_torch_of_release(t->r->c, r->version);
	for (i = 0; rows[i]; i++)
		if (rows[i]->pypi_default)
			return false;
	return true;
}

static bool index_holds(struct site *t, const struct index *i, const struct torch_row *r)
{
	switch (i->kind) {
	case INDEX_PYPI:
		return on_pypi(t, r);
	case INDEX_TORCH:
		return strcmp(i->variant, r->variant) == 0;
	case INDEX_ALL:
		return true;
	case INDEX_NIGHTLY:
	case INDEX_OTHER:
		break;
	}
	return false;
}

/* glibc and Python of the row serve this site? */
enum serves row_serves(struct site *t, const struct torch_row *r)
{
	if (r->n_python && !python_in(t, r->python) &&
	    !(r->python_experimental && python_in(t, r->python_experimental)))
		return NO_PYTHON;
	if (t->glibc && r->min_glibc && !version_at_least(t->glibc, r->min_glibc))
		return NO_GLIBC;
	return SERVES;
}

const struct candidate *candidates(struct site *t, size_t *ret_n)
{
	struct project_reader *r = t->r;
	struct view version, platform, variant;
	struct candidate *list = NULL, c;
	size_t i, n = 0;

	if (!r->candidates) {
		for (i = 0; compat_torch_key(r->c, i, &version, &platform, &variant); i++) {
			c = (struct candidate){ .number = i,
						.platform = platform,
						.variant = variant };
			c.release = view_dup(r->a, version);
			c.build = arena_printf(r->a, "%s+%.*s", c.release, (int)variant.n,
					       variant.n ? variant.p : "");
			if (pep440_parse(view_of(c.release), &c.v_release) &&
			    pep440_parse(view_of(c.build), &c.v_build))
				*ARENA_APPEND(r->a, list, n) = c;
		}
		r->candidates = list;
		r->n_candidates = n;
	}
	*ret_n = r->n_candidates;
	return r->candidates;
}

static void consider(struct site *t, const struct index *i, const struct candidate *c,
		     const struct search *q, struct pick *best)
{
	bool plain = i->kind == INDEX_PYPI;
	struct pick p = { .index = i,
			  .text = plain ? c->release : c->build,
			  .v = plain ? c->v_release : c->v_build };

	if (!view_is(c->platform, t->platform) || i->kind == INDEX_OTHER ||
	    i->kind == INDEX_NIGHTLY ||
	    (i->kind == INDEX_TORCH && !view_is(c->variant, i->variant)))
		return;
	if ((best->row && pep440_cmp(&p.v, &best->v) <= 0) ||
	    !pep440_spec_holds(&q->parsed, &p.v, view_of(p.text)))
		return;
	/* Only what may win is parsed. */
	p.row = compat_torch_at(t->r->c, c->number);
	if (!p.row || !index_holds(t, i, p.row) ||
	    (!q->any_target && row_serves(t, p.row) != SERVES))
		return;
	*best = p;
}

static bool index_has_package(struct site *t, const struct index *i)
{
	const struct candidate *list;
	size_t k, n;

	list = candidates(t, &n);
	for (k = 0; k < n; k++)
		if (view_is(list[k].platform, t->platform) &&
		    (i->kind == INDEX_PYPI || i->kind == INDEX_ALL ||
		     (i->kind == INDEX_TORCH && view_is(list[k].variant, i->variant))))
			return true;
	return false;
}

struct pick search(struct site *t, const struct sources *src, const struct search *asked)
{
	struct pick best = { .row = NULL };
	struct search q = *asked;
	const struct candidate *list;
	const char *what;
	size_t i, k, n, at;

	if (!pep440_spec_parse(t->r->a, view_of(q.spec), &q.parsed, &at, &what))
		return best;
	list = candidates(t, &n);
	for (i = 0; i < src->n; i++) {
		/* From the newest on, so that most need no second look. */
		for (k = n; k-- > 0;)
			consider(t, &src->v[i], &list[k], &q, &best);
		if (src->ordered && index_has_package(t, &src->v[i]))
			break;
	}
	return best;
}

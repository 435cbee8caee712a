/* SPDX-License-Identifier: Apache-2.0 */
/* Why an installer finds no PyTorch: tag, release, label, Python, glibc or platform. */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "project/resolve.h"

bool variant_exists(struct site *t, const char *variant, const char *release)
{
	const struct candidate *list;
	size_t n, i;

	list = candidates(t, &n);
	for (i = 0; i < n; i++)
		if (view_is(list[i].variant, variant) &&
		    (!release || strcmp(list[i].release, release) == 0))
			return true;
	return false;
}

/* Has the variant any build for this platform? */
static bool variant_here(struct site *t, const char *variant)
{
	const struct candidate *list;
	size_t n, i;

	list = candidates(t, &n);
	for (i = 0; i < n; i++)
		if (view_is(list[i].platform, t->platform) && view_is(list[i].variant, variant))
			return true;
	return false;
}

/* Any release of the table, whatever index or platform, that the spec without labels allows. */
static bool release_exists(struct site *t, const char *spec, bool here)
{
	const struct candidate *list;
	struct pep440_spec parsed;
	const char *what;
	size_t n, i, at;

	if (!pep440_spec_parse(t->r->a, view_of(spec), &parsed, &at, &what))
		return false;
	list = candidates(t, &n);
	for (i = 0; i < n; i++)
		if ((!here || view_is(list[i].platform, t->platform)) &&
		    pep440_spec_holds(&parsed, &list[i].v_release, view_of(list[i].release)))
			return true;
	return false;
}

const char *without_local(struct site *t, const char *spec, const char **ret_local)
{
	struct strbuf b;
	size_t n;

	strbuf_init(&b, t->r->a);
	*ret_local = NULL;
	while (*spec) {
		n = strcspn(spec, "+");
		strbuf_addn(&b, spec, n);
		spec += n;
		if (*spec == '+') {
			n = strcspn(spec, ",");
			*ret_local = arena_strndup(t->r->a, spec + 1, n - 1);
			spec += n;
		}
	}
	return b.s;
}

void note_fault(struct site *t, struct wanted *o, const char *what, const struct want *w)
{
	fact_set(&o->fault, what, source_at(t, &w->at));
}

void why_none(struct site *t, struct wanted *o, const struct sources *src,
		     const char *spec, const struct want *w)
{
	struct search any = { .spec = spec, .any_target = true };
	struct pick p = search(t, src, &any);
	const char *local, *bare, *exact, *label;
	size_t i;

	if (src->unknown)
		return;
	if (p.row) {
		put_pick(t, o, &p, w);
		note_fault(t, o, row_serves(t, p.row) == NO_PYTHON ? "python" : "glibc", w);
		return;
	}
	bare = without_local(t, spec, &local);
	fact_set(&o->version, want_exact(t, w) ? want_exact(t, w) : NULL, source_at(t, &w->at));
	for (i = 0; i < src->n; i++)
		if (src->v[i].kind == INDEX_TORCH) {
			fact_set(&o->index, src->v[i].url,
				 source_at(t, src->v[i].at.file ? &src->v[i].at : &w->at));
			fact_set(&o->variant, src->v[i].variant, o->index.source);
		}
	if (local)
		fact_set(&o->variant, local, source_at(t, &w->at));
	/* Below the first and above the last release of the table nothing is known. */
	if (!release_exists(t, bare, false))
		return;
	if (local && !variant_exists(t, local, NULL) && strncmp(local, "cu", 2) != 0)
		return;
	/* Builds for other makers' GPUs are on an index that no table lists. */
	if (fact_is(&o->variant, "xpu"))
		return;
	exact = want_exact(t, w) ? without_local(t, want_exact(t, w), &label) : NULL;
	if (fact_known(&o->variant) && !variant_exists(t, o->variant.value, NULL))
		note_fault(t, o, "tag", w);
	else if (!release_exists(t, bare, true) ||
		 (fact_known(&o->variant) && !variant_here(t, o->variant.value)))
		note_fault(t, o, "platform", w);
	else if (local && release_exists(t, bare, true) && !fact_known(&o->index) &&
		 variant_exists(t, local, exact))
		note_fault(t, o, "label", w);
	else
		note_fault(t, o, "release", w);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the answer together: choice, alternatives, refusals. */
#include <string.h>

#include "base/arena.h"
#include "plan/solve.h"

static struct plan_build *add(const struct solver *s, struct plan_build **list, size_t *n,
			      const struct judged *v)
{
	struct plan_build *b = ARENA_APPEND(s->a, *list, *n);

	b->torch = v->build->row;
	b->version = b->torch->version;
	b->cuda = b->torch->cuda;
	if (v->python >= 0)
		b->python = s->t->pythons[v->python].text;
	return b;
}

static void add_reasons(const struct solver *s, const struct judged *v, struct plan_build *b)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		*ARENA_APPEND(s->a, b->reasons, b->n_reasons) = reason_of(s, v, &v->v[i]);
}

static bool has(const struct judged *v, enum violation_kind kind)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		if (v->v[i].kind == kind)
			return true;
	return false;
}

/* Newer than what was chosen, wished for, and yet not to be recommended: worth a word. */
static bool unverified_newer(const struct solver *s, const struct judged *v,
			     const struct judged *best)
{
	/* Without a choice only the newest of all is news. */
	if (!best && version_cmp(&v->build->release, &s->verdicts[0].build->release) != 0)
		return false;
	return v->build->kind == BUILD_CUDA && has(v, V_UNVERIFIED) && !has(v, V_LIMIT) &&
	       !has(v, V_NO_CUDA) &&
	       (!best || version_cmp(&v->build->release, &best->build->release) > 0);
}

static const char *why_not_best(const struct solver *s, const struct judged *v,
				const struct judged *best)
{
	if (v->fit == ARCH_FIT_PTX && best->fit == ARCH_FIT_SASS)
		return _("some GPU would run it through PTX alone");
	if (version_cmp(&v->build->release, &best->build->release) < 0)
		return _("an older release");
	if (best->native && !v->native)
		return arena_printf(s->a, _("the driver's own CUDA is %s"),
				    s->t->driver_cuda ? s->t->driver_cuda : "?");
	return best->build->row->pypi_default ? _("not the build that PyPI serves")
					      : _("an older CUDA");
}

static void sort_builds(const struct solver *s, struct plan *p, const struct judged *best,
			bool brief)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct judged *v = &s->verdicts[i];
		struct plan_build *b;

		if (v == best)
			continue;
		if (v->fits && best) {
			b = add(s, &p->alternatives, &p->n_alternatives, v);
			b->why = why_not_best(s, v, best);
		} else if (unverified_newer(s, v, best)) {
			b = add(s, &p->alternatives, &p->n_alternatives, v);
			add_reasons(s, v, b);
		} else if (!brief) {
			b = add(s, &p->refused, &p->n_refused, v);
			add_reasons(s, v, b);
		}
	}
}

static void refuse_offers(const struct solver *s, struct plan *p, int python)
{
	size_t w, i;

	for (w = 0; w < s->w->n; w++) {
		for (i = 0; s->offers[w] && s->ever_asked[w] && i < s->offers[w]->n; i++) {
			const struct offer *o = &s->offers[w]->v[i];
			size_t n;
			struct plan_reason *reasons = reasons_of_offer(s, w, i, &n);
			struct plan_build *b;

			if (n)
				b = ARENA_APPEND(s->a, p->refused, p->n_refused);
			else if (python >= 0 && solver_offer(s, w, NULL, (size_t)python, NULL) != o)
				b = ARENA_APPEND(s->a, p->alternatives, p->n_alternatives);
			else
				continue;
			b->package = o->dist ? o->dist : s->w->v[w].product->name;
			b->version = o->version;
			b->cuda = o->cuda;
			b->reasons = reasons;
			b->n_reasons = n;
			b->why = n ? NULL : _("an older release or another flavour");
		}
	}
}

const struct plan *plan_solve(struct arena *a, struct matrix *m, const struct plan_target *t,
			      const struct wishes *w, const struct plan_options *o)
{
	struct plan *p = arena_alloc(a, sizeof(*p));
	struct solver *s = arena_alloc(a, sizeof(*s));
	const struct judged *best = NULL;
	int python = -1;

	p->target = t;
	solver_init(s, a, m, t, w);
	if (w->torch) {
		solver_judge(s);
		best = solver_best(s);
		p->chosen = best ? choice_of(s, best) : NULL;
		sort_builds(s, p, best, o->brief);
	} else {
		python = solver_python(s);
		p->chosen = python >= 0 ? choice_without_torch(s, python) : NULL;
		if (!o->brief)
			refuse_offers(s, p, python);
	}
	if (!p->chosen)
		unfit_fill(s, p, o->brief);
	else if (!o->brief)
		driver_fill(s, p);
	if (o->driver_upgrade || (!o->brief && p->chosen))
		p->upgrade = upgrade_of(s, best, &p->upgrade_driver);
	return p;
}

/* -------- folding */

static const char *folded(const struct plan_reason *r)
{
	return r->folded ? r->folded : r->text;
}

/*
 * What a table says of a build: a build without CUDA is out for that alone, one that the
 * requirements leave out for that; the rest of its reasons is in the JSON form.
 */
static struct plan_build essence(struct arena *a, const struct plan_build *b)
{
	struct plan_build e = *b;
	size_t i;

	e.reasons = NULL;
	e.n_reasons = 0;
	for (i = 0; i < b->n_reasons; i++) {
		enum finding_id id = b->reasons[i].id;

		if (id == FINDING_CPU_ONLY_WHEEL || id == FINDING_ROCM_BUILD_ON_NVIDIA ||
		    id == FINDING_GPU_NOT_FOUND) {
			e.reasons = &b->reasons[i];
			e.n_reasons = 1;
			return e;
		}
		if (b->reasons[i].folded)
			*ARENA_APPEND(a, e.reasons, e.n_reasons) = b->reasons[i];
	}
	if (!e.n_reasons) {
		e.reasons = b->reasons;
		e.n_reasons = b->n_reasons;
	}
	return e;
}

static bool same_reasons(const struct plan_build *a, const struct plan_build *b)
{
	size_t i;

	if (a->n_reasons != b->n_reasons)
		return false;
	for (i = 0; i < a->n_reasons; i++)
		if (a->reasons[i].id != b->reasons[i].id ||
		    strcmp(folded(&a->reasons[i]), folded(&b->reasons[i])) != 0)
			return false;
	return true;
}

static const char *variant_of(const struct plan_build *b)
{
	if (b->torch && !b->torch->cuda && strncmp(b->torch->variant, "rocm", 4) == 0)
		return "rocm";
	return b->torch ? b->torch->variant : b->cuda ? b->cuda : "";
}

static bool listed(const char *list, const char *word)
{
	struct view rest = view_of(list), one;

	while (rest.n) {
		one = view_trim(view_cut(rest, ',', &rest));
		if (view_is(one, word))
			return true;
	}
	return false;
}

static bool same_package(const struct plan_build *a, const struct plan_build *b)
{
	return a->package == b->package ||
	       (a->package && b->package && strcmp(a->package, b->package) == 0);
}

struct plan_fold *plan_fold(struct arena *a, const struct plan *p, size_t *ret_n)
{
	struct plan_fold *list = NULL;
	struct plan_build *firsts = arena_calloc(a, p->n_refused + 1, sizeof(*firsts)), e;
	size_t *reached = arena_calloc(a, p->n_refused + 1, sizeof(*reached)), n = 0, i, k,
	       rank = 0;

	for (i = 0; i < p->n_refused; i++) {
		const struct plan_build *b = &e;
		struct plan_fold *f;

		e = essence(a, &p->refused[i]);

		/* Releases are numbered as they come, so that a gap in a range is seen. */
		rank += i && strcmp(b->version, p->refused[i - 1].version) != 0;
		for (k = 0; k < n; k++)
			if (reached[k] + 1 >= rank && same_package(&firsts[k], b) &&
			    same_reasons(&firsts[k], b))
				break;
		reached[k] = rank;
		if (k == n) {
			firsts[n] = e;
			f = ARENA_APPEND(a, list, n);
			*f = (struct plan_fold){ .first = b->version,
						 .last = b->version,
						 .variants = variant_of(b),
						 .reasons = b->reasons,
						 .n_reasons = b->n_reasons,
						 .n = 1,
						 .n_variants = 1 };
			f->package = b->package;
			continue;
		}
		f = &list[k];
		f->n++;
		f->n_variants += !listed(f->variants, variant_of(b));
		f->first = b->version; /* refused builds come newest first */
		if (!listed(f->variants, variant_of(b)))
			f->variants = arena_printf(a, "%s, %s", f->variants, variant_of(b));
	}
	*ret_n = n;
	return list;
}

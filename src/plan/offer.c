/* SPDX-License-Identifier: Apache-2.0 */
/* Which release of a package goes with a build of torch and a Python. */
#include <string.h>

#include "base/arena.h"
#include "plan/solve.h"

bool offer_python(const struct solver *s, const struct offer *o, size_t python)
{
	const struct plan_python *p = &s->t->pythons[python];
	size_t i;

	/* Of the add-ons none is known to publish for free-threaded Pythons. */
	if (p->threaded || (!o->any_python && !((o->minors >> p->minor) & 1)))
		return false;
	for (i = 0; i < o->python_spec.n; i++)
		if (!pep440_clause_holds(&o->python_spec.clauses[i], &s->python[python],
					 view_of(p->full)))
			return false;
	return true;
}

static bool lists_torch(const struct solver *s, const struct offer *o, const struct build *b)
{
	struct version v;
	size_t i;

	for (i = 0; i < o->n_torch; i++) {
		if (o->torch_exact ? version_parse(view_of(o->torch[i]), &v) &&
					     version_cmp(&v, &b->release) == 0
				   : pep440_text_holds(s->a, o->torch[i], b->row->version))
			return true;
	}
	return !o->n_torch;
}

static bool lists_cuda(const struct offer *o, const struct build *b)
{
	struct version v;
	size_t i;

	for (i = 0; i < o->n_builds; i++) {
		if (o->match == MATCH_VARIANT) {
			if (strcmp(o->builds[i], b->row->variant) == 0)
				return true;
		} else if (version_prefix(view_of(o->builds[i]), &v) &&
			   v.part[0] == b->cuda.part[0] &&
			   (o->match == MATCH_MAJOR || v.part[1] == b->cuda.part[1])) {
			return true;
		}
	}
	return false;
}

/* Frameworks share cuDNN's wheel with torch when the CUDA major is the same: it has to be new
 * enough for both. */
static bool shares_cudnn(const struct offer *o, const struct build *b)
{
	struct version own, torch;

	if (!o->cudnn || !b->row->cudnn || cuda_major(o->cuda) != b->cuda.part[0])
		return true;
	if (!version_prefix(view_of(o->cudnn), &own) ||
	    !version_prefix(view_of(b->row->cudnn), &torch))
		return true;
	return own.part[0] == torch.part[0] && (own.n < 2 || torch.part[1] >= own.part[1]);
}

bool offer_torch(const struct solver *s, const struct offer *o, const struct build *b)
{
	if (!b)
		return true;
	if (!lists_torch(s, o, b) || !shares_cudnn(o, b))
		return false;
	switch (o->match) {
	case MATCH_NONE:
		/* ONNX Runtime takes CUDA and cuDNN from torch (facts.notes), so the majors have to
		 * agree. */
		return !o->series || cuda_major(o->cuda) == b->cuda.part[0];
	case MATCH_DEFAULT:
		return b->row->pypi_default;
	case MATCH_MAJOR:
	case MATCH_MINOR:
	case MATCH_VARIANT:
		return lists_cuda(o, b);
	}
	return false;
}

uint64_t offer_atoms(const struct solver *s, size_t wish, size_t i, size_t python)
{
	const struct offer_state *st = &s->states[wish][i];
	uint64_t atoms = st->hw;

	if (python >= s->t->n_pythons)
		return atoms;
	if (s->t->python_known && !offer_python(s, &s->offers[wish]->v[i], python))
		atoms |= ATOM(ATOM_PYTHON);
	return atoms | (st->bad & s->applies[python]) << ATOM_LIMIT;
}

/* Among the flavours of one release. */
static bool better(const struct offer *a, const struct offer_state *sa, const struct offer *b,
		   const struct offer_state *sb, unsigned torch_major)
{
	bool with_a = cuda_major(a->cuda) == torch_major,
	     with_b = cuda_major(b->cuda) == torch_major;

	if (sa->fit != sb->fit)
		return sa->fit > sb->fit;
	if (torch_major && with_a != with_b)
		return with_a;
	if (sa->native != sb->native)
		return sa->native;
	return cuda_major(a->flavour) > cuda_major(b->flavour);
}

const struct offer *solver_offer(const struct solver *s, size_t wish, const struct build *b,
				 size_t python, const struct offer_state **ret_state)
{
	const struct offers *list = s->offers[wish];
	const struct offer *best = NULL;
	const struct offer_state *best_state = NULL;
	size_t i;

	for (i = 0; i < list->n; i++) {
		const struct offer *o = &list->v[i];
		const struct offer_state *st = &s->states[wish][i];

		if (best && pep440_cmp(&o->number, &best->number) != 0)
			break;
		if (o->unverified || st->hw || (st->bad & s->applies[python]) ||
		    !offer_python(s, o, python) || !offer_torch(s, o, b))
			continue;
		if (best && !better(o, st, best, best_state, b ? b->cuda.part[0] : 0))
			continue;
		best = o;
		best_state = st;
	}
	if (ret_state)
		*ret_state = best_state;
	return best;
}

int solver_python(const struct solver *s)
{
	const struct offer *best[WISHES_MAX] = { NULL }, *now[WISHES_MAX] = { NULL };
	int chosen = -1, r;
	size_t i, w;

	for (i = 0; i < s->t->n_pythons; i++) {
		bool all = true;

		for (w = 0; w < s->w->n && all; w++) {
			now[w] = s->asked[i][w] ? solver_offer(s, w, NULL, i, NULL) : NULL;
			all = now[w] || !s->asked[i][w];
		}
		if (!all)
			continue;
		for (r = 0, w = 0; w < s->w->n && !r && chosen >= 0; w++)
			r = now[w] && best[w] ? pep440_cmp(&now[w]->number, &best[w]->number) : 0;
		if (chosen >= 0 && r <= 0)
			continue;
		chosen = (int)i;
		memcpy(best, now, sizeof(best));
	}
	return chosen;
}

/* Do all limits that the user set hold for this version? */
static bool allowed(const struct solver *s, size_t wish, const char *text)
{
	struct pep440 v;
	size_t i;

	if (!pep440_parse(view_of(text), &v))
		return false;
	for (i = 0; i < s->w->n_limits; i++)
		if (s->w->limits[i].wish == wish &&
		    !pep440_clause_holds(s->w->limits[i].clause, &v, view_of(text)))
			return false;
	return true;
}

const char *offer_version(const struct solver *s, size_t wish, const struct offer *o)
{
	size_t i;

	if (o->to && allowed(s, wish, o->to))
		return o->to;
	if (allowed(s, wish, o->version))
		return o->version;
	for (i = 0; i < s->w->n_limits; i++) {
		const struct limit *l = &s->w->limits[i];

		if (l->wish == wish && l->clause->op == PEP440_EQ && !l->clause->wild)
			return view_dup(s->a, l->clause->raw);
	}
	return o->version;
}

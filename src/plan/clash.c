/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest set of conditions that no build meets together. Pure search over bits. */
#include <string.h>

#include "base/arena.h"
#include "plan/solve.h"

enum { ATOMS_SEARCHED = 14, SIZE_MAX_SEARCHED = 6 };

/* One build: each mask is a set of atoms that rules it out. */
struct option {
	uint64_t masks[12];
	size_t n;
};

struct clash {
	struct option *v;
	size_t n;
	unsigned atoms[64];
	size_t n_atoms;
};

static void option_add(struct option *o, uint64_t mask)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		if (o->masks[i] == mask)
			return;
	if (o->n < ARRAY_LEN(o->masks))
		o->masks[o->n++] = mask;
}

/* Builds that nothing could make fit are no options. */
static void options_of_torch(const struct solver *s, struct clash *c)
{
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		const struct judged *v = &s->verdicts[i];
		struct option o = { .n = 0 };

		for (k = 0; k < v->n && v->v[k].mask; k++)
			option_add(&o, v->v[k].mask);
		if (k == v->n && o.n)
			*ARENA_APPEND(s->a, c->v, c->n) = o;
	}
}

static void options_of_wish(const struct solver *s, struct clash *c, size_t wish)
{
	size_t i;
	unsigned bit;

	for (i = 0; i < s->offers[wish]->n; i++) {
		uint64_t atoms = offer_atoms(s, wish, i, 0);
		struct option o = { .n = 0 };

		if (s->offers[wish]->v[i].unverified)
			continue;
		for (bit = 0; bit < 64; bit++)
			if (atoms & ATOM(bit))
				option_add(&o, ATOM(bit));
		if (o.n)
			*ARENA_APPEND(s->a, c->v, c->n) = o;
	}
}

static bool ruled_out(const struct clash *c, uint64_t set)
{
	size_t i, k;

	for (i = 0; i < c->n; i++) {
		for (k = 0; k < c->v[i].n && (c->v[i].masks[k] & ~set); k++)
			continue;
		if (k == c->v[i].n)
			return false;
	}
	return true;
}

/* The next larger number with as many bits set; 0 at the end of `n` bits. */
static uint64_t next_of_size(uint64_t x, size_t n)
{
	uint64_t low = x & -x, up = x + low;

	x = up | (((x ^ up) >> 2) / low);
	return x >> n ? 0 : x;
}

static uint64_t spread(const struct clash *c, uint64_t picks)
{
	uint64_t set = 0;
	size_t i;

	for (i = 0; i < c->n_atoms; i++)
		if (picks & ATOM(i))
			set |= ATOM(c->atoms[i]);
	return set;
}

static void collect_atoms(struct clash *c)
{
	uint64_t all = 0;
	size_t i, k;
	unsigned bit;

	for (i = 0; i < c->n; i++)
		for (k = 0; k < c->v[i].n; k++)
			all |= c->v[i].masks[k];
	/* What the user wrote is named before what the machine is. */
	for (bit = 64; bit-- > 0;)
		if (all & ATOM(bit))
			c->atoms[c->n_atoms++] = bit;
}

static uint64_t smallest(const struct clash *c)
{
	uint64_t all = spread(c, c->n_atoms < 64 ? ATOM(c->n_atoms) - 1 : UINT64_MAX), picks, set;
	size_t size, i;

	if (!ruled_out(c, all))
		return 0;
	for (size = 1;
	     size <= SIZE_MAX_SEARCHED && size <= c->n_atoms && c->n_atoms <= ATOMS_SEARCHED;
	     size++)
		for (picks = ATOM(size) - 1; picks; picks = next_of_size(picks, c->n_atoms))
			if (ruled_out(c, set = spread(c, picks)))
				return set;
	/* Many conditions: leave out one after the other, which gives a set that has none too many.
	 */
	for (i = c->n_atoms; i-- > 0;)
		if (ruled_out(c, all & ~ATOM(c->atoms[i])))
			all &= ~ATOM(c->atoms[i]);
	return all;
}

static bool any_other_flavor(const struct plan_target *t)
{
	size_t i;

	for (i = 0; i < t->n_gpus; i++)
		if (t->gpus[i].other_flavor)
			return true;
	return false;
}

static void name_atom(const struct solver *s, struct plan *p, unsigned bit, uint64_t set)
{
	const struct plan_target *t = s->t;
	struct plan_clash c = { .from = _("the target") };
	size_t i;

	if (bit == ATOM_PYTHON) {
		c.what =
			arena_printf(s->a, _("Python %s"), t->n_pythons ? t->pythons[0].text : "?");
	} else if (bit == ATOM_DRIVER) {
		/* Without a version only its flavour can clash. */
		c.what = !t->driver ? arena_printf(s->a, "driver-flavor %s",
						   t->flavor ? t->flavor : "?")
			 : any_other_flavor(t)
				 ? arena_printf(s->a, _("driver %s (%s)"), t->driver, t->flavor)
				 : arena_printf(s->a, _("driver %s"), t->driver);
	} else if (bit == ATOM_GLIBC) {
		c.what = arena_printf(s->a, _("glibc %s"), t->glibc ? t->glibc : "?");
	} else if (bit == ATOM_PLATFORM) {
		c.what = arena_printf(s->a, "%s%s", t->platform, t->musl ? _(" with musl") : "");
	} else if (bit < ATOM_LIMIT) {
		i = bit - ATOM_GPU;
		p->gpu_clash = true;
		c.what = view_find(view_of(t->gpus[i].name), "capability") >= 0
				 ? t->gpus[i].name
				 : arena_printf(s->a, _("%s (compute capability %s)"),
						t->gpus[i].name, cc_text(s->a, t->gpus[i].cc));
	} else if (bit < ATOM_ASK) {
		c.what = s->w->limits[bit - ATOM_LIMIT].text;
		c.from = s->w->limits[bit - ATOM_LIMIT].requirement->from;
	} else {
		i = bit - ATOM_ASK;
		/* The clause on a package says that it is asked for. */
		if ((set >> ATOM_LIMIT) & s->w->v[i].limits)
			return;
		c.what = s->w->v[i].product->name;
		c.from = s->w->v[i].n_asked ? s->w->v[i].asked[0]->from : _("the target");
	}
	*ARENA_APPEND(s->a, p->clash, p->n_clash) = c;
}

void clash_fill(const struct solver *s, struct plan *p)
{
	struct clash c = { .n = 0 };
	uint64_t set;
	unsigned bit;
	size_t w;

	if (s->w->torch) {
		options_of_torch(s, &c);
	} else {
		for (w = 0; w < s->w->n && !c.n; w++)
			if (s->offers[w] && s->ever_asked[w] && s->t->n_pythons &&
			    !solver_offer(s, w, NULL, 0, NULL))
				options_of_wish(s, &c, w);
	}
	collect_atoms(&c);
	set = c.n ? smallest(&c) : 0;
	for (bit = 64; bit-- > 0;)
		if (set & ATOM(bit))
			name_atom(s, p, bit, set);
}

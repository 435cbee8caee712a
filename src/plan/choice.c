/* SPDX-License-Identifier: Apache-2.0 */
/* The chosen set: torch, what goes with it, and the sentences that say why. */
#include <string.h>

#include "base/arena.h"
#include "plan/solve.h"

static void say(const struct solver *s, struct plan_choice *c, const char *sentence)
{
	*ARENA_APPEND(s->a, c->why, c->n_why) = sentence;
}

/* "flash-attn==2.8.3", "jax[cuda12,k8s]==0.11.0", "onnxruntime-gpu[cuda,cudnn]==1.26.*" */
static const char *pin(const struct solver *s, size_t wish, const struct offer *o,
		       const char *version)
{
	const char *name = o->dist ? o->dist : s->w->v[wish].product->name;
	const char *own = o->extra, *asked = s->w->v[wish].extras;
	bool series = o->series && strcmp(version, o->version) == 0;
	struct strbuf b;

	strbuf_init(&b, s->a);
	strbuf_add(&b, name);
	if (own || asked)
		strbuf_printf(&b, "[%s%s%s]", own ? own : "",
			      own && asked && strcmp(own, asked) != 0 ? "," : "",
			      asked && (!own || strcmp(own, asked) != 0) ? asked : "");
	strbuf_printf(&b, "==%s%s", version, series ? ".*" : "");
	return b.s;
}

static const char *note_of(const struct solver *s, const struct offer *o,
			   const struct offer_state *st)
{
	struct strbuf b;

	strbuf_init(&b, s->a);
	if (!o->n_archs && o->cuda && !o->builds)
		strbuf_add(&b, _("for which GPUs its binaries hold code is not in the matrix"));
	if (st->fit == ARCH_FIT_PTX) {
		strbuf_sep(&b, "; ");
		strbuf_add(&b,
			   _("some GPU runs it through PTX, which is compiled at the first start"));
	}
	if (o->any_python && !o->python) {
		strbuf_sep(&b, "; ");
		strbuf_add(&b, _("for which Pythons it has wheels is not in the matrix"));
	}
	if (o->doubtful) {
		strbuf_sep(&b, "; ");
		strbuf_add(&b, _("rests on a thin source"));
	}
	return b.n ? b.s : NULL;
}

static void add_packages(const struct solver *s, struct plan_choice *c, const struct build *b,
			 size_t python)
{
	size_t w;

	for (w = 0; w < s->w->n; w++) {
		const struct offer_state *st;
		const struct offer *o;
		struct plan_package *p;

		if (!s->offers[w] || !s->asked[python][w])
			continue;
		o = solver_offer(s, w, b, python, &st);
		if (!o)
			continue;
		p = ARENA_APPEND(s->a, c->packages, c->n_packages);
		p->name = o->dist ? o->dist : s->w->v[w].product->name;
		p->version = offer_version(s, w, o);
		p->pin = pin(s, w, o, p->version);
		p->cuda = s->w->v[w].product->family == FAMILY_FRAMEWORK ? o->cuda : NULL;
		p->note = note_of(s, o, st);
		p->find_links = o->find_links;
	}
}

static const char *capabilities(const struct solver *s)
{
	struct strbuf b;
	size_t i, k;

	strbuf_init(&b, s->a);
	for (i = 0; i < s->t->n_gpus; i++) {
		for (k = 0; k < i && s->t->gpus[k].cc != s->t->gpus[i].cc; k++)
			continue;
		if (k < i)
			continue;
		strbuf_sep(&b, ", ");
		strbuf_printf(&b, "sm_%d", s->t->gpus[i].cc);
	}
	return b.s;
}

static void say_python(const struct solver *s, struct plan_choice *c)
{
	const struct plan_python *p = c->python;

	if (!s->t->python_known)
		say(s, c,
		    arena_printf(
			    s->a,
			    _("Python %s: none was given, and it is the newest that the choice supports."),
			    p->text));
	else if (!p->active && s->t->pythons[0].active)
		say(s, c,
		    arena_printf(
			    s->a,
			    _("Python %s (%s): the active one, %s, would not allow this release."),
			    p->text, p->where ? p->where : "-", s->t->pythons[0].text));
}

static void say_torch(const struct solver *s, struct plan_choice *c, const struct judged *v)
{
	const struct torch_row *r = c->torch;
	const char *limited =
		s->w->n_limits || c->n_packages ? _(" that the requirements allow") : "";
	const char *least = v->build->min_driver[s->t->windows];

	if (!r->cuda)
		say(s, c,
		    arena_printf(s->a, _("torch %s for the CPU: the newest release%s."), r->version,
				 limited));
	else if (!s->t->n_gpus)
		say(s, c,
		    arena_printf(
			    s->a,
			    _("torch %s: the newest release%s; no GPU was given, so none limits it."),
			    r->version, limited));
	else if (c->ptx)
		say(s, c,
		    arena_printf(
			    s->a,
			    _("torch %s: no release%s has code for all of %s, and this is the newest that "
			      "serves them through PTX, which the driver compiles at the first start."),
			    r->version, limited, capabilities(s)));
	else
		say(s, c,
		    arena_printf(
			    s->a,
			    _("torch %s: the newest release%s that has code for %s and runs here."),
			    r->version, limited, capabilities(s)));
	if (!r->cuda || !s->t->driver)
		return;
	if (c->native)
		say(s, c,
		    arena_printf(s->a, _("%s: driver %s knows CUDA %s itself%s."), r->variant,
				 s->t->driver, r->cuda,
				 r->pypi_default ? _(", and it is the build that PyPI serves")
						 : ""));
	else
		say(s, c,
		    arena_printf(
			    s->a,
			    _("%s: CUDA %s is newer than the driver's own %s and runs by minor-version "
			      "compatibility (driver >= %s)."),
			    r->variant, r->cuda, s->t->driver_cuda ? s->t->driver_cuda : "?",
			    least ? least : "?"));
}

const char *flavor_sentence(const struct solver *s, const struct plan_gpu *g)
{
	return strcmp(g->flavor, "open") == 0
		       ? arena_printf(s->a,
				      _("%s works with the driver's open kernel modules alone."),
				      g->name)
		       : arena_printf(
				 s->a,
				 _("%s works with the driver's proprietary kernel modules alone."),
				 g->name);
}

/* Which kernel modules the driver has to have, unless it is there and has them. */
static void say_flavor(const struct solver *s, struct plan_choice *c)
{
	const struct plan_gpu *g;
	size_t i;

	for (i = 0; i < s->t->n_gpus && !s->t->flavor; i++) {
		g = &s->t->gpus[i];
		if (!g->flavor)
			continue;
		say(s, c, flavor_sentence(s, g));
		return;
	}
}

struct plan_choice *choice_of(const struct solver *s, const struct judged *v)
{
	struct plan_choice *c = arena_alloc(s->a, sizeof(*c));

	c->torch = v->build->row;
	c->cuda = c->torch->cuda;
	c->cudnn = c->torch->cudnn;
	c->python = &s->t->pythons[v->python];
	c->native = v->native;
	c->ptx = v->fit == ARCH_FIT_PTX;
	add_packages(s, c, v->build, (size_t)v->python);
	say_torch(s, c, v);
	say_python(s, c);
	say_flavor(s, c);
	commands_fill(s, c);
	return c;
}

struct plan_choice *choice_without_torch(const struct solver *s, int python)
{
	struct plan_choice *c = arena_alloc(s->a, sizeof(*c));
	size_t i;

	c->python = &s->t->pythons[python];
	c->native = true;
	add_packages(s, c, NULL, (size_t)python);
	for (i = 0; i < c->n_packages; i++) {
		if (!c->cuda)
			c->cuda = c->packages[i].cuda;
		say(s, c,
		    arena_printf(s->a, _("%s: the newest release in the matrix that fits%s%s."),
				 c->packages[i].pin, c->packages[i].note ? "; " : "",
				 c->packages[i].note ? c->packages[i].note : ""));
	}
	say_python(s, c);
	say_flavor(s, c);
	commands_fill(s, c);
	return c;
}

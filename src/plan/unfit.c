/* SPDX-License-Identifier: Apache-2.0 */
/* When nothing fits: why, what each GPU alone would get, and what would make it fit, the cheapest
 * first. */
#include <string.h>

#include "base/arena.h"
#include "plan/solve.h"
#include "rule/look.h"
#include "rule/remedy.h"

/* What is let go to see whether a build fits then. */
enum { LET_PYTHON = 1, LET_DRIVER = 2, LET_LIMITS = 4, LET_PACKAGES = 8, LET_FLAVOR = 16 };

struct loosened {
	struct plan_target t;
	struct wishes w;
	struct solver s;
	const struct judged *best;
	int python; /* without torch */
	const char *branch; /* the driver's, when it was let go */
};

/* The newest branch that still drives every GPU. */
static const char *highest_branch(const struct solver *s)
{
	const char *last = NULL;
	bool exact;
	size_t i;
	const struct driver_row *d;

	for (i = 0; i < s->t->n_gpus; i++) {
		const char *own = s->t->gpus[i].last_driver;

		if (own && (!last || look_branch(own) < look_branch(last)))
			last = own;
	}
	if (last)
		return last;
	d = compat_driver(s->m->c, "99999", &exact);
	return d ? arena_printf(s->a, "%d", d->branch) : NULL;
}

/* False: all GPUs have the flavour that they need. The mixed ones stay apart. */
static bool let_flavor(struct loosened *l)
{
	bool any = false;
	size_t i;

	for (i = 0; i < l->t.n_gpus; i++) {
		any = any || l->t.gpus[i].other_flavor;
		l->t.gpus[i].other_flavor = false;
	}
	l->t.flavor = NULL;
	return any;
}

static bool loosen_driver(const struct solver *s, struct loosened *l)
{
	size_t i;

	l->branch = highest_branch(s);
	if (!s->t->driver || !l->branch || look_branch(l->branch) == look_branch(s->t->driver))
		return false;
	l->t.driver = l->branch;
	l->t.driver_full = arena_printf(s->a, "%s.999.99", l->branch);
	l->t.driver_cuda = compat_driver_cuda(s->m->c, l->branch);
	/* It is installed anew, in the flavour that they need. */
	for (i = 0; i < l->t.n_gpus; i++)
		if (l->t.gpus[i].dropped || l->t.gpus[i].predates)
			let_flavor(l);
	for (i = 0; i < l->t.n_gpus; i++) {
		struct plan_gpu *g = &l->t.gpus[i];

		g->dropped = false;
		g->predates =
			g->first_driver && look_branch(l->branch) < look_branch(g->first_driver);
	}
	return true;
}

static void loosen_python(const struct solver *s, struct loosened *l)
{
	int minor;

	l->t.n_pythons = 0;
	l->t.python_known = false;
	for (minor = 31; minor > 4; minor--) {
		if (!(s->m->pythons & (UINT32_C(1) << minor)) || l->t.n_pythons == PLAN_PYTHONS)
			continue;
		l->t.pythons[l->t.n_pythons++] = (struct plan_python){
			.text = arena_printf(s->a, "3.%d", minor),
			.full = arena_printf(s->a, "3.%d", minor),
			.minor = minor,
		};
	}
}

static void loosen_limits(struct loosened *l)
{
	size_t i;

	l->w.n_limits = 0;
	for (i = 0; i < l->w.n; i++)
		l->w.v[i].limits = 0;
}

/* Torch alone, without what is built on it. */
static bool loosen_packages(struct loosened *l)
{
	bool any = false;
	size_t i;

	for (i = 0; l->w.torch && i < l->w.n; i++) {
		if (l->w.v[i].product->family == FAMILY_TORCH ||
		    l->w.v[i].product->family == FAMILY_PAIR)
			continue;
		any = any || l->w.v[i].n_asked;
		l->w.v[i].n_asked = 0;
	}
	return any;
}

static void resolve(const struct solver *s, struct loosened *l)
{
	solver_init(&l->s, s->a, s->m, &l->t, &l->w);
	if (!l->w.torch) {
		l->python = solver_python(&l->s);
		return;
	}
	solver_judge(&l->s);
	l->best = solver_best(&l->s);
	l->python = l->best ? l->best->python : -1;
}

/* NULL when it changes nothing or nothing fits even so. */
static struct loosened *loosen(const struct solver *s, unsigned what)
{
	struct loosened *l = arena_alloc(s->a, sizeof(*l));

	l->t = *s->t;
	l->w = *s->w;
	l->python = -1;
	if ((what & LET_PYTHON) && !s->t->python_known)
		return NULL;
	if ((what & LET_LIMITS) && !s->w->n_limits)
		return NULL;
	if ((what & LET_DRIVER) && !loosen_driver(s, l))
		return NULL;
	if ((what & LET_FLAVOR) && !let_flavor(l))
		return NULL;
	if ((what & LET_PACKAGES) && !loosen_packages(l))
		return NULL;
	if (what & LET_PYTHON)
		loosen_python(s, l);
	if (what & LET_LIMITS)
		loosen_limits(l);
	resolve(s, l);
	return l->python >= 0 ? l : NULL;
}

static const char *fitting(const struct loosened *l)
{
	struct plan_choice *c;

	if (l->best)
		return arena_printf(l->s.a, "torch %s", l->best->build->text);
	c = choice_without_torch(&l->s, l->python);
	return c->n_packages ? c->packages[0].pin : "";
}

static struct remedy *remedy(const struct solver *s, struct plan *p, const char *text)
{
	struct remedy *r = ARENA_APPEND(s->a, p->remedies, p->n_remedies);

	r->text = text;
	r->risk = RISK_CHANGES;
	return r;
}

static void command(const struct solver *s, struct remedy *r, const char *text)
{
	*ARENA_APPEND(s->a, r->commands, r->n_commands) = text;
}

static void install_commands(struct loosened *l, struct remedy *r, bool venv)
{
	struct plan_choice *c =
		l->best ? choice_of(&l->s, l->best) : choice_without_torch(&l->s, l->python);
	const struct plan_commands *cmd = &c->commands[venv ? TOOL_UV : TOOL_PIP];
	size_t i;

	for (i = 0; i < cmd->n; i++)
		if (!strchr(cmd->lines[i], '\n'))
			command(&l->s, r, cmd->lines[i]);
}

static void say_python(const struct solver *s, struct plan *p, struct loosened *l)
{
	struct remedy *r = remedy(s, p,
				  arena_printf(s->a, _("With Python %s instead of %s: %s."),
					       l->t.pythons[l->python].text, s->t->pythons[0].text,
					       fitting(l)));

	install_commands(l, r, true);
}

/* The distribution's own words for a driver come from where the rules have them. */
static void driver_remedies(const struct solver *s, struct plan *p, const char *branch)
{
	struct judge j = { .a = s->a, .s = s->t->s, .c = s->m->c };
	struct finding f = { .id = FINDING_DRIVER_TOO_OLD, .subject = "" };
	enum driver_kind kind = remedy_driver_kind(&j);
	size_t i;

	/* Where the GPUs leave it open the wish counts. */
	if (kind == DRIVER_ANY && s->t->flavor)
		kind = strcmp(s->t->flavor, "open") == 0 ? DRIVER_OPEN : DRIVER_PROPRIETARY;
	remedy_driver(&j, &f, branch, kind);
	for (i = 0; i < f.n_remedies; i++)
		*ARENA_APPEND(s->a, p->remedies, p->n_remedies) = f.remedies[i];
}

static const char *branch_for(const struct solver *s, const struct loosened *l)
{
	const char *cuda = l->best ? l->best->build->row->cuda : NULL, *branch;

	branch = cuda ? compat_recommended_branch(s->m->c, cuda) : NULL;
	if (!branch || look_branch(branch) > look_branch(l->branch))
		return l->branch;
	/* A branch older than the chip is none for it. */
	return look_branch(branch) < look_branch(s->t->driver) && !s->t->gpus[0].dropped ? l->branch
											 : branch;
}

static void say_driver(const struct solver *s, struct plan *p, struct loosened *l)
{
	const char *branch = branch_for(s, l);

	remedy(s, p,
	       arena_printf(s->a, _("With driver branch %s instead of %s: %s."), branch,
			    s->t->driver, fitting(l)))
		->needs_root = true;
	p->remedies[p->n_remedies - 1].needs_reboot = true;
	driver_remedies(s, p, branch);
}

static const char *flavor_text(const struct solver *s)
{
	return strcmp(s->t->flavor, "open") == 0
		       ? _("with the proprietary kernel modules instead of the open ones")
		       : _("with the open kernel modules instead of the proprietary ones");
}

/* The branch that is there, else one for what fits then. */
static void flavor_remedies(const struct solver *s, struct plan *p, const struct loosened *l)
{
	struct judge j = { .a = s->a, .s = s->t->s, .c = s->m->c };
	const char *cuda = l->best ? l->best->build->row->cuda : NULL;

	if (s->t->driver)
		driver_remedies(s, p, arena_printf(s->a, "%u", look_branch(s->t->driver)));
	else
		driver_remedies(s, p, cuda ? remedy_branch(&j, cuda) : NULL);
}

static void say_flavor(const struct solver *s, struct plan *p, struct loosened *l)
{
	struct remedy *r = remedy(s, p,
				  arena_printf(s->a, _("The driver %s: %s."), flavor_text(s),
					       fitting(l)));

	r->needs_root = true;
	r->needs_reboot = true;
	flavor_remedies(s, p, l);
}

static const char *clashing_limits(const struct solver *s, const struct plan *p)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, s->a);
	for (i = 0; i < p->n_clash; i++) {
		if (strcmp(p->clash[i].from, _("the target")) == 0)
			continue;
		strbuf_sep(&b, ", ");
		strbuf_add(&b, p->clash[i].what);
	}
	return b.n ? b.s : _("the limits on versions");
}

/* One limit of the clash after the other: the first that is enough to let go. */
static struct loosened *without_one(const struct solver *s, const struct plan *p,
				    const char **ret_text)
{
	size_t i, k;

	for (i = 0; i < p->n_clash; i++) {
		struct loosened *l = arena_alloc(s->a, sizeof(*l));
		bool found = false;

		l->t = *s->t;
		l->w = *s->w;
		l->w.n_limits = 0;
		for (k = 0; k < s->w->n_limits; k++) {
			if (!found && strcmp(s->w->limits[k].text, p->clash[i].what) == 0)
				found = true;
			else
				l->w.limits[l->w.n_limits++] = s->w->limits[k];
		}
		if (!found)
			continue;
		resolve(s, l);
		*ret_text = p->clash[i].what;
		if (l->python >= 0)
			return l;
	}
	return NULL;
}

static void say_limits(const struct solver *s, struct plan *p, struct loosened *l,
		       const char *which)
{
	struct remedy *r = remedy(
		s, p, arena_printf(s->a, _("Without %s: %s."), which, fitting(l)));

	install_commands(l, r, false);
}

static void say_both(const struct solver *s, struct plan *p, struct loosened *l, unsigned what)
{
	struct remedy *r;
	struct strbuf b;

	strbuf_init(&b, s->a);
	if (what & LET_PYTHON)
		strbuf_printf(&b, _("Python %s instead of %s"), l->t.pythons[l->python].text,
			      s->t->pythons[0].text);
	if (what & LET_DRIVER) {
		strbuf_sep(&b, ", ");
		strbuf_printf(&b, _("driver branch %s instead of %s"), branch_for(s, l),
			      s->t->driver);
	}
	if (what & LET_FLAVOR) {
		strbuf_sep(&b, ", ");
		strbuf_printf(&b, _("the driver %s"), flavor_text(s));
	}
	if (what & LET_LIMITS) {
		strbuf_sep(&b, ", ");
		strbuf_printf(&b, _("without %s"), clashing_limits(s, p));
	}
	r = remedy(s, p,
		   arena_printf(s->a, _("Several things together: %s: %s."), b.s, fitting(l)));
	install_commands(l, r, (what & LET_PYTHON) != 0);
	if (what & LET_DRIVER)
		driver_remedies(s, p, branch_for(s, l));
	if (what & LET_FLAVOR)
		flavor_remedies(s, p, l);
}

static void remedies_fill(const struct solver *s, struct plan *p)
{
	const char *which = "";
	static const unsigned pairs[] = { LET_PYTHON | LET_LIMITS, LET_FLAVOR | LET_PYTHON,
					  LET_FLAVOR | LET_LIMITS, LET_PYTHON | LET_DRIVER,
					  LET_DRIVER | LET_LIMITS,
					  LET_FLAVOR | LET_DRIVER,
					  LET_PYTHON | LET_DRIVER | LET_LIMITS };
	struct loosened *l, *flavor;
	size_t i;

	l = loosen(s, LET_PYTHON);
	if (l)
		say_python(s, p, l);
	flavor = loosen(s, LET_FLAVOR);
	if (flavor)
		say_flavor(s, p, flavor);
	l = flavor ? NULL : loosen(s, LET_DRIVER);
	if (l)
		say_driver(s, p, l);
	l = without_one(s, p, &which);
	if (!l && (l = loosen(s, LET_LIMITS)))
		which = clashing_limits(s, p);
	if (l)
		say_limits(s, p, l, which);
	l = loosen(s, LET_PACKAGES);
	if (l)
		say_limits(s, p, l, _("what is built on torch"));
	for (i = 0; !p->n_remedies && i < ARRAY_LEN(pairs); i++) {
		l = loosen(s, pairs[i]);
		if (l)
			say_both(s, p, l, pairs[i]);
	}
	if (p->n_serves > 1)
		remedy(s, p,
		       _("Keep apart what differs: one environment for each kind of GPU, and CUDA_VISIBLE_DEVICES to "
			 "show it only its own."));
	if (!p->gpu_clash || flavor)
		return;
	if (look_is_tegra(&(struct judge){ .a = s->a, .s = s->t->s, .c = s->m->c })) {
		remedy(s, p,
		       _("Install the PyTorch that NVIDIA builds for this JetPack "
			 "(https://docs.nvidia.com/deeplearning/frameworks/"
			 "install-pytorch-jetson-platform/): the wheels of pytorch.org and PyPI have "
			 "no code for Jetson."));
		return;
	}
	remedy(s, p, _("Another GPU: one of a later generation, which current builds hold code for "
		       "(`cuvet show torch` lists their targets)."));
}

/* -------- sentences */

static void say(const struct solver *s, struct plan *p, const char *text)
{
	*ARENA_APPEND(s->a, p->why, p->n_why) = text;
}

static const char *python_list(const struct solver *s, const struct torch_row *r)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, s->a);
	for (i = 0; i < r->n_python; i++) {
		strbuf_sep(&b, " ");
		strbuf_add(&b, r->python[i]);
	}
	return b.s;
}

static bool violates(const struct judged *v, enum violation_kind kind, size_t arg)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		if (v->v[i].kind == kind && v->v[i].arg == arg)
			return true;
	return false;
}

/* The newest build with code for GPU i, whatever else it lacks. */
static const struct judged *newest_for(const struct solver *s, size_t i)
{
	size_t k;

	for (k = 0; k < s->n; k++) {
		const struct judged *v = &s->verdicts[k];

		if (v->build->kind == BUILD_CUDA && !v->build->unverified &&
		    !violates(v, V_GPU, i) && !violates(v, V_LAST, i))
			return v;
	}
	return NULL;
}

static void say_gpu(const struct solver *s, struct plan *p, size_t i)
{
	const struct plan_gpu *g = &s->t->gpus[i];
	const struct judged *v = newest_for(s, i);
	const char *knows = g->last_driver ? compat_driver_cuda(s->m->c, g->last_driver) : NULL;

	if (g->dropped)
		say(s, p,
		    arena_printf(s->a, _("Driver %s no longer drives %s: branch %s was the last."),
				 s->t->driver, g->name, g->last_driver));
	if (g->predates)
		say(s, p,
		    arena_printf(s->a, _("Driver %s does not know %s yet: drivers do from %s on."),
				 s->t->driver, g->name, g->first_driver));
	if (g->other_flavor)
		say(s, p, flavor_sentence(s, g));
	if (knows)
		say(s, p,
		    arena_printf(s->a, _("The last driver branch of %s, %s, stops at CUDA %s."),
				 g->name, g->last_driver, knows));
	if (v)
		say(s, p,
		    arena_printf(
			    s->a,
			    _("The newest torch with code for %s (sm_%d) is %s, for Python %s."),
			    g->name, g->cc, v->build->text, python_list(s, v->build->row)));
	else if (s->n)
		say(s, p,
		    arena_printf(s->a, _("No torch in the matrix has code for %s (sm_%d) on %s."),
				 g->name, g->cc, s->t->platform));
}

static void serves_fill(const struct solver *s, struct plan *p)
{
	size_t i;

	for (i = 0; i < s->t->n_gpus && s->t->n_gpus > 1; i++) {
		struct loosened *l = arena_alloc(s->a, sizeof(*l));

		l->t = *s->t;
		l->w = *s->w;
		l->t.gpus[0] = s->t->gpus[i];
		l->t.n_gpus = 1;
		resolve(s, l);
		*ARENA_APPEND(s->a, p->serves, p->n_serves) = (struct plan_serves){
			.gpu = &s->t->gpus[i],
			.torch = l->best ? l->best->build->row : NULL,
		};
	}
}

static void say_clash(const struct solver *s, struct plan *p)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, s->a);
	for (i = 0; i < p->n_clash; i++) {
		strbuf_sep(&b, ", ");
		strbuf_add(&b, p->clash[i].what);
	}
	if (p->n_clash == 1)
		say(s, p, arena_printf(s->a, _("No build in the matrix meets %s."), b.s));
	else if (b.n)
		say(s, p,
		    arena_printf(s->a, _("No build in the matrix meets these together: %s."), b.s));
	else
		say(s, p,
		    arena_printf(s->a, _("The matrix holds no build of this with CUDA for %s."),
				 s->t->platform));
}

void unfit_fill(const struct solver *s, struct plan *p, bool brief)
{
	size_t i;

	clash_fill(s, p);
	say_clash(s, p);
	for (i = 0; s->w->torch && i < s->t->n_gpus; i++)
		say_gpu(s, p, i);
	if (brief)
		return;
	if (s->w->torch)
		serves_fill(s, p);
	remedies_fill(s, p);
}

void driver_fill(const struct solver *s, struct plan *p)
{
	struct judge j = { .a = s->a, .s = s->t->s, .c = s->m->c };
	const char *cuda = p->chosen->cuda, *branch = cuda ? remedy_branch(&j, cuda) : NULL;

	if (!branch || s->t->driver || !s->t->n_gpus || s->t->windows ||
	    !fact_known(&s->t->s->host.os_id) || look_in_container(s->t->s))
		return;
	driver_remedies(s, p, branch);
}

const struct torch_row *upgrade_of(const struct solver *s, const struct judged *now,
				   const char **ret_driver)
{
	struct loosened *l = s->w->torch ? loosen(s, LET_DRIVER) : NULL;
	const struct build *b = l && l->best ? l->best->build : NULL;

	if (!b || !b->row->cuda || (now && version_cmp(&b->release, &now->build->release) <= 0))
		return NULL;
	if (look_branch(l->branch) < look_branch(s->t->driver))
		return NULL;
	*ret_driver = b->min_driver[s->t->windows];
	return b->row;
}

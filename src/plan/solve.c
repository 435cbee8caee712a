/* SPDX-License-Identifier: Apache-2.0 */
/* Judges builds of torch against a target. Sentences are made elsewhere. */
#include "plan/solve.h"

#include <string.h>

#include "base/arena.h"
#include "rule/look.h"

static void parse(const char *text, struct version *ret)
{
	if (!text || !version_prefix(view_of(text), ret))
		*ret = (struct version){ .n = 0 };
}

static void marker_env_of(const struct plan_target *t, const struct plan_python *p,
			  struct marker_env *env)
{
	bool windows = strcmp(t->platform, "windows_x86_64") == 0,
	     macos = strcmp(t->platform, "macos_arm64") == 0;

	*env = (struct marker_env){
		.python = p->text,
		.python_full = p->full,
		.sys_platform = windows ? "win32"
				: macos ? "darwin"
					: "linux",
		.platform_system = windows ? "Windows"
				   : macos ? "Darwin"
					   : "Linux",
		.platform_machine = windows					? "AMD64"
				    : macos					? "arm64"
				    : strcmp(t->platform, "linux_aarch64") == 0 ? "aarch64"
										: "x86_64",
		.os_name = windows ? "nt" : "posix",
	};
}

/* Which limits and which wishes hold under Python i. */
static void apply_markers(struct solver *s, size_t i)
{
	struct marker_env env;
	size_t k, w;

	marker_env_of(s->t, &s->t->pythons[i], &env);
	for (k = 0; k < s->w->n_limits; k++)
		if (requirement_applies(s->a, s->w->limits[k].requirement, &env))
			s->applies[i] |= ATOM(k);
	for (w = 0; w < s->w->n; w++) {
		const struct wish *wish = &s->w->v[w];

		for (k = 0; k < wish->n_asked; k++)
			if (requirement_applies(s->a, wish->asked[k], &env))
				s->asked[i][w] = s->ever_asked[w] = true;
	}
	s->any_applies |= s->applies[i];
	if (!pep440_parse((struct view){ .p = s->t->pythons[i].full,
					 .n = strcspn(s->t->pythons[i].full, "t") }, &s->python[i]))
		pep440_parse(VIEW("0"), &s->python[i]);
}

/* -------- limits on torch and its companions */

static const char *companion_of(const struct build *b, const struct product *p)
{
	if (strcmp(p->name, "torchvision") == 0)
		return b->row->torchvision;
	return strcmp(p->name, "torchaudio") == 0 ? b->row->torchaudio : b->row->triton;
}

static bool torch_holds(const struct pep440_clause *c, const struct build *b)
{
	if (pep440_clause_holds(c, &b->version, view_of(b->text)))
		return true;
	/* PyPI serves its build without the local part. */
	return c->op == PEP440_ARBITRARY && b->row->pypi_default &&
	       pep440_clause_holds(c, &b->version, view_of(b->row->version));
}

static bool limit_holds(const struct solver *s, const struct limit *l, const struct build *b)
{
	const struct product *p = s->w->v[l->wish].product;
	struct pep440 v;
	const char *text;

	if (p->family == FAMILY_TORCH)
		return torch_holds(l->clause, b);
	if (p->family != FAMILY_PAIR)
		return true; /* judged with the package's own releases */
	text = companion_of(b, p);
	return text && pep440_parse(view_of(text), &v) &&
	       pep440_clause_holds(l->clause, &v, view_of(text));
}

/* Does the user name builds without CUDA: torch==2.7.1+cpu? */
static bool cpu_wanted(const struct solver *s, const struct build *b)
{
	size_t i;

	for (i = 0; i < s->w->n_limits; i++) {
		const struct limit *l = &s->w->limits[i];

		if (s->w->v[l->wish].product->family == FAMILY_TORCH &&
		    (l->clause->op == PEP440_EQ || l->clause->op == PEP440_ARBITRARY) &&
		    view_ends(l->clause->raw, b->row->variant))
			return true;
	}
	return false;
}

/* -------- judging one build */

static void violate(struct judged *v, enum violation_kind kind, uint64_t mask, size_t arg)
{
	if (v->n < VIOLATIONS_MAX)
		v->v[v->n++] = (struct violation){ .kind = kind, .mask = mask, .arg = arg };
}

static enum arch_fit fit_of(const struct arch *archs, size_t n, int cc)
{
	enum arch_fit best = ARCH_FIT_NONE;
	size_t i;

	for (i = 0; i < n && best != ARCH_FIT_SASS; i++) {
		enum arch_run run = arch_runs(&archs[i], cc);

		if (run == ARCH_RUNS)
			best = ARCH_FIT_SASS;
		else if (run == ARCH_RUNS_JIT)
			best = ARCH_FIT_PTX;
	}
	return best;
}

static void judge_gpu(const struct solver *s, struct judged *v, size_t i)
{
	const struct plan_gpu *g = &s->t->gpus[i];
	uint64_t gpu = ATOM(ATOM_GPU + i), both = gpu | ATOM(ATOM_DRIVER);
	const struct build *b = v->build;
	const struct version *least = s->t->windows ? &b->min_windows : &b->min_linux;
	enum arch_fit fit;

	if (g->dropped)
		violate(v, V_DROPPED, both, i);
	if (g->predates)
		violate(v, V_PREDATES, both, i);
	if (g->other_flavor)
		violate(v, V_FLAVOR, both, i);
	if (b->kind != BUILD_CUDA)
		return;
	if (g->last_driver && least->n &&
	    least->part[0] > look_branch(g->last_driver) + (s->t->windows ? 9 : 0))
		violate(v, V_LAST, gpu, i);
	if (b->unverified)
		return;
	fit = fit_of(b->archs, b->n_archs, g->cc);
	if (fit < v->fit)
		v->fit = fit;
	if (fit == ARCH_FIT_NONE)
		violate(v, V_GPU, gpu, i);
	else if (fit == ARCH_FIT_PTX && s->driver.n && version_cmp(&s->driver_cuda, &b->cuda) < 0)
		violate(v, V_PTX, both, i);
}

/* With the driver still open: is there one at all that drives every GPU? */
static void judge_apart(const struct solver *s, struct judged *v)
{
	unsigned slack = s->t->windows ? 9 : 0;
	size_t i, k;

	for (i = 0; !s->t->driver && i < s->t->n_gpus; i++) {
		const char *last = s->t->gpus[i].last_driver;

		for (k = 0; last && k < s->t->n_gpus; k++) {
			const char *first = s->t->gpus[k].first_driver;

			if (first && look_branch(first) > look_branch(last) + slack)
				violate(v, V_APART, ATOM(ATOM_GPU + i) | ATOM(ATOM_GPU + k),
					i * PLAN_GPUS + k);
		}
	}
}

/* One machine has one flavour of the modules. */
static void judge_flavors(const struct solver *s, struct judged *v)
{
	const struct plan_gpu *g = s->t->gpus;
	size_t i, k;

	for (i = 0; !s->t->flavor && i < s->t->n_gpus; i++)
		for (k = 0; k < i; k++)
			if (g[i].flavor && g[k].flavor && strcmp(g[i].flavor, g[k].flavor) != 0)
				violate(v, V_FLAVORS, ATOM(ATOM_GPU + i) | ATOM(ATOM_GPU + k),
					strcmp(g[i].flavor, "open") == 0 ? i * PLAN_GPUS + k
									 : k * PLAN_GPUS + i);
}

static void judge_driver(const struct solver *s, struct judged *v)
{
	const struct build *b = v->build;
	const struct version *least = s->t->windows ? &b->min_windows : &b->min_linux;

	v->native = true;
	if (b->kind != BUILD_CUDA || !s->driver.n)
		return;
	v->native = version_cmp(&s->driver_cuda, &b->cuda) >= 0;
	if (!least->n || version_cmp(&s->driver, least) < 0)
		violate(v, V_DRIVER, ATOM(ATOM_DRIVER), 0);
}

static bool python_serves(const struct build *b, const struct plan_python *p)
{
	return ((p->threaded ? b->threaded : b->pythons) >> p->minor) & 1;
}

static void judge_limits(const struct solver *s, struct judged *v)
{
	size_t i, w;

	for (i = 0; i < s->w->n_limits; i++) {
		if (limit_holds(s, &s->w->limits[i], v->build))
			continue;
		v->bad |= ATOM(i);
		if (s->any_applies & ATOM(i))
			violate(v, V_LIMIT, ATOM(ATOM_LIMIT + i), i);
	}
	for (w = 0; w < s->w->n; w++)
		if (s->w->v[w].product->family == FAMILY_PAIR && s->ever_asked[w] &&
		    !companion_of(v->build, s->w->v[w].product))
			violate(v, V_PAIR, ATOM(ATOM_ASK + w), w);
}

/* Packages under one Python: the first wish for which no release goes with this build; -1 when all
 * have one. */
static int lacking(const struct solver *s, const struct build *b, size_t python)
{
	size_t w;

	for (w = 0; w < s->w->n; w++)
		if (s->offers[w] && s->asked[python][w] && !solver_offer(s, w, b, python, NULL))
			return (int)w;
	return -1;
}

/*
 * Which atoms keep wish w from this build: one that every release breaks when there is such a one,
 * else all that any of them breaks, else the wish itself.
 */
static uint64_t blame(const struct solver *s, size_t w, const struct build *b)
{
	uint64_t all = 0, common = UINT64_MAX, one;
	size_t i;

	for (i = 0; i < s->offers[w]->n; i++) {
		const struct offer *o = &s->offers[w]->v[i];

		if (o->unverified || !offer_torch(s, o, b))
			continue;
		one = offer_atoms(s, w, i, 0);
		all |= one;
		common &= one;
	}
	if (!all || !common)
		return all | ATOM(ATOM_ASK + w);
	return (common & -common) | ATOM(ATOM_ASK + w);
}

static void judge_pythons(const struct solver *s, struct judged *v)
{
	bool served = false;
	int lacks = -1;
	size_t i;

	for (i = 0; i < s->t->n_pythons && v->python < 0; i++) {
		if (!python_serves(v->build, &s->t->pythons[i]))
			continue;
		served = true;
		lacks = lacking(s, v->build, i);
		if (lacks < 0 && !(v->bad & s->applies[i]))
			v->python = (int)i;
	}
	if (v->python >= 0)
		return;
	if (!served)
		violate(v, V_PYTHON, s->t->python_known ? ATOM(ATOM_PYTHON) : 0, 0);
	else if (lacks >= 0)
		violate(v, V_PACKAGE, blame(s, (size_t)lacks, v->build), (size_t)lacks);
}

static bool wanted_kind(const struct solver *s, const struct build *b)
{
	if (b->kind == BUILD_CPU)
		return s->t->no_gpu || cpu_wanted(s, b);
	return b->kind == BUILD_CUDA && !s->t->no_gpu;
}

static void judge(const struct solver *s, struct judged *v)
{
	const struct build *b = v->build;
	struct violation found[VIOLATIONS_MAX];
	size_t i;

	v->v = found;
	v->fit = ARCH_FIT_SASS;
	v->python = -1;
	if (!wanted_kind(s, b))
		violate(v, V_NO_CUDA, 0, 0);
	if (b->unverified)
		violate(v, V_UNVERIFIED, 0, 0);
	if (s->t->musl)
		violate(v, V_MUSL, ATOM(ATOM_PLATFORM), 0);
	for (i = 0; i < s->t->n_gpus; i++)
		judge_gpu(s, v, i);
	judge_apart(s, v);
	judge_flavors(s, v);
	judge_driver(s, v);
	if (s->glibc.n && b->glibc.n && version_cmp(&s->glibc, &b->glibc) < 0)
		violate(v, V_GLIBC, ATOM(ATOM_GLIBC), 0);
	judge_limits(s, v);
	judge_pythons(s, v);
	v->fits = !v->n && v->python >= 0;
	/* A limit that applies under another Python alone is no fault of this one. */
	for (i = 0; !v->fits && v->python >= 0 && i < v->n && v->v[i].kind == V_LIMIT; i++)
		continue;
	if (!v->fits && v->python >= 0 && i == v->n)
		v->fits = true;
	v->v = arena_calloc(s->a, v->n + 1, sizeof(*v->v));
	memcpy(v->v, found, v->n * sizeof(*found));
}

/* -------- the whole */

void solver_judge(struct solver *s)
{
	const struct builds *b = matrix_builds(s->m, s->t->platform);
	size_t i;

	s->n = b->n;
	s->verdicts = arena_calloc(s->a, b->n + 1, sizeof(*s->verdicts));
	for (i = 0; i < b->n; i++) {
		s->verdicts[i].build = &b->v[i];
		judge(s, &s->verdicts[i]);
	}
}

/* Within one release: native before minor-version compatibility, then PyPI's default, then the
 * newer CUDA. */
static bool better(const struct judged *x, const struct judged *y)
{
	const struct torch_row *a = x->build->row, *b = y->build->row;

	if (x->native != y->native)
		return x->native;
	if (a->pypi_default != b->pypi_default)
		return a->pypi_default;
	return version_cmp(&x->build->cuda, &y->build->cuda) > 0;
}

static const struct judged *best_with(const struct solver *s, enum arch_fit fit)
{
	const struct judged *best = NULL;
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct judged *v = &s->verdicts[i];

		if (best && version_cmp(&v->build->release, &best->build->release) != 0)
			break;
		if (v->fits && v->fit == fit && (!best || better(v, best)))
			best = v;
	}
	return best;
}

const struct judged *solver_best(const struct solver *s)
{
	const struct judged *v = best_with(s, ARCH_FIT_SASS);

	return v ? v : best_with(s, ARCH_FIT_PTX);
}

static uint64_t bad_limits(const struct solver *s, size_t wish, const struct offer *o)
{
	uint64_t bad = 0;
	size_t i;

	for (i = 0; i < s->w->n_limits; i++) {
		const struct limit *l = &s->w->limits[i];
		const struct pep440_clause *c = l->clause;
		bool holds;

		if (l->wish != wish)
			continue;
		holds = pep440_clause_holds(c, &o->number, view_of(o->version));
		/* A range, or a series: a release inside it is as good. */
		if (!holds && o->to)
			holds = pep440_clause_holds(c, &o->to_number, view_of(o->to)) ||
				(c->op == PEP440_EQ && !c->wild &&
				 pep440_cmp(&c->version, &o->number) > 0 &&
				 pep440_cmp(&c->version, &o->to_number) < 0);
		if (!holds && o->series)
			holds = (c->op == PEP440_EQ || c->op == PEP440_COMPATIBLE) &&
				c->version.n > 2 && c->version.part[0] == o->number.part[0] &&
				c->version.part[1] == o->number.part[1];
		if (!holds)
			bad |= ATOM(i);
	}
	return bad;
}

/* flash-attn and vLLM publish for Linux, flash-attn for x86-64 alone, xformers not for aarch64
 * (facts.rules). */
static bool published_for(const struct product *p, const char *platform)
{
	if (strcmp(p->name, "vllm") == 0)
		return strncmp(platform, "linux", 5) == 0;
	if (strcmp(p->name, "flash-attn") == 0)
		return strcmp(platform, "linux_x86_64") == 0;
	if (strcmp(p->name, "xformers") == 0)
		return strcmp(platform, "linux_aarch64") != 0;
	return strcmp(platform, "macos_arm64") != 0;
}

static void judge_offer(const struct solver *s, size_t wish, const struct offer *o,
			struct offer_state *st)
{
	const struct plan_target *t = s->t;
	int os = t->windows && strcmp(t->platform, "windows_x86_64") == 0;
	struct version cuda;
	size_t i;

	st->fit = ARCH_FIT_SASS;
	st->native = true;
	st->bad = bad_limits(s, wish, o);
	if (!published_for(s->w->v[wish].product, t->platform))
		st->hw |= ATOM(ATOM_PLATFORM);
	parse(o->cuda, &cuda);
	if (s->driver.n && cuda.n)
		st->native = version_cmp(&s->driver_cuda, &cuda) >= 0;
	for (i = 0; i < t->n_gpus; i++) {
		const struct plan_gpu *g = &t->gpus[i];
		enum arch_fit fit =
			o->n_targets ? fit_of(o->targets, o->n_targets, g->cc) : ARCH_FIT_SASS;

		if (g->cc < o->cc_min || g->cc < o->nvcc_min || fit == ARCH_FIT_NONE)
			st->hw |= ATOM(ATOM_GPU + i);
		if (fit == ARCH_FIT_PTX && !st->native)
			st->hw |= ATOM(ATOM_GPU + i) | ATOM(ATOM_DRIVER);
		if (g->dropped || g->predates || g->other_flavor)
			st->hw |= ATOM(ATOM_GPU + i) | ATOM(ATOM_DRIVER);
		if (fit < st->fit)
			st->fit = fit;
	}
	if (s->driver.n && o->least[os].n && version_cmp(&s->driver, &o->least[os]) < 0)
		st->hw |= ATOM(ATOM_DRIVER);
}

void solver_init(struct solver *s, struct arena *a, struct matrix *m, const struct plan_target *t,
		 const struct wishes *w)
{
	size_t i, k;

	*s = (struct solver){ .a = a, .m = m, .t = t, .w = w };
	parse(t->driver_full, &s->driver);
	parse(t->driver_cuda, &s->driver_cuda);
	parse(t->glibc, &s->glibc);
	for (i = 0; i < t->n_pythons; i++)
		apply_markers(s, i);
	for (i = 0; i < w->n; i++) {
		if (w->v[i].product->family == FAMILY_TORCH ||
		    w->v[i].product->family == FAMILY_PAIR)
			continue;
		s->offers[i] = matrix_offers(m, w->v[i].product, t->platform);
		s->states[i] = arena_calloc(a, s->offers[i]->n + 1, sizeof(**s->states));
		for (k = 0; k < s->offers[i]->n; k++)
			judge_offer(s, i, &s->offers[i]->v[k], &s->states[i][k]);
	}
}

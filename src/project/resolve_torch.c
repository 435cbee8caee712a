/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which PyTorch pip or uv would take: candidates of each index by table, the installer's order of
 * them, what other packages need, what a later step puts in the place of an earlier one.
 */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "project/resolve.h"

/* -------- a step */

struct need {
	const struct want *want;
	const char *spec; /* "==2.5.1" */
};

struct torch_step {
	struct site *t;
	const struct step *s;
	const struct want *asked[32];
	size_t n_asked;
	struct need needs[12];
	size_t n_needs;
	const struct want *brings; /* something that brings one */
	const struct want *vision; /* torchvision without a version */
	const struct want *capped; /* something that holds torch below what is not known */
	const struct torch_row *before; /* build that was there when the step began */
	bool fixes;			/* a lock or a constraint stands among the wants */
};

static const char *joined(struct site *t, const char *a, const char *b)
{
	if (!*a || !*b)
		return *a ? a : b;
	return arena_printf(t->r->a, "%s,%s", a, b);
}

/* A lock or a constraint that names the release decides for a range beside it. */
static bool fixed_elsewhere(struct torch_step *x, const struct want *w)
{
	size_t i;

	for (i = 0; x->fixes && i < x->s->n_wants; i++) {
		const struct want *o = &x->s->wants[i];

		if (o != w && (o->locked || o->constraint) && o->name &&
		    strcmp(o->name, w->name) == 0 && want_exact(x->t, o) && want_holds(x->t, o))
			return true;
	}
	return false;
}

static void gather_torch(struct torch_step *x)
{
	size_t i;

	for (i = 0; i < x->s->n_wants; i++) {
		const struct want *w = &x->s->wants[i];

		x->fixes = x->fixes || w->locked || w->constraint;
		if (w->name && strcmp(w->name, "torch") == 0 && want_holds(x->t, w) &&
		    x->n_asked < ARRAY_LEN(x->asked))
			x->asked[x->n_asked++] = w;
	}
}

/*
 * A lock may hold several builds for extras that exclude each other. The one from the index that
 * the project names is meant; false when it names none, and more than one is left.
 */
static bool settle_forks(struct torch_step *x)
{
	const char *url = NULL, *first = NULL;
	bool several = false;
	size_t i, k, n = 0;

	for (i = 0; i < x->n_asked; i++) {
		const struct want *w = x->asked[i];

		if (w->locked) {
			several |= first && strcmp(first, w->spec) != 0;
			first = w->spec;
		}
		for (k = 0; !w->locked && w->index && k < x->s->n_indexes; k++)
			if (x->s->indexes[k].name && strcmp(x->s->indexes[k].name, w->index) == 0)
				url = x->s->indexes[k].url;
	}
	if (!several)
		return true;
	for (i = 0; i < x->n_asked; i++)
		if (!x->asked[i]->locked || (url && strcmp(x->asked[i]->index, url) == 0))
			x->asked[n++] = x->asked[i];
	x->n_asked = n;
	for (i = 0; i < n; i++)
		if (x->asked[i]->locked)
			return true;
	return false;
}

static const char *asked_spec(struct torch_step *x);

static void add_need(struct torch_step *x, const struct want *w, const char *spec)
{
	if (spec && x->n_needs < ARRAY_LEN(x->needs))
		x->needs[x->n_needs++] = (struct need){ .want = w, .spec = spec };
	if (!x->brings || spec)
		x->brings = w;
}

/*
 * Ranges of what has a build for each torch are settled together: what all allow, on the indexes
 * that torch comes from. With a torch there each is on its own.
 */
static void settle_ranges(struct torch_step *x, const struct want *const *w, size_t n)
{
	struct site *t = x->t;
	const char *torch = asked_spec(x), *all = NULL;
	struct sources src;
	size_t i;

	for (i = 0; i < x->n_needs; i++)
		torch = joined(t, torch, x->needs[i].spec);
	if (n)
		sources_of(t, x->s, x->n_asked ? x->asked[0] : w[0], &src);
	if (n && !src.unknown && !t->torch.set)
		all = ranges_meet(t, &src, torch, w, n);
	for (i = 0; i < n; i++)
		add_need(x, w[i],
			 all && torch_exactly(w[i]->name)
				 ? all
				 : range_needs(t, w[i]->name, w[i]->spec, asked_spec(x)));
}

static void gather(struct torch_step *x)
{
	const struct want *ranges[ARRAY_LEN(x->needs)];
	struct site *t = x->t;
	size_t i, n = 0;

	for (i = 0; i < x->s->n_wants; i++) {
		const struct want *w = &x->s->wants[i];
		const char *exact;

		if (!w->name || strcmp(w->name, "torch") == 0 || !want_holds(t, w))
			continue;
		if (!w->constraint && caps_torch(w->name))
			x->capped = w;
		if (w->constraint || !brings_torch(w->name))
			continue;
		exact = want_exact(t, w);
		if (!exact && w->spec && *w->spec &&
		    (fixed_elsewhere(x, w) || pair_is_there(t, x->s, w)))
			continue;
		if (!exact && w->spec && *w->spec && n < ARRAY_LEN(ranges))
			ranges[n++] = w;
		else
			add_need(x, w, exact ? needs_torch(t, w->name, exact) : NULL);
		if (!exact && w->spec &&
		    (strcmp(w->name, "torchvision") == 0 || strcmp(w->name, "torchaudio") == 0))
			x->vision = w;
	}
	settle_ranges(x, ranges, n);
}

/* The line that decides: the one that names a release, a lock or a constraint before a range. */
static const struct want *decisive(struct torch_step *x)
{
	const struct want *best = NULL;
	size_t i;

	for (i = 0; i < x->n_asked; i++) {
		const struct want *w = x->asked[i];

		if (!best || (w->locked && !best->locked) ||
		    (!best->locked && want_exact(x->t, w) && !want_exact(x->t, best)))
			best = w;
	}
	return best;
}

static bool really_asked(const struct torch_step *x)
{
	size_t i;

	for (i = 0; i < x->n_asked; i++)
		if (!x->asked[i]->constraint)
			return true;
	return false;
}

static const char *asked_spec(struct torch_step *x)
{
	const char *spec = "";
	bool locked = false;
	size_t i;

	for (i = 0; i < x->n_asked; i++)
		locked |= x->asked[i]->locked;
	for (i = 0; i < x->n_asked; i++)
		if (x->asked[i]->spec && (!locked || x->asked[i]->locked))
			spec = joined(x->t, spec, x->asked[i]->spec);
	return spec;
}

static void set_got(struct site *t, const struct pick *p, struct place at)
{
	t->torch = (struct got){
		.set = true,
		.known = true,
		.version = p->row->version,
		.variant = p->row->variant,
		.cuda = p->row->cuda,
		.row = p->row,
		.at = at,
	};
}

void put_pick(struct site *t, struct wanted *o, const struct pick *p, const struct want *w)
{
	const char *at = source_at(t, &w->at);

	fact_set(&o->version, p->row->version, at);
	fact_set(&o->variant, p->row->variant, at);
	if (p->row->cuda)
		fact_set(&o->cuda, p->row->cuda, at);
	if (p->index && p->index->url)
		fact_set(&o->index, p->index->url,
			 source_at(t, p->index->at.file ? &p->index->at : &w->at));
	if (p->row->doubtful)
		fact_flag(&o->inferred, true, at);
}

/* -------- clashes */

/* The first need that the rest excludes. */
static const struct need *find_clash(struct torch_step *x, const struct sources *src,
				     const char **spec)
{
	struct sources any = { .n = 2 };
	struct search q = { .any_target = true };
	size_t i;

	(void)src;
	any.v[0] = (struct index){ .kind = INDEX_ALL };
	any.v[1] = (struct index){ .kind = INDEX_PYPI };
	for (i = 0; i < x->n_needs; i++) {
		const char *local, *more = joined(x->t, *spec, x->needs[i].spec);

		q.spec = without_local(x->t, more, &local);
		if (!search(x->t, &any, &q).row) {
			q.spec = without_local(x->t, *spec, &local);
			/* What nobody published clashes with nothing. */
			if (search(x->t, &any, &q).row)
				return &x->needs[i];
			continue;
		}
		*spec = more;
	}
	return NULL;
}

static const char *plain_spec(struct site *t, const char *spec)
{
	return arena_printf(t->r->a, "torch%s", spec);
}

static void note_clash(struct torch_step *x, const struct need *need, const struct want *other,
		       const char *other_text)
{
	struct wanted *o = NULL;
	size_t i;

	for (i = 0; i < x->t->out->n_packages; i++)
		if (fact_is(&x->t->out->packages[i].name, need->want->name))
			o = &x->t->out->packages[i];
	if (!o)
		o = emit(x->t, x->s, need->want);
	fact_set(&o->version, want_exact(x->t, need->want), source_at(x->t, &need->want->at));
	fact_set(&o->clash, other_text, source_at(x->t, &other->at));
	fact_set(&o->because, plain_spec(x->t, need->spec), source_at(x->t, &need->want->at));
}

/* -------- the step as a whole */

static bool satisfied(struct torch_step *x, const char *spec)
{
	const struct got *g = &x->t->torch;
	const char *text;

	if (!g->set || x->s->force)
		return false;
	/* What may be there does for those that bring any, not for who asks for one. */
	if (g->weak)
		return !really_asked(x) && strstr(spec, "==") == NULL;
	if (!g->known)
		return true;
	text = g->variant && strncmp(g->variant, "cpu", 3) != 0
		       ? arena_printf(x->t->r->a, "%s+%s", g->version, g->variant)
		       : g->version;
	return spec_holds(x->t, spec, text);
}

static void replace(struct torch_step *x, struct wanted *o, const struct want *by)
{
	const struct got *old = &x->t->torch;

	if (!old->set || !old->known)
		return;
	fact_set(&o->replaces, arena_printf(x->t->r->a, "%s+%s", old->version, old->variant),
		 source_at(x->t, &old->at));
	fact_set(&o->because, by->name, source_at(x->t, &by->at));
}

static void take(struct torch_step *x, const struct want *w, const char *spec, bool own)
{
	struct site *t = x->t;
	struct sources src;
	struct search q = { .spec = spec };
	struct want torch = *w;
	struct wanted *o;
	struct pick p;

	if (!own) {
		torch = (struct want){
			.name = "torch", .text = w->text, .spec = spec, .at = w->at
		};
		if (w->index)
			torch.index = w->index;
	}
	sources_of(t, x->s, &torch, &src);
	p = search(t, &src, &q);
	o = emit(t, x->s, &torch);
	if (!own)
		fact_set(&o->because, w->name, source_at(t, &w->at));
	if (src.unknown && (!p.row || !want_exact(t, w))) {
		t->torch = (struct got){ .set = true, .at = w->at };
		return;
	}
	if (!p.row) {
		why_none(t, o, &src, spec, &torch);
		/* With a fault nothing that comes later is reached. */
		t->torch = (struct got){ .set = true, .at = w->at };
		return;
	}
	put_pick(t, o, &p, &torch);
	if (!own)
		replace(x, o, w);
	set_got(t, &p, torch.at);
}

static bool same_minor(const char *a, const char *b)
{
	size_t n = strlen(a);

	return strncmp(a, b, n) == 0 && (b[n] == '\0' || b[n] == '.');
}

/* torch from an address: its wheel's name says what it is. */
static bool from_url(struct torch_step *x, const struct want *w)
{
	const char *exact = want_exact(x->t, w), *plus;
	struct wanted *o;

	if (!w->url)
		return false;
	o = emit(x->t, x->s, w);
	x->t->torch = (struct got){ .set = true, .at = w->at };
	plus = exact ? strchr(exact, '+') : NULL;
	if (!plus || x->t->macos)
		return true;
	x->t->torch.version = arena_strndup(x->t->r->a, exact, (size_t)(plus - exact));
	x->t->torch.variant = plus + 1;
	x->t->torch.row = compat_torch(x->t->r->c, x->t->torch.version, x->t->platform, plus + 1);
	x->t->torch.cuda = x->t->torch.row ? x->t->torch.row->cuda : NULL;
	x->t->torch.known = x->t->torch.row != NULL;
	fact_set(&o->version, x->t->torch.version, source_at(x->t, &w->at));
	fact_set(&o->variant, plus + 1, source_at(x->t, &w->at));
	if (x->t->torch.cuda)
		fact_set(&o->cuda, x->t->torch.cuda, source_at(x->t, &w->at));
	if (w->wheel_python && x->t->python && !same_minor(w->wheel_python, x->t->python))
		note_fault(x->t, o, "python", w);
	return true;
}

/* torchvision alone, later: its newest release needs the newest torch of its index. */
static const char *vision_needs(struct torch_step *x)
{
	struct sources src;
	struct search q = { .spec = "" };
	struct pick p;

	if (!x->t->torch.set || !x->t->torch.known ||
	    (!x->s->upgrade && (strcmp(x->vision->name, "torchvision") == 0 ? x->t->torchvision
									  : x->t->torchaudio)))
		return "";
	if (x->vision->spec && *x->vision->spec)
		return "";
	sources_of(x->t, x->s, x->vision, &src);
	if (src.unknown)
		return "";
	p = search(x->t, &src, &q);
	/* torchaudio's newest serves every torch from 2.11 on. */
	if (!p.row || (strcmp(x->vision->name, "torchaudio") == 0 &&
		       version_at_least(x->t->torch.version, "2.11")))
		return "";
	return arena_printf(x->t->r->a, "==%s", p.row->version);
}

/* xformers or vllm without a version, torch there: the newest of them needs what it needs. */
static const char *addon_wants(struct torch_step *x)
{
	const char *name = x->brings->name;

	if (want_exact(x->t, x->brings) || (x->brings->spec && *x->brings->spec))
		return "";
	if (strcmp(name, "xformers") == 0 || strcmp(name, "vllm") == 0) {
		const char *need = newest_needs(x->t, name);

		return need ? need : "";
	}
	return "";
}

/* torchvision and torchaudio that came with a torch that stays, stay too. */
static bool stays(const struct torch_step *x, const struct want *w)
{
	return x->before && x->before == x->t->torch.row && !want_exact(x->t, w) &&
	       pair_is_there(x->t, x->s, w);
}

/* Of which variant torchvision, torchaudio or xformers will be: by label or by its one index. */
static void pair_variant(struct torch_step *x, const struct want *w)
{
	struct site *t = x->t;
	const char *exact = want_exact(t, w), *plus = exact ? strchr(exact, '+') : NULL;
	const char *variant = plus ? plus + 1 : NULL;
	struct sources src;
	struct wanted *o;
	size_t i;

	if (!t->torch.known || t->torch.conda || w->url || stays(x, w))
		return;
	for (i = 0; i < t->out->n_packages; i++)
		if (fact_is(&t->out->packages[i].name, w->name) &&
		    (fact_known(&t->out->packages[i].fault) ||
		     fact_known(&t->out->packages[i].clash)))
			return;
	if (!variant && (w->locked || fixed_elsewhere(x, w)))
		return;
	if (!variant) {
		sources_of(t, x->s, w, &src);
		if (src.unknown || src.n != 1)
			return;
		if (src.v[0].kind == INDEX_TORCH)
			variant = src.v[0].variant;
		else if (src.v[0].kind == INDEX_PYPI && strcmp(w->name, "xformers") == 0)
			variant = exact ? pypi_cuda(t, w->name, exact) : NULL;
		else if (src.v[0].kind == INDEX_PYPI)
			variant = pypi_variant(t, t->torch.version);
	}
	if (!variant)
		return;
	o = emit(t, x->s, w);
	fact_set(&o->variant, variant, source_at(t, &w->at));
}

static void note_installed(struct torch_step *x)
{
	size_t i;

	for (i = 0; i < x->s->n_wants; i++) {
		const struct want *w = &x->s->wants[i];

		if (!w->name || w->constraint || !want_holds(x->t, w))
			continue;
		if (strcmp(w->name, "torchvision") == 0 || strcmp(w->name, "torchaudio") == 0) {
			vision_label(x->t, x->s, w);
			pair_variant(x, w);
		}
		if (strcmp(w->name, "xformers") == 0)
			pair_variant(x, w);
		x->t->torchvision |= strcmp(w->name, "torchvision") == 0;
		x->t->torchaudio |= strcmp(w->name, "torchaudio") == 0;
	}
}

static void with_needs(struct torch_step *x)
{
	const char *spec = asked_spec(x);
	const struct want *by = x->needs[0].want;
	struct sources src = { .n = 0 };
	const struct need *clash = find_clash(x, &src, &spec);

	if (clash && clash != &x->needs[0])
		note_clash(x, clash, by,
			   arena_printf(x->t->r->a, "%s (torch%s)", by->text, x->needs[0].spec));
	if (!satisfied(x, spec))
		take(x, by, spec, false);
}

/* A folder or a wheel of this project: nobody knows here which torch it asks for. */
static bool own_package(const struct torch_step *x)
{
	size_t i;

	for (i = 0; i < x->s->n_wants; i++) {
		const char *url = x->s->wants[i].known ? NULL : x->s->wants[i].url;

		if (url && !strstr(url, "://") && strncmp(url, "git+", 4) != 0)
			return true;
	}
	return false;
}

void resolve_torch(struct site *t, const struct step *s)
{
	struct torch_step x = { .t = t, .s = s, .before = t->torch.row };
	struct sources src = { .n = 0 };
	const struct want *w;
	const struct need *clash;
	const char *spec;

	gather_torch(&x);
	if (!settle_forks(&x)) {
		t->torch = (struct got){ .set = true, .at = s->at };
		return;
	}
	gather(&x);
	if (!t->torch.set && own_package(&x) && !s->no_deps)
		t->torch = (struct got){ .set = true, .weak = true, .at = s->at };
	if (s->no_deps && !really_asked(&x)) {
		note_installed(&x);
		return;
	}
	w = decisive(&x);
	if (x.capped && !x.n_needs && (!w || !want_exact(t, w)) && !t->torch.set) {
		/* Which torch comes is not known: nothing is said of it. */
		t->torch = (struct got){ .set = true, .at = x.capped->at };
		note_installed(&x);
		return;
	}
	if (really_asked(&x)) {
		spec = asked_spec(&x);
		if (w && !from_url(&x, w)) {
			const char *wanted = spec;

			clash = find_clash(&x, &src, &wanted);
			if (clash)
				note_clash(&x, clash, w, w->text);
			/* What is there already is left alone, unless more is asked for. */
			if (!satisfied(&x, clash ? spec : wanted) ||
			    (s->upgrade && !want_exact(t, w)))
				take(&x, w, clash ? spec : wanted, true);
		}
	} else if (x.n_needs) {
		with_needs(&x);
	} else if (x.vision && t->torch.set) {
		spec = joined(t, asked_spec(&x), vision_needs(&x));
		if (!satisfied(&x, spec))
			take(&x, x.vision, spec, false);
	} else if (x.brings) {
		spec = t->torch.set ? addon_wants(&x) : "";
		spec = joined(t, asked_spec(&x), spec);
		if (!satisfied(&x, spec))
			take(&x, x.brings, spec, false);
	}
	note_installed(&x);
}

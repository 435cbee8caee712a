/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chooser of PyTorch builds: release by release from the newest on, reading no more rows than
 * it must.
 */
#include <stdlib.h>
#include <string.h>

#include "compat/torch.h"

struct choice {
	const struct torch_row *row;
	enum arch_fit fit;   /* the worst over all GPUs */
	bool native;	     /* the driver knows the build's CUDA */
};

struct chooser {
	struct compat *c;
	const struct torch_wish *w;
	const char *driver_cuda; /* newest CUDA that the driver knows; NULL not known */
	const char *python;	 /* "3.12" of "3.12.4" */
	struct version release;	 /* the one that is wished for */
};

static int newest_first(const void *x, const void *y)
{
	const struct torch_key *const *a = x, *const *b = y;
	int r = version_cmp(&(*b)->number, &(*a)->number);

	return r ? r : (*a > *b) - (*a < *b);
}

static const char *platform_of(const struct torch_wish *w)
{
	if (w->platform)
		return w->platform;
	return w->windows ? "windows_x86_64" : "linux_x86_64";
}

/* Builds without CUDA serve only where there is none: on macOS. */
static bool kind_serves(const struct torch_key *k)
{
	return view_starts(k->variant, "cu") ||
	       (view_starts(k->platform, "macos") && view_is(k->variant, "cpu"));
}

static bool listed(const char *const *list, const char *what)
{
	for (; *list; list++)
		if (strcmp(*list, what) == 0)
			return true;
	return false;
}

/*
 * Experimental Pythons lack the packages beside torch; a free-threaded one is asked for by its
 * name.
 */
static bool python_serves(const struct chooser *ch, const struct torch_row *r)
{
	if (!ch->python || listed((const char *const *)r->python, ch->python))
		return true;
	return view_ends(view_of(ch->python), "t") &&
	       listed((const char *const *)r->python_experimental, ch->python);
}

static bool glibc_serves(const struct chooser *ch, const struct torch_row *r)
{
	if (!ch->w->glibc || !view_starts(view_of(r->platform), "linux"))
		return true;
	return version_at_least(ch->w->glibc, r->min_glibc);
}

static enum arch_fit worst_fit(const struct torch_wish *w, const struct torch_row *r)
{
	enum arch_fit worst = ARCH_FIT_SASS, fit;
	size_t i;

	for (i = 0; i < w->n_ccs && worst != ARCH_FIT_NONE; i++) {
		fit = compat_arch_fit((const char *const *)r->arch_list, r->n_arch, w->ccs[i],
				      NULL);
		worst = fit < worst ? fit : worst;
	}
	return worst;
}

static bool driver_serves(const struct chooser *ch, const struct torch_row *r, struct choice *ret)
{
	const char *least;
	bool inferred;

	ret->native = true;
	if (!ch->w->driver || !r->cuda)
		return true;
	ret->native = version_at_least(ch->driver_cuda, r->cuda);
	/* PTX is compiled by the driver, and minor-version compatibility does not cover it. */
	if (ret->fit == ARCH_FIT_PTX && !ret->native)
		return false;
	least = compat_min_driver(ch->c, r->cuda, ch->w->windows, &inferred);
	return version_at_least(ch->w->driver, least);
}

static bool serves(const struct chooser *ch, const struct torch_row *r, struct choice *ret)
{
	*ret = (struct choice){ .row = r };
	if (!r || r->unconfirmed || !r->index_url || (r->cuda && !r->arch_list))
		return false;
	if (!python_serves(ch, r) || !glibc_serves(ch, r))
		return false;
	ret->fit = worst_fit(ch->w, r);
	return ret->fit != ARCH_FIT_NONE && driver_serves(ch, r, ret);
}

/* Within one release: native before minor-version, then PyPI's default, then the newer CUDA. */
static bool better(const struct choice *a, const struct choice *b)
{
	if (!b->row || a->fit != b->fit)
		return !b->row || a->fit > b->fit;
	if (a->native != b->native)
		return a->native;
	if (a->row->pypi_default != b->row->pypi_default)
		return a->row->pypi_default;
	return version_cmp_str(a->row->cuda, b->row->cuda) > 0;
}

/* All builds, newest release first; sorted once a run, for many wishes may follow. */
static const struct torch_key *const *newest(struct compat *c, struct table *t)
{
	const struct torch_key *k = torch_keys(c, t);
	size_t i;

	if (!c->torch_newest) {
		c->torch_newest = arena_calloc(c->a, t->n + 1, sizeof(*c->torch_newest));
		for (i = 0; i < t->n; i++)
			c->torch_newest[i] = &k[i];
		qsort(c->torch_newest, t->n, sizeof(*c->torch_newest), newest_first);
	}
	return c->torch_newest;
}

static bool considered(const struct chooser *ch, const struct torch_key *k)
{
	if (!k->number.n || !k->platform.p || !k->variant.p)
		return false;
	if (ch->w->version && version_cmp(&k->number, &ch->release) != 0)
		return false;
	return view_is(k->platform, platform_of(ch->w)) && kind_serves(k);
}

/* "3.12.4" to "3.12", "3.13t" as it is. */
static const char *python_minor(struct compat *c, const char *python)
{
	struct version v;

	if (!python || !version_parse(view_of(python), &v) || v.n < 3)
		return python;
	return arena_printf(c->a, "%u.%u", v.part[0], v.part[1]);
}

const struct torch_row *compat_torch_choose(struct compat *c, const struct torch_wish *w)
{
	struct table *t = table_get(c, "torch");
	struct chooser ch = { .c = c, .w = w };
	struct choice best = { .row = NULL }, jit = { .row = NULL }, one;
	const struct torch_key *const *k, *last = NULL;

	if (!t || (w->version && !version_prefix(view_of(w->version), &ch.release)))
		return NULL;
	ch.driver_cuda = w->driver ? compat_driver_cuda(c, w->driver) : NULL;
	ch.python = python_minor(c, w->python);
	for (k = newest(c, t); *k; k++) {
		if (!considered(&ch, *k))
			continue;
		/*
		 * A release is over: what has code for every GPU settles it, PTX waits for older
		 * releases.
		 */
		if (last && version_cmp(&(*k)->number, &last->number) != 0) {
			if (best.row && best.fit == ARCH_FIT_SASS)
				break;
			if (!jit.row)
				jit = best;
			best.row = NULL;
		}
		last = *k;
		if (serves(&ch, compat_torch_at(c, (size_t)(*k - c->torch_keys)), &one) &&
		    better(&one, &best))
			best = one;
	}
	if (best.row && best.fit == ARCH_FIT_SASS)
		return best.row;
	return jit.row ? jit.row : best.row;
}

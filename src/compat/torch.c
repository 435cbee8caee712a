/* SPDX-License-Identifier: Apache-2.0 */
/* Published builds of PyTorch, and how a device fares with their code. */
#include <string.h>

#include "compat/torch.h"

static const char **strings(struct compat *c, const struct json *v, size_t *ret_n)
{
	*ret_n = 0;
	return json_str_list(c->a, v, ret_n);
}

static const char *word(const struct json *row, const char *key)
{
	return json_get_str(row, key);
}

static bool word_is(const char *s, const char *what)
{
	return s && strcmp(s, what) == 0;
}

static void fill(struct compat *c, const struct json *row, struct torch_row *r)
{
	size_t ignored;

	*r = (struct torch_row){ .version = word(row, "version"),
				 .platform = word(row, "platform") };
	r->variant = word(row, "variant");
	r->cuda = word(row, "cuda");
	r->cudnn = word(row, "cudnn");
	r->python = strings(c, json_get(row, "python"), &r->n_python);
	r->python_experimental = strings(c, json_get(row, "python_experimental"), &ignored);
	if (!r->python)
		r->python = arena_calloc(c->a, 1, sizeof(*r->python));
	if (!r->python_experimental)
		r->python_experimental = arena_calloc(c->a, 1, sizeof(*r->python_experimental));
	r->arch_list = strings(c, json_get(row, "arch_list"), &r->n_arch);
	r->arch_confidence = word(row, "arch_confidence");
	r->min_glibc = word(row, "min_glibc");
	r->torchvision = word(row, "torchvision");
	r->torchaudio = word(row, "torchaudio");
	r->triton = word(row, "triton");
	r->nccl = word(row, "nccl");
	r->pypi_default = json_get_bool(row, "pypi_default", false);
	r->index_url = word(row, "index_url");
	r->find_links = json_get_bool(row, "find_links", false);
	r->date = word(row, "date");
	r->source =
		arena_printf(c->a, "matrix torch %s %s %s", r->version, r->platform, r->variant);
	r->doubtful = row_doubtful(row);
	r->unconfirmed = word_is(word(row, "status"), "unconfirmed") ||
			 word_is(word(row, "confidence"), "unverified") ||
			 word_is(r->arch_confidence, "unverified");
}

static bool has_key(const struct json *row)
{
	return word(row, "version") && word(row, "platform") && word(row, "variant");
}

const struct torch_row *compat_torch_at(struct compat *c, size_t i)
{
	struct table *t = table_get(c, "torch");
	const struct json *row;
	struct torch_row *r;

	if (!t || i >= t->n)
		return NULL;
	if (!t->typed[i]) {
		row = table_row(c, t, i);
		if (!has_key(row))
			return NULL;
		r = arena_alloc(c->a, sizeof(*r));
		fill(c, row, r);
		t->typed[i] = r;
	}
	return t->typed[i];
}

const struct torch_row *compat_torch_rows(struct compat *c, size_t *ret_n)
{
	struct table *t = table_get(c, "torch");
	const struct torch_row *r;
	size_t i;

	if (t && !c->torch_rows) {
		c->torch_rows = arena_calloc(c->a, t->n + 1, sizeof(*c->torch_rows));
		for (i = 0; i < t->n; i++) {
			r = compat_torch_at(c, i);
			if (r)
				c->torch_rows[c->n_torch_rows++] = *r;
		}
	}
	*ret_n = c->n_torch_rows;
	return c->torch_rows;
}

/* "2.6.0+cu124" is release 2.6.0; a nightly or a source build ("2.6.0a0+git12") is no release. */
static bool release_of(const char *version, struct version *ret)
{
	struct view rest;

	return version && version_parse(view_cut(view_of(version), '+', &rest), ret);
}

const struct torch_key *torch_keys(struct compat *c, struct table *t)
{
	size_t i;

	if (!c->torch_keys) {
		c->torch_keys = arena_calloc(c->a, t->n + 1, sizeof(*c->torch_keys));
		for (i = 0; i < t->n; i++) {
			struct torch_key *k = &c->torch_keys[i];

			k->version = table_text(c, t, i, "version");
			k->platform = table_text(c, t, i, "platform");
			k->variant = table_text(c, t, i, "variant");
			if (!k->version.p || !version_parse(k->version, &k->number))
				k->number = (struct version){ .n = 0 };
		}
	}
	return c->torch_keys;
}

bool compat_torch_key(struct compat *c, size_t i, struct view *ret_version,
		      struct view *ret_platform, struct view *ret_variant)
{
	struct table *t = table_get(c, "torch");
	const struct torch_key *k;

	if (!t || i >= t->n)
		return false;
	k = &torch_keys(c, t)[i];
	*ret_version = k->version;
	*ret_platform = k->platform;
	*ret_variant = k->variant;
	return true;
}

const struct torch_row *compat_torch(struct compat *c, const char *version, const char *platform,
				     const char *variant)
{
	struct table *t = table_get(c, "torch");
	const struct torch_key *k;
	struct version v;
	size_t i;

	if (!t || !platform || !variant || !release_of(version, &v))
		return NULL;
	k = torch_keys(c, t);
	for (i = 0; i < t->n; i++)
		if (k[i].number.n && version_cmp(&k[i].number, &v) == 0 && k[i].platform.p &&
		    view_is(k[i].platform, platform) && k[i].variant.p &&
		    view_is(k[i].variant, variant))
			return compat_torch_at(c, i);
	return NULL;
}

const struct torch_row *const *compat_torch_of_release(struct compat *c, const char *version)
{
	struct table *t = table_get(c, "torch");
	const struct torch_row **list, *r;
	const struct torch_key *k;
	struct version v;
	size_t n = 0, i;

	list = arena_calloc(c->a, (t ? t->n : 0) + 1, sizeof(*list));
	if (!t || !release_of(version, &v))
		return list;
	k = torch_keys(c, t);
	for (i = 0; i < t->n; i++) {
		if (!k[i].number.n || version_cmp(&k[i].number, &v) != 0)
			continue;
		r = compat_torch_at(c, i);
		if (r)
			list[n++] = r;
	}
	return list;
}

bool compat_torch_release(struct compat *c, const char *version)
{
	struct table *t = table_get(c, "torch");
	const struct torch_key *k;
	struct version v;
	size_t i;

	if (!t || !release_of(version, &v))
		return false;
	k = torch_keys(c, t);
	for (i = 0; i < t->n; i++)
		if (k[i].number.n && version_cmp(&k[i].number, &v) == 0)
			return true;
	return false;
}

/* Newest release of `t` (its version stands in `release`) whose `package` is `v`. */
static const char *paired(struct compat *c, struct table *t, const char *release,
			  const char *package, const struct version *v)
{
	const char *best = NULL, *text;
	struct view have, torch;
	struct version w;
	size_t i;

	for (i = 0; t && i < t->n; i++) {
		have = table_text(c, t, i, package);
		torch = table_text(c, t, i, release);
		if (!have.p || !torch.p || !version_parse(have, &w) || version_cmp(&w, v) != 0)
			continue;
		text = view_dup(c->a, torch);
		if (!best || version_cmp_str(text, best) > 0)
			best = text;
	}
	return best;
}

const char *compat_torch_of(struct compat *c, const char *package, const char *version)
{
	const char *release;
	struct version v;

	if (!release_of(version, &v) ||
	    (!word_is(package, "torchvision") && !word_is(package, "torchaudio")))
		return NULL;
	release = paired(c, table_get(c, "torch"), "version", package, &v);
	return release ? release : paired(c, table_maybe(c, "pair"), "torch", package, &v);
}

enum arch_fit compat_arch_fit(const char *const *arch_list, size_t n, int cc,
			      const char **ret_entry)
{
	enum arch_fit best = ARCH_FIT_NONE;
	int best_cc = -1;
	struct arch arch;
	size_t i;

	if (ret_entry)
		*ret_entry = NULL;
	for (i = 0; arch_list && i < n; i++) {
		enum arch_run run = ARCH_NO;
		enum arch_fit fit;

		if (cc > 0 && arch_parse(arch_list[i], &arch))
			run = arch_runs(&arch, cc);
		fit = run == ARCH_RUNS	     ? ARCH_FIT_SASS
		      : run == ARCH_RUNS_JIT ? ARCH_FIT_PTX
					     : ARCH_FIT_NONE;
		/* Code runs from the nearest target below, as the loader picks it. */
		if (fit < best || fit == ARCH_FIT_NONE || (fit == best && arch.cc <= best_cc))
			continue;
		best = fit;
		best_cc = arch.cc;
		if (ret_entry)
			*ret_entry = arch_list[i];
	}
	return best;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which PyTorch other packages need, by table, and which bring one along. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "project/resolve.h"

static const char *exact_list(struct site *t, const struct json *row)
{
	const struct json *list = json_get(row, "torch"), *v;
	const char *last = NULL;

	for (v = json_first(list); v; v = json_next(v))
		last = json_str(v);
	if (!last)
		return NULL;
	return json_is_true(json_get(row, "exact")) ? arena_printf(t->r->a, "==%s", last) : last;
}

static const char *addon_needs(struct site *t, const char *package, const char *version)
{
	struct compat *c = t->r->c;
	size_t i, n = compat_count(c, "addon");

	for (i = compat_find(c, "addon", 0, "package", package); i < n;
	     i = compat_find(c, "addon", i + 1, "package", package)) {
		const struct json *row = compat_row(c, "addon", i);
		const char *first = json_get_str(row, "version"), *to = json_get_str(row, "to");
		struct pep440 a, b, v;

		if (!first || !pep440_parse(view_of(first), &a) ||
		    !pep440_parse(view_of(version), &v))
			continue;
		v.local = (struct view){ .n = 0 };
		if (pep440_cmp(&v, &a) == 0)
			return exact_list(t, row);
		if (to && pep440_parse(view_of(to), &b) && pep440_cmp(&v, &a) > 0 &&
		    pep440_cmp(&v, &b) <= 0)
			return exact_list(t, row);
	}
	return NULL;
}

/*
 * A release between two rows: what both need, or what the row before it needs when that is of the
 * same series (vllm 0.7.2 lies between 0.7.0 and 0.7.3).
 */
static const char *addon_between(struct site *t, const char *package, const char *version)
{
	struct compat *c = t->r->c;
	size_t i, n = compat_count(c, "addon");
	const char *below = NULL, *above = NULL, *below_version = NULL;
	struct version v, w;

	if (!version_prefix(view_of(version), &v))
		return NULL;
	for (i = compat_find(c, "addon", 0, "package", package); i < n && !above;
	     i = compat_find(c, "addon", i + 1, "package", package)) {
		const struct json *row = compat_row(c, "addon", i);
		const char *first = json_get_str(row, "version");

		if (!first || !version_prefix(view_of(first), &w))
			continue;
		if (version_cmp(&w, &v) > 0) {
			above = exact_list(t, row);
			break;
		}
		below = exact_list(t, row);
		below_version = first;
	}
	if (!below || strncmp(below, "==", 2) != 0)
		return below;
	if (above && strcmp(above, below) == 0)
		return below;
	return version_prefix(view_of(below_version), &w) && w.part[0] == v.part[0] &&
			       w.part[1] == v.part[1]
		       ? below
		       : NULL;
}

const char *needs_torch(struct site *t, const char *package, const char *version)
{
	const char *release, *need;
	size_t n = strcspn(version, "+");

	version = arena_strndup(t->r->a, version, n);
	if (strcmp(package, "torchvision") == 0 || strcmp(package, "torchaudio") == 0) {
		/* torchaudio 2.11 serves torch 2.11 and later. */
		if (strcmp(package, "torchaudio") == 0 && version_at_least(version, "2.11"))
			return ">=2.11";
		release = compat_torch_of(t->r->c, package, version);
		return release ? arena_printf(t->r->a, "==%s", release) : NULL;
	}
	if (strcmp(package, "xformers") != 0 && strcmp(package, "vllm") != 0)
		return NULL;
	need = addon_needs(t, package, version);
	return need ? need : addon_between(t, package, version);
}

/* Newest release of an add-on whose need is known. */
const char *newest_needs(struct site *t, const char *package)
{
	struct compat *c = t->r->c;
	size_t i, n = compat_count(c, "addon");
	const char *need = NULL, *one;

	for (i = compat_find(c, "addon", 0, "package", package); i < n;
	     i = compat_find(c, "addon", i + 1, "package", package)) {
		one = exact_list(t, compat_row(c, "addon", i));
		if (one)
			need = one;
	}
	/* Newer ones need at least that. */
	return need && strncmp(need, "==", 2) == 0 ? arena_printf(t->r->a, ">=%s", need + 2) : need;
}

const char *pypi_cuda(struct site *t, const char *package, const char *version)
{
	struct compat *c = t->r->c;
	size_t i, n = compat_count(c, "addon");

	for (i = compat_find(c, "addon", 0, "package", package); i < n;
	     i = compat_find(c, "addon", i + 1, "package", package)) {
		const struct json *row = compat_row(c, "addon", i);
		const char *first = json_get_str(row, "version");

		if (first && strcmp(first, version) == 0)
			return json_get_str(row, "pypi_cuda");
	}
	return NULL;
}

/* Packages that bring a torch when there is none. */
bool brings_torch(const char *name)
{
	static const char *const names[] = {
		"accelerate", "sentence-transformers", "ultralytics", "timm", "peft",
		"pytorch-lightning", "lightning", "torchmetrics", "kornia", "open-clip-torch",
		"openai-whisper", "deepspeed", "bitsandbytes", "torchvision", "torchaudio",
		"xformers", "vllm", "flash-attn", "trl", "easyocr",
		"segmentation-models-pytorch", "torchdata", "lpips", "gpytorch", "botorch",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Packages whose releases hold torch below some version that no table knows. */
bool caps_torch(const char *name)
{
	static const char *const names[] = { "fastai", "pyannote-audio", "whisperx",
					     "facenet-pytorch", "stable-baselines3", "flair",
					     "auto-gptq" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

bool torch_exactly(const char *name)
{
	return strcmp(name, "torchvision") == 0 || strcmp(name, "torchaudio") == 0 ||
	       strcmp(name, "xformers") == 0 || strcmp(name, "vllm") == 0;
}

/* Does a release of the package within the range go with this release of torch? */
static bool goes_with(struct site *t, const struct want *w, const char *torch)
{
	bool pair = strcmp(w->name, "torchvision") == 0 || strcmp(w->name, "torchaudio") == 0;
	const char *table = pair ? "pair" : "addon", *local, *spec, *version, *need;
	struct compat *c = t->r->c;
	size_t i, n = compat_count(c, table);
	bool any = false;

	if (!torch_exactly(w->name))
		return true;
	spec = without_local(t, w->spec, &local);
	for (i = 0; i < n; i++) {
		const struct json *row = compat_row(c, table, i);

		if (!pair && (!json_get_str(row, "package") ||
			      strcmp(json_get_str(row, "package"), w->name) != 0))
			continue;
		version = json_get_str(row, pair ? w->name : "version");
		if (!version || !spec_holds(t, spec, version))
			continue;
		need = pair ? needs_torch(t, w->name, version) : exact_list(t, row);
		if (need && spec_holds(t, need, torch))
			return true;
		any |= need != NULL;
	}
	/* A range of which nothing is known excludes nothing. */
	return !any;
}

const char *ranges_meet(struct site *t, const struct sources *src, const char *torch,
			const struct want *const *w, size_t n)
{
	const char *local;
	struct search q = { .spec = without_local(t, torch, &local) };
	struct pick p;
	size_t i;

	/* Each release that one of them excludes is left out, until all agree. */
	while ((p = search(t, src, &q)).row) {
		for (i = 0; i < n && goes_with(t, w[i], p.row->version); i++)
			;
		if (i == n)
			return arena_printf(t->r->a, "==%s", p.row->version);
		q.spec = arena_printf(t->r->a, "%s%s!=%s", q.spec, *q.spec ? "," : "",
				      p.row->version);
	}
	return NULL;
}

/* Is there a release of torch that both specifiers allow? */
static bool go_together(struct site *t, const char *need, const char *torch)
{
	const char *local, *both, *what;
	const struct candidate *list;
	struct pep440_spec spec;
	size_t n, i, at;

	if (!*torch)
		return true;
	both = without_local(t, arena_printf(t->r->a, "%s,%s", torch, need), &local);
	if (!pep440_spec_parse(t->r->a, view_of(both), &spec, &at, &what))
		return true;
	list = candidates(t, &n);
	for (i = 0; i < n; i++)
		if (pep440_spec_holds(&spec, &list[i].v_release, view_of(list[i].release)))
			return true;
	return false;
}

const char *range_needs(struct site *t, const char *package, const char *spec, const char *torch)
{
	bool pair = strcmp(package, "torchvision") == 0 || strcmp(package, "torchaudio") == 0;
	const char *table = pair ? "pair" : "addon", *best = NULL, *good = NULL, *version, *need;
	struct compat *c = t->r->c;
	size_t i, n = compat_count(c, table);

	/* Its list says for which there are wheels; it is built for others. */
	if (strcmp(package, "flash-attn") == 0)
		return NULL;
	for (i = 0; i < n; i++) {
		const struct json *row = compat_row(c, table, i);

		if (!pair && (!json_get_str(row, "package") ||
			      strcmp(json_get_str(row, "package"), package) != 0))
			continue;
		version = json_get_str(row, pair ? package : "version");
		if (!version || !spec_holds(t, spec, version))
			continue;
		need = pair ? arena_printf(t->r->a, "==%s", json_get_str(row, "torch"))
			    : exact_list(t, row);
		if (!need)
			continue;
		best = need;
		if (go_together(t, need, torch))
			good = need;
	}
	return good ? good : best;
}

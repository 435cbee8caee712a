/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What older guides say that no longer holds. The sayings are rows; what holds comes from the
 * tables, so that it never grows old itself.
 */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "guide/parts.h"
#include "rule/look.h"

/* Fills holds, here and source; false when the tables do not say. */
typedef bool check_fn(struct guiding *w, struct guide_note *n);

/* The newest release with a CUDA build whose targets are known, on the platform. */
static const struct torch_row *newest(struct guiding *w, bool (*serves)(const struct torch_row *r))
{
	const char *platform = look_platform(w->in->s);
	const struct torch_row *best = NULL;
	size_t i, n;
	const struct torch_row *rows = compat_torch_rows(w->in->c, &n);

	if (!platform || strncmp(platform, "macos", 5) == 0)
		platform = "linux_x86_64";
	for (i = 0; i < n; i++)
		if (rows[i].cuda && rows[i].n_arch && !rows[i].unconfirmed &&
		    strcmp(rows[i].platform, platform) == 0 && (!serves || serves(&rows[i])) &&
		    (!best || version_cmp_str(rows[i].version, best->version) > 0))
			best = &rows[i];
	return best;
}

static bool has_sm35(const struct torch_row *r)
{
	const char *entry;

	return compat_arch_fit(r->arch_list, r->n_arch, 35, &entry) == ARCH_FIT_SASS;
}

static bool has_python38(const struct torch_row *r)
{
	size_t i;

	for (i = 0; i < r->n_python; i++)
		if (strcmp(r->python[i], "3.8") == 0)
			return true;
	return false;
}

/* Lowest code target of any build of a release: 75 for "sm_75". */
static int lowest_target(struct guiding *w, const char *version)
{
	const struct torch_row *const *r = compat_torch_of_release(w->in->c, version);
	int low = 0;
	size_t i;
	uint64_t cc;

	for (; *r; r++)
		for (i = 0; (*r)->cuda && !(*r)->unconfirmed && i < (*r)->n_arch; i++) {
			struct view v = view_of((*r)->arch_list[i]);

			if (view_starts(v, "sm_") && view_u64(view_skip(v, 3), 10, &cc) &&
			    (!low || (int)cc < low))
				low = (int)cc;
		}
	return low;
}

static bool capability(struct guiding *w, struct guide_note *n)
{
	const struct torch_row *now = newest(w, NULL), *last = newest(w, has_sm35);
	int low = now ? lowest_target(w, now->version) : 0, cc = 0;
	size_t i;

	if (!low || !last)
		return false;
	n->holds =
		arena_printf(w->a,
			     _("torch %s has code for %d.%d and newer; the last release with code "
			       "for 3.5 is %s."),
			     now->version, low / 10, low % 10, last->version);
	n->source = now->source;
	for (i = 0; i < w->in->s->n_gpus; i++)
		if (!cc || (look_cc(&w->in->s->gpus[i]) > 0 && look_cc(&w->in->s->gpus[i]) < cc))
			cc = look_cc(&w->in->s->gpus[i]);
	if (cc > 0)
		n->here = arena_printf(w->a, _("This machine has %d.%d."), cc / 10, cc % 10);
	return true;
}

static bool python_version(struct guiding *w, struct guide_note *n)
{
	const struct torch_row *now = newest(w, NULL), *last = newest(w, has_python38);
	const struct python *p = look_deciding(w->in->s);

	if (!now || !now->n_python || !last)
		return false;
	n->holds = arena_printf(w->a,
				_("torch %s is built for Python %s to %s; the last release for "
				  "3.8 is %s."),
				now->version, now->python[0], now->python[now->n_python - 1],
				last->version);
	n->source = now->source;
	if (p && fact_known(&p->version))
		n->here = arena_printf(w->a, _("The Python here is %s."), p->version.value);
	return true;
}

/* The newest Ubuntu among the systems of a row of tags, else its last. */
static const char *system_of(const struct json *tag)
{
	const struct json *os;
	const char *best = NULL, *s;

	for (os = json_first(json_get(tag, "os")); os; os = json_next(os)) {
		s = json_str(os);
		if (s && (!best || strncmp(s, "ubuntu", 6) == 0) &&
		    (!best || strncmp(best, "ubuntu", 6) != 0 || strcmp(s, best) > 0))
			best = s;
	}
	return best;
}

static bool has_devel(const struct json *tag)
{
	const struct json *fl;

	for (fl = json_first(json_get(tag, "flavours")); fl; fl = json_next(fl))
		if (json_str(fl) && strcmp(json_str(fl), "devel") == 0)
			return true;
	return false;
}

/* A tag that exists, for the CUDA of the plan: "12.6.3-devel-ubuntu24.04". */
static const char *existing_tag(struct guiding *w, const char *cuda)
{
	size_t i = compat_count(w->in->c, "image_tag");
	const char *prefix = cuda ? arena_printf(w->a, "%s.", cuda) : "", *best = NULL,
		   *found = NULL;

	while (i-- > 0) {
		const struct json *row = compat_row(w->in->c, "image_tag", i), *tag;
		const char *version = json_get_str(row, "version");

		if (!version || strncmp(version, prefix, strlen(prefix)) != 0)
			continue;
		for (tag = json_first(json_get(row, "tags")); tag; tag = json_next(tag)) {
			const char *os = has_devel(tag) ? system_of(tag) : NULL;

			if (os && (!best || strncmp(best, "ubuntu", 6) != 0)) {
				best = os;
				found = arena_printf(w->a, "nvidia/cuda:%s-devel-%s", version, os);
			}
		}
		if (found)
			return found;
	}
	return NULL;
}

static bool image_tag(struct guiding *w, struct guide_note *n)
{
	const struct plan *p = w->in->plan;
	const char *cuda = p && p->chosen ? p->chosen->cuda : NULL;
	const char *tag = existing_tag(w, cuda);

	tag = tag ? tag : existing_tag(w, NULL);
	if (!tag)
		return false;
	n->holds = arena_printf(w->a, _("Every tag has three numbers, as %s."), tag);
	n->source = arena_printf(w->a, "matrix image_tag of %s",
				 compat_table_date(w->in->c, "image_tag"));
	return true;
}

static bool empty_tail(struct guiding *w, struct guide_note *n)
{
	const struct fact *f = snapshot_env_fact(w->in->s, "LD_LIBRARY_PATH");
	struct view v;

	n->holds = _(
		"When the variable was not set, the line ends in an empty element, and the loader "
		"takes that for the working directory. `cuvet env` writes lines that leave none.");
	n->source = "ld.so(8)";
	if (!f || !fact_known(f) || !*f->value)
		return true;
	v = view_of(f->value);
	if (v.p[0] == ':' || v.p[v.n - 1] == ':' || view_find(v, "::") >= 0)
		n->here = arena_printf(w->a, _("LD_LIBRARY_PATH has an empty element here: %s"),
				       f->value);
	return true;
}

static const struct {
	const char *id, *said;
	check_fn *check;
} rows[] = {
	{ .id = "compute-capability",
	  .said = N_("A card of compute capability 3.5 or newer is enough."),
	  .check = capability },
	{ .id = "python", .said = N_("Python 3.8 is a good choice."), .check = python_version },
	{ .id = "image-tag",
	  .said = N_("Use an image such as nvidia/cuda:12.4-devel-ubuntu22.04."),
	  .check = image_tag },
	{ .id = "empty-element",
	  .said = N_("export LD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH"),
	  .check = empty_tail },
};

void guide_add_outdated(struct guiding *w)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct guide_note n = { .id = rows[i].id, .said = _(rows[i].said) };

		if (rows[i].check(w, &n))
			*ARENA_APPEND(w->a, w->g->outdated, w->g->n_outdated) = n;
	}
}

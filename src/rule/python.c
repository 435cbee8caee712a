/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about declared targets: was this release ever published for this Python, this platform,
 * this CUDA tag? */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

static const char *short_version(struct judge *j, const char *text)
{
	struct version v = { .n = 0 };

	if (!text || !version_prefix(view_of(text), &v) || v.n < 2)
		return NULL;
	return arena_printf(j->a, "%u.%u", v.part[0], v.part[1]);
}

static bool in_list(const char *const *list, const char *what)
{
	for (; list && *list; list++)
		if (strcmp(*list, what) == 0)
			return true;
	return false;
}

/* Rows of a release on the platform, of one variant when it is named. */
static bool row_fits(const struct judge *j, const struct torch_row *row, const char *release,
		     const char *variant)
{
	return strcmp(row->version, release) == 0 &&
	       strcmp(row->platform, look_platform(j->s)) == 0 &&
	       (!variant || strcmp(row->variant, variant) == 0);
}

static const char *joined(struct judge *j, const char *const *list)
{
	struct strbuf b;

	strbuf_init(&b, j->a);
	for (; list && *list; list++) {
		strbuf_sep(&b, " ");
		strbuf_add(&b, *list);
	}
	return b.s;
}

/* -------- python-no-wheel */

static void no_wheel(struct judge *j, const struct python *p, const char *python,
		     const struct torch_row *row)
{
	struct finding *f = finding_add(j, FINDING_PYTHON_NO_WHEEL, look_prefix(p));

	finding_message(j, f, _("torch %s has no wheel for Python %s; it was published for %s."),
			row->version, python, joined(j, row->python));
	finding_fact(j, f, "python.version", &p->version, joined(j, row->python));
	finding_fact(j, f, "torch.version", &p->torch.version, NULL);
	finding_evidence(j, f, "matrix torch", joined(j, row->python), python, row->source);
	if (row->doubtful)
		finding_inferred(f);
	remedy_torch(j, f, p);
}

static void run_python_no_wheel(struct judge *j)
{
	const struct python *p = look_deciding(j->s);
	const struct torch_row *rows, *seen = NULL;
	const char *python, *release, *variant;
	size_t i, n;

	/* An installed build has found its Python; only a declared one can be without. */
	if (!p || !look_declared(&p->torch))
		return;
	python = short_version(j, fact_value(&p->version, NULL));
	release = look_torch_release(j, &p->torch);
	variant = look_torch_variant(j, &p->torch);
	if (!python || !release) {
		judge_skip(j, "python.version", "%s",
			   _("the Python that is to run this torch is not known"));
		return;
	}
	rows = compat_torch_rows(j->c, &n);
	for (i = 0; i < n; i++) {
		if (!row_fits(j, &rows[i], release, variant) || !rows[i].n_python)
			continue;
		if (in_list(rows[i].python, python) || in_list(rows[i].python_experimental, python))
			return;
		seen = &rows[i];
	}
	if (seen)
		no_wheel(j, p, python, seen);
	else
		judge_skip(j, "torch.python",
			   _("the matrix does not say for which Pythons torch %s was published"),
			   release);
}

/* -------- wrong-index-tag */

static const char *newest_release(struct judge *j)
{
	const struct torch_row *rows;
	const char *newest = NULL;
	size_t i, n;

	rows = compat_torch_rows(j->c, &n);
	for (i = 0; i < n; i++)
		if (!newest || version_cmp_str(rows[i].version, newest) > 0)
			newest = rows[i].version;
	return newest;
}

static const char *variants_of(struct judge *j, const char *release)
{
	const struct torch_row *rows;
	struct strbuf b;
	size_t i, n;

	strbuf_init(&b, j->a);
	rows = compat_torch_rows(j->c, &n);
	for (i = 0; i < n; i++) {
		if (!row_fits(j, &rows[i], release, NULL))
			continue;
		strbuf_sep(&b, " ");
		strbuf_add(&b, rows[i].variant);
	}
	return b.s;
}

static void run_wrong_index_tag(struct judge *j)
{
	const struct python *p = look_deciding(j->s);
	const char *release, *variant, *published;
	struct finding *f;

	if (!p || !look_declared(&p->torch))
		return;
	release = look_torch_release(j, &p->torch);
	variant = look_torch_variant(j, &p->torch);
	if (!compat_torch_release(j->c, release) &&
	    version_cmp_str(release, newest_release(j)) > 0) {
		judge_skip(j, "matrix torch", _("torch %s is newer than the matrix"), release);
		return;
	}
	if (compat_torch_release(j->c, release) &&
	    (!variant || compat_torch(j->c, release, look_platform(j->s), variant)))
		return;
	f = finding_add(j, FINDING_WRONG_INDEX_TAG, look_prefix(p));
	published = variants_of(j, release);
	if (!compat_torch_release(j->c, release))
		finding_message(j, f, _("There is no torch %s: that release was never published."),
				release);
	else if (*published)
		finding_message(
			j, f, _("torch %s was never published as %s for %s; its variants are: %s."),
			release, variant, look_platform(j->s), published);
	else
		finding_message(j, f, _("torch %s was never published for %s."), release,
				look_platform(j->s));
	finding_fact(j, f, "torch.version", &p->torch.version, *published ? published : NULL);
	finding_evidence(j, f, "matrix torch", *published ? published : _("no row"), variant,
			 "matrix torch");
	remedy_torch(j, f, p);
}

const struct rule rule_python_no_wheel = {
	.name = "python-no-wheel",
	.needs = NEED_TORCH,
	.layer = LAYER_PYTHON,
	.run = run_python_no_wheel,
};
const struct rule rule_wrong_index_tag = {
	.name = "wrong-index-tag",
	.needs = NEED_TORCH,
	.layer = LAYER_FRAMEWORK,
	.run = run_wrong_index_tag,
};

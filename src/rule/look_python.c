/* SPDX-License-Identifier: Apache-2.0 */
/* Which environment decides, and what is known of the PyTorch in it: the binary's word before the
 * matrix's. */
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"

static bool has_framework(const struct python *p)
{
	return fact_known(&p->torch.version) || python_package(p, "jax") ||
	       python_package(p, "jaxlib") || python_package(p, "tensorflow") ||
	       python_package(p, "onnxruntime-gpu");
}

const struct python *look_deciding(const struct snapshot *s)
{
	const struct python *active = snapshot_active_python(s), *only = NULL;
	size_t i, n = 0;

	if (active)
		return active;
	for (i = 0; i < s->n_pythons; i++) {
		if (!has_framework(&s->pythons[i]))
			continue;
		only = &s->pythons[i];
		n++;
	}
	return n == 1 ? only : NULL;
}

const struct python *look_python_of(const struct snapshot *s, const char *prefix)
{
	size_t i;

	for (i = 0; i < s->n_pythons; i++)
		if (fact_is(&s->pythons[i].prefix, prefix))
			return &s->pythons[i];
	return NULL;
}

const char *look_prefix(const struct python *p)
{
	return fact_value(&p->prefix, "PyTorch");
}

bool look_declared(const struct torch *t)
{
	return fact_known(&t->version) && t->version.source &&
	       strcmp(t->version.source, "assumed") == 0;
}

bool look_unpublished(struct judge *j, const struct python *p)
{
	if (!look_declared(&p->torch) || !judge_has(j, FINDING_WRONG_INDEX_TAG))
		return false;
	judge_skip(j, "torch.version", "%s", _("that build was never published"));
	return true;
}

const char *look_torch_release(struct judge *j, const struct torch *t)
{
	struct view local;

	if (!fact_known(&t->version))
		return NULL;
	return view_dup(j->a, view_cut(view_of(t->version.value), '+', &local));
}

/* What `pip install torch==RELEASE` brings on this platform; NULL when the matrix does not say. */
static const char *pypi_variant(struct judge *j, const char *release)
{
	const struct torch_row *rows;
	size_t i, n;

	rows = compat_torch_rows(j->c, &n);
	for (i = 0; i < n; i++)
		if (rows[i].pypi_default && strcmp(rows[i].version, release) == 0 &&
		    strcmp(rows[i].platform, look_platform(j->s)) == 0)
			return rows[i].variant;
	return NULL;
}

const char *look_torch_variant(struct judge *j, const struct torch *t)
{
	struct view local;

	if (fact_known(&t->variant))
		return t->variant.value;
	if (!fact_known(&t->version))
		return NULL;
	view_cut(view_of(t->version.value), '+', &local);
	if (local.n)
		return view_dup(j->a, local);
	return look_declared(t) ? pypi_variant(j, t->version.value) : NULL;
}

const struct torch_row *look_torch_row(struct judge *j, const struct torch *t)
{
	const char *release = look_torch_release(j, t), *variant = look_torch_variant(j, t);

	if (!release || !variant)
		return NULL;
	return compat_torch(j->c, release, look_platform(j->s), variant);
}

bool look_torch_archs(struct judge *j, const struct torch *t, struct look_archs *ret)
{
	const struct torch_row *row;

	if (t->arch_list.state == FACT_KNOWN && t->arch_list.n) {
		*ret = (struct look_archs){ .list = t->arch_list.values,
					    .n = t->arch_list.n,
					    .source = t->arch_list.source };
		return true;
	}
	/* What conda and people built themselves has another list than the wheel of the same
	 * number. */
	if (fact_known(&t->origin) && !fact_is(&t->origin, "pip"))
		return false;
	row = look_torch_row(j, t);
	if (!row || !row->arch_list || !row->n_arch)
		return false;
	*ret = (struct look_archs){ .list = row->arch_list,
				    .n = row->n_arch,
				    .source = row->source,
				    .from_table = true };
	return true;
}

const char *look_torch_cuda(struct judge *j, const struct torch *t)
{
	const char *variant;

	if (fact_known(&t->cuda))
		return t->cuda.value;
	if (t->cuda.state != FACT_NOT_ASKED)
		return NULL;
	variant = look_torch_variant(j, t);
	return variant ? version_of_cu_tag(j->a, variant) : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Dotted versions, compute capabilities and code targets; pure functions. */
#include "model/version.h"

#include <string.h>

#include "base/arena.h"

static size_t numeric_prefix(struct view v)
{
	size_t i = 0;

	while (i < v.n &&
	       ((v.p[i] >= '0' && v.p[i] <= '9') ||
		(v.p[i] == '.' && i + 1 < v.n && v.p[i + 1] >= '0' && v.p[i + 1] <= '9')))
		i++;
	return i;
}

bool version_parse(struct view v, struct version *ret)
{
	struct version out = { .n = 0 };
	struct view rest = v, part;
	uint64_t x;

	if (!v.n || v.p[v.n - 1] == '.')
		return false;
	while (rest.n) {
		part = view_cut(rest, '.', &rest);
		if (out.n == VERSION_PARTS || !view_u64(part, 10, &x) || x > INT32_MAX)
			return false;
		out.part[out.n++] = (unsigned)x;
	}
	*ret = out;
	return true;
}

bool version_prefix(struct view v, struct version *ret)
{
	return version_parse((struct view){ .p = v.p, .n = numeric_prefix(v) }, ret);
}

int version_cmp(const struct version *a, const struct version *b)
{
	size_t i;

	for (i = 0; i < VERSION_PARTS; i++)
		if (a->part[i] != b->part[i])
			return a->part[i] < b->part[i] ? -1 : 1;
	return 0;
}

int version_cmp_str(const char *a, const char *b)
{
	struct version va, vb;
	bool ga = a && version_prefix(view_of(a), &va), gb = b && version_prefix(view_of(b), &vb);

	if (!ga || !gb)
		return (int)ga - (int)gb;
	return version_cmp(&va, &vb);
}

bool version_at_least(const char *a, const char *b)
{
	struct version va, vb;

	return a && b && version_prefix(view_of(a), &va) && version_prefix(view_of(b), &vb) &&
	       version_cmp(&va, &vb) >= 0;
}

bool version_within(const char *version, const char *series)
{
	size_t n = strlen(series);

	return strncmp(version, series, n) == 0 && !(version[n] >= '0' && version[n] <= '9');
}

const char *version_of_cuda_number(struct arena *a, long number)
{
	if (number < 1000)
		return NULL;
	return arena_printf(a, "%ld.%ld", number / 1000, number % 1000 / 10);
}

const char *version_of_cu_tag(struct arena *a, const char *tag)
{
	struct view v = view_of(tag);
	uint64_t x;

	if (!view_starts(v, "cu"))
		return NULL;
	v = view_skip(v, 2);
	if (v.n < 2 || v.n > 3 || !view_u64(v, 10, &x))
		return NULL;
	return arena_printf(a, "%llu.%llu", (unsigned long long)(x / 10),
			    (unsigned long long)(x % 10));
}

int cc_parse(const char *text)
{
	struct version v;

	if (!text || !version_parse(view_of(text), &v) || v.n != 2 || v.part[0] > 99 ||
	    v.part[1] > 9)
		return -1;
	return (int)(v.part[0] * 10 + v.part[1]);
}

const char *cc_text(struct arena *a, int cc)
{
	return arena_printf(a, "%d.%d", cc / 10, cc % 10);
}

bool arch_parse(const char *text, struct arch *ret)
{
	struct view v = view_of(text);
	struct arch out = { .kind = ARCH_SASS };
	uint64_t x;

	if (view_starts(v, "sm_")) {
		v = view_skip(v, 3);
	} else if (view_starts(v, "compute_")) {
		out.kind = ARCH_PTX;
		v = view_skip(v, 8);
	} else {
		return false;
	}
	if (v.n && (v.p[v.n - 1] == 'a' || v.p[v.n - 1] == 'f')) {
		out.suffix = v.p[v.n - 1];
		v.n--;
	}
	if (!view_u64(v, 10, &x) || x < 10 || x > 999)
		return false;
	out.cc = (int)x;
	*ret = out;
	return true;
}

/*
 * Integrated GPUs whose cubins are not exchangeable with those of the discrete chips of their
 * major.
 */
static bool is_tegra(int cc)
{
	return cc == 53 || cc == 62 || cc == 72 || cc == 87 || cc == 110;
}

static int renamed(int cc)
{
	return cc == 101 ? 110 : cc;
}

enum arch_run arch_runs(const struct arch *target, int device_cc)
{
	int want = renamed(target->cc), have = renamed(device_cc);
	bool same_major = want / 10 == have / 10;

	if (target->suffix == 'a')
		return want == have ? (target->kind == ARCH_PTX ? ARCH_RUNS_JIT : ARCH_RUNS)
				    : ARCH_NO;
	if (target->suffix == 'f') {
		if (!same_major || have < want)
			return ARCH_NO;
		return target->kind == ARCH_PTX ? ARCH_RUNS_JIT : ARCH_RUNS;
	}
	if (target->kind == ARCH_PTX)
		return have >= want ? ARCH_RUNS_JIT : ARCH_NO;
	if (is_tegra(want) || is_tegra(have))
		return want == have ? ARCH_RUNS : ARCH_NO;
	return same_major && have >= want ? ARCH_RUNS : ARCH_NO;
}

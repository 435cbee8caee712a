/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares the torch table for solving. Decides nothing. */
#include "plan/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static const char *const platforms[] = { "linux_x86_64", "linux_aarch64", "windows_x86_64",
					 "macos_arm64" };

struct matrix *matrix_new(struct arena *a, struct compat *c)
{
	struct matrix *m = arena_alloc(a, sizeof(*m));

	m->a = a;
	m->c = c;
	return m;
}

bool python_parse(const char *text, int *ret_minor, bool *ret_threaded)
{
	struct view v = view_of(text), major, rest;
	uint64_t x, y;

	major = view_cut(v, '.', &rest);
	rest = view_cut(rest, '.', &v); /* 3.12.4 is 3.12 */
	*ret_threaded = view_ends(rest, "t") || view_ends(v, "t");
	if (view_ends(rest, "t"))
		rest.n--;
	if (!view_u64(major, 10, &x) || !view_u64(rest, 10, &y) || x < 2 || x > 3 || y > 31)
		return false;
	*ret_minor = x == 3 ? (int)y : 0;
	return x == 3 ? y > 0 : y == 7;
}

unsigned cuda_major(const char *cuda)
{
	struct version v;

	return cuda && version_prefix(view_of(cuda), &v) ? v.part[0] : 0;
}

const char *cuda_minor(struct arena *a, const char *full)
{
	struct version v;

	if (!full || !version_prefix(view_of(full), &v) || v.n < 2)
		return NULL;
	return arena_printf(a, "%u.%u", v.part[0], v.part[1]);
}

static void parse(const char *text, struct version *ret)
{
	if (!text || !version_parse(view_of(text), ret))
		*ret = (struct version){ .n = 0 };
}

static uint32_t minors(const char *const *list, bool threaded)
{
	uint32_t bits = 0;
	bool t;
	int minor;

	for (; list && *list; list++)
		if (python_parse(*list, &minor, &t) && t == threaded)
			bits |= UINT32_C(1) << minor;
	return bits;
}

static void read_archs(struct matrix *m, struct build *b)
{
	const struct torch_row *r = b->row;
	size_t i;

	if (!r->n_arch)
		return;
	b->archs = arena_calloc(m->a, r->n_arch, sizeof(*b->archs));
	for (i = 0; i < r->n_arch; i++)
		if (arch_parse(r->arch_list[i], &b->archs[b->n_archs]))
			b->n_archs++;
}

static bool prepare(struct matrix *m, const struct torch_row *r, struct build *b)
{
	int os;

	*b = (struct build){ .row = r };
	b->text = arena_printf(m->a, "%s+%s", r->version, r->variant);
	if (!pep440_parse(view_of(b->text), &b->version))
		return false;
	parse(r->version, &b->release);
	b->kind = r->cuda ? BUILD_CUDA : strcmp(r->variant, "cpu") == 0 ? BUILD_CPU : BUILD_OTHER;
	parse(r->cuda, &b->cuda);
	parse(r->min_glibc, &b->glibc);
	for (os = 0; r->cuda && os < 2; os++)
		b->min_driver[os] = compat_min_driver(m->c, r->cuda, os == 1, NULL);
	parse(b->min_driver[0], &b->min_linux);
	parse(b->min_driver[1], &b->min_windows);
	read_archs(m, b);
	b->unverified = r->unconfirmed || !r->index_url || (r->cuda && !b->n_archs);
	b->pythons = minors((const char *const *)r->python, false);
	b->threaded = minors((const char *const *)r->python, true) |
		      minors((const char *const *)r->python_experimental, true);
	b->experimental = minors((const char *const *)r->python_experimental, false);
	if (!b->unverified)
		m->pythons |= b->pythons;
	return true;
}

static int newest_first(const void *x, const void *y)
{
	const struct build *a = x, *b = y;
	int r = version_cmp(&b->release, &a->release);

	if (r)
		return r;
	r = version_cmp(&b->cuda, &a->cuda);
	return r ? r : strcmp(a->row->variant, b->row->variant);
}

static void load(struct matrix *m, size_t which)
{
	struct builds *list = &m->builds[which];
	size_t n = compat_count(m->c, "torch"), i;
	const struct torch_row *r;

	list->v = arena_calloc(m->a, n + 1, sizeof(*list->v));
	for (i = 0; i < n; i++) {
		const char *platform = compat_text(m->c, "torch", i, "platform");

		if (!platform || strcmp(platform, platforms[which]) != 0)
			continue;
		r = compat_torch_at(m->c, i);
		if (r && prepare(m, r, &list->v[list->n]))
			list->n++;
	}
	qsort(list->v, list->n, sizeof(*list->v), newest_first);
}

const struct builds *matrix_builds(struct matrix *m, const char *platform)
{
	size_t i;

	for (i = 0; i + 1 < ARRAY_LEN(platforms) && strcmp(platforms[i], platform) != 0; i++)
		continue;
	if (!m->loaded[i]) {
		m->loaded[i] = true;
		load(m, i);
	}
	return &m->builds[i];
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The packages that the matrix holds, and their releases out of the add-on table. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "plan/matrix.h"

const struct product products[] = {
	{ .name = "torch", .family = FAMILY_TORCH },
	{ .name = "torchvision", .family = FAMILY_PAIR },
	{ .name = "torchaudio", .family = FAMILY_PAIR },
	{ .name = "triton", .family = FAMILY_PAIR },
	{ .name = "flash-attn", .family = FAMILY_ADDON, .table = "addon", .key = "flash-attn" },
	{ .name = "xformers", .family = FAMILY_ADDON, .table = "addon", .key = "xformers" },
	{ .name = "bitsandbytes", .family = FAMILY_ADDON, .table = "addon", .key = "bitsandbytes" },
	{ .name = "vllm", .family = FAMILY_ADDON, .table = "addon", .key = "vllm" },
	{ .name = "tensorflow", .family = FAMILY_FRAMEWORK, .table = "tensorflow" },
	{ .name = "jax", .family = FAMILY_FRAMEWORK, .table = "jax" },
	{ .name = "onnxruntime-gpu", .family = FAMILY_FRAMEWORK, .table = "onnxruntime" },
	{ .name = "cupy", .family = FAMILY_FRAMEWORK, .table = "addon", .key = "cupy" },
	{ .name = "cupy-cuda11x", .family = FAMILY_FRAMEWORK, .table = "addon", .key = "cupy" },
	{ .name = "cupy-cuda12x", .family = FAMILY_FRAMEWORK, .table = "addon", .key = "cupy" },
	{ .name = "cupy-cuda13x", .family = FAMILY_FRAMEWORK, .table = "addon", .key = "cupy" },
	{ .name = NULL },
};

const struct product *product_named(const char *name)
{
	const struct product *p;

	for (p = products; p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

static const char **list(struct matrix *m, const struct json *row, const char *key, size_t *ret_n)
{
	*ret_n = 0;
	return json_str_list(m->a, json_get(row, key), ret_n);
}

static bool doubtful(const struct json *row)
{
	const char *confidence = json_get_str(row, "confidence");

	return confidence && strcmp(confidence, "low") == 0;
}

static bool unverified(const struct json *row)
{
	const char *confidence = json_get_str(row, "confidence");

	return confidence && strcmp(confidence, "unverified") == 0;
}

/*
 * What the add-ons' own documents say about the CUDA of their binaries (data/compat/addon.json,
 * facts.rules): flash-attn goes by the CUDA major, xformers is built for one variant of torch,
 * bitsandbytes for X.Y and from 0.50 on for the major, vLLM for the torch of PyPI.
 */
static enum cuda_match match_of(const struct product *p, const struct offer *o)
{
	static const struct pep440 fallback = { .part = { 0, 50 }, .n = 2 };

	if (strcmp(p->key, "flash-attn") == 0)
		return MATCH_MAJOR;
	if (strcmp(p->key, "xformers") == 0)
		return o->n_builds ? MATCH_VARIANT : MATCH_NONE;
	if (strcmp(p->key, "bitsandbytes") == 0)
		return pep440_cmp(&o->number, &fallback) >= 0 ? MATCH_MAJOR : MATCH_MINOR;
	return MATCH_DEFAULT;
}

/* vLLM's documents: 7.0, in the current ones 7.5 (facts.rules of the table); its rows do not say.
 */
static int least_cc(const struct product *p, const struct offer *o, const struct json *row)
{
	static const struct pep440 current = { .part = { 0, 20 }, .n = 2 };
	int cc = cc_parse(json_get_str(row, "cc_min"));

	if (cc < 0 && strcmp(p->key, "vllm") == 0)
		return pep440_cmp(&o->number, &current) >= 0 ? 75 : 70;
	return cc;
}

static bool read_addon(struct matrix *m, const struct product *p, const struct json *row,
		       struct offer *o)
{
	const char *cuda_min;

	*o = (struct offer){ .version = json_get_str(row, "version"),
			     .to = json_get_str(row, "to") };
	if (!o->version || !pep440_parse(view_of(o->version), &o->number))
		return false;
	/* "0.3.99" says how far the row reaches; it is no release. */
	if (o->to &&
	    (view_ends(view_of(o->to), ".99") || !pep440_parse(view_of(o->to), &o->to_number)))
		o->to = NULL;
	o->torch = list(m, row, "torch", &o->n_torch);
	o->torch_exact = json_get_bool(row, "exact", false);
	o->builds = list(m, row, "cuda_builds", &o->n_builds);
	o->archs = list(m, row, "archs", &o->n_archs);
	o->pythons = list(m, row, "pythons", &o->n_pythons);
	o->python = json_get_str(row, "python");
	o->doubtful = doubtful(row);
	o->unverified = unverified(row) || (o->torch_exact && !o->n_torch);
	o->match = match_of(p, o);
	o->cc_min = least_cc(p, o, row);
	cuda_min = json_get_str(row, "cuda_min");
	o->cuda = p->family == FAMILY_ADDON ? cuda_min : NULL;
	return true;
}

/* "cupy-cuda12x" is for CUDA 12, "cupy-cuda112" for 11.2. */
static unsigned cupy_major(const char *wheel)
{
	struct view v = view_of(wheel);
	uint64_t n;

	if (!view_starts(v, "cupy-cuda"))
		return 0;
	v = view_skip(v, strlen("cupy-cuda"));
	if (!view_ends(v, "x"))
		return 0;
	v.n--;
	return view_u64(v, 10, &n) && n < 100 ? (unsigned)n : 0;
}

/* One offer a wheel; "cupy" itself is a source build, so it stands for whichever wheel fits. */
static void add_cupy(struct matrix *m, const struct product *p, const struct json *row,
		     struct offer *o, struct offers *ret)
{
	size_t n, i;
	const char **wheels = list(m, row, "wheels", &n);

	for (i = n; i-- > 0;) {
		unsigned major = cupy_major(wheels[i]);

		if (!major || (strcmp(p->name, "cupy") != 0 && strcmp(p->name, wheels[i]) != 0))
			continue;
		o->dist = wheels[i];
		o->flavour = arena_printf(m->a, "%u", major);
		o->cuda = arena_printf(m->a, "%u.0", major);
		if (major == 11)
			o->cuda = "11.2"; /* cupy-cuda11x asks for 11.2 (facts.rules) */
		o->match = MATCH_NONE;
		o->torch = NULL;
		o->builds = NULL;
		*ARENA_APPEND(m->a, ret->v, ret->n) = *o;
	}
}

void offers_addon(struct matrix *m, const struct product *p, struct offers *ret)
{
	size_t n = compat_count(m->c, "addon"), i;
	struct offer o;

	for (i = 0; i < n; i++) {
		const char *name = compat_text(m->c, "addon", i, "package");

		if (!name || strcmp(name, p->key) != 0 ||
		    !read_addon(m, p, compat_row(m->c, "addon", i), &o))
			continue;
		if (strcmp(p->key, "cupy") == 0)
			add_cupy(m, p, compat_row(m->c, "addon", i), &o, ret);
		else
			*ARENA_APPEND(m->a, ret->v, ret->n) = o;
	}
}

static void prepare_archs(struct matrix *m, struct offer *o)
{
	size_t i;

	if (!o->n_archs)
		return;
	o->targets = arena_calloc(m->a, o->n_archs, sizeof(*o->targets));
	for (i = 0; i < o->n_archs; i++)
		if (arch_parse(o->archs[i], &o->targets[o->n_targets]))
			o->n_targets++;
}

static void prepare_python(struct matrix *m, struct offer *o)
{
	const char *what;
	size_t at, i;
	bool t;
	int minor;

	o->any_python = !o->n_pythons;
	for (i = 0; i < o->n_pythons; i++)
		if (python_parse(o->pythons[i], &minor, &t) && !t)
			o->minors |= UINT32_C(1) << minor;
	for (minor = o->py_min; minor && minor <= o->py_max && minor < 32; minor++) {
		o->minors |= UINT32_C(1) << minor;
		o->any_python = false;
	}
	if (o->python && !pep440_spec_parse(m->a, view_of(o->python), &o->python_spec, &at, &what))
		o->python_spec = (struct pep440_spec){ .n = 0 };
}

/* What a framework's CUDA needs; an add-on runs on torch's. */
static void prepare_cuda(struct matrix *m, const struct product *p, struct offer *o)
{
	const struct cuda_row *row = o->cuda ? compat_cuda(m->c, o->cuda) : NULL;
	struct version own;
	int os;

	o->nvcc_min = row && p->family == FAMILY_FRAMEWORK ? row->nvcc_min_cc : -1;
	for (os = 0; p->family == FAMILY_FRAMEWORK && o->cuda && os < 2; os++) {
		o->least_text[os] = compat_min_driver(m->c, o->cuda, os == 1, NULL);
		if (!o->least_text[os] || !version_parse(view_of(o->least_text[os]), &o->least[os]))
			o->least[os] = (struct version){ .n = 0 };
	}
	if (o->min_driver && version_parse(view_of(o->min_driver), &own) &&
	    version_cmp(&own, &o->least[0]) > 0) {
		o->least[0] = own;
		o->least_text[0] = o->min_driver;
	}
}

static int newest_first(const void *x, const void *y)
{
	const struct offer *a = x, *b = y;
	int r = pep440_cmp(&b->number, &a->number);

	return r ? r : (int)cuda_major(b->flavour) - (int)cuda_major(a->flavour);
}

const struct offers *matrix_offers(struct matrix *m, const struct product *p, const char *platform)
{
	struct offers *o;
	size_t i;

	for (i = 0; i < m->n_offers; i++)
		if (strcmp(m->offers[i].name, p->name) == 0 &&
		    strcmp(m->offers[i].platform, platform) == 0)
			return &m->offers[i];
	o = ARENA_APPEND(m->a, m->offers, m->n_offers);
	o->name = p->name;
	o->platform = arena_strdup(m->a, platform);
	if (strcmp(p->table, "addon") == 0)
		offers_addon(m, p, o);
	else if (strcmp(p->table, "tensorflow") == 0)
		offers_tensorflow(m, o);
	else if (strcmp(p->table, "jax") == 0)
		offers_jax(m, o);
	else
		offers_onnxruntime(m, o);
	for (i = 0; i < o->n; i++) {
		prepare_archs(m, &o->v[i]);
		prepare_python(m, &o->v[i]);
		prepare_cuda(m, p, &o->v[i]);
	}
	if (o->n)
		qsort(o->v, o->n, sizeof(*o->v), newest_first);
	return o;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Releases of TensorFlow, JAX and ONNX Runtime out of their tables. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "plan/matrix.h"

static const char **list(struct matrix *m, const struct json *v, size_t *ret_n)
{
	*ret_n = 0;
	return json_str_list(m->a, v, ret_n);
}

static bool marked(const struct json *row, const char *how)
{
	const char *confidence = json_get_str(row, "confidence");

	return confidence && strcmp(confidence, how) == 0;
}

/* "3.9-3.12" */
static void range(const char *text, struct offer *o)
{
	struct view hi, lo = view_cut(view_of(text), '-', &hi);
	struct version v;

	if (version_parse(lo, &v) && v.n == 2 && v.part[0] == 3)
		o->py_min = (int)v.part[1];
	if (version_parse(hi, &v) && v.n == 2 && v.part[0] == 3)
		o->py_max = (int)v.part[1];
}

void offers_tensorflow(struct matrix *m, struct offers *ret)
{
	size_t n = compat_count(m->c, "tensorflow"), i;

	for (i = 0; i < n; i++) {
		const struct json *row = compat_row(m->c, "tensorflow", i);
		const char *platform = json_get_str(row, "platform");
		struct offer o = { .version = json_get_str(row, "version"), .cc_min = -1 };

		if (!o.version || !platform || strcmp(platform, ret->platform) != 0 ||
		    !pep440_parse(view_of(o.version), &o.number))
			continue;
		o.cuda = json_get_str(row, "cuda");
		o.cudnn = json_get_str(row, "cudnn");
		o.min_driver = json_get_str(row, "min_driver_linux");
		o.extra = json_get_bool(row, "and_cuda", false) ? "and-cuda" : NULL;
		o.archs = list(m, json_get(row, "arch_list"), &o.n_archs);
		o.unverified = !o.archs;
		o.doubtful = marked(row, "low");
		range(json_get_str(row, "python"), &o);
		*ARENA_APPEND(m->a, ret->v, ret->n) = o;
	}
}

static bool has(const struct json *names, const char *name)
{
	const struct json *v;

	for (v = json_first(names); v; v = json_next(v))
		if (json_str(v) && strcmp(json_str(v), name) == 0)
			return true;
	return false;
}

static const char *extra_of(struct matrix *m, const struct json *row, const char *flavour)
{
	const struct json *extras = json_get(row, "extras");
	const char *with_pip = arena_printf(m->a, "%s_pip", flavour);

	if (has(extras, flavour))
		return flavour;
	return has(extras, with_pip) ? with_pip : NULL;
}

static const char *by_flavour(const struct json *row, const char *field, const char *flavour)
{
	const struct json *o = json_get(row, field);
	const char *s = json_get_str(o, flavour);

	return s ? s : json_get_str(o, "any");
}

static void add_jax(struct matrix *m, const struct json *row, const char *flavour,
		    struct offers *ret)
{
	const struct json *archs = json_get(row, "arch_list"),
			  *built = json_get(json_get(row, "built_with"), flavour);
	struct offer o = { .version = json_get_str(row, "version"),
			   .flavour = flavour + strlen("cuda") };
	static const struct pep440 plugins = { .part = { 0, 4, 31 }, .n = 3 };

	o.extra = extra_of(m, row, flavour);
	if (!o.extra || !o.version || !pep440_parse(view_of(o.version), &o.number))
		return;
	o.python = json_get_str(row, "python");
	o.cuda = cuda_minor(m->a, json_get_str(built, "cuda"));
	if (!o.cuda)
		o.cuda = by_flavour(row, "min_cuda", flavour);
	o.cudnn = by_flavour(row, "min_cudnn", flavour);
	o.min_driver = by_flavour(row, "min_driver_linux", flavour);
	o.cc_min = cc_parse(by_flavour(row, "cc_min", flavour));
	o.archs = list(m,
		       json_get(archs, flavour) ? json_get(archs, flavour) : json_get(archs, "all"),
		       &o.n_archs);
	o.unverified = !o.archs || !o.cuda;
	/* Before the plug-ins the CUDA wheels of jaxlib were not on PyPI (facts.notes of the
	 * table). */
	if (pep440_cmp(&o.number, &plugins) < 0)
		o.find_links = "https://storage.googleapis.com/jax-releases/jax_cuda_releases.html";
	o.doubtful = marked(row, "low");
	*ARENA_APPEND(m->a, ret->v, ret->n) = o;
}

void offers_jax(struct matrix *m, struct offers *ret)
{
	static const char *const flavours[] = { "cuda13", "cuda12", "cuda11" };
	size_t n = compat_count(m->c, "jax"), i, f;

	/* No CUDA for native Windows or macOS (facts.notes). */
	if (!view_starts(view_of(ret->platform), "linux"))
		return;
	for (i = 0; i < n; i++)
		for (f = 0; f < ARRAY_LEN(flavours); f++)
			add_jax(m, compat_row(m->c, "jax", i), flavours[f], ret);
}

/* Wheels on PyPI alone: the feeds have no address in the matrix. */
void offers_onnxruntime(struct matrix *m, struct offers *ret)
{
	size_t n = compat_count(m->c, "onnxruntime"), i;

	if (strcmp(ret->platform, "linux_x86_64") != 0 &&
	    strcmp(ret->platform, "windows_x86_64") != 0)
		return;
	for (i = 0; i < n; i++) {
		const struct json *row = compat_row(m->c, "onnxruntime", i);
		const char *channel = json_get_str(row, "channel"), *dot;
		struct offer o = { .version = json_get_str(row, "version"), .cc_min = -1 };

		if (!channel || strcmp(channel, "pypi") != 0 || !o.version ||
		    !pep440_parse(view_of(o.version), &o.number))
			continue;
		o.to = json_get_str(row, "to");
		if (o.to && !pep440_parse(view_of(o.to), &o.to_number))
			o.to = NULL;
		dot = strchr(o.version, '.');
		o.series = dot && !strchr(dot + 1, '.');
		o.flavour = json_get_str(row, "cuda_major");
		o.cuda = o.flavour ? arena_printf(m->a, "%s.0", o.flavour) : NULL;
		o.cudnn = json_get_str(row, strcmp(ret->platform, "windows_x86_64") == 0
						    ? "cudnn_windows"
						    : "cudnn_linux");
		o.extra = "cuda,cudnn";
		o.doubtful = marked(row, "low");
		o.unverified = marked(row, "unverified") || !o.cuda;
		*ARENA_APPEND(m->a, ret->v, ret->n) = o;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of a cuDNN: newest first, and never one that has no code for a card that is here. */
#include "fetch/choose.h"

#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "model/version.h"

/* What the table of each release does not say (its facts.rules): first cuDNN without a card. */
static const struct {
	const char *from; /* of cuDNN */
	int cc_min;
} floors[] = {
	{ .from = "9.11.0", .cc_min = 75 },
	{ .from = "8.8.0", .cc_min = 50 },
	{ .from = "8.0.0", .cc_min = 35 },
};
#define BLACKWELL_FROM "9.7.0"

struct chooser {
	struct arena *a;
	struct compat *c;
	const struct snapshot *s; /* NULL: nothing is known */
	const char *version, *cuda, *platform;
	const char *driver;
	const char *cuda_why; /* where the CUDA major comes from; NULL: asked for, or free */
	bool cuda_open;	      /* any major will do */
	unsigned major;
	struct strbuf refused;
	int n_refused;
};

const char *choose_platform(const struct snapshot *s)
{
	const char *arch = s ? fact_value(&s->host.arch, NULL) : NULL;
	const char *system = s ? fact_value(&s->host.system, "linux") : "linux";
	size_t i;

#ifdef __aarch64__
	bool arm = !arch || strcmp(arch, "aarch64") == 0;
#else
	bool arm = arch && strcmp(arch, "aarch64") == 0;
#endif
	if (strcmp(system, "windows") == 0)
		return arm ? "windows-arm64" : "windows-x86_64";
	if (!arm)
		return "linux-x86_64";
	/* Up to Orin the integrated GPUs have builds of their own; Thor takes the servers'. */
	for (i = 0; s && i < s->n_gpus; i++) {
		int cc = cc_parse(fact_value(&s->gpus[i].compute_capability, ""));

		if (cc == 53 || cc == 62 || cc == 72 || cc == 87)
			return "linux-aarch64";
	}
	return "linux-sbsa";
}

const char *choose_pinned(struct compat *c, const char *product, const char *label,
			  bool *ret_listed)
{
	size_t i, n = compat_count(c, "redist");

	*ret_listed = false;
	for (i = compat_find(c, "redist", 0, "label", label); i < n;
	     i = compat_find(c, "redist", i + 1, "label", label)) {
		const char *p = compat_text(c, "redist", i, "product");

		if (p && strcmp(p, product) == 0) {
			*ret_listed = true;
			return compat_text(c, "redist", i, "sha256");
		}
	}
	return NULL;
}

static void refuse(struct chooser *h, const char *fmt, ...) ATTR_PRINTF(2, 3);
static void refuse(struct chooser *h, const char *fmt, ...)
{
	va_list ap;
	char *text;

	if (h->n_refused++ >= 4)
		return;
	va_start(ap, fmt);
	text = arena_vprintf(h->a, fmt, ap);
	va_end(ap);
	if (h->refused.n && strstr(h->refused.s, text))
		return;
	strbuf_sep(&h->refused, "; ");
	strbuf_add(&h->refused, text);
}

/* A member of an object by the major ("12"), else the lowest by a minor of it ("12.4"). */
static const char *of_major(const struct json *row, const char *field, const char *major)
{
	const struct json *obj = json_get(row, field), *v;
	const char *lowest = json_get_str(obj, major);
	size_t n = strlen(major);

	if (lowest)
		return lowest;
	for (v = json_first(obj); v; v = json_next(v)) {
		const char *key = json_key(v);

		if (strncmp(key, major, n) == 0 && key[n] == '.' && json_str(v) &&
		    (!lowest || version_cmp_str(json_str(v), lowest) < 0))
			lowest = json_str(v);
	}
	return lowest;
}

static bool listed(const struct json *list, const char *text)
{
	const struct json *v;

	for (v = json_first(list); v; v = json_next(v))
		if (json_str(v) && strcmp(json_str(v), text) == 0)
			return true;
	return false;
}

static int lowest_cc(const struct json *row, const char *version, const char *major)
{
	const char *said = of_major(row, "cc_min", major);
	const char *image = json_str(json_first(json_get(json_get(row, "images"), major)));
	int cc = said ? cc_parse(said) : image ? cc_parse(image) : -1;
	size_t i;

	for (i = 0; i < ARRAY_LEN(floors); i++)
		if (version_at_least(version, floors[i].from))
			return cc > floors[i].cc_min ? cc : floors[i].cc_min;
	return cc;
}

/* The newest major of compute capability that it has code for; -1 not known. */
static int highest_major(const struct json *row, const char *version, const char *major)
{
	const char *said = of_major(row, "cc_max", major), *last = NULL;
	const struct json *v;

	for (v = json_first(json_get(json_get(row, "images"), major)); v; v = json_next(v))
		last = json_str(v) ? json_str(v) : last;
	if (said || last)
		return cc_parse(said ? said : last) / 10;
	return version_at_least(version, BLACKWELL_FROM) ? -1 : 9;
}

static const char *gpu_name(const struct chooser *h, const struct gpu *g)
{
	return arena_printf(h->a, "%s (%s)", fact_value(&g->name, _("the GPU")),
			    fact_value(&g->compute_capability, "?"));
}

static bool gpus_fit(struct chooser *h, const struct json *row, const char *version,
		     const char *major)
{
	size_t i;

	for (i = 0; h->s && i < h->s->n_gpus; i++) {
		const struct gpu *g = &h->s->gpus[i];
		int cc = cc_parse(fact_value(&g->compute_capability, ""));
		int low = lowest_cc(row, version, major), high;

		if (cc < 0)
			continue;
		if (low >= 0 && cc < low) {
			refuse(h, _("cuDNN %s has no code for %s: it begins at %s"), version,
			       gpu_name(h, g), cc_text(h->a, low));
			return false;
		}
		high = highest_major(row, version, major);
		if (high >= 0 && cc / 10 > high) {
			refuse(h, _("cuDNN %s for CUDA %s does not know %s yet"), version, major,
			       gpu_name(h, g));
			return false;
		}
	}
	return true;
}

static bool driver_fits(struct chooser *h, const struct json *row, const char *version,
			const char *major)
{
	bool windows = strncmp(h->platform, "windows", 7) == 0, inferred;
	const char *least =
		of_major(row, windows ? "min_driver_windows" : "min_driver", major);

	if (!h->driver)
		return true;
	if (!least)
		least = compat_min_driver(h->c, arena_printf(h->a, "%s.0", major), windows,
					  &inferred);
	if (!least || version_at_least(h->driver, least))
		return true;
	refuse(h, _("cuDNN %s for CUDA %s needs driver %s, here is %s"), version, major, least,
	       h->driver);
	return false;
}

static bool row_fits(struct chooser *h, const struct json *row, const char *version,
		     const char *major)
{
	if (!listed(json_get(row, "cuda_majors"), major)) {
		refuse(h, _("cuDNN %s has no build for CUDA %s"), version, major);
		return false;
	}
	return gpus_fit(h, row, version, major) && driver_fits(h, row, version, major);
}

/* Does the row's version begin with what was asked for ("9.1" is 9.1.0 and 9.1.1)? */
static bool asked(const struct chooser *h, const struct json *row, const char *version)
{
	struct version want, have;
	unsigned i;

	if (!h->version)
		return true;
	if (listed(json_get(row, "full"), h->version))
		return true;
	if (!version_parse(view_of(h->version), &want) ||
	    !version_parse(view_of(version), &have))
		return false;
	for (i = 0; i < want.n && i < 3; i++)
		if (want.part[i] != have.part[i])
			return false;
	return true;
}

/* The label under which the row's manifest was published; NULL when none is known. */
static const char *label_of(const struct chooser *h, const struct json *row, const char *version)
{
	const struct json *v;
	bool there;

	if (h->version && (choose_pinned(h->c, "cudnn", h->version, &there) || there))
		return h->version;
	if (choose_pinned(h->c, "cudnn", version, &there) || there)
		return version;
	for (v = json_first(json_get(row, "full")); v; v = json_next(v))
		if (json_str(v) &&
		    (choose_pinned(h->c, "cudnn", json_str(v), &there) || there))
			return json_str(v);
	return NULL;
}

static void set_major(struct chooser *h, const char *version, const char *why)
{
	struct version v;

	if (!version_prefix(view_of(version), &v) || !v.part[0])
		return;
	h->major = v.part[0];
	h->cuda_why = why;
}

/* CUDA by what it is for: the active environment's torch, else the toolkit; else all are open. */
static void find_major(struct chooser *h)
{
	const struct python *p = h->s ? snapshot_active_python(h->s) : NULL;
	size_t i;

	if (h->cuda) {
		set_major(h, h->cuda, NULL);
		return;
	}
	if (p && fact_known(&p->torch.cuda))
		set_major(h, p->torch.cuda.value,
			  arena_printf(h->a, _("torch %s is built with CUDA %s"),
				       fact_value(&p->torch.version, "?"), p->torch.cuda.value));
	for (i = 0; h->s && !h->major && i < h->s->n_toolkits; i++)
		if (fact_known(&h->s->toolkits[i].version))
			set_major(h, h->s->toolkits[i].version.value,
				  arena_printf(h->a, _("the toolkit is CUDA %s"),
					       h->s->toolkits[i].version.value));
	if (h->major)
		return;
	h->cuda_open = true;
	h->major = 99;
	if (h->s && fact_known(&h->s->driver.cuda_ceiling))
		set_major(h, h->s->driver.cuda_ceiling.value, NULL);
	else if (h->driver && compat_driver_cuda(h->c, h->driver))
		set_major(h, compat_driver_cuda(h->c, h->driver), NULL);
}

/* The newest major of the row that fits and is not above what the driver knows. */
static const char *fitting_major(struct chooser *h, const struct json *row, const char *version)
{
	const struct json *v;
	const char *best = NULL, *major;
	uint64_t n, top = 0;

	if (!h->cuda_open) {
		major = arena_printf(h->a, "%u", h->major);
		return row_fits(h, row, version, major) ? major : NULL;
	}
	for (v = json_first(json_get(row, "cuda_majors")); v; v = json_next(v)) {
		if (!json_str(v) || !view_u64(view_of(json_str(v)), 10, &n) || n > h->major ||
		    n < top || !row_fits(h, row, version, json_str(v)))
			continue;
		top = n;
		best = json_str(v);
	}
	return best;
}

static const char *explain(struct chooser *h, const char *version, const char *major)
{
	struct strbuf b;
	const char *gpu = h->s && h->s->n_gpus ? gpu_name(h, &h->s->gpus[0]) : NULL;

	strbuf_init(&b, h->a);
	strbuf_printf(&b, _("cuDNN %s for CUDA %s"), version, major);
	if (h->version)
		strbuf_printf(&b, _(" is what %s stands for"), h->version);
	else if (gpu || h->driver)
		strbuf_printf(&b, _(" is the newest that fits %s%s%s%s"), gpu ? gpu : "",
			      gpu && h->driver ? _(" and ") : "", h->driver ? _("driver ") : "",
			      h->driver ? h->driver : "");
	else
		strbuf_add(&b, _(" is the newest; nothing is known of a GPU or a driver"));
	if (h->cuda_why)
		strbuf_printf(&b, "; %s", h->cuda_why);
	if (h->refused.n)
		strbuf_printf(&b, "; %s", h->refused.s);
	return b.s;
}

/* A version that the table does not hold: its label is what was written, or its first three parts.
 */
static int untold(struct chooser *h, struct choice *ret, struct err *err)
{
	struct version v;
	bool there;

	if (!h->version || !version_parse(view_of(h->version), &v) || v.n < 3)
		return err_set(err, ERR_NOENT, _("no cuDNN %s is known"),
			       h->version ? h->version : "");
	*ret = (struct choice){ .label = h->version, .cuda = h->cuda };
	if (!choose_pinned(h->c, "cudnn", h->version, &there) && !there && v.n > 3 &&
	    v.part[0] >= 9)
		ret->label = arena_printf(h->a, "%u.%u.%u", v.part[0], v.part[1], v.part[2]);
	return 0;
}

int choose_cudnn(struct arena *a, struct compat *c, const struct snapshot *s, const char *version,
		 const char *cuda, const char *platform, struct choice *ret, struct err *err)
{
	struct chooser h = { .a = a, .c = c, .s = s, .version = version, .cuda = cuda,
			     .platform = platform };
	const char *best = NULL;
	size_t i, n = compat_count(c, "cudnn");
	bool known = false;

	strbuf_init(&h.refused, a);
	h.driver = s ? fact_value(&s->driver.version, NULL) : NULL;
	find_major(&h);
	for (i = n; i-- > 0;) {
		const struct json *row = compat_row(c, "cudnn", i);
		const char *v = json_get_str(row, "version"), *label, *major;

		if (!v || !asked(&h, row, v) || (best && version_cmp_str(v, best) <= 0))
			continue;
		known = true;
		label = label_of(&h, row, v);
		if (!label)
			label = version && version_cmp_str(version, v) == 0 ? v : NULL;
		major = label ? fitting_major(&h, row, v) : NULL;
		if (!major)
			continue;
		best = v;
		*ret = (struct choice){ .label = label, .cuda = cuda ? cuda : major };
		ret->why = explain(&h, v, major);
	}
	if (best)
		return 0;
	if (!known)
		return untold(&h, ret, err);
	return err_set(err, ERR_NOENT, _("no cuDNN%s%s fits: %s"), version ? " " : "",
		       version ? version : "",
		       h.refused.n ? h.refused.s : _("none of them has a known archive"));
}

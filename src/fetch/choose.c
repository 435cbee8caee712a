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
#define BLACKWELL_FROM "9.7.0" /* in its builds for CUDA 12 and later */
enum { BLACKWELL_CUDA = 12 };

struct chooser {
	struct arena *a;
	struct compat *c;
	const struct snapshot *s; /* NULL: nothing is known */
	const struct choose_ask *q;
	const char *driver;
	const char *cuda_why; /* where the CUDA major comes from; NULL: asked for, or free */
	bool cuda_open;	      /* any major will do */
	unsigned major;
	struct strbuf refused;
	int n_refused;
	const char *unjudged; /* a GPU of which nobody knows what it can run; NULL */
};

/* Compute capabilities of integrated GPUs: first the Jetsons that have builds of their own. */
static const int beside_arm[] = { 53, 62, 72, 87, 101, 110, 121 };
enum { JETSONS = 4 };

static bool listed_cc(const int *list, size_t n, const struct gpu *g)
{
	int cc = cc_parse(fact_value(&g->compute_capability, ""));
	size_t i;

	for (i = 0; i < n && list[i] != cc; i++)
		;
	return i < n;
}

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
	/* These GPUs are on one chip with an Arm processor, whatever asks for them. */
	for (i = 0; s && i < s->n_gpus; i++)
		arm = arm || listed_cc(beside_arm, ARRAY_LEN(beside_arm), &s->gpus[i]);
	if (strcmp(system, "windows") == 0)
		return arm ? "windows-arm64" : "windows-x86_64";
	if (!arm)
		return "linux-x86_64";
	/* Up to Orin the integrated GPUs have builds of their own; Thor takes the servers'. */
	for (i = 0; s && i < s->n_gpus; i++)
		if (listed_cc(beside_arm, JETSONS, &s->gpus[i]))
			return "linux-aarch64";
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
	uint64_t n;

	for (v = json_first(json_get(json_get(row, "images"), major)); v; v = json_next(v))
		last = json_str(v) ? json_str(v) : last;
	if (said || last)
		return cc_parse(said ? said : last) / 10;
	if (!view_u64(view_of(major), 10, &n))
		n = BLACKWELL_CUDA;
	return version_at_least(version, BLACKWELL_FROM) && n >= BLACKWELL_CUDA ? -1 : 9;
}

/* What a GPU can run: of a name that several chips bear, from the least to the most of them. */
struct range {
	int low, high; /* -1: not known */
};

static struct range range_of(struct chooser *h, const struct gpu *g)
{
	int cc = cc_parse(fact_value(&g->compute_capability, ""));
	struct range r = { .low = cc, .high = cc };
	const char *name = fact_value(&g->name, NULL);
	struct gpu_match m;
	size_t i;

	if (cc >= 0 || !name)
		return r;
	compat_gpu_find(h->c, name, &m);
	for (i = 0; i < m.n; i++) {
		cc = m.rows[i]->cc;
		if (cc > 0 && (r.low < 0 || cc < r.low))
			r.low = cc;
		if (cc > r.high)
			r.high = cc;
	}
	return r;
}

static const char *gpu_name(struct chooser *h, const struct gpu *g)
{
	struct range r = range_of(h, g);

	return arena_printf(h->a, "%s (%s%s%s)", fact_value(&g->name, _("the GPU")),
			    r.low < 0 ? "?" : cc_text(h->a, r.low), r.high > r.low ? "-" : "",
			    r.high > r.low ? cc_text(h->a, r.high) : "");
}

/* Each once, as far as there is room: "A (8.9), B (6.1)". */
static const char *gpu_names(struct chooser *h)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, h->a);
	for (i = 0; i < h->q->s->n_gpus && b.n < 200; i++) {
		const char *one = gpu_name(h, &h->q->s->gpus[i]);

		if (b.n && strstr(b.s, one))
			continue;
		strbuf_sep(&b, ", ");
		strbuf_add(&b, one);
	}
	return b.s;
}

static bool gpus_fit(struct chooser *h, const struct json *row, const char *version,
		     const char *major)
{
	int low = lowest_cc(row, version, major), high = highest_major(row, version, major);
	size_t i;

	for (i = 0; h->q->s && i < h->q->s->n_gpus; i++) {
		const struct gpu *g = &h->q->s->gpus[i];
		struct range r = range_of(h, g);

		if (r.low < 0)
			h->unjudged = fact_value(&g->name, _("the GPU"));
		if (r.low >= 0 && r.low < low) {
			refuse(h, _("cuDNN %s has no code for %s: it begins at %s"), version,
			       gpu_name(h, g), cc_text(h->a, low));
			return false;
		}
		if (high >= 0 && r.high / 10 > high) {
			refuse(h, _("cuDNN %s for CUDA %s does not know %s yet"), version, major,
			       gpu_name(h, g));
			return false;
		}
	}
	return true;
}

static bool windows(const struct chooser *h)
{
	return strncmp(h->q->platform, "windows", 7) == 0;
}

/* "10.0" stands for that generation and all later ones; "10.7" for later chips of its own. */
static bool from_covers(int from, int cc)
{
	return cc >= from && (from % 10 == 0 || cc / 10 == from / 10);
}

/*
 * Newer cards need more of the driver. The matrices that were read say it; other releases stand as
 * the last one before them that does, the ones before the first as that.
 */
static const char *driver_of_card(struct chooser *h, const char *version, const char *major,
				  const struct gpu *g)
{
	size_t i, n = compat_count(h->c, "cudnn");
	const char *best = NULL, *of = NULL;
	int cc = range_of(h, g).low;

	for (i = 0; i < n; i++) {
		const struct json *row = compat_row(h->c, "cudnn", i);
		const struct json *one = json_get(json_get(row, "min_driver_by_cc"), major);
		const char *least = json_get_str(one, windows(h) ? "windows" : "linux");
		const char *from = json_get_str(one, "from_cc"), *v = json_get_str(row, "version");

		if (!least || !from || !v || !from_covers(cc_parse(from), cc))
			continue;
		if (of && (version_cmp_str(v, version) > 0 || version_cmp_str(v, of) < 0))
			continue;
		of = v;
		best = least;
	}
	return best;
}

static bool driver_fits(struct chooser *h, const struct json *row, const char *version,
			const char *major)
{
	const char *least = of_major(row, windows(h) ? "min_driver_windows" : "min_driver", major);
	bool inferred;
	size_t i;

	if (!h->driver)
		return true;
	if (!least)
		least = compat_min_driver(h->c, arena_printf(h->a, "%s.0", major), windows(h),
					  &inferred);
	if (least && !version_at_least(h->driver, least)) {
		refuse(h, _("cuDNN %s for CUDA %s needs driver %s, here is %s"), version, major,
		       least, h->driver);
		return false;
	}
	for (i = 0; i < h->q->s->n_gpus; i++) {
		const struct gpu *g = &h->q->s->gpus[i];

		least = driver_of_card(h, version, major, g);
		if (!least || version_at_least(h->driver, least))
			continue;
		refuse(h, _("cuDNN %s for CUDA %s needs driver %s for %s, here is %s"), version,
		       major, least, gpu_name(h, g), h->driver);
		return false;
	}
	return true;
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

	if (!h->q->version)
		return true;
	if (listed(json_get(row, "full"), h->q->version))
		return true;
	if (!version_parse(view_of(h->q->version), &want) ||
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

	if (h->q->version && (choose_pinned(h->c, "cudnn", h->q->version, &there) || there))
		return h->q->version;
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
	const struct python *p = h->q->s ? snapshot_active_python(h->q->s) : NULL;
	size_t i;

	if (h->q->cuda) {
		set_major(h, h->q->cuda, h->q->cuda_why);
		return;
	}
	if (p && fact_known(&p->torch.cuda))
		set_major(h, p->torch.cuda.value,
			  arena_printf(h->a, _("torch %s is built with CUDA %s"),
				       fact_value(&p->torch.version, "?"), p->torch.cuda.value));
	for (i = 0; h->q->s && !h->major && i < h->q->s->n_toolkits; i++)
		if (fact_known(&h->q->s->toolkits[i].version))
			set_major(h, h->q->s->toolkits[i].version.value,
				  arena_printf(h->a, _("the toolkit is CUDA %s"),
					       h->q->s->toolkits[i].version.value));
	if (h->major)
		return;
	h->cuda_open = true;
	h->major = 99;
	if (h->q->s && fact_known(&h->q->s->driver.cuda_ceiling))
		set_major(h, h->q->s->driver.cuda_ceiling.value, NULL);
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
	const char *gpu = h->q->s && h->q->s->n_gpus ? gpu_names(h) : NULL;

	strbuf_init(&b, h->a);
	strbuf_printf(&b, _("cuDNN %s for CUDA %s"), version, major);
	if (h->q->version)
		strbuf_printf(&b, _(" is what %s stands for"), h->q->version);
	else if (gpu || h->driver)
		strbuf_printf(&b, _(" is the newest that fits %s%s%s%s"), gpu ? gpu : "",
			      gpu && h->driver ? _(" and ") : "", h->driver ? _("driver ") : "",
			      h->driver ? h->driver : "");
	else
		strbuf_add(&b, _(" is the newest; nothing is known of a GPU or a driver"));
	if (h->cuda_why)
		strbuf_printf(&b, "; %s", h->cuda_why);
	if (h->unjudged)
		strbuf_printf(&b, _("; what %s can run is not known, so it was not judged"),
			      h->unjudged);
	if (h->q->below)
		strbuf_printf(&b, _("; from %s on there is no archive for %s here"), h->q->below,
			      h->q->platform);
	if (h->refused.n)
		strbuf_printf(&b, "; %s", h->refused.s);
	return b.s;
}

/* A version that the table does not hold: its label is what was written, or its first three parts.
 */
static int untold(struct chooser *h, struct choice *ret, struct err *err)
{
	const char *major = h->cuda_open ? "" : arena_printf(h->a, "%u", h->major);
	struct version v;
	bool there;

	if (!h->q->version || !version_parse(view_of(h->q->version), &v) || v.n < 3)
		return err_set(err, ERR_NOENT, _("no cuDNN %s is known"),
			       h->q->version ? h->q->version : "");
	/* What cards and CUDA need holds for it all the same, as far as rules say it. */
	if (!gpus_fit(h, NULL, h->q->version, major) ||
	    (*major && !driver_fits(h, NULL, h->q->version, major)))
		return err_set(err, ERR_NOENT, _("no cuDNN %s fits: %s"), h->q->version,
			       h->refused.s);
	*ret = (struct choice){ .label = h->q->version, .cuda = h->q->cuda };
	if (!choose_pinned(h->c, "cudnn", h->q->version, &there) && !there && v.n > 3 &&
	    v.part[0] >= 9)
		ret->label = arena_printf(h->a, "%u.%u.%u", v.part[0], v.part[1], v.part[2]);
	return 0;
}

int choose_cudnn(struct arena *a, struct compat *c, const struct choose_ask *q, struct choice *ret,
		 struct err *err)
{
	struct chooser h = { .a = a, .c = c, .q = q };
	const char *best = NULL, *version = q->version;
	size_t i, n = compat_count(c, "cudnn");
	bool known = false;

	strbuf_init(&h.refused, a);
	h.driver = q->s ? fact_value(&q->s->driver.version, NULL) : NULL;
	find_major(&h);
	for (i = n; i-- > 0;) {
		const struct json *row = compat_row(c, "cudnn", i);
		const char *v = json_get_str(row, "version"), *label, *major;

		if (!v || !asked(&h, row, v) || (best && version_cmp_str(v, best) <= 0))
			continue;
		known = true;
		if (q->below && version_cmp_str(v, q->below) >= 0)
			continue;
		label = label_of(&h, row, v);
		if (!label)
			label = version && version_cmp_str(version, v) == 0 ? v : NULL;
		major = label ? fitting_major(&h, row, v) : NULL;
		if (!major)
			continue;
		best = v;
		*ret = (struct choice){ .label = label, .cuda = q->cuda ? q->cuda : major,
					.version = v };
		ret->why = explain(&h, v, major);
	}
	if (best)
		return 0;
	if (!known)
		return untold(&h, ret, err);
	return err_set(err, ERR_NOENT, _("no cuDNN%s%s fits: %s%s%s%s"), version ? " " : "",
		       version ? version : "",
		       h.refused.n ? h.refused.s : _("none of them has a known archive"),
		       h.cuda_why ? "; " : "", h.cuda_why ? h.cuda_why : "",
		       h.cuda_why ? _(" (--cuda N asks for another)") : "");
}

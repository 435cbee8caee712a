/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demand that an image states about its host (NVIDIA_REQUIRE_*), held against the driver as the
 * container toolkit does it: alternatives by blanks, conditions by commas, several variables
 * together.
 */
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

enum truth { FALSE_, TRUE_, UNKNOWN_ };

struct facts {
	const char *cuda, *driver, *arch, *brand;
};

static enum truth compare(const char *have, struct view op, const char *want)
{
	int order;

	if (!have)
		return UNKNOWN_;
	order = version_cmp_str(have, want);
	if (view_is(op, ">="))
		return order >= 0 ? TRUE_ : FALSE_;
	if (view_is(op, "<="))
		return order <= 0 ? TRUE_ : FALSE_;
	if (view_is(op, ">"))
		return order > 0 ? TRUE_ : FALSE_;
	if (view_is(op, "<"))
		return order < 0 ? TRUE_ : FALSE_;
	if (view_is(op, "="))
		return order == 0 ? TRUE_ : FALSE_;
	if (view_is(op, "!="))
		return order != 0 ? TRUE_ : FALSE_;
	return UNKNOWN_;
}

/* "cuda>=12.4", "brand=tesla", "driver<471", "arch!=3.5". */
static enum truth condition(struct judge *j, const struct facts *h, struct view c)
{
	size_t name = 0, op;
	const char *want;
	struct view key;

	while (name < c.n && strchr("<>=!", c.p[name]) == NULL)
		name++;
	for (op = name; op < c.n && strchr("<>=!", c.p[op]) != NULL; op++)
		;
	if (!name || op == name || op == c.n)
		return UNKNOWN_;
	key = (struct view){ .p = c.p, .n = name };
	want = view_dup(j->a, view_skip(c, op));
	c = (struct view){ .p = c.p + name, .n = op - name };
	if (view_is(key, "cuda"))
		return compare(h->cuda, c, want);
	if (view_is(key, "driver"))
		return compare(h->driver, c, want);
	if (view_is(key, "arch"))
		return compare(h->arch, c, want);
	if (!view_is(key, "brand") || !h->brand || !view_is(c, "="))
		return UNKNOWN_;
	return strcmp(h->brand, want) == 0 ? TRUE_ : FALSE_;
}

static enum truth alternative(struct judge *j, const struct facts *h, struct view all)
{
	enum truth t = TRUE_;

	while (all.n) {
		enum truth one = condition(j, h, view_trim(view_cut(all, ',', &all)));

		if (one == FALSE_)
			return FALSE_;
		if (one == UNKNOWN_)
			t = UNKNOWN_;
	}
	return t;
}

static enum truth requirement(struct judge *j, const struct facts *h, const char *value)
{
	struct view rest = view_of(value), one;
	enum truth t = FALSE_;
	bool any = false;

	while (view_word(&rest, &one)) {
		enum truth alt = alternative(j, h, one);

		any = true;
		if (alt == TRUE_)
			return TRUE_;
		if (alt == UNKNOWN_)
			t = UNKNOWN_;
	}
	return any ? t : TRUE_;
}

/* The brand as the driver names it, where the class leaves no choice. */
static const char *brand(struct judge *j)
{
	const struct gpu_row *row = j->s->n_gpus ? look_gpu_row(j, &j->s->gpus[0]) : NULL;

	if (!row || !row->gpu_class)
		return NULL;
	if (strcmp(row->gpu_class, "geforce") == 0 || strcmp(row->gpu_class, "mobile") == 0)
		return "geforce";
	return strcmp(row->gpu_class, "datacenter") == 0 ? "tesla" : NULL;
}

/* "12.8" of "cuda>=12.8 brand=..."; the text as it is when it has no such beginning. */
static const char *demanded_cuda(struct judge *j, const char *value)
{
	struct view rest, word = { 0 };

	rest = view_of(value);
	if (!view_starts(rest, "cuda>=") || !view_word(&rest, &word))
		return value;
	return view_dup(j->a, view_cut(view_skip(word, 6), ',', &rest));
}

/* What the container toolkit takes for "yes" in NVIDIA_DISABLE_REQUIRE. */
static bool is_disabled(const struct snapshot *s)
{
	static const char *const yes[] = { "1", "t", "T", "true", "TRUE", "True" };
	const char *value = snapshot_env(s, "NVIDIA_DISABLE_REQUIRE");
	size_t i;

	for (i = 0; value && i < ARRAY_LEN(yes); i++)
		if (strcmp(value, yes[i]) == 0)
			return true;
	return false;
}

/*
 * An image that nobody has started yet, or a host that is only declared: the toolkit will refuse
 * the start. A container that runs was let through, and unless CUDA is seen to fail in it,
 * minor-version compatibility may do.
 */
static enum severity severity_of(const struct snapshot *s, const struct fact *driver)
{
	bool starts = fact_is(&s->source, "image") ||
		      (driver->source && strcmp(driver->source, "assumed") == 0);

	if (starts)
		return is_disabled(s) ? SEVERITY_WARNING : SEVERITY_ERROR;
	return look_cuda_init(s) > 0 ? SEVERITY_ERROR : SEVERITY_WARNING;
}

static void run_image_requires_newer_driver(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *driver = look_cuda_driver(s);
	struct fact ceiling = { 0 };
	struct facts h = { 0 };
	bool inferred;
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!look_in_container(s) || look_cuda_works(s) || !driver)
		return;
	h.cuda = look_ceiling(j, &ceiling, &inferred);
	h.driver = driver->value;
	h.brand = brand(j);
	h.arch = s->n_gpus ? fact_value(&s->gpus[0].compute_capability, NULL) : NULL;
	for (i = 0; i < s->n_environment; i++) {
		const struct var *v = &s->environment[i];

		if (!view_starts(view_of(fact_value(&v->name, "")), "NVIDIA_REQUIRE_") ||
		    !fact_known(&v->value) || requirement(j, &h, v->value.value) != FALSE_)
			continue;
		f = finding_add(j, FINDING_IMAGE_REQUIRES_NEWER_DRIVER, _("this image"));
		f->severity = severity_of(s, driver);
		finding_message(
			j, f,
			_("The image demands %s, and the host's driver is %s (CUDA up to %s)."),
			view_dup(j->a, view_cut(view_of(v->value.value), ' ', &(struct view){ 0 })),
			driver->value, h.cuda ? h.cuda : "?");
		finding_fact(j, f, v->name.value, &v->value, NULL);
		finding_fact(j, f, "driver.version", driver, NULL);
		if (inferred)
			finding_inferred(f);
		remedy_driver(j, f, remedy_branch(j, demanded_cuda(j, v->value.value)),
			      remedy_driver_kind(j));
		if (h.cuda) {
			r = finding_remedy(
				j, f,
				_("Or use an image of CUDA %s or older, which the driver "
				  "runs."),
				h.cuda);
			r->risk = RISK_SAFE;
		}
	}
}

const struct rule rule_image_requires_newer_driver = {
	.name = "image-requires-newer-driver",
	/* Not NEED_CONTAINER: that part goes when another host is assumed, and the demand stays. */
	.needs = NEED_ENVIRONMENT,
	.layer = LAYER_CONTAINER,
	.run = run_image_requires_newer_driver,
};

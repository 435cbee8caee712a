/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about base images: is there such a tag, what does it demand of the host, whose libc is it?
 */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "rule/project.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* -------- nvidia/cuda: tags by table */

static size_t row_of(struct judge *j, const char *version)
{
	return compat_find(j->c, "image_tag", 0, "version", version);
}

static bool lists(const struct json *list, const char *word)
{
	const struct json *v;

	for (v = json_first(list); v; v = json_next(v))
		if (json_str(v) && strcmp(json_str(v), word) == 0)
			return true;
	return false;
}

/* The part of a tag behind its version, in front of the distribution: "cudnn-runtime". */
static const char *flavour(struct judge *j, const struct planned *p)
{
	const char *cudnn = NULL, *tag = fact_value(&p->image_tag, ""), *c = strstr(tag, "-cudnn");

	if (c)
		cudnn = arena_strndup(j->a, c + 1, strcspn(c + 1, "-"));
	if (!fact_known(&p->image_flavor))
		return NULL;
	return cudnn ? arena_printf(j->a, "%s-%s", cudnn, p->image_flavor.value)
		     : p->image_flavor.value;
}

/* Folders are written "ubuntu2204", tags "ubuntu22.04". */
static bool same_os(const char *row, const char *os)
{
	while (*row && *os) {
		if (*os == '.' && *row != '.') {
			os++;
			continue;
		}
		if (*row++ != *os++)
			return false;
	}
	return !*row && !*os;
}

static bool os_in(const struct json *list, const char *os)
{
	const struct json *v;

	for (v = json_first(list); v; v = json_next(v))
		if (json_str(v) && same_os(json_str(v), os))
			return true;
	return false;
}

enum tag_state { TAG_THERE, TAG_MISSING, TAG_UNKNOWN };

static enum tag_state tag_state(struct judge *j, const char *version, const char *flavor,
				const char *os)
{
	size_t i = row_of(j, version);
	const struct json *row, *t;
	bool list;

	if (i >= compat_count(j->c, "image_tag"))
		return TAG_MISSING;
	row = compat_row(j->c, "image_tag", i);
	list = json_get_str(row, "evidence") && strcmp(json_get_str(row, "evidence"), "list") == 0;
	if (!json_get(row, "tags") || json_type(json_get(row, "tags")) != JSON_ARRAY)
		return TAG_UNKNOWN;
	for (t = json_first(json_get(row, "tags")); t; t = json_next(t)) {
		const char *state = json_get_str(t, "state");
		const struct json *flavours = json_get(t, "flavours");

		if (state && strcmp(state, "deleted") == 0)
			return TAG_MISSING;
		if (!os || !os_in(json_get(t, "os"), os))
			continue;
		if (json_type(flavours) != JSON_ARRAY || lists(flavours, flavor))
			return TAG_THERE;
	}
	if (!list && os && version_at_least(version, "13.0") &&
	    (strcmp(os, "ubuntu20.04") == 0 || strcmp(os, "ubuntu18.04") == 0 ||
	     strcmp(os, "centos7") == 0))
		return TAG_MISSING;
	return list ? TAG_MISSING : TAG_UNKNOWN;
}

/* Is the version beyond all that the table holds? */
static bool beyond(struct judge *j, const char *version)
{
	size_t i, n = compat_count(j->c, "image_tag");

	for (i = 0; i < n; i++)
		if (version_cmp_str(compat_text(j->c, "image_tag", i, "version"), version) >= 0)
			return false;
	return true;
}

static const char *wanted_flavor(struct judge *j, const char *version, const char *flavor)
{
	const struct json *row = compat_row(j->c, "image_tag", row_of(j, version));
	const struct json *label = json_first(json_get(row, "cudnn"));
	const char *kind = strrchr(flavor, '-');

	if (strncmp(flavor, "cudnn", 5) != 0)
		return flavor;
	if (!json_str(label))
		return kind ? kind + 1 : flavor;
	return arena_printf(j->a, "%s-%s", json_str(label), kind ? kind + 1 : "runtime");
}

/* An existing tag near to what was asked for: same series first, then same distribution. */
static const char *near_tag(struct judge *j, const struct planned *p, bool same_series)
{
	const char *have = fact_value(&p->image_cuda, NULL), *os = fact_value(&p->os, NULL);
	const char *flavor = flavour(j, p), *best = NULL, *ceiling;
	struct fact fact = { 0 };
	struct version want, v;
	size_t i, n = compat_count(j->c, "image_tag");
	bool inferred;

	ceiling = look_ceiling(j, &fact, &inferred);
	if (!flavor)
		flavor = "base";
	if (!os)
		os = "ubuntu22.04";
	for (i = 0; i < n; i++) {
		const char *version = compat_text(j->c, "image_tag", i, "version");
		const char *f;

		if (!version || !version_prefix(view_of(version), &v) || v.n < 3)
			continue;
		if (same_series && (!have || !version_prefix(view_of(have), &want) || want.n < 2 ||
				    want.part[0] != v.part[0] || want.part[1] != v.part[1]))
			continue;
		/* What the driver runs, by CUDA's major. */
		if (!same_series && ceiling && v.part[0] > project_major(ceiling))
			continue;
		f = wanted_flavor(j, version, flavor);
		if (tag_state(j, version, f, os) == TAG_THERE)
			best = arena_printf(j->a, "nvidia/cuda:%s-%s-%s", version, f, os);
	}
	return best;
}

static void tag_missing(struct judge *j, const struct planned *p, const char *why)
{
	struct finding *f =
		project_finding(j, FINDING_BASE_IMAGE_TAG_MISSING, p, "image", &p->image, NULL);
	const char *series = near_tag(j, p, true), *any = near_tag(j, p, false);
	struct remedy *r;

	finding_message(j, f, _("There is no image %s: %s."), p->image.value, why);
	if (series) {
		r = finding_remedy(j, f, "%s", _("Take the tag of the same series that exists."));
		remedy_command(j, r, "%s", series);
		remedy_correct(j, r, &p->image, p->image.value, series);
		r->risk = RISK_SAFE;
	}
	if (any && (!series || strcmp(any, series) != 0)) {
		r = finding_remedy(j, f, "%s",
				   _("The newest with this distribution that the driver runs:"));
		remedy_command(j, r, "%s", any);
		r->risk = RISK_SAFE;
	}
	if (!any || !strstr(any, "ubuntu22.04")) {
		r = finding_remedy(
			j, f, "%s",
			_("Tags are VERSION-FLAVOUR-OS, the version in three parts; "
			  "distributions of newer images are ubuntu22.04 and ubuntu24.04:"));
		remedy_command(j, r, "nvidia/cuda:12.6.3-%s-ubuntu22.04",
			       flavour(j, p) && strncmp(flavour(j, p), "cudnn", 5) != 0
				       ? flavour(j, p)
				       : "base");
		r->risk = RISK_SAFE;
	}
}

/*
 * pytorch/pytorch has a tag for the CUDAs that the release was built for, with its cuDNN: others
 * were never made. Whether each of these was published is not in the table.
 */
static bool torch_tag(struct judge *j, const struct planned *p)
{
	const char *tag = p->image_tag.value, *builds = NULL;
	const char *cuda = fact_value(&p->image_cuda, NULL);
	const char *release = arena_strndup(j->a, tag, strcspn(tag, "-"));
	const struct torch_row *const *rows = compat_torch_of_release(j->c, release);
	unsigned cudnn = project_major(fact_value(&p->image_cudnn, NULL)), right = 0;
	struct finding *f;
	struct remedy *r;
	size_t i;

	for (i = 0; cuda && rows[i]; i++) {
		if (!rows[i]->cuda || strcmp(rows[i]->platform, "linux_x86_64") != 0)
			continue;
		if (strcmp(rows[i]->cuda, cuda) == 0) {
			right = project_major(rows[i]->cudnn);
			if (!cudnn || !right || right == cudnn)
				return true;
		}
		builds = builds ? arena_printf(j->a, "%s, %s", builds, rows[i]->cuda)
				: rows[i]->cuda;
	}
	if (!builds)
		return true;
	f = project_finding(j, FINDING_BASE_IMAGE_TAG_MISSING, p, "image", &p->image, NULL);
	f->certainty = CERTAINTY_INFERRED;
	if (right)
		finding_message(j, f, _("There is no image %s: torch %s for CUDA %s has cuDNN %u."),
				p->image.value, release, cuda, right);
	else
		finding_message(j, f, _("There is no image %s: torch %s was built for CUDA %s."),
				p->image.value, release, builds);
	r = finding_remedy(j, f, "%s", _("Take a tag of a CUDA and cuDNN that the release has."));
	for (i = 0; rows[i]; i++)
		if (rows[i]->cuda && strcmp(rows[i]->platform, "linux_x86_64") == 0)
			remedy_command(j, r, "pytorch/pytorch:%s-cuda%s-cudnn%u-%s", release,
				       rows[i]->cuda, project_major(rows[i]->cudnn),
				       fact_value(&p->image_flavor, "runtime"));
	r->risk = RISK_SAFE;
	return false;
}

static bool judge_tag(struct judge *j, const struct planned *p)
{
	const char *tag = fact_value(&p->image_tag, NULL),
		   *version = fact_value(&p->image_cuda, NULL);
	struct version v;

	if (tag && fact_is(&p->image_family, "pytorch"))
		return torch_tag(j, p);
	if (!fact_is(&p->image_family, "nvidia/cuda") || !tag)
		return true;
	if (strcmp(tag, "latest") == 0) {
		tag_missing(j, p, _("nvidia/cuda has no tag \"latest\""));
		return false;
	}
	if (!version || !version_prefix(view_of(version), &v)) {
		judge_skip(j, p->image.source, _("the tag %s is not understood"), tag);
		return true;
	}
	if (beyond(j, version)) {
		judge_skip(j, p->image.source, _("CUDA %s is newer than the table of tags"),
			   version);
		return true;
	}
	if (v.n < 3) {
		tag_missing(
			j, p,
			_("tags name all three parts of the version; those with two were removed"));
		return false;
	}
	if (!fact_known(&p->image_flavor)) {
		tag_missing(j, p, _("a flavour (base, runtime, devel) belongs to the tag"));
		return false;
	}
	if (!fact_known(&p->os) && strstr(tag, "ubuntu") == NULL) {
		tag_missing(j, p, _("the distribution belongs to the tag"));
		return false;
	}
	if (tag_state(j, version, flavour(j, p), fact_value(&p->os, NULL)) == TAG_MISSING) {
		tag_missing(
			j, p,
			row_of(j, version) < compat_count(j->c, "image_tag")
				? _("not with this flavour, cuDNN label and distribution, or removed "
				    "from the registry")
				: _("no images of this version are known"));
		return false;
	}
	return true;
}

/* -------- NVIDIA_REQUIRE_CUDA */

/* Brands as the image's condition names them, by the class of the GPU. */
static bool brand_in(struct judge *j, const struct json *brands)
{
	const struct gpu_row *row = j->s->n_gpus ? look_gpu_row(j, &j->s->gpus[0]) : NULL;
	const char *class = row ? row->gpu_class : NULL, *name;
	static const char *const geforce[] = { "geforce", "geforcertx" };
	static const char *const work[] = { "quadro", "quadrortx", "nvidiartx" };
	static const char *const center[] = { "tesla", "nvidia" };
	const char *const *names = center;
	size_t i, n = 2;

	name = j->s->n_gpus ? fact_value(&j->s->gpus[0].name, "") : "";
	if (!class && strstr(name, "GeForce"))
		class = "geforce";
	if (!class)
		return true;
	if (strcmp(class, "geforce") == 0 || strcmp(class, "mobile") == 0)
		names = geforce;
	if (strcmp(class, "workstation") == 0) {
		names = work;
		n = 3;
	}
	for (i = 0; i < n; i++)
		if (lists(brands, names[i]))
			return true;
	return false;
}

static bool branch_in(const struct json *branches, unsigned branch)
{
	const struct json *v;
	int64_t n;

	for (v = json_first(branches); v; v = json_next(v))
		if (json_int(v, &n) && (unsigned)n == branch)
			return true;
	return false;
}

/* The row of exactly this image, else any of its series (an image that is built on one). */
static const struct json *require_of(struct judge *j, const struct planned *p)
{
	const char *version = fact_value(&p->image_cuda, ""), *os = fact_value(&p->os, NULL);
	size_t i = row_of(j, version), n = compat_count(j->c, "image_tag");
	const struct json *t, *first;

	if (i >= n) {
		size_t len = strlen(version);

		for (i = 0; i < n; i++) {
			const char *v = compat_text(j->c, "image_tag", i, "version");

			if (v && strncmp(v, version, len) == 0 && v[len] == '.' &&
			    json_first(json_get(compat_row(j->c, "image_tag", i), "require")))
				break;
		}
	}
	if (i >= n)
		return NULL;
	first = json_first(json_get(compat_row(j->c, "image_tag", i), "require"));
	for (t = first; t; t = json_next(t))
		if (os && os_in(json_get(t, "os"), os))
			return t;
	return first;
}

static bool refused(struct judge *j, const struct planned *p, const char **ret_cuda)
{
	const struct fact *driver = look_cuda_driver(j->s);
	const struct json *req = require_of(j, p), *brands;
	const char *cuda = req ? json_get_str(req, "cuda") : NULL, *ceiling, *key;
	struct fact fact = { 0 };
	struct version v;
	bool inferred;

	if (!driver || look_is_tegra(j))
		return false;
	if (!cuda && version_prefix(view_of(fact_value(&p->image_cuda, "")), &v) && v.n >= 2)
		cuda = arena_printf(j->a, ">=%u.%u", v.part[0], v.part[1]);
	if (!cuda || strncmp(cuda, ">=", 2) != 0)
		return false;
	*ret_cuda = cuda + 2;
	ceiling = look_ceiling(j, &fact, &inferred);
	if (!ceiling || version_at_least(ceiling, cuda + 2))
		return false;
	if (!req || !branch_in(json_get(req, "branches"), look_branch(driver->value)))
		return true;
	key = json_get_str(req, "brands");
	brands = key ? json_get(json_get(json_get(compat_table(j->c, "image_tag"), "facts"),
					 "brands"),
				key)
		     : NULL;
	return brands && !brand_in(j, brands);
}

static bool switched_off(const struct planned *p)
{
	const struct var *v = project_var(p, "NVIDIA_DISABLE_REQUIRE");

	return v && (fact_is(&v->value, "1") || fact_is(&v->value, "true"));
}

static void image_require(struct judge *j, const struct planned *p)
{
	bool derived = fact_is(&p->image_family, "pytorch") && fact_is(&p->image_flavor, "devel");
	const struct fact *driver = look_cuda_driver(j->s);
	const char *cuda = NULL, *near;
	struct finding *f;
	struct remedy *r;

	if ((!fact_yes(&p->image_require) && !derived) || !fact_known(&p->image_cuda) ||
	    !fact_yes(&p->final) || switched_off(p) || !project_linux(p) || !refused(j, p, &cuda))
		return;
	f = project_finding(j, FINDING_IMAGE_REQUIRES_NEWER_DRIVER, p, "image", &p->image, NULL);
	finding_message(
		j, f,
		_("The image demands CUDA %s or newer of the host (NVIDIA_REQUIRE_CUDA), and its "
		  "driver %s is older: the container is refused."),
		cuda, driver->value);
	finding_fact(j, f, "driver.version", driver, NULL);
	if (derived)
		finding_inferred(f);
	if (fact_is(&p->image_family, "nvidia/cuda")) {
		struct fact fact = { 0 };
		bool inferred;
		const char *ceiling = look_ceiling(j, &fact, &inferred);
		struct planned older = *p;

		/* The newest series that the driver runs. */
		if (ceiling) {
			fact_set(&older.image_cuda, ceiling, "");
			near = near_tag(j, &older, true);
			r = finding_remedy(
				j, f, _("Take an image of CUDA %s or older, which the host runs."),
				ceiling);
			if (near)
				remedy_command(j, r, "%s", near);
			r->risk = RISK_SAFE;
		}
	} else {
		finding_remedy(j, f, "%s",
			       _("Take an older image, built on a CUDA that the host runs."))
			->risk = RISK_SAFE;
	}
	project_fix_driver(j, f, cuda);
	if (project_major(cuda) ==
	    project_major(look_ceiling(j, &(struct fact){ 0 }, &(bool){ false }))) {
		r = finding_remedy(
			j, f, "%s",
			_("Or skip the check where minor-version compatibility suffices (no PTX "
			  "of that toolkit is needed)."));
		remedy_command(j, r, "ENV NVIDIA_DISABLE_REQUIRE=1");
	}
}

/* -------- the C library */

static bool needs_manylinux(const struct wanted *w)
{
	static const char *const names[] = { "torch",	 "tensorflow",	    "jaxlib",
					     "jax",	 "onnxruntime-gpu", "vllm",
					     "xformers", "bitsandbytes",    "torchvision" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (fact_is(&w->name, names[i]))
			return !fact_known(&w->channel);
	return strncmp(w->name.value, "nvidia-", 7) == 0 || strncmp(w->name.value, "cupy-", 5) == 0;
}

static void musl(struct judge *j, const struct planned *p)
{
	struct finding *f;
	size_t i;

	if (!fact_is(&p->libc, "musl"))
		return;
	for (i = 0; i < p->n_packages; i++) {
		if (!needs_manylinux(&p->packages[i]))
			continue;
		f = project_finding(j, FINDING_MUSL_NO_WHEEL, p, "image", &p->image, "glibc");
		finding_message(
			j, f,
			_("The image's C library is musl, and %s has wheels for glibc alone: nothing "
			  "can be installed."),
			p->packages[i].name.value);
		finding_fact(j, f, "package", &p->packages[i].text, NULL);
		finding_remedy(
			j, f, "%s",
			_("Take an image with glibc: a slim or bookworm tag (Debian) or ubuntu in place of "
			  "alpine, for example python:3.12-slim-bookworm or "
			  "ghcr.io/astral-sh/uv:python3.12-bookworm-slim."))
			->risk = RISK_SAFE;
		return;
	}
}

static void rocm_image(struct judge *j, const struct planned *p)
{
	struct finding *f;

	if (!fact_yes(&p->image_rocm) || fact_no(&p->final) || !look_has_nvidia(j->s))
		return;
	f = project_finding(j, FINDING_ROCM_BUILD_ON_NVIDIA, p, "image", &p->image, NULL);
	finding_message(j, f, "%s",
			_("This image is for AMD GPUs (ROCm); the target has an NVIDIA GPU."));
	finding_remedy(j, f, "%s",
		       _("Take the CUDA image of the same project, such as pytorch/pytorch."));
}

static void too_new_image(struct judge *j, const struct planned *p, const char *least,
			  const char *older)
{
	const char *cuda = fact_value(&p->image_cuda, NULL);
	struct finding *f = project_finding(j, FINDING_DRIVER_TOO_OLD, p, "image", &p->image, NULL);

	finding_message(
		j, f, _("The image is built on CUDA %s, which needs driver %s; the target has %s."),
		cuda, least, look_cuda_driver(j->s)->value);
	finding_fact(j, f, "driver.version", look_cuda_driver(j->s), least);
	finding_remedy(j, f, "%s", older)->risk = RISK_SAFE;
	project_fix_driver(j, f, cuda);
}

/* CUDA of images that bring a framework of their own. */
static void own_stack(struct judge *j, const struct planned *p)
{
	const char *cuda = fact_value(&p->image_cuda, NULL), *least;

	if (!fact_is(&p->image_family, "vllm") || !fact_yes(&p->final) ||
	    !project_driver_below(j, p, cuda, &least))
		return;
	too_new_image(j, p, least,
		      _("Take an older image: the last one of vllm on CUDA 12 is v0.19.0."));
}

/* NVIDIA's own images bring cuda-compat, which serves data centre GPUs; GeForce has none. */
static void ngc_stack(struct judge *j, const struct planned *p)
{
	const char *cuda = fact_value(&p->image_cuda, NULL), *least;
	size_t i;

	if (!fact_is(&p->image_family, "ngc") || !fact_yes(&p->final) || !project_linux(p))
		return;
	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);

		if (row && row->gpu_class && strcmp(row->gpu_class, "geforce") == 0)
			break;
	}
	if (i == j->s->n_gpus || !project_driver_below(j, p, cuda, &least))
		return;
	too_new_image(
		j, p, least,
		_("Take an older release of the image: up to 25.06 they are built on CUDA 12."));
}

static void run_project_image(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->s->n_projects; i++) {
		const struct planned *p = &j->s->projects[i];

		if (!fact_known(&p->image)) {
			if (p->image.state == FACT_BROKEN)
				judge_skip(j, p->image.source, _("could not decide the image: %s"),
					   p->image.why);
			continue;
		}
		if (!judge_tag(j, p))
			continue;
		rocm_image(j, p);
		musl(j, p);
		image_require(j, p);
		own_stack(j, p);
		ngc_stack(j, p);
	}
}

const struct rule rule_project_image = {
	.name = "project-image",
	.needs = NEED_PROJECT,
	.layer = LAYER_CONTAINER,
	.run = run_project_image,
};

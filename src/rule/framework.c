/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about which build is installed: without CUDA, for ROCm, beside a torchvision of another
 * one, JAX alone. */
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* -------- builds without CUDA */

static bool is_rocm(struct judge *j, const struct torch *t)
{
	const char *variant = look_torch_variant(j, t);

	return fact_known(&t->hip) || (variant && strncmp(variant, "rocm", 4) == 0);
}

/* Looked, and there is no CUDA in it. Not asked or unreadable is no verdict. */
static bool without_cuda(struct judge *j, const struct torch *t)
{
	const char *variant = look_torch_variant(j, t);

	if (is_rocm(j, t) || look_torch_cuda(j, t))
		return false;
	if (variant && (strcmp(variant, "cpu") == 0 || strncmp(variant, "cpu.", 4) == 0))
		return true;
	return t->cuda.state == FACT_ABSENT && !fact_yes(&t->has_cuda_library);
}

static bool is_conda(const struct torch *t)
{
	return fact_is(&t->origin, "conda") || fact_is(&t->origin, "conda-forge");
}

/* Does the plain index give no CUDA build for this platform, so that nobody chose the CPU build? */
static bool platform_has_none(struct judge *j, const struct torch *t)
{
	const char *release = look_torch_release(j, t), *platform = look_platform(j->s);
	const struct torch_row *rows;
	bool any_cuda = false, known = false, plain_cpu = false;
	size_t i, n;

	if (strcmp(platform, "macos_arm64") == 0)
		return true;
	if (strcmp(platform, "linux_aarch64") != 0 || !release)
		return false;
	rows = compat_torch_rows(j->c, &n);
	for (i = 0; i < n; i++) {
		if (strcmp(rows[i].version, release) != 0 ||
		    strcmp(rows[i].platform, platform) != 0)
			continue;
		known = true;
		any_cuda |= rows[i].cuda != NULL;
		plain_cpu |= rows[i].pypi_default && !rows[i].cuda;
	}
	return known && (!any_cuda || (plain_cpu && !strchr(t->version.value, '+')));
}

static void cpu_evidence(struct judge *j, struct finding *f, const struct torch *t)
{
	finding_fact(j, f, "torch.version", &t->version, _("a build with CUDA"));
	if (t->cuda.state != FACT_NOT_ASKED)
		finding_fact(j, f, "torch.cuda", &t->cuda, NULL);
	if (fact_known(&t->has_cuda_library))
		finding_fact(j, f, "torch.has_cuda_library", &t->has_cuda_library, "yes");
}

static void conda_remedy(struct judge *j, struct finding *f, const struct python *p)
{
	struct remedy *r = finding_remedy(
		j, f, "%s",
		_("Let conda take a CUDA build; where it sees no GPU (an image, a login "
		  "node) CONDA_OVERRIDE_CUDA tells it the driver's CUDA."));
	struct fact ceiling = { 0 };
	bool inferred;
	const char *cuda = look_ceiling(j, &ceiling, &inferred);

	if (cuda)
		remedy_command(
			j, r,
			"CONDA_OVERRIDE_CUDA=%s conda install -p %s -c conda-forge "
			"'pytorch=*=cuda*'",
			shell_word(j->a, cuda), shell_word(j->a, look_prefix(p)));
	else
		remedy_command(j, r, "conda install -p %s -c conda-forge 'pytorch=*=cuda*'",
			       shell_word(j->a, look_prefix(p)));
}

static void cpu_only_in(struct judge *j, const struct python *p)
{
	const struct torch *t = &p->torch;
	const struct package *pkg = python_package(p, "torch");
	enum finding_id id = FINDING_CPU_ONLY_WHEEL;
	struct finding *f;

	if (!without_cuda(j, t))
		return;
	if (is_conda(t))
		id = FINDING_CPU_ONLY_CONDA_BUILD;
	else if (platform_has_none(j, t))
		id = FINDING_CPU_ONLY_PLATFORM;
	f = finding_add(j, id, look_prefix(p));
	if (id == FINDING_CPU_ONLY_CONDA_BUILD)
		finding_message(
			j, f,
			_("conda chose a CPU build of torch %s: no CUDA code is in it, whatever "
			  "the driver is."),
			t->version.value);
	else if (id == FINDING_CPU_ONLY_PLATFORM)
		finding_message(
			j, f,
			_("torch %s from the plain index is a CPU build on this platform (%s): no "
			  "CUDA code is in "
			  "it."),
			t->version.value, look_platform(j->s));
	else
		finding_message(
			j, f,
			_("torch %s is a CPU build: no CUDA code is in it, whatever the driver "
			  "is."),
			t->version.value);
	cpu_evidence(j, f, t);
	if (pkg && fact_known(&pkg->build))
		finding_fact(j, f, "package.build", &pkg->build, "cuda*");
	if (id == FINDING_CPU_ONLY_CONDA_BUILD)
		conda_remedy(j, f, p);
	else
		remedy_torch(j, f, p);
}

static void run_cpu_only(struct judge *j)
{
	size_t i;

	/* A Mac's GPU is reached through another backend. */
	if (fact_is(&j->s->host.system, "macos"))
		return;
	for (i = 0; i < j->s->n_pythons; i++)
		if (fact_known(&j->s->pythons[i].torch.version))
			cpu_only_in(j, &j->s->pythons[i]);
}

static void run_rocm_build_on_nvidia(struct judge *j)
{
	struct finding *f;
	size_t i;

	if (!look_has_nvidia(j->s))
		return;
	for (i = 0; i < j->s->n_pythons; i++) {
		const struct python *p = &j->s->pythons[i];

		if (!fact_known(&p->torch.version) || !is_rocm(j, &p->torch))
			continue;
		f = finding_add(j, FINDING_ROCM_BUILD_ON_NVIDIA, look_prefix(p));
		finding_message(
			j, f, _("torch %s was built for AMD's ROCm, and the GPU here is NVIDIA's."),
			p->torch.version.value);
		finding_fact(j, f, "torch.version", &p->torch.version, _("a build with CUDA"));
		if (fact_known(&p->torch.hip))
			finding_fact(j, f, "torch.hip", &p->torch.hip, NULL);
		remedy_torch(j, f, p);
	}
}

/* -------- torchvision and torchaudio */

static bool lists_pair(struct judge *j, const char *release, const char *package,
		       const char *version)
{
	const struct torch_row *rows;
	size_t i, n;

	rows = compat_torch_rows(j->c, &n);
	for (i = 0; i < n; i++) {
		const char *listed = strcmp(package, "torchvision") == 0 ? rows[i].torchvision
									 : rows[i].torchaudio;

		if (listed && strcmp(rows[i].version, release) == 0 && strcmp(listed, version) == 0)
			return true;
	}
	return false;
}

static const char *without_local(struct judge *j, const char *version)
{
	struct view local;

	return view_dup(j->a, view_cut(view_of(version), '+', &local));
}

static const char *short_release(struct judge *j, const char *version)
{
	struct version v = { .n = 0 };

	if (!version_prefix(view_of(version), &v))
		return version;
	return arena_printf(j->a, "%u.%u", v.part[0], v.part[1]);
}

/* Of the right release, and of another major of CUDA: torchvision refuses to be imported. */
static void pair_cuda(struct judge *j, const struct python *p, const char *package,
		      const struct fact *fact)
{
	const char *label = strstr(fact->value, "+cu"), *cuda = look_torch_cuda(j, &p->torch);
	struct finding *f;
	struct version v;

	if (!label || !label[3] || !label[4] || !cuda || !version_prefix(view_of(cuda), &v) ||
	    v.part[0] < 10 ||
	    (label[3] == (char)('0' + v.part[0] / 10) && label[4] == (char)('0' + v.part[0] % 10)))
		return;
	f = finding_add(j, FINDING_TORCH_TORCHVISION_MISMATCH, look_prefix(p));
	finding_message(
		j, f, _("%s %s and torch for CUDA %s: builds of different CUDA refuse each other."),
		package, fact->value, cuda);
	finding_fact(j, f, arena_printf(j->a, "torch.%s", package), fact, NULL);
	finding_fact(j, f, "torch.version", &p->torch.version, NULL);
	remedy_torch(j, f, p);
}

static void pair_in(struct judge *j, const struct python *p, const char *package,
		    const struct fact *fact)
{
	const char *release = look_torch_release(j, &p->torch), *version, *wants;
	struct finding *f;

	if (!fact_known(fact) || !release)
		return;
	version = without_local(j, fact->value);
	wants = compat_torch_of(j->c, package, version);
	if (!wants) {
		judge_skip(j, "matrix pair", _("the matrix does not know %s %s"), package, version);
		return;
	}
	if (strcmp(wants, release) == 0 || lists_pair(j, release, package, version)) {
		pair_cuda(j, p, package, fact);
		return;
	}
	f = finding_add(j, FINDING_TORCH_TORCHVISION_MISMATCH, look_prefix(p));
	/* Of one minor release the binary interface is the same; another patch release usually
	 * works. */
	if (strcmp(short_release(j, wants), short_release(j, release)) == 0)
		f->severity = SEVERITY_WARNING;
	finding_message(j, f, _("%s %s belongs to torch %s, and torch %s is installed."), package,
			version, wants, release);
	finding_fact(j, f, arena_printf(j->a, "torch.%s", package), fact, NULL);
	finding_fact(j, f, "torch.version", &p->torch.version, wants);
	if (compat_torch_release(j->c, release)) {
		const struct torch_row *row = look_torch_row(j, &p->torch);
		const char *listed = !row				   ? NULL
				     : strcmp(package, "torchvision") == 0 ? row->torchvision
									   : row->torchaudio;
		struct remedy *r;

		if (listed) {
			r = finding_remedy(j, f, _("Install the %s of this torch."), package);
			remedy_command(j, r, "%s install --no-deps %s==%s%s%s", remedy_pip(j, p),
				       package, listed,
				       !row->index_url || row->pypi_default ? ""
				       : row->find_links		    ? " -f "
									    : " --index-url ",
				       row->index_url && !row->pypi_default ? row->index_url : "");
			return;
		}
	}
	remedy_torch(j, f, p);
}

static void run_torch_torchvision_mismatch(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->s->n_pythons; i++) {
		const struct python *p = &j->s->pythons[i];

		if (!fact_known(&p->torch.version))
			continue;
		pair_in(j, p, "torchvision", &p->torch.torchvision);
		pair_in(j, p, "torchaudio", &p->torch.torchaudio);
	}
}

/* -------- JAX */

static const char *const jax_plugins[] = {
	"jax-cuda12-plugin", "jax-cuda13-plugin", "jax-cuda12-pjrt",
	"jax-cuda13-pjrt",   "jax-cuda11-plugin",
};

/* The extra cuda13 exists from JAX 0.7.2 on and needs a driver of CUDA 13. */
static const char *jax_cuda(const char *ceiling, const char *release)
{
	return version_at_least(ceiling, "13.0") && version_at_least(release, "0.7.2") ? "13"
										       : "12";
}

static void jax_in(struct judge *j, const struct python *p)
{
	const struct package *jaxlib = python_package(p, "jaxlib");
	struct finding *f;
	struct remedy *r;
	struct fact ceiling = { 0 };
	const char *cuda, *release;
	bool inferred;
	size_t i;

	if (!jaxlib || strstr(fact_value(&jaxlib->version, ""), "cuda") ||
	    strstr(fact_value(&jaxlib->build, ""), "cuda"))
		return;
	for (i = 0; i < ARRAY_LEN(jax_plugins); i++)
		if (python_package(p, jax_plugins[i]))
			return;
	f = finding_add(j, FINDING_JAX_CPU_ONLY, look_prefix(p));
	/* Beside a torch with CUDA, JAX often only helps with data. */
	if (look_torch_cuda(j, &p->torch))
		f->severity = SEVERITY_WARNING;
	finding_message(
		j, f, _("jaxlib %s is installed without its CUDA plugin, so JAX runs on the CPU."),
		fact_value(&jaxlib->version, ""));
	finding_fact(j, f, "package.jaxlib", &jaxlib->version, "jax-cuda12-plugin");
	cuda = look_ceiling(j, &ceiling, &inferred);
	release = without_local(j, fact_value(&jaxlib->version, ""));
	r = finding_remedy(j, f, "%s",
			   _("Install JAX with its CUDA plugin, of the same JAX release."));
	remedy_command(j, r, "%s install %s", remedy_pip(j, p),
		       shell_word(j->a, arena_printf(j->a, "jax[cuda%s]==%s",
						     jax_cuda(cuda, release), release)));
}

static void run_jax_cpu_only(struct judge *j)
{
	size_t i;

	if (!look_has_nvidia(j->s) && !look_is_wsl(j->s))
		return;
	for (i = 0; i < j->s->n_pythons; i++)
		jax_in(j, &j->s->pythons[i]);
}

const struct rule rule_cpu_only = {
	.name = "cpu-only-wheel",
	.needs = NEED_TORCH,
	.layer = LAYER_FRAMEWORK,
	.run = run_cpu_only,
};
const struct rule rule_rocm_build_on_nvidia = {
	.name = "rocm-build-on-nvidia",
	.needs = NEED_TORCH,
	.layer = LAYER_FRAMEWORK,
	.run = run_rocm_build_on_nvidia,
};
const struct rule rule_torch_torchvision_mismatch = {
	.name = "torch-torchvision-mismatch",
	.needs = NEED_TORCH,
	.layer = LAYER_FRAMEWORK,
	.run = run_torch_torchvision_mismatch,
};
const struct rule rule_jax_cpu_only = {
	.name = "jax-cpu-only",
	.needs = NEED_PYTHON,
	.layer = LAYER_FRAMEWORK,
	.run = run_jax_cpu_only,
};

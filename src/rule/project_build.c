/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about project files that compile CUDA code: nvcc, its targets, the arch list, torch's CUDA.
 */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "model/pep440.h"
#include "rule/project.h"
#include "rule/rules.h"

/* -------- what compiles */

static bool has_nvcc(const struct planned *p)
{
	return fact_is(&p->image_flavor, "devel") || project_deed(p, "toolkit");
}

/* The newest flash-attn has no wheel for a torch below all of those that it has wheels for. */
static bool newest_flash_wheel(struct judge *j, const struct wanted *torch)
{
	size_t i, n = compat_count(j->c, "addon");
	const struct json *newest = NULL, *t;

	for (i = compat_find(j->c, "addon", 0, "package", "flash-attn"); i < n;
	     i = compat_find(j->c, "addon", i + 1, "package", "flash-attn"))
		newest = compat_row(j->c, "addon", i);
	t = newest ? json_first(json_get(newest, "torch")) : NULL;
	for (; t; t = json_next(t))
		if (!json_str(t) || version_cmp_str(torch->version.value, json_str(t)) >= 0)
			return true;
	return !newest || !json_first(json_get(newest, "torch"));
}

/* Has flash-attn a wheel for this torch, CUDA and Python? Not known: yes. */
static bool flash_wheel(struct judge *j, const struct planned *p, const struct wanted *w)
{
	const struct wanted *torch = project_package(p, "torch");
	size_t i, n = compat_count(j->c, "addon");
	struct pep440 v, a, b;

	const struct var *skip = project_var(p, "FLASH_ATTENTION_SKIP_CUDA_BUILD");

	if (project_var(p, "FLASH_ATTENTION_FORCE_BUILD"))
		return false;
	/*
	 * Its setup.py asks the nvcc of CUDA_HOME for its version before it looks for a wheel, and
	 * NVIDIA's images have a CUDA_HOME without nvcc (Dao-AILab/flash-attention, setup.py).
	 */
	if (fact_is(&p->image_family, "nvidia/cuda") && !has_nvcc(p) &&
	    !(skip && fact_is(&skip->value, "TRUE")))
		return false;
	if (!torch || !fact_known(&torch->version))
		return true;
	if (!fact_known(&w->version) && strcmp(project_text(w), "flash-attn") == 0)
		return newest_flash_wheel(j, torch);
	if (!fact_known(&w->version) || !pep440_parse(view_of(w->version.value), &v))
		return true;
	for (i = compat_find(j->c, "addon", 0, "package", "flash-attn"); i < n;
	     i = compat_find(j->c, "addon", i + 1, "package", "flash-attn")) {
		const struct json *row = compat_row(j->c, "addon", i), *t;
		const char *first = json_get_str(row, "version"), *to = json_get_str(row, "to");
		const char *tv = torch->version.value;
		size_t minor;

		if (!first || !pep440_parse(view_of(first), &a) ||
		    !pep440_parse(view_of(to ? to : first), &b) || pep440_cmp(&v, &a) < 0 ||
		    pep440_cmp(&v, &b) > 0 || !json_first(json_get(row, "torch")))
			continue;
		/* A wheel is for a minor release of torch: 2.6 of "2.6.0". */
		minor = strcspn(tv, ".");
		minor += tv[minor] ? 1 + strcspn(tv + minor + 1, ".") : 0;
		for (t = json_first(json_get(row, "torch")); t; t = json_next(t))
			if (json_str(t) && strncmp(json_str(t), tv, minor) == 0 &&
			    json_str(t)[minor] == '.')
				return true;
		return false;
	}
	return true;
}

/* Packages that have no wheels at all and compile CUDA code. */
static bool always_compiles(const char *name)
{
	static const char *const names[] = {
		"apex",		"pytorch3d",	    "tinycudann", "tiny-cuda-nn",   "detectron2",
		"pycuda",	"mmcv-full",	    "causal-conv1d", "nvdiffrast",  "simple-knn",
		"torchsparse",	"minkowskiengine", "grouped-gemm", "diff-gaussian-rasterization",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* The fact of the line that compiles, or NULL. */
static const struct fact *compiles(struct judge *j, const struct planned *p,
				   const struct fact **ret_also)
{
	const struct deed *d = project_deed(p, "compile");
	size_t i;

	*ret_also = NULL;
	if (d)
		return &d->what;
	for (i = 0; i < p->n_environment; i++) {
		const struct var *v = &p->environment[i];

		if (strncmp(v->name.value, "DS_BUILD_", 9) == 0 && fact_is(&v->value, "1") &&
		    project_package(p, "deepspeed")) {
			*ret_also = &v->value;
			return &project_package(p, "deepspeed")->text;
		}
		if (fact_is(&v->name, "CMAKE_ARGS") && strstr(v->value.value, "CUDA=on") &&
		    project_package(p, "llama-cpp-python")) {
			*ret_also = &v->value;
			return &project_package(p, "llama-cpp-python")->text;
		}
		if (fact_is(&v->name, "CMAKE_ARGS") && strstr(v->value.value, "CUDA=ON") &&
		    project_package(p, "llama-cpp-python")) {
			*ret_also = &v->value;
			return &project_package(p, "llama-cpp-python")->text;
		}
	}
	for (i = 0; i < p->n_packages; i++) {
		const struct wanted *w = &p->packages[i];
		/* An index is the package's own address or a page of ready builds. */
		bool address = fact_known(&w->index);
		bool page = address && (strstr(w->index.value, ".html") ||
					strstr(w->index.value, "openmmlab.com/mmcv/"));
		bool source = address && !page && !strstr(w->index.value, ".whl");

		/* Where it was compiled it is judged. */
		if (fact_yes(&w->elsewhere))
			continue;

		if (fact_is(&w->name, "flash-attn") &&
		    (source || (!address && !flash_wheel(j, p, w))))
			return &w->text;
		if (always_compiles(w->name.value) && !fact_known(&w->channel) &&
		    (!address || source))
			return &w->text;
	}
	return NULL;
}

/* -------- nvcc */

static const char *devel_of(struct judge *j, const struct planned *p)
{
	const char *image = p->image.value, *flavor = fact_value(&p->image_flavor, NULL), *at;

	if (!flavor || strcmp(flavor, "devel") == 0)
		return NULL;
	at = strstr(image, flavor);
	return at ? arena_printf(j->a, "%.*sdevel%s", (int)(at - image), image, at + strlen(flavor))
		  : NULL;
}

static void no_nvcc(struct judge *j, const struct planned *p, const struct fact *line,
		    const struct fact *also)
{
	bool known = fact_is(&p->image_family, "nvidia/cuda") ||
		     fact_is(&p->image_family, "pytorch") || fact_yes(&p->image_bare);
	const char *devel;
	struct finding *f;
	struct remedy *r;

	if (!fact_known(&p->image) || !known || has_nvcc(p) || fact_is(&p->image_family, "conda"))
		return;
	if (fact_is(&p->image_family, "pytorch") && !fact_known(&p->image_flavor))
		return;
	f = project_finding(j, FINDING_NVCC_MISSING, p, "compiles", line, NULL);
	finding_message(j, f, _("%s compiles CUDA code, and the image %s has no nvcc."),
			line->value, p->image.value);
	if (also)
		finding_fact(j, f, "environment", also, NULL);
	finding_fact(j, f, "image", &p->image, "devel");
	devel = devel_of(j, p);
	r = finding_remedy(j, f, "%s", _("Build in a devel image, which has nvcc."));
	remedy_command(j, r, "FROM %s", devel ? devel : "nvidia/cuda:12.6.3-devel-ubuntu22.04");
	r->risk = RISK_SAFE;
}

/* -------- which nvcc it is */

/* The CUDA of the package nvidia-cuda-toolkit of Ubuntu (packages.ubuntu.com). */
static const char *ubuntu_toolkit(const struct planned *p)
{
	static const struct {
		const char *glibc, *cuda;
	} of[] = { { "2.27", "9.1" }, { "2.31", "10.1" }, { "2.35", "11.5" }, { "2.39", "12.0" } };
	const char *image = fact_value(&p->image, "");
	size_t i;

	/* The images of PyTorch 2.2 to 2.8 are of Ubuntu 22.04. */
	if (strncmp(image, "pytorch/pytorch:2.", 18) == 0 && image[18] >= '2' && image[18] <= '8' &&
	    image[19] == '.')
		return "11.5";
	if (strncmp(image, "ubuntu:", 7) != 0)
		return NULL;
	for (i = 0; i < ARRAY_LEN(of); i++)
		if (fact_is(&p->glibc, of[i].glibc))
			return of[i].cuda;
	return NULL;
}

/*
 * The CUDA of the only nvcc: of a devel image, or of the one toolkit that an image without one
 * gets; NULL: not known.
 */
static const char *nvcc_cuda(const struct planned *p, const struct fact **ret)
{
	const struct deed *d = project_deed(p, "toolkit");
	bool devel = fact_is(&p->image_flavor, "devel");
	size_t i;

	*ret = d ? &d->what : &p->image;
	if (!d)
		return devel ? fact_value(&p->image_cuda, NULL) : NULL;
	for (i = 0; i < p->n_deeds; i++)
		if (&p->deeds[i] != d && fact_is(&p->deeds[i].act, "toolkit"))
			return NULL;
	if (devel || project_var(p, "CUDA_HOME") || fact_is(&p->image_family, "conda") ||
	    !fact_is(&d->what, "nvidia-cuda-toolkit"))
		return NULL;
	return ubuntu_toolkit(p);
}

/* -------- nvcc against the GPU */

static void toolkit_gpu(struct judge *j, const struct planned *p, const struct fact *line)
{
	const struct fact *from;
	const char *cuda = nvcc_cuda(p, &from);
	const struct cuda_row *row;
	struct finding *f;
	bool old;
	size_t i;

	if (!cuda)
		return;
	row = compat_cuda(j->c, cuda);
	for (i = 0; row && i < j->s->n_gpus; i++) {
		int cc = look_cc(&j->s->gpus[i]);

		if (cc <= 0 || !look_is_nvidia(&j->s->gpus[i]) || row->nvcc_min_cc < 0 ||
		    row->nvcc_max_cc < 0)
			continue;
		old = cc < row->nvcc_min_cc;
		if (!old && cc <= row->nvcc_max_cc)
			continue;
		/* PTX of an older nvcc may still be compiled for a newer GPU when it runs. */
		f = project_finding(
			j, old ? FINDING_TOOLKIT_TOO_NEW_FOR_GPU : FINDING_TOOLKIT_TOO_OLD_FOR_GPU,
			p, from == &p->image ? "image" : from->value, from, NULL);
		finding_message(
			j, f,
			old ? _("%s: the image's nvcc is of CUDA %s, which can no longer target %s.")
			    : _("%s: the image's nvcc is of CUDA %s, which does not know %s yet."),
			line->value, cuda, gpu_subject(j, i));
		finding_fact(j, f, "compiles", line, NULL);
		if (old || cc < 100)
			finding_remedy(
				j, f, "%s",
				_("Take a devel image of CUDA 12.x: nvidia/cuda:12.6.3-devel-ubuntu22.04."))
				->risk = RISK_SAFE;
		else
			finding_remedy(j, f, "%s",
				       _("Take a devel image of CUDA 12.8 or newer: "
					 "nvidia/cuda:12.8.1-devel-ubuntu22.04."))
				->risk = RISK_SAFE;
		return;
	}
}

/* -------- TORCH_CUDA_ARCH_LIST */

static void arch_list(struct judge *j, const struct planned *p, const struct fact *line)
{
	const struct var *v = project_var(p, "TORCH_CUDA_ARCH_LIST");
	struct finding *f;
	struct remedy *r;
	size_t i;

	for (i = 0; v && i < j->s->n_gpus; i++) {
		if (look_arch_list_covers(v->value.value, look_cc(&j->s->gpus[i])))
			continue;
		f = project_finding(j, FINDING_EXTENSION_MISSING_GPU_ARCH, p,
				    "TORCH_CUDA_ARCH_LIST", &v->value,
				    fact_value(&j->s->gpus[i].compute_capability, NULL));
		finding_message(j, f, _("%s is compiled for %s alone; %s (%s) is not among them."),
				line->value, v->value.value, gpu_subject(j, i),
				fact_value(&j->s->gpus[i].compute_capability, "?"));
		finding_fact(j, f, "compiles", line, NULL);
		r = finding_remedy(j, f, "%s", _("Add the compute capability of the target."));
		remedy_command(j, r, "TORCH_CUDA_ARCH_LIST=\"%s%c%s\"", v->value.value,
			       strchr(v->value.value, ' ') ? ' ' : ';',
			       j->s->gpus[i].compute_capability.value);
		remedy_correct(j, r, &v->value,
			       arena_printf(j->a,
					    strpbrk(v->value.value, " ;")
						    ? "TORCH_CUDA_ARCH_LIST=\"%s\""
						    : "TORCH_CUDA_ARCH_LIST=%s",
					    v->value.value),
			       r->commands[0]);
		r->risk = RISK_SAFE;
		return;
	}
}

/* -------- nvcc against torch: another major stops the build of an extension */

static void torch_toolkit(struct judge *j, const struct planned *p, const struct fact *line)
{
	const struct wanted *torch = project_package(p, "torch");
	const struct fact *from;
	const char *cuda = nvcc_cuda(p, &from);
	struct finding *f;

	if (!torch || !fact_known(&torch->cuda) || !cuda ||
	    project_major(cuda) == project_major(torch->cuda.value) ||
	    fact_known(&torch->fault) || judge_has(j, FINDING_TOOLKIT_TOO_NEW_FOR_GPU))
		return;
	/* cmake and nvcc by themselves know no torch, PyCUDA neither. */
	if (strcmp(line->value, "cmake") == 0 || strcmp(line->value, "nvcc") == 0 ||
	    strcmp(line->value, "make") == 0 || strstr(line->value, "pycuda"))
		return;
	f = project_finding(j, FINDING_TOOLKIT_TORCH_MISMATCH, p,
			    from == &p->image ? "image" : from->value, from, torch->cuda.value);
	finding_message(
		j, f,
		_("%s is compiled with nvcc of CUDA %s against torch for CUDA %s: the majors must be the "
		  "same, and torch refuses to build."),
		line->value, cuda, torch->cuda.value);
	finding_fact(j, f, "torch", &torch->text, NULL);
	finding_remedy(j, f, _("Take a devel image of CUDA %s, or a torch for CUDA %u."),
		       torch->cuda.value, project_major(cuda))
		->risk = RISK_SAFE;
}

/* -------- the host compiler that a variable names */

/* The number of "gcc-12", "/usr/bin/g++-12"; 0: it is none of them, or says none. */
static unsigned gcc_of(const char *text)
{
	const char *base = strrchr(text, '/');

	base = base ? base + 1 : text;
	if (strncmp(base, "gcc-", 4) != 0 && strncmp(base, "g++-", 4) != 0)
		return 0;
	return project_major(base + 4);
}

static void host_compiler(struct judge *j, const struct planned *p, const struct fact *line)
{
	static const char *const names[] = { "NVCC_CCBIN", "CUDAHOSTCXX", "CXX", "CC" };
	const char *cuda = fact_value(&p->image_cuda, NULL), *max;
	/* PyTorch hands CC to nvcc; cmake and nvcc by themselves go by variables of their own. */
	bool plain = strcmp(line->value, "cmake") == 0 || strcmp(line->value, "nvcc") == 0 ||
		     strcmp(line->value, "make") == 0;
	struct version v;
	struct finding *f;
	size_t i, at;

	if (!cuda || !fact_is(&p->image_flavor, "devel") || project_deed(p, "toolkit") ||
	    !version_prefix(view_of(cuda), &v) || v.n < 2)
		return;
	at = compat_find(j->c, "host_compiler", 0, "cuda",
			 arena_printf(j->a, "%u.%u", v.part[0], v.part[1]));
	max = at < compat_count(j->c, "host_compiler")
		      ? compat_text(j->c, "host_compiler", at, "gcc_max")
		      : NULL;
	for (i = 0; max && i < (plain ? 2 : ARRAY_LEN(names)); i++) {
		const struct var *e = project_var(p, names[i]);
		unsigned gcc = e ? gcc_of(e->value.value) : 0;

		if (!gcc || gcc <= project_major(max))
			continue;
		f = project_finding(j, FINDING_HOST_COMPILER_TOO_NEW, p, names[i], &e->value, max);
		finding_message(
			j, f,
			_("%s is compiled with gcc %u, and nvcc of CUDA %u.%u takes gcc up to %s."),
			line->value, gcc, v.part[0], v.part[1], max);
		finding_fact(j, f, "compiles", line, NULL);
		finding_fact(j, f, "image", &p->image, NULL);
		finding_remedy(j, f,
			       _("Install gcc-%s and g++-%s and name these, or take none: the "
				 "compiler of the distribution fits its image."),
			       max, max)
			->risk = RISK_SAFE;
		return;
	}
}

/* -------- CUDA_HOME that names a toolkit that is not in the image */

static void cuda_home(struct judge *j, const struct planned *p, const struct fact *line)
{
	const char *cuda = fact_value(&p->image_cuda, NULL), *named;
	const struct var *e = project_var(p, "CUDA_HOME");
	struct version have, v;
	struct finding *f;
	struct remedy *r;

	if (!e)
		e = project_var(p, "CUDA_PATH");
	named = e ? strstr(e->value.value, "/usr/local/cuda-") : NULL;
	if (!named || !cuda || !fact_is(&p->image_family, "nvidia/cuda") ||
	    project_deed(p, "toolkit") || !version_prefix(view_of(cuda), &have) ||
	    !version_prefix(view_of(named + 16), &v) || !v.n || have.n < 2 ||
	    (v.part[0] == have.part[0] && (v.n < 2 || v.part[1] == have.part[1])))
		return;
	f = project_finding(j, FINDING_CUDA_HOME_WRONG, p, e->name.value, &e->value, NULL);
	finding_message(j, f,
			_("%s is compiled with the toolkit of %s, and the image has that of CUDA "
			  "%u.%u: there is no such folder."),
			line->value, e->value.value, have.part[0], have.part[1]);
	finding_fact(j, f, "image", &p->image, NULL);
	r = finding_remedy(j, f, "%s", _("Name the folder that every CUDA image has."));
	remedy_command(j, r, "ENV %s=/usr/local/cuda", e->name.value);
	r->risk = RISK_SAFE;
}

/* -------- a program of a builder in an image without CUDA's libraries */

static void carried(struct judge *j, const struct planned *p)
{
	const struct deed *d = project_deed(p, "carries");
	struct finding *f;
	struct remedy *r;

	if (!d || !fact_yes(&p->final) || !fact_yes(&p->image_bare) || project_has_libraries(p))
		return;
	f = project_finding(j, FINDING_MISSING_CUDA_RUNTIME_LIB, p, "carries", &d->what, NULL);
	finding_message(j, f,
			_("%s was linked with libcudart and libcublas where it was built, and the "
			  "image %s has neither."),
			d->what.value, p->image.value);
	finding_fact(j, f, "image", &p->image, NULL);
	r = finding_remedy(j, f, "%s", _("Let it run in a runtime image of the same CUDA."));
	remedy_command(j, r, "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04");
	r->risk = RISK_SAFE;
	finding_remedy(j, f, "%s",
		       _("Or copy libcudart, libcublas and libcublasLt from the builder, or build "
			 "it static (GGML_STATIC=ON)."))
		->risk = RISK_SAFE;
}

static void run_project_build(struct judge *j)
{
	const struct fact *line, *also;
	size_t i;

	for (i = 0; i < j->s->n_projects; i++) {
		const struct planned *p = &j->s->projects[i];

		carried(j, p);
		line = compiles(j, p, &also);
		if (!line || fact_is(&p->libc, "musl"))
			continue;
		no_nvcc(j, p, line, also);
		toolkit_gpu(j, p, line);
		arch_list(j, p, line);
		/* What a variable asks for is built by packages that look at other things. */
		if (!also)
			torch_toolkit(j, p, line);
		host_compiler(j, p, line);
		cuda_home(j, p, line);
	}
}

const struct rule rule_project_build = {
	.name = "project-build",
	.needs = NEED_PROJECT,
	.layer = LAYER_TOOLKIT,
	.run = run_project_build,
};

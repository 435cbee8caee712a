/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow, ONNX Runtime and others in a text: their releases held against the tables, and
 * packages that hold no CUDA.  What project files would install is not judged here. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "rule/look.h"
#include "rule/project.h"
#include "rule/triage.h"

static const struct package *package(const struct triage *t, const char *name)
{
	const struct snapshot *s = t->j->s;
	size_t i;

	for (i = 0; s->n_pythons && i < s->pythons[0].n_packages; i++)
		if (fact_is(&s->pythons[0].packages[i].name, name))
			return &s->pythons[0].packages[i];
	return NULL;
}

/* -------- what a release needs, and what the text says is there */

struct needs {
	const struct package *of;
	const char *cuda; /* "10.1", "12.x" */
	unsigned cudnn;	  /* major; 0: not known */
};

/* A line that speaks of the driver's CUDA, or of one that something wants. */
static bool of_other_cuda(struct view line)
{
	static const char *const words[] = { "river", "smi",  "SMI",   "want",	  "need",
					     "equir", "for ", "built", "support", "expect" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (view_find(line, words[i]) >= 0)
			return true;
	return false;
}

/* "CUDA 10.2" of a list of versions, where it is the only one that can be meant. */
static const struct fact *only_cuda(const struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct fact *only = NULL;
	size_t i;

	for (i = 0; i < s->n_signs; i++) {
		const struct sign *g = &s->signs[i];

		if (!fact_is(&g->id, "cuda-number") || !fact_known(&g->value))
			continue;
		if (!strchr(g->value.value, '.') ||
		    of_other_cuda(view_of(fact_value(&g->text, ""))) ||
		    (only && !fact_is(only, g->value.value)))
			return NULL;
		only = &g->value;
	}
	return only;
}

/*
 * A toolkit in the text, the first that it names, or the CUDA of "CUDA 12.0, cuDNN 8.9", which is
 * what somebody installed for the framework; NULL when it names none.
 */
static const struct fact *toolkit(const struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct sign *g = triage_sign(t, "cuda-beside-cudnn");

	if (s->n_toolkits && fact_known(&s->toolkits[0].version))
		return &s->toolkits[0].version;
	return g && fact_known(&g->value) ? &g->value : only_cuda(t);
}

/* Up to CUDA 10 each minor release has libraries of its own names. */
static bool same_cuda(const char *have, const char *need)
{
	size_t n = strlen(need);

	if (project_major(need) != project_major(have))
		return false;
	return project_major(need) > 10 || view_starts(view_of(have), need) ||
	       strncmp(need, have, n) == 0;
}

/* Major of the cuDNN that is said to be installed, or whose package is: libcudnn8. */
static unsigned cudnn_said(const struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *said = triage_value(t, "cudnn-said"), *name;
	size_t i;

	for (i = 0; !said && i < s->n_os_packages; i++) {
		name = fact_value(&s->os_packages[i].name, "");
		if (strncmp(name, "libcudnn", 8) == 0 && name[8] >= '5' && name[8] <= '9')
			said = name + 8;
	}
	return project_major(said);
}

static bool cuda_differs(struct triage *t, const struct needs *n, int weight)
{
	const struct fact *have = toolkit(t);
	struct finding *f;

	if (!have || !n->cuda || same_cuda(have->value, n->cuda))
		return false;
	f = triage_add(t, FINDING_MISSING_CUDA_RUNTIME_LIB, weight, "tf-no-gpu|ort-dll|tf-libs");
	finding_fact(t->j, f, n->of->name.value, &n->of->version, NULL);
	finding_fact(t->j, f, "toolkit.version", have, n->cuda);
	finding_message(t->j, f,
			_("%s %s needs the libraries of CUDA %s, and what is installed is CUDA "
			  "%s."),
			n->of->name.value, n->of->version.value, n->cuda, have->value);
	return true;
}

static bool cudnn_differs(struct triage *t, const struct needs *n, unsigned have, int weight)
{
	struct finding *f;

	if (!have || !n->cudnn || have == n->cudnn)
		return false;
	f = triage_add(t, FINDING_CUDNN_MAJOR_MISMATCH, weight, "tf-no-gpu|ort-dll|cudnn-said");
	finding_fact(t->j, f, n->of->name.value, &n->of->version, NULL);
	finding_message(t->j, f, _("%s %s needs cuDNN %u, and what is there is cuDNN %u."),
			n->of->name.value, n->of->version.value, n->cudnn, have);
	return true;
}

/* -------- ONNX Runtime: its provider is there, and a library that it needs is not */

static bool ort_needs(struct triage *t, struct needs *ret)
{
	const struct json *row;

	ret->of = package(t, "onnxruntime-gpu");
	row = ret->of ? project_row(t->j, "onnxruntime", fact_value(&ret->of->version, NULL),
				    "channel", "pypi")
		      : NULL;
	if (!row)
		return false;
	ret->cuda = json_get_str(row, "cuda_major");
	ret->cudnn = project_major(json_get_str(row, "cudnn_linux"));
	return true;
}

/* PyTorch in the same process brings its libraries: cuDNN 8 before 2.4, 9 since. */
static unsigned torch_cudnn(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *release = s->n_pythons ? look_torch_release(t->j, &s->pythons[0].torch) : NULL;

	return release ? look_driver_below(release, "2.4") ? 8 : 9 : 0;
}

/* Which library it is, by what the release needs and the text lists. */
static bool ort_library(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	struct needs n = { .of = NULL };
	const char *torch_cuda;

	if (!ort_needs(t, &n))
		return false;
	if (cuda_differs(t, &n, 82) || cudnn_differs(t, &n, cudnn_said(t), 80))
		return true;
	torch_cuda = s->n_pythons ? look_torch_cuda(t->j, &s->pythons[0].torch) : NULL;
	if (!toolkit(t) && torch_cuda && project_major(torch_cuda) != project_major(n.cuda)) {
		struct finding *f = triage_add(t, FINDING_MISSING_CUDA_RUNTIME_LIB, 74, "ort-dll");

		finding_fact(t->j, f, "onnxruntime-gpu", &n.of->version, NULL);
		finding_fact(t->j, f, "torch.version", &s->pythons[0].torch.version, n.cuda);
		return true;
	}
	if (!cudnn_said(t) && cudnn_differs(t, &n, torch_cudnn(t), 76))
		return true;
	if (!toolkit(t) || cudnn_said(t))
		return false;
	triage_add(t, FINDING_CUDNN_NOT_FOUND, 64, "ort-dll");
	return true;
}

static void ort_provider(struct triage *t)
{
	struct finding *f;

	if (!triage_has(t, "ort-dll") || triage_has(t, "lib-missing") ||
	    triage_has(t, "zlibwapi") || triage_has(t, "vcredist") || ort_library(t))
		return;
	f = triage_add(t, FINDING_MISSING_CUDA_RUNTIME_LIB, 56, "ort-dll");
	finding_message(t->j, f, "%s",
			_("The provider's own file is there, and a library of CUDA or cuDNN that "
			  "it needs is not found."));
}

/* -------- TensorFlow */

static const struct package *tf_package(const struct triage *t)
{
	const struct package *k = package(t, "tensorflow");

	return k ? k : package(t, "tensorflow-gpu");
}

/* The row of the release, or of the first of its series; Windows and Linux need the same. */
static bool tf_needs(struct triage *t, struct needs *ret)
{
	const struct json *row;
	const char *v, *dot;

	ret->of = tf_package(t);
	v = ret->of ? fact_value(&ret->of->version, NULL) : NULL;
	row = v ? project_row(t->j, "tensorflow", v, "platform", "linux_x86_64") : NULL;
	dot = v ? strrchr(v, '.') : NULL;
	/* "2.3.1" is of 2.3.0's series, and people say "2.1". */
	if (!row && dot)
		row = project_row(
			t->j, "tensorflow",
			arena_printf(t->j->a, "%.*s.0",
				     dot > strchr(v, '.') ? (int)(dot - v) : (int)strlen(v), v),
			"platform", "linux_x86_64");
	if (!row)
		return false;
	ret->cuda = json_get_str(row, "cuda");
	ret->cudnn = project_major(json_get_str(row, "cudnn"));
	return true;
}

/* No wheel of NVIDIA in a list that was made to show them. */
static bool no_nvidia_wheels(const struct triage *t)
{
	const struct snapshot *s = t->j->s;
	size_t i;

	for (i = 0; s->n_pythons && i < s->pythons[0].n_packages; i++)
		if (strncmp(fact_value(&s->pythons[0].packages[i].name, ""), "nvidia-", 7) == 0)
			return false;
	return triage_has(t, "lists-nvidia-wheels");
}

/* On native Windows a later release has no GPU at all, whatever is installed. */
static bool tf_without_gpu(const struct triage *t, const struct needs *n)
{
	return triage_has(t, "windows") && n->of &&
	       !look_driver_below(fact_value(&n->of->version, "0"), "2.11");
}

/* A release that was built with a CUDA from before the GPU's generation. */
static void tf_generation(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	struct needs n = { .of = NULL };
	const struct cuda_row *row;
	struct finding *f;
	size_t i;

	if (!triage_holds(t, "cublas-fails|no-kernel-image|tf-no-kernels-cc|tf-launch-invalid",
			  NULL) ||
	    !tf_needs(t, &n) || !n.cuda)
		return;
	row = compat_cuda(t->j->c, n.cuda);
	for (i = 0; row && row->nvcc_max_cc > 0 && i < s->n_gpus; i++) {
		if (look_cc(&s->gpus[i]) / 10 <= row->nvcc_max_cc / 10)
			continue;
		f = triage_add(t, FINDING_GPU_TOO_NEW_FOR_BUILD, 80,
			       "cublas-fails|no-kernel-image|tf-no-kernels-cc|tf-launch-invalid");
		finding_fact(t->j, f, "gpu.name", &s->gpus[i].name, NULL);
		finding_fact(t->j, f, n.of->name.value, &n.of->version, NULL);
		finding_message(t->j, f,
				_("%s %s was built with CUDA %s, which is older than this GPU."),
				n.of->name.value, n.of->version.value, n.cuda);
		return;
	}
}

static void tensorflow(struct triage *t)
{
	struct needs n = { .of = NULL };
	bool known;

	if (!triage_holds(t, "tf-no-gpu|tf-libs|tf-cudart-stub !tf-and-cuda !lib-missing", NULL))
		return;
	known = tf_needs(t, &n);
	if (tf_without_gpu(t, &n) ||
	    (known && (cuda_differs(t, &n, 74) || cudnn_differs(t, &n, cudnn_said(t), 70))))
		return;
	/* The driver is there, so that the drivers that it misses are the CUDA libraries. */
	if (triage_holds(t, "tf-cudart-stub smi-works !container", NULL) && !toolkit(t))
		triage_add(t, FINDING_MISSING_CUDA_RUNTIME_LIB, no_nvidia_wheels(t) ? 76 : 60,
			   "tf-cudart-stub smi-works");
}

/* -------- packages without CUDA */

/* The package that was installed, the one that has CUDA, and how it shows. */
static const struct {
	const char *cpu, *gpu, *terms;
} without_cuda[] = {
	{ "tensorflow-cpu", "tensorflow",
	  "tf-no-gpu|cuda-available-false|tf-build-cpu|tf-no-cuda-drivers" },
	{ "onnxruntime", "onnxruntime-gpu", "ort-cpu ort-package-listed" },
	{ "paddlepaddle", "paddlepaddle-gpu", "framework-no-cuda" },
};

static void cpu_packages(struct triage *t)
{
	const struct package *k;
	struct finding *f;
	size_t i;

	for (i = 0; i < ARRAY_LEN(without_cuda); i++) {
		k = package(t, without_cuda[i].cpu);
		if (!k || package(t, without_cuda[i].gpu) ||
		    !triage_holds(t, without_cuda[i].terms, NULL))
			continue;
		f = triage_add(t, FINDING_CPU_ONLY_WHEEL, 84, without_cuda[i].terms);
		finding_fact(t->j, f, without_cuda[i].cpu, &k->version, NULL);
		finding_message(t->j, f, _("The installed package is %s, which has no CUDA code."),
				without_cuda[i].cpu);
		return;
	}
}

/* -------- RAPIDS: Volta and later, in WSL from the beginning, elsewhere since 24.02 */

static void rapids(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	struct finding *f;
	size_t i;

	if (!triage_holds(t, "rapids cuda-801|no-kernel-image|cuda-fails", NULL))
		return;
	for (i = 0; i < s->n_gpus; i++) {
		if (look_cc(&s->gpus[i]) <= 0 || look_cc(&s->gpus[i]) >= 70)
			continue;
		f = triage_add(t, FINDING_GPU_TOO_OLD_FOR_BUILD, 78,
			       "rapids cuda-801|no-kernel-image|cuda-fails");
		finding_fact(t->j, f, "gpu.name", &s->gpus[i].name, NULL);
		finding_message(
			t->j, f, "%s",
			_("RAPIDS needs a GPU of Volta (compute capability 7.0) or later."));
		return;
	}
}

/* -------- PaddlePaddle says which architectures it holds, and which the GPU is */

static int paddle_gpu(const struct triage *t)
{
	static const struct {
		const char *name;
		int cc;
	} generations[] = {
		{ "Kepler", 35 }, { "Maxwell", 50 }, { "Pascal", 60 }, { "Volta", 70 },
		{ "Turing", 75 }, { "Ampere", 80 },  { "Hopper", 90 }, { "Blackwell", 100 },
	};
	const char *is = triage_value(t, "paddle-gpu");
	size_t i;

	for (i = 0; is && i < ARRAY_LEN(generations); i++)
		if (strcmp(is, generations[i].name) == 0)
			return generations[i].cc;
	return is ? (int)strtol(is, NULL, 10) : 0;
}

static void paddle_archs(struct triage *t)
{
	const char *list = triage_value(t, "paddle-archs");
	long cc = paddle_gpu(t), arch, least = 0, most = 0;
	struct finding *f;
	char *end;

	for (; list && cc > 0; list = end) {
		arch = strtol(list, &end, 10);
		if (end == list)
			break;
		if (arch < least || !least)
			least = arch;
		if (arch > most)
			most = arch;
	}
	if (!least || (cc >= least && cc <= most))
		return;
	f = triage_add(t,
		       cc < least ? FINDING_GPU_TOO_OLD_FOR_BUILD : FINDING_GPU_TOO_NEW_FOR_BUILD,
		       90, "paddle-archs paddle-gpu");
	finding_message(
		t->j, f, "%s",
		_("PaddlePaddle lists what it was compiled for, and this GPU is not of it."));
}

/* A program names the driver that it needs, and the text the one that is there. */
static void driver_wanted(struct triage *t)
{
	const char *want = triage_value(t, "driver-wanted");
	const struct fact *have = triage_driver(t);
	struct finding *f;

	if (!want || !have || look_branch(want) < 300 || !look_driver_below(have->value, want) ||
	    look_branch(have->value) == look_branch(want))
		return;
	f = triage_add(t, FINDING_DRIVER_TOO_OLD, 82, "driver-wanted");
	finding_fact(t->j, f, "driver.version", have, want);
}

/* conda's "__cuda" is what the driver offers. */
static void conda_wants_cuda(struct triage *t)
{
	const char *want = triage_value(t, "conda-needs-cuda");
	const struct fact *have = &t->j->s->driver.cuda_ceiling;
	struct finding *f;

	if (!want || !fact_known(have) || !look_driver_below(have->value, want))
		return;
	f = triage_add(t, FINDING_DRIVER_TOO_OLD, 92, "conda-needs-cuda");
	finding_fact(t->j, f, "driver.cuda_ceiling", have, want);
}

/* Releases below `below` have no wheels for a Python above `last` (PyPI). */
static const struct {
	const char *package, *below, *last;
} wheels[] = {
	{ "paddlepaddle-gpu", "3.0", "3.12" }, { "paddlepaddle", "3.0", "3.12" },
	{ "onnxruntime-gpu", "1.17", "3.11" }, { "onnxruntime-gpu", "1.20", "3.12" },
	{ "onnxruntime", "1.17", "3.11" },     { "onnxruntime", "1.20", "3.12" },
	{ "jaxlib", "0.4.33", "3.12" },	       { "cupy-cuda12x", "13.4", "3.12" },
};

static void no_wheel(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *want = triage_value(t, "no-dist"), *eq, *python;
	struct finding *f;
	size_t i;

	python = s->n_pythons ? fact_value(&s->pythons[0].version, NULL) : NULL;
	eq = want ? strstr(want, "==") : NULL;
	for (i = 0; eq && python && i < ARRAY_LEN(wheels); i++) {
		size_t n = strlen(wheels[i].package), k = strlen(wheels[i].last);

		if ((size_t)(eq - want) != n || strncmp(want, wheels[i].package, n) != 0 ||
		    !look_driver_below(eq + 2, wheels[i].below) ||
		    look_driver_below(python, wheels[i].last) ||
		    (strncmp(python, wheels[i].last, k) == 0 && (python[k] == '.' || !python[k])))
			continue;
		f = triage_add(t, FINDING_PYTHON_NO_WHEEL, 84, "no-dist");
		finding_fact(t->j, f, "python.version", &s->pythons[0].version, wheels[i].last);
		return;
	}
}

bool triage_jax_without_cuda(const struct snapshot *s)
{
	static const char *const plugins[] = { "jax-cuda12-plugin", "jax-cuda13-plugin",
					       "jax-cuda12-pjrt", "jax-cuda13-pjrt",
					       "jax-cuda11-plugin" };
	const struct package *lib;
	size_t i;

	lib = s->n_pythons ? python_package(&s->pythons[0], "jaxlib") : NULL;
	if (!lib || !fact_known(&lib->version) || strstr(lib->version.value, "cuda"))
		return false;
	for (i = 0; i < ARRAY_LEN(plugins); i++)
		if (python_package(&s->pythons[0], plugins[i]))
			return false;
	return true;
}

/* -------- builds of add-ons whose address says for which PyTorch they are */

static void add_on_for_other(struct triage *t)
{
	const struct torch *torch = t->j->s->n_pythons ? &t->j->s->pythons[0].torch : NULL;
	const char *have = torch ? look_torch_release(t->j, torch) : NULL;
	const char *want = triage_value(t, "add-on-for-torch");
	struct finding *f;

	if (!have)
		have = triage_value(t, "torch-release-asked");
	if (!want || !have || version_within(have, want) ||
	    !triage_holds(t, "dll-fails|abi-symbol|lib-of-torch|crash-said|ext-part-missing", NULL))
		return;
	f = triage_add(t, FINDING_ABI_MISMATCH_EXTENSION, 90, "add-on-for-torch");
	finding_message(t->j, f, _("A compiled add-on was built for another PyTorch."));
}

/* Each torch is built for one release of Triton, whose parts move with the next. */
static void triton_of_other(struct triage *t)
{
	const struct package *triton = package(t, "triton");
	const struct torch *torch = t->j->s->n_pythons ? &t->j->s->pythons[0].torch : NULL;
	const char *release = torch ? look_torch_release(t->j, torch) : NULL, *want = NULL;
	struct finding *f;
	size_t i;

	if (!triton || !release || !triage_has(t, "triton-part-missing"))
		return;
	for (i = compat_find(t->j->c, "triton", 0, "version", release);
	     i < compat_count(t->j->c, "triton");
	     i = compat_find(t->j->c, "triton", i + 1, "version", release)) {
		const char *kind = compat_value(t->j->c, "triton", i, "kind");

		if (kind && strcmp(kind, "torch") == 0)
			want = compat_value(t->j->c, "triton", i, "triton");
	}
	if (!want || version_cmp_str(want, fact_value(&triton->version, want)) == 0)
		return;
	f = triage_add(t, FINDING_CONFLICTING_PINS, 76, "triton-part-missing");
	finding_fact(t->j, f, "triton", &triton->version, want);
	finding_fact(t->j, f, "torch.version", &torch->version, NULL);
}

void triage_frameworks(struct triage *t)
{
	triton_of_other(t);
	add_on_for_other(t);
	conda_wants_cuda(t);
	no_wheel(t);
	driver_wanted(t);
	tf_generation(t);
	rapids(t);
	paddle_archs(t);
	ort_provider(t);
	tensorflow(t);
	cpu_packages(t);
}

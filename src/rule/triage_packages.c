/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about packages that stand beside each other in one environment. */
#include <string.h>

#include "rule/look.h"
#include "rule/triage.h"

static bool ends(const char *s, const char *with)
{
	size_t n = strlen(s), k = strlen(with);

	return n > k && strcmp(s + n - k, with) == 0;
}

static void mixed(struct triage *t, const struct python *p)
{
	const struct package *cu11 = NULL, *cu12 = NULL, *cu13 = NULL;
	struct finding *f;
	size_t i;

	for (i = 0; i < p->n_packages; i++) {
		const char *name = fact_value(&p->packages[i].name, "");

		if (strncmp(name, "nvidia-", 7) != 0)
			continue;
		if (ends(name, "-cu11"))
			cu11 = &p->packages[i];
		else if (ends(name, "-cu12"))
			cu12 = &p->packages[i];
		else if (ends(name, "-cu13") || strcmp(name, "nvidia-cublas") == 0 ||
			 strcmp(name, "nvidia-cudnn") == 0 ||
			 strcmp(name, "nvidia-cuda-runtime") == 0)
			cu13 = &p->packages[i];
	}
	if ((cu11 != NULL) + (cu12 != NULL) + (cu13 != NULL) < 2)
		return;
	/* Where all works the list alone is no complaint. */
	f = triage_add(t, FINDING_MIXED_CUDA_WHEELS,
		       triage_has(t, "works") && !triage_has(t, "error-seen") ? TRIAGE_WARNING : 80,
		       "lib-missing|cuda-fails|cudnn-fails|cublas-fails");
	if (cu11)
		finding_fact(t->j, f, cu11->name.value, &cu11->version, NULL);
	if (cu12)
		finding_fact(t->j, f, cu12->name.value, &cu12->version, NULL);
	if (cu13)
		finding_fact(t->j, f, cu13->name.value, &cu13->version, NULL);
}

static void tensorflow(struct triage *t, const struct python *p)
{
	const struct package *tf = python_package(p, "tensorflow");
	const char *v = tf ? fact_value(&tf->version, NULL) : NULL;
	struct finding *f;
	bool said;

	if (!v || look_driver_below(v, "2.11") || !triage_has(t, "windows"))
		return;
	/* TensorFlow beside a PyTorch that the text is about is nobody's complaint. */
	said = triage_holds(t, "tf-no-gpu|tf-libs|tf-cudart-stub|tf-no-cuda-drivers|tf-build-cpu",
			    NULL);
	if (!said && fact_known(&p->torch.version))
		return;
	f = triage_add(t, FINDING_TF_WINDOWS_NO_GPU, said ? 88 : 70,
		       "tf-no-gpu|cuda-fails|is-windows");
	finding_fact(t->j, f, "tensorflow", &tf->version, "< 2.11");
}

/* The torchvision of this release, and the build for the processor alone. */
static void torchvision_cpu(struct triage *t, const struct python *p)
{
	const char *have = triage_value(t, "torchvision-plus-cpu"), *of, *tv;
	const char *release = look_torch_release(t->j, &p->torch);
	struct finding *f;
	size_t i;

	if (!have || !release || !triage_has(t, "tv-nms-backend"))
		return;
	for (i = 0; i < compat_count(t->j->c, "pair"); i++) {
		of = compat_text(t->j->c, "pair", i, "torch");
		tv = compat_text(t->j->c, "pair", i, "torchvision");
		if (!of || !tv || strcmp(of, release) != 0 || strncmp(have, tv, strlen(tv)) != 0)
			continue;
		f = triage_add(t, FINDING_EXTENSION_BUILT_WITHOUT_CUDA, 92, "tv-nms-backend");
		finding_message(t->j, f, _("torchvision %s has no CUDA code, PyTorch has."), have);
		return;
	}
}

/* One for AMD's GPUs beside a PyTorch for NVIDIA's, or the other way round. */
static void other_vendor(struct triage *t, const struct python *p, const char *name)
{
	const struct package *one = python_package(p, name);
	const char *v = one ? fact_value(&one->version, "") : "";
	const char *torch = fact_value(&p->torch.version, "");
	struct finding *f;

	if (!(strstr(v, "+rocm") && strstr(torch, "+cu1")) &&
	    !(strstr(v, "+cu1") && strstr(torch, "+rocm")))
		return;
	f = triage_add(t, FINDING_TORCH_TORCHVISION_MISMATCH, 84, NULL);
	finding_fact(t->j, f, name, &one->version, torch);
}

void triage_packages(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct python *p = s->n_pythons ? &s->pythons[0] : NULL;
	struct finding *f;

	if (!p)
		return;
	mixed(t, p);
	tensorflow(t, p);
	torchvision_cpu(t, p);
	other_vendor(t, p, "torchvision");
	other_vendor(t, p, "torchaudio");
	if (python_package(p, "onnxruntime") && python_package(p, "onnxruntime-gpu")) {
		f = triage_add(t, FINDING_ONNXRUNTIME_CPU_SHADOWS_GPU, 84, "ort-cpu");
		finding_fact(t->j, f, "onnxruntime", &python_package(p, "onnxruntime")->version,
			     NULL);
		finding_fact(t->j, f, "onnxruntime-gpu",
			     &python_package(p, "onnxruntime-gpu")->version, NULL);
	}
	if (python_package(p, "ctranslate2") && triage_has(t, "wants-cudnn-9") &&
	    triage_has(t, "wants-cudnn-8"))
		triage_add(t, FINDING_CUDNN_MAJOR_MISMATCH, 70, NULL);
}

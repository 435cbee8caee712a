/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that package lists alone decide: two that overwrite each other, one that was withdrawn, one
 * too new. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

static void each_python(struct judge *j, void (*fn)(struct judge *j, const struct python *p))
{
	size_t i;

	for (i = 0; i < j->s->n_pythons; i++)
		fn(j, &j->s->pythons[i]);
}

/* -------- onnxruntime */

static void onnxruntime_in(struct judge *j, const struct python *p)
{
	const struct package *cpu = python_package(p, "onnxruntime"),
			     *gpu = python_package(p, "onnxruntime-gpu");
	struct finding *f;
	struct remedy *r;

	if (!cpu || !gpu)
		return;
	f = finding_add(j, FINDING_ONNXRUNTIME_CPU_SHADOWS_GPU, look_prefix(p));
	finding_message(
		j, f,
		_("onnxruntime %s and onnxruntime-gpu %s are both installed into the same folder: "
		  "one overwrites the "
		  "other, and the CUDA provider is lost."),
		fact_value(&cpu->version, ""), fact_value(&gpu->version, ""));
	finding_fact(j, f, "package.onnxruntime", &cpu->version, _("not installed"));
	finding_fact(j, f, "package.onnxruntime-gpu", &gpu->version, NULL);
	r = finding_remedy(j, f, "%s", _("Remove both and install the GPU package alone."));
	remedy_command(j, r, "%s uninstall -y onnxruntime onnxruntime-gpu", remedy_pip(j, p));
	remedy_command(j, r, "%s install %s", remedy_pip(j, p),
		       shell_word(j->a, arena_printf(j->a, "onnxruntime-gpu==%s",
						     fact_value(&gpu->version, ""))));
}

static void run_onnxruntime_cpu_shadows_gpu(struct judge *j)
{
	each_python(j, onnxruntime_in);
}

/* -------- TensorFlow on Windows */

static void tf_windows_in(struct judge *j, const struct python *p)
{
	const struct package *tf = python_package(p, "tensorflow");
	struct finding *f;
	struct remedy *r;

	if (!tf || !version_at_least(fact_value(&tf->version, NULL), "2.11"))
		return;
	f = finding_add(j, FINDING_TF_WINDOWS_NO_GPU, look_prefix(p));
	finding_message(
		j, f,
		_("TensorFlow %s has no GPU support on native Windows; 2.10 was the last that "
		  "had."),
		tf->version.value);
	finding_fact(j, f, "package.tensorflow", &tf->version, "<= 2.10");
	finding_fact(j, f, "host.system", &j->s->host.system, "wsl2, linux");
	r = finding_remedy(j, f, "%s", _("Run TensorFlow in WSL 2."));
	remedy_command(j, r, "wsl --install -d Ubuntu");
	remedy_command(j, r, "python3 -m pip install %s",
		       shell_word(j->a, arena_printf(j->a, "tensorflow[and-cuda]==%s",
						     tf->version.value)));
}

static void run_tf_windows_no_gpu(struct judge *j)
{
	if (fact_is(&j->s->host.system, "windows"))
		each_python(j, tf_windows_in);
}

/* -------- placeholders */

/* The uploads that are no library: tensorflow-gpu from 2.12 on, and the suffixed CUDA 13 names at
 * 0.0.1. */
static bool is_placeholder(struct judge *j, const struct package *pkg)
{
	const struct json *row;
	const char *name = fact_value(&pkg->name, "");

	if (strcmp(name, "tensorflow-gpu") == 0)
		return version_at_least(fact_value(&pkg->version, NULL), "2.12");
	if (strncmp(name, "nvidia-", 7) != 0 ||
	    version_at_least(fact_value(&pkg->version, "0"), "1"))
		return false;
	for (row = json_first(json_get(compat_table(j->c, "nvidia_wheel"), "rows")); row;
	     row = json_next(row))
		if (json_get_bool(row, "placeholder", false) &&
		    strcmp(json_get_str(row, "name"), name) == 0)
			return true;
	return false;
}

static void removed_in(struct judge *j, const struct python *p)
{
	struct finding *f;
	struct remedy *r;
	size_t i;

	for (i = 0; i < p->n_packages; i++) {
		const struct package *pkg = &p->packages[i];
		bool tf = fact_is(&pkg->name, "tensorflow-gpu");

		if (!is_placeholder(j, pkg))
			continue;
		f = finding_add(j, FINDING_REMOVED_PACKAGE, look_prefix(p));
		/* A wheel that holds nothing breaks nothing by itself. */
		if (!tf)
			f->severity = SEVERITY_WARNING;
		finding_message(j, f, _("%s %s is a placeholder and holds no library."),
				pkg->name.value, fact_value(&pkg->version, ""));
		finding_fact(j, f, "package", &pkg->name, NULL);
		finding_fact(j, f, "package.version", &pkg->version, NULL);
		r = finding_remedy(j, f, "%s", _("Install the package that took its place."));
		remedy_command(j, r, "%s uninstall -y %s", remedy_pip(j, p),
			       shell_word(j->a, pkg->name.value));
		if (tf)
			remedy_command(j, r, "%s install 'tensorflow[and-cuda]'", remedy_pip(j, p));
	}
}

static void run_removed_package(struct judge *j)
{
	each_python(j, removed_in);
}

/* -------- NumPy 2 */

static void numpy_in(struct judge *j, const struct python *p)
{
	const struct package *numpy = python_package(p, "numpy");
	const char *release = look_torch_release(j, &p->torch);
	struct finding *f;
	struct remedy *r;

	/* PyTorch is built against NumPy 2 from 2.3 on. */
	if (!numpy || !release || !version_at_least(fact_value(&numpy->version, NULL), "2") ||
	    version_at_least(release, "2.3"))
		return;
	f = finding_add(j, FINDING_NUMPY2_ABI, look_prefix(p));
	/* torch starts and computes; only the bridge to NumPy is gone. */
	f->severity = SEVERITY_WARNING;
	finding_message(
		j, f,
		_("torch %s was built for NumPy 1, and NumPy %s is installed: tensors and arrays "
		  "cannot be exchanged."),
		release, numpy->version.value);
	finding_fact(j, f, "package.numpy", &numpy->version, "< 2");
	finding_fact(j, f, "torch.version", &p->torch.version, NULL);
	r = finding_remedy(j, f, "%s", _("Go back to NumPy 1, or take torch 2.3 or later."));
	remedy_command(j, r, "%s install 'numpy<2'", remedy_pip(j, p));
}

static void run_numpy2_abi(struct judge *j)
{
	each_python(j, numpy_in);
}

const struct rule rule_onnxruntime_cpu_shadows_gpu = {
	.name = "onnxruntime-cpu-shadows-gpu",
	.needs = NEED_PYTHON,
	.layer = LAYER_FRAMEWORK,
	.run = run_onnxruntime_cpu_shadows_gpu,
};
const struct rule rule_tf_windows_no_gpu = {
	.name = "tf-windows-no-gpu",
	.needs = NEED_PYTHON,
	.layer = LAYER_FRAMEWORK,
	.run = run_tf_windows_no_gpu,
};
const struct rule rule_removed_package = {
	.name = "removed-package",
	.needs = NEED_PYTHON,
	.layer = LAYER_PYTHON,
	.run = run_removed_package,
};
const struct rule rule_numpy2_abi = {
	.name = "numpy2-abi",
	.needs = NEED_PYTHON,
	.layer = LAYER_PYTHON,
	.run = run_numpy2_abi,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about several environments, and about what an installation did to another package. */
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

static bool has_cuda_torch(struct judge *j, const struct python *p)
{
	return p && fact_known(&p->torch.version) && look_torch_cuda(j, &p->torch);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* -------- notebook kernels */

static void kernel_remedy(struct judge *j, struct finding *f, const struct python *p,
			  const char *name)
{
	struct remedy *r = finding_remedy(
		j, f, "%s",
		_("Register the wanted environment as that kernel anew, and restart it."));

	remedy_command(j, r, "%s -m ipykernel install --user --name %s",
		       shell_word(j->a, fact_value(&p->interpreter, "python")),
		       shell_word(j->a, name));
}

/* Is the kernel named like the environment, so that whoever picks it means that one? */
static bool named_after(const struct kernelspec *k, const struct python *p)
{
	struct view dir;
	const char *slash = strrchr(k->path.value, '/');

	if (fact_is(&k->name, last_part(p->prefix.value)))
		return true;
	dir = (struct view){ .p = k->path.value, .n = slash ? (size_t)(slash - k->path.value) : 0 };
	return view_ends(dir, last_part(p->prefix.value));
}

static void kernel_elsewhere(struct judge *j, const struct kernelspec *k,
			     const struct python *active)
{
	const struct python *runs;
	struct finding *f;

	if (!fact_known(&k->prefix) || !fact_known(&active->prefix) ||
	    fact_is(&k->prefix, active->prefix.value))
		return;
	runs = look_python_of(j->s, k->prefix.value);
	if (!runs || has_cuda_torch(j, runs))
		return;
	/* A kernel without PyTorch is for something else, unless it bears the environment's name.
	 */
	if (!fact_known(&runs->torch.version) && !named_after(k, active))
		return;
	f = finding_add(j, FINDING_MULTIPLE_ENVS, active->prefix.value);
	f->severity = SEVERITY_WARNING;
	if (fact_known(&runs->torch.version))
		finding_message(
			j, f,
			_("The notebook kernel \"%s\" starts %s, where torch is %s; the CUDA build "
			  "(%s) is in %s."),
			k->name.value, k->interpreter.value, runs->torch.version.value,
			active->torch.version.value, active->prefix.value);
	else
		finding_message(
			j, f,
			_("The notebook kernel \"%s\" starts %s, where no torch is; the CUDA build "
			  "(%s) is in %s."),
			k->name.value, k->interpreter.value, active->torch.version.value,
			active->prefix.value);
	finding_fact(j, f, "kernel.interpreter", &k->interpreter, active->interpreter.value);
	finding_fact(j, f, "torch.version", &runs->torch.version, active->torch.version.value);
	kernel_remedy(j, f, active, last_part(active->prefix.value));
}

/* -------- variables and the path */

/* An environment is called active by its variable, and PATH starts another Python. */
static void variable_elsewhere(struct judge *j, const struct python *active)
{
	static const char *const names[] = { "VIRTUAL_ENV", "CONDA_PREFIX" };
	size_t i;

	if (fact_is(&active->active_why, "--python"))
		return;
	for (i = 0; i < ARRAY_LEN(names); i++) {
		const struct fact *v = snapshot_env_fact(j->s, names[i]);
		const struct python *named = v ? look_python_of(j->s, v->value) : NULL;
		struct finding *f;
		struct remedy *r;

		/* A venv inside a conda environment sets both. */
		if (!named || named == active || has_cuda_torch(j, active) ||
		    !has_cuda_torch(j, named) || fact_is(&active->kind, "venv"))
			continue;
		f = finding_add(j, FINDING_MULTIPLE_ENVS, active->prefix.value);
		finding_message(
			j, f,
			_("%s names %s, which has torch %s, and the python that PATH finds is "
			  "that of %s."),
			names[i], named->prefix.value, named->torch.version.value,
			active->prefix.value);
		finding_fact(j, f, names[i], v, active->prefix.value);
		finding_fact(j, f, "python.interpreter", &active->interpreter, v->value);
		r = finding_remedy(j, f, "%s", _("Activate the environment anew in this shell."));
		if (i == 0)
			remedy_command(j, r, ". %s/bin/activate",
				       shell_word(j->a, named->prefix.value));
		else
			remedy_command(j, r, "conda activate %s",
				       shell_word(j->a, named->prefix.value));
		r->risk = RISK_SAFE;
		return;
	}
}

/* -------- two copies of one package */

/* "2.4.1" of ".../torch-2.4.1+cu121.dist-info". */
static const char *version_of_meta(struct judge *j, const char *meta)
{
	struct view stem = view_of(last_part(meta)), rest;

	view_cut(stem, '-', &rest);
	if (view_ends(rest, ".dist-info"))
		rest.n -= strlen(".dist-info");
	return view_dup(j->a, rest);
}

static bool in_directory(const char *file, const char *dir)
{
	size_t n = dir ? strlen(dir) : 0;

	return n && strncmp(file, dir, n) == 0 && file[n] == '/' && !strchr(file + n + 1, '/');
}

/* The copy of the user's own directory or of PYTHONPATH hides the one that was installed here. */
static void hidden_copy(struct judge *j, const struct python *p)
{
	const struct package *pkg = python_package(p, "torch");
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!pkg || !fact_known(&pkg->location) || !fact_known(&pkg->version))
		return;
	for (i = 0; i < pkg->copies.n; i++) {
		const char *other = version_of_meta(j, pkg->copies.values[i]);

		/* Two in one directory are what an interrupted upgrade left. */
		if (in_directory(pkg->copies.values[i], pkg->location.value) ||
		    strcmp(other, pkg->version.value) == 0)
			continue;
		f = finding_add(j, FINDING_MULTIPLE_ENVS, look_prefix(p));
		/* What is hidden would use the GPU, and what hides it does not. */
		if (has_cuda_torch(j, p) || strstr(other, "+cpu"))
			f->severity = SEVERITY_WARNING;
		finding_message(j, f,
				_("torch is imported from %s (%s) and hides the %s that is "
				  "installed in the "
				  "environment."),
				pkg->location.value, pkg->version.value, other);
		finding_fact(j, f, "package.torch", &pkg->version, other);
		finding_evidence(j, f, "package.copies", pkg->copies.values[i], NULL,
				 pkg->copies.source);
		if (pkg->missing.n)
			finding_evidence(j, f, "package.torch.missing", pkg->missing.values[0],
					 NULL, pkg->missing.source);
		r = finding_remedy(
			j, f, "%s",
			_("Remove the copy that is not wanted, or leave the user's directory and "
			  "PYTHONPATH out."));
		remedy_command(j, r, "export PYTHONNOUSERSITE=1; unset PYTHONPATH");
		r->risk = RISK_SAFE;
		return;
	}
}

static void hiding_file(struct judge *j, const struct python *p)
{
	struct finding *f;
	struct remedy *r;

	if (!fact_known(&p->hidden_by))
		return;
	f = finding_add(j, FINDING_MULTIPLE_ENVS, look_prefix(p));
	finding_message(j, f,
			_("%s comes before PyTorch on the path and is imported in its place."),
			p->hidden_by.value);
	finding_fact(j, f, "python.hidden_by", &p->hidden_by, fact_value(&p->torch.path, NULL));
	r = finding_remedy(j, f, "%s", _("Rename that file."));
	remedy_command(j, r, "mv %s %s", shell_word(j->a, p->hidden_by.value),
		       shell_word(j->a, arena_printf(j->a, "%s.bak", p->hidden_by.value)));
}

static void run_multiple_envs(struct judge *j)
{
	const struct python *active = snapshot_active_python(j->s);
	size_t i, n = j->n_findings;

	for (i = 0; i < j->s->n_pythons; i++) {
		hidden_copy(j, &j->s->pythons[i]);
		hiding_file(j, &j->s->pythons[i]);
	}
	if (!active)
		return;
	variable_elsewhere(j, active);
	if (!has_cuda_torch(j, active) || n != j->n_findings)
		return;
	for (i = 0; i < j->s->n_kernels; i++)
		kernel_elsewhere(j, &j->s->kernels[i], active);
}

/* -------- cpu-only-replaced-by-dependency */

/* Packages that bring NVIDIA's libraries themselves. */
static bool has_other_user(const struct python *p)
{
	size_t i;

	for (i = 0; i < p->n_packages; i++) {
		const char *name = fact_value(&p->packages[i].name, "");

		if (strncmp(name, "jax-cuda", 8) == 0 || strncmp(name, "tensorflow", 10) == 0 ||
		    strncmp(name, "cupy", 4) == 0 || strcmp(name, "onnxruntime-gpu") == 0 ||
		    strncmp(name, "tensorrt", 8) == 0 || strcmp(name, "faster-whisper") == 0 ||
		    strncmp(name, "ctranslate2", 11) == 0)
			return true;
	}
	return false;
}

/* What a torch with CUDA left behind when it went: sisters for CUDA, or all of its libraries. */
static const struct fact *trace_of_cuda(struct judge *j, const struct python *p)
{
	static const char *const wheels[] = { "nvidia-cusolver-cu12", "nvidia-cusolver-cu11",
					      "nvidia-cusolver" };
	const struct fact *sisters[] = { &p->torch.torchvision, &p->torch.torchaudio };
	const struct package *pkg;
	size_t i;

	for (i = 0; i < ARRAY_LEN(sisters); i++)
		if (fact_known(sisters[i]) && strstr(sisters[i]->value, "+cu"))
			return sisters[i];
	if (has_other_user(p))
		return NULL;
	for (i = 0; i < ARRAY_LEN(wheels); i++) {
		pkg = python_package(p, wheels[i]);
		if (pkg && fact_known(&pkg->version))
			return &pkg->version;
	}
	(void)j;
	return NULL;
}

static void run_replaced(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->s->n_pythons; i++) {
		const struct python *p = &j->s->pythons[i];
		const char *variant = look_torch_variant(j, &p->torch);
		const struct fact *trace;
		struct finding *f;

		const struct package *pkg = python_package(p, "torch");

		/* What lies beside it belongs to the copy that it hides. */
		if (pkg && pkg->copies.n)
			continue;
		if (!fact_known(&p->torch.version) || look_declared(&p->torch) ||
		    look_torch_cuda(j, &p->torch) || !variant || strcmp(variant, "cpu") != 0)
			continue;
		trace = trace_of_cuda(j, p);
		if (!trace)
			continue;
		f = finding_add(j, FINDING_CPU_ONLY_REPLACED_BY_DEPENDENCY, look_prefix(p));
		finding_message(
			j, f,
			_("torch %s is a CPU build, and what belongs to a CUDA build is installed "
			  "beside it: a later installation took its place."),
			p->torch.version.value);
		finding_fact(j, f, "torch.version", &p->torch.version, _("a build with CUDA"));
		finding_fact(j, f, "left by the CUDA build", trace, NULL);
		finding_inferred(f);
		remedy_torch(j, f, p);
	}
}

const struct rule rule_multiple_envs = {
	.name = "multiple-envs",
	.needs = NEED_PYTHON,
	.layer = LAYER_PYTHON,
	.run = run_multiple_envs,
};
const struct rule rule_cpu_only_replaced_by_dependency = {
	.name = "cpu-only-replaced-by-dependency",
	.needs = NEED_TORCH | NEED_PYTHON,
	.layer = LAYER_FRAMEWORK,
	.run = run_replaced,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about toolkits: they matter to what is compiled here, never to a wheel, so that they warn.
 */
#include <string.h>

#include "base/arena.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

static bool has_nvcc(const struct toolkit *t)
{
	return fact_known(&t->version) && fact_known(&t->nvcc) && !fact_no(&t->nvcc);
}

/* How near a toolkit is to a build of an extension: CUDA_HOME's, then nvcc's on PATH, then
 * /usr/local/cuda. */
static int nearness(const struct toolkit *t)
{
	struct view rest = view_of(fact_value(&t->via, "")), way;
	int best = 0;

	while (rest.n) {
		way = view_trim(view_cut(rest, ',', &rest));
		if (view_is(way, "CUDA_HOME") || view_is(way, "CUDA_PATH"))
			return 3;
		if (view_is(way, "PATH"))
			best = 2;
		else if (view_is(way, "/usr/local/cuda") && best < 1)
			best = 1;
	}
	return best;
}

/* The toolkit that a build would take; others lie beside it and do no harm. */
static const struct toolkit *building_toolkit(const struct snapshot *s)
{
	const struct toolkit *best = NULL;
	size_t i;

	for (i = 0; i < s->n_toolkits; i++)
		if (has_nvcc(&s->toolkits[i]) &&
		    (!best || nearness(&s->toolkits[i]) > nearness(best)))
			best = &s->toolkits[i];
	return best;
}

/* -------- CUDA_HOME */

static bool malformed(const char *value)
{
	return *value != '/' || strchr(value, ':') != NULL || value[strlen(value) - 1] == ' ';
}

/* Does the variable lead to a toolkit?  The probe notes by which ways it came to each. */
static bool leads_somewhere(const struct snapshot *s, const char *name, const char *value)
{
	size_t i;

	/* The distribution's nvcc is /usr/bin/nvcc. */
	if (strcmp(value, "/usr") == 0 || strcmp(value, "/usr/") == 0)
		return true;
	for (i = 0; i < s->n_toolkits; i++)
		if (strstr(fact_value(&s->toolkits[i].via, ""), name) ||
		    fact_is(&s->toolkits[i].path, value))
			return true;
	return false;
}

static void run_cuda_home_wrong(struct judge *j)
{
	static const char *const names[] = { "CUDA_HOME", "CUDA_PATH" };
	struct finding *f;
	struct remedy *r;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		const struct fact *env = snapshot_env_fact(j->s, names[i]);
		bool bad;

		if (!env || !*env->value || look_is_windows(j->s))
			continue;
		bad = malformed(env->value);
		if (!bad && leads_somewhere(j->s, names[i], env->value))
			continue;
		f = finding_add(j, FINDING_CUDA_HOME_WRONG, names[i]);
		if (bad)
			finding_message(
				j, f,
				_("%s is \"%s\": it has to be one absolute directory, not a "
				  "search path."),
				names[i], env->value);
		else
			finding_message(j, f, _("%s is \"%s\", and no toolkit is there."), names[i],
					env->value);
		finding_fact(j, f, names[i], env,
			     j->s->n_toolkits
				     ? fact_value(&j->s->toolkits[0].path, "/usr/local/cuda")
				     : "/usr/local/cuda");
		r = finding_remedy(j, f, _("Set %s to the toolkit's directory, or unset it."),
				   names[i]);
		if (j->s->n_toolkits && fact_known(&j->s->toolkits[0].path))
			remedy_command(j, r, "export %s=%s", names[i],
				       shell_word(j->a, j->s->toolkits[0].path.value));
		else
			remedy_command(j, r, "unset %s", names[i]);
		r->risk = RISK_SAFE;
	}
}

/* -------- nvcc and the GPUs */

static void toolkit_gpu(struct judge *j, const struct toolkit *t, size_t gpu)
{
	const struct cuda_row *row = compat_cuda(j->c, t->version.value);
	int cc = look_cc(&j->s->gpus[gpu]);
	bool too_new, too_old;
	struct finding *f;

	if (!row || (row->nvcc_min_cc < 0 && row->nvcc_max_cc < 0)) {
		judge_skip(j, "cuda.nvcc_min_cc", _("not known for CUDA %s"), t->version.value);
		return;
	}
	too_new = row->nvcc_min_cc > 0 && cc < row->nvcc_min_cc;
	too_old = row->nvcc_max_cc > 0 && cc > row->nvcc_max_cc;
	if (!too_new && !too_old)
		return;
	f = finding_add(j,
			too_new ? FINDING_TOOLKIT_TOO_NEW_FOR_GPU : FINDING_TOOLKIT_TOO_OLD_FOR_GPU,
			fact_value(&t->path, "nvcc"));
	f->severity = SEVERITY_WARNING;
	if (too_new)
		finding_message(
			j, f,
			_("nvcc of CUDA %s compiles for compute capability %s and later; %s has "
			  "%s."),
			t->version.value, cc_text(j->a, row->nvcc_min_cc), gpu_subject(j, gpu),
			cc_text(j->a, cc));
	else
		finding_message(
			j, f, _("nvcc of CUDA %s compiles up to compute capability %s; %s has %s."),
			t->version.value, cc_text(j->a, row->nvcc_max_cc), gpu_subject(j, gpu),
			cc_text(j->a, cc));
	finding_fact(j, f, "toolkit.version", &t->version, NULL);
	finding_fact(j, f, "gpu.compute_capability", &j->s->gpus[gpu].compute_capability,
		     arena_printf(j->a, too_new ? ">= %s" : "<= %s",
				  cc_text(j->a, too_new ? row->nvcc_min_cc : row->nvcc_max_cc)));
	finding_remedy(
		j, f,
		too_new ? _("To compile for this GPU, install the last toolkit that knows it "
			    "(CUDA 12.9 for Maxwell, "
			    "Pascal and Volta, 11.8 for Kepler) beside this one.")
			: _("To compile for this GPU, install a newer toolkit beside this one."));
}

static void run_toolkit_gpu(struct judge *j)
{
	const struct toolkit *t = building_toolkit(j->s);
	size_t i;

	for (i = 0; t && i < j->s->n_gpus; i++)
		if (look_gpu_used(j->s, i) && look_cc(&j->s->gpus[i]) > 0)
			toolkit_gpu(j, t, i);
}

/* -------- Triton's own ptxas */

static void ptxas_for(struct judge *j, const struct python *p, const struct fact *ptxas, size_t gpu)
{
	const struct cuda_row *row = compat_cuda(j->c, ptxas->value);
	int cc = look_cc(&j->s->gpus[gpu]);
	struct finding *f;

	/* One chip of a family that nvcc names one by one runs the code of its elders. */
	if (!row || row->nvcc_max_cc < 0 || cc <= row->nvcc_max_cc ||
	    (cc >= 100 && cc / 10 == row->nvcc_max_cc / 10))
		return;
	f = finding_add(j, FINDING_PTXAS_TOO_OLD, look_prefix(p));
	f->severity = SEVERITY_WARNING;
	finding_message(
		j, f,
		_("Triton's ptxas is of CUDA %s, which compiles up to compute capability %s; %s "
		  "has %s: "
		  "torch.compile fails on it."),
		ptxas->value, cc_text(j->a, row->nvcc_max_cc), gpu_subject(j, gpu),
		cc_text(j->a, cc));
	finding_fact(j, f, "triton.ptxas", ptxas, NULL);
	finding_fact(j, f, "gpu.compute_capability", &j->s->gpus[gpu].compute_capability,
		     arena_printf(j->a, "<= %s", cc_text(j->a, row->nvcc_max_cc)));
	finding_remedy(
		j, f, "%s",
		_("Take a later PyTorch, which brings a later Triton, or point TRITON_PTXAS_PATH "
		  "at the ptxas of "
		  "a newer toolkit."));
}

static void run_ptxas_too_old(struct judge *j)
{
	size_t i, k;

	if (snapshot_env(j->s, "TRITON_PTXAS_PATH"))
		return;
	for (i = 0; i < j->s->n_pythons; i++) {
		const struct triton *t = &j->s->pythons[i].triton;

		for (k = 0; k < j->s->n_gpus; k++) {
			bool blackwell =
				look_cc(&j->s->gpus[k]) >= 100 && fact_known(&t->ptxas_blackwell);
			const struct fact *ptxas = blackwell ? &t->ptxas_blackwell : &t->ptxas;

			if (fact_known(ptxas) && look_gpu_used(j->s, k) &&
			    look_cc(&j->s->gpus[k]) > 0)
				ptxas_for(j, &j->s->pythons[i], ptxas, k);
		}
	}
}

/* -------- which nvcc comes first */

static void run_toolkit_shadowed(struct judge *j)
{
	const struct toolkit *first = NULL, *other = NULL;
	struct finding *f;
	struct remedy *r;
	size_t i;

	for (i = 0; i < j->s->n_toolkits; i++) {
		const struct toolkit *t = &j->s->toolkits[i];

		if (!has_nvcc(t))
			continue;
		/* The distribution's package; NVIDIA's own live below /usr/local or /opt. */
		if (strstr(fact_value(&t->via, ""), "PATH") &&
		    view_starts(view_of(fact_value(&t->path, "")), "/usr/lib/"))
			first = t;
		else if (!other)
			other = t;
	}
	if (!first || !other || snapshot_env(j->s, "CUDA_HOME"))
		return;
	f = finding_add(j, FINDING_TOOLKIT_SHADOWED, fact_value(&first->path, "nvcc"));
	finding_message(
		j, f,
		_("The nvcc that PATH finds is the distribution's (CUDA %s); the toolkit in %s "
		  "(CUDA %s) is hidden by "
		  "it."),
		first->version.value, fact_value(&other->path, "?"), other->version.value);
	finding_fact(j, f, "toolkit.path", &first->path, fact_value(&other->path, NULL));
	finding_fact(j, f, "toolkit.version", &first->version, other->version.value);
	r = finding_remedy(
		j, f, "%s",
		_("Put the wanted toolkit in front, or remove the distribution's package."));
	remedy_command(j, r, "export PATH=%s/bin:$PATH",
		       shell_word(j->a, fact_value(&other->path, "/usr/local/cuda")));
	/* Below /usr/lib it is Debian's package, or one of its kin. */
	distro_remove(j, r, &(struct distro_names){ .debian = "nvidia-cuda-toolkit" });
}

/* -------- nvcc and torch */

static void run_toolkit_torch_mismatch(struct judge *j)
{
	const struct toolkit *t = building_toolkit(j->s);
	const struct python *p = look_deciding(j->s);
	const char *cuda = p ? look_torch_cuda(j, &p->torch) : NULL;
	struct finding *f;

	/* PyTorch refuses another major; within a major it says a word and goes on. */
	if (!t || !cuda || look_branch(t->version.value) == look_branch(cuda))
		return;
	f = finding_add(j, FINDING_TOOLKIT_TORCH_MISMATCH, fact_value(&t->path, "nvcc"));
	f->severity = SEVERITY_WARNING;
	finding_message(
		j, f,
		_("nvcc is of CUDA %s and this torch of CUDA %s: extensions that are compiled "
		  "here will be refused."),
		t->version.value, cuda);
	finding_fact(j, f, "toolkit.version", &t->version, cuda);
	finding_fact(j, f, "torch.cuda",
		     fact_known(&p->torch.cuda) ? &p->torch.cuda : &p->torch.version, NULL);
	finding_remedy(
		j, f,
		_("To compile extensions, install the toolkit of CUDA %s and point CUDA_HOME at "
		  "it; torch itself "
		  "needs none."),
		cuda);
}

const struct rule rule_cuda_home_wrong = {
	.name = "cuda-home-wrong",
	.needs = NEED_ENVIRONMENT | NEED_TOOLKIT,
	.layer = LAYER_TOOLKIT,
	.run = run_cuda_home_wrong,
};
const struct rule rule_toolkit_gpu = {
	.name = "toolkit-too-new-for-gpu",
	.needs = NEED_TOOLKIT | NEED_GPU,
	.layer = LAYER_TOOLKIT,
	.run = run_toolkit_gpu,
};
const struct rule rule_ptxas_too_old = {
	.name = "ptxas-too-old",
	.needs = NEED_PYTHON | NEED_GPU,
	.layer = LAYER_FRAMEWORK,
	.run = run_ptxas_too_old,
};
const struct rule rule_toolkit_shadowed = {
	.name = "toolkit-shadowed",
	.needs = NEED_TOOLKIT | NEED_ENVIRONMENT,
	.layer = LAYER_TOOLKIT,
	.run = run_toolkit_shadowed,
};
const struct rule rule_toolkit_torch_mismatch = {
	.name = "toolkit-torch-mismatch",
	.needs = NEED_TOOLKIT | NEED_TORCH,
	.layer = LAYER_TOOLKIT,
	.run = run_toolkit_torch_mismatch,
};

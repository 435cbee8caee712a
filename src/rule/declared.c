/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow and JAX that were declared and not found: an installed one has met its Python, its
 * platform and mostly its driver; whether a declared one could is the question. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "model/pep440.h"
#include "rule/look.h"
#include "rule/project.h"
#include "rule/remedy.h"
#include "rule/rules.h"

struct declared {
	const struct python *p;
	const struct package *package;
	const struct json *row;
	const char *name, *version;
};

static struct finding *add(struct judge *j, const struct declared *d, enum finding_id id)
{
	struct finding *f = finding_add(j, id, look_prefix(d->p));

	finding_fact(j, f, arena_printf(j->a, "package.%s", d->name), &d->package->version, NULL);
	return f;
}

/* TensorFlow's rows say "3.9-3.12", JAX's ">=3.9". */
static bool python_holds(struct judge *j, const char *range, const char *python)
{
	const char *dash = strchr(range, '-');

	if (!dash)
		return pep440_text_holds(j->a, range, python);
	return version_cmp_str(python, arena_strndup(j->a, range, (size_t)(dash - range))) >= 0 &&
	       version_cmp_str(python, dash + 1) <= 0;
}

static void python(struct judge *j, const struct declared *d)
{
	const char *range = json_get_str(d->row, "python"), *have;
	struct finding *f;
	struct version v;

	if (!range || !version_prefix(view_of(fact_value(&d->p->version, "")), &v) || v.n < 2)
		return;
	have = arena_printf(j->a, "%u.%u", v.part[0], v.part[1]);
	if (python_holds(j, range, have))
		return;
	f = add(j, d, FINDING_PYTHON_NO_WHEEL);
	finding_message(j, f, _("%s %s has wheels for Python %s, not for %s."), d->name, d->version,
			range, have);
	finding_fact(j, f, "python.version", &d->p->version, range);
	finding_remedy(j, f, _("Take Python %s, or another release of %s."), range, d->name)->risk =
		RISK_SAFE;
}

/* The first GPU whose last branch is older than that; -1: none. */
static long left_behind(struct judge *j, const char *least)
{
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);

		if (look_gpu_used(j->s, i) && row && row->last_driver &&
		    look_branch(row->last_driver) &&
		    look_branch(row->last_driver) < look_branch(least))
			return (long)i;
	}
	return -1;
}

static void no_driver(struct judge *j, const struct declared *d, size_t gpu, const char *least)
{
	const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[gpu]);
	struct finding *f = finding_add(j, FINDING_NO_DRIVER_CAN_HELP, gpu_subject(j, gpu));

	finding_message(j, f,
			_("%s %s needs driver %s or newer, and branch %s is the last that drives "
			  "this GPU: no driver makes them fit."),
			d->name, d->version, least, row->last_driver);
	finding_fact(j, f, arena_printf(j->a, "package.%s", d->name), &d->package->version, NULL);
	finding_evidence(j, f, "gpu.last_driver", row->last_driver,
			 arena_printf(j->a, ">= %u", look_branch(least)), row->source);
	finding_remedy(j, f, _("Take an older release of %s, or another GPU."), d->name)->risk =
		RISK_SAFE;
}

static void driver(struct judge *j, const struct declared *d, const char *cuda)
{
	const struct fact *have = look_cuda_driver(j->s);
	const char *least, *branch;
	struct finding *f;
	bool inferred = false;
	long gpu;

	if (!cuda || !have || look_is_tegra(j))
		return;
	least = compat_min_driver(j->c, cuda, look_is_windows(j->s), &inferred);
	if (!least || !look_driver_below(have->value, least))
		return;
	f = add(j, d, FINDING_DRIVER_TOO_OLD);
	finding_message(j, f, _("%s %s is built for CUDA %s and needs driver %s; here it is %s."),
			d->name, d->version, cuda, least, have->value);
	finding_fact(j, f, "driver.version", have, arena_printf(j->a, ">= %s", least));
	if (inferred)
		finding_inferred(f);
	gpu = look_is_windows(j->s) ? -1 : left_behind(j, least);
	if (gpu >= 0) {
		no_driver(j, d, (size_t)gpu, least);
		return;
	}
	branch = remedy_branch(j, cuda);
	if (branch)
		remedy_driver(j, f, branch, remedy_driver_kind(j));
}

/* Newer GPUs run the PTX that these builds hold; older ones nothing of it. */
static void gpus(struct judge *j, const struct declared *d, const struct json *list)
{
	const char **archs;
	struct finding *f;
	bool old = false;
	size_t n;
	long gpu;

	archs = json_str_list(j->a, list, &n);
	gpu = archs ? project_gpu_unfit(j, (const char *const *)archs, n, &old) : -1;
	if (gpu < 0 || !old)
		return;
	f = add(j, d, FINDING_GPU_TOO_OLD_FOR_BUILD);
	finding_message(j, f, _("%s %s has no code for %s."), d->name, d->version,
			gpu_subject(j, (size_t)gpu));
	finding_remedy(j, f, _("Take an older release of %s, or another GPU."), d->name)->risk =
		RISK_SAFE;
}

/* A cuDNN that was declared beside it, and that TensorFlow would load. */
static void cudnn(struct judge *j, const struct declared *d)
{
	const struct fact *have = &d->p->torch.cudnn.version;
	const char *wanted = json_get_str(d->row, "cudnn");
	struct finding *f;
	bool same;

	if (!wanted || !fact_known(have) || strcmp(have->source, "assumed") != 0)
		return;
	same = look_branch(have->value) == look_branch(wanted);
	if (same && version_at_least(have->value, wanted))
		return;
	f = add(j, d, same ? FINDING_CUDNN_VERSION_MISMATCH : FINDING_CUDNN_MAJOR_MISMATCH);
	finding_message(j, f, _("%s %s was built with cuDNN %s; here it is %s."), d->name,
			d->version, wanted, have->value);
	finding_fact(j, f, "cudnn.version", have, wanted);
	finding_remedy(j, f, _("Install cuDNN %s, or let the package bring it: %s."), wanted,
		       "tensorflow[and-cuda]");
}

static bool named(const struct python *p, const char *name, struct declared *ret)
{
	const struct package *k = python_package(p, name);

	if (!k || !fact_known(&k->version) || !k->version.source ||
	    strcmp(k->version.source, "assumed") != 0)
		return false;
	*ret = (struct declared){ .p = p, .package = k, .name = name, .version = k->version.value };
	return true;
}

static void tensorflow(struct judge *j, struct declared *d)
{
	const char *platform = look_platform(j->s);
	struct finding *f;

	/* On Windows the rule of its own has the say from 2.11 on. */
	if (strncmp(platform, "windows", 7) == 0)
		return;
	if (strcmp(platform, "linux_x86_64") != 0) {
		f = add(j, d, FINDING_CPU_ONLY_PLATFORM);
		finding_message(j, f, _("TensorFlow's wheels for %s hold no CUDA code."), platform);
		return;
	}
	d->row = project_tensorflow(j, d->version);
	if (!d->row) {
		judge_skip(j, "matrix tensorflow", _("the matrix does not know %s %s"), d->name,
			   d->version);
		return;
	}
	python(j, d);
	driver(j, d, json_get_str(d->row, "cuda"));
	gpus(j, d, json_get(d->row, "arch_list"));
	cudnn(j, d);
}

static void jax(struct judge *j, struct declared *d)
{
	d->row = project_row(j, "jax", d->version, NULL, NULL);
	if (!d->row) {
		judge_skip(j, "matrix jax", _("the matrix does not know %s %s"), d->name,
			   d->version);
		return;
	}
	python(j, d);
	driver(j, d, json_get_str(json_get(d->row, "min_cuda"), "cuda12"));
}

static void run(struct judge *j)
{
	const struct python *p = look_deciding(j->s);
	struct declared d;

	if (!p || !look_has_nvidia(j->s))
		return;
	if (named(p, "tensorflow", &d))
		tensorflow(j, &d);
	if (named(p, "jax", &d))
		jax(j, &d);
}

const struct rule rule_declared_frameworks = {
	.name = "python-no-wheel",
	.needs = NEED_PYTHON,
	.layer = LAYER_PYTHON,
	.run = run,
};

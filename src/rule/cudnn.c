/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about cuDNN among packages: one environment holds one, and what was built for a later one
 * fails. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

static const struct package *cudnn_package(const struct python *p)
{
	static const char *const names[] = { "nvidia-cudnn-cu12", "nvidia-cudnn-cu13",
					     "nvidia-cudnn-cu11" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		const struct package *pkg = python_package(p, names[i]);

		if (pkg && fact_known(&pkg->version))
			return pkg;
	}
	return NULL;
}

/* cuDNN that a TensorFlow was built with, by the row of its minor release ("2.18.1" is 2.18.0's).
 */
static const char *tensorflow_cudnn(struct judge *j, const char *version)
{
	const struct json *table = compat_table(j->c, "tensorflow"), *row;
	struct version want, have;

	if (!version_prefix(view_of(version), &want))
		return NULL;
	for (row = json_first(json_get(table, "rows")); row; row = json_next(row)) {
		const char *v = json_get_str(row, "version"),
			   *platform = json_get_str(row, "platform");

		if (v && platform && strcmp(platform, look_platform(j->s)) == 0 &&
		    version_prefix(view_of(v), &have) && have.part[0] == want.part[0] &&
		    have.part[1] == want.part[1])
			return json_get_str(row, "cudnn");
	}
	return NULL;
}

/* A program asks for the same major and at least its own minor. */
static bool too_old(const char *seen, const char *wanted)
{
	struct version s, w;

	return version_prefix(view_of(seen), &s) && version_prefix(view_of(wanted), &w) &&
	       s.part[0] == w.part[0] && s.part[1] < w.part[1];
}

/* The cuDNN that it gets from the loader, of which the file's name tells the version. */
static const struct load *tensorflow_load(const struct python *p)
{
	size_t i;

	for (i = 0; i < p->n_loads; i++)
		if (fact_is(&p->loads[i].package, "tensorflow") &&
		    strncmp(p->loads[i].name.value, "libcudnn.", 9) == 0 &&
		    fact_known(&p->loads[i].path) && fact_known(&p->loads[i].version))
			return &p->loads[i];
	return NULL;
}

/* One of the system, where the environment has none. */
static void tensorflow_loads(struct judge *j, const struct python *p, const struct package *tf,
			     const struct load *x, const char *wanted)
{
	struct finding *f;
	struct remedy *r;

	if (!too_old(x->version.value, wanted))
		return;
	f = finding_add(j, FINDING_CUDNN_VERSION_MISMATCH, look_prefix(p));
	if (look_torch_cuda(j, &p->torch) || !look_has_nvidia(j->s))
		f->severity = SEVERITY_WARNING;
	finding_message(j, f, _("TensorFlow %s was built with cuDNN %s, and loads %s."),
			tf->version.value, wanted, x->version.value);
	finding_fact(j, f, "load.path", &x->path, arena_printf(j->a, ">= %s", wanted));
	finding_fact(j, f, "package.tensorflow", &tf->version, NULL);
	finding_inferred(f);
	r = finding_remedy(j, f, "%s",
			   _("Install TensorFlow with the libraries that belong to it."));
	remedy_command(j, r, "%s install %s", remedy_pip(j, p),
		       shell_word(j->a, arena_printf(j->a, "tensorflow[and-cuda]==%s",
						     tf->version.value)));
}

static void tensorflow_in(struct judge *j, const struct python *p)
{
	const struct package *tf = python_package(p, "tensorflow"), *cudnn = cudnn_package(p);
	const struct load *x = cudnn ? NULL : tensorflow_load(p);
	const char *wanted;
	struct finding *f;
	struct remedy *r;

	if (!tf || (!cudnn && !x) || !fact_known(&tf->version))
		return;
	wanted = tensorflow_cudnn(j, tf->version.value);
	if (!wanted) {
		judge_skip(j, "tensorflow.cudnn",
			   _("the matrix does not say with which cuDNN TensorFlow %s was built"),
			   tf->version.value);
		return;
	}
	if (x)
		tensorflow_loads(j, p, tf, x, wanted);
	if (x || !too_old(cudnn->version.value, wanted))
		return;
	f = finding_add(j, FINDING_CUDNN_VERSION_MISMATCH, look_prefix(p));
	/* PyTorch beside it is served by the very cuDNN that it pins. */
	if (look_torch_cuda(j, &p->torch))
		f->severity = SEVERITY_WARNING;
	finding_message(j, f,
			_("TensorFlow %s was built with cuDNN %s, and the environment holds %s."),
			tf->version.value, wanted, cudnn->version.value);
	finding_fact(j, f, arena_printf(j->a, "package.%s", cudnn->name.value), &cudnn->version,
		     arena_printf(j->a, ">= %s", wanted));
	finding_fact(j, f, "package.tensorflow", &tf->version, NULL);
	r = finding_remedy(
		j, f, "%s",
		_("Keep TensorFlow and PyTorch in environments of their own; each then has the "
		  "cuDNN "
		  "that it needs."));
	remedy_command(j, r, "python3 -m venv tf && tf/bin/python -m pip install %s",
		       shell_word(j->a, arena_printf(j->a, "tensorflow[and-cuda]==%s",
						     tf->version.value)));
}

/* -------- which copy the loader takes */

static bool dir_in_list(const char *file, const char *list)
{
	struct view rest = view_of(list), dir, of = view_of(file);
	const char *slash = strrchr(file, '/');

	of.n = slash ? (size_t)(slash - file) : 0;
	while (rest.n) {
		dir = view_cut(rest, ':', &rest);
		while (dir.n > 1 && dir.p[dir.n - 1] == '/')
			dir.n--;
		if (of.n && dir.n == of.n && memcmp(dir.p, of.p, of.n) == 0)
			return true;
	}
	return false;
}

static bool bundled(const struct python *p, const char *file)
{
	return view_starts(view_of(file), look_prefix(p)) || strstr(file, "/site-packages/");
}

/* A hidden copy by which the sub-libraries are found, though libcudnn itself is the wheel's; NULL
 * when none. */
static const char *split_copy(const struct snapshot *s, const struct library *l)
{
	const char *list = snapshot_env(s, "LD_LIBRARY_PATH");
	size_t i;

	/* DT_RPATH of torch finds libcudnn; the wheel's own DT_RUNPATH comes after LD_LIBRARY_PATH.
	 * cuDNN 9 is split. */
	if (!list || !fact_is(&l->via, "DT_RPATH") || !strstr(l->path.value, "/nvidia/cudnn/"))
		return NULL;
	for (i = 0; i < l->shadowed.n; i++)
		if (dir_in_list(l->shadowed.values[i], list))
			return l->shadowed.values[i];
	return NULL;
}

/* The environment's own copy that another one hides; NULL when the own one is taken. */
static const char *hidden_copy(const struct python *p, const struct library *l)
{
	size_t i;

	if (bundled(p, l->path.value))
		return NULL;
	for (i = 0; i < l->shadowed.n; i++)
		if (bundled(p, l->shadowed.values[i]))
			return l->shadowed.values[i];
	return NULL;
}

static void shadowing_in(struct judge *j, const struct python *p)
{
	const struct library *l = &p->torch.cudnn;
	const struct fact *env = snapshot_env_fact(j->s, "LD_LIBRARY_PATH");
	const char *split, *hidden;
	struct finding *f;
	struct remedy *r;

	if (!fact_known(&l->path))
		return;
	split = split_copy(j->s, l);
	hidden = split ? NULL : hidden_copy(p, l);
	if (!split && !hidden)
		return;
	f = finding_add(j, FINDING_LIB_SHADOWING, look_prefix(p));
	/* Whether the copies differ is not seen here: the same version twice does no harm. */
	f->severity = SEVERITY_WARNING;
	if (split)
		finding_message(
			j, f,
			_("libcudnn is the wheel's (%s), and its sub-libraries are taken from "
			  "LD_LIBRARY_PATH (%s): "
			  "two versions are mixed."),
			fact_value(&l->version, l->path.value), split);
	else
		finding_message(
			j, f,
			_("cuDNN is taken from %s instead of the copy that came with PyTorch "
			  "(%s)."),
			l->path.value, hidden);
	finding_fact(j, f, "torch.cudnn.path", &l->path, NULL);
	finding_evidence(j, f, "torch.cudnn.shadowed", split ? split : hidden, NULL,
			 l->shadowed.source);
	if (env)
		finding_fact(j, f, "LD_LIBRARY_PATH", env, _("without a cuDNN in it"));
	finding_inferred(f);
	r = finding_remedy(
		j, f, "%s",
		_("Take that directory out of LD_LIBRARY_PATH (or ld.so.conf): the wheels find "
		  "their own "
		  "libraries."));
	if (env)
		remedy_command(j, r, "unset LD_LIBRARY_PATH");
	r->risk = RISK_SAFE;
}

static void run_lib_shadowing(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->s->n_pythons; i++)
		shadowing_in(j, &j->s->pythons[i]);
}

const struct rule rule_lib_shadowing = {
	.name = "lib-shadowing",
	.needs = NEED_TORCH | NEED_PYTHON,
	.layer = LAYER_LIBRARY,
	.run = run_lib_shadowing,
};

static void run_cudnn_version_mismatch(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->s->n_pythons; i++)
		tensorflow_in(j, &j->s->pythons[i]);
}

const struct rule rule_cudnn_version_mismatch = {
	.name = "cudnn-version-mismatch",
	.needs = NEED_PYTHON,
	.layer = LAYER_LIBRARY,
	.run = run_cudnn_version_mismatch,
};

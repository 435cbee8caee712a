/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what an installer would refuse: tags, releases, Pythons, pins, withdrawn packages. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "model/pep440.h"
#include "rule/project.h"
#include "rule/rules.h"

static const char *full(struct judge *j, const struct wanted *w)
{
	const char *v = fact_value(&w->version, "");

	return strchr(v, '+') || !fact_known(&w->variant)
		       ? v
		       : arena_printf(j->a, "%s+%s", v, w->variant.value);
}

/* -------- torch that no index holds */

static const char *variants_of(struct judge *j, const struct planned *p, const char *release)
{
	const struct torch_row *const *rows = compat_torch_of_release(j->c, release);
	const char *list = NULL;
	size_t i;

	for (i = 0; rows[i]; i++)
		if (rows[i]->cuda && fact_is(&p->platform, rows[i]->platform))
			list = list ? arena_printf(j->a, "%s, %s", list, rows[i]->variant)
				    : rows[i]->variant;
	return list;
}

/* Newest release that this variant has for the platform. */
static const char *last_of(struct judge *j, const struct planned *p, const char *variant)
{
	size_t n, i;
	const struct torch_row *rows = compat_torch_rows(j->c, &n);
	const char *best = NULL;

	for (i = 0; i < n; i++)
		if (strcmp(rows[i].variant, variant) == 0 &&
		    fact_is(&p->platform, rows[i].platform) &&
		    (!best || version_cmp_str(rows[i].version, best) > 0))
			best = rows[i].version;
	return best;
}

static void wrong_tag(struct judge *j, const struct planned *p, const struct wanted *w)
{
	const char *variant = fact_value(&w->variant, "?"), *v = fact_value(&w->version, NULL);
	const char *release = v ? arena_strndup(j->a, v, strcspn(v, "+")) : NULL;
	bool torch = fact_is(&w->name, "torch");
	const char *has = release && torch ? variants_of(j, p, release) : NULL;
	const char *last = torch ? last_of(j, p, variant) : NULL;
	struct finding *f =
		project_finding(j, FINDING_WRONG_INDEX_TAG, p, w->name.value, &w->text, NULL);
	struct remedy *r;

	if (fact_is(&w->fault, "tag"))
		finding_message(j, f, _("There is no index of PyTorch with the tag %s."), variant);
	else if (fact_is(&w->fault, "label"))
		finding_message(
			j, f,
			_("%s %s is on PyTorch's own index alone, and no line names that index: "
			  "nothing is found."),
			w->name.value, v ? v : variant);
	else
		finding_message(j, f, _("%s %s was not published for %s on this index."),
				w->name.value, release ? release : "", variant);
	if (fact_known(&w->index) && strcmp(w->index.source, w->name.source) != 0)
		finding_fact(j, f, "index", &w->index, NULL);
	if (fact_is(&w->fault, "label")) {
		r = finding_remedy(j, f, "%s", _("Name the index that holds it."));
		remedy_command(j, r, "--extra-index-url https://download.pytorch.org/whl/%s",
			       variant);
		r->risk = RISK_SAFE;
	}
	if (torch)
		project_fix_torch(j, f, p, w);
	if (!torch && project_package(p, "torch") &&
	    fact_known(&project_package(p, "torch")->variant)) {
		r = finding_remedy(j, f, "%s", _("Take the build of torch's own variant."));
		remedy_command(j, r, "%s==%s+%s", w->name.value, release ? release : "",
			       project_package(p, "torch")->variant.value);
		r->risk = RISK_SAFE;
	}
	if (release && has)
		finding_remedy(j, f, _("torch %s exists for: %s."), release, has)->risk = RISK_SAFE;
	if (last)
		finding_remedy(j, f, _("The newest on %s is torch %s."), variant, last)->risk =
			RISK_SAFE;
}

static void no_python(struct judge *j, const struct planned *p, const struct wanted *w)
{
	const char *release = fact_value(&w->version, ""), *variant = fact_value(&w->variant, "");
	const struct torch_row *row =
		compat_torch(j->c, release, fact_value(&p->platform, ""), variant);
	const struct fact *py = fact_known(&p->python) ? &p->python : &p->requires_python;
	struct finding *f = project_finding(j, FINDING_PYTHON_NO_WHEEL, p, "torch", &w->text, NULL);
	bool address = strstr(project_text(w), "://") != NULL;

	finding_message(j, f,
			address ? _("This wheel of torch %s is not for Python %s.")
				: _("torch %s has no wheel for Python %s."),
			release, fact_value(py, "?"));
	finding_fact(j, f, "python", py, NULL);
	if (row && row->n_python && !address)
		finding_remedy(j, f,
			       _("torch %s has wheels for Python %s to %s: take one of these."),
			       release, row->python[0], row->python[row->n_python - 1])
			->risk = RISK_SAFE;
	project_fix_torch(j, f, p, w);
}

static void old_glibc(struct judge *j, const struct planned *p, const struct wanted *w)
{
	const struct torch_row *row =
		compat_torch(j->c, fact_value(&w->version, ""), fact_value(&p->platform, ""),
			     fact_value(&w->variant, ""));
	struct finding *f = project_finding(j, FINDING_GLIBC_TOO_OLD, p, "torch", &w->text, NULL);

	finding_message(j, f, _("torch %s needs glibc %s; here it is %s, and pip finds no wheel."),
			fact_value(&w->version, ""), row && row->min_glibc ? row->min_glibc : "?",
			fact_value(&p->glibc, "?"));
	finding_fact(j, f, "glibc", &p->glibc, row ? row->min_glibc : NULL);
	finding_remedy(
		j, f,
		_("Take a base image with glibc %s or newer: ubuntu22.04, debian 12 (bookworm), "
		  "rockylinux9."),
		row && row->min_glibc ? row->min_glibc : "2.28")
		->risk = RISK_SAFE;
	project_fix_torch(j, f, p, w);
}

static void no_platform(struct judge *j, const struct planned *p, const struct wanted *w)
{
	struct finding *f =
		project_finding(j, FINDING_CPU_ONLY_PLATFORM, p, "torch", &w->text, NULL);

	finding_message(j, f, _("There is no build of torch %s for %s."),
			fact_value(&w->version, ""), fact_value(&p->platform, ""));
	project_fix_torch(j, f, p, w);
}

static void no_channel(struct judge *j, const struct planned *p, const struct wanted *w)
{
	const struct fact *line = fact_known(&w->clash) ? &w->clash : &w->text;
	struct finding *f =
		project_finding(j, FINDING_CHANNEL_HAS_NO_RELEASE, p, "pytorch", line, NULL);
	const char *end = json_get_str(json_get(compat_table(j->c, "torch_conda"), "facts"),
				       "channel_end");
	struct remedy *r;

	if (fact_known(&w->clash))
		finding_message(j, f,
				_("The pytorch channel has no build of PyTorch %s for %s."),
				fact_value(&w->version, ""), w->clash.value);
	else
		finding_message(j, f,
				_("The channel %s does not hold this release; it ended with %s."),
				fact_value(&w->channel, "pytorch"), end ? end : "2.5.1");
	r = finding_remedy(
		j, f, "%s",
		_("Keep to the channel's builds: 2.5.1 with pytorch-cuda 11.8, 12.1 or 12.4."));
	remedy_command(j, r, "dependencies: [pytorch=2.5.1, pytorch-cuda=12.4]");
	r->risk = RISK_SAFE;
	project_fix_torch(j, f, p, w);
}

static void torch_faults(struct judge *j, const struct planned *p, const struct wanted *w)
{
	if (fact_is(&w->fault, "tag") || fact_is(&w->fault, "release") ||
	    fact_is(&w->fault, "label"))
		wrong_tag(j, p, w);
	else if (fact_is(&w->fault, "python"))
		no_python(j, p, w);
	else if (fact_is(&w->fault, "glibc"))
		old_glibc(j, p, w);
	else if (fact_is(&w->fault, "platform"))
		no_platform(j, p, w);
	else if (fact_is(&w->fault, "channel"))
		no_channel(j, p, w);
}

/* -------- pins */

/* The pair's release for the torch that is asked for, with the label that was written. */
static void keep_torch(struct judge *j, struct finding *f, const struct wanted *w,
		       const struct torch_row *row)
{
	struct remedy *r = finding_remedy(
		j, f, _("Or keep torch %s, whose pair is torchvision==%s and torchaudio==%s."),
		row->version, row->torchvision ? row->torchvision : "?",
		row->torchaudio ? row->torchaudio : "?");
	const char *pair = fact_is(&w->name, "torchvision") ? row->torchvision : row->torchaudio;
	const char *label = strchr(project_text(w), '+');

	r->risk = RISK_SAFE;
	if (pair && !strpbrk(project_text(w), ";@[ "))
		remedy_correct(j, r, &w->text, project_text(w),
			       arena_printf(j->a, "%s==%s%s", w->name.value, pair,
					    label ? label : ""));
}

static void pairs(struct judge *j, const struct planned *p, const struct wanted *w)
{
	bool pair = fact_is(&w->name, "torchvision") || fact_is(&w->name, "torchaudio");
	/* Of a range that is said. */
	const char *range = project_text(w) + strcspn(project_text(w), "<>=!~ ");
	const char *v = fact_value(&w->version, range);
	struct finding *f;
	struct remedy *r;

	f = project_finding(j, pair ? FINDING_TORCH_TORCHVISION_MISMATCH : FINDING_CONFLICTING_PINS,
			    p, w->name.value, &w->text, NULL);
	finding_message(j, f, _("%s %s needs %s, and %s is asked for."), w->name.value, v,
			fact_value(&w->because, "?"), w->clash.value);
	finding_fact(j, f, "clash", &w->clash, fact_value(&w->because, NULL));
	r = finding_remedy(j, f, _("Write what %s %s needs: %s"), w->name.value, v,
			   fact_value(&w->because, "?"));
	r->risk = RISK_SAFE;
	if (pair) {
		struct view rest, first = view_of(w->clash.value);
		const char *torch;
		const struct torch_row *const *rows;
		ptrdiff_t at = view_find(first, "==");

		if (at < 0)
			return;
		torch = view_dup(j->a, view_cut(view_skip(first, (size_t)at + 2), '+', &rest));
		torch = arena_strndup(j->a, torch, strspn(torch, "0123456789."));
		rows = compat_torch_of_release(j->c, torch);
		if (rows[0])
			keep_torch(j, f, w, rows[0]);
		return;
	}
	{
		/* Releases of the add-on for the torch that is asked for. */
		size_t i, n = compat_count(j->c, "addon");
		struct view clash = view_of(w->clash.value), rest;
		ptrdiff_t at = view_find(clash, "==");
		const char *torch =
			at < 0 ? NULL
			       : view_dup(j->a,
					  view_cut(view_skip(clash, (size_t)at + 2), '+', &rest));
		const char *best = NULL;

		for (i = compat_find(j->c, "addon", 0, "package", w->name.value); torch && i < n;
		     i = compat_find(j->c, "addon", i + 1, "package", w->name.value)) {
			const struct json *row = compat_row(j->c, "addon", i), *t;

			for (t = json_first(json_get(row, "torch")); t; t = json_next(t))
				if (json_str(t) && strcmp(json_str(t), torch) == 0)
					best = json_get_str(row, "version");
		}
		if (best)
			finding_remedy(j, f, _("Or keep torch %s with %s==%s."), torch,
				       w->name.value, best)
				->risk = RISK_SAFE;
	}
}

/* A library of NVIDIA that torch's wheel pins to another version (its cuDNN). */
static void torch_cudnn(struct judge *j, const struct planned *p)
{
	const struct wanted *torch = project_package(p, "torch"), *w;
	const struct torch_row *row;
	const char *name;
	struct finding *f;
	struct remedy *r;

	if (!torch || !fact_known(&torch->version) || !fact_known(&torch->cuda) ||
	    !project_linux(p) || fact_known(&torch->channel))
		return;
	row = compat_torch(j->c, torch->version.value, p->platform.value,
			   fact_value(&torch->variant, ""));
	/* Wheels bring their cuDNN as a package from 1.13 on (the larger ones of CUDA 11 apart). */
	if (!row || !row->cudnn || !version_at_least(row->version, "2.0") ||
	    project_major(row->cuda) < 12)
		return;
	name = arena_printf(j->a, "nvidia-cudnn-cu%u", project_major(row->cuda));
	w = project_package(p, name);
	if (!w || !fact_yes(&w->pinned) || !fact_known(&w->version) ||
	    strchr(row->cudnn, '.') == NULL || strcmp(w->version.value, row->cudnn) == 0 ||
	    fact_is(&w->tool, "uv"))
		return;
	{
		struct version v;

		/* Only a version of four parts is what the wheel pins. */
		if (!version_parse(view_of(row->cudnn), &v) || v.n < 4)
			return;
	}
	f = project_finding(j, FINDING_CONFLICTING_PINS, p, name, &w->text, row->cudnn);
	finding_message(j, f, _("torch %s requires %s==%s, and %s is asked for."), full(j, torch),
			name, row->cudnn, w->version.value);
	finding_fact(j, f, "torch", &torch->text, NULL);
	r = finding_remedy(j, f, "%s",
			   _("Remove the line: torch brings the cuDNN that it was built for."));
	remedy_command(j, r, "%s==%s", name, row->cudnn);
	r->risk = RISK_SAFE;
}

/* tensorflow[and-cuda] and torch each pin their cuDNN. The releases after the first of a minor stay
 * with its cuDNN; from 2.20 on it is a range. */
static const char *tf_cudnn(struct judge *j, const char *version)
{
	size_t i, n = compat_count(j->c, "tensorflow");
	struct version v;
	const char *pin;

	for (i = compat_find(j->c, "tensorflow", 0, "version", version); i < n;
	     i = compat_find(j->c, "tensorflow", i + 1, "version", version)) {
		pin = json_get_str(json_get(compat_row(j->c, "tensorflow", i), "pins"),
				   "nvidia-cudnn-cu12");
		if (pin)
			return pin;
	}
	if (!version_parse(view_of(version), &v) || v.n < 2 || v.part[0] != 2 || v.part[1] < 15 ||
	    v.part[1] > 19)
		return NULL;
	i = compat_find(j->c, "tensorflow", 0, "version",
			arena_printf(j->a, "2.%u.0", (unsigned)v.part[1]));
	if (i >= n)
		i = compat_find(j->c, "tensorflow", 0, "version",
				arena_printf(j->a, "2.%u.1", (unsigned)v.part[1]));
	pin = i < n ? json_get_str(compat_row(j->c, "tensorflow", i), "cudnn") : NULL;
	return pin ? arena_printf(j->a, "==%s.*", pin) : NULL;
}

static void tf_and_torch(struct judge *j, const struct planned *p)
{
	const struct wanted *tf = project_package(p, "tensorflow"),
			    *torch = project_package(p, "torch");
	const struct torch_row *row;
	const char *pin;
	struct finding *f;

	if (!tf || !torch || !project_extra(tf, "and-cuda") || !fact_known(&tf->version) ||
	    !fact_known(&torch->version) || fact_known(&torch->channel) || !project_linux(p) ||
	    !fact_is(&tf->tool, fact_value(&torch->tool, "")) ||
	    strcmp(tf->tool.source, torch->tool.source) != 0)
		return;
	row = compat_torch(j->c, torch->version.value, p->platform.value,
			   fact_value(&torch->variant, ""));
	pin = tf_cudnn(j, tf->version.value);
	if (!row || !row->cudnn || !pin || !row->cuda || project_major(row->cuda) != 12 ||
	    pep440_text_holds(j->a, pin, row->cudnn))
		return;
	if (strncmp(pin, "==", 2) != 0 && !fact_yes(&torch->pinned))
		return;
	f = project_finding(j, FINDING_CONFLICTING_PINS, p, "tensorflow", &tf->text, NULL);
	finding_message(
		j, f,
		_("tensorflow[and-cuda] %s requires nvidia-cudnn-cu12%s, torch %s requires ==%s: one "
		  "environment cannot hold both."),
		tf->version.value, pin, full(j, torch), row->cudnn);
	finding_fact(j, f, "torch", &torch->text, NULL);
	finding_remedy(
		j, f, "%s",
		_("Give each its own environment, or take tensorflow without [and-cuda], or a "
		  "torch whose cuDNN fits."))
		->risk = RISK_SAFE;
}

/* -------- withdrawn packages */

static bool removed_tf(const struct wanted *w)
{
	return fact_is(&w->name, "tensorflow-gpu") &&
	       (!fact_known(&w->version) || version_at_least(w->version.value, "2.12"));
}

static void removed(struct judge *j, const struct planned *p, const struct wanted *w)
{
	size_t i;
	struct finding *f;
	struct remedy *r;

	if (removed_tf(w)) {
		f = project_finding(j, FINDING_REMOVED_PACKAGE, p, "tensorflow-gpu", &w->text,
				    NULL);
		finding_message(
			j, f, "%s",
			_("tensorflow-gpu was withdrawn: from 2.12 on it is an empty package whose "
			  "installation fails."));
		r = finding_remedy(j, f, "%s", _("Write tensorflow instead."));
		if (fact_known(&w->version) && version_at_least(w->version.value, "2.14"))
			remedy_command(j, r, "tensorflow[and-cuda]==%s", w->version.value);
		else if (fact_known(&w->version))
			remedy_command(j, r, "tensorflow==%s", w->version.value);
		else
			remedy_command(j, r, "tensorflow[and-cuda]");
		if (!strpbrk(project_text(w), ";@[ "))
			remedy_correct(j, r, &w->text, project_text(w), r->commands[0]);
		r->risk = RISK_SAFE;
		return;
	}
	i = compat_find(j->c, "nvidia_wheel", 0, "name", w->name.value);
	if (i >= compat_count(j->c, "nvidia_wheel") ||
	    !json_is_true(json_get(compat_row(j->c, "nvidia_wheel", i), "placeholder")) ||
	    (fact_yes(&w->pinned) && fact_known(&w->version) &&
	     strncmp(w->version.value, "0.0.", 4) == 0))
		return;
	f = project_finding(j, FINDING_REMOVED_PACKAGE, p, w->name.value, &w->text, NULL);
	finding_message(j, f, _("%s is a placeholder that installs nothing of use."),
			w->name.value);
	r = finding_remedy(j, f, "%s", _("The libraries of CUDA 13 have names without a suffix."));
	remedy_command(j, r, "%.*s", (int)strlen(w->name.value) - 5, w->name.value);
	if (strcmp(project_text(w), w->name.value) == 0)
		remedy_correct(j, r, &w->text, w->name.value, r->commands[0]);
	r->risk = RISK_SAFE;
}

/* -------- wheels of several CUDA majors */

/*
 * NCCL's library has one name for every CUDA, cuDNN's one for each of its majors: a wheel for
 * another CUDA takes the place of what torch brings as a wheel.
 */
static bool same_file(struct judge *j, const struct planned *p, const struct wanted *torch,
		      const struct wanted *odd)
{
	const struct torch_row *row;

	if (!project_linux(p) || fact_known(&torch->channel) || !fact_known(&torch->version) ||
	    !version_at_least(torch->version.value, "2.1") ||
	    project_major(fact_value(&torch->cuda, NULL)) < 12 || !fact_known(&odd->version))
		return false;
	if (strncmp(odd->name.value, "nvidia-nccl-", 12) == 0)
		return true;
	row = compat_torch(j->c, torch->version.value, fact_value(&p->platform, ""),
			   fact_value(&torch->variant, ""));
	return strncmp(odd->name.value, "nvidia-cudnn-", 13) == 0 && row && row->cudnn &&
	       project_major(row->cudnn) == project_major(odd->version.value);
}

static void mixed_wheels(struct judge *j, const struct planned *p)
{
	const struct wanted *torch = project_package(p, "torch"), *odd = NULL;
	unsigned major = torch && fact_known(&torch->cuda) ? project_major(torch->cuda.value) : 0;
	struct finding *f;
	size_t i;

	for (i = 0; i < p->n_packages && major; i++) {
		const char *name = p->packages[i].name.value;
		size_t n = strlen(name);

		if (n > 5 && strncmp(name, "nvidia-", 7) == 0 &&
		    strncmp(name + n - 5, "-cu1", 4) == 0 &&
		    (unsigned)(name[n - 1] - '0') + 10 != major &&
		    (!odd || same_file(j, p, torch, &p->packages[i])))
			odd = &p->packages[i];
	}
	if (!odd)
		return;
	f = project_finding(j, FINDING_MIXED_CUDA_WHEELS, p, odd->name.value, &odd->text, NULL);
	if (same_file(j, p, torch, odd)) {
		finding_message(
			j, f,
			_("%s writes the same file as the one that torch (CUDA %u) brings: the "
			  "one that is installed last stays."),
			odd->name.value, major);
	} else {
		f->severity = SEVERITY_WARNING;
		finding_message(
			j, f,
			_("%s is of another CUDA than torch's (%u): it is of no use to torch, and "
			  "files of the same name may overwrite each other."),
			odd->name.value, major);
	}
	finding_remedy(j, f, "%s", _("Remove these lines: torch brings its own libraries."))->risk =
		RISK_SAFE;
}

/* -------- Python of other packages */

static void judge_project(struct judge *j, const struct planned *p)
{
	size_t k;

	for (k = 0; k < p->n_packages; k++) {
		const struct wanted *w = &p->packages[k];

		if (fact_is(&w->name, "torch") || fact_is(&w->name, "torchvision") ||
		    fact_is(&w->name, "torchaudio"))
			torch_faults(j, p, w);
		if (fact_known(&w->clash) && !fact_is(&w->name, "torch") && !fact_known(&w->fault))
			pairs(j, p, w);
		removed(j, p, w);
	}
	torch_cudnn(j, p);
	tf_and_torch(j, p);
	project_jax_pins(j, p);
	mixed_wheels(j, p);
}

static void run_project_install(struct judge *j)
{
	project_each(j, judge_project);
}

const struct rule rule_project_install = {
	.name = "project-install",
	.needs = NEED_PROJECT,
	.layer = LAYER_PYTHON,
	.run = run_project_install,
};

/* -------- what could not be decided */

static void run_project_doubts(struct judge *j)
{
	size_t i, k;

	for (i = 0; i < j->s->n_projects; i++)
		for (k = 0; k < j->s->projects[i].n_doubts && k < 50; k++) {
			const struct fact *d = &j->s->projects[i].doubts[k].what;

			judge_skip(j, d->source, _("could not decide because %s"), d->value);
		}
}

const struct rule rule_project_doubts = {
	.name = "project-doubts",
	.needs = NEED_PROJECT,
	.layer = LAYER_WORKLOAD,
	.run = run_project_doubts,
};

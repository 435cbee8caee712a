/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules about project files ask of a project and of the target. Adds no finding itself. */
#include "rule/project.h"

#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "model/pep440.h"
#include "rule/remedy.h"

void project_each(struct judge *j, void (*fn)(struct judge *j, const struct planned *p))
{
	size_t i;

	for (i = 0; i < j->s->n_projects; i++)
		if (!fact_is(&j->s->projects[i].libc, "musl"))
			fn(j, &j->s->projects[i]);
}

const char *project_subject(struct judge *j, const struct planned *p)
{
	const char *name = fact_value(&p->name, NULL), *file = fact_value(&p->file, "");

	return name ? arena_printf(j->a, "%s, %s", file, name) : file;
}

const char *project_text(const struct wanted *w)
{
	return fact_value(&w->text, fact_value(&w->name, ""));
}

struct finding *project_finding(struct judge *j, enum finding_id id, const struct planned *p,
				const char *field, const struct fact *line, const char *wanted)
{
	struct finding *f = finding_add(j, id, project_subject(j, p));

	f->severity = SEVERITY_ERROR;
	finding_fact(j, f, field, line, wanted);
	return f;
}

const struct wanted *project_package(const struct planned *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n_packages; i++)
		if (fact_is(&p->packages[i].name, name))
			return &p->packages[i];
	return NULL;
}

const struct deed *project_deed(const struct planned *p, const char *act)
{
	size_t i;

	for (i = 0; i < p->n_deeds; i++)
		if (fact_is(&p->deeds[i].act, act))
			return &p->deeds[i];
	return NULL;
}

bool project_has_libraries(const struct planned *p)
{
	return project_deed(p, "library") || project_deed(p, "toolkit");
}

const struct var *project_var(const struct planned *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n_environment; i++)
		if (fact_is(&p->environment[i].name, name))
			return &p->environment[i];
	return NULL;
}

bool project_extra(const struct wanted *w, const char *extra)
{
	struct view rest = view_of(fact_value(&w->extras, "")), one;

	while (rest.n) {
		one = view_cut(rest, ',', &rest);
		if (view_is(one, extra))
			return true;
	}
	return false;
}

bool project_linux(const struct planned *p)
{
	return view_starts(view_of(fact_value(&p->platform, "")), "linux");
}

bool project_aarch64(const struct planned *p)
{
	return fact_is(&p->platform, "linux_aarch64");
}

unsigned project_major(const char *version)
{
	struct version v;

	return version && version_prefix(view_of(version), &v) && v.n ? v.part[0] : 0;
}

/* -------- driver */

static bool class_is(struct judge *j, const struct gpu *g, const char *class)
{
	const struct gpu_row *row = look_gpu_row(j, g);

	return row && row->gpu_class && strcmp(row->gpu_class, class) == 0;
}

/*
 * Branches that have ended are not in the matrix of today; the images of the series name those that
 * their cuda-compat runs on.
 */
static bool images_admit(struct judge *j, const char *series, unsigned branch)
{
	size_t i, k = strlen(series), n = compat_count(j->c, "image_tag");
	const struct json *v;
	int64_t one;

	for (i = 0; i < n; i++) {
		const char *version = compat_text(j->c, "image_tag", i, "version");
		const struct json *first =
			json_first(json_get(compat_row(j->c, "image_tag", i), "require"));

		if (!version || strncmp(version, series, k) != 0 || version[k] != '.')
			continue;
		for (v = json_first(json_get(first, "branches")); v; v = json_next(v))
			if (json_int(v, &one) && one == (int64_t)branch)
				return true;
	}
	return false;
}

/* Does libcuda of the image's cuda-compat run on the host's branch, for all GPUs? */
static bool compat_serves(struct judge *j, const struct planned *p, const char *cuda,
			  const char *driver)
{
	const char *image = fact_yes(&p->image_require) ? fact_value(&p->image_cuda, NULL) : NULL;
	const struct deed *d = project_deed(p, "compat");
	const struct var *path = project_var(p, "LD_LIBRARY_PATH");
	const char *host;
	struct version v;
	size_t i, n = compat_count(j->c, "forward_compat");

	/* A package that a step installs serves when the loader is told of its folder. */
	if (d && fact_known(&d->version) && path && strstr(path->value.value, "/compat"))
		image = d->version.value;
	if (!image || project_major(image) < project_major(cuda) || !j->s->n_gpus ||
	    !version_prefix(view_of(image), &v) || v.n < 2)
		return false;
	for (i = 0; i < j->s->n_gpus; i++)
		if (!class_is(j, &j->s->gpus[i], "datacenter"))
			return false;
	image = arena_printf(j->a, "%u.%u", v.part[0], v.part[1]);
	i = compat_find(j->c, "forward_compat", 0, "package", image);
	if (i >= n)
		return false;
	host = json_get_str(json_get(compat_row(j->c, "forward_compat", i), "hosts"),
			    arena_printf(j->a, "%u", look_branch(driver)));
	return host ? strcmp(host, "yes") == 0 : images_admit(j, image, look_branch(driver));
}

bool project_driver_below(struct judge *j, const struct planned *p, const char *cuda,
			  const char **ret_least)
{
	const struct fact *driver = look_cuda_driver(j->s);
	bool inferred;

	if (!cuda || !driver || look_is_tegra(j))
		return false;
	*ret_least = compat_min_driver(j->c, cuda, look_is_windows(j->s), &inferred);
	return *ret_least && look_driver_below(driver->value, *ret_least) &&
	       !compat_serves(j, p, cuda, driver->value);
}

long project_gpu_unfit(struct judge *j, const char *const *archs, size_t n, bool *ret_old)
{
	size_t i, k;

	for (i = 0; i < j->s->n_gpus; i++) {
		int cc = look_cc(&j->s->gpus[i]), lowest = 999;
		const char *entry;
		struct arch a;

		if (cc <= 0 || !look_is_nvidia(&j->s->gpus[i]) ||
		    compat_arch_fit(archs, n, cc, &entry) != ARCH_FIT_NONE)
			continue;
		for (k = 0; k < n; k++)
			if (arch_parse(archs[k], &a) && a.cc < lowest)
				lowest = a.cc;
		*ret_old = cc < lowest;
		return (long)i;
	}
	return -1;
}

/* -------- remedies */

void project_fix_driver(struct judge *j, struct finding *f, const char *cuda)
{
	const char *branch = cuda ? remedy_branch(j, cuda) : NULL;

	if (branch)
		finding_remedy(j, f, _("Or give the machine a driver of branch %s or newer."),
			       branch)
			->needs_root = true;
}

static const char *short_python(struct judge *j, const struct planned *p)
{
	const char *v = fact_value(&p->python, NULL);
	struct version x;

	if (!v || !version_prefix(view_of(v), &x) || x.n < 2)
		return NULL;
	return arena_printf(j->a, "%u.%u", x.part[0], x.part[1]);
}

static const struct torch_row *fitting(struct judge *j, const struct planned *p,
				       const char *release, bool driver)
{
	const struct fact *d = look_cuda_driver(j->s);
	struct torch_wish w = { .windows = look_is_windows(j->s),
				.platform = fact_value(&p->platform, NULL),
				.python = short_python(j, p),
				.glibc = fact_value(&p->glibc, NULL) };
	int *ccs = arena_calloc(j->a, j->s->n_gpus + 1, sizeof(*ccs));
	const struct torch_row *row;
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++)
		if (look_cc(&j->s->gpus[i]) > 0)
			ccs[w.n_ccs++] = look_cc(&j->s->gpus[i]);
	w.ccs = ccs;
	if (d && driver)
		w.driver = strchr(d->value, '.') ? d->value
						 : arena_printf(j->a, "%s.999.99", d->value);
	w.version = release;
	row = release ? compat_torch_choose(j->c, &w) : NULL;
	w.version = NULL;
	return row ? row : compat_torch_choose(j->c, &w);
}

static const char *words(struct judge *j, const struct torch_row *row, const struct planned *p)
{
	struct strbuf b;

	strbuf_init(&b, j->a);
	strbuf_printf(&b, "torch==%s", row->version);
	if (project_package(p, "torchvision") && row->torchvision)
		strbuf_printf(&b, " torchvision==%s", row->torchvision);
	if (project_package(p, "torchaudio") && row->torchaudio)
		strbuf_printf(&b, " torchaudio==%s", row->torchaudio);
	return b.s;
}

/* Does what is written allow this release? Only then is the line's change certain. */
static bool allowed(struct judge *j, const struct wanted *w, const struct torch_row *row)
{
	const char *text = project_text(w), *spec = text + strcspn(text, "<>=!~;[@ ");
	const char *plus = strchr(spec, '+');

	if (strpbrk(text, ";@[ ") || strncmp(text, "torch", 5) != 0)
		return false;
	if (plus)
		spec = arena_strndup(j->a, spec, (size_t)(plus - spec));
	return pep440_text_holds(j->a, spec, row->version);
}

/* The same release from another index of PyTorch: its address alone changes, for all its packages,
 * and in a pyproject the name that says which one it is. */
static bool index_corrects(const struct wanted *w, const struct torch_row *row)
{
	const char *text = project_text(w), *url = fact_value(&w->index, "");

	return row->index_url && !row->find_links && strstr(url, "download.pytorch.org/whl/") &&
	       strcmp(url, row->index_url) != 0 && strncmp(text, "torch==", 7) == 0 &&
	       strcmp(text + 7, row->version) == 0;
}

/* Labels of torchvision and torchaudio are those of torch. */
static void pair_labels(struct judge *j, struct remedy *r, const struct planned *p,
			const char *variant)
{
	static const char *const names[] = { "torchvision", "torchaudio" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		const struct wanted *w = project_package(p, names[i]);
		const char *text = w ? project_text(w) : "", *plus = strchr(text, '+');

		if (!plus || strncmp(plus, "+cu", 3) != 0 || strpbrk(text, ";@[ ") ||
		    strcmp(plus + 1, variant) == 0)
			continue;
		remedy_correct(j, r, &w->text, text,
			       arena_printf(j->a, "%.*s+%s", (int)(plus - text), text, variant));
	}
}

static void pip_correct(struct judge *j, struct remedy *r, const struct planned *p,
			const struct wanted *w, const struct torch_row *row)
{
	bool file = fact_is(&p->kind, "requirements");
	const char *build = arena_printf(j->a, "torch==%s+%s", row->version, row->variant);
	const char *option = row->find_links ? "-f" : "--extra-index-url", *new;

	if (!fact_is(&w->name, "torch") || !allowed(j, w, row) || fact_known(&w->because))
		return;
	if (index_corrects(w, row)) {
		remedy_correct(j, r, &w->index, w->index.value, row->index_url);
		return;
	}
	/* A file that a Dockerfile reads has lines of its own, too. */
	file = file || strcmp(w->tool.source, "") == 0 ||
	       (fact_known(&w->tool) && !strstr(w->text.source, p->file.value));
	if (row->pypi_default)
		new = arena_printf(j->a, "torch==%s", row->version);
	else if (fact_known(&w->index) && strcmp(w->index.value, row->index_url) == 0)
		new = build;
	else if (file)
		new = arena_printf(j->a, "%s %s\n%s", option, row->index_url, build);
	else
		new = arena_printf(j->a, "%s %s %s", build, option, row->index_url);
	/* First what adds no line, so that the others keep their places. */
	pair_labels(j, r, p, row->variant);
	remedy_correct(j, r, &w->text, project_text(w), new);
}

static void pip_fix(struct judge *j, struct finding *f, const struct planned *p,
		    const struct wanted *w, const struct torch_row *row)
{
	const char *tool = fact_value(&w->tool, "pip");
	bool file = fact_is(&p->kind, "requirements");
	struct remedy *r =
		finding_remedy(j, f, _("Take torch %s+%s, which fits this target: write at %s"),
			       row->version, row->variant, f->evidence->source);
	const char *url = row->index_url ? row->index_url : "https://pypi.org/simple";
	const char *option = row->find_links ? "-f" : "--index-url";

	pip_correct(j, r, p, w, row);
	if (file) {
		if (!row->pypi_default)
			remedy_command(j, r, "%s %s", row->find_links ? "-f" : "--extra-index-url",
				       url);
		remedy_command(j, r, row->pypi_default ? "torch==%s" : "torch==%s+%s", row->version,
			       row->variant);
		if (project_package(p, "torchvision") && row->torchvision)
			remedy_command(j, r,
				       row->pypi_default ? "torchvision==%s" : "torchvision==%s+%s",
				       row->torchvision, row->variant);
	} else if (row->pypi_default) {
		remedy_command(j, r, "%s install %s", tool, words(j, row, p));
	} else {
		remedy_command(j, r, "%s install %s %s %s", tool, words(j, row, p), option, url);
	}
	r->risk = RISK_SAFE;
}

static void index_correct(struct judge *j, struct remedy *r, const struct wanted *w,
			  const struct torch_row *row)
{
	if (!fact_is(&w->name, "torch") || fact_known(&w->because) || !index_corrects(w, row))
		return;
	remedy_correct(j, r, &w->index, w->index.value, row->index_url);
	r->corrections[0].kind = CORRECT_INDEX;
}

static void uv_fix(struct judge *j, struct finding *f, const struct wanted *w,
		   const struct torch_row *row)
{
	struct remedy *r = finding_remedy(
		j, f,
		_("Take torch %s+%s, which fits this target: name its index for torch in "
		  "[tool.uv.sources], then lock anew"),
		row->version, row->variant);

	index_correct(j, r, w, row);
	remedy_command(j, r, "dependencies = [\"torch==%s\"]", row->version);
	remedy_command(j, r, "[tool.uv.sources]\ntorch = { index = \"pytorch-%s\" }", row->variant);
	remedy_command(j, r,
		       "[[tool.uv.index]]\nname = \"pytorch-%s\"\nurl = \"%s\"\nexplicit = true",
		       row->variant, row->index_url);
	remedy_command(j, r, "uv lock");
	r->risk = RISK_SAFE;
}

static void poetry_fix(struct judge *j, struct finding *f, const struct planned *p,
		       const struct wanted *w, const struct torch_row *row)
{
	struct remedy *r = finding_remedy(j, f, _("Take torch %s+%s, which fits this target"),
					  row->version, row->variant);

	index_correct(j, r, w, row);
	remedy_command(j, r, "torch = {version = \"%s\", source = \"pytorch\"}", row->version);
	if (project_package(p, "torchvision") && row->torchvision)
		remedy_command(j, r, "torchvision = {version = \"%s\", source = \"pytorch\"}",
			       row->torchvision);
	remedy_command(
		j, r,
		"[[tool.poetry.source]]\nname = \"pytorch\"\nurl = \"%s\"\npriority = \"explicit\"",
		row->index_url);
	r->risk = RISK_SAFE;
}

static void pipenv_fix(struct judge *j, struct finding *f, const struct torch_row *row)
{
	struct remedy *r = finding_remedy(j, f, _("Take torch %s+%s, which fits this target"),
					  row->version, row->variant);

	remedy_command(j, r, "[[source]]\nname = \"pytorch\"\nurl = \"%s\"\nverify_ssl = true",
		       row->index_url);
	remedy_command(j, r, "torch = {version = \"==%s\", index = \"pytorch\"}", row->version);
	r->risk = RISK_SAFE;
}

/* conda and pixi: conda-forge still builds; pytorch's own channel has ended. */
static void conda_fix(struct judge *j, struct finding *f, const struct planned *p,
		      const struct torch_row *row, bool pixi)
{
	struct remedy *r;

	if (pixi) {
		r = finding_remedy(j, f,
				   _("Declare the CUDA of the machines and take the GPU build of "
				     "conda-forge"));
		remedy_command(j, r, "[system-requirements]\ncuda = \"%u\"",
			       project_major(row->cuda));
		remedy_command(j, r, "[dependencies]\npytorch-gpu = \"*\"");
		r->risk = RISK_SAFE;
		return;
	}
	r = finding_remedy(j, f,
			   _("Take the GPU build of conda-forge: pytorch-gpu, with a "
			     "cuda-version that the driver runs"));
	remedy_command(j, r, "channels: [conda-forge]");
	remedy_command(j, r, "dependencies: [pytorch-gpu, cuda-version=%s]", row->cuda);
	r->risk = RISK_SAFE;
	r = finding_remedy(j, f, _("Or take the wheel from PyTorch's index in the pip section"));
	remedy_command(j, r, "pip: [\"--extra-index-url %s\", \"torch==%s+%s\"]", row->index_url,
		       row->version, row->variant);
	r->risk = RISK_SAFE;
	(void)p;
}

static void image_fix(struct judge *j, struct finding *f, const struct planned *p,
		      const struct torch_row *row)
{
	struct remedy *r = finding_remedy(
		j, f, _("Take an image with torch %s and CUDA %s, which fit this target"),
		row->version, row->cuda);

	remedy_command(j, r, "FROM pytorch/pytorch:%s-cuda%s-cudnn%s-%s", row->version, row->cuda,
		       version_at_least(row->version, "2.4") ? "9" : "8",
		       fact_value(&p->image_flavor, "runtime"));
	r->risk = RISK_SAFE;
	r = finding_remedy(j, f, _("Or install that build over the one of the image"));
	remedy_command(j, r, "RUN pip install torch==%s --index-url %s", row->version,
		       row->index_url);
	r->risk = RISK_SAFE;
}

static void jetson_fix(struct judge *j, struct finding *f)
{
	struct remedy *r = finding_remedy(
		j, f, "%s",
		_("Take a PyTorch that is built for Jetson: an image such as "
		  "nvcr.io/nvidia/l4t-pytorch or dustynv/l4t-pytorch of this JetPack, or the wheels "
		  "of https://pypi.jetson-ai-lab.io (jp6/cu126)."));

	r->risk = RISK_SAFE;
}

void project_fix_torch(struct judge *j, struct finding *f, const struct planned *p,
		       const struct wanted *w)
{
	const char *release = fact_value(&w->version, NULL), *tool = fact_value(&w->tool, "pip");
	const struct torch_row *row;
	bool other_driver = false;

	if (look_is_tegra(j)) {
		jetson_fix(j, f);
		return;
	}
	row = fitting(j, p, release, true);
	if (!row) {
		row = fitting(j, p, release, false);
		other_driver = row != NULL;
	}
	if (!row || !row->index_url) {
		finding_remedy(
			j, f, "%s",
			_("No published build serves this target as it is: change its Python, its "
			  "C library or its GPU, or build PyTorch from source."));
		return;
	}
	if (fact_is(&p->image_family, "pytorch") && w->name.source == p->image.source)
		image_fix(j, f, p, row);
	else if (strcmp(tool, "conda") == 0 || strcmp(tool, "pixi") == 0)
		conda_fix(j, f, p, row, strcmp(tool, "pixi") == 0);
	else if (strcmp(tool, "uv") == 0)
		uv_fix(j, f, w, row);
	else if (strcmp(tool, "poetry") == 0)
		poetry_fix(j, f, p, w, row);
	else if (strcmp(tool, "pipenv") == 0)
		pipenv_fix(j, f, row);
	else
		pip_fix(j, f, p, w, row);
	if (other_driver)
		project_fix_driver(j, f, row->cuda);
}

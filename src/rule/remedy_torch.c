/* SPDX-License-Identifier: Apache-2.0 */
/* The remedy that most framework findings share: the command for a PyTorch that fits. Chooses
 * through compat alone. */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "rule/look.h"
#include "rule/remedy.h"

const char *remedy_pip(struct judge *j, const struct python *p)
{
	const char *prefix = p ? fact_value(&p->prefix, NULL) : NULL;
	const char *interpreter = p ? fact_value(&p->interpreter, NULL) : NULL;

	if (interpreter && *interpreter == '/')
		return arena_printf(j->a, "%s -m pip", shell_word(j->a, interpreter));
	if (prefix && *prefix == '/' && strcmp(prefix, "/usr") != 0)
		return arena_printf(j->a, "%s/bin/python -m pip", shell_word(j->a, prefix));
	return look_is_windows(j->s) || fact_is(&j->s->source, "pasted") ? "python -m pip"
									     : "python3 -m pip";
}

static const char *short_python(struct judge *j, const char *version)
{
	struct version v;

	if (!version || !version_prefix(view_of(version), &v) || v.n < 2)
		return NULL;
	return arena_printf(j->a, "%u.%u", v.part[0], v.part[1]);
}

enum { WISH_GPUS = 64 };

/*
 * All used GPUs; hidden ones do not have to be served. Of a name that stands for several chips
 * every chip has to be. False when one of them may be anything.
 */
static bool wish_gpus(struct judge *j, struct torch_wish *w)
{
	int *ccs = arena_calloc(j->a, WISH_GPUS, sizeof(*ccs));
	size_t i, k, n = 0;
	bool all = true;

	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu *g = &j->s->gpus[i];
		struct gpu_match m = { .n = 0 };

		if (!look_gpu_used(j->s, i))
			continue;
		if (look_cc(g) > 0 && n < WISH_GPUS)
			ccs[n++] = look_cc(g);
		if (look_cc(g) > 0)
			continue;
		if (fact_known(&g->ambiguous) && fact_known(&g->name))
			compat_gpu_find(j->c, g->name.value, &m);
		for (k = 0; k < m.n && n < WISH_GPUS; k++)
			if (m.rows[k]->cc > 0)
				ccs[n++] = m.rows[k]->cc;
		all = false;
	}
	w->ccs = ccs;
	w->n_ccs = n;
	return all;
}

static bool platform_unsaid(const struct snapshot *s)
{
	return fact_is(&s->source, "pasted") && !fact_known(&s->host.system) &&
	       !fact_known(&s->host.os_id) && !fact_known(&s->host.glibc);
}

/* "torch==2.6.0 ... --index-url URL": what pip is to be told. */
static const char *pip_words(struct judge *j, const struct torch_row *row, bool vision, bool audio)
{
	const char *local = row->find_links ? arena_printf(j->a, "+%s", row->variant) : "";
	struct strbuf b;

	strbuf_init(&b, j->a);
	strbuf_printf(&b, "torch==%s%s", row->version, local);
	if (vision && row->torchvision)
		strbuf_printf(&b, " torchvision==%s%s", row->torchvision, local);
	if (audio && row->torchaudio)
		strbuf_printf(&b, " torchaudio==%s", row->torchaudio);
	/* PyPI's own build is another one on Windows: only where the system is known it will do. */
	if (row->index_url && (!row->pypi_default || platform_unsaid(j->s)))
		strbuf_printf(&b, " %s %s", row->find_links ? "-f" : "--index-url", row->index_url);
	return b.s;
}

const char *remedy_torch_words(struct judge *j, const struct torch_row *row, bool vision)
{
	return pip_words(j, row, vision, false);
}

/* A distribution's own Python refuses pip (PEP 668), so that it gets a virtual environment beside
 * it. */
static const char *installer(struct judge *j, struct remedy *r, const struct python *p)
{
	const char *interpreter;

	if (!p || !fact_is(&p->kind, "system"))
		return arena_printf(j->a, "%s install --force-reinstall", remedy_pip(j, p));
	interpreter = fact_value(&p->interpreter, "python3");
	remedy_command(j, r, "%s -m venv .venv", shell_word(j->a, interpreter));
	return ".venv/bin/python -m pip install";
}

/* PyTorch of a conda channel, by its build string in the text. */
static bool pasted_conda(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_signs; i++)
		if (fact_is(&s->signs[i].id, "conda-torch-cuda") ||
		    fact_is(&s->signs[i].id, "conda-torch-cpu"))
			return true;
	return false;
}

static void conda_remove(struct judge *j, struct remedy *r, const struct python *p)
{
	if (*fact_value(&p->prefix, "") == '/')
		remedy_command(j, r, "conda remove -y -p %s pytorch",
			       shell_word(j->a, look_prefix(p)));
	else
		remedy_command(j, r, "conda remove -y pytorch");
}

static void add_install(struct judge *j, struct remedy *r, const struct python *p,
			const struct torch_row *row)
{
	const char *words, *pip;

	if (p && (fact_is(&p->torch.origin, "conda") || fact_is(&p->torch.origin, "conda-forge") ||
		  pasted_conda(j->s)))
		conda_remove(j, r, p);
	/* A text that lists no packages may well have it; beside another torch it would fail next.
	 */
	words = pip_words(j, row,
			  !p || fact_known(&p->torch.torchvision) ||
				  (fact_is(&j->s->source, "pasted") && !p->n_packages),
			  p && fact_known(&p->torch.torchaudio));
	pip = installer(j, r, p);
	remedy_command(j, r, "%s %s", pip, words);
}

/* A bare branch ("580") stands for the newest of it. */
static const char *whole_driver(struct judge *j, const char *version)
{
	return strchr(version, '.') ? version : arena_printf(j->a, "%s.999.99", version);
}

/* "torch==1.10.1" of a line that says so. */
static const char *pin_in(struct judge *j, const char *line)
{
	const char *at = strstr(line, "torch==");
	size_t n = at ? strspn(at + 7, "0123456789.") : 0;

	if (n < 5 || (at > line && at[-1] != ' ' && at[-1] != '"' && at[-1] != '\''))
		return NULL;
	return arena_strndup(j->a, at + 7, n);
}

/* What a project file in the text pins: that release is wanted. */
static const char *pinned_release(struct judge *j)
{
	const struct snapshot *s = j->s;
	size_t i, k;

	for (i = 0; i < s->n_projects; i++)
		for (k = 0; k < s->projects[i].n_packages; k++) {
			const struct wanted *w = &s->projects[i].packages[k];

			if (fact_is(&w->name, "torch") && fact_yes(&w->pinned) &&
			    fact_known(&w->version))
				return w->version.value;
		}
	for (i = 0; i < s->n_signs; i++)
		if (fact_is(&s->signs[i].id, "reqs-installed") &&
		    pin_in(j, fact_value(&s->signs[i].text, "")))
			return pin_in(j, s->signs[i].text.value);
	return NULL;
}

const char *remedy_usual_driver(struct judge *j)
{
	const char *least = "550.54.14";
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);

		if (row && row->first_driver && look_branch(row->first_driver) > look_branch(least))
			least = row->first_driver;
	}
	return whole_driver(j, least);
}

static const char *least_driver(struct judge *j, const struct torch_row *row)
{
	bool inferred;
	const char *least = row->cuda ? compat_min_driver(j->c, row->cuda, look_is_windows(j->s),
							  &inferred)
				      : NULL;

	return least ? least : "?";
}

static const char *build_name(struct judge *j, const struct torch_row *row)
{
	return arena_printf(j->a, "%s+%s", row->version, row->variant);
}

static const struct torch_row *choose(struct judge *j, struct torch_wish w, const char *release)
{
	const struct torch_row *row;

	w.version = release;
	row = release ? compat_torch_choose(j->c, &w) : NULL;
	w.version = NULL;
	return row ? row : compat_torch_choose(j->c, &w);
}

/* A build fits once the driver is another: say both steps, when a driver exists that drives these
 * GPUs. */
static bool with_other_driver(struct judge *j, struct finding *f, const struct python *p,
			      struct torch_wish w)
{
	const struct torch_row *row;
	const char *branch;

	if (!w.driver)
		return false;
	/* The finding names the driver that mends it already: the same build runs on that one. */
	if (f->n_remedies)
		return true;
	w.driver = NULL;
	row = compat_torch_choose(j->c, &w);
	branch = row && row->cuda ? remedy_branch(j, row->cuda) : NULL;
	if (!branch)
		return false;
	remedy_driver(j, f, branch, remedy_driver_kind(j));
	add_install(j,
		    finding_remedy(j, f, _("With that driver, torch %s runs on every GPU here."),
				   build_name(j, row)),
		    p, row);
	return true;
}

static bool with_other_python(struct judge *j, struct finding *f, struct torch_wish w)
{
	const struct torch_row *row;
	const char *version, *had = w.python;
	struct remedy *r;

	if (!w.python)
		return false;
	w.python = NULL;
	row = compat_torch_choose(j->c, &w);
	if (!row || !row->n_python)
		return false;
	version = row->python[row->n_python - 1];
	r = finding_remedy(
		j, f,
		_("No build for Python %s fits; with Python %s torch %s does: make an environment "
		  "with it."),
		had, version, build_name(j, row));
	remedy_command(j, r, "uv venv --python %s .venv", version);
	remedy_command(j, r, "uv pip install --python .venv/bin/python %s",
		       pip_words(j, row, true, false));
	return true;
}

static bool with_other_glibc(struct judge *j, struct finding *f, struct torch_wish w)
{
	const struct torch_row *row;

	if (!w.glibc)
		return false;
	w.glibc = NULL;
	row = compat_torch_choose(j->c, &w);
	if (!row || !row->min_glibc)
		return false;
	finding_remedy(
		j, f,
		_("No published build that serves these GPUs runs on the glibc here; torch %s "
		  "does on glibc %s or "
		  "newer: use a container image or a distribution that has it."),
		build_name(j, row), row->min_glibc);
	return true;
}

static void of_jetpack(struct judge *j, struct finding *f)
{
	finding_remedy(j, f, "%s",
		       _("Install the PyTorch that NVIDIA builds for this JetPack "
			 "(https://docs.nvidia.com/"
			 "deeplearning/frameworks/install-pytorch-jetson-platform/): the wheels "
			 "of "
			 "pytorch.org and PyPI have no code for Jetson."));
}

static void ask_for_chip(struct judge *j, struct finding *f)
{
	struct remedy *r = finding_remedy(
		j, f, "%s",
		_("First see which chip the GPU has, and name it by its PCI id: which "
		  "PyTorch fits depends on that."));

	remedy_command(j, r, "lspci -nn -d 10de:");
	r->risk = RISK_SAFE;
}

void remedy_torch(struct judge *j, struct finding *f, const struct python *p)
{
	const struct fact *driver = look_cuda_driver(j->s);
	struct torch_wish w = {
		.windows = look_is_windows(j->s),
		.platform = look_platform(j->s),
		.python = p ? short_python(j, fact_value(&p->version, NULL)) : NULL,
		.driver = driver ? whole_driver(j, driver->value) : NULL,
		.glibc = fact_value(&j->s->host.glibc, NULL),
	};
	const char *release = p ? look_torch_release(j, &p->torch) : NULL;
	const struct torch_row *row;
	bool certain, assumed = false;

	if (look_is_tegra(j)) {
		of_jetpack(j, f);
		return;
	}
	certain = wish_gpus(j, &w);
	if (!release)
		release = pinned_release(j);
	if (!w.driver && fact_is(&j->s->source, "pasted")) {
		w.driver = remedy_usual_driver(j);
		assumed = true;
	}
	row = choose(j, w, release);
	if (row) {
		struct remedy *r = finding_remedy(
			j, f,
			assumed && w.n_ccs && row->cuda
				? _("Install torch %s, which has code for every GPU here; the "
				    "driver has to be %s or later.")
			: w.n_ccs && w.driver
				? _("Install torch %s, which has code for every GPU here "
				    "and runs on this driver.")
			: w.n_ccs ? _("Install torch %s, which has code for every GPU here.")
				  : _("Install torch %s."),
			build_name(j, row), assumed && w.n_ccs ? least_driver(j, row) : "");
		add_install(j, r, p, row);
		return;
	}
	if (!certain) {
		ask_for_chip(j, f);
		return;
	}
	if (with_other_driver(j, f, p, w) || with_other_python(j, f, w) ||
	    with_other_glibc(j, f, w))
		return;
	finding_remedy(
		j, f, "%s",
		_("No published PyTorch build serves all of these GPUs together with this system: "
		  "build "
		  "PyTorch from source for them, hide the odd GPU with CUDA_VISIBLE_DEVICES, or "
		  "use "
		  "another GPU."))
		->risk = RISK_SAFE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remedies of a pasted text about what pip finds and what fits together: wheels for a Python,
 * add-ons for a PyTorch, a C library for a wheel. It asks no index.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/mend.h"

/* -------- no wheel for this Python */

struct pythons {
	const char *first, *last;     /* of the release, here */
	const struct torch_row *row; /* with `last` */
};

static void widen(struct pythons *p, const struct torch_row *row)
{
	size_t i;

	for (i = 0; i < row->n_python; i++) {
		if (strchr(row->python[i], 't'))
			continue;
		if (!p->first || version_cmp_str(row->python[i], p->first) < 0)
			p->first = row->python[i];
		if (!p->last || version_cmp_str(row->python[i], p->last) > 0) {
			p->last = row->python[i];
			p->row = row;
		}
	}
}

/* Of the build that was asked for where it is published, else of any with CUDA. */
static struct pythons pythons_of(struct triage *t, const char *release, const char *variant)
{
	const struct torch_row *const *rows = compat_torch_of_release(t->j->c, release);
	const char *platform = triage_has(t, "windows") ? "windows_x86_64" : look_platform(t->j->s);
	struct pythons exact = { .first = NULL }, any = { .first = NULL };

	for (; *rows; rows++) {
		if (strcmp((*rows)->platform, platform) != 0 || !(*rows)->cuda)
			continue;
		widen(&any, *rows);
		if (variant && strcmp((*rows)->variant, variant) == 0)
			widen(&exact, *rows);
	}
	return exact.row ? exact : any;
}

static void newer_release(struct triage *t, struct finding *f, const char *python)
{
	const struct fact *driver = look_cuda_driver(t->j->s);
	struct torch_wish w = {
		.windows = triage_has(t, "windows"),
		.platform = triage_has(t, "windows") ? "windows_x86_64" : look_platform(t->j->s),
		.python = python,
		.driver = driver ? driver->value : remedy_usual_driver(t->j),
		.glibc = fact_value(&t->j->s->host.glibc, NULL),
	};
	const struct torch_row *row = python ? compat_torch_choose(t->j->c, &w) : NULL;
	struct remedy *r;

	if (!row)
		return;
	r = finding_remedy(
		t->j, f,
		_("Or keep Python %s and take a release that has wheels for it: torch %s is the "
		  "newest here."),
		python, row->version);
	remedy_command(t->j, r, "python -m pip install %s", remedy_torch_words(t->j, row, true));
}

/* "tensorflow-2.10.0-cp310-cp310-manylinux...whl is not a supported wheel": it wants 3.10. */
static bool of_wheel_tag(struct triage *t, struct finding *f)
{
	const char *wheel = triage_value(t, "whl-not-supported"), *at;
	struct remedy *r;
	long minor;

	at = wheel ? strstr(wheel, "-cp3") : NULL;
	if (!at || strstr(wheel, "abi3"))
		return false;
	minor = strtol(at + 4, NULL, 10);
	if (minor < 5 || minor > 20)
		return false;
	r = finding_remedy(
		t->j, f,
		_("That wheel is for Python 3.%ld alone: make an environment with it (conda: "
		  "`conda create -n py3%ld python=3.%ld`) and install there; or take the release "
		  "that has a wheel for your Python."),
		minor, minor, minor);
	remedy_command(t->j, r, "uv venv --python 3.%ld .venv", minor);
	return true;
}

static bool no_wheel(struct triage *t, struct finding *f)
{
	const char *want = triage_value(t, "wants-torch"), *plus, *release;
	const char *python = t->j->s->n_pythons
				     ? mend_minor(t, fact_value(&t->j->s->pythons[0].version, NULL))
				     : NULL;
	struct pythons p;
	struct remedy *r;

	if (triage_has(t, "python-32")) {
		finding_remedy(
			t->j, f, "%s",
			_("Install a 64-bit Python (https://www.python.org/downloads, \"Windows installer "
			  "(64-bit)\"), make the environment anew with it, and install there."));
		return true;
	}
	if (!want)
		return of_wheel_tag(t, f);
	plus = strchr(want, '+');
	release = plus ? arena_strndup(t->j->a, want, (size_t)(plus - want)) : want;
	p = pythons_of(t, release, plus ? plus + 1 : triage_value(t, "index-tag"));
	if (!p.row || (python && version_cmp_str(python, p.first) >= 0 &&
		       version_cmp_str(python, p.last) <= 0))
		return false;
	r = finding_remedy(
		t->j, f,
		_("torch %s has wheels with CUDA for Python %s to %s here: make an environment with "
		  "one of these (with conda: `conda create -n torch-env python=%s`), and install "
		  "there."),
		release, p.first, p.last, p.last);
	remedy_command(t->j, r, "uv venv --python %s .venv", p.last);
	remedy_command(t->j, r, "uv pip install --python .venv %s",
		       remedy_torch_words(t->j, p.row, true));
	newer_release(t, f, python);
	return true;
}

/* -------- add-ons of another PyTorch or C++ ABI */

static bool flipped_wheel(struct triage *t, struct finding *f)
{
	const char *wheel = triage_value(t, "word-abi-wheel"), *at;
	bool was_true;

	at = wheel ? strstr(wheel, "cxx11abi") : NULL;
	if (!at)
		return false;
	was_true = strncmp(at + 8, "TRUE", 4) == 0;
	finding_remedy(
		t->j, f,
		_("The C++ ABI is the other one: torch from pip before 2.7 wants the wheel whose name says "
		  "cxx11abiFALSE (2.7 and later: TRUE). Take the same release with cxx11abi%s in its name, from "
		  "the add-on's releases page; another minor version of CUDA in the name is not at fault."),
		was_true ? "FALSE" : "TRUE");
	return true;
}

static bool abi(struct triage *t, struct finding *f)
{
	const char *name = mend_add_on_name(t);
	struct remedy *r;

	if (flipped_wheel(t, f)) {
		f->remedies[0].risk = RISK_SAFE;
		return true;
	}
	if (!name)
		return false;
	r = finding_remedy(
		t->j, f,
		_("Install the build of %s for the installed torch, Python and CUDA (the command shows which "
		  "they are), in that very environment; after each change of torch this has to be done "
		  "again."),
		name);
	remedy_command(t->j, r,
		       "python -c \"import sys, torch; print(sys.version, torch.__version__, "
		       "torch.version.cuda, torch.compiled_with_cxx11_abi())\"");
	if (strcmp(name, "xformers") == 0 || strcmp(name, "vllm") == 0) {
		finding_remedy(
			t->j, f,
			_("Each release of %s is made for one release of torch, which it pins: install "
			  "both in one command, or the release that pins your torch."),
			name)
			->risk = RISK_SAFE;
		return true;
	}
	r = finding_remedy(
		t->j, f, "%s",
		_("Or compile it here against the installed torch; that needs a toolkit of torch's "
		  "CUDA with nvcc."));
	remedy_command(t->j, r,
		       "python -m pip install --no-build-isolation --no-binary %s --no-cache-dir "
		       "--force-reinstall --no-deps %s",
		       name, name);
	return true;
}

/* -------- a C library that is too old */

static bool glibc(struct triage *t, struct finding *f)
{
	const struct sign *g = triage_sign(t, "glibc");
	const char *text = g ? fact_value(&g->text, "") : "", *name = mend_add_on_name(t);
	const char *needs = triage_value(t, "glibc");
	struct remedy *r;

	/* torch itself is judged by the table. */
	if (!name || !strstr(text, "required by") || strstr(text, "libtorch"))
		return false;
	r = finding_remedy(
		t->j, f,
		_("The ready-made %s was compiled on a newer system (glibc %s); torch itself is not at fault. "
		  "Compile it here, which needs a toolkit of torch's CUDA with nvcc, or take an earlier release "
		  "of it whose wheel still fits."),
		name, needs ? needs : "?");
	remedy_command(t->j, r,
		       "python -m pip install --no-build-isolation --no-binary %s --no-cache-dir "
		       "--force-reinstall --no-deps %s",
		       name, name);
	finding_remedy(
		t->j, f, "%s",
		_("Or use a newer distribution, or a container on it (Ubuntu 22.04 has glibc 2.35, 24.04 "
		  "has 2.39)."))
		->risk = RISK_SAFE;
	return true;
}

/* -------- a build that another took the place of, and companions of another torch */

static const struct torch_row *row_of(struct triage *t, const char *version, const char *variant)
{
	const struct torch_row *const *rows = compat_torch_of_release(t->j->c, version);
	bool windows = triage_has(t, "windows");
	const char *platform = windows ? "windows_x86_64" : look_platform(t->j->s);

	for (; *rows; rows++)
		if (strcmp((*rows)->platform, platform) == 0 && (*rows)->index_url &&
		    (*rows)->cuda &&
		    (variant ? strcmp((*rows)->variant, variant) == 0 : (*rows)->pypi_default))
			return *rows;
	return NULL;
}

/* "Uninstalling torch-2.0.1+cu118" */
static bool replaced(struct triage *t, struct finding *f)
{
	const char *was = mend_piece(t, NULL, "torch-", "0123456789.+cu"), *plus;
	const struct torch_row *row;
	struct remedy *r;

	was = was ? was + strlen("torch-") : NULL;
	plus = was ? strstr(was, "+cu") : NULL;
	row = plus ? row_of(t, arena_strndup(t->j->a, was, (size_t)(plus - was)), plus + 1) : NULL;
	if (!row)
		return false;
	r = finding_remedy(
		t->j, f,
		_("Put the build back that was there, %s. So that it stays, name it in the same "
		  "command with the package that replaced it, or in a constraints file (`pip "
		  "install -c constraints.txt`), or install that package with --no-deps."),
		was);
	remedy_command(t->j, r, "python -m pip install --force-reinstall %s",
		       remedy_torch_words(t->j, row, true));
	return true;
}

static bool companions(struct triage *t, struct finding *f)
{
	const struct torch *torch = t->j->s->n_pythons ? &t->j->s->pythons[0].torch : NULL;
	const char *release = torch ? look_torch_release(t->j, torch) : NULL;
	const struct torch_row *row =
		release ? row_of(t, release, look_torch_variant(t->j, torch)) : NULL;
	struct remedy *r;

	if (!row || !row->torchvision || row->find_links)
		return false;
	r = finding_remedy(t->j, f,
			   _("torch %s stays: install the torchvision and torchaudio that belong "
			     "to it, of the same build, in that environment."),
			   row->version);
	remedy_command(
		t->j, r,
		"python -m pip install --force-reinstall --no-deps torchvision==%s%s%s --index-url %s",
		row->torchvision, row->torchaudio ? " torchaudio==" : "",
		row->torchaudio ? row->torchaudio : "", row->index_url);
	return true;
}

bool mend_packages(struct triage *t, struct finding *f)
{
	switch (f->id) {
	case FINDING_PYTHON_NO_WHEEL:
		return no_wheel(t, f);
	case FINDING_ABI_MISMATCH_EXTENSION:
		return abi(t, f);
	case FINDING_GLIBC_TOO_OLD:
		return glibc(t, f);
	case FINDING_CPU_ONLY_REPLACED_BY_DEPENDENCY:
	case FINDING_TORCH_REPLACED_BY_DEPENDENCY:
		return replaced(t, f);
	case FINDING_TORCH_TORCHVISION_MISMATCH:
		return companions(t, f);
	default:
		return false;
	}
}

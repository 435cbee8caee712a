/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what was installed, or asked to be: index tags, releases, wheels for this Python,
 * packages that exclude each other. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/triage.h"

/* -------- index tags */

static bool tag_known(struct triage *t, const char *tag)
{
	return strncmp(tag, "cu", 2) != 0 ||
	       compat_find(t->j->c, "torch", 0, "variant", tag) < compat_count(t->j->c, "torch");
}

static void index_tag(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	struct finding *f;
	size_t i;

	for (i = 0; i < s->n_signs; i++) {
		const char *tag = fact_value(&s->signs[i].value, NULL);

		if (!fact_is(&s->signs[i].id, "index-tag") || !tag || tag_known(t, tag))
			continue;
		f = triage_add(t, FINDING_WRONG_INDEX_TAG, 90, "index-tag");
		finding_message(t->j, f, _("There is no index %s of PyTorch."), tag);
		if (s->n_pythons)
			remedy_torch(t->j, f, &s->pythons[0]);
		return;
	}
}

/* -------- a release that pip does not find */

static bool python_serves(const struct torch_row *row, const char *python)
{
	size_t i, n;

	for (i = 0; i < row->n_python; i++) {
		n = strlen(row->python[i]);
		if (strncmp(python, row->python[i], n) == 0 &&
		    (python[n] == '\0' || python[n] == '.'))
			return true;
	}
	return false;
}

struct search {
	bool release, variant, platform, python, any_python;
	bool glibc_old; /* every build for this platform needs a newer glibc */
};

static struct search search(struct triage *t, const char *version, const char *variant)
{
	const char *python =
		t->j->s->n_pythons ? fact_value(&t->j->s->pythons[0].version, NULL) : NULL;
	const char *platform = look_platform(t->j->s);
	const char *glibc = fact_value(&t->j->s->host.glibc, NULL);
	const struct torch_row *const *rows = compat_torch_of_release(t->j->c, version);
	struct search r = { .release = false };

	for (; *rows; rows++) {
		r.release = true;
		if (variant && strcmp((*rows)->variant, variant) != 0)
			continue;
		r.variant = true;
		if (strcmp((*rows)->platform, platform) != 0)
			continue;
		if (!r.platform)
			r.glibc_old = glibc != NULL;
		r.platform = true;
		r.glibc_old = r.glibc_old && (*rows)->min_glibc &&
			      look_driver_below(glibc, (*rows)->min_glibc);
		if (!python || python_serves(*rows, python))
			r.python = true;
	}
	r.any_python = python != NULL;
	return r;
}

/* "tensorflow==2.10" on Python 3.13: the table says "3.7-3.10". */
static bool tensorflow_range(struct triage *t, const char *python)
{
	const char *want = triage_value(t, "no-dist"), *range, *dash, *v;
	size_t at;

	if (!want || !python || strncmp(want, "tensorflow==", 12) != 0)
		return false;
	v = want + 12;
	for (at = 0; at < compat_count(t->j->c, "tensorflow"); at++) {
		const char *row = compat_text(t->j->c, "tensorflow", at, "version");

		if (row && strncmp(row, v, strlen(v)) == 0)
			break;
	}
	range = compat_text(t->j->c, "tensorflow", at, "python");
	dash = range ? strchr(range, '-') : NULL;
	if (!dash ||
	    (look_driver_below(python, dash + 1) || view_starts(view_of(python), dash + 1)))
		return false;
	triage_add(t, FINDING_PYTHON_NO_WHEEL, 84, "no-dist");
	return true;
}

/* "torchvision==0.15.2+cu121": the PyTorch that it belongs to, with the same tag; NULL when
 * unknown. */
static const char *by_companion(struct triage *t)
{
	const char *want = triage_value(t, "wants-companion"), *plus, *v, *column, *have;
	size_t i;

	plus = want ? strchr(want, '+') : NULL;
	v = plus ? strstr(want, "==") : NULL;
	if (!v)
		return NULL;
	v += 2;
	column = want[5] == 'v' ? "torchvision" : "torchaudio";
	for (i = 0; i < compat_count(t->j->c, "pair"); i++) {
		have = compat_text(t->j->c, "pair", i, column);
		if (have && strlen(have) == (size_t)(plus - v) &&
		    strncmp(have, v, (size_t)(plus - v)) == 0)
			return arena_printf(t->j->a, "%s%s",
					    compat_text(t->j->c, "pair", i, "torch"), plus);
	}
	return NULL;
}

/* PyPI keeps three source archives "0.1.2" of PyTorch, which pip offers to a Python that no wheel
 * is for. */
static bool placeholders_alone(const struct triage *t)
{
	const char *v = triage_value(t, "no-dist-others");

	for (; v; v = strchr(v, ',')) {
		v += strspn(v, ", ");
		if (strncmp(v, "0.1.2", 5) != 0)
			return false;
		if (!strchr(v, ','))
			return true;
	}
	return false;
}

/* torchvision or torchaudio of that release is there for this Python, and not with the tag. */
static bool companion_untagged(struct triage *t)
{
	if (!triage_holds(t, "wants-companion no-dist-untagged !macos", NULL))
		return false;
	triage_add(t, FINDING_WRONG_INDEX_TAG, 82, "no-dist-untagged");
	return true;
}

static void not_found(struct triage *t)
{
	const char *want = triage_value(t, "wants-torch"), *plus;
	const char *tag = triage_value(t, "index-tag");
	const char *python, *version, *variant = NULL;
	struct finding *f;
	struct search r;

	if (!triage_holds(t, "no-dist|whl-not-supported", NULL) || companion_untagged(t))
		return;
	python = t->j->s->n_pythons ? fact_value(&t->j->s->pythons[0].version, NULL) : NULL;
	if (!want)
		want = by_companion(t);
	if (!want && tensorflow_range(t, python))
		return;
	if (!want) {
		/* Too new or too old a Python has no wheel of anything. */
		if (python &&
		    (!look_driver_below(python, "3.14") || look_driver_below(python, "3.8")))
			triage_add(t, FINDING_PYTHON_NO_WHEEL, 74, "no-dist");
		return;
	}
	plus = strchr(want, '+');
	version = plus ? arena_strndup(t->j->a, want, (size_t)(plus - want)) : want;
	variant = plus ? plus + 1
		  : tag && (*tag == 'c' || strncmp(tag, "rocm", 4) == 0) ? tag
									 : NULL;
	r = search(t, version, variant);
	if (r.glibc_old) {
		f = triage_add(t, FINDING_GLIBC_TOO_OLD, 88, "no-dist");
		finding_fact(t->j, f, "glibc", &t->j->s->host.glibc, NULL);
	} else if (r.release && !r.variant) {
		f = triage_add(t, FINDING_WRONG_INDEX_TAG, 82, "no-dist");
		finding_message(t->j, f, _("PyTorch %s was not published as %s."), version,
				variant ? variant : "?");
	} else if (r.variant && !r.platform) {
		triage_add(t, FINDING_CPU_ONLY_PLATFORM, triage_has(t, "macos") ? 84 : 66,
			   "no-dist");
	} else if (plus && triage_has(t, "no-dist-untagged")) {
		f = triage_add(t, FINDING_WRONG_INDEX_TAG, 82, "no-dist-untagged");
		finding_message(t->j, f,
				_("The indexes that were searched have PyTorch %s for this Python, "
				  "and not as %s."),
				version, variant);
	} else if (r.variant && r.any_python && !r.python) {
		f = triage_add(t, FINDING_PYTHON_NO_WHEEL, 86, "no-dist");
		finding_message(t->j, f, _("PyTorch %s has no wheel for Python %s here."), version,
				python);
	} else if (placeholders_alone(t)) {
		f = triage_add(t, FINDING_PYTHON_NO_WHEEL, 84, "no-dist-others");
		finding_message(
			t->j, f,
			_("pip was offered no wheel of any release: this Python is too new, "
			  "too old or of 32 bits."));
	} else if (plus && !tag && !triage_has(t, "whl-seen") && !triage_has(t, "no-dist-none")) {
		triage_add(t, FINDING_WRONG_INDEX_TAG, 64, "no-dist");
	} else if (!r.any_python) {
		/* Of a Python that is known the release has a wheel: then it is something else. */
		triage_add(t, FINDING_PYTHON_NO_WHEEL, 66, "no-dist");
	}
}

/* -------- what was put in place of what */

/* A session that prints a CUDA build, installs what a project asks for, and prints another; or one
 * who says that it was so. */
static bool before_and_after(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *was = s->n_pythons ? fact_value(&s->pythons[0].torch.version, "") : "";
	const char *is = triage_value(t, "differs:torch.version");
	const char *change = triage_has(t, "reqs-installed") ? "reqs-installed" : "change-said";
	enum finding_id id = FINDING_CPU_ONLY_REPLACED_BY_DEPENDENCY;

	if (!is || !strstr(was, "+cu") || !triage_has(t, change) || triage_has(t, "notebook"))
		return false;
	if (!strstr(is, "+cpu")) {
		/* The chosen build served; what came after it does not fit the GPU. */
		if ((!triage_has(t, "no-kernel-image") && !triage_has(t, "arch-misfit")) ||
		    strncmp(was, is, strcspn(is, "+")) == 0)
			return false;
		id = FINDING_TORCH_REPLACED_BY_DEPENDENCY;
	}
	triage_add(t, id, 95, "differs:torch.version");
	triage_add(t, id, 0, change);
	return true;
}

/* One run of pip takes up the chosen build, and then, for a package that pins it, PyPI's of another
 * release. */
static void taken_back(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *first = NULL, *last = NULL;
	size_t i;

	for (i = 0; i < s->n_signs; i++) {
		const char *v = fact_value(&s->signs[i].value, NULL);

		if (!fact_is(&s->signs[i].id, "torch-taken-up") || !v)
			continue;
		if (!first)
			first = v;
		last = v;
	}
	if (!first || !strstr(first, "cu1") || strstr(last, "cu1") || !triage_has(t, "index-tag") ||
	    triage_has(t, "installed-torch"))
		return;
	triage_add(t, FINDING_TORCH_REPLACED_BY_DEPENDENCY, 88, "torch-taken-up");
}

/* Has what PyPI gives here for this release no CUDA? */
static bool pypi_without_cuda(struct triage *t, const char *release, const char *platform)
{
	const struct torch_row *const *rows = compat_torch_of_release(t->j->c, release);

	for (; *rows; rows++)
		if ((*rows)->pypi_default && strcmp((*rows)->platform, platform) == 0)
			return (*rows)->cuda == NULL;
	return false;
}

/* What the last sign of this id names. */
static const char *last_value(const struct triage *t, const char *id)
{
	size_t i;

	for (i = t->j->s->n_signs; i > 0; i--)
		if (fact_is(&t->j->s->signs[i - 1].id, id))
			return fact_value(&t->j->s->signs[i - 1].value, NULL);
	return NULL;
}

/* On Linux the build without a tag has CUDA too: where CUDA is gone with it, it was on Windows. */
static bool lost_cuda(const struct triage *t)
{
	const struct snapshot *s = t->j->s;

	return triage_has(t, "cuda-available-false") && !fact_known(&s->host.system) &&
	       !fact_known(&s->host.os_id) && !fact_known(&s->driver.version);
}

static void replaced(struct triage *t)
{
	const char *old = triage_value(t, "uninstalled-torch");
	const char *first = triage_value(t, "installed-torch");
	const char *now = last_value(t, "installed-torch");
	bool was_cuda, is_cuda;

	/* Installed twice: the second in place of the first. */
	if (!old && first && strcmp(first, now) != 0)
		old = first;

	if (!now && before_and_after(t))
		return;
	if (!now || (old && strcmp(old, now) == 0))
		return;
	if (!old)
		old = triage_value(t, "torch-plus-any") ? triage_value(t, "torch-plus-any") : "";
	/* "2.1.0a0+41361538.nv23.06" is NVIDIA's, and has CUDA. */
	was_cuda = strstr(old, "+cu") || (strstr(old, "a0+") && strstr(old, ".nv"));
	is_cuda = strstr(now, "+cu") != NULL;
	if (!was_cuda && strstr(now, "+cpu") && triage_value(t, "torch-plus-any") &&
	    strstr(triage_value(t, "torch-plus-any"), "+cu"))
		was_cuda = true;
	if (was_cuda && (strstr(now, "+cpu") || triage_has(t, "torch-cpu") ||
			 (!is_cuda && (triage_has(t, "windows") || triage_has(t, "cpu-said") ||
				       lost_cuda(t) ||
				       pypi_without_cuda(t, now, look_platform(t->j->s))))))
		triage_add(t, FINDING_CPU_ONLY_REPLACED_BY_DEPENDENCY, 93,
			   "uninstalled-torch|installed-torch");
	else if (was_cuda && triage_has(t, "uninstalled-torch") && !triage_has(t, "torch-asked"))
		triage_add(t, FINDING_TORCH_REPLACED_BY_DEPENDENCY, 88,
			   "uninstalled-torch installed-torch");
}

/* Two packages that want different releases of PyTorch: whatever is installed breaks one. */
static void two_pins(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *other = NULL, *v;
	size_t i, k;

	for (i = 0; i < s->n_signs; i++) {
		if (!fact_is(&s->signs[i].id, "pin-torch-other"))
			continue;
		other = fact_value(&s->signs[i].value, "");
		for (k = 0; k < s->n_signs; k++) {
			v = fact_value(&s->signs[k].value, "");
			if ((fact_is(&s->signs[k].id, "requires-torch") ||
			     fact_is(&s->signs[k].id, "pin-torch-other")) &&
			    strcmp(v, other) != 0) {
				triage_add(t, FINDING_CONFLICTING_PINS, 92,
					   "pin-torch-other requires-torch|pin-torch-other");
				t->against[FINDING_TORCH_TORCHVISION_MISMATCH] = true;
				return;
			}
		}
	}
}

/* -------- a build without CUDA */

/* It is not what is complained of. */
static void no_cpu_build(struct triage *t)
{
	t->against[FINDING_CPU_ONLY_WHEEL] = true;
	t->against[FINDING_CPU_ONLY_CONDA_BUILD] = true;
	t->against[FINDING_CPU_ONLY_PLATFORM] = true;
}

/* A program's own error, and nobody says that a GPU is not used: the build does not matter. */
static void beside_the_point(struct triage *t)
{
	if (!triage_has(t, "python-error") || triage_has(t, "cuda-fails") ||
	    triage_has(t, "cuda-available-false") || triage_has(t, "cpu-said") ||
	    triage_has(t, "no-device") || triage_has(t, "symptoms-available") ||
	    triage_has(t, "torch-cuda-none"))
		return;
	no_cpu_build(t);
}

/* Who has no GPU wants no CUDA: the program should not ask for it. */
static void none_owned(struct triage *t)
{
	if (!triage_has(t, "no-gpu-owned") || t->j->s->n_gpus ||
	    !(triage_has(t, "not-compiled") || triage_has(t, "torch-cpu")) ||
	    triage_has(t, "smi-works") || triage_has(t, "bus-has-gpu"))
		return;
	no_cpu_build(t);
	triage_add(t, FINDING_APPLICATION_BUG, 84, "not-compiled|no-gpu-owned");
}

/* One who tells of a build without CUDA, and then shows one that has it and sees the GPU. */
static void mended(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *was = s->n_pythons ? fact_value(&s->pythons[0].torch.version, "") : "";
	const char *is = triage_value(t, "differs:torch.version");

	if (!triage_has(t, "cuda-available-true") || triage_has(t, "cuda-available-false") ||
	    triage_has(t, "cuda-fails") || triage_has(t, "cpu-said") || triage_has(t, "notebook") ||
	    (!strstr(was, "+cu") && !(is && strstr(is, "+cu"))))
		return;
	no_cpu_build(t);
}

/*
 * What pip takes from PyPI for Windows has no CUDA. A release without a tag that pip found
 * installed, or that a project pins, came from there, unless conda or another index is named.
 */
static void plain_on_windows(struct triage *t)
{
	const struct python *p = t->j->s->n_pythons ? &t->j->s->pythons[0] : NULL;
	const struct package *have = p ? python_package(p, "torch") : NULL;
	const char *release = have ? fact_value(&have->version, NULL) : NULL;
	bool found = triage_has(t, "pip-has-torch") && release;

	if (!found)
		release = triage_value(t, "torch-pinned-plain");
	if (!release)
		release = triage_value(t, "torch-said-plain");
	if (!release) {
		release = triage_value(t, "pip-torch-version");
		found = release != NULL;
	}
	if (!release || strchr(release, '+') || !triage_has(t, "windows") ||
	    (p && (fact_known(&p->torch.cuda) || fact_known(&p->torch.variant))) ||
	    triage_has(t, "conda-asked-torch") ||
	    !triage_holds(t, "cuda-available-false|cpu-said|bare-false|torch-not-able", NULL))
		return;
	if (!found && (triage_has(t, "index-tag") || triage_has(t, "torch-plus-any") ||
		       !(triage_has(t, "reqs-installed") || triage_has(t, "pip-torch"))))
		return;
	if (pypi_without_cuda(t, release, "windows_x86_64"))
		triage_add(t, FINDING_CPU_ONLY_WHEEL, 76,
			   found ? "pip-has-torch|pip-torch-version"
				 : "torch-pinned-plain|torch-said-plain");
}

/* Installed again and again, and the one of the user's own folder still runs: Python looks there
 * before it looks into the system's or an environment's. */
static void user_site_first(struct triage *t)
{
	const char *runs = triage_value(t, "run-torch"), *put = triage_value(t, "wants-torch");
	size_t n = put ? strcspn(put, "+") : 0;

	if (!runs || !n || !triage_has(t, "torch-user-site") ||
	    (strncmp(runs, put, n) == 0 && (!runs[n] || runs[n] == '+')))
		return;
	triage_add(t, FINDING_MULTIPLE_ENVS, 90, "torch-user-site run-torch");
}

void triage_install(struct triage *t)
{
	user_site_first(t);
	mended(t);
	beside_the_point(t);
	none_owned(t);
	index_tag(t);
	not_found(t);
	replaced(t);
	taken_back(t);
	plain_on_windows(t);
	two_pins(t);
	triage_packages(t);
}

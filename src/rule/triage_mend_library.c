/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remedies of a pasted text about CUDA libraries: which package holds the one that is missing,
 * where one lies that is not searched, which version a framework wants. It installs nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "rule/look.h"
#include "rule/mend.h"

#define VERSION_CHARS "0123456789."
#define PATH_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+"

/* -------- a library that is not installed */

/* Row of the wheel that holds a file of this name, also when it is asked for with more digits. */
static const char *wheel_of(struct triage *t, const char *soname, const char **ret_major)
{
	size_t i, n = compat_count(t->j->c, "nvidia_wheel"), len;
	const struct json *row, *v;

	for (i = 0; i < n; i++) {
		row = compat_row(t->j->c, "nvidia_wheel", i);
		for (v = json_first(json_get(row, "sonames")); v; v = json_next(v)) {
			len = json_str(v) ? strlen(json_str(v)) : 0;
			if (len < 8 || strncmp(soname, json_str(v), len) != 0 ||
			    (soname[len] != '\0' && soname[len] != '.'))
				continue;
			*ret_major = json_get_str(row, "major");
			return json_get_str(row, "name");
		}
	}
	return NULL;
}

static void search_path(struct triage *t, struct remedy *r)
{
	remedy_command(t->j, r,
		       "export LD_LIBRARY_PATH=$(python -c \"import glob, nvidia; "
		       "print(':'.join(glob.glob(list(nvidia.__path__)[0] + '/*/lib')))\")");
}

static bool missing(struct triage *t, struct finding *f)
{
	const char *file = triage_value(t, "lib-missing"), *major = NULL, *wheel;
	struct remedy *r;

	if (triage_has(t, "bnb-no-cudart") || triage_has(t, "bnb-no-binary")) {
		r = finding_remedy(
			t->j, f, "%s",
			_("Upgrade bitsandbytes: later releases use the CUDA libraries that PyTorch "
			  "brings. Where the old one has to stay, install the runtime of PyTorch's "
			  "CUDA and name its directory in LD_LIBRARY_PATH."));
		remedy_command(t->j, r, "python -m pip install -U bitsandbytes");
		return true;
	}
	if (triage_has(t, "tf-libs") && !triage_has(t, "windows")) {
		r = finding_remedy(
			t->j, f, "%s",
			_("Install TensorFlow with the CUDA libraries of its release, from pip, in "
			  "an environment of its own; toolkits of the system are not needed then."));
		remedy_command(t->j, r, "python -m pip install -U \"tensorflow[and-cuda]\"");
		return true;
	}
	if (triage_has(t, "ort-load") || triage_has(t, "ort-needs")) {
		r = finding_remedy(
			t->j, f, "%s",
			_("Install onnxruntime-gpu with the CUDA and cuDNN that its release wants; call "
			  "onnxruntime.preload_dlls() before the first session, or import torch of the same "
			  "CUDA major first. Without that, a toolkit of that major and cuDNN 9 have to be on "
			  "the library path."));
		remedy_command(t->j, r, "python -m pip install -U \"onnxruntime-gpu[cuda,cudnn]\"");
		return true;
	}
	wheel = file ? wheel_of(t, file, &major) : NULL;
	if (!wheel || triage_has(t, "windows"))
		return false;
	r = finding_remedy(
		t->j, f,
		_("Either let the program have it: %s belongs to CUDA %s; install it into the same "
		  "environment, and let the loader find it there (conda: `conda install -c conda-forge "
		  "cuda-version=%s` with the package). The CUDA version that nvidia-smi shows is the "
		  "driver's, and brings no libraries."),
		file, major, major);
	remedy_command(t->j, r, "python -m pip install %s", wheel);
	search_path(t, r);
	finding_remedy(
		t->j, f, "%s",
		_("Or put a build of the program in its place that was made for the CUDA that "
		  "you have. The driver has to run it: 450 or later for CUDA 11, 525 for 12, 580 "
		  "for 13. Do not link one major's file to another's name."));
	return true;
}

/* -------- a library that is not searched */

/* The directory of the file that the text lists. */
static const char *directory_of(struct triage *t, const struct finding *f)
{
	const char *at, *end, *slash;
	size_t i, n;

	for (i = 0; i < f->n_evidence; i++) {
		for (at = strstr(f->evidence[i].seen ? f->evidence[i].seen : "", "/usr/"); at;
		     at = strstr(at + 1, "/usr/")) {
			n = strspn(at, PATH_CHARS);
			end = strstr(at, ".so");
			if (!end || end > at + n)
				continue;
			for (slash = end; slash > at && *slash != '/'; slash--)
				;
			return slash > at ? arena_strndup(t->j->a, at, (size_t)(slash - at)) : NULL;
		}
	}
	at = triage_value(t, "word-lib-folder");
	if (at)
		return at;
	at = mend_piece(t, NULL, "/usr/local/cuda-", VERSION_CHARS);
	return at ? arena_printf(t->j->a, "%s/lib64", at) : NULL;
}

static bool not_searched(struct triage *t, struct finding *f)
{
	const char *dir;
	struct remedy *r;

	if (triage_has(t, "tf-libs") || triage_has(t, "tf-no-gpu") ||
	    triage_has(t, "tf-and-cuda") || triage_has(t, "windows"))
		return false;
	dir = directory_of(t, f);
	if (!dir)
		return false;
	r = finding_remedy(
		t->j, f, "%s",
		_("Tell the loader of that directory for good: then sudo, services and cron find it as well, "
		  "which all drop LD_LIBRARY_PATH."));
	remedy_command(t->j, r, "echo %s | sudo tee /etc/ld.so.conf.d/cuda.conf",
		       shell_word(t->j->a, dir));
	remedy_command(t->j, r, "sudo ldconfig");
	r->needs_root = true;
	r = finding_remedy(
		t->j, f, "%s",
		_("Or for one shell by the variable; with sudo it has to be passed on."));
	remedy_command(t->j, r, "export LD_LIBRARY_PATH=%s:$LD_LIBRARY_PATH",
		       shell_word(t->j->a, dir));
	return true;
}

/* -------- versions of cuDNN */

static bool cudnn_version(struct triage *t, struct finding *f)
{
	const char *v = mend_piece(t, "cudnn-runtime-older", "compiled with: ", VERSION_CHARS);
	const char *least = v ? mend_minor(t, v + strlen("compiled with: ")) : NULL;
	const char *cuda = mend_torch_cuda(t);
	struct remedy *r;

	if (!least || triage_has(t, "windows"))
		return false;
	r = finding_remedy(
		t->j, f,
		_("Put cuDNN %s or later into that environment (below the next major). If a package there "
		  "pins an older one, as torch does, give each framework an environment of its own, or "
		  "install torch as a CPU build beside it."),
		least);
	remedy_command(t->j, r, "python -m pip install -U \"nvidia-cudnn-cu%s>=%s,<%ld\"",
		       cuda && strtol(cuda, NULL, 10) == 11   ? "11"
		       : cuda && strtol(cuda, NULL, 10) == 13 ? "13"
							      : "12",
		       least, strtol(least, NULL, 10) + 1);
	return true;
}

/* -------- wheels of several series */

static long series_of(const char *name)
{
	const char *at = strstr(name, "-cu1");

	return strncmp(name, "nvidia-", 7) == 0 && at ? strtol(at + 3, NULL, 10) : 0;
}

static bool mixed(struct triage *t, struct finding *f)
{
	const struct python *p = t->j->s->n_pythons ? &t->j->s->pythons[0] : NULL;
	const char *cuda = mend_torch_cuda(t);
	long keep = cuda ? strtol(cuda, NULL, 10) : 0, n;
	struct strbuf wrong, right;
	struct remedy *r;
	size_t i;

	for (i = 0; p && !cuda && i < p->n_packages; i++) {
		n = series_of(fact_value(&p->packages[i].name, ""));
		keep = n > keep ? n : keep;
	}
	strbuf_init(&wrong, t->j->a);
	strbuf_init(&right, t->j->a);
	for (i = 0; p && i < p->n_packages; i++) {
		const char *name = fact_value(&p->packages[i].name, "");
		const char *version = fact_value(&p->packages[i].version, NULL);

		n = series_of(name);
		if (n && n != keep)
			strbuf_printf(&wrong, " %s", shell_word(t->j->a, name));
		else if (n && version)
			strbuf_printf(&right, " %s==%s", shell_word(t->j->a, name),
				      shell_word(t->j->a, version));
	}
	if (!wrong.n || !right.n)
		return false;
	r = finding_remedy(
		t->j, f,
		_("Best is a fresh environment with one install command. Otherwise take away the packages of "
		  "the other series and install those of CUDA %ld again, since both own the same files "
		  "(`python -m pip list` shows whether there are more). The right series is the major of the "
		  "CUDA that torch was built for."),
		keep);
	remedy_command(t->j, r, "python -m pip uninstall -y%s", wrong.s);
	remedy_command(t->j, r, "python -m pip install --force-reinstall --no-deps%s", right.s);
	return true;
}

bool mend_library(struct triage *t, struct finding *f)
{
	switch (f->id) {
	case FINDING_MISSING_CUDA_RUNTIME_LIB:
		return missing(t, f);
	case FINDING_LIB_PATH_NOT_SET:
		return not_searched(t, f);
	case FINDING_CUDNN_VERSION_MISMATCH:
		return cudnn_version(t, f);
	case FINDING_MIXED_CUDA_WHEELS:
		return mixed(t, f);
	default:
		return false;
	}
}

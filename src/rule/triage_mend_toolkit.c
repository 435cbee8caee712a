/* SPDX-License-Identifier: Apache-2.0 */
/* Remedies of a pasted text about toolkits and the compilers that they accept. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/mend.h"

#define VERSION_CHARS "0123456789."

/* A folder of a toolkit that the text shows to be there; of these the newest. */
static const char *folder(struct triage *t)
{
	const char *best = NULL, *v;
	size_t i;

	for (i = 0; i < t->n_atoms; i++) {
		if (strcmp(t->atoms[i].name, "toolkit-folder") != 0 || !t->atoms[i].sign)
			continue;
		v = fact_value(&t->atoms[i].sign->value, NULL);
		/* Of a listing of /usr/local the release alone is known. */
		if (v && *v != '/')
			v = arena_printf(t->j->a, "/usr/local/cuda-%s", v);
		if (v && (!best || strcmp(v, best) > 0))
			best = v;
	}
	return best ? best : mend_piece(t, "toolkit-folder", "/usr/local/cuda-", VERSION_CHARS);
}

static bool symlink_broken(struct triage *t, struct finding *f)
{
	const char *dir = folder(t);
	struct remedy *r;

	if (!dir)
		return false;
	r = finding_remedy(
		t->j, f,
		_("Link /usr/local/cuda to the toolkit that is there (in an image: a RUN line, as "
		  "root); or use %s itself as CUDA_HOME."),
		dir);
	remedy_command(t->j, r, "sudo ln -sfn %s /usr/local/cuda", shell_word(t->j->a, dir));
	remedy_command(t->j, r, "/usr/local/cuda/bin/nvcc --version");
	r->needs_root = true;
	return true;
}

static bool cuda_home(struct triage *t, struct finding *f)
{
	const char *dir = mend_piece(t, NULL, "/usr/local/cuda-", VERSION_CHARS);
	struct remedy *r;

	if (triage_has(t, "windows"))
		return false;
	r = finding_remedy(
		t->j, f, "%s",
		_("Set it to one directory, the one above bin/nvcc, without what it held before and without "
		  "colons. Look for the line that sets it in ~/.bashrc, in /etc/profile.d, in the environment's "
		  "activate.d or in loaded modules, and mend it there."));
	remedy_command(t->j, r, "export CUDA_HOME=%s", dir ? dir : "/usr/local/cuda");
	remedy_command(t->j, r, "\"$CUDA_HOME\"/bin/nvcc --version");
	return true;
}

/* -------- toolkit against GPU and PyTorch */

/* Least toolkit whose nvcc knows the target; from the architectures' own introduction. */
static const char *least_toolkit(long cc)
{
	static const struct {
		int cc;
		const char *cuda;
	} list[] = {
		{ 50, "6.5" },	{ 60, "8.0" },	{ 70, "9.0" },	{ 75, "10.0" },	 { 80, "11.0" },
		{ 86, "11.1" }, { 87, "11.4" }, { 89, "11.8" }, { 90, "11.8" },	 { 100, "12.8" },
		{ 103, "12.9" }, { 110, "13.0" }, { 120, "12.8" }, { 121, "12.9" },
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(list); i++)
		if (list[i].cc == cc)
			return list[i].cuda;
	return NULL;
}

static bool too_old(struct triage *t, struct finding *f)
{
	const char *arch = triage_value(t, "nvcc-arch"), *torch = mend_torch_cuda(t);
	const char *least = arch ? least_toolkit(strtol(arch, NULL, 10)) : NULL, *use, *which;
	struct remedy *r;

	if (!least)
		return false;
	which = torch ? torch : "torch.version.cuda";
	/* An add-on wants the toolkit of torch's CUDA, where that knows the card. */
	use = torch && version_at_least(torch, least) ? torch : least;
	r = finding_remedy(
		t->j, f,
		_("Compile with a toolkit that knows compute capability %ld.%ld, from CUDA %s on, and for an "
		  "add-on of PyTorch with one of its CUDA major (%s): install it, and name it. The CUDA version "
		  "that nvidia-smi shows is the driver's and does not matter here."),
		strtol(arch, NULL, 10) / 10, strtol(arch, NULL, 10) % 10, least, which);
	if (!triage_has(t, "windows")) {
		remedy_command(t->j, r, "export CUDA_HOME=/usr/local/cuda-%s", use);
		remedy_command(t->j, r, "export PATH=$CUDA_HOME/bin:$PATH");
		remedy_command(t->j, r, "nvcc --version");
	}
	return true;
}

static bool torch_mismatch(struct triage *t, struct finding *f)
{
	const struct snapshot *s = t->j->s;
	const char *cuda = mend_torch_cuda(t), *wanted;
	const char *has =
		s->n_toolkits ? mend_minor(t, fact_value(&s->toolkits[0].version, NULL)) : NULL;
	struct remedy *r;
	long major, minor;

	wanted = mend_piece(t, "bnb-no-binary", "libbitsandbytes_cuda", "0123456789");
	wanted = wanted ? wanted + strlen("libbitsandbytes_cuda") : NULL;
	if (wanted && strspn(wanted, "0123456789") == 3) {
		major = strtol(wanted, NULL, 10) / 10;
		minor = strtol(wanted, NULL, 10) % 10;
		r = finding_remedy(
			t->j, f,
			_("Build bitsandbytes with CUDA %ld.%ld, the one of the installed PyTorch, after the "
			  "old build directory is gone (with modules: load that release of CUDA)."),
			major, minor);
		remedy_command(t->j, r, "export CUDA_HOME=/usr/local/cuda-%ld.%ld", major, minor);
		remedy_command(
			t->j, r,
			"cmake -DCOMPUTE_BACKEND=cuda -S . && make && python -m pip install .");
		if (has && strspn(has, VERSION_CHARS) == strlen(has)) {
			r = finding_remedy(
				t->j, f,
				_("Or let it load the library that was built, of CUDA %s."), has);
			remedy_command(
				t->j, r, "export BNB_CUDA_VERSION=%ld%ld", strtol(has, NULL, 10),
				strchr(has, '.') ? strtol(strchr(has, '.') + 1, NULL, 10) : 0L);
		}
		return true;
	}
	if (!cuda || triage_has(t, "windows"))
		return false;
	r = finding_remedy(
		t->j, f,
		_("Compile with the toolkit of PyTorch's CUDA, %s: install that release beside the present one "
		  "(https://developer.nvidia.com/cuda-toolkit-archive; conda: `conda install -c nvidia "
		  "cuda-toolkit=%s`), and name it. A ready-made wheel of the add-on avoids the matter."),
		cuda, cuda);
	remedy_command(t->j, r, "export CUDA_HOME=/usr/local/cuda-%s", cuda);
	remedy_command(t->j, r, "export PATH=$CUDA_HOME/bin:$PATH");
	return true;
}

/* -------- the host compiler */

/* "gcc versions later than 11 are not supported", else by the toolkit's table. */
static const char *newest_gcc(struct triage *t)
{
	const char *v = mend_piece(t, "gcc-unsupported", "later than ", "0123456789"), *cuda, *max;
	const struct snapshot *s = t->j->s;
	size_t at;

	if (v)
		return v + strlen("later than ");
	cuda = s->n_toolkits ? mend_minor(t, fact_value(&s->toolkits[0].version, NULL)) : NULL;
	at = cuda ? compat_find(t->j->c, "host_compiler", 0, "cuda", cuda)
		  : compat_count(t->j->c, "host_compiler");
	max = at < compat_count(t->j->c, "host_compiler")
		      ? compat_text(t->j->c, "host_compiler", at, "gcc_max")
		      : NULL;
	return max && strspn(max, "0123456789") == strlen(max) ? max : NULL;
}

static bool host_compiler(struct triage *t, struct finding *f)
{
	const char *v = newest_gcc(t);
	struct distro_names names = { .debian = NULL };
	struct remedy *r;
	bool clang = mend_piece(t, "gcc-unsupported", "clang", " ") != NULL;

	if (!v || strlen(v) > 2 || clang || triage_has(t, "windows"))
		return false;
	names.debian = arena_printf(t->j->a, "gcc-%s g++-%s", v, v);
	names.suse = arena_printf(t->j->a, "gcc%s gcc%s-c++", v, v);
	names.arch = arena_printf(t->j->a, "gcc%s", v);
	names.nix = arena_printf(t->j->a, "gcc%s", v);
	r = finding_remedy(
		t->j, f,
		_("This nvcc accepts gcc up to %s: install that one beside the newer (conda: `conda install -c "
		  "conda-forge gxx_linux-64=%s`; an archived one on Arch is in the AUR), and name it for the "
		  "build, whose old directory has to go first."),
		v, v);
	if (distro_family(t->j->s) == FAMILY_OTHER)
		remedy_command(t->j, r, "sudo apt-get install %s", names.debian);
	else
		distro_install(t->j, r, &names);
	remedy_command(t->j, r, "export CC=gcc-%s CXX=g++-%s CUDAHOSTCXX=g++-%s NVCC_CCBIN=g++-%s",
		       v, v, v, v);
	finding_remedy(
		t->j, f, "%s",
		_("Or use a newer toolkit that accepts your compiler. `-allow-unsupported-compiler` silences "
		  "the check at your own risk."))
		->risk = RISK_SAFE;
	return true;
}

bool mend_toolkit(struct triage *t, struct finding *f)
{
	switch (f->id) {
	case FINDING_TOOLKIT_SYMLINK_BROKEN:
		return symlink_broken(t, f);
	case FINDING_CUDA_HOME_WRONG:
		return cuda_home(t, f);
	case FINDING_TOOLKIT_TOO_OLD_FOR_GPU:
		return too_old(t, f);
	case FINDING_TOOLKIT_TORCH_MISMATCH:
		return torch_mismatch(t, f);
	case FINDING_HOST_COMPILER_TOO_NEW:
		return host_compiler(t, f);
	default:
		return false;
	}
}

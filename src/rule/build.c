/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what compiling here needs: nvcc, a host compiler that it accepts, headers, libdevice.
 * Nothing of this matters to a wheel, so that these warn or only mention it. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

#define DISTRO_HOME "/usr/lib/nvidia-cuda-toolkit"

static bool has_nvcc(const struct toolkit *t)
{
	return fact_yes(&t->nvcc);
}

/* -------- toolkit-symlink-broken */

static void run_symlink(struct judge *j)
{
	const struct toolkit *other = NULL;
	struct finding *f;
	struct remedy *r;
	size_t i;

	for (i = 0; i < j->s->n_toolkits; i++)
		if (j->s->toolkits[i].link.state != FACT_BROKEN &&
		    fact_known(&j->s->toolkits[i].version) &&
		    view_starts(view_of(fact_value(&j->s->toolkits[i].path, "")), "/usr/local/"))
			other = &j->s->toolkits[i];
	for (i = 0; i < j->s->n_toolkits; i++) {
		const struct toolkit *t = &j->s->toolkits[i];

		if (t->link.state != FACT_BROKEN)
			continue;
		f = finding_add(j, FINDING_TOOLKIT_SYMLINK_BROKEN, t->path.value);
		f->severity = SEVERITY_WARNING;
		finding_message(j, f, _("%s is a link that leads nowhere."), t->path.value);
		finding_fact(j, f, "toolkit.link", &t->link, _("a toolkit"));
		r = finding_remedy(
			j, f, "%s",
			other ? _("Point the link at a toolkit that is installed.")
			      : _("Remove the link, or install the toolkit that it names."));
		if (other)
			remedy_command(j, r, "sudo ln -sfn %s %s",
				       shell_word(j->a, other->path.value),
				       shell_word(j->a, t->path.value));
		else
			remedy_command(j, r, "sudo rm %s", shell_word(j->a, t->path.value));
		r->needs_root = true;
	}
}

/* -------- nvcc-missing */

/* Packages that compile CUDA code when they are used. */
static const struct package *compiles(const struct python *p)
{
	static const char *const names[] = { "deepspeed", "exllamav2", "nvdiffrast" };
	const struct package *pkg;
	size_t i;

	for (i = 0; p && i < ARRAY_LEN(names); i++) {
		pkg = python_package(p, names[i]);
		if (pkg)
			return pkg;
	}
	return NULL;
}

/* The nvcc of conda and of NVIDIA's wheel lies in the environment itself. */
static bool env_has_nvcc(const struct python *p)
{
	static const char *const names[] = { "cuda-nvcc", "cuda-toolkit", "nvidia-cuda-nvcc-cu12",
					     "nvidia-cuda-nvcc", "cudatoolkit-dev" };
	size_t i;

	for (i = 0; p && i < ARRAY_LEN(names); i++)
		if (python_package(p, names[i]))
			return true;
	return false;
}

static void run_nvcc_missing(struct judge *j)
{
	static const char *const names[] = { "CUDA_HOME", "CUDA_PATH" };
	const struct python *p = look_deciding(j->s);
	const struct package *pkg = compiles(p);
	const struct fact *home = NULL;
	const struct toolkit *without = NULL;
	struct finding *f;
	struct remedy *r;
	const char *cuda;
	size_t i;

	for (i = 0; i < j->s->n_toolkits; i++)
		if (has_nvcc(&j->s->toolkits[i]))
			return;
	if (env_has_nvcc(p))
		return;
	for (i = 0; i < ARRAY_LEN(names) && !home; i++)
		home = snapshot_env_fact(j->s, names[i]);
	for (i = 0; home && i < j->s->n_toolkits; i++)
		if (fact_no(&j->s->toolkits[i].nvcc) &&
		    (strstr(fact_value(&j->s->toolkits[i].via, ""), "CUDA_HOME") ||
		     strstr(fact_value(&j->s->toolkits[i].via, ""), "CUDA_PATH")))
			without = &j->s->toolkits[i];
	if (!pkg && !without)
		return;
	f = finding_add(j, FINDING_NVCC_MISSING, without ? without->path.value : look_prefix(p));
	f->severity = SEVERITY_WARNING;
	if (without)
		finding_message(
			j, f,
			_("%s names %s, which holds no nvcc: nothing can be compiled with it."),
			"CUDA_HOME", without->path.value);
	else
		finding_message(
			j, f,
			_("%s compiles CUDA code when it is used, and there is no nvcc here."),
			pkg->name.value);
	if (without)
		finding_fact(j, f, "toolkit.nvcc", &without->nvcc, "yes");
	else
		finding_fact(j, f, arena_printf(j->a, "package.%s", pkg->name.value), &pkg->version,
			     NULL);
	cuda = p ? look_torch_cuda(j, &p->torch) : NULL;
	r = finding_remedy(j, f, "%s",
			   _("Install a toolkit with nvcc, of torch's own CUDA version."));
	if (cuda)
		remedy_command(j, r, "conda install -c nvidia cuda-nvcc=%s", cuda);
}

/* -------- host-compiler-too-new */

/* The toolkit that a build takes: CUDA_HOME's, that of PATH, else the first. */
static const struct toolkit *building(const struct snapshot *s)
{
	const struct toolkit *first = NULL;
	size_t i;

	for (i = 0; i < s->n_toolkits; i++) {
		const char *via = fact_value(&s->toolkits[i].via, "");

		if (!has_nvcc(&s->toolkits[i]) || !fact_known(&s->toolkits[i].version))
			continue;
		if (strstr(via, "CUDA_HOME") || strstr(via, "CUDA_PATH"))
			return &s->toolkits[i];
		if (!first || (strstr(via, "PATH") && !strstr(fact_value(&first->via, ""), "PATH")))
			first = &s->toolkits[i];
	}
	return first;
}

static const struct json *compiler_row(struct judge *j, const char *toolkit)
{
	const struct json *row;
	struct version v, w;

	if (!version_prefix(view_of(toolkit), &v) || v.n < 2)
		return NULL;
	for (row = json_first(json_get(compat_table(j->c, "host_compiler"), "rows")); row;
	     row = json_next(row)) {
		const char *cuda = json_get_str(row, "cuda");

		if (cuda && version_prefix(view_of(cuda), &w) && w.part[0] == v.part[0] &&
		    w.part[1] == v.part[1])
			return row;
	}
	return NULL;
}

/* An older g++ beside the system's: its package, and where that puts it. */
static void older_compiler(struct judge *j, struct remedy *r, const char *max)
{
	bool toolset = distro_family(j->s) == FAMILY_RHEL;
	const char *word = shell_word(j->a, max);

	distro_install(
		j, r,
		&(struct distro_names){
			.debian = arena_printf(j->a, "g++-%s", word),
			.rhel = arena_printf(j->a, "gcc-toolset-%s-gcc-c++", word),
			/* Fedora has the current compiler alone. */
			.fedora = "",
			.suse = arena_printf(j->a, "gcc%s-c++", word),
			.arch = arena_printf(j->a, "gcc%s", word),
		});
	remedy_command(j, r, "export NVCC_PREPEND_FLAGS='-ccbin %s%s'",
		       toolset ? arena_printf(j->a, "/opt/rh/gcc-toolset-%s/root", word) : "",
		       toolset ? "/usr/bin/g++" : arena_printf(j->a, "/usr/bin/g++-%s", word));
}

static void run_host_compiler(struct judge *j)
{
	static const char *const chosen[] = {
		"NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CUDAHOSTCXX", "CXX", "CC"
	};
	const struct toolkit *t = building(j->s);
	const struct json *row;
	const char *max;
	struct finding *f;
	struct remedy *r;
	size_t i;

	/* Debian's own package brings the compiler that it wants. */
	if (!t || fact_is(&t->path, DISTRO_HOME))
		return;
	for (i = 0; i < ARRAY_LEN(chosen); i++)
		if (snapshot_env(j->s, chosen[i]))
			return;
	if (!fact_known(&j->s->host.gcc)) {
		if (j->s->host.gcc.state != FACT_ABSENT)
			judge_skip(j, "host.gcc", "%s",
				   _("the version of the host compiler is not known"));
		return;
	}
	row = compiler_row(j, t->version.value);
	max = row ? json_get_str(row, "gcc_max") : NULL;
	if (!max) {
		judge_skip(j, "host_compiler.gcc_max", _("not known for CUDA %s"),
			   t->version.value);
		return;
	}
	if (look_branch(j->s->host.gcc.value) <= look_branch(max))
		return;
	f = finding_add(j, FINDING_HOST_COMPILER_TOO_NEW, t->path.value);
	f->severity = SEVERITY_WARNING;
	finding_message(j, f, _("gcc is %s, and nvcc of CUDA %s accepts it up to %s."),
			j->s->host.gcc.value, t->version.value, max);
	finding_fact(j, f, "host.gcc", &j->s->host.gcc, arena_printf(j->a, "<= %s", max));
	finding_fact(j, f, "toolkit.version", &t->version, NULL);
	r = finding_remedy(j, f, _("Install gcc %s beside it, and tell nvcc to take that."), max);
	older_compiler(j, r, max);
	r->needs_root = true;
}

/* -------- jit-build-prereq-missing: torch.compile alone needs it, so that it is only mentioned */

static void run_jit(struct judge *j)
{
	const struct python *p = look_deciding(j->s);
	bool compiler, headers;
	struct finding *f;
	struct remedy *r;

	if (!p || !fact_known(&p->triton.version) || !look_torch_cuda(j, &p->torch) ||
	    snapshot_env(j->s, "CC"))
		return;
	compiler = j->s->host.gcc.state == FACT_ABSENT;
	headers = p->headers.state == FACT_ABSENT;
	if (!compiler && !headers)
		return;
	f = finding_add(j, FINDING_JIT_BUILD_PREREQ_MISSING, look_prefix(p));
	f->severity = SEVERITY_INFO;
	finding_message(
		j, f, "%s",
		compiler
			? _("There is no C compiler here: torch.compile and Triton need one when "
			    "the program runs.")
			: _("Python's headers are not installed: torch.compile and Triton "
			"need them "
			    "when the program runs."));
	if (compiler)
		finding_fact(j, f, "host.gcc", &j->s->host.gcc, "gcc");
	if (headers)
		finding_fact(j, f, "python.headers", &p->headers, "Python.h");
	finding_inferred(f);
	r = finding_remedy(j, f, "%s", _("Install them, where torch.compile is to be used."));
	distro_install(j, r,
		       &(struct distro_names){ .debian = "gcc python3-dev",
					       .rhel = "gcc python3-devel",
					       .suse = "gcc python3-devel",
					       .arch = "gcc python",
					       .nix = "gcc python3" });
	r->needs_root = true;
}

/* -------- libdevice-missing */

static bool has_libdevice(const struct snapshot *s, const struct python *p)
{
	static const char *const names[] = { "nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvcc-cu11",
					     "nvidia-cuda-nvcc", "nvidia-nvvm", "cuda-nvcc",
					     "cuda-nvvm-tools", "cudatoolkit", "cuda-nvcc-tools" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (python_package(p, names[i]))
			return true;
	for (i = 0; i < s->n_toolkits; i++)
		if (has_nvcc(&s->toolkits[i]))
			return true;
	return strstr(fact_value(snapshot_env_fact(s, "XLA_FLAGS")
					 ? snapshot_env_fact(s, "XLA_FLAGS")
					 : &(struct fact){ 0 },
				 ""),
		      "xla_gpu_cuda_data_dir") != NULL;
}

static void run_libdevice(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->s->n_pythons; i++) {
		const struct python *p = &j->s->pythons[i];
		const struct package *tf = python_package(p, "tensorflow");
		struct finding *f;
		struct remedy *r;
		bool cuda = false;
		size_t k;

		for (k = 0; k < p->n_loads; k++)
			cuda |= fact_is(&p->loads[k].package, "tensorflow") &&
				fact_known(&p->loads[k].path);
		/* From 2.16 on Keras compiles with XLA by default; without its libraries it is on
		 * the CPU anyway. */
		if (!tf || !cuda || !version_at_least(fact_value(&tf->version, NULL), "2.16") ||
		    has_libdevice(j->s, p))
			continue;
		f = finding_add(j, FINDING_LIBDEVICE_MISSING, look_prefix(p));
		f->severity = SEVERITY_WARNING;
		finding_message(
			j, f,
			_("TensorFlow %s compiles with XLA, which needs libdevice.10.bc of a "
			  "toolkit or of nvidia-cuda-nvcc, and neither is installed."),
			tf->version.value);
		finding_fact(j, f, "package.tensorflow", &tf->version, NULL);
		finding_evidence(j, f, "package.nvidia-cuda-nvcc-cu12", _("not installed"),
				 _("installed"), look_prefix(p));
		finding_inferred(f);
		r = finding_remedy(j, f, "%s", _("Install it into the environment."));
		remedy_command(j, r, "%s install nvidia-cuda-nvcc-cu12", remedy_pip(j, p));
	}
}

const struct rule rule_toolkit_symlink_broken = {
	.name = "toolkit-symlink-broken",
	.needs = NEED_TOOLKIT,
	.layer = LAYER_TOOLKIT,
	.run = run_symlink,
};
const struct rule rule_nvcc_missing = {
	.name = "nvcc-missing",
	.needs = NEED_TOOLKIT | NEED_PYTHON,
	.layer = LAYER_TOOLKIT,
	.run = run_nvcc_missing,
};
const struct rule rule_host_compiler_too_new = {
	.name = "host-compiler-too-new",
	.needs = NEED_TOOLKIT | NEED_HOST,
	.layer = LAYER_TOOLKIT,
	.run = run_host_compiler,
};
const struct rule rule_jit_build_prereq_missing = {
	.name = "jit-build-prereq-missing",
	.needs = NEED_PYTHON | NEED_HOST,
	.layer = LAYER_FRAMEWORK,
	.run = run_jit,
};
const struct rule rule_libdevice_missing = {
	.name = "libdevice-missing",
	.needs = NEED_PYTHON,
	.layer = LAYER_LIBRARY,
	.run = run_libdevice,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the CUDA libraries that a framework asks the loader for: missing, of another major,
 * not on the path, hidden by another copy. */
#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

enum { SHOWN = 4 };

/* Why a library is not found. */
enum lack {
	LACK_NOTHING,	/* it is found */
	LACK_SEARCH,	/* it lies where nobody looks */
	LACK_MAJOR,	/* cuDNN of another major is there */
	LACK_CUDNN,	/* no cuDNN */
	LACK_FILE,	/* the file that is there is no library */
	LACK_LIBRARY,	/* a library of CUDA */
	LACKS,
};

static bool is_cudnn(const struct load *x)
{
	return strncmp(fact_value(&x->name, ""), "libcudnn", 8) == 0;
}

/* It works on the CPU as well, and takes what another module of the program has loaded. */
static bool opens_late(const char *package)
{
	return strcmp(package, "ctranslate2") == 0;
}

static enum lack lack_of(const struct load *x)
{
	if (x->own.n && opens_late(x->package.value))
		return LACK_NOTHING;
	if (x->path.state == FACT_BROKEN)
		return LACK_FILE;
	if (x->path.state != FACT_ABSENT)
		return LACK_NOTHING;
	if (x->own.n || x->elsewhere.n)
		return LACK_SEARCH;
	if (!is_cudnn(x))
		return LACK_LIBRARY;
	return x->other.n ? LACK_MAJOR : LACK_CUDNN;
}

static const char *where(const struct load *x)
{
	return x->own.n ? x->own.values[0] : x->elsewhere.values[0];
}

/* "libcublas.so.11, libcudart.so.11.0" of all that are lacking so. */
static const char *names_of(struct judge *j, const struct python *p, const char *package,
			    enum lack lack)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, j->a);
	for (i = 0; i < p->n_loads; i++) {
		if (!fact_is(&p->loads[i].package, package) || lack_of(&p->loads[i]) != lack)
			continue;
		strbuf_sep(&b, ", ");
		strbuf_add(&b, p->loads[i].name.value);
	}
	return b.s;
}

/*
 * Beside a torch with CUDA another framework often only helps; and where no GPU is known of (an
 * image for the CPU), one that would use it works without.
 */
static void set_severity(struct judge *j, struct finding *f, const struct python *p,
			 const char *package)
{
	bool helps = look_torch_cuda(j, &p->torch) || !look_has_nvidia(j->s) ||
		     opens_late(package);

	f->severity = strcmp(package, "torch") != 0 && helps ? SEVERITY_WARNING : SEVERITY_ERROR;
}

/* From 1.21 on a program can load the wheels' libraries itself, and many do. */
static bool preloads(const struct python *p, const struct load *x)
{
	const struct package *pkg = python_package(p, "onnxruntime-gpu");

	return x->own.n && fact_is(&x->package, "onnxruntime-gpu") && pkg &&
	       version_at_least(fact_value(&pkg->version, NULL), "1.21");
}

static void remedy_search(struct judge *j, struct finding *f, const struct python *p,
			  const char *package)
{
	struct remedy *r;
	struct strbuf b;
	size_t i, k;

	strbuf_init(&b, j->a);
	for (i = 0; i < p->n_loads; i++) {
		const struct load *x = &p->loads[i];
		const char *file, *slash, *dir;

		if (!fact_is(&x->package, package) || lack_of(x) != LACK_SEARCH)
			continue;
		file = where(x);
		slash = strrchr(file, '/');
		dir = slash ? arena_strndup(j->a, file, (size_t)(slash - file)) : file;
		for (k = 0; k < i; k++)
			if (fact_is(&p->loads[k].package, package) &&
			    lack_of(&p->loads[k]) == LACK_SEARCH &&
			    view_starts(view_of(where(&p->loads[k])),
					arena_printf(j->a, "%s/", dir)))
				break;
		if (k < i)
			continue;
		strbuf_sep(&b, ":");
		strbuf_add(&b, dir);
	}
	r = finding_remedy(j, f, "%s", _("Put these directories on the loader's path."));
	remedy_command(j, r, "export LD_LIBRARY_PATH=%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}",
		       shell_word(j->a, b.s));
	r->risk = RISK_SAFE;
	if (strcmp(package, "onnxruntime-gpu") == 0)
		finding_remedy(j, f, "%s",
			       _("Or load them first: `import torch` before onnxruntime, or "
				 "onnxruntime.preload_dlls() from release 1.21 on."));
}

/* "12" of "libcublas.so.12" and "libcudart.so.11.0"; other libraries count on their own. */
static const char *cuda_major(struct judge *j, const struct python *p, const char *package)
{
	static const char *const stems[] = { "libcudart.so.", "libcublas.so.", "libcublasLt.so." };
	struct view rest;
	size_t i, k;

	for (i = 0; i < p->n_loads; i++)
		for (k = 0; k < ARRAY_LEN(stems); k++)
			if (fact_is(&p->loads[i].package, package) &&
			    strncmp(p->loads[i].name.value, stems[k], strlen(stems[k])) == 0)
				return view_dup(j->a, view_cut(view_of(p->loads[i].name.value +
								       strlen(stems[k])),
							       '.', &rest));
	return NULL;
}

static const char *package_version(const struct python *p, const char *name)
{
	const struct package *pkg = python_package(p, name);

	return pkg ? fact_value(&pkg->version, "*") : "*";
}

static void remedy_install(struct judge *j, struct finding *f, const struct python *p,
			   const char *package, const struct load *x)
{
	const char *major = cuda_major(j, p, package), *suffix;
	struct view rest = view_of(x->name.value);
	struct remedy *r;
	unsigned cudnn = 0;

	if (strcmp(package, "torch") == 0) {
		r = finding_remedy(j, f, "%s",
				   _("Install torch anew, so that pip brings the libraries that it "
				     "pins."));
		remedy_command(j, r, "%s install --force-reinstall %s", remedy_pip(j, p),
			       shell_word(j->a, arena_printf(j->a, "torch==%s",
							     look_torch_release(j, &p->torch))));
		return;
	}
	if (strcmp(package, "tensorflow") == 0) {
		r = finding_remedy(j, f, "%s",
				   _("Install TensorFlow with the libraries that belong to it."));
		remedy_command(j, r, "%s install %s", remedy_pip(j, p),
			       shell_word(j->a, arena_printf(j->a, "tensorflow[and-cuda]==%s",
							     package_version(p, package))));
		return;
	}
	if (!major)
		return;
	if (strcmp(package, "jax") == 0) {
		r = finding_remedy(j, f, "%s",
				   _("Install JAX with the libraries that belong to it."));
		remedy_command(j, r, "%s install %s", remedy_pip(j, p),
			       shell_word(j->a, arena_printf(j->a, "jax[cuda%s]==%s", major,
							     package_version(p, package))));
		return;
	}
	suffix = look_branch(major) >= 13 ? "" : arena_printf(j->a, "-cu%s", major);
	if (is_cudnn(x)) {
		view_cut(rest, '.', &rest);
		view_cut(rest, '.', &rest);
		cudnn = look_branch(view_dup(j->a, rest));
		r = finding_remedy(j, f, _("Install cuDNN %u for CUDA %s where the loader looks."),
				   cudnn, major);
		remedy_command(j, r, "%s install 'nvidia-cudnn-cu%s==%u.*'", remedy_pip(j, p),
			       major, cudnn);
		return;
	}
	r = finding_remedy(
		j, f,
		_("Install the libraries of CUDA %s beside what is there; no other major "
		  "replaces them."),
		major);
	remedy_command(j, r,
		       "%s install nvidia-cuda-runtime%s nvidia-cublas%s nvidia-cufft%s "
		       "nvidia-curand%s",
		       remedy_pip(j, p), suffix, suffix, suffix, suffix);
	finding_remedy(j, f, _("Or install a build of %s for the CUDA that is here."), package);
}

static enum finding_id id_of(enum lack lack)
{
	switch (lack) {
	case LACK_SEARCH:
		return FINDING_LIB_PATH_NOT_SET;
	case LACK_MAJOR:
		return FINDING_CUDNN_MAJOR_MISMATCH;
	case LACK_CUDNN:
		return FINDING_CUDNN_NOT_FOUND;
	default:
		return FINDING_MISSING_CUDA_RUNTIME_LIB;
	}
}

static void say(struct judge *j, struct finding *f, enum lack lack, const struct load *x,
		const char *names)
{
	const char *package = x->package.value;

	switch (lack) {
	case LACK_FILE:
		finding_message(j, f,
				_("%s needs %s, and the file that is there (%s) is no library."),
				package, names, x->path.source);
		break;
	case LACK_SEARCH:
		finding_message(j, f,
				_("%s needs %s: installed (%s), but not where the loader looks."),
				package, names, where(x));
		break;
	case LACK_MAJOR:
		finding_message(j, f,
				_("%s needs %s, and cuDNN of another major is installed (%s)."),
				package, names, x->other.values[0]);
		break;
	case LACK_CUDNN:
		finding_message(j, f, _("%s needs cuDNN (%s), and there is none."), package, names);
		break;
	default:
		if (x->other.n)
			finding_message(
				j, f, _("%s needs %s, and only another version is installed (%s)."),
				package, names, x->other.values[0]);
		else
			finding_message(j, f, _("%s needs %s, and that is not installed."), package,
					names);
	}
}

static void lacking(struct judge *j, const struct python *p, size_t at, enum lack lack)
{
	const struct load *x = &p->loads[at];
	const char *package = x->package.value, *names = names_of(j, p, package, lack);
	struct finding *f = finding_add(j, id_of(lack), look_prefix(p));
	size_t i, n = 0;

	set_severity(j, f, p, package);
	say(j, f, lack, x, names);
	for (i = at; i < p->n_loads && n < SHOWN; i++) {
		const struct load *y = &p->loads[i];

		if (!fact_is(&y->package, package) || lack_of(y) != lack)
			continue;
		finding_evidence(j, f, y->name.value,
				 lack == LACK_FILE ? y->path.why : _("not found"),
				 _("found by the loader"),
				 lack == LACK_FILE ? y->path.source : y->by.value);
		if (y->own.n || y->elsewhere.n)
			finding_evidence(j, f, "elsewhere", where(y), NULL,
					 y->own.n ? y->own.source : y->elsewhere.source);
		if (y->other.n)
			finding_evidence(j, f, "other", y->other.values[0], y->name.value,
					 y->other.source);
		n++;
	}
	if (lack == LACK_SEARCH)
		remedy_search(j, f, p, package);
	else if (lack == LACK_FILE)
		finding_remedy(j, f, "%s",
			       _("Install anew the one package that this file belongs to."));
	else
		remedy_install(j, f, p, package, x);
	/* Where the variables are not known, they may do what seems to be missing. */
	if (!fact_yes(&j->s->parts.environment)) {
		finding_inferred(f);
		if (lack == LACK_SEARCH)
			f->severity = SEVERITY_WARNING;
	}
	/* Another module of the program can have loaded the copy of the environment before. */
	if (lack == LACK_SEARCH && x->own.n)
		finding_inferred(f);
	if (lack == LACK_SEARCH && preloads(p, x))
		f->severity = SEVERITY_WARNING;
}

static void lacking_in(struct judge *j, const struct python *p)
{
	enum lack lack;
	size_t i, k;

	for (i = 0; i < p->n_loads; i++) {
		lack = lack_of(&p->loads[i]);
		if (p->loads[i].path.state == FACT_DENIED)
			judge_skip(j, p->loads[i].name.value, "%s",
				   p->loads[i].path.why ? p->loads[i].path.why : _("denied"));
		if (lack == LACK_NOTHING ||
		    (opens_late(p->loads[i].package.value) && !look_has_nvidia(j->s)))
			continue;
		for (k = 0; k < i; k++)
			if (lack_of(&p->loads[k]) == lack &&
			    fact_is(&p->loads[k].package, p->loads[i].package.value))
				break;
		if (k == i)
			lacking(j, p, i, lack);
	}
}

/* torch's own library of GPU code was not written whole: importing torch fails. */
static void cut_in(struct judge *j, const struct python *p)
{
	const struct fact *lib = &p->torch.has_cuda_library;
	const char *release = look_torch_release(j, &p->torch), *name;
	struct finding *f;
	struct remedy *r;

	if (lib->state != FACT_BROKEN || !lib->source)
		return;
	name = path_base(lib->source);
	f = finding_add(j, FINDING_MISSING_CUDA_RUNTIME_LIB, look_prefix(p));
	finding_message(j, f, _("%s needs %s, and the file that is there (%s) is no library."),
			"torch", name, lib->source);
	finding_evidence(j, f, name, lib->why, _("found by the loader"), lib->source);
	r = finding_remedy(j, f, "%s",
			   _("Install torch anew, so that pip brings the libraries that it pins."));
	remedy_command(j, r, "%s install --force-reinstall %s", remedy_pip(j, p),
		       release ? shell_word(j->a, arena_printf(j->a, "torch==%s", release))
			       : "torch");
}

static void run_lacking(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->s->n_pythons; i++) {
		lacking_in(j, &j->s->pythons[i]);
		cut_in(j, &j->s->pythons[i]);
	}
}

/* -------- lib-shadowing */

/* Version of the wheel that holds the environment's own copy; NULL when it is not known. */
static const char *own_version(const struct python *p, const char *name)
{
	static const struct {
		const char *library, *wheel;
	} rows[] = {
		{ .library = "libcublas", .wheel = "nvidia-cublas" },
		{ .library = "libcudart", .wheel = "nvidia-cuda-runtime" },
		{ .library = "libnvrtc", .wheel = "nvidia-cuda-nvrtc" },
		{ .library = "libnccl", .wheel = "nvidia-nccl" },
		{ .library = "libcufft", .wheel = "nvidia-cufft" },
		{ .library = "libcusparse.", .wheel = "nvidia-cusparse" },
		{ .library = "libcusolver", .wheel = "nvidia-cusolver" },
		{ .library = "libcudnn", .wheel = "nvidia-cudnn" },
	};
	size_t i, k, n;

	for (k = 0; k < ARRAY_LEN(rows); k++) {
		if (strncmp(name, rows[k].library, strlen(rows[k].library)) != 0)
			continue;
		n = strlen(rows[k].wheel);
		for (i = 0; i < p->n_packages; i++) {
			const char *pkg = fact_value(&p->packages[i].name, "");

			if (strncmp(pkg, rows[k].wheel, n) == 0 &&
			    (!pkg[n] || strncmp(pkg + n, "-cu", 3) == 0))
				return fact_value(&p->packages[i].version, NULL);
		}
	}
	return NULL;
}

/* Are the copy that is taken and the own one of different minor versions, as far as both are known?
 */
static bool differs(const struct python *p, const struct load *x)
{
	const char *own = own_version(p, x->name.value);
	struct version a, b;

	return own && fact_known(&x->version) && version_prefix(view_of(own), &a) &&
	       version_prefix(view_of(x->version.value), &b) && a.n > 1 && b.n > 1 &&
	       (a.part[0] != b.part[0] || a.part[1] != b.part[1]);
}

/* TensorFlow and JAX refuse a cuDNN of a lower minor than theirs, which the own copy is a measure
 * of. */
static bool older_cudnn(const struct python *p, const struct load *x)
{
	const char *own = own_version(p, x->name.value);
	struct version a, b;

	return is_cudnn(x) && own &&
	       (fact_is(&x->package, "tensorflow") || fact_is(&x->package, "jax")) &&
	       fact_known(&x->version) && version_prefix(view_of(own), &a) &&
	       version_prefix(view_of(x->version.value), &b) && a.n > 1 && b.n > 1 &&
	       a.part[0] == b.part[0] && a.part[1] > b.part[1];
}

static bool is_own(const struct load *x)
{
	size_t i;

	for (i = 0; i < x->own.n; i++)
		if (strcmp(x->own.values[i], x->path.value) == 0)
			return true;
	return false;
}

static void hidden_in(struct judge *j, const struct python *p, const struct load *x)
{
	const struct fact *env = snapshot_env_fact(j->s, "LD_LIBRARY_PATH");
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!fact_known(&x->path) || !x->own.n || is_own(x))
		return;
	/* cuDNN of torch has a rule of its own; else what lacks nothing and is not torch's is a
	 * choice. */
	if (!x->missing.n &&
	    (fact_is(&x->package, "torch") ? is_cudnn(x) || !differs(p, x) : !older_cudnn(p, x)))
		return;
	f = finding_add(j, FINDING_LIB_SHADOWING, look_prefix(p));
	if (!x->missing.n || !fact_is(&x->package, "torch")) {
		f->severity = SEVERITY_WARNING;
		finding_inferred(f);
	}
	if (x->missing.n)
		finding_message(
			j, f,
			_("%s is taken from %s instead of the environment's own copy, and lacks "
			  "%s, which %s needs."),
			x->name.value, x->path.value, x->missing.values[0], x->by.value);
	else
		finding_message(j, f,
				_("%s is taken from %s instead of the copy that came with the "
				  "framework."),
				x->name.value, x->path.value);
	finding_fact(j, f, "load.path", &x->path, x->own.values[0]);
	finding_fact(j, f, "load.via", &x->via, NULL);
	for (i = 0; i < x->missing.n && i < SHOWN; i++)
		finding_evidence(j, f, "load.missing", x->missing.values[i], _("defined"),
				 x->missing.source);
	if (env)
		finding_fact(j, f, "LD_LIBRARY_PATH", env, NULL);
	r = finding_remedy(
		j, f, "%s",
		_("Take that directory out of LD_LIBRARY_PATH (or ld.so.conf): the wheels "
		  "find their own libraries."));
	if (env)
		remedy_command(j, r, "unset LD_LIBRARY_PATH");
	r->risk = RISK_SAFE;
}

static void run_hidden(struct judge *j)
{
	size_t i, k, n;

	for (i = 0; i < j->s->n_pythons; i++) {
		n = j->n_findings;
		for (k = 0; k < j->s->pythons[i].n_loads && n == j->n_findings; k++)
			hidden_in(j, &j->s->pythons[i], &j->s->pythons[i].loads[k]);
	}
}

/* -------- cuDNN whose parts are of several versions, or older than torch was built with */

static void parts_in(struct judge *j, const struct python *p, const struct load *x)
{
	struct finding *f;
	size_t i;

	if (x->parts.n < 2)
		return;
	f = finding_add(j, FINDING_CUDNN_VERSION_MISMATCH, look_prefix(p));
	set_severity(j, f, p, x->package.value);
	finding_message(j, f,
			_("The parts of cuDNN that %s loads are of different versions: %s and %s."),
			x->package.value, x->parts.values[0], x->parts.values[1]);
	for (i = 0; i < x->parts.n && i < SHOWN; i++)
		finding_evidence(j, f, "load.parts", x->parts.values[i], _("one version"),
				 x->parts.source);
	finding_fact(j, f, "load.path", &x->path, NULL);
	finding_remedy(j, f, "%s",
		       _("Remove every cuDNN from that directory and install one version whole; it "
			 "consists of several packages, which have to be upgraded together."));
}

/* torch refuses a cuDNN of a lower minor than the one that it was compiled with. */
static void older_in(struct judge *j, const struct python *p)
{
	const struct torch_row *row = look_torch_row(j, &p->torch);
	const struct library *l = &p->torch.cudnn;
	struct version have, built;
	struct finding *f;
	struct remedy *r;

	if (!row || !row->cudnn || !fact_known(&l->version) || !fact_known(&p->torch.path) ||
	    !fact_is(&p->torch.origin, "pip") || judge_has(j, FINDING_LIB_SHADOWING) ||
	    !version_prefix(view_of(l->version.value), &have) ||
	    !version_prefix(view_of(row->cudnn), &built) || have.n < 2 || built.n < 2 ||
	    have.part[0] != built.part[0] || have.part[1] >= built.part[1])
		return;
	f = finding_add(j, FINDING_CUDNN_VERSION_MISMATCH, look_prefix(p));
	finding_message(j, f, _("torch %s was compiled with cuDNN %s, and loads %s."),
			p->torch.version.value, row->cudnn, l->version.value);
	finding_fact(j, f, "torch.cudnn.version", &l->version,
		     arena_printf(j->a, ">= %s", row->cudnn));
	finding_evidence(j, f, "matrix torch", row->cudnn, NULL, row->source);
	finding_inferred(f);
	r = finding_remedy(j, f, "%s", _("Install the cuDNN that this torch pins."));
	remedy_command(j, r, "%s install 'nvidia-cudnn-cu%u==%u.%u.*'", remedy_pip(j, p),
		       look_branch(row->cuda), built.part[0], built.part[1]);
}

static void run_cudnn_parts(struct judge *j)
{
	size_t i, k, n;

	for (i = 0; i < j->s->n_pythons; i++) {
		const struct python *p = &j->s->pythons[i];

		n = j->n_findings;
		for (k = 0; k < p->n_loads && n == j->n_findings; k++)
			parts_in(j, p, &p->loads[k]);
		if (n == j->n_findings)
			older_in(j, p);
	}
}

const struct rule rule_cuda_libraries = {
	.name = "missing-cuda-runtime-lib",
	.needs = NEED_PYTHON,
	.layer = LAYER_LIBRARY,
	.run = run_lacking,
};
const struct rule rule_hidden_libraries = {
	.name = "lib-shadowing",
	.needs = NEED_PYTHON,
	.layer = LAYER_LIBRARY,
	.run = run_hidden,
};
const struct rule rule_cudnn_parts = {
	.name = "cudnn-version-mismatch",
	.needs = NEED_PYTHON,
	.layer = LAYER_LIBRARY,
	.run = run_cudnn_parts,
};

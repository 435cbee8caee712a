/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds that say in their own name for which torch, CUDA, C++ ABI, Python and platform they are
 * (flash_attn-2.7.4.post1+cu12torch2.5cxx11abiFALSE-cp311-cp311-linux_x86_64.whl, torch-scatter
 * 2.1.2+pt21cu118), and NumPy 2 under what was compiled for NumPy 1.
 */
#include <string.h>

#include "base/arena.h"
#include "model/pep440.h"
#include "rule/project.h"
#include "rule/rules.h"

/* -------- what a name says */

struct made_for {
	const char *torch; /* "2.5"; NULL: not said */
	unsigned cuda;	   /* major; 0: not said */
	bool cpu;
	const char *abi; /* "TRUE", "FALSE"; NULL: not said */
};

/* Digits and dots in front of a text. */
static const char *number(struct judge *j, const char *s)
{
	return arena_strndup(j->a, s, strspn(s, "0123456789."));
}

/* "torch2.5", "pt25", "pt113" (1.13) in a label. */
static const char *torch_in(struct judge *j, const char *label)
{
	const char *at = strstr(label, "torch"), *minor;
	struct version v;

	if (at && version_prefix(view_of(number(j, at + 5)), &v) && v.n >= 2)
		return arena_printf(j->a, "%u.%u", v.part[0], v.part[1]);
	if (strncmp(label, "pt", 2) != 0)
		return NULL;
	minor = number(j, label + 2);
	if (strlen(minor) < 2 || strlen(minor) > 3 || strchr(minor, '.'))
		return NULL;
	return arena_printf(j->a, "%c.%s", minor[0], minor + 1);
}

/* The major of "cu118", "cu12", "cu130". */
static unsigned cuda_in(const char *label)
{
	const char *at = strstr(label, "cu1");

	return at && at[3] >= '0' && at[3] <= '9' ? 10 + (unsigned)(at[3] - '0') : 0;
}

static void made_for(struct judge *j, const char *label, struct made_for *ret)
{
	const char *abi = strstr(label, "cxx11abi");

	*ret = (struct made_for){ .torch = torch_in(j, label), .cuda = cuda_in(label) };
	ret->cpu = !ret->cuda && strstr(label, "cpu") != NULL;
	if (abi)
		ret->abi = strncmp(abi + 8, "TRUE", 4) == 0    ? "TRUE"
			   : strncmp(abi + 8, "FALSE", 5) == 0 ? "FALSE"
							       : NULL;
}

/*
 * PyTorch's wheels were built with the old C++ ABI up to 2.6 (that of cu126 apart) and with the new
 * one from 2.7 on (release notes of 2.6 and 2.7). Of other builds nothing is known.
 */
static const char *abi_of(const struct planned *p, const struct wanted *torch)
{
	if (fact_known(&torch->channel) || !project_linux(p) || project_aarch64(p))
		return NULL;
	if (version_at_least(torch->version.value, "2.7"))
		return "TRUE";
	return version_at_least(torch->version.value, "2.6") && fact_is(&torch->variant, "cu126")
		       ? "TRUE"
		       : "FALSE";
}

static bool same_minor(const char *minor, const char *version)
{
	size_t n = strlen(minor);

	return strncmp(minor, version, n) == 0 && (!version[n] || strchr(".+", version[n]));
}

/* -------- against the torch of the project */

/* How the same name says the torch that is asked for. */
static const char *label_for(struct judge *j, const char *text, const struct made_for *m,
			     const struct wanted *torch, const char *abi)
{
	const char *variant = fact_value(&torch->variant, ""), *version = torch->version.value;
	struct version v = { .n = 0 };

	if (!version_prefix(view_of(version), &v) || v.n < 2)
		return version;
	if (strstr(text, ".html"))
		return arena_printf(j->a, "torch-%u.%u.0+%s", v.part[0], v.part[1], variant);
	if (strstr(text, "+pt"))
		return arena_printf(j->a, "pt%u%u%s", v.part[0], v.part[1], variant);
	return arena_printf(j->a, "%.4s...torch%u.%u%s%s", variant, v.part[0], v.part[1],
			    m->abi && abi ? "cxx11abi" : "", m->abi && abi ? abi : "");
}

static void for_other(struct judge *j, const struct planned *p, const struct wanted *w,
		      const struct fact *line, const struct made_for *m, const struct wanted *torch)
{
	const char *want = fact_value(&torch->version, "?"), *abi = abi_of(p, torch);
	unsigned cuda = project_major(fact_value(&torch->cuda, NULL));
	bool other_torch = m->torch && !same_minor(m->torch, want);
	bool other_cuda = m->cuda && cuda && m->cuda != cuda;
	bool other_abi = m->abi && abi && strcmp(m->abi, abi) != 0;
	struct finding *f;

	if (!other_torch && !other_cuda && !other_abi)
		return;
	f = project_finding(j, FINDING_ABI_MISMATCH_EXTENSION, p, w->name.value, line, NULL);
	if (other_torch)
		finding_message(j, f,
				_("This build of %s is for torch %s, and torch %s is asked for."),
				w->name.value, m->torch, want);
	else if (other_cuda)
		finding_message(
			j, f,
			_("This build of %s is for CUDA %u, and torch %s is built for CUDA %s."),
			w->name.value, m->cuda, want, torch->cuda.value);
	else
		finding_message(j, f,
				_("This build of %s is for another C++ ABI than torch %s: of that, "
				  "cxx11abi is %s."),
				w->name.value, want, abi);
	finding_fact(j, f, "torch", &torch->text, NULL);
	finding_remedy(
		j, f,
		_("Take the build of %s whose name says %s, or the torch that this one is for."),
		w->name.value, label_for(j, line->value, m, torch, abi))
		->risk = RISK_SAFE;
}

static void without_cuda(struct judge *j, const struct planned *p, const struct wanted *w,
			 const struct fact *line, const struct wanted *torch)
{
	struct finding *f;

	if (!fact_known(&torch->cuda) || !look_has_nvidia(j->s))
		return;
	f = project_finding(j, FINDING_EXTENSION_BUILT_WITHOUT_CUDA, p, w->name.value, line, NULL);
	finding_message(j, f,
			_("This build of %s holds no CUDA code, and torch %s is for CUDA %s."),
			w->name.value, fact_value(&torch->version, "?"), torch->cuda.value);
	finding_fact(j, f, "torch", &torch->text, NULL);
	finding_remedy(j, f, _("Take the build of %s for CUDA %s."), w->name.value,
		       torch->cuda.value)
		->risk = RISK_SAFE;
}

/* The page of links of PyTorch Geometric: ".../whl/torch-2.1.0+cu118.html". */
static bool page_of(struct judge *j, const struct wanted *w, struct made_for *ret)
{
	const char *url = fact_value(&w->index, ""), *at = strstr(url, "/torch-");
	struct version v;

	if (!at || !strstr(url, "pyg.org/whl/"))
		return false;
	at += 7;
	if (!version_prefix(view_of(number(j, at)), &v) || v.n < 2)
		return false;
	*ret = (struct made_for){ .torch = arena_printf(j->a, "%u.%u", v.part[0], v.part[1]),
				  .cuda = cuda_in(at) };
	ret->cpu = strstr(at, "cpu") != NULL;
	return true;
}

static void builds(struct judge *j, const struct planned *p, const struct wanted *w)
{
	const struct wanted *torch = project_package(p, "torch");
	const char *label = strchr(fact_value(&w->version, ""), '+');
	const struct fact *line = &w->text;
	struct made_for m;

	if (!torch || torch == w || !fact_known(&torch->version) || fact_known(&torch->fault) ||
	    view_starts(view_of(fact_value(&torch->variant, "cpu")), "cpu") ||
	    fact_yes(&w->elsewhere))
		return;
	if (label)
		made_for(j, label + 1, &m);
	if (!label || !m.torch) {
		if (!page_of(j, w, &m))
			return;
		line = &w->index;
	}
	if (m.cpu)
		without_cuda(j, p, w, line, torch);
	else
		for_other(j, p, w, line, &m, torch);
}

/* -------- a pair that stayed when a later line took another torch */

/* Is it of another CUDA than torch: refuses to be imported, or has no code for the GPU? */
static bool other_cuda(const struct wanted *torch, const struct wanted *w)
{
	const char *have = fact_value(&w->variant, NULL), *want = fact_value(&torch->variant, NULL);

	if (!have || !want || strncmp(want, "cu", 2) != 0 || strcmp(have, want) == 0)
		return false;
	if (strncmp(have, "cpu", 3) == 0)
		return fact_is(&w->name, "torchvision");
	if (strncmp(have, "cu", 2) != 0)
		return false;
	/* Up to 0.13 torchvision wants the same minor too. */
	return strncmp(have, want, 4) != 0 ||
	       (fact_is(&w->name, "torchvision") && fact_known(&w->version) &&
		!version_at_least(w->version.value, "0.14"));
}

static void pair_of_other_cuda(struct judge *j, const struct planned *p, const struct wanted *w,
			       const struct wanted *torch)
{
	bool cpu = strncmp(w->variant.value, "cpu", 3) == 0;
	struct finding *f;

	if (!look_has_nvidia(j->s))
		return;
	f = project_finding(j,
			    cpu ? FINDING_EXTENSION_BUILT_WITHOUT_CUDA
				: FINDING_TORCH_TORCHVISION_MISMATCH,
			    p, w->name.value, &w->text, torch->variant.value);
	if (cpu)
		finding_message(j, f,
				_("The CPU build of %s would be installed beside torch for %s: its "
				  "operators have no code for the GPU."),
				w->name.value, torch->variant.value);
	else
		finding_message(
			j, f,
			_("%s would be of %s and torch of %s: builds of different CUDA refuse each "
			  "other."),
			w->name.value, w->variant.value, torch->variant.value);
	finding_fact(j, f, "torch", &torch->text, NULL);
	finding_remedy(j, f, _("Take both from one index: that of %s."), torch->variant.value)
		->risk = RISK_SAFE;
}

static void xformers_cuda(struct judge *j, const struct planned *p)
{
	const struct wanted *torch = project_package(p, "torch");
	const struct wanted *w = project_package(p, "xformers");
	struct finding *f;

	if (!torch || !w || fact_known(&w->clash) || fact_known(&torch->channel) ||
	    fact_known(&torch->fault) || fact_yes(&w->elsewhere) || !other_cuda(torch, w))
		return;
	f = project_finding(j, FINDING_ABI_MISMATCH_EXTENSION, p, "xformers", &w->text, NULL);
	finding_message(
		j, f,
		_("xformers would be the build for %s and torch that for %s: its kernels find "
		  "no libraries of their CUDA."),
		w->variant.value, torch->variant.value);
	finding_fact(j, f, "torch", &torch->text, NULL);
	finding_remedy(j, f, _("Take both from one index: that of %s."), torch->variant.value)
		->risk = RISK_SAFE;
}

static void left_pair(struct judge *j, const struct planned *p, const char *name)
{
	const struct wanted *torch = project_package(p, "torch"), *w = project_package(p, name);
	const char *version = w ? fact_value(&w->version, NULL) : NULL, *release;
	struct finding *f;
	struct version v;

	if (!torch || !w || !fact_known(&torch->version) || fact_known(&torch->channel) ||
	    fact_known(&w->channel) || fact_known(&torch->fault) || fact_known(&w->fault) ||
	    fact_known(&w->clash) || fact_yes(&w->elsewhere))
		return;
	if (other_cuda(torch, w)) {
		pair_of_other_cuda(j, p, w, torch);
		return;
	}
	/* In one command the installer looks at both. torchaudio 2.11 serves all later ones. */
	if (!version || strcmp(torch->tool.source, w->tool.source) == 0 ||
	    (strcmp(name, "torchaudio") == 0 && version_at_least(version, "2.11")))
		return;
	version = arena_strndup(j->a, version, strcspn(version, "+"));
	release = compat_torch_of(j->c, name, version);
	if (!release || !version_prefix(view_of(release), &v) || v.n < 2 ||
	    strcmp(release, torch->version.value) == 0)
		return;
	f = project_finding(j, FINDING_TORCH_TORCHVISION_MISMATCH, p, name, &w->text, NULL);
	/* Another patch of one minor release usually works. */
	if (same_minor(arena_printf(j->a, "%u.%u", v.part[0], v.part[1]), torch->version.value))
		f->severity = SEVERITY_WARNING;
	finding_message(j, f, _("%s %s is for torch %s, and in the end torch %s is installed."),
			name, version, release, torch->version.value);
	finding_fact(j, f, "torch", fact_known(&torch->because) ? &torch->because : &torch->text,
		     release);
	finding_remedy(j, f, "%s",
		       _("Install both in one command, and what asks for torch in it too, so that "
			 "the installer chooses releases that go together."))
		->risk = RISK_SAFE;
}

/* -------- a wheel by its address: Python and platform of its name */

/* "3.10" of the tags "cp310-cp310-"; NULL for abi3, py3 and what is not clear. */
static const char *wheel_python(struct judge *j, const char *base)
{
	const char *tag = strstr(base, "-cp3");
	size_t n = tag ? strspn(tag + 4, "0123456789") : 0;

	if (!n || n > 2 || strncmp(tag + 4 + n, "-cp3", 4) != 0)
		return NULL;
	return arena_printf(j->a, "3.%.*s", (int)n, tag + 4);
}

static bool for_platform(const struct planned *p, const char *base)
{
	const char *tag = strrchr(base, '-');

	if (!tag || strncmp(tag, "-any.whl", 8) == 0)
		return true;
	if (strstr(tag, "win32") || strstr(tag, "win_"))
		return strstr(tag, "amd64") && fact_is(&p->platform, "windows_x86_64");
	if (strstr(tag, "macosx"))
		return fact_is(&p->platform, "macos_arm64");
	if (strstr(tag, "linux"))
		return fact_is(&p->platform, strstr(tag, "aarch64") ? "linux_aarch64"
								   : "linux_x86_64");
	return true;
}

static void wheel(struct judge *j, const struct planned *p, const struct wanted *w)
{
	bool torch = fact_is(&w->name, "torch");
	const char *url = torch ? project_text(w) : fact_value(&w->index, ""), *base, *python;
	const char *have = fact_value(&p->python, NULL), *end;
	struct finding *f;

	end = url + strcspn(url, "?#");
	url = arena_strndup(j->a, url, (size_t)(end - url));
	if (end - url < 5 && strlen(url) < 5)
		return;
	base = strrchr(url, '/');
	if (!base || strcmp(url + strlen(url) - 4, ".whl") != 0 || fact_yes(&w->elsewhere))
		return;
	python = wheel_python(j, base);
	/* Of torch itself the reader says that its Python is another. */
	if (python && have && !torch && !same_minor(python, have)) {
		f = project_finding(j, FINDING_PYTHON_NO_WHEEL, p, w->name.value, &w->text, NULL);
		finding_message(j, f, _("This wheel of %s is for Python %s, not for %s."),
				w->name.value, python, have);
		finding_fact(j, f, "python", &p->python, NULL);
		finding_remedy(j, f, _("Take the wheel for Python %s, or Python %s."), have, python)
			->risk = RISK_SAFE;
		return;
	}
	if (for_platform(p, base) || fact_known(&w->fault))
		return;
	f = project_finding(j, FINDING_PYTHON_NO_WHEEL, p, w->name.value, &w->text, NULL);
	finding_message(j, f, _("This wheel of %s is for another platform than %s."),
			w->name.value, fact_value(&p->platform, "?"));
	if (torch)
		project_fix_torch(j, f, p, w);
	else
		finding_remedy(j, f, _("Take the wheel for %s."), fact_value(&p->platform, "?"))
			->risk = RISK_SAFE;
}

/* -------- packages that have wheels for Linux alone */

static void linux_alone(struct judge *j, const struct planned *p, const struct wanted *w)
{
	static const char *const names[] = { "triton", "vllm", "nvidia-nccl-cu11",
					     "nvidia-nccl-cu12", "nvidia-nccl-cu13",
					     "nvidia-cufile-cu12", "nvidia-nvshmem-cu12" };
	const char *text = project_text(w);
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!fact_is(&p->platform, "windows_x86_64") || fact_known(&w->index) ||
	    fact_known(&w->channel))
		return;
	for (i = 0; i < ARRAY_LEN(names) && !fact_is(&w->name, names[i]); i++)
		;
	if (i == ARRAY_LEN(names))
		return;
	f = project_finding(j, FINDING_PYTHON_NO_WHEEL, p, w->name.value, &w->text, NULL);
	finding_message(j, f, _("%s has wheels for Linux alone: on Windows pip finds none."),
			w->name.value);
	r = finding_remedy(
		j, f, "%s",
		_("Let the line hold on Linux alone, or work in WSL2; torch needs none of "
		  "these on Windows."));
	remedy_command(j, r, "%s; sys_platform == 'linux'", text);
	if (!strpbrk(text, ";@[ "))
		remedy_correct(j, r, &w->text, text, r->commands[0]);
	r->risk = RISK_SAFE;
}

/* -------- NumPy 2 */

/* Is NumPy 2 what is written, and not only what a range may lead to? */
static bool asks_numpy2(struct judge *j, const struct wanted *numpy)
{
	static const char *const one[] = { "1.22.4", "1.24.4", "1.25.2", "1.26.4" };
	const char *text = project_text(numpy), *spec = text + strcspn(text, "<>=!~;[@ ");
	size_t i;

	spec = arena_strndup(j->a, spec, strcspn(spec, ";"));
	if (fact_yes(&numpy->pinned))
		return version_at_least(fact_value(&numpy->version, NULL), "2");
	for (i = 0; i < ARRAY_LEN(one); i++)
		if (pep440_text_holds(j->a, spec, one[i]))
			return false;
	return pep440_text_holds(j->a, spec, "2.0.2") || pep440_text_holds(j->a, spec, "2.2.6");
}

static void numpy2(struct judge *j, const struct planned *p)
{
	/* First releases that were compiled for NumPy 2. */
	static const struct {
		const char *name, *since;
	} rows[] = {
		{ .name = "torch", .since = "2.3" },
		{ .name = "onnxruntime", .since = "1.19" },
		{ .name = "onnxruntime-gpu", .since = "1.19" },
		{ .name = "jaxlib", .since = "0.4.26" },
	};
	const struct wanted *numpy = project_package(p, "numpy"), *w;
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!numpy || fact_yes(&numpy->elsewhere) || !asks_numpy2(j, numpy))
		return;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		w = project_package(p, rows[i].name);
		if (!w || !fact_known(&w->version) || fact_known(&w->channel) ||
		    fact_known(&w->fault) || version_at_least(w->version.value, rows[i].since))
			continue;
		f = project_finding(j, FINDING_NUMPY2_ABI, p, "numpy", &numpy->text, "< 2");
		finding_message(j, f,
				_("%s %s was compiled for NumPy 1, and NumPy 2 is asked for (%s)."),
				rows[i].name, w->version.value, project_text(numpy));
		finding_fact(j, f, rows[i].name, &w->text, rows[i].since);
		r = finding_remedy(j, f, _("Write a NumPy 1, or take %s %s or later."),
				   rows[i].name, rows[i].since);
		remedy_command(j, r, "numpy<2");
		r->risk = RISK_SAFE;
		return;
	}
}

/* -------- the rule */

static void judge_project(struct judge *j, const struct planned *p)
{
	size_t k;

	for (k = 0; k < p->n_packages; k++) {
		builds(j, p, &p->packages[k]);
		wheel(j, p, &p->packages[k]);
		linux_alone(j, p, &p->packages[k]);
	}
	xformers_cuda(j, p);
	left_pair(j, p, "torchvision");
	left_pair(j, p, "torchaudio");
	numpy2(j, p);
}

static void run_project_abi(struct judge *j)
{
	project_each(j, judge_project);
}

const struct rule rule_project_abi = {
	.name = "project-abi",
	.needs = NEED_PROJECT,
	.layer = LAYER_FRAMEWORK,
	.run = run_project_abi,
};

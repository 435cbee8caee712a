/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what frameworks and compiled add-ons load: a library that is nowhere, symbols and
 * code that are missing. */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* -------- libraries that the loader does not find */

static enum finding_id kind_of(const struct load *l)
{
	if (l->elsewhere.n)
		return FINDING_LIB_PATH_NOT_SET;
	if (strncmp(fact_value(&l->name, ""), "libcudnn", 8) == 0)
		return l->other.n ? FINDING_CUDNN_MAJOR_MISMATCH : FINDING_CUDNN_NOT_FOUND;
	return FINDING_MISSING_CUDA_RUNTIME_LIB;
}

/* Nowhere on the path of the loader; a copy of the environment's own is loaded by whoever comes
 * first. */
static bool lost(const struct load *l)
{
	return l->path.state == FACT_ABSENT && !l->own.n && fact_known(&l->name);
}

static void lost_remedy(struct judge *j, struct finding *f, const struct python *p,
			const struct load *l)
{
	const char *dir, *slash;
	struct remedy *r;

	if (l->elsewhere.n) {
		slash = strrchr(l->elsewhere.values[0], '/');
		dir = slash ? arena_strndup(j->a, l->elsewhere.values[0],
					    (size_t)(slash - l->elsewhere.values[0]))
			    : ".";
		r = finding_remedy(j, f, "%s",
				   _("Put the directory that holds it on the loader's path."));
		remedy_command(j, r,
			       "export LD_LIBRARY_PATH=%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}",
			       shell_word(j->a, dir));
		return;
	}
	r = finding_remedy(
		j, f,
		_("Install the CUDA libraries that %s was built for, or a build of it for the "
		  "CUDA that is here."),
		fact_value(&l->package, "the package"));
	if (fact_is(&l->package, "onnxruntime-gpu"))
		remedy_command(j, r, "%s install 'onnxruntime-gpu[cuda,cudnn]'", remedy_pip(j, p));
}

static void lost_in(struct judge *j, const struct python *p)
{
	bool said[FINDING_COUNT] = { false };
	struct finding *f;
	size_t i;

	for (i = 0; i < p->n_loads; i++) {
		const struct load *l = &p->loads[i];
		enum finding_id id;

		if (!lost(l))
			continue;
		id = kind_of(l);
		if (said[id])
			continue;
		said[id] = true;
		f = finding_add(j, id, look_prefix(p));
		/* A PyTorch that works beside it keeps the environment going. */
		if (!fact_is(&l->package, "torch") && look_torch_cuda(j, &p->torch))
			f->severity = SEVERITY_WARNING;
		finding_message(
			j, f,
			l->elsewhere.n
				? _("%s needs %s, which lies where the loader does not look.")
			: l->other.n ? _("%s needs %s, and only other versions of it are here.")
				     : _("%s needs %s, which is nowhere."),
			fact_value(&l->package, "?"), l->name.value);
		finding_fact(j, f, "load.path", &l->path, l->name.value);
		finding_fact(j, f, "load.by", &l->by, NULL);
		if (l->elsewhere.n)
			finding_evidence(j, f, "load.elsewhere", l->elsewhere.values[0], NULL,
					 l->elsewhere.source);
		if (l->other.n)
			finding_evidence(j, f, "load.other", l->other.values[0], l->name.value,
					 l->other.source);
		lost_remedy(j, f, p, l);
	}
}

static void run_missing_cuda_runtime_lib(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->s->n_pythons; i++)
		lost_in(j, &j->s->pythons[i]);
}

/* -------- compiled add-ons */

static void rebuild(struct judge *j, struct finding *f, const struct python *p,
		    const struct extension *x)
{
	struct remedy *r = finding_remedy(
		j, f, _("Install a build of %s that fits this torch, or build it here against it."),
		fact_value(&x->package, "it"));

	remedy_command(
		j, r,
		"%s install --force-reinstall --no-deps --no-build-isolation --no-cache-dir %s",
		remedy_pip(j, p), shell_word(j->a, fact_value(&x->package, "PACKAGE")));
}

static struct finding *about(struct judge *j, enum finding_id id, const struct python *p,
			     const struct extension *x)
{
	struct finding *f = finding_add(j, id, look_prefix(p));

	/* PyTorch itself runs. */
	f->severity = SEVERITY_WARNING;
	finding_fact(j, f, "extension.path", &x->path, NULL);
	if (fact_known(&p->torch.version))
		finding_fact(j, f, "torch.version", &p->torch.version, NULL);
	return f;
}

/* Add-ons that are of no use on a GPU without CUDA code; others (audio, text) need none. */
static bool needs_cuda(const struct extension *x)
{
	static const char *const names[] = { "bitsandbytes", "flash-attn", "xformers", "apex" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (fact_is(&x->package, names[i]))
			return true;
	return false;
}

static const char *joined(struct judge *j, const struct fact_list *l)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, j->a);
	for (i = 0; i < l->n && i < 16; i++) {
		strbuf_sep(&b, " ");
		strbuf_add(&b, l->values[i]);
	}
	return b.s;
}

/* "cuda124" of "12.4", as bitsandbytes names its files. */
static bool has_variant(struct judge *j, const struct extension *x, const char *cuda)
{
	struct version v;
	const char *tag;
	size_t i;

	if (!version_prefix(view_of(cuda), &v))
		return true;
	tag = arena_printf(j->a, "cuda%u%u", v.part[0], v.part[1]);
	for (i = 0; i < x->variants.n; i++)
		if (strstr(x->variants.values[i], tag))
			return true;
	return false;
}

static void variants_of(struct judge *j, const struct python *p, const struct extension *x)
{
	const char *cuda = look_torch_cuda(j, &p->torch);
	struct finding *f;

	if (!cuda || !x->variants.n || !strstr(joined(j, &x->variants), "cuda") ||
	    has_variant(j, x, cuda) || snapshot_env(j->s, "BNB_CUDA_VERSION"))
		return;
	f = about(j, FINDING_EXTENSION_NO_BUILD_FOR_CUDA, p, x);
	finding_message(j, f, _("%s %s carries no library for CUDA %s of this torch."),
			x->package.value, fact_value(&x->version, ""), cuda);
	finding_evidence(j, f, "extension.variants", joined(j, &x->variants), cuda,
			 x->variants.source);
	rebuild(j, f, p, x);
}

static void targets_of(struct judge *j, const struct python *p, const struct extension *x)
{
	const char *entry;
	struct finding *f;
	size_t i;

	for (i = 0; x->targets.n && i < j->s->n_gpus; i++) {
		int cc = look_cc(&j->s->gpus[i]);

		if (cc < 0 || !look_gpu_used(j->s, i) ||
		    compat_arch_fit(x->targets.values, x->targets.n, cc, &entry) != ARCH_FIT_NONE)
			continue;
		f = about(j, FINDING_EXTENSION_MISSING_GPU_ARCH, p, x);
		finding_message(j, f, _("%s %s holds no code for compute capability %s (%s)."),
				x->package.value, fact_value(&x->version, ""), cc_text(j->a, cc),
				gpu_subject(j, i));
		finding_evidence(j, f, "extension.targets", joined(j, &x->targets),
				 arena_printf(j->a, "sm_%d", cc), x->targets.source);
		rebuild(j, f, p, x);
		return;
	}
}

static void extension_in(struct judge *j, const struct python *p, const struct extension *x)
{
	struct finding *f;

	if (!fact_known(&x->package))
		return;
	if (x->missing.n) {
		f = about(j, FINDING_ABI_MISMATCH_EXTENSION, p, x);
		finding_message(j, f, _("%s %s was built for another torch: this one has no %s."),
				x->package.value, fact_value(&x->version, ""),
				x->missing.values[0]);
		finding_evidence(j, f, "extension.missing", joined(j, &x->missing), NULL,
				 x->missing.source);
		rebuild(j, f, p, x);
		return;
	}
	if (x->cuda.state == FACT_ABSENT && needs_cuda(x) && look_torch_cuda(j, &p->torch)) {
		f = about(j, FINDING_EXTENSION_BUILT_WITHOUT_CUDA, p, x);
		finding_message(j, f, _("%s %s was built without CUDA code."), x->package.value,
				fact_value(&x->version, ""));
		finding_fact(j, f, "extension.cuda", &x->cuda, look_torch_cuda(j, &p->torch));
		rebuild(j, f, p, x);
		return;
	}
	variants_of(j, p, x);
	targets_of(j, p, x);
}

static void run_extensions(struct judge *j)
{
	size_t i, k;

	for (i = 0; i < j->s->n_pythons; i++)
		for (k = 0; k < j->s->pythons[i].n_extensions; k++)
			extension_in(j, &j->s->pythons[i], &j->s->pythons[i].extensions[k]);
}

const struct rule rule_missing_cuda_runtime_lib = {
	.name = "missing-cuda-runtime-lib",
	.needs = NEED_PYTHON,
	.layer = LAYER_LIBRARY,
	.run = run_missing_cuda_runtime_lib,
};
const struct rule rule_extensions = {
	.name = "abi-mismatch-extension",
	.needs = NEED_PYTHON,
	.layer = LAYER_FRAMEWORK,
	.run = run_extensions,
};

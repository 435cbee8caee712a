/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about compiled add-ons of PyTorch: made for another torch, without CUDA, for other GPUs.
 * torch itself is fine then, so that they warn. */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

static void each(struct judge *j, void (*fn)(struct judge *j, const struct python *p))
{
	size_t i;

	for (i = 0; i < j->s->n_pythons; i++)
		fn(j, &j->s->pythons[i]);
}

/* A package is judged once, at its first file. */
static bool is_first(const struct python *p, size_t at)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (fact_known(&p->extensions[at].package) &&
		    fact_is(&p->extensions[i].package, p->extensions[at].package.value))
			return false;
	return fact_known(&p->extensions[at].package);
}

static bool same_package(const struct extension *a, const struct extension *b)
{
	return fact_known(&b->package) && fact_is(&a->package, b->package.value);
}

static const char *label(struct judge *j, const struct extension *x)
{
	const char *v = fact_value(&x->version, NULL);

	return v ? arena_printf(j->a, "%s %s", x->package.value, v) : x->package.value;
}

static void rebuild(struct judge *j, struct finding *f, const struct python *p,
		    const struct extension *x)
{
	struct view local;
	const char *release =
		fact_known(&x->version)
			? view_dup(j->a, view_cut(view_of(x->version.value), '+', &local))
			: NULL;
	struct remedy *r;

	if (strcmp(x->package.value, "torchvision") == 0 ||
	    strcmp(x->package.value, "torchaudio") == 0) {
		remedy_torch(j, f, p);
		return;
	}
	r = finding_remedy(
		j, f,
		_("Install the build of %s that was made for this torch, or compile it here."),
		x->package.value);
	remedy_command(
		j, r,
		"%s install --no-build-isolation --no-cache-dir --force-reinstall "
		"--no-deps --no-binary %s %s",
		remedy_pip(j, p), shell_word(j->a, x->package.value),
		shell_word(j->a, release ? arena_printf(j->a, "%s==%s", x->package.value, release)
					 : x->package.value));
}

/* -------- abi-mismatch-extension */

/* Packages that are used by importing them, so that nothing of them works. */
static bool is_whole(const char *package)
{
	return strcmp(package, "vllm") == 0 || strcmp(package, "torchvision") == 0 ||
	       strcmp(package, "torchaudio") == 0;
}

static void abi_in(struct judge *j, const struct python *p)
{
	const struct extension *x;
	struct finding *f;
	size_t i, k;

	for (i = 0; i < p->n_extensions; i++) {
		x = &p->extensions[i];
		if (x->cuda.state == FACT_DENIED)
			judge_skip(j, "python.extensions", _("%s cannot be read (%s)"),
				   x->path.value, x->cuda.why);
		if (!x->missing.n)
			continue;
		/* One of several files of a package is enough. */
		for (k = 0; k < i; k++)
			if (p->extensions[k].missing.n && same_package(&p->extensions[k], x))
				break;
		if (k < i)
			continue;
		f = finding_add(j, FINDING_ABI_MISMATCH_EXTENSION, look_prefix(p));
		if (!is_whole(x->package.value))
			f->severity = SEVERITY_WARNING;
		finding_message(
			j, f,
			_("%s was compiled for another torch than the %s that is installed: it "
			  "wants %s, which this one does not have."),
			label(j, x), fact_value(&p->torch.version, "?"), x->missing.values[0]);
		finding_fact(j, f, "extension.path", &x->path, NULL);
		for (k = 0; k < x->missing.n && k < 3; k++)
			finding_evidence(j, f, "extension.missing", x->missing.values[k],
					 _("defined by torch"), x->missing.source);
		finding_fact(j, f, "torch.version", &p->torch.version, NULL);
		rebuild(j, f, p, x);
	}
}

static void run_abi(struct judge *j)
{
	each(j, abi_in);
}

/* -------- extension-built-without-cuda */

/* Add-ons whose very purpose is CUDA code, or whose CUDA half is a part of every CUDA build. */
static bool has_cuda_half(const char *package)
{
	static const char *const names[] = {
		"bitsandbytes", "xformers", "detectron2", "mmcv", "mmcv-full", "torch-scatter",
		"torch-sparse", "torch-cluster", "torch-spline-conv", "pytorch3d", "flash-attn",
		"vllm", "causal-conv1d", "mamba-ssm", "apex", "auto-gptq", "natten", "gsplat",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], package) == 0)
			return true;
	return false;
}

static bool any_cuda(const struct python *p, const struct extension *x)
{
	size_t i;

	for (i = 0; i < p->n_extensions; i++)
		if (same_package(&p->extensions[i], x) &&
		    p->extensions[i].cuda.state != FACT_ABSENT)
			return true;
	return false;
}

static void cpu_sister(struct judge *j, const struct python *p, const char *name,
		       const struct fact *v)
{
	struct finding *f;

	if (!fact_known(v) || !view_ends(view_of(v->value), "+cpu"))
		return;
	f = finding_add(j, FINDING_EXTENSION_BUILT_WITHOUT_CUDA, look_prefix(p));
	f->severity = SEVERITY_WARNING;
	finding_message(j, f, _("%s %s is a CPU build beside a torch with CUDA (%s)."), name,
			v->value, p->torch.version.value);
	finding_fact(j, f, arena_printf(j->a, "torch.%s", name), v, NULL);
	finding_fact(j, f, "torch.version", &p->torch.version, NULL);
	remedy_torch(j, f, p);
}

static struct finding *no_cuda_code(struct judge *j, const struct python *p,
				    const struct extension *x, const char *seen)
{
	struct finding *f = finding_add(j, FINDING_EXTENSION_BUILT_WITHOUT_CUDA, look_prefix(p));

	f->severity = SEVERITY_WARNING;
	finding_message(
		j, f,
		_("%s holds no CUDA code: it was installed or compiled without its GPU part."),
		label(j, x));
	finding_fact(j, f, "extension.path", &x->path, NULL);
	finding_evidence(j, f, "extension.cuda", seen, _("a library with CUDA code"),
			 x->path.value);
	return f;
}

static void without_cuda_in(struct judge *j, const struct python *p)
{
	const struct extension *x;
	struct finding *f;
	size_t i;

	if (!look_torch_cuda(j, &p->torch))
		return;
	cpu_sister(j, p, "torchvision", &p->torch.torchvision);
	cpu_sister(j, p, "torchaudio", &p->torch.torchaudio);
	for (i = 0; i < p->n_extensions; i++) {
		x = &p->extensions[i];
		if (!is_first(p, i) || !has_cuda_half(x->package.value) || any_cuda(p, x))
			continue;
		f = no_cuda_code(j, p, x, x->variants.n ? x->variants.values[0] : _("none"));
		finding_fact(j, f, "torch.version", &p->torch.version, NULL);
		if (strcmp(x->package.value, "bitsandbytes") == 0) {
			struct remedy *r = finding_remedy(
				j, f, "%s",
				_("Install the published wheel, which brings its CUDA libraries."));

			remedy_command(j, r,
				       "%s install --force-reinstall --no-deps --only-binary :all: "
				       "bitsandbytes",
				       remedy_pip(j, p));
		} else {
			rebuild(j, f, p, x);
		}
	}
}

/* PyPI's llama-cpp-python is compiled at installation, for the CPU if nothing else is said. Who has
 * the CPU build of torch beside it wants it so. */
static void llama_without_gpu(struct judge *j)
{
	const struct python *p = look_deciding(j->s);
	const struct extension *x;
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!p || !look_has_nvidia(j->s) ||
	    (fact_known(&p->torch.version) && !look_torch_cuda(j, &p->torch)))
		return;
	for (i = 0; i < p->n_extensions; i++) {
		x = &p->extensions[i];
		if (!fact_is(&x->package, "llama-cpp-python") || x->cuda.state != FACT_ABSENT)
			continue;
		f = no_cuda_code(j, p, x, _("none"));
		r = finding_remedy(
			j, f, "%s",
			_("Build llama-cpp-python with CUDA; that needs a toolkit with nvcc. Its notes "
			  "name ready-made CUDA wheels as well."));
		remedy_command(j, r,
			       "CMAKE_ARGS=\"-DGGML_CUDA=on\" %s install --force-reinstall "
			       "--no-cache-dir llama-cpp-python",
			       remedy_pip(j, p));
		return;
	}
}

static void run_without_cuda(struct judge *j)
{
	each(j, without_cuda_in);
	llama_without_gpu(j);
}

/* -------- extension-no-build-for-cuda */

/* libbitsandbytes_cuda124.so for torch's CUDA 12.4; releases before 0.36 add _nocublaslt. */
static bool has_variant(const struct extension *x, const char *digits)
{
	size_t i, n = strlen(digits);

	for (i = 0; i < x->variants.n; i++) {
		const char *at = strstr(x->variants.values[i], "_cuda");

		if (at && strncmp(at + 5, digits, n) == 0 && (at[5 + n] == '.' || at[5 + n] == '_'))
			return true;
	}
	return false;
}

static void no_build_in(struct judge *j, const struct python *p)
{
	const char *cuda = look_torch_cuda(j, &p->torch), *digits;
	const struct extension *x;
	struct finding *f;
	struct remedy *r;
	struct version v;
	struct strbuf b;
	size_t i, k;

	if (!cuda || !version_prefix(view_of(cuda), &v) || v.n < 2 ||
	    snapshot_env(j->s, "BNB_CUDA_VERSION"))
		return;
	digits = arena_printf(j->a, "%u%u", v.part[0], v.part[1]);
	for (i = 0; i < p->n_extensions; i++) {
		x = &p->extensions[i];
		if (!x->variants.n || x->cuda.state == FACT_ABSENT || has_variant(x, digits))
			continue;
		f = finding_add(j, FINDING_EXTENSION_NO_BUILD_FOR_CUDA, look_prefix(p));
		f->severity = SEVERITY_WARNING;
		strbuf_init(&b, j->a);
		for (k = 0; k < x->variants.n; k++) {
			strbuf_sep(&b, " ");
			strbuf_add(&b, x->variants.values[k]);
		}
		finding_message(
			j, f,
			_("%s has one library a CUDA version, and none for the CUDA %s of this "
			  "torch."),
			label(j, x), cuda);
		finding_evidence(j, f, "extension.variants", b.s,
				 arena_printf(j->a, "libbitsandbytes_cuda%s.so", digits),
				 x->path.value);
		finding_fact(j, f, "torch.version", &p->torch.version, NULL);
		/* Releases differ in what they fall back to. */
		finding_inferred(f);
		r = finding_remedy(j, f, _("Install a release of %s that knows CUDA %s."),
				   x->package.value, cuda);
		remedy_command(j, r, "%s install --upgrade %s", remedy_pip(j, p),
			       shell_word(j->a, x->package.value));
	}
}

static void run_no_build(struct judge *j)
{
	each(j, no_build_in);
}

/* -------- extension-missing-gpu-arch */

/* Libraries of one architecture alone (sm_90a) stand beside others that are taken elsewhere. */
static bool is_general(const struct extension *x)
{
	size_t i;

	for (i = 0; i < x->targets.n; i++) {
		const char *s = x->targets.values[i];
		size_t n = strlen(s);

		if (n && s[n - 1] != 'a' && s[n - 1] != 'f')
			return true;
	}
	return false;
}

/* Has a file of the package code for the GPU?  *ret_known: is anything known of its code. */
static bool serves(const struct python *p, const struct extension *x, int cc, bool *ret_known)
{
	const char *entry;
	size_t i;

	*ret_known = false;
	for (i = 0; i < p->n_extensions; i++) {
		const struct extension *y = &p->extensions[i];

		if (!same_package(y, x))
			continue;
		if (y->targets.state == FACT_BROKEN)
			return true;
		if (!y->targets.n)
			continue;
		if (compat_arch_fit(y->targets.values, y->targets.n, cc, &entry) != ARCH_FIT_NONE)
			return true;
		*ret_known |= is_general(y);
	}
	return false;
}

/* Where torch itself has no code for the GPU, that is the finding. */
static bool torch_serves(struct judge *j, const struct python *p, int cc)
{
	struct look_archs archs;
	const char *entry;

	return !fact_known(&p->torch.version) || !look_torch_archs(j, &p->torch, &archs) ||
	       compat_arch_fit(archs.list, archs.n, cc, &entry) != ARCH_FIT_NONE;
}

/* Lowest capability that the package can be compiled for, by the table: flash-attn starts at 8.0.
 */
static int least_cc(struct judge *j, const char *package)
{
	size_t i = compat_find(j->c, "addon", 0, "package", package);
	const char *text =
		i < compat_count(j->c, "addon") ? compat_text(j->c, "addon", i, "cc_min") : NULL;
	struct version v;

	return text && version_prefix(view_of(text), &v) && v.n == 2
		       ? (int)(v.part[0] * 10 + v.part[1])
		       : 0;
}

/* No build of it can help: the functions need a later GPU. */
static void feature(struct judge *j, const struct python *p, const struct extension *x, size_t gpu,
		    int least)
{
	struct finding *f = finding_add(j, FINDING_GPU_FEATURE_UNSUPPORTED, look_prefix(p));

	f->severity = SEVERITY_WARNING;
	finding_message(j, f, _("%s needs compute capability %s, and %s has %s."), label(j, x),
			cc_text(j->a, least), gpu_subject(j, gpu),
			cc_text(j->a, look_cc(&j->s->gpus[gpu])));
	finding_fact(j, f, "extension.path", &x->path, NULL);
	finding_fact(j, f, "gpu.compute_capability", &j->s->gpus[gpu].compute_capability,
		     arena_printf(j->a, ">= %s", cc_text(j->a, least)));
	finding_evidence(j, f, "matrix addon", cc_text(j->a, least), NULL, "matrix addon");
	finding_remedy(j, f, _("Do without %s on this GPU: torch's own attention works there."),
		       x->package.value);
}

static void arch_on(struct judge *j, const struct python *p, const struct extension *x, size_t gpu)
{
	int cc = look_cc(&j->s->gpus[gpu]);
	struct finding *f;
	struct strbuf b;
	bool known;
	size_t i;

	if (cc <= 0 || !look_gpu_used(j->s, gpu) || serves(p, x, cc, &known) || !known ||
	    !torch_serves(j, p, cc))
		return;
	if (strcmp(x->package.value, "flash-attn") == 0 && cc < least_cc(j, x->package.value)) {
		feature(j, p, x, gpu, least_cc(j, x->package.value));
		return;
	}
	f = finding_add(j, FINDING_EXTENSION_MISSING_GPU_ARCH, look_prefix(p));
	f->severity = SEVERITY_WARNING;
	strbuf_init(&b, j->a);
	for (i = 0; i < x->targets.n; i++) {
		strbuf_sep(&b, " ");
		strbuf_add(&b, x->targets.values[i]);
	}
	finding_message(j, f,
			_("%s holds code for %s, and %s has compute capability %s: its functions "
			  "fail there."),
			label(j, x), b.n ? b.s : "?", gpu_subject(j, gpu), cc_text(j->a, cc));
	finding_fact(j, f, "extension.path", &x->path, NULL);
	finding_evidence(j, f, "extension.targets", b.s,
			 arena_printf(j->a, _("code for %s"), cc_text(j->a, cc)),
			 x->targets.source);
	finding_fact(j, f, "gpu.compute_capability", &j->s->gpus[gpu].compute_capability, NULL);
	if (strcmp(x->package.value, "onnxruntime-gpu") == 0) {
		finding_remedy(j, f, "%s",
			       _("Install a release of onnxruntime-gpu that knows this GPU."));
		return;
	}
	finding_remedy(j, f,
		       _("Install a release of %s that knows this GPU, or compile it here with "
			 "TORCH_CUDA_ARCH_LIST=%s."),
		       x->package.value, cc_text(j->a, cc));
}

static void arch_in(struct judge *j, const struct python *p)
{
	size_t i, k, n;

	for (i = 0; i < p->n_extensions; i++) {
		if (!p->extensions[i].targets.n)
			continue;
		for (k = 0; k < i; k++)
			if (p->extensions[k].targets.n &&
			    same_package(&p->extensions[k], &p->extensions[i]))
				break;
		if (k < i)
			continue;
		n = j->n_findings;
		/* One GPU shows it; the others are not named again. */
		for (k = 0; k < j->s->n_gpus && n == j->n_findings; k++)
			arch_on(j, p, &p->extensions[i], k);
	}
}

static void run_arch(struct judge *j)
{
	each(j, arch_in);
}

const struct rule rule_abi_mismatch_extension = {
	.name = "abi-mismatch-extension",
	.needs = NEED_PYTHON,
	.layer = LAYER_FRAMEWORK,
	.run = run_abi,
};
const struct rule rule_extension_built_without_cuda = {
	.name = "extension-built-without-cuda",
	.needs = NEED_PYTHON,
	.layer = LAYER_FRAMEWORK,
	.run = run_without_cuda,
};
const struct rule rule_extension_no_build_for_cuda = {
	.name = "extension-no-build-for-cuda",
	.needs = NEED_PYTHON,
	.layer = LAYER_FRAMEWORK,
	.run = run_no_build,
};
const struct rule rule_extension_missing_gpu_arch = {
	.name = "extension-missing-gpu-arch",
	.needs = NEED_PYTHON | NEED_GPU,
	.layer = LAYER_FRAMEWORK,
	.run = run_arch,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* What the resolver knows of a site: Python, C library, platform, markers, indexes. */
#include "project/resolve.h"

#include <string.h>

#include "base/arena.h"

bool package_matters(const char *name)
{
	static const char *const names[] = {
		"torch",	"torchvision",	   "torchaudio",     "xformers", "vllm",
		"flash-attn",	"bitsandbytes",	   "tensorflow",     "tensorflow-gpu",
		"tensorflow-cpu", "jax",	   "jaxlib",	     "onnxruntime",
		"onnxruntime-gpu", "triton",	   "deepspeed",	     "cupy",
		"tf-nightly",	"apex",		   "mmcv",	     "mmcv-full",
		"llama-cpp-python", "auto-gptq",   "pytorch3d",	     "tiny-cuda-nn",
		"tinycudann",	"detectron2",	   "pycuda",	     "causal-conv1d",
		"mamba-ssm",	"sageattention",   "flashinfer-python", "ctranslate2",
		"faster-whisper", "gsplat",	   "torch-scatter",  "torch-sparse",
		"torch-cluster", "torch-spline-conv", "pyg-lib",     "nvidia-tensorrt",
		"tensorrt",	"numpy",	   "nvdiffrast",     "simple-knn",
		"diff-gaussian-rasterization",	   "minkowskiengine", "torchsparse",
		"grouped-gemm",	"natten",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return strncmp(name, "nvidia-", 7) == 0 || strncmp(name, "jax-cuda", 8) == 0 ||
	       strncmp(name, "cupy", 4) == 0;
}

const char *source_at(struct site *t, const struct place *p)
{
	return place_text(t->r->a, p);
}

bool spec_holds(struct site *t, const char *spec, const char *version)
{
	struct pep440_spec s;
	struct pep440 v;
	const char *what;
	size_t at;

	return pep440_spec_parse(t->r->a, view_of(spec), &s, &at, &what) &&
	       pep440_parse(view_of(version), &v) && pep440_spec_holds(&s, &v, view_of(version));
}

static bool marker_holds(struct site *t, const struct want *w, const char *marker)
{
	struct marker_env env = t->env;
	const char *what;
	bool holds;
	size_t at;

	env.extra = w->extra;
	return !marker_eval(t->r->a, view_of(marker), &env, &holds, &at, &what) || holds;
}

bool want_holds(struct site *t, const struct want *w)
{
	size_t i;

	for (i = 0; i < w->n_unless; i++)
		if (marker_holds(t, w, w->unless[i]))
			return false;
	for (i = 0; i < w->n_only; i++)
		if (marker_holds(t, w, w->only[i]))
			break;
	if (w->n_only && i == w->n_only)
		return false;
	return !w->marker || marker_holds(t, w, w->marker);
}

const char *want_exact(struct site *t, const struct want *w)
{
	struct pep440_spec s;
	const char *what;
	size_t at, i;

	if (!w->spec || !pep440_spec_parse(t->r->a, view_of(w->spec), &s, &at, &what))
		return NULL;
	for (i = 0; i < s.n; i++)
		if ((s.clauses[i].op == PEP440_EQ && !s.clauses[i].wild) ||
		    s.clauses[i].op == PEP440_ARBITRARY)
			return view_dup(t->r->a, s.clauses[i].raw);
	return NULL;
}

struct wanted *emit(struct site *t, const struct step *s, const struct want *w)
{
	struct planned *out = t->out;
	const char *at = source_at(t, &w->at);
	struct wanted *o = NULL;
	size_t i;

	/* A later step puts its own in place of an earlier one's. */
	for (i = 0; i < out->n_packages; i++)
		if (fact_is(&out->packages[i].name, w->name))
			o = &out->packages[i];
	if (!o)
		o = ARENA_APPEND(t->r->a, out->packages, out->n_packages);
	*o = (struct wanted){ 0 };
	fact_set(&o->name, w->name, at);
	fact_set(&o->text, w->text ? w->text : w->name, at);
	fact_set(&o->tool, tool_name(s->tool), source_at(t, &s->at));
	fact_flag(&o->pinned, want_exact(t, w) != NULL, at);
	if (w->extras)
		fact_set(&o->extras, w->extras, at);
	if (s->elsewhere)
		fact_flag(&o->elsewhere, true, at);
	if (w->no_isolation)
		fact_flag(&o->no_isolation, true, at);
	return o;
}

static bool same_python(const char *a, const char *b)
{
	size_t n = strlen(b);

	return strncmp(a, b, n) == 0 && (a[n] == '\0' || a[n] == '.');
}

bool python_in(const struct site *t, const char *const *list)
{
	size_t i;

	if (!t->python && !t->n_allowed)
		return true;
	for (; *list; list++) {
		if (t->python && same_python(t->python, *list))
			return true;
		for (i = 0; !t->python && i < t->n_allowed; i++)
			if (strcmp(t->allowed[i], *list) == 0)
				return true;
	}
	return false;
}

/* -------- indexes */

static void add_source(struct sources *s, const struct index *i)
{
	if (s->n < ARRAY_LEN(s->v))
		s->v[s->n++] = *i;
	s->unknown |= i->kind == INDEX_NIGHTLY;
}

/* An index that no table knows: it may hold PyTorch when its name says so, or when it is the only
 * one. */
static bool may_hold_torch(const struct index *i)
{
	return i->kind == INDEX_OTHER &&
	       (i->main || i->only_named || strstr(i->url, "torch") || strstr(i->url, "jetson") ||
		strstr(i->url, "vllm"));
}

static const struct index pypi = { .kind = INDEX_PYPI,
				   .url = "https://pypi.org/simple",
				   .main = true };

static bool family(const char *name)
{
	return strcmp(name, "torch") == 0 || strcmp(name, "torchvision") == 0 ||
	       strcmp(name, "torchaudio") == 0 || strcmp(name, "xformers") == 0;
}

static bool named_source(const struct step *s, const struct want *w, struct sources *ret)
{
	size_t i;

	if (!w->index)
		return false;
	for (i = 0; i < s->n_indexes; i++)
		if (s->indexes[i].name && strcmp(s->indexes[i].name, w->index) == 0) {
			add_source(ret, &s->indexes[i]);
			ret->unknown |= may_hold_torch(&s->indexes[i]);
			return true;
		}
	add_source(ret, &pypi);
	return true;
}

static bool backend_source(struct site *t, const struct step *s, const struct want *w,
			   struct sources *ret)
{
	struct index i = { .kind = INDEX_TORCH, .at = s->backend_at };
	const char *b = s->backend;

	if (!b || !family(w->name))
		return false;
	if (strcmp(b, "auto") == 0) {
		/* Where it is built no driver is seen, and then uv takes the CPU's. */
		if (!s->built) {
			ret->unknown = true;
			return true;
		}
		b = "cpu";
	}
	i.variant = b;
	i.url = arena_printf(t->r->a, "https://download.pytorch.org/whl/%s", b);
	add_source(ret, &i);
	return true;
}

/*
 * A page of links given as an index: pip asks for the name below it, and there is nothing. poetry
 * and uv's flat indexes read such a page. Without a label what a main one would give is left open.
 */
static bool dead_index(const struct step *s, const struct index *i, const struct want *w)
{
	static const char page[] = "/torch_stable.html";
	size_t n = strlen(i->url), len = sizeof(page) - 1;

	return (s->tool == BY_PIP || s->tool == BY_UV_PIP) && !i->links && n > len &&
	       strcmp(i->url + n - len, page) == 0 &&
	       (!i->main || (w->spec && strchr(w->spec, '+')));
}

void sources_of(struct site *t, const struct step *s, const struct want *w, struct sources *ret)
{
	bool uv = s->tool == BY_UV || s->tool == BY_UV_PIP, main = false;
	size_t i;

	*ret = (struct sources){ .ordered = uv && !s->best_match };
	if (named_source(s, w, ret) || backend_source(t, s, w, ret))
		return;
	for (i = 0; i < s->n_indexes; i++)
		main |= s->indexes[i].main && !s->indexes[i].only_named;
	for (i = 0; i < s->n_indexes; i++) {
		const struct index *x = &s->indexes[i];

		if (x->only_named || x->main || x->fallback || (s->no_index && !x->links) ||
		    dead_index(s, x, w))
			continue;
		if (may_hold_torch(x))
			ret->unknown = true;
		else if (x->kind != INDEX_OTHER)
			add_source(ret, x);
	}
	for (i = 0; i < s->n_indexes && !s->no_index; i++) {
		const struct index *x = &s->indexes[i];

		if (!x->main || x->only_named || dead_index(s, x, w))
			continue;
		ret->unknown |= may_hold_torch(x);
		add_source(ret, x);
	}
	if (!main && !s->no_index)
		add_source(ret, &pypi);
	if (s->no_index && !ret->n)
		ret->unknown = true;
}

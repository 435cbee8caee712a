/* SPDX-License-Identifier: Apache-2.0 */
/* What conda or pixi would take for PyTorch: channel, release, build; by table. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "project/resolve.h"

struct conda {
	struct site *t;
	const struct step *s;
	const struct want *torch, *cuda, *cpuonly, *gpu, *toolkit, *version;
	bool pytorch_channel, forge, nvidia, defaults;
	size_t pytorch_at, forge_at, defaults_at;
	const struct want *asked; /* the package that the question is about; never NULL once set */
};

static const char *channel_name(const char *c)
{
	const char *slash = strrchr(c, '/');

	return slash && strstr(c, "://") ? slash + 1 : c;
}

static void channels(struct conda *x)
{
	size_t i;

	for (i = 0; i < x->s->n_channels; i++) {
		const char *c = channel_name(x->s->channels[i]);

		if (strcmp(c, "pytorch") == 0 && !x->pytorch_channel) {
			x->pytorch_channel = true;
			x->pytorch_at = i;
		} else if (strcmp(c, "conda-forge") == 0 && !x->forge) {
			x->forge = true;
			x->forge_at = i;
		} else if (strncmp(c, "nvidia", 6) == 0) {
			x->nvidia = true;
		} else if ((strcmp(c, "defaults") == 0 || strcmp(c, "main") == 0) && !x->defaults) {
			x->defaults = true;
			x->defaults_at = i;
		}
	}
	if (x->s->n_channels || x->s->tool != BY_CONDA)
		return;
	/* miniforge and its kin know one channel from the start. */
	x->forge = strstr(x->t->image.repo ? x->t->image.repo : "", "forge") != NULL;
	x->defaults = !x->forge;
}

static void packages(struct conda *x)
{
	size_t i;

	for (i = 0; i < x->s->n_wants; i++) {
		const struct want *w = &x->s->wants[i];

		if (strcmp(w->name, "pytorch") == 0 &&
		    (!x->torch || (w->locked && !x->torch->locked)))
			x->torch = w;
		else if (strcmp(w->name, "pytorch-cuda") == 0)
			x->cuda = w;
		else if (strcmp(w->name, "cpuonly") == 0 || strcmp(w->name, "pytorch-cpu") == 0)
			x->cpuonly = w;
		else if (strcmp(w->name, "pytorch-gpu") == 0)
			x->gpu = w;
		else if (strcmp(w->name, "cudatoolkit") == 0)
			x->toolkit = w;
		else if (strcmp(w->name, "cuda-version") == 0)
			x->version = w;
	}
}

/* Has the row a build for a CUDA of this spec (NULL and "": any)? */
static bool row_builds(struct conda *x, const struct json *row, const char *cuda)
{
	const struct json *v;

	if (!cuda || !*cuda)
		return true;
	for (v = json_first(json_get(row, "cuda_builds")); v; v = json_next(v))
		if (json_str(v) && spec_holds(x->t, cuda, json_str(v)))
			return true;
	return false;
}

/*
 * Row of the table for the newest release that the spec allows, and that has a build for this CUDA
 * (a spec too; NULL: any).
 */
static const struct json *newest_row(struct conda *x, const char *channel, const char *spec,
				     const char *cuda, const char **ret_version)
{
	struct compat *c = x->t->r->c;
	const char *platform = x->t->windows   ? "win-64"
			       : x->t->aarch64 ? "linux-aarch64"
					       : "linux-64";
	const struct json *best = NULL;
	const char *best_version = NULL;
	size_t i, n = compat_count(c, "torch_conda");

	for (i = compat_find(c, "torch_conda", 0, "channel", channel); i < n;
	     i = compat_find(c, "torch_conda", i + 1, "channel", channel)) {
		const struct json *row = compat_row(c, "torch_conda", i);
		const char *ends[2] = { json_get_str(row, "to"), json_get_str(row, "version") };
		const char *p = json_get_str(row, "platform");
		size_t k;

		if (!p || (strcmp(p, platform) != 0 && strcmp(p, "any") != 0) ||
		    !row_builds(x, row, cuda))
			continue;
		for (k = 0; k < 2; k++) {
			if (!ends[k] || !spec_holds(x->t, spec, ends[k]))
				continue;
			if (!best_version || version_cmp_str(ends[k], best_version) > 0) {
				best = row;
				best_version = ends[k];
			}
			break;
		}
		/* A release inside a range. */
		if (ends[0] && ends[1] && x->torch && want_exact(x->t, x->torch)) {
			const char *exact = want_exact(x->t, x->torch);

			if (version_at_least(exact, ends[1]) && version_at_least(ends[0], exact) &&
			    spec_holds(x->t, spec, exact)) {
				best = row;
				best_version = exact;
			}
		}
	}
	*ret_version = best_version;
	return best;
}

/* "cuda126", "py3.10_cuda12.1_cudnn8.9.2_0", "cpu_generic..." in a build string. */
static const char *build_cuda(struct conda *x, const char *build, bool *ret_cpu)
{
	const char *p = build ? strstr(build, "cuda") : NULL;
	size_t n;

	*ret_cpu = build && strstr(build, "cpu") != NULL;
	if (!p)
		return NULL;
	p += 4;
	n = strspn(p, "0123456789.");
	if (!n)
		return NULL;
	if (memchr(p, '.', n))
		return arena_strndup(x->t->r->a, p, n);
	return n >= 3 ? arena_printf(x->t->r->a, "%.*s.%c", (int)n - 1, p, p[n - 1]) : NULL;
}

/* Highest of the row's builds that the spec (of pytorch-cuda or cuda-version) and the driver allow.
 */
static const char *choose_cuda(struct conda *x, const struct json *row, const char *spec,
			       const char *ceiling)
{
	const struct json *v;
	const char *best = NULL;

	for (v = json_first(json_get(row, "cuda_builds")); v; v = json_next(v)) {
		const char *cuda = json_str(v);

		if (!cuda || (spec && *spec && !spec_holds(x->t, spec, cuda)) ||
		    (ceiling && !version_at_least(ceiling, cuda)))
			continue;
		if (!best || version_cmp_str(cuda, best) > 0)
			best = cuda;
	}
	return best;
}

/* "==2.0.1" and conda's "=2.0.1", which is "==2.0.1.*". */
static bool names_release(const char *spec, const char *version)
{
	size_t n = strlen(version);

	return spec && strncmp(spec, "==", 2) == 0 && strncmp(spec + 2, version, n) == 0 &&
	       (!spec[2 + n] || strcmp(spec + 2 + n, ".*") == 0);
}

static void put(struct conda *x, struct wanted *o, const char *version, const char *cuda,
		const char *channel, const struct want *at)
{
	const char *src = source_at(x->t, &at->at);

	if (version)
		fact_set(&o->version, version, src);
	fact_set(&o->channel, channel, src);
	if (cuda)
		fact_set(&o->cuda, cuda, src);
	fact_set(&o->variant, cuda ? "cuda" : "cpu", src);
	x->t->torch = (struct got){ .set = true, .conda = true, .version = version, .cuda = cuda,
				    .variant = cuda ? "cuda" : "cpu", .at = at->at };
	/* pip sees what conda installed; of a range it is not certain which release that is. */
	if (!version || !x->torch || !names_release(x->torch->spec, version))
		return;
	x->t->torch.known = true;
	if (cuda)
		x->t->torch.variant = arena_printf(x->t->r->a, "cu%.*s%s", (int)strcspn(cuda, "."),
						   cuda, cuda + strcspn(cuda, ".") + 1);
}

static void official(struct conda *x, struct wanted *o)
{
	const struct want *w = x->asked;
	const char *version, *spec = x->torch && x->torch->spec ? x->torch->spec : "", *cuda;
	const struct json *row = newest_row(x, "pytorch", spec, NULL, &version);
	bool cpu, selects;

	cuda = build_cuda(x, x->torch ? x->torch->build : NULL, &cpu);
	if (!row) {
		/* Newer than the channel's end, or a release that it never held. */
		fact_set(&o->fault, "channel", source_at(x->t, &w->at));
		fact_set(&o->channel, "pytorch", source_at(x->t, &w->at));
		fact_set(&o->version, x->torch ? want_exact(x->t, x->torch) : NULL,
			 source_at(x->t, &w->at));
		return;
	}
	if (x->cpuonly) {
		put(x, o, version, NULL, "pytorch", x->cpuonly);
		return;
	}
	if (cpu || cuda) {
		put(x, o, version, cuda, "pytorch", w);
		return;
	}
	if (x->cuda && x->cuda->spec && *x->cuda->spec) {
		cuda = choose_cuda(x, row, x->cuda->spec, NULL);
		put(x, o, version, cuda, "pytorch", x->cuda);
		if (!cuda) {
			fact_set(&o->fault, "channel", source_at(x->t, &x->cuda->at));
			fact_set(&o->clash, x->cuda->text, source_at(x->t, &x->cuda->at));
			o->variant = (struct fact){ 0 };
		}
		return;
	}
	selects = version_at_least(version, "1.13");
	if (!selects) {
		cuda = x->toolkit ? choose_cuda(x, row, x->toolkit->spec, NULL)
				  : choose_cuda(x, row, NULL, NULL);
		put(x, o, version, cuda, "pytorch", x->toolkit ? x->toolkit : w);
		/* No build for that toolkit: what can be solved is the CPU's. */
		if (!cuda && x->toolkit)
			fact_set(&o->fault, "toolkit", source_at(x->t, &x->toolkit->at));
		return;
	}
	/* From 1.13 on pytorch-cuda chooses the build, and its parts lie in the nvidia channel. */
	if (!x->nvidia && !x->cuda) {
		put(x, o, version, NULL, "pytorch", x->toolkit ? x->toolkit : w);
		fact_set(&o->fault, "cpu-solve", source_at(x->t, &w->at));
		return;
	}
	put(x, o, version, choose_cuda(x, row, NULL, NULL), "pytorch", w);
}

/* conda-forge: the build of the highest CUDA that __cuda allows; without __cuda the CPU's. */
static void forge(struct conda *x, struct wanted *o)
{
	const struct want *w = x->torch || x->gpu || !x->cpuonly ? x->asked : x->cpuonly;
	const char *version, *cuda, *ceiling = NULL, *spec = w->spec ? w->spec : "";
	const struct json *row = newest_row(x, "conda-forge", spec,
					    x->version ? x->version->spec : NULL, &version);
	const struct setting *over = project_env(x->t->p, "CONDA_OVERRIDE_CUDA");
	bool cpu, seen;

	fact_set(&o->channel, "conda-forge", source_at(x->t, &w->at));
	cuda = build_cuda(x, w->build, &cpu);
	if (x->cpuonly || (cpu && !cuda)) {
		put(x, o, version ? version : want_exact(x->t, w), NULL, "conda-forge",
		    x->cpuonly ? x->cpuonly : w);
		return;
	}
	if (cuda && w->locked) {
		put(x, o, want_exact(x->t, w), cuda, "conda-forge", w);
		return;
	}
	/* The solver goes back to a release for that CUDA; when there is none, it fails. */
	if (!row && x->version)
		row = newest_row(x, "conda-forge", spec, NULL, &version);
	if (!row)
		return;
	if (x->s->tool == BY_PIXI) {
		seen = x->s->cuda && *x->s->cuda;
		ceiling = seen ? x->s->cuda : NULL;
		if (seen)
			fact_set(&o->system_cuda, x->s->cuda, source_at(x->t, &x->s->cuda_at));
	} else if (over && *over->value) {
		seen = true;
		ceiling = over->value;
	} else {
		seen = !x->s->built;
		ceiling =
			seen && x->t->driver ? compat_driver_cuda(x->t->r->c, x->t->driver) : NULL;
	}
	if (!seen) {
		put(x, o, version, NULL, "conda-forge", w);
		fact_set(&o->fault, "cpu-solve", source_at(x->t, &w->at));
		return;
	}
	/* A build for any CUDA of the driver's major starts. */
	if (ceiling)
		ceiling = arena_printf(x->t->r->a, "%.*s.99", (int)strcspn(ceiling, "."), ceiling);
	cuda = choose_cuda(x, row, x->version ? x->version->spec : NULL, ceiling);
	put(x, o, version, cuda, "conda-forge", w);
	if (!cuda)
		fact_set(&o->fault, x->version ? "channel" : "cpu-solve",
			 source_at(x->t, x->version ? &x->version->at : &w->at));
}

/* python=3.11 and python==3.11.9: what pip's part of the environment has. */
static void conda_python(struct site *t, const struct want *w)
{
	const char *spec = w->spec ? w->spec : "";
	struct version v;

	/* It is the one that pip finds afterwards, whatever the image had; a declared one holds. */
	if ((fact_known(&t->out->python) && strcmp(t->out->python.source, "assumed") == 0) ||
	    strncmp(spec, "==", 2) != 0 || !version_prefix(view_of(spec + 2), &v) || v.n < 2)
		return;
	t->python = arena_printf(t->r->a, "%u.%u", v.part[0], v.part[1]);
	t->env.python = t->env.python_full = t->python;
	fact_set(&t->out->python, t->python, source_at(t, &w->at));
}

/*
 * Anaconda's own channel comes first, and no table knows its builds. Only what it does not have
 * (pytorch-cuda), or a build that is written out, says that it is not meant.
 */
static bool from_defaults(const struct conda *x)
{
	return x->defaults && x->s->n_channels && !x->cuda && !x->cpuonly &&
	       !(x->torch && x->torch->build) &&
	       (!x->pytorch_channel || x->defaults_at < x->pytorch_at) &&
	       (!x->forge || x->defaults_at < x->forge_at);
}

static void doubt_defaults(struct conda *x)
{
	site_doubt(x->t, _("it comes from Anaconda's own channel, whose builds no table knows"),
		   &x->asked->at);
}

void resolve_conda(struct site *t, const struct step *s)
{
	struct conda x = { .t = t, .s = s };
	const struct want *w;
	struct want torch;
	struct wanted *o;
	size_t i;

	channels(&x);
	packages(&x);
	for (i = 0; i < s->n_wants; i++)
		if (strcmp(s->wants[i].name, "python") == 0)
			conda_python(t, &s->wants[i]);
	w = x.torch ? x.torch : x.gpu ? x.gpu : x.cuda;
	if (!w)
		return;
	x.asked = w;
	torch = *w;
	torch.name = "torch";
	o = emit(t, s, &torch);
	t->torch = (struct got){ .set = true, .conda = true, .at = w->at };
	if (w->channel) {
		if (strcmp(w->channel, "conda-forge") == 0)
			forge(&x, o);
		else if (strcmp(w->channel, "pytorch") == 0)
			official(&x, o);
		return;
	}
	if (from_defaults(&x)) {
		doubt_defaults(&x);
		return;
	}
	if (x.pytorch_channel && (!x.forge || x.pytorch_at < x.forge_at)) {
		/* What the first channel does not hold comes from the next, where the order is
		 * free. */
		official(&x, o);
		if (fact_is(&o->fault, "channel") && x.forge && !fact_known(&o->clash) && !x.cuda) {
			o = emit(t, s, &torch);
			forge(&x, o);
		}
	} else if (x.forge ? !x.cuda : s->tool == BY_PIXI && !s->n_channels) {
		forge(&x, o);
	} else if (x.forge) {
		/* pytorch-cuda is a package of the pytorch channel. */
		if (x.pytorch_channel)
			official(&x, o);
		else {
			fact_set(&o->fault, "channel", source_at(t, &x.cuda->at));
			fact_set(&o->clash, x.cuda->text, source_at(t, &x.cuda->at));
		}
	} else if (x.defaults) {
		doubt_defaults(&x);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Says in one line each, with the two values that clash, why a build was refused. Judges nothing.
 */
#include <string.h>

#include "base/arena.h"
#include "plan/solve.h"

/* "75 80 86 90" of an arch list; PTX as "ptx 120". */
static const char *targets(const struct solver *s, const struct arch *archs, size_t n)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, s->a);
	for (i = 0; i < n; i++) {
		strbuf_sep(&b, " ");
		strbuf_printf(&b, "%s%d", archs[i].kind == ARCH_PTX ? "ptx " : "", archs[i].cc);
		if (archs[i].suffix)
			strbuf_addc(&b, archs[i].suffix);
	}
	return b.s;
}

static bool newer_than_all(const struct arch *archs, size_t n, int cc)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (archs[i].cc >= cc)
			return false;
	return true;
}

static struct plan_reason no_code(const struct solver *s, const struct arch *archs, size_t n,
				  int cc)
{
	return (struct plan_reason){
		.id = newer_than_all(archs, n, cc) ? FINDING_GPU_TOO_NEW_FOR_BUILD
						   : FINDING_GPU_TOO_OLD_FOR_BUILD,
		.text = arena_printf(s->a, _("no sm_%d in %s"), cc, targets(s, archs, n)),
	};
}

static const char *pythons(const struct solver *s, const struct build *b)
{
	struct strbuf out;
	size_t i;

	strbuf_init(&out, s->a);
	for (i = 0; i < b->row->n_python; i++) {
		strbuf_sep(&out, " ");
		strbuf_add(&out, b->row->python[i]);
	}
	return out.s;
}

static struct plan_reason about_limit(const struct solver *s, const struct build *b, size_t arg)
{
	const struct limit *l = &s->w->limits[arg];
	const struct product *p = s->w->v[l->wish].product;
	const char *have = strcmp(p->name, "torchvision") == 0 ? b->row->torchvision :
			   strcmp(p->name, "torchaudio") == 0  ? b->row->torchaudio :
			   strcmp(p->name, "triton") == 0      ? b->row->triton : b->text;

	if (p->family == FAMILY_TORCH)
		return (struct plan_reason){
			.id = FINDING_CONFLICTING_PINS,
			.text = arena_printf(s->a, _("%s is not %s"), b->text, l->text),
			.folded = arena_printf(s->a, _("not %s"), l->text),
		};
	return (struct plan_reason){
		.id = FINDING_TORCH_TORCHVISION_MISMATCH,
		.text = have ? arena_printf(s->a, _("goes with %s %s, not %s"), p->name, have,
					    l->text)
			     : arena_printf(s->a, _("no %s is known for it: %s"), p->name, l->text),
		.folded = arena_printf(s->a, _("not %s"), l->text),
	};
}

static struct plan_reason flavor_reason(const struct solver *s, const struct plan_gpu *g)
{
	bool open = strcmp(g->flavor, "open") == 0;

	return (struct plan_reason){
		.id = open ? FINDING_OPEN_MODULE_REQUIRED : FINDING_OPEN_MODULE_UNSUPPORTED_GPU,
		.text = arena_printf(
			s->a,
			open ? _("proprietary kernel modules, and %s needs the open ones")
			     : _("open kernel modules, and %s needs the proprietary ones"),
			g->name),
	};
}

static struct plan_reason flavors_reason(const struct solver *s, size_t pair)
{
	return (struct plan_reason){
		.id = FINDING_OPEN_MODULE_UNSUPPORTED_GPU,
		.text = arena_printf(s->a,
				     _("%s needs the open kernel modules, %s the proprietary ones"),
				     s->t->gpus[pair / PLAN_GPUS].name,
				     s->t->gpus[pair % PLAN_GPUS].name),
	};
}

static struct plan_reason about_gpu(const struct solver *s, const struct judged *v,
				    const struct violation *x)
{
	const struct plan_gpu *g = &s->t->gpus[x->arg];
	const struct build *b = v->build;
	const char *least = b->min_driver[s->t->windows];

	switch (x->kind) {
	case V_DROPPED:
		return (struct plan_reason){
			.id = FINDING_GPU_DROPPED_BY_DRIVER,
			.text = arena_printf(s->a, _("driver %s > %s, the last branch for %s"),
					     s->t->driver, g->last_driver, g->name),
		};
	case V_PREDATES:
		return (struct plan_reason){
			.id = FINDING_GPU_NEEDS_NEWER_DRIVER,
			.text = arena_printf(s->a, _("driver %s < %s, the first for %s"),
					     s->t->driver, g->first_driver, g->name),
		};
	case V_FLAVOR:
		return flavor_reason(s, g);
	case V_LAST:
		return (struct plan_reason){
			.id = FINDING_NO_DRIVER_CAN_HELP,
			.text = arena_printf(s->a, _("branch %s, the last for %s, < %s"),
					     g->last_driver, g->name, least ? least : "?"),
		};
	case V_PTX:
		return (struct plan_reason){
			.id = FINDING_PTX_NEWER_THAN_DRIVER,
			.text = arena_printf(
				s->a, _("sm_%d through PTX alone: CUDA %s of driver %s < %s"),
				g->cc, s->t->driver_cuda ? s->t->driver_cuda : "?", s->t->driver,
				b->row->cuda),
		};
	default:
		return no_code(s, b->archs, b->n_archs, g->cc);
	}
}

static struct plan_reason about_build(const struct solver *s, const struct build *b)
{
	if (b->kind == BUILD_OTHER)
		return (struct plan_reason){ .id = FINDING_ROCM_BUILD_ON_NVIDIA,
					     .text = _("built for AMD GPUs") };
	if (b->kind == BUILD_CPU)
		return (struct plan_reason){ .id = FINDING_CPU_ONLY_WHEEL,
					     .text = _("built without CUDA") };
	return (struct plan_reason){
		.id = FINDING_GPU_NOT_FOUND,
		.text = arena_printf(s->a, _("built for CUDA %s, and there is no GPU"),
				     b->row->cuda),
	};
}

static struct plan_reason about_package(const struct solver *s, const struct build *b, size_t w)
{
	const char *name = s->w->v[w].product->name;
	bool known = false;
	size_t i;

	for (i = 0; i < s->offers[w]->n && !known; i++)
		known = !s->offers[w]->v[i].unverified && offer_torch(s, &s->offers[w]->v[i], b);
	return (struct plan_reason){
		.id = known ? FINDING_CONFLICTING_PINS : FINDING_EXTENSION_NO_BUILD_FOR_CUDA,
		.text = known ? arena_printf(s->a, _("no release of %s for it fits the rest"), name)
			      : arena_printf(s->a, _("no release of %s is known for %s"), name,
					     b->text),
		.folded = known ? NULL
				: arena_printf(s->a, _("no release of %s is known for it"), name),
	};
}

/* GPUs that no driver drives together. */
static struct plan_reason about_pair(const struct solver *s, size_t old, size_t young)
{
	const struct plan_gpu *g = s->t->gpus;

	return (struct plan_reason){
		.id = FINDING_NO_DRIVER_CAN_HELP,
		.text = arena_printf(s->a, _("branch %s, the last for %s, < %s, the first for %s"),
				     g[old].last_driver, g[old].name, g[young].first_driver,
				     g[young].name),
	};
}

struct plan_reason reason_of(const struct solver *s, const struct judged *v,
			     const struct violation *x)
{
	const struct build *b = v->build;
	const char *least = b->min_driver[s->t->windows];

	switch (x->kind) {
	case V_NO_CUDA:
		return about_build(s, b);
	case V_UNVERIFIED:
		return (struct plan_reason){
			.id = FINDING_INSUFFICIENT_EVIDENCE,
			.text = b->row->unconfirmed
					? _("its release or its arch list is not confirmed by any source")
				: !b->row->index_url ? _("no index that serves it is known")
						     : _("its arch list is not known"),
		};
	case V_MUSL:
		return (struct plan_reason){
			.id = FINDING_MUSL_NO_WHEEL,
			.text = _("wheels are built for glibc, and this is musl")
		};
	case V_DRIVER:
		return (struct plan_reason){
			.id = FINDING_DRIVER_TOO_OLD,
			.text = arena_printf(s->a, _("driver %s < %s"), s->t->driver,
					     least ? least : "?"),
		};
	case V_GLIBC:
		return (struct plan_reason){
			.id = FINDING_GLIBC_TOO_OLD,
			.text = arena_printf(s->a, _("glibc %s < %s"), s->t->glibc,
					     b->row->min_glibc),
		};
	case V_PYTHON:
		return (struct plan_reason){
			.id = FINDING_PYTHON_NO_WHEEL,
			.text = arena_printf(s->a, _("no Python %s in %s"),
					     s->t->n_pythons ? s->t->pythons[0].text : "?",
					     pythons(s, b)),
		};
	case V_APART:
		return about_pair(s, x->arg / PLAN_GPUS, x->arg % PLAN_GPUS);
	case V_FLAVORS:
		return flavors_reason(s, x->arg);
	case V_LIMIT:
		return about_limit(s, b, x->arg);
	case V_PAIR:
		return (struct plan_reason){
			.id = FINDING_TORCH_TORCHVISION_MISMATCH,
			.text = arena_printf(s->a, _("no %s is known for it"),
					     s->w->v[x->arg].product->name),
		};
	case V_PACKAGE:
		return about_package(s, b, x->arg);
	default:
		return about_gpu(s, v, x);
	}
}

/* -------- releases of other packages */

static void add(const struct solver *s, struct plan_reason **list, size_t *n, enum finding_id id,
		const char *text)
{
	*ARENA_APPEND(s->a, *list, *n) = (struct plan_reason){ .id = id, .text = text };
}

static void offer_gpus(const struct solver *s, const struct offer *o, struct plan_reason **list,
		       size_t *n)
{
	size_t i;

	for (i = 0; i < s->t->n_gpus; i++) {
		const struct plan_gpu *g = &s->t->gpus[i];
		int least = o->cc_min > o->nvcc_min ? o->cc_min : o->nvcc_min;

		if (g->cc < least)
			add(s, list, n, FINDING_GPU_TOO_OLD_FOR_BUILD,
			    arena_printf(s->a, _("compute capability %s < %s"),
					 cc_text(s->a, g->cc), cc_text(s->a, least)));
		else if (o->n_archs &&
			 compat_arch_fit(o->archs, o->n_archs, g->cc, NULL) == ARCH_FIT_NONE)
			*ARENA_APPEND(s->a, *list, *n) =
				no_code(s, o->targets, o->n_targets, g->cc);
		else if (o->n_archs &&
			 compat_arch_fit(o->archs, o->n_archs, g->cc, NULL) == ARCH_FIT_PTX &&
			 s->driver.n && !version_at_least(s->t->driver_cuda, o->cuda))
			add(s, list, n, FINDING_PTX_NEWER_THAN_DRIVER,
			    arena_printf(s->a,
					 _("sm_%d through PTX alone: CUDA %s of driver %s < %s"),
					 g->cc, s->t->driver_cuda ? s->t->driver_cuda : "?",
					 s->t->driver, o->cuda ? o->cuda : "?"));
		if (g->dropped)
			add(s, list, n, FINDING_GPU_DROPPED_BY_DRIVER,
			    arena_printf(s->a, _("driver %s > %s, the last branch for %s"),
					 s->t->driver, g->last_driver, g->name));
		if (g->other_flavor)
			*ARENA_APPEND(s->a, *list, *n) = flavor_reason(s, g);
		if (g->predates)
			add(s, list, n, FINDING_GPU_NEEDS_NEWER_DRIVER,
			    arena_printf(s->a, _("driver %s < %s, the first for %s"), s->t->driver,
					 g->first_driver, g->name));
	}
}

struct plan_reason *reasons_of_offer(const struct solver *s, size_t wish, size_t i, size_t *ret_n)
{
	const struct offer *o = &s->offers[wish]->v[i];
	const struct offer_state *st = &s->states[wish][i];
	int os = s->t->windows && strcmp(s->t->platform, "windows_x86_64") == 0;
	struct plan_reason *list = NULL;
	size_t n = 0, k, serving = 0;

	if (o->unverified)
		add(s, &list, &n, FINDING_INSUFFICIENT_EVIDENCE,
		    _("what it was built for is not known"));
	if (st->hw & ATOM(ATOM_PLATFORM))
		add(s, &list, &n, FINDING_CPU_ONLY_PLATFORM,
		    arena_printf(s->a, _("no build with CUDA for %s"), s->t->platform));
	offer_gpus(s, o, &list, &n);
	if (s->driver.n && o->least[os].n && version_cmp(&s->driver, &o->least[os]) < 0)
		add(s, &list, &n, FINDING_DRIVER_TOO_OLD,
		    arena_printf(s->a, _("driver %s < %s"), s->t->driver, o->least_text[os]));
	for (k = 0; k < s->w->n_limits; k++)
		if (st->bad & s->any_applies & ATOM(k))
			*ARENA_APPEND(s->a, list, n) = (struct plan_reason){
				.id = FINDING_CONFLICTING_PINS,
				.text = arena_printf(s->a, _("%s is not %s"), o->version,
						     s->w->limits[k].text),
				.folded = arena_printf(s->a, _("not %s"), s->w->limits[k].text),
			};
	for (k = 0; k < s->t->n_pythons; k++)
		serving += offer_python(s, o, k);
	if (!serving)
		add(s, &list, &n, FINDING_PYTHON_NO_WHEEL,
		    arena_printf(s->a, _("no wheel for Python %s"),
				 s->t->n_pythons ? s->t->pythons[0].text : "?"));
	*ret_n = n;
	return list;
}

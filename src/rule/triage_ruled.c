/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the text rules out, and by which line: causes that readers of such a text suspect first and
 * that something in it speaks against. Says nothing about what was found, and changes no weight.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/triage.h"

enum { RULED_MAX = 6 };

static bool found(const struct triage *t, enum finding_id id)
{
	size_t i;

	for (i = 0; i < t->j->n_findings; i++)
		if (t->j->findings[i]->id == id && t->j->findings[i]->weight >= TRIAGE_WARNING)
			return true;
	return false;
}

static void rule_out(struct triage *t, enum finding_id id, const char *source, const char *fmt, ...)
	ATTR_PRINTF(4, 5);
static void rule_out(struct triage *t, enum finding_id id, const char *source, const char *fmt, ...)
{
	va_list ap;
	size_t i;

	if (t->j->n_ruled >= RULED_MAX || !source || found(t, id))
		return;
	for (i = 0; i < t->j->n_ruled; i++)
		if (t->j->ruled[i].id == id)
			return;
	va_start(ap, fmt);
	*ARENA_APPEND(t->j->a, t->j->ruled, t->j->n_ruled) = (struct ruled_out){
		.id = id, .text = arena_vprintf(t->j->a, fmt, ap), .source = source
	};
	va_end(ap);
}

static const struct torch *torch_of(const struct triage *t)
{
	return t->j->s->n_pythons ? &t->j->s->pythons[0].torch : NULL;
}

/* -------- toolkit and driver against the build */

static void toolkit(struct triage *t, const struct finding *root)
{
	const struct snapshot *s = t->j->s;
	const struct torch *torch = torch_of(t);
	const char *cuda = torch ? look_torch_cuda(t->j, torch) : NULL;
	const struct fact *kit = s->n_toolkits ? &s->toolkits[0].version : NULL;
	enum layer layer = finding_info(root->id)->layer;

	if (!cuda || layer == LAYER_TOOLKIT || layer == LAYER_BUILD || triage_has(t, "compiling"))
		return;
	if (kit && fact_known(kit) && strncmp(kit->value, cuda, strlen(cuda)) != 0)
		rule_out(t, FINDING_TOOLKIT_TORCH_MISMATCH, kit->source,
			 _("The toolkit %s is not the cause: this PyTorch brings its own CUDA %s "
			   "and does not use it to run."),
			 kit->value, cuda);
	else if (triage_has(t, "nvcc-absent") && triage_sign(t, "nvcc-absent"))
		rule_out(t, FINDING_TOOLKIT_NOT_INSTALLED,
			 triage_sign(t, "nvcc-absent")->text.source,
			 _("A missing nvcc is not the cause: this PyTorch brings its own CUDA %s."),
			 cuda);
}

static void driver(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct torch *torch = torch_of(t);
	const char *cuda = torch ? look_torch_cuda(t->j, torch) : NULL, *least;
	const struct fact *version = look_cuda_driver(s);
	bool inferred;

	if (!cuda || !version || !fact_known(version))
		return;
	least = compat_min_driver(t->j->c, cuda, look_is_windows(s), &inferred);
	if (least && !look_driver_below(version->value, least))
		rule_out(t, FINDING_DRIVER_TOO_OLD, version->source,
			 _("The driver %s is new enough for a build with CUDA %s."), version->value,
			 cuda);
}

/* -------- the build against the GPU */

static void build(struct triage *t)
{
	const struct torch *torch = torch_of(t);
	const char *cuda = torch ? look_torch_cuda(t->j, torch) : NULL;
	const struct fact *f = torch && fact_known(&torch->version) ? &torch->version
			       : torch				    ? &torch->cuda
								    : NULL;

	if (!cuda || !f || !fact_known(f) || triage_has(t, "torch-cpu"))
		return;
	if (fact_known(&torch->version))
		rule_out(t, FINDING_CPU_ONLY_WHEEL, f->source,
			 _("It is no build for the processor alone: PyTorch %s has CUDA %s."),
			 torch->version.value, cuda);
	else
		rule_out(t, FINDING_CPU_ONLY_WHEEL, f->source,
			 _("It is no build for the processor alone: PyTorch has CUDA %s."), cuda);
}

static void archs(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct torch *torch = torch_of(t);
	struct look_archs a = { .n = 0 };
	size_t i;
	int cc;

	if (!torch || triage_has(t, "no-kernel-image") || !look_torch_archs(t->j, torch, &a) ||
	    !a.n)
		return;
	/* Its libraries may have none. */
	for (i = 0; i < t->j->n_findings; i++)
		if (t->j->findings[i]->id == FINDING_GPU_TOO_NEW_FOR_BUILD)
			return;
	for (i = 0; i < s->n_gpus; i++) {
		cc = look_cc(&s->gpus[i]);
		if (cc < 0 || compat_arch_fit(a.list, a.n, cc, NULL) == ARCH_FIT_NONE)
			return;
	}
	if (s->n_gpus)
		rule_out(t, FINDING_GPU_TOO_NEW_FOR_BUILD,
			 s->gpus[0].name.source ? s->gpus[0].name.source
						: s->gpus[0].compute_capability.source,
			 _("The build has code for the GPU (%s, compute capability %s)."),
			 fact_value(&s->gpus[0].name, "-"),
			 fact_value(&s->gpus[0].compute_capability, "-"));
}

/* -------- the machine */

struct fixed {
	enum finding_id id;
	const char *atom;   /* the sign whose line speaks against it */
	const char *unless; /* terms under which it does not; "" none */
	const char *text;
};

static const struct fixed fixed[] = {
	{ FINDING_DRIVER_MODULE_MISSING, "smi-gpu", "smi-fails",
	  N_("The driver is loaded and sees the GPU: nvidia-smi lists it.") },
	{ FINDING_NOUVEAU_BOUND, "module-loaded", "nouveau-loaded",
	  N_("nouveau does not hold the GPU: the nvidia module is loaded.") },
	{ FINDING_UVM_NOT_LOADED, "node-uvm", "",
	  N_("nvidia_uvm is there: its device node is listed.") },
	{ FINDING_CONTAINER_NO_GPU_REQUESTED, "container-gpu-asked", "container-gpu-not-asked",
	  N_("The container was started with GPUs.") },
	{ FINDING_SCHEDULER_NO_GPU, "gres-given", "", N_("The scheduler gave the job a GPU.") },
	{ FINDING_DRIVER_TOO_OLD, "cuda-available-true", "cuda-available-false|cuda-fails",
	  N_("Driver and PyTorch go together: torch.cuda.is_available() is True.") },
};

static void signs(struct triage *t)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(fixed); i++) {
		const struct sign *g = triage_sign(t, fixed[i].atom);

		if (g && (!*fixed[i].unless || !triage_holds(t, fixed[i].unless, NULL)))
			rule_out(t, fixed[i].id, g->text.source, "%s", _(fixed[i].text));
	}
}

static void secure_boot(struct triage *t)
{
	const struct fact *f = &t->j->s->host.secure_boot;

	if (fact_no(f) && (triage_has(t, "module-trouble") || triage_has(t, "module-absent") ||
			   triage_has(t, "smi-fails")))
		rule_out(t, FINDING_SECURE_BOOT_BLOCKS_MODULE, f->source, "%s",
			 _("Secure Boot is off: it keeps no module from loading."));
}

static void visible(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct fact *v = snapshot_env_fact(s, "CUDA_VISIBLE_DEVICES");
	char *end;
	long first;

	if (!v || !fact_known(v) || !s->n_gpus)
		return;
	first = strtol(v->value, &end, 10);
	if (end != v->value && first >= 0 && (size_t)first < s->n_gpus)
		rule_out(t, FINDING_VISIBLE_DEVICES_WRONG, v->source,
			 _("CUDA_VISIBLE_DEVICES=%s names a GPU that exists."), v->value);
}

static void nodes(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	size_t i;

	for (i = 0; i < s->n_nodes; i++)
		if (strcmp(fact_value(&s->nodes[i].name, ""), "nvidia0") == 0 &&
		    fact_is(&s->nodes[i].mode, "crw-rw-rw-"))
			rule_out(t, FINDING_DEVICE_NODE_PERMISSIONS, s->nodes[i].mode.source, "%s",
				 _("Everybody may open the device nodes: their mode is "
				   "crw-rw-rw-."));
}

static void companions(struct triage *t)
{
	const struct torch *torch = torch_of(t);
	const char *release = torch ? look_torch_release(t->j, torch) : NULL;
	size_t at;

	if (!release || !fact_known(&torch->torchvision))
		return;
	for (at = 0; at < compat_count(t->j->c, "pair"); at++) {
		const char *tv = compat_text(t->j->c, "pair", at, "torchvision");
		const char *of = compat_text(t->j->c, "pair", at, "torch");

		if (!tv || !of || strcmp(of, release) != 0 ||
		    strncmp(torch->torchvision.value, tv, strlen(tv)) != 0)
			continue;
		rule_out(t, FINDING_TORCH_TORCHVISION_MISMATCH, torch->torchvision.source,
			 _("torchvision %s is the one for torch %s."), torch->torchvision.value,
			 release);
		return;
	}
}

void triage_rule_out(struct triage *t, const struct finding *root)
{
	driver(t);
	toolkit(t, root);
	build(t);
	archs(t);
	signs(t);
	secure_boot(t);
	visible(t);
	nodes(t);
	companions(t);
}

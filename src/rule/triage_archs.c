/* SPDX-License-Identifier: Apache-2.0 */
/* Holds the GPUs of a text against what PyTorch and its libraries were compiled for. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/triage_archs.h"

int archs_lowest_cc(const struct snapshot *s)
{
	int low = -1, cc;
	size_t i;

	for (i = 0; i < s->n_gpus; i++) {
		cc = look_cc(&s->gpus[i]);
		if (cc > 0 && (low < 0 || cc < low))
			low = cc;
	}
	return low;
}

int archs_highest_cc(const struct snapshot *s)
{
	int high = -1, cc;
	size_t i;

	for (i = 0; i < s->n_gpus; i++) {
		cc = look_cc(&s->gpus[i]);
		if (cc > high)
			high = cc;
	}
	return high;
}

/* Highest SASS of a list: "sm_70" to 70. */
int archs_highest(const char *const *list, size_t n)
{
	int high = -1;
	size_t i;

	for (i = 0; i < n; i++) {
		int cc = strncmp(list[i], "sm_", 3) == 0 ? (int)strtol(list[i] + 3, NULL, 10) : -1;

		if (cc > high)
			high = cc;
	}
	return high;
}

static int lowest(const char *const *list, size_t n)
{
	int low = 1000;
	size_t i;

	for (i = 0; i < n; i++) {
		int cc = strncmp(list[i], "sm_", 3) == 0 ? (int)strtol(list[i] + 3, NULL, 10) : low;

		if (cc < low)
			low = cc;
	}
	return low;
}

static const char *named(struct triage *t, size_t i)
{
	const char *name = fact_value(&t->j->s->gpus[i].name, NULL);

	return name ? name : _("the GPU");
}

/* Cards of several kinds: those that the build serves may well be enough. */
static void hide(struct triage *t, struct finding *f, const char *name)
{
	struct remedy *r = finding_remedy(
		t->j, f,
		_("Hide the %s and others of its kind: show the program the numbers of those GPUs alone that "
		  "the build serves (here the first), as nvidia-smi -L counts them."),
		name);

	if (triage_has(t, "windows"))
		remedy_command(t->j, r,
			       "set CUDA_DEVICE_ORDER=PCI_BUS_ID&& set CUDA_VISIBLE_DEVICES=0");
	else
		remedy_command(t->j, r,
			       "export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0");
}

/* Or is it another program that lacks the code, which no PyTorch mends? */
bool archs_of_torch(const struct triage *t)
{
	const struct torch *torch = &t->j->s->pythons[0].torch;
	size_t i;

	if (fact_known(&torch->version) || torch->arch_list.n)
		return true;
	for (i = 0; i < t->j->s->n_signs; i++)
		if (strstr(fact_value(&t->j->s->signs[i].text, ""), "orch"))
			return true;
	return false;
}

void archs_misfit(struct triage *t, size_t i, bool old, int weight)
{
	struct finding *f =
		triage_add(t, old ? FINDING_GPU_TOO_OLD_FOR_BUILD : FINDING_GPU_TOO_NEW_FOR_BUILD,
			   weight, "no-kernel-image|arch-misfit|cubins-warning");
	const struct gpu *g = &t->j->s->gpus[i];

	finding_fact(t->j, f, "gpu.compute_capability", &g->compute_capability, NULL);
	finding_message(t->j, f,
			old ? _("%s (compute capability %s) is older than what this build has "
				"code for.")
			    : _("%s (compute capability %s) is newer than what this build has "
				"code for."),
			named(t, i), fact_value(&g->compute_capability, "?"));
	if (f->n_remedies)
		return;
	if (i > 0 && t->j->s->n_gpus > 1 && archs_lowest_cc(t->j->s) != archs_highest_cc(t->j->s))
		hide(t, f, named(t, i));
	if (t->j->s->n_pythons && archs_of_torch(t))
		remedy_torch(t->j, f, &t->j->s->pythons[0]);
}

/* A chip of Jetson, which runs no code of the desktop chips beside it in a list. */
bool archs_is_tegra(int cc)
{
	return cc == 53 || cc == 62 || cc == 72 || cc == 87 || cc == 101 || cc == 110;
}

/* Left out by a list that knows newer ones; a Jetson is left out of lists that begin below it. */
bool archs_left_behind(const struct look_archs *a, int cc, int high)
{
	return cc < high && !(archs_is_tegra(cc) && lowest(a->list, a->n) < cc);
}

/* Code of an old chip alone stands for the newest: what the build brings beside it has none. */
static bool old_ptx(struct triage *t, const struct look_archs *a, int cc, int high)
{
	const char *entry = NULL;

	return triage_holds(t, "cubins-warning|no-kernel-image !ext-native-call !ext-native-frame",
			    NULL) &&
	       compat_arch_fit(a->list, a->n, cc, &entry) == ARCH_FIT_PTX && entry &&
	       strncmp(entry, "compute_", 8) == 0 && strtol(entry + 8, NULL, 10) < high;
}

/* PyTorch itself says that it has no code for a GPU for which the build that is named was made, and
 * something was installed in between. */
bool archs_another_runs(struct triage *t)
{
	if (!triage_has(t, "arch-misfit") || !triage_has(t, "change-said"))
		return false;
	triage_add(t, FINDING_TORCH_REPLACED_BY_DEPENDENCY, 80, "arch-misfit change-said");
	return true;
}

/* The list that the message or get_arch_list() printed. */
static bool by_list(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	struct look_archs a = { .n = 0 };
	bool known = false, said;
	int high, cc;
	size_t i;

	if (!s->n_pythons || !look_torch_archs(t->j, &s->pythons[0].torch, &a) || !a.n)
		return false;
	high = archs_highest(a.list, a.n);
	for (i = 0; i < s->n_gpus; i++) {
		cc = look_cc(&s->gpus[i]);
		if (cc < 0)
			continue;
		known = true;
		if (old_ptx(t, &a, cc, high)) {
			archs_misfit(t, i, cc < high, 76);
			return true;
		}
		if (compat_arch_fit(a.list, a.n, cc, NULL) != ARCH_FIT_NONE)
			continue;
		/* A build that knows a newer one has left this one out. */
		/* A build without code for the GPU sees it: is_available() is True then. */
		said = triage_has(t, "no-kernel-image") || triage_has(t, "arch-misfit");
		archs_misfit(t, i, archs_left_behind(&a, cc, high),
		       said || !a.from_table		       ? 88
		       : triage_has(t, "cuda-available-false") ? 56
							       : 70);
		return true;
	}
	if (known && a.from_table && archs_another_runs(t))
		return true;
	/* The list in the message itself has what runs there: code of the same generation. */
	if (known && !a.from_table && triage_has(t, "arch-misfit") &&
	    !triage_has(t, "no-kernel-image"))
		triage_add(t, FINDING_HARMLESS_WARNING, 72, "arch-misfit");
	/* PyTorch itself has code for every GPU here: it is something else that lacks it. */
	if (known && triage_has(t, "no-kernel-image") && !triage_has(t, "uninstalled-torch"))
		triage_add(t, FINDING_EXTENSION_MISSING_GPU_ARCH, 80, "no-kernel-image");
	return known;
}

/* A kernel for one architecture that an add-on was built without, or that the GPU cannot run; the
 * one of Hopper runs on nothing else. */
static void kernel_of_arch(struct triage *t)
{
	const char *v = triage_value(t, "sm-kernel-missing");
	int want = v ? (int)strtol(v, NULL, 10) : 0, low = archs_lowest_cc(t->j->s);
	struct finding *f;

	if (want <= 0 || (low < 0 && !triage_has(t, "kernel-by-gpu")))
		return;
	if (low < 0 || (want == 90 ? low == 90 : low >= want)) {
		triage_add(t, FINDING_EXTENSION_MISSING_GPU_ARCH, low < 0 ? 66 : 84,
			   "sm-kernel-missing");
		t->against[FINDING_GPU_FEATURE_UNSUPPORTED] = true;
		return;
	}
	f = triage_add(t, FINDING_GPU_FEATURE_UNSUPPORTED, 84, "sm-kernel-missing");
	finding_message(t->j, f,
			_("The kernel is one for compute capability %d.%d, and the GPU has %d.%d."),
			want / 10, want % 10, low / 10, low % 10);
}

/* What is said to be wanted is what every GPU here has. */
static void capability_there(struct triage *t)
{
	const char *v = triage_value(t, "cc-wanted");
	int want = v ? (int)(strtod(v, NULL) * 10 + 0.5) : 0;

	if (triage_has(t, "bf16-cc") && archs_lowest_cc(t->j->s) >= 80)
		t->against[FINDING_GPU_FEATURE_UNSUPPORTED] = true;
	if (want > 0 && archs_lowest_cc(t->j->s) >= want && triage_has(t, "cc-at-least") &&
	    !triage_holds(t, "fp8-cc|fp8-arch|bf16-cc|triton-old-gpu|fa-ampere",
			  NULL))
		t->against[FINDING_GPU_FEATURE_UNSUPPORTED] = true;
}

/* "Minimum and Maximum cuda capability ... is (7.0) - (12.0)", of a GPU that the line before names.
 */
static void min_max(struct triage *t)
{
	const char *p = triage_value(t, "minmax-warning");
	const struct snapshot *s = t->j->s;
	int low, high, cc;
	size_t i;

	if (!p || *p != '(')
		return;
	low = (int)(strtod(p + 1, NULL) * 10 + 0.5);
	p = strchr(p + 1, '(');
	high = p ? (int)(strtod(p + 1, NULL) * 10 + 0.5) : 0;
	for (i = 0; i < s->n_gpus && high > 0; i++) {
		cc = look_cc(&s->gpus[i]);
		if (cc > 0 && cc < low)
			archs_misfit(t, i, true, 90);
		else if (cc > high && cc / 10 > high / 10)
			archs_misfit(t, i, false, 88);
		else if (cc > high)
			triage_add(t, FINDING_HARMLESS_WARNING, 72, "minmax-warning");
	}
}

bool triage_all_below(const struct snapshot *s, int cc)
{
	int high = archs_highest_cc(s);

	return high > 0 && high < cc;
}

bool triage_all_of(const struct snapshot *s, int least)
{
	size_t i;

	for (i = 0; i < s->n_gpus; i++)
		if (look_cc(&s->gpus[i]) < least)
			return false;
	return s->n_gpus > 0;
}

void triage_archs(struct triage *t)
{
	/* A kernel was looked for: CUDA started, so that the driver serves this build. */
	if (triage_has(t, "no-kernel-image"))
		t->against[FINDING_NO_DRIVER_CAN_HELP] = true;
	if (!by_list(t))
		archs_by_age(t);
	min_max(t);
	kernel_of_arch(t);
	capability_there(t);
	archs_libraries_too_old(t);
	archs_slow_start(t);
}

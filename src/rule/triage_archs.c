/* SPDX-License-Identifier: Apache-2.0 */
/* Holds the GPUs of a text against what PyTorch and its libraries were compiled for. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/triage.h"

static int lowest_cc(const struct snapshot *s)
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

static int highest_cc(const struct snapshot *s)
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
static int highest(const char *const *list, size_t n)
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
static bool speaks_of_torch(const struct triage *t)
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

static void misfit(struct triage *t, size_t i, bool old, int weight)
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
	if (i > 0 && t->j->s->n_gpus > 1 && lowest_cc(t->j->s) != highest_cc(t->j->s))
		hide(t, f, named(t, i));
	if (t->j->s->n_pythons && speaks_of_torch(t))
		remedy_torch(t->j, f, &t->j->s->pythons[0]);
}

/* A chip of Jetson, which runs no code of the desktop chips beside it in a list. */
static bool is_tegra(int cc)
{
	return cc == 53 || cc == 62 || cc == 72 || cc == 87 || cc == 101 || cc == 110;
}

/* Left out by a list that knows newer ones; a Jetson is left out of lists that begin below it. */
static bool left_behind(const struct look_archs *a, int cc, int high)
{
	return cc < high && !(is_tegra(cc) && lowest(a->list, a->n) < cc);
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
static bool another_runs(struct triage *t)
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
	high = highest(a.list, a.n);
	for (i = 0; i < s->n_gpus; i++) {
		cc = look_cc(&s->gpus[i]);
		if (cc < 0)
			continue;
		known = true;
		if (old_ptx(t, &a, cc, high)) {
			misfit(t, i, cc < high, 76);
			return true;
		}
		if (compat_arch_fit(a.list, a.n, cc, NULL) != ARCH_FIT_NONE)
			continue;
		/* A build that knows a newer one has left this one out. */
		/* A build without code for the GPU sees it: is_available() is True then. */
		said = triage_has(t, "no-kernel-image") || triage_has(t, "arch-misfit");
		misfit(t, i, left_behind(&a, cc, high),
		       said || !a.from_table		       ? 88
		       : triage_has(t, "cuda-available-false") ? 56
							       : 70);
		return true;
	}
	if (known && a.from_table && another_runs(t))
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

/* The rows of a release, which people also call "1.6". */
static const struct torch_row *const *release(struct triage *t, const char *version)
{
	const struct torch_row *const *rows = compat_torch_of_release(t->j->c, version);

	return *rows ? rows
		     : compat_torch_of_release(t->j->c, arena_printf(t->j->a, "%s.0", version));
}

/* The newest CUDA that the text names, of whatever: what runs is of none that is newer. */
static const struct cuda_row *said_cuda(const struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *best = NULL;
	size_t i;

	for (i = 0; i < s->n_signs; i++) {
		const struct sign *g = &s->signs[i];

		if (fact_is(&g->id, "cuda-said") && fact_known(&g->value) &&
		    (!best || version_cmp_str(g->value.value, best) > 0))
			best = g->value.value;
	}
	return best ? compat_cuda(t->j->c, best) : NULL;
}

/* The newest CUDA that a release was published with, or the one of them that the text names; 9.2
 * came with 0.4.1. */
static const char *newest_cuda(struct triage *t, const char *version)
{
	const struct torch_row *const *rows = release(t, version);
	const struct cuda_row *said = said_cuda(t);
	const char *best = look_branch(version) > 0		   ? NULL
			   : version_cmp_str(version, "0.4.1") < 0 ? "9.1"
								   : "9.2";

	for (; *rows; rows++) {
		if ((*rows)->cuda && said && strcmp((*rows)->cuda, said->cuda) == 0)
			return said->cuda;
		if ((*rows)->cuda && (!best || version_cmp_str((*rows)->cuda, best) > 0))
			best = (*rows)->cuda;
	}
	return best;
}

/* Has the build code for the GPU, whichever board of that name it is? */
static bool has_code(struct triage *t, const struct torch_row *row, const struct gpu *g)
{
	struct gpu_match m = { .n = 0 };
	const char *const *list = (const char *const *)row->arch_list;
	size_t i;

	if (!list)
		return false;
	if (look_cc(g) > 0 || !fact_known(&g->ambiguous))
		return compat_arch_fit(list, row->n_arch, look_cc(g), NULL) != ARCH_FIT_NONE;
	compat_gpu_find(t->j->c, fact_value(&g->name, ""), &m);
	for (i = 0; i < m.n; i++)
		if (compat_arch_fit(list, row->n_arch, m.rows[i]->cc, NULL) == ARCH_FIT_NONE)
			return false;
	return m.n > 0;
}

/* Every wheel with CUDA of the release has code for every GPU. */
static bool every_build_has(struct triage *t, const struct torch *torch)
{
	const struct torch_row *const *rows;
	bool any = false;
	size_t i;

	if (fact_known(&torch->origin) && !fact_is(&torch->origin, "pip"))
		return false;
	for (rows = release(t, torch->version.value); *rows; rows++) {
		if (!(*rows)->cuda)
			continue;
		any = true;
		for (i = 0; i < t->j->s->n_gpus; i++)
			if (!has_code(t, *rows, &t->j->s->gpus[i]))
				return false;
	}
	return any && t->j->s->n_gpus;
}

/* A GPU of a later generation than any that the row's CUDA knows. */
static bool beyond(struct triage *t, const struct cuda_row *row)
{
	size_t i;

	for (i = 0; row && row->nvcc_max_cc > 0 && i < t->j->s->n_gpus; i++) {
		if (look_cc(&t->j->s->gpus[i]) / 10 <= row->nvcc_max_cc / 10)
			continue;
		misfit(t, i, false, 80);
		return true;
	}
	return false;
}

static bool misfit_known(const struct triage *t)
{
	size_t i;

	for (i = 0; i < t->j->n_findings; i++)
		if (t->j->findings[i]->id == FINDING_GPU_TOO_NEW_FOR_BUILD ||
		    t->j->findings[i]->id == FINDING_GPU_TOO_OLD_FOR_BUILD)
			return true;
	return false;
}

/* An old GPU that the release's default build has left out; for a new one people take another. */
static bool left_out_by_default(struct triage *t, const struct torch *torch)
{
	const struct torch_row *const *rows = release(t, torch->version.value);
	const struct snapshot *s = t->j->s;
	size_t i;

	while (*rows && !((*rows)->pypi_default && (*rows)->cuda && (*rows)->arch_list))
		rows++;
	for (i = 0; *rows && i < s->n_gpus; i++) {
		struct look_archs a = { .list = (const char *const *)(*rows)->arch_list,
					.n = (*rows)->n_arch };
		int cc = look_cc(&s->gpus[i]);

		if (cc <= 0 || is_tegra(cc) || has_code(t, *rows, &s->gpus[i]) ||
		    !left_behind(&a, cc, highest(a.list, a.n)))
			continue;
		misfit(t, i, true, 70);
		return true;
	}
	return false;
}

/* Programs of their CUDA's years: the options leave a newer GPU out, Caffe ended with CUDA 8, and
 * no build has dropped a GPU of the newest generation that its driver knows. */
static bool of_its_years(struct triage *t)
{
	const struct fact *driver = look_cuda_driver(t->j->s);
	const char *has = driver ? compat_driver_cuda(t->j->c, driver->value) : NULL;
	const struct cuda_row *row = has ? compat_cuda(t->j->c, has) : NULL;
	int cc = highest_cc(t->j->s), options = triage_compiled_for(t);

	if (!triage_has(t, "no-kernel-image") || triage_has(t, "arch-misfit") || cc < 60 ||
	    cc != lowest_cc(t->j->s) || (t->j->s->n_pythons && speaks_of_torch(t)))
		return false;
	if ((options > 0 && cc / 10 > options / 10) || triage_has(t, "caffe-check") ||
	    (row && row->nvcc_max_cc / 10 == cc / 10 && cc < 100 &&
	     version_cmp_str(has, "11.2") < 0)) {
		misfit(t, 0, false, 78);
		return true;
	}
	return false;
}

/* A GPU at one of the ends of the range is the one that most builds leave out. */
static bool end_of_range(struct triage *t, const struct cuda_row *row)
{
	const struct snapshot *s = t->j->s;
	int low = lowest_cc(s), high = highest_cc(s);
	/* Nothing is known of what runs: builds of today begin above Volta. */
	bool bare = !row && !(s->n_pythons && fact_known(&s->pythons[0].torch.version)) &&
		    !triage_has(t, "addon-named") && !triage_has(t, "cuda-said");
	size_t i;

	for (i = 0; i < s->n_gpus; i++) {
		int cc = look_cc(&s->gpus[i]);

		/* A call into an add-on failed, and nothing is known against PyTorch itself. */
		if (!triage_has(t, "arch-misfit") &&
		    (triage_has(t, "ext-native-call") || triage_has(t, "ext-native-frame")))
			continue;
		if (row && row->nvcc_max_cc >= cc && another_runs(t))
			return true;
		/* A build of a CUDA that knows the GPU is not one from before it. */
		if (cc == high && high >= 100 && !(row && row->nvcc_max_cc >= cc)) {
			misfit(t, i, false, 66);
			return true;
		}
		if (cc == low && (low < 70 || (low == 70 && bare))) {
			misfit(t, i, true, low < 70 ? 66 : 56);
			return true;
		}
	}
	return false;
}

/* Only "no kernel image", a GPU and no list: the ends of the range are plain. */
static void by_age(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	bool known = lowest_cc(s) > 0, served;
	const struct cuda_row *row;
	const char *cuda, *newest;
	const struct torch *torch;

	if ((!triage_has(t, "no-kernel-image") && !triage_has(t, "arch-misfit")) || !s->n_gpus ||
	    misfit_known(t) || triage_compiled(t))
		return;
	cuda = s->n_pythons ? look_torch_cuda(t->j, &s->pythons[0].torch) : NULL;
	if (!cuda)
		cuda = triage_value(t, "conda-toolkit");
	if (!cuda)
		cuda = triage_image_cuda(t);
	row = cuda ? compat_cuda(t->j->c, cuda) : NULL;
	torch = !cuda && s->n_pythons && fact_known(&s->pythons[0].torch.version)
			? &s->pythons[0].torch
			: NULL;
	newest = torch ? newest_cuda(t, torch->version.value) : NULL;
	served = torch && !triage_has(t, "arch-misfit") && every_build_has(t, torch);
	if (known && beyond(t, newest ? compat_cuda(t->j->c, newest) : row ? row : said_cuda(t)))
		return;
	if (torch && !served && !triage_has(t, "ext-native-call") &&
	    !triage_has(t, "ext-native-frame") && left_out_by_default(t, torch))
		return;
	if (known && !row && !torch && of_its_years(t))
		return;
	if (known && !served && end_of_range(t, row))
		return;
	/* Without the build of PyTorch it may as well be PyTorch itself. */
	if ((served || (known && (row || triage_has(t, "addon-named")))) &&
	    triage_has(t, "no-kernel-image") && !triage_has(t, "uninstalled-torch") &&
	    !triage_has(t, "device-kernel-image-invalid"))
		triage_add(t, FINDING_EXTENSION_MISSING_GPU_ARCH, 62, "no-kernel-image");
}

/* A kernel for one architecture that an add-on was built without, or that the GPU cannot run; the
 * one of Hopper runs on nothing else. */
static void kernel_of_arch(struct triage *t)
{
	const char *v = triage_value(t, "sm-kernel-missing");
	int want = v ? (int)strtol(v, NULL, 10) : 0, low = lowest_cc(t->j->s);
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

/* What has PTX for an older GPU alone is compiled for minutes when it starts, as TensorFlow 1. */
static void slow_start(struct triage *t)
{
	const char *conda = triage_value(t, "conda-toolkit");
	const struct cuda_row *row = conda ? compat_cuda(t->j->c, conda) : said_cuda(t);

	if (row && version_cmp_str(row->cuda, "11.0") < 0 && !misfit_known(t) &&
	    triage_holds(t, "slow-start tf-version|torch|torch-cuda", NULL))
		(void)beyond(t, row);
}

/* PyTorch may bring PTX for such a GPU; its cuBLAS and cuDNN have no code for it. CUDA before 9.2
 * runs on Turing, and its cuDNN fails there. */
static void libraries_too_old(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct torch *torch = s->n_pythons ? &s->pythons[0].torch : NULL;
	const char *cuda = torch ? look_torch_cuda(t->j, torch) : NULL;
	const struct cuda_row *row;
	struct finding *f;
	size_t i;

	if (!triage_holds(t,
			  "cudnn-exec-failed|cublas-exec|cudnn-not-init !oom "
			  "!no-kernel-image !arch-misfit",
			  NULL))
		return;
	if (!cuda && torch && fact_known(&torch->version))
		cuda = newest_cuda(t, torch->version.value);
	row = cuda ? compat_cuda(t->j->c, cuda) : said_cuda(t);
	if (!cuda && row)
		cuda = row->cuda;
	for (i = 0; row && row->nvcc_max_cc > 0 && i < s->n_gpus; i++) {
		int cc = look_cc(&s->gpus[i]);

		if (cc / 10 <= row->nvcc_max_cc / 10 &&
		    (cc != 75 || version_cmp_str(cuda, "9.2") >= 0))
			continue;
		f = triage_add(t, FINDING_GPU_TOO_NEW_FOR_BUILD, 80,
			       "cudnn-exec-failed|cublas-exec|cudnn-not-init");
		finding_fact(t->j, f, "gpu.name", &s->gpus[i].name, NULL);
		if (!torch)
			return;
		finding_fact(t->j, f, "torch.version", &torch->version, NULL);
		finding_message(t->j, f,
				_("PyTorch was built with CUDA %s, which is older than this GPU."),
				cuda);
		return;
	}
}

/* What is said to be wanted is what every GPU here has. */
static void capability_there(struct triage *t)
{
	const char *v = triage_value(t, "cc-wanted");
	int want = v ? (int)(strtod(v, NULL) * 10 + 0.5) : 0;

	if (triage_has(t, "bf16-cc") && lowest_cc(t->j->s) >= 80)
		t->against[FINDING_GPU_FEATURE_UNSUPPORTED] = true;
	if (want > 0 && lowest_cc(t->j->s) >= want && triage_has(t, "cc-at-least") &&
	    !triage_holds(t, "fp8-cc|fp8-arch|bf16-cc|triton-old-gpu|fa-ampere|awq-marlin-cc",
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
			misfit(t, i, true, 90);
		else if (cc > high && cc / 10 > high / 10)
			misfit(t, i, false, 88);
		else if (cc > high)
			triage_add(t, FINDING_HARMLESS_WARNING, 72, "minmax-warning");
	}
}

bool triage_all_below(const struct snapshot *s, int cc)
{
	int high = highest_cc(s);

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
		by_age(t);
	min_max(t);
	kernel_of_arch(t);
	capability_there(t);
	libraries_too_old(t);
	slow_start(t);
}

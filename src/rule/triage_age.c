/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds the GPUs of a text against what a build can have code for, where nothing lists it: by its
 * release, by its CUDA, by the years of both.
 */
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/triage_archs.h"

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
		archs_misfit(t, i, false, 80);
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

		if (cc <= 0 || archs_is_tegra(cc) || has_code(t, *rows, &s->gpus[i]) ||
		    !archs_left_behind(&a, cc, archs_highest(a.list, a.n)))
			continue;
		archs_misfit(t, i, true, 70);
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
	int cc = archs_highest_cc(t->j->s), options = triage_compiled_for(t);

	if (!triage_has(t, "no-kernel-image") || triage_has(t, "arch-misfit") || cc < 60 ||
	    cc != archs_lowest_cc(t->j->s) || (t->j->s->n_pythons && archs_of_torch(t)))
		return false;
	if ((options > 0 && cc / 10 > options / 10) || triage_has(t, "caffe-check") ||
	    (row && row->nvcc_max_cc / 10 == cc / 10 && cc < 100 &&
	     version_cmp_str(has, "11.2") < 0)) {
		archs_misfit(t, 0, false, 78);
		return true;
	}
	return false;
}

/* A GPU at one of the ends of the range is the one that most builds leave out. */
static bool end_of_range(struct triage *t, const struct cuda_row *row)
{
	const struct snapshot *s = t->j->s;
	int low = archs_lowest_cc(s), high = archs_highest_cc(s);
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
		if (row && row->nvcc_max_cc >= cc && archs_another_runs(t))
			return true;
		/* A build of a CUDA that knows the GPU is not one from before it. */
		if (cc == high && high >= 100 && !(row && row->nvcc_max_cc >= cc)) {
			archs_misfit(t, i, false, 66);
			return true;
		}
		if (cc == low && (low < 70 || (low == 70 && bare))) {
			archs_misfit(t, i, true, low < 70 ? 66 : 56);
			return true;
		}
	}
	return false;
}

/* A build that finds the GPU and fails at its first work, and whose CUDA is from before it. */
static void fails_beyond(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *cuda = s->n_pythons ? look_torch_cuda(t->j, &s->pythons[0].torch) : NULL;

	if (cuda && !misfit_known(t) &&
	    triage_holds(t, "cuda-available-true error-seen !works !oom !addon-named", NULL))
		beyond(t, compat_cuda(t->j->c, cuda));
}

/* Only "no kernel image", a GPU and no list: the ends of the range are plain. */
void archs_by_age(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	bool known = archs_lowest_cc(s) > 0, served;
	const struct cuda_row *row;
	const char *cuda, *newest;
	const struct torch *torch;

	if (!triage_has(t, "no-kernel-image") && !triage_has(t, "arch-misfit")) {
		fails_beyond(t);
		return;
	}
	if (!s->n_gpus || misfit_known(t) || triage_compiled(t))
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

/* What has PTX for an older GPU alone is compiled for minutes when it starts, as TensorFlow 1. */
void archs_slow_start(struct triage *t)
{
	const char *conda = triage_value(t, "conda-toolkit");
	const struct cuda_row *row = conda ? compat_cuda(t->j->c, conda) : said_cuda(t);

	if (row && version_cmp_str(row->cuda, "11.0") < 0 && !misfit_known(t) &&
	    triage_holds(t, "slow-start tf-version|torch|torch-cuda", NULL))
		(void)beyond(t, row);
}

/* PyTorch may bring PTX for such a GPU; its cuBLAS and cuDNN have no code for it. CUDA before 9.2
 * runs on Turing, and its cuDNN fails there. */
void archs_libraries_too_old(struct triage *t)
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

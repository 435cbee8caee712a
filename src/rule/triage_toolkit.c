/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about where the toolkit is: CUDA_HOME, the link /usr/local/cuda, the folders that are
 * listed. */
#include <ctype.h>
#include <string.h>

#include "base/path.h"
#include "rule/look.h"
#include "rule/triage.h"

bool triage_path_gone(const struct triage *t, const char *target)
{
	const struct snapshot *s = t->j->s;
	size_t i;

	for (i = 0; target && *target && i < s->n_signs; i++) {
		const char *path = fact_is(&s->signs[i].id, "path-gone")
					   ? fact_value(&s->signs[i].value, NULL)
					   : NULL;

		if (path && strcmp(*target == '/' ? path : path_base(path),
				   *target == '/' ? target : path_base(target)) == 0)
			return true;
	}
	return false;
}

/* CUDA_HOME is a folder that holds bin, neither bin itself nor a list of folders. */
static void cuda_home(struct triage *t)
{
	static const char *const names[] = { "CUDA_HOME", "CUDA_PATH" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		const struct fact *v = snapshot_env_fact(t->j->s, names[i]);
		struct view s = view_of(v ? v->value : NULL);
		struct finding *f;

		if (!v || strchr(v->value, '$'))
			continue;
		if (!view_ends(s, "/bin") && !view_ends(s, "/bin/") && !view_ends(s, "/lib64") &&
		    !view_ends(s, "/nvcc") && !(v->value[0] == ':') && view_find(s, ":/") <= 0 &&
		    view_find(s, ";") <= 0)
			continue;
		if (view_find(s, ":/") == 1 && view_find(s, ";") <= 0)
			continue; /* "C:/Program Files" */
		f = triage_add(t, FINDING_CUDA_HOME_WRONG, 88, NULL);
		finding_fact(t->j, f, names[i], v, "/usr/local/cuda");
	}
}

/* "12.1" of "/usr/local/cuda-12.1", where a listing of all toolkits does not show it. */
static bool not_listed(const struct triage *t, const char *path)
{
	const struct snapshot *s = t->j->s;
	const char *v = path ? strstr(path, "/usr/local/cuda-") : NULL;
	bool any = false;
	size_t i;

	if (!v || !isdigit((unsigned char)v[16]) || !strchr(v + 16, '.'))
		return false;
	for (i = 0; i < s->n_signs; i++) {
		const char *have;

		if (!fact_is(&s->signs[i].id, "toolkit-folder"))
			continue;
		have = fact_value(&s->signs[i].value, "-");
		any = true;
		if (version_within(v + 16, have))
			return false;
	}
	return any || triage_path_gone(t, path);
}

static void absent_toolkit(struct triage *t)
{
	const struct fact *home = snapshot_env_fact(t->j->s, "CUDA_HOME");
	const struct snapshot *s = t->j->s;
	struct finding *f;
	size_t i;

	if (!home)
		home = snapshot_env_fact(t->j->s, "CUDA_PATH");
	if (home && not_listed(t, home->value)) {
		f = triage_add(t, FINDING_CUDA_HOME_WRONG, 86, NULL);
		finding_fact(t->j, f, "CUDA_HOME", home, "/usr/local/cuda");
	}
	for (i = 0; i < s->n_signs; i++)
		if (fact_is(&s->signs[i].id, "link-cuda") &&
		    not_listed(t, s->signs[i].value.value)) {
			triage_add(t, FINDING_TOOLKIT_SYMLINK_BROKEN, 86,
				   "link-cuda toolkit-folder|path-gone");
			return;
		}
}

/* A program looks for nvcc in the folder that CUDA_HOME names, and the shell has one elsewhere. */
static void home_without_nvcc(struct triage *t)
{
	static const char tail[] = "/bin/nvcc";
	const struct fact *home = snapshot_env_fact(t->j->s, "CUDA_HOME");
	const char *looked = triage_value(t, "nvcc-looked-for");
	struct finding *f;
	size_t n;

	if (!home)
		home = snapshot_env_fact(t->j->s, "CUDA_PATH");
	n = home ? strlen(home->value) : 0;
	if (!n || !looked || strncmp(looked, home->value, n) != 0)
		return;
	if (strcmp(looked + n - (home->value[n - 1] == '/'), tail) != 0)
		return;
	f = triage_add(t, FINDING_CUDA_HOME_WRONG,
		       triage_has(t, "nvcc-printed") || triage_has(t, "nvcc-path") ? 90 : 56,
		       "nvcc-looked-for");
	finding_fact(t->j, f, "CUDA_HOME", home, "/usr/local/cuda");
}

/* "10.1" of "/usr/local/cuda-10.1/bin/nvcc": the toolkit that a path names; empty when none. */
static struct view toolkit_of(const char *path)
{
	const char *v = path ? strstr(path, "/cuda-") : NULL;
	const char *win = path && !v ? strstr(path, "CUDA\\v") : NULL;

	v = v ? v + strlen("/cuda-") : win ? win + strlen("CUDA\\v") : NULL;
	return (struct view){ v, v ? strspn(v, "0123456789.") : 0 };
}

/* The shell's nvcc is of this CUDA, by its path or by what it prints. */
static bool nvcc_of(const struct triage *t, const char *cuda)
{
	struct view nvcc = toolkit_of(triage_value(t, "nvcc-path"));
	const char *kit = triage_value(t, "nvcc-release");

	return nvcc.n ? view_is(nvcc, cuda) : kit && version_within(kit, cuda);
}

/* nvcc of the shell is of PyTorch's CUDA, and CUDA_HOME, which a build asks first, of another. */
static void home_of_other(struct triage *t)
{
	const struct torch *torch = t->j->s->n_pythons ? &t->j->s->pythons[0].torch : NULL;
	const char *cuda = torch ? look_torch_cuda(t->j, torch) : NULL;
	const struct fact *v = snapshot_env_fact(t->j->s, "CUDA_HOME");
	struct view home;
	struct finding *f;

	if (!v)
		v = snapshot_env_fact(t->j->s, "CUDA_PATH");
	home = toolkit_of(v ? v->value : NULL);
	if (!cuda || !home.n || view_is(home, cuda) || !nvcc_of(t, cuda))
		return;
	f = triage_add(t, FINDING_CUDA_HOME_WRONG, 84, "nvcc-path|nvcc-release");
	finding_fact(t->j, f, "CUDA_HOME", v, cuda);
}

/* The shell's nvcc is of a conda environment, and CUDA_HOME, where a build that fails looks for
 * headers, is elsewhere. */
static void home_outside_env(struct triage *t)
{
	const struct fact *v = snapshot_env_fact(t->j->s, "CUDA_HOME");
	const char *nvcc = triage_value(t, "nvcc-path");
	struct finding *f;

	if (!v || !nvcc || v->value[0] != '/' || !strstr(nvcc, "/envs/") ||
	    strncmp(nvcc, v->value, strlen(v->value)) == 0 || !triage_has(t, "compiling"))
		return;
	f = triage_add(t, FINDING_CUDA_HOME_WRONG, 80, "nvcc-path");
	finding_fact(t->j, f, "CUDA_HOME", v, NULL);
}

/* nvcc is of none of the toolkits that a listing of /usr/local shows, and one of those is newer. */
static void of_no_folder(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *kit = triage_value(t, "nvcc-release");
	const char *nvcc = triage_value(t, "nvcc-path");
	bool newer = false;
	size_t i;

	if (!kit || (nvcc && !view_starts(view_of(nvcc), "/usr")))
		return;
	for (i = 0; i < s->n_signs; i++) {
		const char *have;

		if (!fact_is(&s->signs[i].id, "toolkit-folder"))
			continue;
		have = fact_value(&s->signs[i].value, "-");
		if (version_within(kit, have))
			return;
		newer |= version_cmp_str(have, kit) > 0;
	}
	if (newer)
		triage_add(t, FINDING_TOOLKIT_SHADOWED, 84, "nvcc-release toolkit-folder");
}

/* CUDA_HOME names a toolkit, and the nvcc that PATH finds is of an earlier one: something does not
 * compile with it. */
static void other_nvcc_first(struct triage *t)
{
	const struct fact *v = snapshot_env_fact(t->j->s, "CUDA_HOME");
	const char *kit = triage_value(t, "nvcc-release"), *home;
	struct finding *f;
	struct view of;

	if (!v)
		v = snapshot_env_fact(t->j->s, "CUDA_PATH");
	of = toolkit_of(v ? v->value : NULL);
	home = of.n ? view_dup(t->j->a, of) : NULL;
	if (!home || !kit || version_within(kit, home) || version_cmp_str(kit, home) > 0 ||
	    !triage_holds(t, "compiling|error-seen !mm-cuda-compiler", NULL))
		return;
	f = triage_add(t, FINDING_TOOLKIT_SHADOWED, triage_has(t, "distro-nvcc") ? 84 : 72,
		       "nvcc-release");
	finding_fact(t->j, f, "CUDA_HOME", v, NULL);
}

/* Somebody tells of a toolkit that was installed, and the nvcc that answers is of an earlier one:
 * most often the package of the distribution, whose releases these are. */
static void told_other_nvcc(struct triage *t)
{
	static const char *const distro[] = { "7.5.17", "9.1.85", "10.1.243", "11.5.119",
					      "12.0.140" };
	const char *told = triage_value(t, "toolkit-install-told");
	const char *kit = triage_value(t, "nvcc-release");
	bool packaged = false;
	size_t i;

	if (!told || !kit || version_within(kit, told) || version_cmp_str(kit, told) > 0)
		return;
	for (i = 0; i < ARRAY_LEN(distro); i++)
		packaged |= strcmp(kit, distro[i]) == 0;
	triage_add(t, FINDING_TOOLKIT_SHADOWED, packaged ? 74 : 62,
		   "nvcc-release toolkit-install-told");
}

/* OpenMMLab's report: the operators were compiled with another CUDA than that of PyTorch. */
static void operators_of_other(struct triage *t)
{
	const char *built = triage_value(t, "mm-cuda-compiler");
	const char *runs = triage_value(t, "mm-cuda-runtime");
	struct finding *f;

	if (!built || !runs || strcmp(built, runs) == 0 ||
	    !triage_holds(t, "no-kernel-image|abi-symbol|cuda-fails|lib-missing|crash-said", NULL))
		return;
	f = triage_add(t, FINDING_TOOLKIT_TORCH_MISMATCH, 86, "mm-cuda-compiler mm-cuda-runtime");
	finding_message(t->j, f,
			_("The operators were compiled with CUDA %s, and PyTorch is one for %s."),
			built, runs);
}

void triage_toolkit(struct triage *t)
{
	operators_of_other(t);
	of_no_folder(t);
	home_outside_env(t);
	cuda_home(t);
	absent_toolkit(t);
	home_without_nvcc(t);
	home_of_other(t);
	other_nvcc_first(t);
	told_other_nvcc(t);
}

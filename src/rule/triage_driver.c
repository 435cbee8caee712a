/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that hold the driver of a text against what else it names: programs other than PyTorch and
 * the CUDA that they bring, the manager of a host's virtual GPUs. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/triage.h"

static bool fails(const struct triage *t)
{
	return triage_no_gpu_got(t) || triage_has(t, "needs-cuda-fails");
}

/* -------- what a program brings needs a newer driver */

/* "12.2" of the TensorFlow that is installed; NULL when there is none or the table has no row. */
static const char *of_tensorflow(struct triage *t, const struct python *p)
{
	const struct package *tf = python_package(p, "tensorflow");
	const char *v = tf ? fact_value(&tf->version, NULL) : NULL;
	size_t i, n = compat_count(t->j->c, "tensorflow");

	for (i = 0; v && i < n; i++) {
		const char *row = compat_text(t->j->c, "tensorflow", i, "version");

		if (row && version_cmp_str(row, v) == 0)
			return compat_text(t->j->c, "tensorflow", i, "cuda");
	}
	return NULL;
}

/* The CUDA of a package whose name says it: "jax-cuda12-plugin", "cupy-cuda11x", "cupy-cuda112"; of
 * older releases of jaxlib the version does: "0.4.24+cuda12.cudnn89"; so does that of Paddle. */
static const char *of_name(struct triage *t, const struct python *p)
{
	static const char *const stems[] = { "jax-cuda", "cupy-cuda" };
	const struct package *jaxlib = python_package(p, "jaxlib");
	const char *label = jaxlib ? strstr(fact_value(&jaxlib->version, ""), "+cuda") : NULL;
	const struct package *paddle = python_package(p, "paddlepaddle-gpu");
	const char *post = paddle ? strstr(fact_value(&paddle->version, ""), ".post1") : NULL;
	size_t i, k;

	/* "2.4.2.post112" */
	if (post && strspn(post + strlen(".post"), "0123456789") == 3)
		return arena_printf(t->j->a, "%.2s.%c", post + strlen(".post"),
				    post[strlen(".post") + 2]);
	if (label && strspn(label + strlen("+cuda"), "0123456789") >= 2)
		return arena_printf(t->j->a, "%.2s.0", label + strlen("+cuda"));

	for (i = 0; i < p->n_packages; i++) {
		const char *name = fact_value(&p->packages[i].name, "");

		for (k = 0; k < ARRAY_LEN(stems); k++) {
			size_t n = strlen(stems[k]);

			if (strncmp(name, stems[k], n) == 0 && strspn(name + n, "0123456789") >= 2)
				return arena_printf(t->j->a, "%.2s.0", name + n);
		}
	}
	return NULL;
}

/* The least driver of that CUDA is above the one here. */
static bool below(struct triage *t, const char *cuda, const struct fact *driver,
		  const char **ret_least)
{
	const char *ceiling = fact_value(&t->j->s->driver.cuda_ceiling, NULL);
	bool inferred;

	*ret_least = compat_min_driver(t->j->c, cuda, look_is_windows(t->j->s), &inferred);
	/* Before CUDA 11 each release needed a driver of its own. */
	if (ceiling && look_branch(cuda) < 11) {
		if (version_cmp_str(ceiling, cuda) >= 0)
			return false;
	} else if (ceiling && look_branch(ceiling) >= look_branch(cuda)) {
		return false;
	}
	if (driver)
		return look_driver_below(driver->value, *ret_least);
	return ceiling != NULL && *ret_least;
}

static void needs(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct python *p = s->n_pythons ? &s->pythons[0] : NULL;
	const struct fact *driver = triage_driver(t);
	const char *cuda = p ? of_tensorflow(t, p) : NULL, *least;
	struct finding *f;

	if (!cuda && p)
		cuda = of_name(t, p);
	/* "pytorch cu121 wheels": without a version it is no torch to the other rules. */
	if (!cuda && p && !fact_known(&p->torch.version))
		cuda = fact_value(&p->torch.cuda, NULL);
	if (!cuda && triage_value(t, "needs-cuda"))
		cuda = triage_value(t, "needs-cuda");
	/* conda brings this CUDA, and with it no build for the processor alone. */
	if (!cuda && !triage_has(t, "conda-torch-cpu") && !triage_has(t, "torch-is-cpu"))
		cuda = triage_value(t, triage_has(t, "pytorch-cuda-asked")
					       ? "pytorch-cuda-asked"
					       : "conda-pytorch-toolkit");
	if (cuda && !strchr(cuda, '.'))
		cuda = arena_printf(t->j->a, "%s.0", cuda);
	if (!cuda || !fails(t) || !below(t, cuda, driver, &least) || triage_has(t, "tegra"))
		return;
	f = triage_add(t, FINDING_DRIVER_TOO_OLD, 76,
		       "needs-cuda|pytorch-cuda-asked|conda-pytorch-toolkit|cuda-ceiling");
	finding_message(t->j, f,
			_("The driver is too old for CUDA %s, which the program brings: that "
			  "needs %s or newer."),
			cuda, least);
	if (driver)
		finding_fact(t->j, f, "driver.version", driver,
			     arena_printf(t->j->a, ">= %s", least));
}

/* "driver version is insufficient", of a build whose CUDA the driver offers: it cannot be what
 * fails, and the text does not say what does. */
static void sufficient(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct python *p = s->n_pythons ? &s->pythons[0] : NULL;
	const struct fact *driver = triage_driver(t);
	const char *cuda = p ? of_tensorflow(t, p) : NULL, *ceiling;

	ceiling = driver ? compat_driver_cuda(t->j->c, driver->value) : NULL;
	if (!cuda && p)
		cuda = look_torch_cuda(t->j, &p->torch);
	if (!cuda && !p && s->n_toolkits == 1)
		cuda = fact_value(&s->toolkits[0].version, NULL);
	if (!cuda || !ceiling || !triage_holds(t, "cuda-35 !conda !conda-word !container", NULL) ||
	    version_cmp_str(ceiling, cuda) < 0)
		return;
	t->against[FINDING_DRIVER_TOO_OLD] = true;
}

/* XLA has the driver link what the toolkit's ptxas made: an older driver takes none of it. */
static void jax_link(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct fact *driver = triage_driver(t);
	const char *kit = s->n_toolkits ? fact_value(&s->toolkits[0].version, NULL) : NULL;
	const char *ceiling = driver ? compat_driver_cuda(t->j->c, driver->value) : NULL;
	const struct python *p = s->n_pythons ? &s->pythons[0] : NULL;

	if (!p || !kit || !ceiling || (!python_package(p, "jax") && !python_package(p, "jaxlib")) ||
	    !triage_holds(t, "no-kernel-image !torch !arch-misfit", NULL) ||
	    look_branch(kit) != look_branch(ceiling) || !look_driver_below(ceiling, kit))
		return;
	triage_add(t, FINDING_PTX_NEWER_THAN_DRIVER, 70, "no-kernel-image");
}

/* ggml compresses its code for the GPU, which drivers before 550 do not read. */
static void compressed(struct triage *t)
{
	const struct fact *driver = triage_driver(t);
	struct finding *f;
	size_t i;

	if (!driver || !triage_holds(t, "device-kernel-image-invalid ggml", NULL) ||
	    !look_driver_below(driver->value, "550"))
		return;
	/* For a GPU before Maxwell there is no such driver. */
	for (i = 0; i < t->j->s->n_gpus; i++)
		if (look_cc(&t->j->s->gpus[i]) > 0 && look_cc(&t->j->s->gpus[i]) < 50)
			return;
	f = triage_add(t, FINDING_DRIVER_TOO_OLD, 84, "device-kernel-image-invalid");
	finding_message(t->j, f,
			_("The program's code for the GPU is compressed, which drivers before 550 "
			  "cannot read."));
	finding_fact(t->j, f, "driver.version", driver, ">= 550");
}

/* -------- what the driver's packages hold */

/* The name, or its beginning, of any package that is installed. */
static bool installed(const struct snapshot *s, const char *const *names, size_t n)
{
	size_t i, k;

	for (i = 0; i < s->n_os_packages; i++)
		for (k = 0; k < n; k++)
			if (strncmp(fact_value(&s->os_packages[i].name, ""), names[k],
				    strlen(names[k])) == 0)
				return true;
	return false;
}

/* Where libcuda has a package of its own, a list of the driver's packages that lacks it. */
static void without_libcuda(struct triage *t)
{
	static const char *const split[] = { "xorg-x11-drv-nvidia", "nvidia-driver",
					     "nvidia-gfxG0",	    "nvidia-video-G0",
					     "x11-video-nvidiaG0",  "nvidia-kernel-" };
	static const char *const holds[] = { "xorg-x11-drv-nvidia-cuda",
					     "nvidia-driver-cuda",
					     "nvidia-compute",
					     "libcuda1",
					     "libnvidia-compute",
					     "xorg-x11-drv-nvidia-470xx-cuda",
					     "xorg-x11-drv-nvidia-390xx-cuda" };
	const struct snapshot *s = t->j->s;

	if (s->n_os_packages < 2 || !installed(s, split, ARRAY_LEN(split)) ||
	    installed(s, holds, ARRAY_LEN(holds)) ||
	    !triage_holds(t, "libcuda-missing !container !wsl !libcuda-file !lib-listed", NULL))
		return;
	triage_add(t, FINDING_LIBCUDA_NOT_INSTALLED, 80, "driver-package");
}

/* -------- virtual GPUs */

/* The release of NVIDIA's vGPU software by the branch of its drivers; 0: not known. */
static unsigned vgpu_release(const char *driver)
{
	static const struct {
		unsigned branch, release;
	} rows[] = {
		{ 390, 6 },  { 410, 7 },  { 418, 8 },  { 430, 9 },  { 440, 10 },
		{ 450, 11 }, { 460, 12 }, { 470, 13 }, { 510, 14 }, { 525, 15 },
		{ 535, 16 }, { 550, 17 }, { 570, 18 }, { 580, 19 }, { 595, 20 },
	};
	unsigned branch = look_branch(driver), found = 0;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (branch >= rows[i].branch)
			found = rows[i].release;
	return found;
}

/* A manager serves guests of its own release and of the one before; 16 has long support. */
static void vgpu(struct triage *t)
{
	const char *host = triage_value(t, "vgpu-host-version");
	const char *guest = triage_value(t, "vgpu-guest-version");
	unsigned h = host ? vgpu_release(host) : 0, g = guest ? vgpu_release(guest) : 0;

	if (!h || !g || !triage_has(t, "vgpu"))
		return;
	/* The guest's release stands in the manager's log, or in the name of a guest's driver. */
	if (!triage_has(t, "vgpu-host-package"))
		t->against[FINDING_VGPU_NEEDS_GRID_DRIVER] = true;
	if (g == h || g + 1 == h || (g == 16 && h > 16))
		return;
	triage_add(t, FINDING_VGPU_VERSION_MISMATCH, 84, "vgpu-host-version vgpu-guest-version");
	t->against[FINDING_VGPU_NEEDS_GRID_DRIVER] = true;
}

/*
 * WSL's own nvidia-smi is of the branch of the Windows driver, whose numbers begin where that of
 * the branch does (535 and 537.13). One of another branch came with a Linux driver.
 */
static void wsl_smi(struct triage *t)
{
	const char *smi = triage_value(t, "smi-two-numbers");
	const struct fact *driver = &t->j->s->driver.version;
	unsigned own, windows;

	if (!smi)
		smi = triage_value(t, "smi-release-line");
	if (!smi || !fact_known(driver) || !triage_has(t, "wsl"))
		return;
	own = look_branch(smi);
	windows = look_branch(driver->value);
	if (own <= windows && windows <= own + 5)
		return;
	if (!triage_stack_fails(t) && !triage_holds(t, "crash-said|no-device", NULL))
		return;
	triage_add(t, FINDING_WSL_LIBCUDA_SHADOWED, 84, "smi-two-numbers|smi-release-line");
	t->against[FINDING_NO_FAULT] = true;
}

void triage_driver_rules(struct triage *t)
{
	needs(t);
	sufficient(t);
	jax_link(t);
	compressed(t);
	without_libcuda(t);
	vgpu(t);
	wsl_smi(t);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Remedies of a pasted text about the driver's branch, its libraries and its services. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/mend.h"

static bool in_container(const struct triage *t)
{
	return look_in_container(t->j->s) || triage_has(t, "container") ||
	       triage_has(t, "container-said");
}

static bool on_windows(const struct triage *t)
{
	return look_is_windows(t->j->s) || triage_has(t, "windows") || triage_has(t, "wsl") ||
	       triage_has(t, "docker-desktop") || triage_has(t, "word-windows-driver");
}

/* Of that release of CUDA itself, with which its PTX and all of its features work. */
static const char *least_driver(struct triage *t, const char *cuda)
{
	const struct cuda_row *row = cuda ? compat_cuda(t->j->c, cuda) : NULL;

	return !row ? NULL : on_windows(t) ? row->min_driver_windows : row->min_driver_linux;
}

/* The driver is upgraded where it is: on the host, in Windows, by the distribution's package. */
static void upgrade(struct triage *t, struct finding *f, const char *cuda, const char *least)
{
	const char *branch = cuda ? remedy_branch(t->j, cuda) : remedy_branch_for_gpus(t->j, least);
	const char *which;
	struct remedy *r;

	if (!in_container(t) && !on_windows(t)) {
		remedy_driver(t->j, f, branch, DRIVER_ANY);
		return;
	}
	if (!least)
		least = branch;
	which = least ? arena_printf(t->j->a, _("a driver of version %s or later"), least)
		      : _("the current NVIDIA driver");
	r = finding_remedy(
		t->j, f,
		on_windows(t)
			? _("In Windows, never inside WSL or a container: install %s from "
			    "https://www.nvidia.com/drivers; with WSL run `wsl --shutdown` then.")
			: _("On the host, not in the container: install %s, reboot, and start the "
			    "container anew."),
		which);
	r->needs_root = true;
	r->needs_reboot = true;
}

/* -------- too old for a build, an image, PTX */

/* The CUDA that the driver offers, by the text's words or its version. */
static const char *offered(struct triage *t)
{
	const char *found = triage_found_cuda(t);

	if (found)
		return found;
	return look_cuda_driver(t->j->s)
		       ? compat_driver_cuda(t->j->c, look_cuda_driver(t->j->s)->value)
		       : NULL;
}

static bool too_old(struct triage *t, struct finding *f)
{
	const char *cuda = mend_torch_cuda(t), *has = offered(t), *least = NULL;
	bool inferred;

	if (cuda)
		least = compat_min_driver(t->j->c, cuda, on_windows(t), &inferred);
	upgrade(t, f, cuda, least);
	if (has)
		finding_remedy(
			t->j, f,
			_("Where the driver cannot change: it runs CUDA up to %s; use a build of "
			  "the program, or an image, for that or an earlier CUDA."),
			has);
	return true;
}

/* "cuda>=12.8" */
static bool image(struct triage *t, struct finding *f)
{
	const char *cuda = mend_piece(t, "unsatisfied", "cuda>=", "0123456789.");
	const char *least = cuda ? least_driver(t, cuda + 6) : NULL;

	if (!least)
		return false;
	upgrade(t, f, cuda + 6, least);
	finding_remedy(
		t->j, f,
		_("Or take an image tag of an earlier CUDA than %s. Where the CUDA major is the "
		  "same and no PTX has to be compiled, `docker run -e NVIDIA_DISABLE_REQUIRE=1` "
		  "skips the check."),
		cuda + 6);
	return true;
}

static bool ptx(struct triage *t, struct finding *f)
{
	const struct snapshot *s = t->j->s;
	const struct fact *driver = triage_driver(t);
	const char *cuda = s->n_toolkits
				   ? mend_minor(t, fact_value(&s->toolkits[0].version, NULL))
				   : NULL;
	const char *has = driver ? compat_driver_cuda(t->j->c, driver->value) : NULL, *least;
	int cc = s->n_gpus ? look_cc(&s->gpus[0]) : -1;

	if (!cuda)
		cuda = mend_torch_cuda(t);
	least = cuda ? least_driver(t, cuda) : NULL;
	if (!least || (driver && !look_driver_below(driver->value, least)))
		return false;
	finding_remedy(
		t->j, f,
		_("The program's PTX is of CUDA %s, which drivers compile from %s on: upgrade the "
		  "driver (in a container, the host's) to that or later."),
		cuda, least)
		->needs_reboot = true;
	if (has)
		finding_remedy(
			t->j, f,
			_("Or build it with CUDA %s or earlier, which this driver knows, or take "
			  "such a build."),
			has);
	if (cc > 0)
		finding_remedy(
			t->j, f,
			_("Or compile machine code for the GPU, which needs no compiler in the "
			  "driver: `-gencode arch=compute_%d,code=sm_%d` for nvcc, "
			  "TORCH_CUDA_ARCH_LIST=%d.%d for add-ons of PyTorch."),
			cc, cc, cc / 10, cc % 10);
	return true;
}

static bool compat(struct triage *t, struct finding *f)
{
	const struct snapshot *s = t->j->s;
	const char *cuda = s->n_toolkits
				   ? mend_minor(t, fact_value(&s->toolkits[0].version, NULL))
				   : NULL;
	const char *ceiling = fact_value(&s->driver.cuda_ceiling, NULL), *own;
	const struct fact *driver = triage_driver(t);
	struct remedy *r;

	/* The compat library says its own CUDA, which is more than the driver has. */
	own = driver ? compat_driver_cuda(t->j->c, driver->value) : NULL;
	if (!cuda && ceiling && own && version_cmp_str(ceiling, own) > 0)
		cuda = ceiling;
	if (!cuda)
		cuda = mend_torch_cuda(t);
	if (least_driver(t, cuda))
		upgrade(t, f, cuda, least_driver(t, cuda));
	else
		finding_remedy(
			t->j, f, "%s",
			_("Upgrade the driver of the host to one of the image's CUDA or later; the "
			  "compat library is not needed then."))
			->needs_reboot = true;
	r = finding_remedy(
		t->j, f, "%s",
		in_container(t)
			? _("Or keep the compat library out of the way, in the container or in "
			    "the image: the driver's own libcuda is taken then, and within one "
			    "CUDA major it suffices. Or use an image of an earlier CUDA.")
			: _("Or keep the compat library out of the way: the driver's own libcuda "
			    "is taken then, and within one CUDA major it suffices."));
	remedy_command(t->j, r, "unset LD_LIBRARY_PATH");
	if (in_container(t))
		remedy_command(t->j, r, "rm -rf /usr/local/cuda/compat && ldconfig");
	else
		remedy_command(t->j, r, "sudo apt-get remove 'cuda-compat-*' && sudo ldconfig");
	return true;
}

/* -------- the branch that the GPU needs */

static const char *last_branch(struct triage *t)
{
	const char *said = triage_value(t, "nvrm-legacy");
	const struct gpu_row *row;
	size_t i;

	if (said && look_branch(said) >= 300)
		return arena_printf(t->j->a, "%u", look_branch(said));
	for (i = 0; i < t->j->s->n_gpus; i++) {
		row = look_gpu_row(t->j, &t->j->s->gpus[i]);
		if (row && row->last_driver)
			return row->last_driver;
	}
	return NULL;
}

/* Distributions that keep legacy branches under names of their own. */
static bool legacy_package(struct triage *t, struct finding *f, const char *branch)
{
	struct remedy *r;

	switch (distro_family(t->j->s)) {
	case FAMILY_NIXOS:
		r = finding_remedy(
			t->j, f,
			_("In configuration.nix set hardware.nvidia.package = "
			  "config.boot.kernelPackages.nvidiaPackages.legacy_%s; and hardware.nvidia.open = "
			  "false; then rebuild and reboot."),
			branch);
		remedy_command(t->j, r, "sudo nixos-rebuild boot");
		break;
	case FAMILY_ARCH:
		r = finding_remedy(
			t->j, f,
			_("Replace the driver's packages by the legacy branch from the AUR (here with the "
			  "helper yay), rebuild the initramfs and reboot."));
		remedy_command(t->j, r, "yay -S nvidia-%sxx-dkms nvidia-%sxx-utils", branch,
			       branch);
		remedy_command(t->j, r, "sudo mkinitcpio -P");
		break;
	case FAMILY_FEDORA:
		r = finding_remedy(
			t->j, f,
			_("Replace the driver's packages by RPM Fusion's of branch %s and "
			  "reboot."),
			branch);
		remedy_command(t->j, r,
			       "sudo dnf install --allowerasing akmod-nvidia-%sxx "
			       "xorg-x11-drv-nvidia-%sxx-cuda",
			       branch, branch);
		break;
	default:
		return false;
	}
	remedy_command(t->j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
	return true;
}

static bool legacy(struct triage *t, struct finding *f)
{
	const char *branch = last_branch(t);

	if (!branch)
		return false;
	if (in_container(t) || on_windows(t) || !legacy_package(t, f, branch))
		remedy_driver(t->j, f, branch, DRIVER_PROPRIETARY);
	return true;
}

/* The same branch where it still drives the card; the last that does is 580. */
static bool proprietary(struct triage *t, struct finding *f)
{
	const struct fact *driver = triage_driver(t);
	unsigned has = driver ? look_branch(driver->value) : 0;
	const char *branch = has && has < 580 ? arena_printf(t->j->a, "%u", has) : "580";

	if (distro_family(t->j->s) == FAMILY_NIXOS || distro_family(t->j->s) == FAMILY_ARCH)
		return legacy_package(t, f, "580");
	if (distro_family(t->j->s) == FAMILY_UBUNTU) {
		remedy_driver(t->j, f, "580", DRIVER_PROPRIETARY);
		return true;
	}
	finding_remedy(
		t->j, f,
		_("Install the proprietary flavour of the modules, in the driver's branch %s (the .run "
		  "installer: `-M proprietary`; NVIDIA's repository: cuda-drivers-%s), and reboot. It "
		  "drives the newer cards beside it as well, unless one is a Blackwell, which needs the "
		  "open flavour."),
		branch, branch)
		->needs_reboot = true;
	return true;
}

static bool plain_driver(struct triage *t, struct finding *f, enum driver_kind kind)
{
	const char *branch = remedy_branch_for_gpus(t->j, NULL);

	/* What the GPUs are is not known: the distribution knows its own driver for them. */
	if (!t->j->s->n_gpus && distro_family(t->j->s) != FAMILY_RHEL)
		branch = NULL;
	if (in_container(t) || on_windows(t))
		upgrade(t, f, NULL, NULL);
	else
		remedy_driver(t->j, f, branch, kind);
	return true;
}

/* -------- parts of it */

static bool libcuda(struct triage *t, struct finding *f)
{
	const struct fact *driver = triage_driver(t);
	unsigned branch = driver ? look_branch(driver->value) : 0;
	const char *release = fact_value(&t->j->s->host.os_version, NULL);
	bool ubuntu = distro_family(t->j->s) == FAMILY_UBUNTU;
	struct distro_names names = {
		.debian = "libcuda1", .ubuntu = "", .rhel = "nvidia-driver-cuda-libs",
		.fedora = "xorg-x11-drv-nvidia-cuda-libs", .suse = "nvidia-compute-G06",
		.arch = "nvidia-utils",
	};
	struct remedy *r;

	if (distro_family(t->j->s) == FAMILY_OTHER || distro_family(t->j->s) == FAMILY_NIXOS ||
	    (ubuntu && !branch))
		return false;
	if (ubuntu)
		names.ubuntu = arena_printf(
			t->j->a,
			(release && !version_at_least(release, "18.04")) || branch < 390
				? "libcuda1-%u"
				: "libnvidia-compute-%u",
			branch);
	r = finding_remedy(
		t->j, f, "%s",
		_("Install the package that holds it, of the driver's own version. Do not copy the "
		  "stub of the toolkit."));
	if (distro_install(t->j, r, &names))
		remedy_command(t->j, r, "ldconfig -p | grep libcuda.so.1");
	r->needs_root = true;
	return true;
}

static bool fabric_version(struct triage *t, struct finding *f)
{
	const char *v = mend_piece(t, "fm-version", "with driver version ", "0123456789.");
	struct remedy *r;
	unsigned branch;

	v = v ? v + 20 : triage_driver(t) ? triage_driver(t)->value : NULL;
	if (v && strchr(v, '-'))
		v = arena_strndup(t->j->a, v, strcspn(v, "-"));
	branch = v ? look_branch(v) : 0;
	if (!branch || !strchr(v, '.') || strspn(v, "0123456789.") != strlen(v))
		return false;
	r = finding_remedy(
		t->j, f,
		_("Bring the Fabric Manager to exactly the driver's version, %s, start it anew, and "
		  "hold both packages so that they move together."),
		v);
	if (distro_family(t->j->s) == FAMILY_RHEL)
		remedy_command(t->j, r, "sudo dnf install nvidia-fabric-manager-%s", v);
	else if (branch >= 580)
		remedy_command(t->j, r, "sudo apt-get install nvidia-fabricmanager='%s-*'", v);
	else
		remedy_command(t->j, r, "sudo apt-get install nvidia-fabricmanager-%u='%s-*'",
			       branch, v);
	remedy_command(t->j, r, "sudo systemctl restart nvidia-fabricmanager");
	r->needs_root = true;
	return true;
}

static bool fabric(struct triage *t, struct finding *f)
{
	const struct fact *driver = triage_driver(t);
	unsigned branch = driver ? look_branch(driver->value) : 0;
	struct remedy *r;

	if (triage_has(t, "word-rented") || triage_has(t, "k8s") || !branch) {
		finding_remedy(
			t->j, f, "%s",
			_("The Fabric Manager runs on the host: on a rented or hosted machine only "
			  "the provider can start it, so report the node and take another."));
		if (triage_has(t, "word-rented"))
			return true;
	}
	r = finding_remedy(
		t->j, f, "%s",
		_("On a machine of your own, on the host: start it; if it is not installed, "
		  "install it in exactly the driver's version first. Its log tells why it does "
		  "not start."));
	if (branch && distro_family(t->j->s) != FAMILY_RHEL && branch < 580)
		remedy_command(t->j, r, "sudo apt-get install nvidia-fabricmanager-%u", branch);
	remedy_command(t->j, r, "sudo systemctl enable --now nvidia-fabricmanager");
	remedy_command(t->j, r, "sudo journalctl -u nvidia-fabricmanager -n 50");
	r->needs_root = true;
	return true;
}

static bool reload(struct triage *t, struct finding *f)
{
	if (on_windows(t) || in_container(t))
		return false;
	remedy_reload(t->j, f);
	return true;
}

bool mend_driver(struct triage *t, struct finding *f)
{
	switch (f->id) {
	case FINDING_DRIVER_TOO_OLD:
		return too_old(t, f);
	case FINDING_IMAGE_REQUIRES_NEWER_DRIVER:
		return image(t, f);
	case FINDING_PTX_NEWER_THAN_DRIVER:
		return ptx(t, f);
	case FINDING_CUDA_COMPAT_UNSUPPORTED_GPU:
		return compat(t, f);
	case FINDING_GPU_DROPPED_BY_DRIVER:
		return legacy(t, f);
	case FINDING_OPEN_MODULE_UNSUPPORTED_GPU:
		return proprietary(t, f);
	case FINDING_OPEN_MODULE_REQUIRED:
		return plain_driver(t, f, DRIVER_OPEN);
	case FINDING_GPU_NEEDS_NEWER_DRIVER:
	case FINDING_DRIVER_NOT_INSTALLED:
		return plain_driver(t, f, DRIVER_ANY);
	case FINDING_LIBCUDA_NOT_INSTALLED:
		return libcuda(t, f);
	case FINDING_FABRIC_MANAGER_VERSION_MISMATCH:
		return fabric_version(t, f);
	case FINDING_FABRIC_MANAGER_NOT_RUNNING:
		return fabric(t, f);
	case FINDING_DRIVER_LIBRARY_MISMATCH:
		return reload(t, f);
	default:
		return false;
	}
}

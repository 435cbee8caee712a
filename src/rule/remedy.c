/* SPDX-License-Identifier: Apache-2.0 */
/* Remedies about drivers and containers, in the words of the distribution. Commands only; nothing
 * is run. */
#include "rule/remedy.h"

#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "rule/distro.h"
#include "rule/look.h"

static bool plain_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("/._-+=:,@%", c) != NULL);
}

const char *shell_word(struct arena *a, const char *text)
{
	struct strbuf b;
	const char *p;
	bool plain = *text != '\0';

	for (p = text; *p && plain; p++)
		plain = plain_char(*p);
	if (plain)
		return text;
	strbuf_init(&b, a);
	strbuf_addc(&b, '\'');
	for (p = text; *p; p++) {
		if (*p == '\'')
			strbuf_add(&b, "'\\''");
		else
			strbuf_addc(&b, *p);
	}
	strbuf_addc(&b, '\'');
	return b.s;
}

/* -------- which driver */

enum driver_kind remedy_driver_kind(struct judge *j)
{
	enum driver_kind kind = DRIVER_ANY;
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);

		if (!row || !row->open_module)
			continue;
		if (strcmp(row->open_module, "unsupported") == 0)
			return DRIVER_PROPRIETARY;
		if (strcmp(row->open_module, "required") == 0)
			kind = DRIVER_OPEN;
	}
	return kind;
}

const char *remedy_branch(struct judge *j, const char *cuda)
{
	bool inferred;
	const char *branch = compat_recommended_branch(j->c, cuda);
	const char *least = compat_min_driver(j->c, cuda, look_is_windows(j->s), &inferred);
	const char *last = NULL;
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);

		if (row && row->last_driver && look_gpu_used(j->s, i) &&
		    (!last || look_branch(row->last_driver) < look_branch(last)))
			last = row->last_driver;
	}
	if (!last || (branch && look_branch(branch) <= look_branch(last)))
		return branch;
	return least && look_branch(least) <= look_branch(last) ? last : NULL;
}

/* Cards that need the open kernel modules beside cards that those do not drive. */
static bool flavors_clash(struct judge *j)
{
	bool required = false, unsupported = false;
	size_t i;

	for (i = 0; i < j->s->n_gpus && !look_is_windows(j->s); i++) {
		const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);

		if (!row || !row->open_module)
			continue;
		required = required || strcmp(row->open_module, "required") == 0;
		unsupported = unsupported || strcmp(row->open_module, "unsupported") == 0;
	}
	return required && unsupported;
}

const char *remedy_branch_for_gpus(struct judge *j, const char *least)
{
	/* Every maintained branch knows CUDA 12; the oldest of them drives the most. */
	const char *branch = compat_recommended_branch(j->c, "12.0"), *first = least;
	size_t i;

	if (flavors_clash(j))
		return NULL;
	if (least && look_branch(branch) < look_branch(least))
		branch = arena_printf(j->a, "%u", look_branch(least));
	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);

		if (!row)
			continue;
		if (row->last_driver &&
		    (!branch || look_branch(row->last_driver) < look_branch(branch)))
			branch = row->last_driver;
		if (row->first_driver && look_branch(row->first_driver) > look_branch(first))
			first = row->first_driver;
	}
	return branch && look_branch(branch) >= look_branch(first) ? branch : NULL;
}

/* -------- how to install it */

/* Branches that Ubuntu's own archive carries as nvidia-driver-N (22.04 and later). */
static bool ubuntu_has(const struct snapshot *s, unsigned branch)
{
	static const unsigned branches[] = { 390, 470, 535, 550, 570, 580 };
	size_t i;

	if (!version_at_least(fact_value(&s->host.os_version, "22.04"), "22.04"))
		return false;
	for (i = 0; i < ARRAY_LEN(branches); i++)
		if (branches[i] == branch)
			return true;
	return false;
}

/* Branch of the nvidia-driver package in Debian's own archive; 0 when not known. */
static unsigned debian_branch(const struct snapshot *s)
{
	const char *version = fact_value(&s->host.os_version, "");

	return look_branch(version) == 13   ? 550
	       : look_branch(version) == 12 ? 535
	       : look_branch(version) == 11 ? 470
					    : 0;
}

static void driver_page(struct judge *j, struct finding *f, const char *branch)
{
	struct remedy *r;

	if (branch)
		r = finding_remedy(
			j, f,
			_("Install a driver of branch %s from https://www.nvidia.com/drivers (the "
			  ".run file), "
			  "or the package of that branch of your distribution, then reboot."),
			branch);
	else
		r = finding_remedy(
			j, f, "%s",
			_("Install the driver that your distribution packages for this GPU, or "
			  "the one from "
			  "https://www.nvidia.com/drivers (the .run file), then reboot."));
	r->needs_root = true;
	r->needs_reboot = true;
}

const char *remedy_driver_text(struct judge *j, const char *branch, bool open)
{
	if (!branch)
		return open ? _("Install the NVIDIA driver with the open kernel modules and "
				"reboot.")
			    : _("Install the NVIDIA driver and reboot.");
	return arena_printf(j->a,
			    open ? _("Install driver branch %s with the open kernel modules and "
				     "reboot.")
				 : _("Install driver branch %s and reboot."),
			    branch);
}

static struct remedy *host_remedy(struct judge *j, struct finding *f, const char *branch, bool open)
{
	struct remedy *r = finding_remedy(j, f, "%s", remedy_driver_text(j, branch, open));

	r->needs_root = true;
	r->needs_reboot = true;
	return r;
}

static void driver_ubuntu(struct judge *j, struct finding *f, const char *branch, bool open)
{
	struct remedy *r;

	if (branch && !ubuntu_has(j->s, look_branch(branch))) {
		driver_page(j, f, branch);
		return;
	}
	r = host_remedy(j, f, branch, open);
	remedy_command(j, r, "sudo apt-get update");
	if (branch)
		remedy_command(j, r, "sudo apt-get install nvidia-driver-%s%s", branch,
			       open ? "-open" : "");
	else
		remedy_command(j, r, "sudo ubuntu-drivers install");
	remedy_command(j, r, "sudo reboot");
}

bool remedy_drives_all(struct judge *j, unsigned branch)
{
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);

		if (row && ((row->last_driver && look_branch(row->last_driver) < branch) ||
			    (row->first_driver && look_branch(row->first_driver) > branch)))
			return false;
	}
	return true;
}

static void driver_debian(struct judge *j, struct finding *f, const char *branch, bool open)
{
	unsigned packaged = debian_branch(j->s);
	struct remedy *r;

	/* No driver at all: the distribution's own is the lightest, where it drives every GPU. */
	if (f->id == FINDING_DRIVER_NOT_INSTALLED && packaged >= 470 &&
	    remedy_drives_all(j, packaged))
		branch = NULL;

	if (!packaged || (branch && packaged < look_branch(branch)) || (open && packaged < 535) ||
	    !remedy_drives_all(j, packaged)) {
		driver_page(j, f, branch);
		return;
	}
	r = host_remedy(j, f, NULL, open);
	remedy_command(j, r, "sudo apt-get update");
	remedy_command(
		j, r,
		"sudo apt-get install linux-headers-$(dpkg --print-architecture) nvidia-driver%s",
		open ? " nvidia-open-kernel-dkms" : "");
	remedy_command(j, r, "sudo reboot");
}

/* RHEL 8 and 9 keep a module stream a branch in NVIDIA's repository. */
static void driver_rhel(struct judge *j, struct finding *f, const char *branch, bool open)
{
	const struct snapshot *s = j->s;
	unsigned release = look_branch(fact_value(&s->host.os_version, ""));
	struct remedy *r;

	/* Streams begin with 418 there, for release 9 with 515. */
	if (!branch || release < 8 || release > 9 ||
	    look_branch(branch) < (release == 9 ? 515U : 418U)) {
		driver_page(j, f, branch);
		return;
	}
	r = host_remedy(j, f, branch, open);
	remedy_command(
		j, r,
		"sudo dnf config-manager --add-repo "
		"https://developer.download.nvidia.com/compute/cuda/repos/rhel%u/%s/"
		       "cuda-rhel%u.repo",
		release, strcmp(look_platform(s), "linux_aarch64") == 0 ? "sbsa" : "x86_64",
		release);
	remedy_command(j, r, "sudo dnf module reset nvidia-driver");
	remedy_command(j, r, "sudo dnf module install nvidia-driver:%s-%s", branch,
		       open ? "open" : "dkms");
	remedy_command(j, r, "sudo reboot");
}

/* SUSE signs the open modules and has them in its own repository; the libraries have to be of the
 * same version. */
static void driver_suse(struct judge *j, struct finding *f)
{
	struct remedy *r = host_remedy(j, f, NULL, true);
	const char *id = fact_value(&j->s->host.os_id, "");
	bool tumbleweed = strstr(id, "tumbleweed") != NULL;

	if (strstr(id, "opensuse"))
		remedy_command(j, r, "sudo zypper install openSUSE-repos-%s-NVIDIA",
			       tumbleweed ? "Tumbleweed" : "Leap");
	else
		remedy_command(j, r,
			       "sudo zypper addrepo --refresh "
			       "https://download.nvidia.com/suse/sle%ssp%s NVIDIA",
			       arena_printf(j->a, "%u",
					    look_branch(fact_value(&j->s->host.os_version, "15"))),
			       strchr(fact_value(&j->s->host.os_version, "15.6"), '.')
				       ? strchr(fact_value(&j->s->host.os_version, "15.6"), '.') + 1
				       : "6");
	remedy_command(j, r, "sudo zypper install nvidia-open-driver-G06-signed-kmp-meta");
	remedy_command(j, r, "sudo zypper install nvidia-compute-utils-G06");
	remedy_command(j, r, "sudo reboot");
}

/* There the driver is configuration: neither the .run file nor a package manager installs it. */
static void driver_nixos(struct judge *j, struct finding *f, const char *branch,
			 enum driver_kind kind)
{
	const char *open = kind == DRIVER_PROPRIETARY ? "false" : "true";
	struct remedy *r = finding_remedy(
		j, f,
		_("In configuration.nix, with unfree packages allowed, set "
		  "services.xserver.videoDrivers = [ \"nvidia\" ]; and hardware.nvidia.open = %s; "
		  "(another branch: hardware.nvidia.package), rebuild and reboot."),
		open);

	if (branch && kind == DRIVER_PROPRIETARY)
		r->text = arena_printf(j->a, "%s %s", r->text,
				       arena_printf(j->a, _("The branch has to be %s."), branch));
	remedy_command(j, r, "sudo nixos-rebuild boot");
	remedy_command(j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
}

/* Where the driver is not this system's own: Windows has it, or the container's host. */
static void elsewhere(struct judge *j, struct finding *f, const char *branch)
{
	const char *which = branch ? arena_printf(j->a, _("the NVIDIA driver of branch %s"), branch)
				   : _("the NVIDIA driver");

	if (look_in_container(j->s))
		finding_remedy(
			j, f,
			_("On the host, not in the container: install %s, then start the "
			  "container anew."),
			which)
			->needs_root = true;
	else if (look_is_wsl(j->s))
		finding_remedy(j, f,
			       _("In Windows, never inside WSL: install %s or newer from "
				 "https://www.nvidia.com/drivers, then run `wsl --shutdown`."),
			       which)
			->needs_reboot = true;
	else
		finding_remedy(
			j, f,
			_("Install %s or newer for Windows from https://www.nvidia.com/drivers."),
			which)
			->needs_reboot = true;
}

void remedy_driver(struct judge *j, struct finding *f, const char *branch, enum driver_kind kind)
{
	const struct snapshot *s = j->s;
	struct remedy *r;
	bool open;

	if (kind == DRIVER_ANY)
		kind = remedy_driver_kind(j);
	open = kind == DRIVER_OPEN;
	if (look_is_windows(s) || look_in_container(s)) {
		elsewhere(j, f, branch);
		return;
	}
	if (driver_package(j, f, branch, kind))
		return;
	switch (distro_family(s)) {
	case FAMILY_UBUNTU:
		driver_ubuntu(j, f, branch, open);
		return;
	case FAMILY_DEBIAN:
		driver_debian(j, f, branch, open);
		return;
	case FAMILY_RHEL:
		driver_rhel(j, f, branch, open);
		return;
	case FAMILY_ARCH:
		/* Arch carries the newest branch alone. */
		if (kind == DRIVER_PROPRIETARY)
			break;
		r = host_remedy(j, f, NULL, true);
		remedy_command(j, r, "sudo pacman -Syu nvidia-open-dkms nvidia-utils");
		remedy_command(j, r, "sudo reboot");
		return;
	case FAMILY_FEDORA:
		/*
		 * RPM Fusion's akmod-nvidia is the newest branch (legacy ones: driver_package), and
		 * Amazon Linux, which calls itself alike, has no such repository.
		 */
		if (kind == DRIVER_PROPRIETARY || fact_is(&s->host.os_id, "amzn"))
			break;
		r = host_remedy(j, f, NULL, open);
		r->text = arena_printf(j->a, "%s %s", r->text,
				       _("Its packages are RPM Fusion's (nonfree, "
					 "https://rpmfusion.org/Configuration)."));
		remedy_command(j, r, "sudo dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda");
		remedy_command(j, r, "sudo reboot");
		return;
	case FAMILY_NIXOS:
		driver_nixos(j, f, branch, kind);
		return;
	case FAMILY_SUSE:
		if (kind == DRIVER_PROPRIETARY)
			break;
		driver_suse(j, f);
		return;
	case FAMILY_OTHER:
		break;
	}
	driver_page(j, f, branch);
}

/* A desktop that runs: gdm and its kin, by the probe of services. */
static bool desktop_runs(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_services; i++)
		if (strstr(fact_value(&s->services[i].name, ""), "dm") &&
		    !strstr(s->services[i].name.value, "nvidia") &&
		    fact_is(&s->services[i].state, "active"))
			return true;
	return false;
}

void remedy_reload(struct judge *j, struct finding *f)
{
	struct remedy *r;

	r = finding_remedy(
		j, f, "%s",
		_("Reboot, so that the kernel loads the modules that belong to the installed "
		  "libraries."));
	remedy_command(j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
	r = finding_remedy(
		j, f, "%s",
		_("Without a reboot: stop everything that uses the GPU (also the desktop), then "
		  "reload the modules."));
	if (desktop_runs(j->s))
		remedy_command(j, r, "sudo systemctl isolate multi-user.target");
	remedy_command(j, r, "sudo rmmod nvidia_drm nvidia_modeset nvidia_uvm nvidia");
	remedy_command(j, r, "sudo modprobe nvidia && sudo modprobe nvidia_uvm");
	r->needs_root = true;
}

void remedy_start_container(struct judge *j, struct finding *f)
{
	struct remedy *r;

	if (fact_is(&j->s->container.kind, "kubernetes")) {
		finding_remedy(
			j, f, "%s",
			_("Ask for a GPU in the pod: resources.limits \"nvidia.com/gpu: 1\", on a "
			  "node "
			  "with the NVIDIA device plugin."));
		return;
	}
	if (fact_is(&j->s->container.kind, "singularity")) {
		r = finding_remedy(j, f, "%s",
				   _("Start the container with the host's GPU libraries."));
		remedy_command(j, r, "apptainer exec --nv IMAGE.sif COMMAND");
		return;
	}
	r = finding_remedy(
		j, f, "%s",
		_("Start the container anew with the GPUs (the host needs the driver and the "
		  "NVIDIA Container Toolkit)."));
	if (fact_is(&j->s->container.kind, "podman"))
		remedy_command(j, r, "podman run --device nvidia.com/gpu=all IMAGE");
	else
		remedy_command(j, r, "docker run --gpus all IMAGE");
}

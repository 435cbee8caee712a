/* SPDX-License-Identifier: Apache-2.0 */
/* Remedies of a pasted text about modules, device nodes, and what holds the GPU in their place. */
#include <string.h>

#include "base/arena.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/mend.h"

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

static bool nouveau(struct triage *t, struct finding *f)
{
	struct remedy *r;

	if (distro_family(t->j->s) == FAMILY_OTHER || triage_has(t, "other-fb"))
		return false;
	r = finding_remedy(t->j, f, "%s",
			   _("Keep nouveau from loading, also out of the initramfs, and reboot."));
	remedy_blacklist(t->j, r, "nouveau");
	remedy_command(t->j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
	return true;
}

/* The key file that the text names, else where the distribution keeps its own. */
static bool secure_boot(struct triage *t, struct finding *f)
{
	static const char *const keys[] = {
		[FAMILY_UBUNTU] = "/var/lib/shim-signed/mok/MOK.der",
		[FAMILY_DEBIAN] = "/var/lib/dkms/mok.pub",
		[FAMILY_RHEL] = "/var/lib/dkms/mok.pub",
		[FAMILY_FEDORA] = "/etc/pki/akmods/certs/public_key.der",
		[FAMILY_NIXOS] = NULL,
	};
	enum family family = distro_family(t->j->s);
	const char *key = triage_value(t, "word-key-file");
	struct remedy *r;

	if (!key)
		key = (size_t)family < ARRAY_LEN(keys) ? keys[family] : NULL;
	if (!key)
		return false;
	r = finding_remedy(
		t->j, f, "%s",
		_("Enrol the key with which the module is signed: choose a password, reboot, and at the "
		  "blue screen choose Enroll MOK and give it. Or use modules that the distribution has "
		  "signed, or switch Secure Boot off in the firmware set-up."));
	remedy_command(t->j, r, "sudo mokutil --import %s", shell_word(t->j->a, key));
	remedy_command(t->j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
	return true;
}

/* Arch has the headers of each kernel in a package of its own. */
static bool not_built(struct triage *t, struct finding *f)
{
	const char *kernel = triage_value(t, "word-arch-kernel");
	struct remedy *r;

	if (distro_family(t->j->s) != FAMILY_ARCH)
		return false;
	if (triage_has(t, "dkms-failed") || triage_has(t, "dkms-make-error") ||
	    triage_has(t, "module-source-error")) {
		r = finding_remedy(
			t->j, f, "%s",
			_("The module's source does not compile for this kernel: bring the driver's "
			  "packages up to date (a legacy branch: its -dkms package of the AUR, which "
			  "carries patches for new kernels), or boot the kernel linux-lts."));
		remedy_command(t->j, r, "sudo pacman -Syu linux-lts linux-lts-headers");
		r->needs_root = true;
		r->needs_reboot = true;
		return true;
	}
	r = finding_remedy(
		t->j, f, "%s",
		_("Update the system and reboot into the kernel that it brings, with the headers of that "
		  "kernel installed, so that DKMS builds the module. The packages nvidia and nvidia-open "
		  "hold modules of the kernel linux alone: other kernels need the one that ends in -dkms."));
	remedy_command(t->j, r, "sudo pacman -Syu --needed %s-headers",
		       kernel ? shell_word(t->j->a, kernel) : "linux");
	remedy_command(t->j, r, "sudo dkms autoinstall");
	remedy_command(t->j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
	return true;
}

static bool vfio(struct triage *t, struct finding *f)
{
	struct remedy *r;

	finding_remedy(
		t->j, f, "%s",
		_("If a virtual machine is to have the GPU, nothing is broken: run the work in that "
		  "machine."))
		->risk = RISK_SAFE;
	r = finding_remedy(
		t->j, f, "%s",
		_("To have it on the host, take its id out of vfio-pci.ids (the first command shows where it "
		  "stands; on the kernel command line it is set in /etc/default/grub), then build the "
		  "initramfs anew and reboot."));
	remedy_command(t->j, r, "grep -rn vfio /etc/modprobe.d /etc/default/grub /proc/cmdline");
	if (distro_family(t->j->s) != FAMILY_OTHER)
		remedy_initramfs(t->j, r);
	r->needs_root = true;
	r->needs_reboot = true;
	return true;
}

/* "crw-rw---- 1 root video 505, 1 /dev/nvhost-gpu": the group is the fourth word. */
static const char *group_of(struct triage *t)
{
	const struct sign *g = triage_sign(t, "node-closed");
	struct view rest = view_of(g ? fact_value(&g->text, "") : ""), w;
	size_t i;

	for (i = 0; i < 4; i++)
		if (!view_word(&rest, &w))
			return NULL;
	if (view_is(w, "root") || !w.n || w.n > 32)
		return NULL;
	for (i = 0; i < w.n; i++)
		if (!strchr(NAME_CHARS, w.p[i]))
			return NULL;
	return view_dup(t->j->a, w);
}

static bool odd_mode(struct triage *t)
{
	const struct sign *g = triage_sign(t, "node-closed");

	return g && strlen(fact_value(&g->text, "")) > 10 &&
	       strncmp(fact_value(&g->text, ""), "crw-rw", 6) != 0 &&
	       strncmp(fact_value(&g->text, ""), "crw-------", 10) != 0;
}

static bool permissions(struct triage *t, struct finding *f)
{
	const char *group = group_of(t), *user = triage_value(t, "word-service-user");
	struct remedy *r;

	if (odd_mode(t)) {
		r = finding_remedy(
			t->j, f, "%s",
			_("The mode is wrong by the module's parameter: find what sets it with `grep -rn "
			  "NVreg_DeviceFile /etc/modprobe.d /lib/modprobe.d`, make NVreg_DeviceFileMode "
			  "0666, or 0660 with the right NVreg_DeviceFileGID, and reboot. The command mends "
			  "the present nodes at once."));
		remedy_command(t->j, r, "sudo chmod 0666 /dev/nvidia*");
		r->needs_root = true;
		return true;
	}
	if (!group)
		return false;
	/* A user that programs run as, and not the one who reads this. */
	if (user && triage_has(t, "word-other-program") &&
	    strspn(user, NAME_CHARS) == strlen(user) && strcmp(user, "root") != 0) {
		r = finding_remedy(
			t->j, f,
			_("Put the service's user into the group that owns the nodes, %s, and start "
			  "the service anew."),
			group);
		remedy_command(t->j, r, "sudo usermod -aG %s %s", group, user);
		remedy_command(t->j, r, "sudo systemctl restart %s", user);
	} else {
		r = finding_remedy(
			t->j, f,
			_("Put the user into the group that owns the nodes, %s, and log in again; a "
			  "service runs as a user of its own, which needs the same."),
			group);
		remedy_command(t->j, r, "sudo usermod -aG %s \"$USER\"", group);
	}
	r->needs_root = true;
	return true;
}

bool mend_module(struct triage *t, struct finding *f)
{
	switch (f->id) {
	case FINDING_NOUVEAU_BOUND:
		return nouveau(t, f);
	case FINDING_SECURE_BOOT_BLOCKS_MODULE:
		return secure_boot(t, f);
	case FINDING_DRIVER_MODULE_NOT_BUILT:
		return not_built(t, f);
	case FINDING_GPU_BOUND_TO_VFIO:
		return vfio(t, f);
	case FINDING_DEVICE_NODE_PERMISSIONS:
		return permissions(t, f);
	default:
		return false;
	}
}

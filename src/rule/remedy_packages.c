/* SPDX-License-Identifier: Apache-2.0 */
/* Remedies for packages whose installation did not come to its end, and for a stale initramfs. */
#include <string.h>

#include "base/arena.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/remedy.h"

static const struct ospackage *unfinished(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_os_packages; i++)
		if (!fact_is(&s->os_packages[i].status, "installed") &&
		    !fact_is(&s->os_packages[i].status, "held"))
			return &s->os_packages[i];
	return NULL;
}

void remedy_finish_packages(struct judge *j, struct finding *f)
{
	const struct ospackage *o = unfinished(j->s);
	struct remedy *r;

	if (!o)
		return;
	finding_evidence(j, f, "os_packages.status",
			 arena_printf(j->a, "%s: %s", o->name.value, o->status.value), "installed",
			 o->status.source);
	r = finding_remedy(
		j, f, "%s",
		_("First let the package manager finish what it began; its messages say why "
		  "it stopped."));
	remedy_command(j, r, "sudo dpkg --configure -a");
	remedy_command(j, r, "sudo apt-get install --fix-broken");
	r->needs_root = true;
}

void remedy_boot_loader(struct judge *j, struct remedy *r)
{
	static const char *const commands[] = {
		[FAMILY_UBUNTU] = "sudo update-grub",
		[FAMILY_DEBIAN] = "sudo update-grub",
		[FAMILY_RHEL] = "sudo grub2-mkconfig -o /boot/grub2/grub.cfg",
		[FAMILY_FEDORA] = "sudo grub2-mkconfig -o /boot/grub2/grub.cfg",
		[FAMILY_SUSE] = "sudo grub2-mkconfig -o /boot/grub2/grub.cfg",
		[FAMILY_ARCH] = "sudo grub-mkconfig -o /boot/grub/grub.cfg",
		[FAMILY_NIXOS] = "sudo nixos-rebuild boot",
	};
	if (distro_family(j->s) != FAMILY_OTHER)
		remedy_command(j, r, "%s", commands[distro_family(j->s)]);
}

/* Is the module built on this machine by DKMS, as far as its traces tell? */
static bool by_dkms(const struct snapshot *s)
{
	size_t i;

	if (s->driver.n_dkms || distro_family(s) == FAMILY_DEBIAN ||
	    distro_family(s) == FAMILY_UBUNTU)
		return true;
	for (i = 0; i < s->driver.n_modules; i++)
		if (strstr(fact_value(&s->driver.modules[i].path, ""), "/dkms/"))
			return true;
	for (i = 0; i < s->n_os_packages; i++)
		if (strstr(fact_value(&s->os_packages[i].name, ""), "dkms"))
			return true;
	return false;
}

void remedy_build_module(struct judge *j, struct remedy *r, const char *version, const char *kernel)
{
	const char *word = shell_word(j->a, kernel);

	if (by_dkms(j->s) && version)
		remedy_command(j, r, "sudo dkms install --force nvidia/%s -k %s",
			       shell_word(j->a, version), word);
	else if (by_dkms(j->s))
		remedy_command(j, r, "sudo dkms autoinstall -k %s", word);
	else if (distro_family(j->s) == FAMILY_FEDORA && !fact_is(&j->s->host.os_id, "amzn"))
		remedy_command(j, r, "sudo akmods --force --kernels %s", word);
	else if (distro_family(j->s) == FAMILY_SUSE)
		remedy_command(j, r,
			       "sudo zypper install --force "
			       "nvidia-open-driver-G06-signed-kmp-default");
	else if (distro_family(j->s) == FAMILY_ARCH)
		remedy_command(j, r, "sudo pacman -Syu");
	else if (distro_family(j->s) == FAMILY_NIXOS)
		remedy_command(j, r, "sudo nixos-rebuild boot");
	else
		remedy_command(j, r, "sudo dkms autoinstall -k %s", word);
}

void remedy_blacklist(struct judge *j, struct remedy *r, const char *module)
{
	if (distro_family(j->s) == FAMILY_NIXOS)
		remedy_command(j, r, "boot.blacklistedKernelModules = [ \"%s\" ];", module);
	else
		remedy_command(j, r,
			       "printf 'blacklist %s\\noptions %s modeset=0\\n' | sudo tee "
			       "/etc/modprobe.d/blacklist-%s.conf",
			       module, module, module);
	remedy_initramfs(j, r);
}

void remedy_initramfs(struct judge *j, struct remedy *r)
{
	static const char *const commands[] = {
		[FAMILY_OTHER] = "sudo update-initramfs -u",
		[FAMILY_UBUNTU] = "sudo update-initramfs -u",
		[FAMILY_DEBIAN] = "sudo update-initramfs -u",
		[FAMILY_RHEL] = "sudo dracut --force",
		[FAMILY_FEDORA] = "sudo dracut --force",
		[FAMILY_SUSE] = "sudo dracut --force",
		[FAMILY_ARCH] = "sudo mkinitcpio -P",
		[FAMILY_NIXOS] = "sudo nixos-rebuild boot",
	};

	remedy_command(j, r, "%s", commands[distro_family(j->s)]);
}

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

/* SPDX-License-Identifier: Apache-2.0 */
/* Families of distributions and their package managers, as rows; runs nothing. */
#include "rule/distro.h"

#include <string.h>

#include "base/arena.h"
#include "rule/look.h"

static bool os_is(const struct snapshot *s, const char *word)
{
	struct view ids = view_of(fact_value(&s->host.os_id, "")),
		    like = view_of(fact_value(&s->host.os_like, ""));
	struct view w;

	if (view_is_nocase(ids, word))
		return true;
	while (view_word(&like, &w))
		if (view_is_nocase(w, word))
			return true;
	return false;
}

enum family distro_family(const struct snapshot *s)
{
	static const struct {
		const char *id;
		enum family family;
	} families[] = {
		{ .id = "ubuntu", .family = FAMILY_UBUNTU },
		{ .id = "debian", .family = FAMILY_DEBIAN },
		{ .id = "rhel", .family = FAMILY_RHEL },
		{ .id = "rocky", .family = FAMILY_RHEL },
		{ .id = "almalinux", .family = FAMILY_RHEL },
		{ .id = "centos", .family = FAMILY_RHEL },
		{ .id = "ol", .family = FAMILY_RHEL },
		{ .id = "fedora", .family = FAMILY_FEDORA },
		{ .id = "suse", .family = FAMILY_SUSE },
		{ .id = "opensuse", .family = FAMILY_SUSE },
		{ .id = "opensuse-leap", .family = FAMILY_SUSE },
		{ .id = "opensuse-tumbleweed", .family = FAMILY_SUSE },
		{ .id = "sles", .family = FAMILY_SUSE },
		{ .id = "arch", .family = FAMILY_ARCH },
		{ .id = "nixos", .family = FAMILY_NIXOS },
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(families); i++)
		if (os_is(s, families[i].id))
			return families[i].family;
	return FAMILY_OTHER;
}

const char *distro_dnf(const struct snapshot *s)
{
	unsigned release = look_branch(fact_value(&s->host.os_version, ""));

	/* RHEL 7 and its kin, and Amazon Linux 2. */
	return distro_family(s) == FAMILY_RHEL && release && release < 8 ? "yum" : "dnf";
}

static const char *name_of(enum family family, const struct distro_names *n)
{
	switch (family) {
	case FAMILY_UBUNTU:
		return n->ubuntu ? n->ubuntu : n->debian;
	case FAMILY_DEBIAN:
		return n->debian;
	case FAMILY_RHEL:
		return n->rhel;
	case FAMILY_FEDORA:
		return n->fedora ? n->fedora : n->rhel;
	case FAMILY_SUSE:
		return n->suse;
	case FAMILY_ARCH:
		return n->arch;
	case FAMILY_NIXOS:
		return n->nix;
	case FAMILY_OTHER:
		break;
	}
	return NULL;
}

static bool with_manager(struct judge *j, struct remedy *r, const struct distro_names *n,
			 const char *const *verbs)
{
	enum family family = distro_family(j->s);
	const char *name = name_of(family, n), *verb = verbs[family];

	if (!name || !*name || !verb)
		return false;
	if (family == FAMILY_RHEL || family == FAMILY_FEDORA)
		verb = arena_printf(j->a, "sudo %s %s", distro_dnf(j->s), verb);
	remedy_command(j, r, "%s %s", verb, name);
	return true;
}

bool distro_install(struct judge *j, struct remedy *r, const struct distro_names *n)
{
	static const char *const verbs[] = {
		[FAMILY_OTHER] = NULL,
		[FAMILY_UBUNTU] = "sudo apt-get install",
		[FAMILY_DEBIAN] = "sudo apt-get install",
		[FAMILY_RHEL] = "install",
		[FAMILY_FEDORA] = "install",
		[FAMILY_SUSE] = "sudo zypper install",
		[FAMILY_ARCH] = "sudo pacman -S",
		[FAMILY_NIXOS] = "nix-shell -p",
	};

	return with_manager(j, r, n, verbs);
}

bool distro_remove(struct judge *j, struct remedy *r, const struct distro_names *n)
{
	static const char *const verbs[] = {
		[FAMILY_OTHER] = NULL,
		[FAMILY_UBUNTU] = "sudo apt-get remove",
		[FAMILY_DEBIAN] = "sudo apt-get remove",
		[FAMILY_RHEL] = "remove",
		[FAMILY_FEDORA] = "remove",
		[FAMILY_SUSE] = "sudo zypper remove",
		[FAMILY_ARCH] = "sudo pacman -R",
		/* What is in the system there is in its configuration. */
		[FAMILY_NIXOS] = NULL,
	};

	return with_manager(j, r, n, verbs);
}

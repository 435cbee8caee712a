/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place that knows distributions by family, and how their package managers install and take
 * away. Rules hand it the names of a thing, never a command; what it writes goes into remedies.
 */
#ifndef RULE_DISTRO_H
#define RULE_DISTRO_H

#include "rule/rule.h"

enum family {
	FAMILY_OTHER, /* not known, or none of those below */
	FAMILY_UBUNTU,
	FAMILY_DEBIAN,
	FAMILY_RHEL,
	FAMILY_FEDORA,
	FAMILY_SUSE,
	FAMILY_ARCH,
	FAMILY_NIXOS
};

/* By ID and ID_LIKE of os-release: of the machine that is judged, in a container of the container.
 */
enum family distro_family(const struct snapshot *s);

/*
 * What a thing is called, as one or more words of a shell (foreign text only through shell_word).
 * NULL: it has no package there, or none is known. "" says that where NULL would mean the name
 * of the relative.
 */
struct distro_names {
	const char *debian, *ubuntu; /* ubuntu NULL: as Debian calls it */
	const char *rhel, *fedora;   /* fedora NULL: as RHEL calls it */
	const char *suse, *arch;
	const char *nix; /* for a shell that has it; nothing is put into the system */
};

/*
 * Adds the command that installs it, or takes it away; false, with nothing added, where the family
 * is not known or has no such package: the remedy's text has to do.
 */
bool distro_install(struct judge *j, struct remedy *r, const struct distro_names *n);
bool distro_remove(struct judge *j, struct remedy *r, const struct distro_names *n);

/* The program of the RPM family: "dnf", where it is not there yet "yum". */
const char *distro_dnf(const struct snapshot *s);

#endif

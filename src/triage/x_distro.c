/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which distribution a paste comes from, where no field says it: by its name in a sentence, and by
 * what only its packages and kernels are called. Remedies are written for it; nothing is concluded.
 */
#include "base/arena.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/prose.h"

enum { DISTRO_LINES = 4000, DISTRO_LINE_MAX = 1200 };

struct distro_row {
	const char *hints[6]; /* one of them stands in the line */
	const char *pattern;  /* group 1: the release */
	const char *id, *like;
};

static const struct distro_row rows[] = {
	{ { "NixOS", "nixos", "/nix/store/", "/run/current-system" },
	  "\\bNixOS\\b()|/nix/store/|/run/current-system",
	  "nixos",
	  NULL },
	{ { "CachyOS", "Manjaro", "EndeavourOS", "Garuda", "cachyos", "Arch Linux" },
	  "\\b(?:CachyOS|Manjaro|EndeavourOS|Garuda)\\b|\\bArch Linux\\b|\\d-cachyos|linux-cachyos()",
	  "arch",
	  NULL },
	{ { "pacman -S", "-arch", "on Arch" },
	  "pacman -S|\\d-arch\\d+-\\d|\\bon Arch\\b(?! ?Linux ARM)()",
	  "arch",
	  NULL },
	{ { "Pop!_OS", "Mint", "Kubuntu", "Xubuntu", "Zorin", "elementary OS" },
	  "\\b(?:Pop!_OS|Linux Mint|Kubuntu|Xubuntu|Zorin OS|elementary OS)(?! ?\\?)()",
	  "ubuntu",
	  NULL },
	{ { "Rocky", "Alma", "RHEL", "Red Hat", "CentOS", "Oracle Linux" },
	  "\\b(?:Rocky(?: Linux)?|AlmaLinux|Alma Linux|RHEL|Red Hat Enterprise Linux|CentOS(?: Linux| "
	  "Stream)?|Oracle Linux)[ -]v?(\\d{1,2}(?:\\.\\d{1,2})?)\\b",
	  "rhel",
	  NULL },
	{ { ".el7", ".el8", ".el9", ".el10" },
	  "\\.el(\\d{1,2})(?:_\\d+)?(?:[.\\s]|$)",
	  "rhel",
	  NULL },
	{ { "Fedora" },
	  "\\bFedora(?: Linux| Workstation| Silverblue)?(?: release)?(?: (\\d\\d)\\b)?",
	  "fedora",
	  NULL },
	{ { ".fc3", ".fc4", ".fc5" }, "\\.fc(\\d\\d)\\b", "fedora", NULL },
	{ { "Tumbleweed" }, "Tumbleweed()", "opensuse-tumbleweed", "suse" },
	{ { "openSUSE", "Leap" },
	  "\\bopenSUSE(?: Leap)?(?: (\\d\\d\\.\\d))?",
	  "opensuse-leap",
	  "suse" },
	{ { "Proxmox", "proxmox", "-pve" },
	  "\\bProxmox(?: VE)?\\b(?! container)|\\d-pve\\b()",
	  "debian",
	  NULL },
	{ { "ubuntu0", "ubuntu1" }, "\\dubuntu\\d(?:\\.(\\d\\d\\.\\d\\d))?", "ubuntu", NULL },
	{ { "-generic", "-aws", "-gcp", "-azure", "-nvidia" },
	  "\\b\\d\\.\\d+\\.\\d+-\\d+-(?:generic|aws|gcp|azure|nvidia)\\b()",
	  "ubuntu",
	  NULL },
	{ { "+deb1" }, "\\+deb(\\d\\d)u\\d", "debian", NULL },
	{ { "amd64" }, "\\b\\d\\.\\d+\\.\\d+-\\d+-(?:cloud-)?amd64\\b()", "debian", NULL },
	{ { "Debian" },
	  "\\bDebian(?! ?[/,]| family| or | and )(?: GNU/Linux)?(?: (\\d{1,2})\\b)?",
	  "debian",
	  NULL },
	{ { "Ubuntu" },
	  "(?<![\\w:/-])(?-i:Ubuntu)\\b(?! ?[/,](?! ?Pop)| family| or | and |'s|-\\w)(?: (\\d\\d\\.\\d\\d))?",
	  "ubuntu",
	  NULL },
};

static bool hinted(const struct distro_row *r, struct view s)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(r->hints) && r->hints[i]; i++)
		if (view_find(s, r->hints[i]) >= 0)
			return true;
	return false;
}

/* An example, a wish or what works elsewhere is not the machine; an image is not its host. */
static bool elsewhere(struct paste *p, struct view s)
{
	return paste_match(
		p,
		"e\\.g\\.|for example|https?://|\\b(?:supports?|supported|requires?|tested)\\b|"
		"\\bFROM \\S+|docker (?:run|pull|build)|\\bimage\\b|works? (?:on|under|with|fine on)(?! (?:the|my) host)|"
		"\\b(?:not|no) .{0,20}(?:Ubuntu|Debian|Fedora)",
		s, NULL);
}

static bool take(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;
	size_t k;

	for (k = 0; k < ARRAY_LEN(rows); k++) {
		if (!hinted(&rows[k], s) || !paste_match(p, rows[k].pattern, s, &m) ||
		    elsewhere(p, s))
			continue;
		paste_fact(p, "host.os_id", view_of(rows[k].id), i);
		if (rows[k].like)
			fact_set(&p->s->host.os_like, rows[k].like, paste_source(p, i));
		if (m.group[1].n)
			paste_fact(p, "host.os_version", m.group[1], i);
		return true;
	}
	return false;
}

void distro_take(struct paste *p)
{
	size_t i, n = p->t.n < DISTRO_LINES ? p->t.n : DISTRO_LINES;

	for (i = 0; i < n && !fact_known(&p->s->host.os_id); i++)
		if (p->t.lines[i].s.n <= DISTRO_LINE_MAX && !p->t.lines[i].wished &&
		    !paste_foreign(p, i, SCOPE_MACHINE) && take(p, i))
			return;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions that keep a branch or a flavour of the driver under a name of its own: the rows of
 * the table driver_package. Chooses a row and writes its commands; runs nothing.
 */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/remedy.h"

static const char table[] = "driver_package";

struct choice {
	const struct json *row;
	unsigned branch; /* 0: the newest */
};

/* As the table writes it: "fedora", "opensuse-leap15"; NULL: it has no rows there. */
static const char *system_name(struct judge *j)
{
	const struct host *h = &j->s->host;
	unsigned release = look_branch(fact_value(&h->os_version, ""));
	const char *id = fact_value(&h->os_id, "");

	/* It says that it is like Fedora, and has nothing of what Fedora's repositories hold. */
	if (strcmp(id, "amzn") == 0)
		return arena_printf(j->a, "amzn%u", release);
	switch (distro_family(j->s)) {
	case FAMILY_FEDORA:
		return "fedora";
	case FAMILY_RHEL:
		return arena_printf(j->a, "rhel%u", release);
	case FAMILY_ARCH:
		return "arch";
	case FAMILY_SUSE:
		if (strstr(id, "tumbleweed"))
			return "opensuse-tumbleweed";
		return strstr(id, "leap") ? arena_printf(j->a, "opensuse-leap%u", release) : NULL;
	default:
		return NULL;
	}
}

static bool for_machine(struct judge *j, const struct json *row, const char *system, bool open)
{
	const char *arch = strcmp(look_platform(j->s), "linux_aarch64") == 0 ? "aarch64" : "x86_64";
	const char *os = json_get_str(row, "os"), *kind = json_get_str(row, "kind");
	const struct json *one;

	if (!os || !kind || strcmp(os, system) != 0 ||
	    strcmp(kind, open ? "open" : "proprietary") != 0)
		return false;
	for (one = json_first(json_get(row, "arch")); one; one = json_next(one))
		if (json_str(one) && strcmp(json_str(one), arch) == 0)
			return true;
	return false;
}

/*
 * The branch that was asked for, else the highest above it that drives every GPU: cards that need
 * the proprietary modules are kept by the last branch for them. Where no GPU is known only what was
 * asked for will do.
 */
static bool better(struct judge *j, const struct choice *now, unsigned branch, unsigned asked)
{
	if (branch == asked)
		return true;
	if (now->row && now->branch == asked)
		return false;
	if (branch && (branch < asked || !j->s->n_gpus || !remedy_drives_all(j, branch)))
		return false;
	return !now->row || branch > now->branch;
}

bool driver_package(struct judge *j, struct finding *f, const char *branch, enum driver_kind kind)
{
	const char *system = system_name(j), *text, *origin;
	bool open = kind != DRIVER_PROPRIETARY;
	/* Where either flavour will do, the newest: the branches are kept for old cards. */
	unsigned asked = kind == DRIVER_ANY ? 0 : look_branch(branch);
	struct choice c = { .row = NULL };
	const struct json *row;
	struct remedy *r;
	size_t i, n = system ? compat_count(j->c, table) : 0;

	for (i = 0; i < n; i++) {
		row = compat_row(j->c, table, i);
		text = json_get_str(row, "branch");
		if (text && for_machine(j, row, system, open) &&
		    better(j, &c, look_branch(text), asked))
			c = (struct choice){ .row = row, .branch = look_branch(text) };
	}
	if (!c.row)
		return false;
	r = finding_remedy(j, f, "%s",
			   remedy_driver_text(
				   j, c.branch ? arena_printf(j->a, "%u", c.branch) : NULL, open));
	origin = json_get_str(c.row, "origin");
	if (origin)
		r->text = arena_printf(j->a, "%s %s", r->text,
				       arena_printf(j->a, _("Its packages are from %s."), origin));
	for (row = json_first(json_get(c.row, "commands")); row; row = json_next(row))
		if (json_str(row))
			remedy_command(j, r, "%s", json_str(row));
	remedy_command(j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
	return true;
}

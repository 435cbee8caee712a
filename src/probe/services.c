/* SPDX-License-Identifier: Apache-2.0 */
/* The services that a GPU may need. States come from the facts file, or from the cgroups that
 * systemd makes; nothing is run. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "probe/probe.h"

enum { UNITS_MAX = 64 };

static const char *const wanted[] = {
	"nvidia-fabricmanager", "nvidia-persistenced", "nvidia-imex", "nvidia-mps", "nvidia-dcgm",
};

/* They hold the GPU while modules are to be reloaded: of interest where they run. */
static const char *const desktops[] = { "gdm", "gdm3", "sddm", "lightdm", "xdm" };

static void add(struct probe_ctx *p, const char *name, const char *state, const char *source)
{
	struct unit *u;

	if (p->s->n_services >= UNITS_MAX)
		return;
	u = ARENA_APPEND(p->a, p->s->services, p->s->n_services);
	fact_set(&u->name, name, source);
	fact_set(&u->state, state, source);
}

/* A unit that runs has a cgroup (v2, or v1's named hierarchy). */
static bool is_active(struct probe_ctx *p, const char *name)
{
	static const char *const groups[] = { "/sys/fs/cgroup/system.slice",
					      "/sys/fs/cgroup/systemd/system.slice",
					      "/sys/fs/cgroup/unified/system.slice" };
	const char *path;
	size_t i;

	for (i = 0; i < ARRAY_LEN(groups); i++) {
		path = arena_printf(p->a, "%s/%s.service", groups[i], name);
		if (sysroot_exists(p->root, path)) {
			add(p, name, "active", path);
			return true;
		}
	}
	return false;
}

/* One that does not run may still have a file. */
static void live_unit(struct probe_ctx *p, const char *name)
{
	static const char *const files[] = { "/etc/systemd/system", "/run/systemd/system",
					     "/usr/lib/systemd/system", "/lib/systemd/system" };
	const char *unit = arena_printf(p->a, "%s.service", name), *path;
	size_t i;

	if (is_active(p, name))
		return;
	for (i = 0; i < ARRAY_LEN(files); i++) {
		path = path_join(p->a, files[i], unit);
		if (sysroot_exists(p->root, path)) {
			add(p, name, "inactive", path);
			return;
		}
	}
	add(p, name, "not-found", "/usr/lib/systemd/system");
}

static void live(struct probe_ctx *p)
{
	size_t i;

	/* systemd's own test for itself, sd_booted(3). */
	if (!sysroot_is_dir(p->root, "/run/systemd/system")) {
		p->s->parts.services = (struct fact){ .source = "/run/systemd/system",
						      .why = _("systemd does not run here") };
		return;
	}
	fact_flag(&p->s->parts.services, true, "/sys/fs/cgroup");
	for (i = 0; i < ARRAY_LEN(wanted); i++)
		live_unit(p, wanted[i]);
	for (i = 0; i < ARRAY_LEN(desktops) && !is_active(p, desktops[i]); i++)
		;
}

static void run(struct probe_ctx *p)
{
	const struct json *units = json_get(p->facts, "units"), *j;

	if (p->root->live)
		live(p);
	else
		for (j = json_first(units); j; j = json_next(j))
			if (json_key(j) && json_str(j))
				add(p, json_key(j), json_str(j),
				    arena_printf(p->a, "%s: units", p->facts_name));
}

const struct probe probe_services = { .name = "services", .run = run };

/* SPDX-License-Identifier: Apache-2.0 */
/* The table of probes and its runner; says for each part of the snapshot whether it was asked. */
#include "base/arena.h"
#include "base/json.h"
#include "probe/probe.h"

/*
 * The environment first, since others read it; then the libraries, which the driver's children
 * load; they run while all that follows reads files.
 */
/* clang-format off */
const struct probe *const probes[] = {
	&probe_environ,	 &probe_userlib,     &probe_driver_start, &probe_host,
	&probe_container, &probe_boundary,   &probe_pci,	  &probe_pci_topology,
	&probe_kmod,	 &probe_modprobe,    &probe_dkms,	  &probe_nodes,
	&probe_initramfs,
	&probe_services, &probe_os_packages, &probe_runtime,	  &probe_klog,
	&probe_toolkit,	 &probe_python,	     &probe_driver_end,	  NULL,
};
/* clang-format on */

/* Can the source hold this part? */
enum holds {
	HOLDS_FILES,   /* a file system is enough */
	HOLDS_SYS,     /* also in a captured /sys or /proc */
	HOLDS_FACTS,   /* only a running system, or the key of the facts file */
	HOLDS_RUNNING, /* a running system or its facts */
};

struct part {
	size_t offset;
	enum holds holds;
	const char *where; /* directory or key */
};

#define PART(name, what, where_)                           \
	{                                                  \
		offsetof(struct parts, name), what, where_ \
	}
/* clang-format off */
static const struct part part_table[] = {
	PART(host, HOLDS_FILES, NULL),
	PART(pci, HOLDS_SYS, "/sys/bus/pci/devices"),
	PART(kernel, HOLDS_SYS, "/proc/modules"),
	PART(nodes, HOLDS_FACTS, "dev"),
	PART(userlib, HOLDS_FILES, NULL),
	PART(cuda, HOLDS_FACTS, "cuInit"),
	PART(nvml, HOLDS_FACTS, "nvml"),
	PART(container, HOLDS_RUNNING, NULL),
	PART(environment, HOLDS_FACTS, "env"),
	PART(services, HOLDS_FACTS, "units"),
	PART(toolkit, HOLDS_FILES, NULL),
	PART(python, HOLDS_FILES, NULL),
};
/* clang-format on */

static bool is_held(const struct probe_ctx *p, const struct part *part)
{
	if (p->root->live)
		return true;
	switch (part->holds) {
	case HOLDS_FILES:
		return true;
	case HOLDS_SYS:
		return sysroot_exists(p->root, part->where);
	case HOLDS_FACTS:
		return json_type(json_get(p->facts, part->where)) != JSON_NULL;
	case HOLDS_RUNNING:
		return p->facts != NULL;
	}
	return false;
}

/* Only what no probe marked itself. */
static void mark_parts(struct probe_ctx *p)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(part_table); i++) {
		const struct part *part = &part_table[i];
		struct fact *f = (struct fact *)((char *)&p->s->parts + part->offset);

		if (f->state != FACT_NOT_ASKED || f->why)
			continue;
		if (is_held(p, part))
			fact_flag(f, true, p->root->dir);
		else
			*f = (struct fact){ .state = FACT_NOT_ASKED,
					    .source = p->root->dir,
					    .why = _("this source cannot hold it") };
	}
}

void probe_all(struct probe_ctx *p)
{
	size_t i;

	for (i = 0; probes[i]; i++)
		probes[i]->run(p);
	mark_parts(p);
}

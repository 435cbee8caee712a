/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What surrounds the GPUs on the PCI bus: their links, the IOMMU, access control of the bridges
 * above them, whether this is a virtual machine at all. It wakes no device: only bridges are asked
 * for their configuration space.
 */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "probe/pci_topology.h"

#define DEVICES "/sys/bus/pci/devices"

enum {
	DEVICES_MAX = 4096,
	CONFIG_SIZE = 4096,
	EXTENDED = 0x100, /* where extended capabilities begin */
	CAP_ACS = 0x000d,
	ACS_CONTROL = 6,
	ACS_REDIRECT =
		0x04 | 0x08, /* P2P request and completion redirect (PCIe base specification) */
	DEPTH_MAX = 16,
};

static unsigned u16_at(struct view v, size_t at)
{
	return (unsigned)(unsigned char)v.p[at] | (unsigned)(unsigned char)v.p[at + 1] << 8;
}

int pci_acs(struct view config)
{
	size_t at = EXTENDED, hops;
	unsigned head, next;

	if (config.n < EXTENDED + 4)
		return -1;
	/* Capabilities lie in 4096 bytes, each takes 8 at least. */
	for (hops = 0; hops < 480 && at >= EXTENDED && at + 8 <= config.n; hops++) {
		head = u16_at(config, at);
		next = u16_at(config, at + 2) >> 4;
		if (head == CAP_ACS)
			return (u16_at(config, at + ACS_CONTROL) & ACS_REDIRECT) != 0;
		if (!next)
			break;
		at = next;
	}
	return 0;
}

/* The bridges above the device are the directories above it in /sys/devices. */
static void acs_above(struct probe_ctx *p, const char *address)
{
	struct fact *f = &p->s->host.acs;
	const char *real, *dir, *path;
	struct view config;
	int depth, e, acs;

	if (sysroot_realpath(p->root, p->a, path_join(p->a, DEVICES, address), &real) < 0)
		return;
	dir = path_dir(p->a, real);
	for (depth = 0; depth < DEPTH_MAX && strchr(path_base(dir), '.'); depth++) {
		path = path_join(p->a, dir, "config");
		e = sysroot_read(p->root, p->a, path, CONFIG_SIZE, &config, NULL);
		dir = path_dir(p->a, dir);
		if (e)
			continue;
		acs = pci_acs(config);
		if (acs > 0)
			fact_set(f, "redirects", path);
		else if (acs < 0 && !fact_known(f))
			fact_denied(f, path, _("only root may read all of a bridge's registers"));
		else if (!acs && f->state == FACT_NOT_ASKED)
			fact_set(f, "off", path);
		if (fact_is(f, "redirects"))
			return;
	}
}

static void links(struct probe_ctx *p, struct gpu *g)
{
	const char *dev = path_join(p->a, DEVICES, g->address.value), *target;
	const struct {
		const char *file;
		struct fact *fact;
	} rows[] = {
		{ .file = "current_link_speed", .fact = &g->link_speed },
		{ .file = "max_link_speed", .fact = &g->link_speed_max },
		{ .file = "current_link_width", .fact = &g->link_width },
		{ .file = "max_link_width", .fact = &g->link_width_max },
	};
	const char *path = path_join(p->a, dev, "iommu_group");
	size_t i;

	/* A link that sleeps is read from its bridge, and wakes nothing. */
	for (i = 0; i < ARRAY_LEN(rows); i++)
		sysroot_fact(p->root, p->a, path_join(p->a, dev, rows[i].file), rows[i].fact);
	if (sysroot_readlink(p->root, p->a, path, &target) == 0)
		fact_set(&g->iommu_group, path_base(target), path);
	else
		fact_absent(&g->iommu_group, path);
}

static void iommu(struct probe_ctx *p)
{
	static const char groups[] = "/sys/kernel/iommu_groups";
	struct fact *f = &p->s->host.iommu;
	const char *group = NULL, *path;
	struct dirlist list;
	size_t i;

	for (i = 0; i < p->s->n_gpus && !group; i++)
		group = fact_value(&p->s->gpus[i].iommu_group, NULL);
	if (group) {
		path = arena_printf(p->a, "%s/%s/type", groups, group);
		sysroot_fact(p->root, p->a, path, f);
		if (!fact_known(f))
			fact_set(f, "on", groups);
	} else if (sysroot_list(p->root, p->a, groups, 4, &list) == 0 && list.n) {
		fact_set(f, "on", groups);
	} else {
		fact_set(f, "off", groups);
	}
}

/* A processor says so itself on x86; elsewhere the firmware's maker does. */
static void hypervisor(struct probe_ctx *p)
{
	static const char cpuinfo[] = "/proc/cpuinfo", vendor[] = "/sys/class/dmi/id/sys_vendor";
	static const char *const makers[] = { "QEMU",   "VMware", "Xen",	  "innotek",
					      "Amazon EC2", "Google", "Microsoft Corporation",
					      "Parallels", "OpenStack" };
	struct fact *f = &p->s->host.hypervisor;
	struct view text, line, word;
	const char *name;
	size_t i;

	if (sysroot_read(p->root, p->a, cpuinfo, 16 << 10, &text, NULL) == 0)
		while (view_line(&text, &line)) {
			if (!view_starts(line, "flags"))
				continue;
			fact_flag(f, false, cpuinfo);
			while (view_word(&line, &word))
				if (view_is(word, "hypervisor"))
					fact_flag(f, true, cpuinfo);
			break;
		}
	if (fact_known(f) || sysroot_read_line(p->root, p->a, vendor, &name) < 0)
		return;
	fact_flag(f, false, vendor);
	for (i = 0; i < ARRAY_LEN(makers); i++)
		if (strstr(name, makers[i]))
			fact_flag(f, true, vendor);
}

static void run(struct probe_ctx *p)
{
	struct snapshot *s = p->s;
	struct dirlist list;
	size_t i, n = 0;

	if (!probe_is_running(p))
		return;
	hypervisor(p);
	if (sysroot_list(p->root, p->a, DEVICES, DEVICES_MAX, &list) == 0)
		fact_int(p->a, &s->host.pci_devices, (int64_t)list.n, DEVICES);
	for (i = 0; i < s->n_gpus; i++) {
		if (!fact_known(&s->gpus[i].address) ||
		    !view_starts(view_of(fact_value(&s->gpus[i].pci_id, "")), "10de:"))
			continue;
		links(p, &s->gpus[i]);
		n++;
	}
	/* A bridge that sleeps would wake up: asked only where GPUs may talk to each other. */
	for (i = 0; i < s->n_gpus && n > 1; i++)
		if (fact_known(&s->gpus[i].iommu_group) || fact_known(&s->gpus[i].link_speed))
			acs_above(p, s->gpus[i].address.value);
	iommu(p);
}

const struct probe probe_pci_topology = { .name = "pci-topology", .run = run };

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPUs on the PCI bus, from sysfs (Documentation/ABI/testing/sysfs-bus-pci), and the one inside
 * a Tegra chip. It must not wake a device that sleeps: reading its configuration space would.
 */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "probe/pci.h"

#define DEVICES	    "/sys/bus/pci/devices"
#define INFORMATION "/proc/driver/nvidia/gpus"

enum {
	DEVICES_MAX = 4096,
	GPUS_MAX = 256,
	CONFIG_HEAD = 64, /* the standard header; any user may read it */
	BARS = 6,
	RESOURCE_MEMORY = 0x200, /* IORESOURCE_MEM in linux/ioport.h */
};

static const char *attr(struct probe_ctx *p, const char *dev, const char *name)
{
	return arena_printf(p->a, "%s/%s", dev, name);
}

/* "0x10de" to "10de"; NULL when it is no such number. */
static const char *hex(struct probe_ctx *p, const char *path, size_t digits)
{
	const char *line;
	uint64_t x;

	if (sysroot_read_line(p->root, p->a, path, &line) < 0 || !view_u64(view_of(line), 16, &x) ||
	    (digits < 16 && x >> (4 * digits)))
		return NULL;
	return arena_printf(p->a, "%0*llx", (int)digits, (unsigned long long)x);
}

const char *pci_uevent(struct arena *a, struct view text, const char *key)
{
	struct view line;

	while (view_line(&text, &line))
		if (view_starts(line, key) && line.n > strlen(key) && line.p[strlen(key)] == '=')
			return view_dup(a, view_skip(line, strlen(key) + 1));
	return NULL;
}

/* The device's uevent repeats most of what stands in files of its own. */
static const char *uevent(struct probe_ctx *p, const char *dev, const char *key)
{
	struct view text;

	if (sysroot_read(p->root, p->a, attr(p, dev, "uevent"), 8192, &text, NULL) < 0)
		return NULL;
	return pci_uevent(p->a, text, key);
}

static char *lower(char *s)
{
	char *q;

	for (q = s; *q; q++)
		if (*q >= 'A' && *q <= 'Z')
			*q = (char)(*q - 'A' + 'a');
	return s;
}

/* "10de:2684" from two files, else from the uevent. */
static const char *pair(struct probe_ctx *p, const char *dev, const char *const names[3],
			const char **source)
{
	const char *vendor = hex(p, attr(p, dev, names[0]), 4), *device = NULL, *u;

	*source = attr(p, dev, names[1]);
	if (vendor)
		device = hex(p, *source, 4);
	if (device)
		return arena_printf(p->a, "%s:%s", vendor, device);
	*source = attr(p, dev, "uevent");
	u = uevent(p, dev, names[2]);
	return u && strlen(u) == 9 && u[4] == ':' ? lower(arena_strdup(p->a, u)) : NULL;
}

static const char *class_of(struct probe_ctx *p, const char *dev)
{
	const char *class = hex(p, attr(p, dev, "class"), 6), *u;
	uint64_t x;

	if (class)
		return class;
	u = uevent(p, dev, "PCI_CLASS");
	return u && view_u64(view_of(u), 16, &x) && x < 1 << 24
		       ? arena_printf(p->a, "%06llx", (unsigned long long)x)
		       : NULL;
}

static void link_fact(struct probe_ctx *p, struct fact *f, const char *path)
{
	const char *target;
	int e = sysroot_readlink(p->root, p->a, path, &target);

	if (e)
		fact_errno(f, -e, path);
	else
		fact_set(f, path_base(target), path);
}

static void config(struct probe_ctx *p, struct gpu *g, const char *dev)
{
	const char *path = attr(p, dev, "config");
	struct view head;
	size_t i;
	int e;

	if (fact_is(&g->power_state, "D3cold") || fact_is(&g->power_state, "D3hot") ||
	    fact_is(&g->runtime_status, "suspended")) {
		g->config = (struct fact){ .source = path,
					   .why = _("asleep: reading it would wake the device") };
		return;
	}
	e = sysroot_read(p->root, p->a, path, CONFIG_HEAD, &head, NULL);
	if (e || !head.n) {
		fact_errno(&g->config, e ? -e : EIO, path);
		return;
	}
	for (i = 0; i < head.n && (unsigned char)head.p[i] == 0xff; i++)
		;
	fact_set(&g->config, i == head.n ? "all-ff" : "ok", path);
}

void pci_bars(struct fact *ret, struct view text, const char *source)
{
	uint64_t start, end, flags;
	bool any = false, lost = false;
	struct view line, word;
	int i;

	for (i = 0; i < BARS && view_line(&text, &line); i++) {
		if (!view_word(&line, &word) || !view_u64(word, 16, &start) ||
		    !view_word(&line, &word) || !view_u64(word, 16, &end) ||
		    !view_word(&line, &word) || !view_u64(word, 16, &flags)) {
			fact_broken(ret, source, _("not a list of regions"));
			return;
		}
		any |= start || end || flags;
		lost |= (flags & RESOURCE_MEMORY) && start == 0;
	}
	if (!i)
		fact_broken(ret, source, _("empty"));
	else
		fact_set(ret, !any || lost ? "unassigned" : "ok", source);
}

static void bars(struct probe_ctx *p, struct gpu *g, const char *dev)
{
	const char *path = attr(p, dev, "resource");
	struct view text;
	int e = sysroot_read(p->root, p->a, path, 8192, &text, NULL);

	if (e)
		fact_errno(&g->bars, -e, path);
	else
		pci_bars(&g->bars, text, path);
}

/* What the driver says of a device that it took: model and UUID come without NVML. */
static void information(struct probe_ctx *p, struct gpu *g, const char *address)
{
	const char *path = arena_printf(p->a, "%s/%s/information", INFORMATION, address);
	struct view text, line, value;
	struct view key;
	int e = sysroot_read(p->root, p->a, path, 16384, &text, NULL);

	if (e == -ENOENT) {
		if (sysroot_exists(p->root, INFORMATION))
			fact_flag(&g->driver_info, false, INFORMATION);
		else
			fact_absent(&g->driver_info, INFORMATION);
		return;
	}
	if (e) {
		fact_errno(&g->driver_info, -e, path);
		return;
	}
	fact_flag(&g->driver_info, true, path);
	while (view_line(&text, &line)) {
		key = view_cut(line, ':', &value);
		value = view_trim(value);
		if (view_is(key, "Model") && value.n && !view_is(value, "Unknown"))
			fact_set(&g->name, view_dup(p->a, value), path);
		/* Question marks until the device was started for the first time. */
		if (view_is(key, "GPU UUID") && value.n && view_chr(value, '?') < 0)
			fact_set(&g->uuid, view_dup(p->a, value), path);
	}
}

static void device(struct probe_ctx *p, const char *address)
{
	static const char *const id_names[] = { "vendor", "device", "PCI_ID" };
	static const char *const sub_names[] = { "subsystem_vendor", "subsystem_device",
						 "PCI_SUBSYS_ID" };
	const char *dev = path_join(p->a, DEVICES, address), *class = class_of(p, dev), *id, *sub,
		   *source;
	struct snapshot *s = p->s;
	struct gpu *g;

	/* Displays (0300), 3D controllers (0302) and other display devices (0380); NVSwitches are
	 * bridges (0680). */
	if (!class || strncmp(class, "03", 2) != 0 || s->n_gpus >= GPUS_MAX)
		return;
	id = pair(p, dev, id_names, &source);
	if (!id || (strncmp(id, "10de:", 5) != 0 && strncmp(id, "1002:", 5) != 0))
		return;
	g = ARENA_APPEND(p->a, s->gpus, s->n_gpus);
	fact_set(&g->address, address, DEVICES);
	fact_set(&g->pci_id, id, source);
	fact_set(&g->pci_class, class, attr(p, dev, "class"));
	sub = pair(p, dev, sub_names, &source);
	fact_set(&g->subsystem, sub, source);
	link_fact(p, &g->kernel_driver, attr(p, dev, "driver"));
	sysroot_fact(p->root, p->a, attr(p, dev, "power_state"), &g->power_state);
	sysroot_fact(p->root, p->a, attr(p, dev, "power/runtime_status"), &g->runtime_status);
	config(p, g, dev);
	bars(p, g, dev);
	if (strncmp(id, "10de:", 5) == 0)
		information(p, g, address);
}

/* Tegra: the GPU is no PCI device; the device tree names the chip. Capabilities:
 * developer.nvidia.com/cuda-gpus. */
static void tegra(struct probe_ctx *p)
{
	static const struct {
		const char *chip, *cc;
	} chips[] = {
		{ .chip = "tegra210", .cc = "5.3" },  { .chip = "tegra186", .cc = "6.2" },
		{ .chip = "tegra194", .cc = "7.2" },  { .chip = "tegra234", .cc = "8.7" },
		{ .chip = "tegra264", .cc = "11.0" },
	};
	static const char path[] = "/proc/device-tree/compatible";
	struct view text, word;
	struct gpu *g;
	size_t i;

	if (sysroot_read(p->root, p->a, path, 4096, &text, NULL) < 0)
		return;
	while (text.n) {
		word = view_cut(text, '\0', &text);
		for (i = 0; i < ARRAY_LEN(chips); i++) {
			if (!view_starts(word, "nvidia,") ||
			    !view_is(view_skip(word, 7), chips[i].chip))
				continue;
			g = ARENA_APPEND(p->a, p->s->gpus, p->s->n_gpus);
			sysroot_fact(p->root, p->a, "/proc/device-tree/model", &g->name);
			fact_set(&g->chip, chips[i].chip, path);
			fact_set(&g->compute_capability, chips[i].cc, path);
			return;
		}
	}
}

static void run(struct probe_ctx *p)
{
	struct dirlist list;
	size_t i;
	int e;

	if (!probe_is_running(p))
		return;
	e = sysroot_list(p->root, p->a, DEVICES, DEVICES_MAX, &list);
	if (e)
		fact_errno(&p->s->parts.pci, -e, DEVICES);
	else
		fact_flag(&p->s->parts.pci, true, DEVICES);
	for (i = 0; i < list.n; i++)
		device(p, list.names[i]);
	tegra(p);
}

const struct probe probe_pci = { .name = "pci", .run = run };

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices as programs list them, with the driver that holds each: lspci, lshw, hwinfo, inxi,
 * ubuntu-drivers, Windows' Plug and Play ids; and what the kernel says of their memory regions.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

/* A device's block seldom has more lines, lspci -vv not excepted. */
enum { BLOCK_LINES = 60, NAME_MAX_BYTES = 80 };

/* -------- the device that the lines speak of */

static void begin(struct paste *p, size_t i, bool display)
{
	p->device = (struct paste_device){ .line = i, .open = true, .display = display };
}

static bool in_gpu(const struct paste *p, size_t i)
{
	return p->device.open && p->device.display && p->device.nvidia &&
	       i - p->device.line <= BLOCK_LINES;
}

static struct gpu *device_gpu(struct paste *p)
{
	return p->device.gpu && p->device.gpu <= p->s->n_gpus ? &p->s->gpus[p->device.gpu - 1]
							      : NULL;
}

/* "GeForce RTX 3060 Lite Hash Rate", "GeForce RTX 2060 Rev. A", "GeForce RTX 4060 Max-Q / Mobile".
 */
static struct view board(struct view name)
{
	static const char *const tails[] = { " Rev.", " Lite Hash", " / ", " Max-Q" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(tails); i++) {
		ptrdiff_t at = view_find(name, tails[i]);

		if (at > 0)
			name.n = (size_t)at;
	}
	if (name.n > NAME_MAX_BYTES)
		name.n = 0;
	return name;
}

/*
 * The GPU that the device is: by its address, else one that was only named so far, else a new one.
 * Two cards of one name are two.
 */
static void find_gpu(struct paste *p, struct view name, struct view address, size_t i)
{
	struct gpu *g = NULL;
	size_t k;

	if (p->filling || paste_foreign(p, i, SCOPE_MACHINE))
		return;
	for (k = 0; p->s->gpus && k < p->s->n_gpus && !g; k++) {
		struct view have = view_of(fact_value(&p->s->gpus[k].address, NULL));

		if (address.n && have.n >= address.n &&
		    view_is_nocase(view_skip(have, have.n - address.n), view_dup(p->a, address)))
			g = &p->s->gpus[k];
	}
	for (k = 0; p->s->gpus && k < p->s->n_gpus && !g; k++) {
		const char *old = fact_value(&p->s->gpus[k].name, NULL);

		if (!fact_known(&p->s->gpus[k].address) &&
		    (name.n ? old && (view_find(name, old) >= 0 ||
				      strcasestr(old, view_dup(p->a, name)))
			    : !fact_known(&p->s->gpus[k].pci_id)))
			g = &p->s->gpus[k];
	}
	if (!g && (p->s->n_gpus >= 64 || (!name.n && !address.n)))
		return;
	if (!g)
		g = ARENA_APPEND(p->a, p->s->gpus, p->s->n_gpus);
	if (address.n && !fact_known(&g->address))
		fact_set(&g->address, view_dup(p->a, address), paste_source(p, i));
	if (name.n && !fact_known(&g->name))
		fact_set(&g->name, view_dup(p->a, name), paste_source(p, i));
	p->device.gpu = (size_t)(g - p->s->gpus) + 1;
}

/* "NVIDIA Corporation GM107 [GeForce GTX 750 Ti] [10de:1380] (rev a2)", "... Device 2c05". */
static void nvidia_device(struct paste *p, struct view what, struct view address, size_t i)
{
	struct regex_match m;
	struct gpu *g;

	p->device.nvidia = true;
	sign_add(p, "bus-gpu", i, what);
	if (paste_match(p, "^nvidia(?: corporation)?:? Device ([0-9a-f]{4})\\b", what, &m)) {
		find_gpu(p, (struct view){ 0 }, address, i);
		g = device_gpu(p);
		if (g && !fact_known(&g->pci_id))
			fact_set(&g->pci_id,
				 arena_printf(p->a, "10de:%s", view_dup(p->a, m.group[1])),
				 paste_source(p, i));
		return;
	}
	if (!paste_match(p,
			 "^nvidia(?: corporation)?:? ([A-Z]{1,2}\\d{2,3})[A-Z]*(?: / \\w+)? "
			 "\\[([^\\]]+)\\]",
			 what, &m)) {
		find_gpu(p, (struct view){ 0 }, address, i);
		return;
	}
	find_gpu(p, board(m.group[2]), address, i);
	g = device_gpu(p);
	if (g && !fact_known(&g->chip))
		fact_set(&g->chip, view_dup(p->a, m.group[1]), paste_source(p, i));
}

/* The driver that holds it, as lspci, lshw, hwinfo and inxi say it. */
static void held_by(struct paste *p, struct view driver, size_t i)
{
	struct gpu *g = device_gpu(p);
	static const struct {
		const char *driver, *sign;
	} list[] = {
		{ "nvidia", "bus-driver-nvidia" },  { "nouveau", "bus-driver-nouveau" },
		{ "nova", "bus-driver-nouveau" },   { "nvidiafb", "bus-driver-nouveau" },
		{ "rivafb", "bus-driver-nouveau" }, { "vfio-pci", "bus-driver-vfio" },
		{ "pci-stub", "bus-driver-vfio" },  { "nova_core", "bus-driver-nouveau" },
		{ "pciback", "bus-driver-vfio" },   { "xen-pciback", "bus-driver-vfio" },
	};
	size_t k;

	if (g && !fact_known(&g->kernel_driver) && !p->filling)
		fact_set(&g->kernel_driver, view_dup(p->a, driver), paste_source(p, i));
	for (k = 0; k < ARRAY_LEN(list); k++)
		if (view_is(driver, list[k].driver)) {
			sign_add(p, list[k].sign, i, driver);
			return;
		}
}

/* -------- lspci */

static void lspci_header(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	struct view what;

	if (!paste_match(
		    p,
		    "^(?:lspci[^:\\n]{0,30}: ?)?(?:[0-9a-f]{4,8}:)?([0-9a-f]{2}:[0-9a-f]{2}\\.[0-7])"
		    " (?:\"?([3A-Z][\\w /.-]{2,50}?)\"?(?: \\[([0-9a-f]{4})\\])?|([0-9a-f]{4})): "
		    "(\\S.*)$",
		    s, &m))
		return;
	begin(p, i,
	      view_starts(m.group[3], "03") || view_starts(m.group[4], "03") ||
		      paste_match(p, "VGA compatible|3D controller|Display controller", m.group[2],
				  NULL));
	if (!p->device.display)
		return;
	what = m.group[5];
	if (view_starts(what, "10de:")) {
		/* lspci -n: the id in the place of the name */
		paste_pci(p, (struct view){ .p = what.p, .n = what.n < 9 ? what.n : 9 }, i);
		p->device.nvidia = true;
		sign_add(p, "bus-gpu", i, what);
	} else if (paste_match(p, "^nvidia", what, NULL)) {
		nvidia_device(p, what, m.group[1], i);
	} else {
		sign_add(p, "bus-other-gpu", i, what);
	}
}

/* Lines of the device that lspci -k, -v and -vv write below it. */
static void lspci_detail(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(p, "^Kernel driver in use:\\s+(\\S+)$", s, &m)) {
		/* Without its device's line it is the GPU's: nobody else's is pasted. */
		if (in_gpu(p, i) || !p->device.open || i - p->device.line > BLOCK_LINES)
			held_by(p, m.group[1], i);
	} else if (in_gpu(p, i) &&
		   paste_match(p, "^(?:Region \\d: )?Memory at <(?:unassigned|ignored)>", s,
			       NULL)) {
		sign_add(p, "bus-bar-none", i, s);
	}
}

/* -------- lshw, hwinfo, inxi */

static void lshw_line(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (view_starts(s, "*-"))
		begin(p, i, view_starts(s, "*-display"));
	/* Filtered or cut: the device's own line is missing. */
	if (!p->device.open && view_starts(s, "product: ") &&
	    !paste_match(p, "audio|usb|ucsi|serial|bridge|ethernet|disk", s, NULL))
		begin(p, i, true);
	if (!p->device.open || !p->device.display)
		return;
	if (paste_match(p, "^product: (\\S.*)$", s, &m))
		p->device.product = m.group[1];
	else if (paste_match(p, "^vendor: nvidia", s, NULL))
		nvidia_device(p,
			      view_of(arena_printf(p->a, "NVIDIA Corporation %s",
						   view_dup(p->a, p->device.product))),
			      (struct view){ 0 }, i);
	else if (view_starts(s, "vendor: "))
		sign_add(p, "bus-other-gpu", i, s);
	else if (in_gpu(p, i) && paste_match(p, "^configuration:.*\\bdriver=(\\S+)", s, &m))
		held_by(p, m.group[1], i);
}

static void one_line_device(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	/* inxi -G: "Device-1: NVIDIA TU117 [GeForce GTX 1650] vendor: X driver: nouveau v: kernel"
	 */
	if (paste_match(p, "\\bDevice-\\d+: (.*?)(?: vendor: .*?| vendor .*?)? driver: (\\S+)", s,
			&m) ||
	    paste_match(p, "\\bCard(?:-\\d+)?: (nvidia.*?) driver: (\\S+)", s, &m)) {
		begin(p, i, true);
		if (paste_match(p, "^nvidia", m.group[1], NULL)) {
			nvidia_device(p, m.group[1], (struct view){ 0 }, i);
			held_by(p, m.group[2], i);
		}
		p->device.open = false;
	}
	/* hwinfo --gfxcard: Model: "nVidia GA106 [...]", then Driver: "nouveau" */
	if (paste_match(p, "^Model: \"(nvidia .*)\"$", s, &m)) {
		begin(p, i, true);
		nvidia_device(p, m.group[1], (struct view){ 0 }, i);
	} else if (in_gpu(p, i) && paste_match(p, "^Driver: \"([\\w-]+)\"$", s, &m)) {
		held_by(p, m.group[1], i);
	}
}

/* -------- links of sysfs */

/* readlink or ls -l of a device's "driver": "../../../../bus/pci/drivers/vfio-pci". */
static void driver_link(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (p->t.lines[i].by != NO_COMMAND &&
	    paste_match(p, "/driver(?:\\s|/?$)", line_cmd(&p->t.lines[p->t.lines[i].by]), NULL) &&
	    paste_match(p, "(?:^|-> )\\S*bus/pci/drivers/([\\w-]+)$", s, &m))
		held_by(p, m.group[1], i);
}

/* -------- ids without a name */

/* "modalias : pci:v000010DEd00002204sv...bc03", "PCI\VEN_10DE&DEV_2684&SUBSYS_...". */
static void ids(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	const char *id;

	if (!paste_match(p, "pci:v000010DEd0000([0-9A-F]{4})\\S*?bc03", s, &m) &&
	    !paste_match(p, "VEN_10DE&(?:amp;)?DEV_([0-9A-F]{4})", s, &m))
		return;
	id = view_dup(p->a, m.group[1]);
	/* The sound function of a card has an id as well. */
	if (!compat_gpu(p->c,
			arena_printf(p->a, "%c%c%c%c", tolower((unsigned char)id[0]),
				     tolower((unsigned char)id[1]), tolower((unsigned char)id[2]),
				     tolower((unsigned char)id[3]))))
		return;
	sign_add(p, "bus-gpu", i, s);
	paste_pci(p,
		  view_of(arena_printf(p->a, "10de:%c%c%c%c", tolower((unsigned char)id[0]),
				       tolower((unsigned char)id[1]), tolower((unsigned char)id[2]),
				       tolower((unsigned char)id[3]))),
		  i);
}

/* -------- memory regions in the kernel log */

/* Regions of a GPU are large; what bridges, sound and network cards want is not. */
enum { REGION_MIN = 16 << 20 };

/*
 * "pci 0000:05:00.0: BAR 1: no space for [mem size 0x800000000 64bit pref]", from 6.10 on "BAR 1
 * [mem size 0x800000000 64bit pref]: can't assign; no space"; and "BAR 1: assigned [mem 0x...]",
 * which the kernel says when another try succeeds. Regions of virtual functions ("VF BAR") do not
 * matter to the GPU itself.
 */
static void region(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	const char *at;

	if (!paste_match(
		    p,
		    "(?:\\bpci [0-9a-f]{4}:([0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]): |^)(BAR [0-5])\\b"
		    "(.*)$",
		    s, &m))
		return;
	at = arena_printf(p->a, "%s %s", view_dup(p->a, m.group[1]), view_dup(p->a, m.group[2]));
	if (view_find(m.group[3], ": assigned") >= 0)
		sign_add(p, "region-assigned", i, view_of(at));
	else if (paste_match(p, "no space|failed to assign|can't assign", m.group[3], NULL) &&
		 paste_match(p, "\\[mem size 0x([0-9a-f]+)", m.group[3], &m) &&
		 strtoull(view_dup(p->a, m.group[1]), NULL, 16) >= REGION_MIN)
		sign_add(p, "region-failed", i, view_of(at));
}

static void bus_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;

	if (p->t.lines[i].cmd_at) {
		p->device.open = false;
		return;
	}
	if (s.n > 600 || paste_foreign(p, i, SCOPE_MACHINE))
		return;
	if (isxdigit((unsigned char)s.p[0]) || view_starts(s, "lspci"))
		lspci_header(p, s, i);
	if (view_starts(s, "Kernel driver") || view_find(s, "Memory at <") >= 0)
		lspci_detail(p, s, i);
	if (view_find(s, "bus/pci/drivers/") >= 0)
		driver_link(p, s, i);
	if (view_starts(s, "*-") || view_starts(s, "product:") || view_starts(s, "vendor:") ||
	    view_starts(s, "configuration:"))
		lshw_line(p, s, i);
	if (view_starts(s, "Model:") || view_starts(s, "Driver:") || view_find(s, "driver: ") > 0)
		one_line_device(p, s, i);
	if (view_find(s, "10DE") >= 0)
		ids(p, s, i);
	if (view_find(s, "BAR ") >= 0)
		region(p, s, i);
}

const struct extractor extract_bus = { .name = "bus", .line = bus_line };

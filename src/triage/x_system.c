/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, packages of the distribution, the kernel log. */
#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

/* -------- modules: lsmod, modinfo, dkms, uname */

/* Who uses nvidia.ko stands at the end of its row: nvidia_uvm among them, or it is not loaded. */
static void used_by(struct paste *p, struct view s, size_t i)
{
	if (view_find(s, "nvidia_uvm") >= 0)
		sign_add(p, "uvm-loaded", i, (struct view){ 0 });
	else if (paste_match(p, "\\s\\d+\\s+nvidia_(?:modeset|drm|peermem)(?:,nvidia_\\w+)*$", s,
			     NULL))
		sign_add(p, "uvm-not-among-users", i, (struct view){ 0 });
}

static void lsmod_row(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (!paste_match(p,
			 "^(nvidia(?:_uvm|_drm|_modeset|_peermem)?|nouveau|nova_core|vfio_pci|i915|"
			 "amdgpu|ib_umad)\\s+\\d+\\s+-?\\d+",
			 s, &m))
		return;
	if (view_is(m.group[1], "nvidia")) {
		fact_flag(&p->s->driver.module_loaded, true, paste_source(p, i));
		sign_add(p, "module-loaded", i, m.group[1]);
		used_by(p, s, i);
	} else if (view_is(m.group[1], "nvidia_uvm")) {
		sign_add(p, "uvm-loaded", i, m.group[1]);
	} else if (view_is(m.group[1], "nouveau") || view_is(m.group[1], "nova_core")) {
		sign_add(p, "nouveau-loaded", i, m.group[1]);
	}
}

/* "nvidia/535.183.01, 6.8.0-40-generic, x86_64: installed", "nvidia, 550.90, 6.8: added". */
static void dkms_row(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	struct dkms *d;

	if (!paste_match(p,
			 "^(nvidia[\\w-]*)[/,] ?([\\d.]+)(?:, ?([^,\\s:]+))?(?:, ?\\w+)?: (added|"
			 "built|installed|failed|broken)",
			 s, &m))
		return;
	if (p->s->driver.n_dkms >= 100)
		return;
	d = ARENA_APPEND(p->a, p->s->driver.dkms, p->s->driver.n_dkms);
	fact_set(&d->name, view_dup(p->a, m.group[1]), paste_source(p, i));
	fact_set(&d->version, view_dup(p->a, m.group[2]), paste_source(p, i));
	if (m.group[3].n)
		fact_set(&d->kernel, view_dup(p->a, m.group[3]), paste_source(p, i));
	fact_set(&d->state, view_dup(p->a, m.group[4]), paste_source(p, i));
	sign_add(p, view_is(m.group[4], "installed") ? "dkms-installed" : "dkms-not-installed", i,
		 m.group[3]);
}

/* cat /sys/module/nvidia/version: of the module that is loaded. */
static void loaded_version(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (!paste_under(p, i, "/sys/module/nvidia/version") ||
	    !paste_match(p, "^(\\d{3}\\.\\d+(?:\\.\\d+)?)$", s, &m))
		return;
	paste_fact(p, "driver.version", m.group[1], i);
	sign_add(p, "nvrm-version", i, m.group[1]);
}

/* Of a command about several of the driver's modules each version counts, unless it asks about
 * several kernels. */
static void module_version(struct paste *p, struct view version, size_t i)
{
	int32_t by = p->t.lines[i].by;
	struct view cmd = { 0 };

	if (by != NO_COMMAND)
		cmd = line_cmd(&p->t.lines[by]);
	if (paste_match(p, "nvidia[-_](?:uvm|drm|modeset|peermem)|nvidia\\*", cmd, NULL) &&
	    view_find(cmd, " -k") < 0 && view_find(cmd, "/lib/modules") < 0)
		sign_add(p, "module-set-version", i, version);
	else
		sign_add(p, "module-core-version", i, version);
	if ((view_find(cmd, "modinfo -F version nvidia") >= 0 ||
	     view_find(cmd, "modinfo nvidia -F version") >= 0) &&
	    view_find(cmd, " -k") < 0)
		sign_add(p, "modinfo-version", i, version);
}

static struct view flavor_of(struct view license)
{
	return view_find(license, "GPL") >= 0 ? VIEW("open") : VIEW("proprietary");
}

/* What modinfo -F and /sys/module/NAME/version print. */
static void bare_value(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_under(p, i, "modinfo -F license nvidia") &&
	    paste_match(p, "^(?:NVIDIA|Dual MIT/GPL)$", s, NULL))
		paste_fact(p, "driver.flavor", flavor_of(s), i);
	if (paste_match(p, "^/sys/module/nvidia(\\w*)/version:(\\d{3}\\.[\\d.]+)$", s, &m))
		sign_add(p, m.group[1].n ? "module-set-version" : "module-core-version", i,
			 m.group[2]);
	else if ((paste_under(p, i, "modinfo -F version") ||
		  paste_under(p, i, "modinfo nvidia -F version") ||
		  paste_under(p, i, "/sys/module/nvidia")) &&
		 paste_match(p, "^(?:nvidia\\w*:?\\s+)?(\\d{3}\\.\\d+(?:\\.\\d+)?)$", s, &m))
		module_version(p, m.group[1], i);
}

/* "license: Dual MIT/GPL" is the open flavour; "filename:" names the kernel that it is built for.
 */
static void modinfo(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (!paste_under(p, i, "modinfo") &&
	    !(i && view_starts(p->t.lines[i - 1].s, "filename:")) && !view_starts(s, "filename:"))
		return;
	if (paste_match(p, "^version:\\s+(\\d{3}\\.[\\d.]+)", s, &m)) {
		sign_add(p, "modinfo-version", i, m.group[1]);
		module_version(p, m.group[1], i);
	} else if (paste_match(p, "^license:\\s+(\\S.*)$", s, &m) && paste_under(p, i, "nvidia")) {
		paste_fact(p, "driver.flavor", flavor_of(m.group[1]), i);
	}
}

/* "SecureBoot enabled" of mokutil. */
static void secure_boot(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;

	if (paste_match(p, "^Secure ?Boot (enabled|disabled)$", s, &m))
		paste_fact(p, "host.secure_boot",
			   view_is_nocase(m.group[1], "enabled") ? VIEW("yes") : VIEW("no"), i);
}

static void modules_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;

	if (p->t.lines[i].cmd_at || s.n > 400 || paste_foreign(p, i, SCOPE_MACHINE))
		return;
	lsmod_row(p, s, i);
	if (view_starts(s, "nvidia"))
		dkms_row(p, s, i);
	if (paste_under(p, i, "uname") &&
	    paste_match(p, "(?:^|\\s)(\\d+\\.\\d+\\.\\d+-[\\w.+~-]+)", s, &m))
		paste_fact(p, "host.kernel", m.group[1], i);
	if (paste_under(p, i, "uname") && paste_match(p, "\\baarch64\\b", s, NULL))
		paste_fact(p, "host.arch", VIEW("aarch64"), i);
	if (view_chr(s, ':') > 3)
		modinfo(p, s, i);
	loaded_version(p, s, i);
	if (view_starts(s, "/sys/module/nvidia") || (p->t.lines[i].by != NO_COMMAND && s.n < 40))
		bare_value(p, s, i);
	if (view_find(s, "ecure") >= 0)
		secure_boot(p, s, i);
}

const struct extractor extract_modules = { .name = "modules", .line = modules_line };

/* -------- dpkg -l, rpm -qa, pacman */

static void os_package(struct paste *p, struct view name, struct view version, size_t i)
{
	struct ospackage *k;

	if (p->s->n_os_packages >= 1000)
		return;
	k = ARENA_APPEND(p->a, p->s->os_packages, p->s->n_os_packages);
	fact_set(&k->name, view_dup(p->a, name), paste_source(p, i));
	fact_set(&k->version, view_dup(p->a, version), paste_source(p, i));
	fact_set(&k->status, "installed", paste_source(p, i));
	if (paste_match(
		    p,
		    "^(?:nvidia$|nvidia-(?:lts$|driver|dkms|utils|compute-utils|kernel|\\d{3}|headless|"
		    "open|x11)|"
		    "libnvidia|a?kmod-nvidia|nvidia-driver|cuda-drivers|xserver-xorg-video-nvidia|"
		    "xorg-x11-drv-nvidia|nvidia-open|linux-(?:modules|objects)-nvidia)",
		    name, NULL))
		sign_add(p, "driver-package", i, version);
	if (paste_match(p, "^libnvidia-compute", name, NULL))
		sign_add(p, "pkg-libnvidia-compute", i, version);
}

/* Lists of installed packages, each in the form of its program. */
static void listed_package(struct paste *p, struct view s, size_t i)
{
	static const struct {
		const char *command, *pattern;
	} list[] = {
		{ "rpm -q", "^([a-z][\\w+-]*?)-(\\d[\\w.:~+-]*)" },
		{ "dnf list",
		  "^([a-z][\\w+-]*?)(?:\\.(?:x86_64|aarch64|noarch|i686))?[- ]+(\\d[\\w.:~+-]*)" },
		{ "yum list",
		  "^([a-z][\\w+-]*?)(?:\\.(?:x86_64|aarch64|noarch|i686))?[- ]+(\\d[\\w.:~+-]*)" },
		{ "pacman -Q", "^(?:local/)?([a-z][\\w+-]*?)[- ](\\d[\\w.:~+-]*)" },
		{ "apt list",
		  "^([a-z][\\w+.-]*)/(?=\\S*now\\b|.*\\[installed)\\S+ (\\d\\S*) (?!.*\\[residual)" },
		{ "zypper se", "^i\\+? *\\| *([a-zA-Z][\\w+.-]*) *\\|.*?\\| *(\\d[\\w.-]*) *\\|" },
		{ "nvidia-drivers", "(?:^|/)(nvidia-drivers)-(\\d[\\w.]*)" },
		{ "portage", "(?:^|/)(nvidia-drivers)-(\\d[\\w.]*)" },
	};
	struct regex_match m;
	size_t k;

	for (k = 0; k < ARRAY_LEN(list); k++) {
		if (!paste_under(p, i, list[k].command))
			continue;
		if (paste_match(p, list[k].pattern, s, &m))
			os_package(p, m.group[1], m.group[2], i);
		return;
	}
}

static void os_packages_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;

	if (p->t.lines[i].cmd_at || s.n > 400 || paste_foreign(p, i, SCOPE_PLACE))
		return;
	if (view_starts(s, "ii ") || view_starts(s, "hi ") || view_starts(s, "iU ")) {
		if (paste_match(p, "^[hi][iU]\\s+(\\S+?)(?::\\w+)?\\s+(\\S+)", s, &m))
			os_package(p, m.group[1], m.group[2], i);
	} else if (view_starts(s, "Setting up ") || view_starts(s, "Unpacking ")) {
		/* apt's log: "Setting up nvidia-driver-535 (535.183.01-0ubuntu0.22.04.1) ..." */
		if (paste_match(p, "^(?:Setting up|Unpacking) (\\S+?)(?::\\w+)? \\((\\d\\S*)\\)", s,
				&m))
			os_package(p, m.group[1], m.group[2], i);
	} else if (view_find(s, "[ALPM] ") >= 0) {
		/* pacman.log: "[ALPM] upgraded nvidia-utils (580.105.08-1 -> 590.48.01-2)" */
		if (paste_match(p,
				"\\[ALPM\\] (?:installed|reinstalled|upgraded|downgraded) (\\S+) "
				"\\((?:\\S+ -> )?(\\d[^)\\s]*)\\)",
				s, &m))
			os_package(p, m.group[1], m.group[2], i);
	} else if (view_find(s, " @") > 0 &&
		   paste_match(p,
			       "^([a-z][\\w+-]*)\\.(?:x86_64|aarch64|noarch|i686)\\s+(?:\\d+:)?"
			       "(\\d[\\w.~+-]*)\\s+@[\\w.-]+$",
			       s, &m)) {
		/* yum and dnf list what is installed with the repository that it came from. */
		os_package(p, m.group[1], m.group[2], i);
	} else if (p->t.lines[i].by != NO_COMMAND) {
		listed_package(p, s, i);
	} else if (paste_match(p,
			       "^((?:a?kmod|dkms)-nvidia(?=-\\d)|(?:lib)?nvidia-[A-Za-z][\\w-]*?"
			       "(?=-\\d{3}\\.\\d))-(\\d[\\w.]*(?:[-_][\\w.]+)*)$",
			       s, &m)) {
		/* A row of rpm -qa whose command was left out. */
		os_package(p, m.group[1], m.group[2], i);
	}
}

const struct extractor extract_os_packages = { .name = "os_packages", .line = os_packages_line };

/* -------- Xid lines */

static const char *xid_meaning(struct view n)
{
	static const struct {
		const char *xid, *sign;
	} list[] = {
		{ "79", "xid-off-bus" },   { "48", "xid-ecc" },	      { "63", "xid-ecc" },
		{ "64", "xid-ecc" },	   { "92", "xid-ecc" },	      { "94", "xid-ecc" },
		{ "95", "xid-ecc" },	   { "171", "xid-ecc" },      { "172", "xid-ecc" },
		{ "140", "xid-ecc" },	   { "119", "xid-gsp" },      { "120", "xid-gsp" },
		{ "61", "xid-hardware" },  { "62", "xid-hardware" },  { "74", "xid-hardware" },
		{ "110", "xid-hardware" }, { "167", "xid-hardware" }, { "13", "xid-program" },
		{ "31", "xid-program" },   { "43", "xid-program" },   { "54", "xid-hardware" },
		{ "157", "xid-hardware" }, { "168", "xid-hardware" }, { "173", "xid-hardware" },
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(list); i++)
		if (view_is(n, list[i].xid))
			return list[i].sign;
	return "xid-other";
}

/* Errors of NVLink (144 to 150) come and go; one that took a program's channel with it does not. */
static bool link_took_channel(struct view s, struct view n)
{
	uint64_t xid;

	return view_find(s, "caused by previous Xid") >= 0 && view_u64(n, 10, &xid) && xid >= 144 &&
	       xid <= 150;
}

/* Somebody asks what an Xid is, or tells of a card that is no longer there. */
static bool xid_only_told(struct paste *p, struct view s)
{
	return paste_match(
		p,
		"\\bwhat (?:does|do|is|are) (?:an? |the )?Xids? |\\b(?:card|gpu|board|it) "
		"(?:was|were|has been|got) (?:since |then )?(?:replaced|swapped|RMA)",
		s, NULL);
}

/* The last Xid of a GPU as dcgm-exporter gives it: 0 is none. */
static void exported_xid(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;

	if (view_find(s, "XID_ERRORS{") >= 0 &&
	    paste_match(p, "XID_ERRORS\\{[^}]*\\}\\s+([1-9]\\d{0,2})\\s*$", s, &m))
		sign_add(p, xid_meaning(m.group[1]), i, m.group[1]);
}

static void kernel_log_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;
	struct event *e;

	/* The sound, USB and serial functions of a card are no GPUs. */
	if (view_find(s, "10de:") >= 0 &&
	    !paste_match(p, "Audio device|USB controller|Serial bus|bridge \\[", s, NULL) &&
	    paste_match(p, "(?:PCI ID: ?|\\[)(10de:[0-9a-f]{4})\\b", s, &m))
		paste_pci(p, m.group[1], i);
	exported_xid(p, i);
	if ((view_find(s, "Xid") < 0 && view_find(s, "XID") < 0) ||
	    !paste_match(
		    p,
		    "Xid\\s*(?:\\(?(?:PCI:)?([0-9a-fA-F:.]*)[^)]*\\))?\\s*[:=]?\\s*"
		    "(?:45\\b[^\\n]*caused by previous Xid )?(\\d{1,3})\\b",
		    s, &m) ||
	    xid_only_told(p, s))
		return;
	sign_add(p, link_took_channel(s, m.group[2]) ? "xid-hardware" : xid_meaning(m.group[2]), i,
		 m.group[2]);
	if (p->s->n_log >= 500)
		return;
	e = ARENA_APPEND(p->a, p->s->log, p->s->n_log);
	fact_set(&e->id, "xid", paste_source(p, i));
	fact_set(&e->xid, view_dup(p->a, m.group[2]), paste_source(p, i));
	if (m.group[1].n)
		fact_set(&e->address, view_dup(p->a, m.group[1]), paste_source(p, i));
	fact_set(&e->text, view_dup(p->a, s), paste_source(p, i));
}

const struct extractor extract_kernel_log = { .name = "kernel_log", .line = kernel_log_line };

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about driver files that do not belong together though each is well installed: packages of
 * two versions, and a copy of the modules in the initramfs that an upgrade left behind.
 */
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* -------- packages */

enum part { PART_NONE, PART_KERNEL, PART_USER };

/* What of the driver a package brings, by the names of Debian, Ubuntu, NVIDIA's repositories,
 * RPM Fusion, SUSE and Arch. A star at the end: all that begin so. */
static const struct {
	const char *name;
	enum part part;
} parts[] = {
	{ .name = "nvidia-dkms-*", .part = PART_KERNEL },
	{ .name = "nvidia-kernel-dkms", .part = PART_KERNEL },
	{ .name = "nvidia-kernel-open-dkms", .part = PART_KERNEL },
	{ .name = "nvidia-open-kernel-dkms", .part = PART_KERNEL },
	{ .name = "kmod-nvidia-open-dkms", .part = PART_KERNEL },
	{ .name = "kmod-nvidia-latest-dkms", .part = PART_KERNEL },
	{ .name = "akmod-nvidia", .part = PART_KERNEL },
	{ .name = "akmod-nvidia-open", .part = PART_KERNEL },
	{ .name = "dkms-nvidia", .part = PART_KERNEL },
	{ .name = "nvidia-driver-G0*", .part = PART_KERNEL },
	{ .name = "nvidia-open-driver-G0*", .part = PART_KERNEL },
	{ .name = "nvidia-dkms", .part = PART_KERNEL },
	{ .name = "nvidia-open-dkms", .part = PART_KERNEL },
	{ .name = "libnvidia-compute-*", .part = PART_USER },
	{ .name = "libcuda1", .part = PART_USER },
	{ .name = "nvidia-driver-cuda-libs", .part = PART_USER },
	{ .name = "nvidia-driver-libs", .part = PART_USER },
	{ .name = "xorg-x11-drv-nvidia-cuda-libs", .part = PART_USER },
	{ .name = "nvidia-compute-G0*", .part = PART_USER },
	{ .name = "nvidia-utils", .part = PART_USER },
};

static enum part part_of(const char *name)
{
	size_t i, n;

	for (i = 0; i < ARRAY_LEN(parts); i++) {
		n = strlen(parts[i].name);
		if (parts[i].name[n - 1] == '*' ? strncmp(name, parts[i].name, n - 1) == 0
						: strcmp(name, parts[i].name) == 0)
			return parts[i].part;
	}
	return PART_NONE;
}

/* "580.95.05" of "3:580.95.05-0ubuntu0.24.04.1" and of "580.95.05_k6.4.0-1". */
static const char *upstream(struct arena *a, const struct ospackage *o)
{
	const char *v = fact_value(&o->version, ""), *colon = strchr(v, ':');
	size_t n;

	v = colon ? colon + 1 : v;
	n = strspn(v, "0123456789.");
	return n >= 5 && look_branch(v) > 99 ? arena_strndup(a, v, n) : NULL;
}

static bool is_installed(const struct ospackage *o)
{
	return fact_is(&o->status, "installed") || fact_is(&o->status, "held");
}

/* The first package of the part whose version is known; several kernels may have one each. */
static const struct ospackage *package_of(struct judge *j, enum part part, const char *but)
{
	size_t i;

	for (i = 0; i < j->s->n_os_packages; i++) {
		const struct ospackage *o = &j->s->os_packages[i];
		const char *v;

		if (!fact_known(&o->name) || !is_installed(o) || part_of(o->name.value) != part)
			continue;
		v = upstream(j->a, o);
		if (v && (!but || strcmp(v, but) != 0))
			return o;
	}
	return NULL;
}

/* Both parts in two versions, and no package of the one in a version of the other. */
static bool parts_differ(struct judge *j, const struct ospackage **ret_kernel,
			 const struct ospackage **ret_user)
{
	size_t i;

	*ret_kernel = package_of(j, PART_KERNEL, NULL);
	*ret_user = package_of(j, PART_USER, NULL);
	if (!*ret_kernel || !*ret_user)
		return false;
	for (i = 0; i < j->s->n_os_packages; i++) {
		const struct ospackage *o = &j->s->os_packages[i];
		const char *v = upstream(j->a, o);

		if (v && is_installed(o) && part_of(fact_value(&o->name, "")) == PART_KERNEL &&
		    strcmp(v, upstream(j->a, *ret_user)) == 0)
			return false;
	}
	return true;
}

static void package_evidence(struct judge *j, struct finding *f, const struct ospackage *o)
{
	const char *from = fact_value(&o->origin, "");

	finding_evidence(j, f, "os_packages.version",
			 arena_printf(j->a, "%s %s%s%s%s", o->name.value, o->version.value,
				      *from ? " (" : "", from, *from ? ")" : ""),
			 NULL, o->version.source);
}

static void run_driver_packages_mixed(struct judge *j)
{
	const struct ospackage *kernel, *user;
	struct finding *f;

	if (j->s->parts.packages.state != FACT_KNOWN && j->s->parts.packages.why)
		judge_skip(j, "parts.packages", "%s", j->s->parts.packages.why);
	if (!look_is_linux_host(j) || judge_has(j, FINDING_DRIVER_PACKAGES_MIXED) ||
	    !parts_differ(j, &kernel, &user))
		return;
	f = finding_add(j, FINDING_DRIVER_PACKAGES_MIXED, _("this machine"));
	/* It bites when the module is loaded next; what keeps CUDA from starting now may be this.
	 */
	if (!look_cuda_failed(j->s) && look_nvml_init(j->s) <= 0)
		f->severity = SEVERITY_WARNING;
	finding_message(
		j, f,
		_("The driver's packages are of two versions: the kernel module comes with %s (%s), "
		  "libcuda with %s (%s)."),
		kernel->name.value, upstream(j->a, kernel), user->name.value, upstream(j->a, user));
	package_evidence(j, f, kernel);
	package_evidence(j, f, user);
	remedy_driver(j, f, arena_printf(j->a, "%u", look_branch(upstream(j->a, user))),
		      remedy_driver_kind(j));
}

/* -------- the initramfs */

/* Version of the nvidia modules on the disk for this kernel: NULL when there are none, or two. */
static const char *disk_version(const struct snapshot *s, const char *kernel)
{
	const char *v = NULL;
	size_t i;

	for (i = 0; i < s->driver.n_modules; i++) {
		const struct module *m = &s->driver.modules[i];

		if (!fact_known(&m->path) || !fact_is(&m->kernel, kernel) ||
		    !fact_known(&m->version) || fact_is(&m->name, "nvidia-fs") ||
		    fact_is(&m->name, "nvidia-peermem"))
			continue;
		if (v && strcmp(v, m->version.value) != 0)
			return NULL;
		v = m->version.value;
	}
	return v;
}

static const struct module *stale_copy(const struct snapshot *s, const char **ret_disk)
{
	size_t i;

	for (i = 0; i < s->driver.n_initramfs; i++) {
		const struct module *m = &s->driver.initramfs[i];

		if (!fact_known(&m->version) || !fact_known(&m->kernel) ||
		    !fact_is(&s->host.kernel, m->kernel.value))
			continue;
		*ret_disk = disk_version(s, m->kernel.value);
		if (*ret_disk && !fact_is(&m->version, *ret_disk))
			return m;
	}
	return NULL;
}

static void run_initramfs_stale(struct judge *j)
{
	const struct snapshot *s = j->s;
	const char *disk = NULL;
	const struct module *m = stale_copy(s, &disk);
	bool loaded;
	struct finding *f;
	struct remedy *r;

	if (!m || !look_is_linux_host(j) || judge_has(j, FINDING_DRIVER_MODULE_SET_MIXED))
		return;
	loaded = fact_is(&s->driver.version, m->version.value);
	f = finding_add(j, FINDING_DRIVER_MODULE_SET_MIXED, _("this machine"));
	if (!loaded || look_cuda_works(s) || (look_cuda_init(s) < 0 && look_nvml_init(s) <= 0))
		f->severity = SEVERITY_WARNING;
	finding_message(
		j, f,
		_("The initramfs holds %s %s, and the modules on the disk are %s: the copy in the "
		  "initramfs is loaded at boot, so that a reboot alone brings the old one back."),
		m->name.value, m->version.value, disk);
	finding_fact(j, f, "driver.initramfs.version", &m->version, disk);
	if (loaded)
		finding_fact(j, f, "driver.version", &s->driver.version, disk);
	r = finding_remedy(j, f, "%s", _("Build the initramfs anew, then reboot."));
	remedy_initramfs(j, r);
	remedy_command(j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
}

const struct rule rule_driver_packages_mixed = {
	.name = "driver-packages-mixed",
	.needs = NEED_KERNEL,
	.layer = LAYER_DRIVER,
	.run = run_driver_packages_mixed,
};
const struct rule rule_initramfs_stale = {
	.name = "driver-module-set-mixed",
	.needs = NEED_KERNEL,
	.layer = LAYER_KERNEL,
	.run = run_initramfs_stale,
};

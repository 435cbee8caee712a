/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that hold the driver's modules against the kernel that runs and against each other, and the
 * memory regions that the kernel found no room for. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/triage.h"

/* -------- DKMS and the kernel that runs */

static void dkms(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *kernel = fact_value(&s->host.kernel, NULL);
	bool here = false, any = false;
	struct finding *f;
	size_t i;

	for (i = 0; i < s->driver.n_dkms && kernel; i++) {
		const struct dkms *d = &s->driver.dkms[i];

		if (!fact_known(&d->kernel))
			continue;
		any = true;
		here |= strcmp(d->kernel.value, kernel) == 0 && fact_is(&d->state, "installed");
	}
	if (!any || here)
		return;
	f = triage_add(t, FINDING_DRIVER_MODULE_NOT_BUILT, 86, "dkms-installed|dkms-not-installed");
	finding_fact(t->j, f, "kernel", &s->host.kernel, fact_value(&s->driver.dkms[0].kernel, ""));
}

/*
 * Arch's packages "nvidia" and "nvidia-open" hold modules for the kernel package "linux" alone; the
 * other kernels take -lts or -dkms.
 */
static void other_kernel(struct triage *t)
{
	static const char *const flavours[] = { "-lts", "-zen", "-hardened", "-rt", "-cachyos" };
	const struct snapshot *s = t->j->s;
	const char *kernel = fact_value(&s->host.kernel, "");
	const struct fact *plain = NULL, *lts = NULL;
	struct finding *f;
	size_t i;

	for (i = 0; i < s->n_os_packages; i++) {
		const char *name = fact_value(&s->os_packages[i].name, "");

		if (strcmp(name, "nvidia") == 0 || strcmp(name, "nvidia-open") == 0)
			plain = &s->os_packages[i].version;
		else if (strcmp(name, "nvidia-lts") == 0 || strcmp(name, "nvidia-open-lts") == 0)
			lts = &s->os_packages[i].version;
		else if (strstr(name, "nvidia") &&
			 (strstr(name, "-dkms") || strstr(name, "-cachyos")))
			return;
	}
	for (i = 0; i < ARRAY_LEN(flavours); i++)
		if (view_ends(view_of(kernel), flavours[i]))
			break;
	if (i == ARRAY_LEN(flavours) ? plain || !strstr(kernel, "-arch") : lts != NULL)
		return;
	if (!plain)
		plain = lts;
	if (!plain || !(triage_has(t, "smi-fails") || triage_has(t, "module-absent") ||
			triage_has(t, "no-module-file")))
		return;
	f = triage_add(t, FINDING_DRIVER_MODULE_NOT_BUILT, 86, NULL);
	finding_fact(t->j, f, "kernel", &s->host.kernel, NULL);
	finding_fact(t->j, f, "package", plain, "nvidia-dkms");
}

static const char rebooted[] =
	N_("The kernel that runs, %s, has no modules on the disk: it was updated, and the machine "
	   "not rebooted.");

static bool fails(const struct triage *t)
{
	return triage_no_gpu_got(t) || triage_has(t, "smi-fails") ||
	       triage_has(t, "no-module-file");
}

/* Manjaro's kernels and their modules are packages by release: "linux66" and "linux66-nvidia". */
static void manjaro(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *running = fact_value(&s->host.kernel, NULL), *wanted;
	const struct fact *other = NULL;
	struct finding *f;
	size_t i, n;

	if (!running || !strstr(running, "-MANJARO") || !fails(t))
		return;
	n = strcspn(running, ".");
	wanted = arena_printf(t->j->a, "linux%.*s%.*s-nvidia", (int)n, running,
			      (int)strspn(running + n + 1, "0123456789"), running + n + 1);
	for (i = 0; i < s->n_os_packages; i++) {
		const char *name = fact_value(&s->os_packages[i].name, "");

		if (strcmp(name, wanted) == 0)
			return;
		if (strncmp(name, "nvidia-dkms", 11) == 0 || strstr(name, "-dkms"))
			return;
		if (strncmp(name, "linux", 5) == 0 && strspn(name + 5, "0123456789") >= 2 &&
		    strcmp(name + 5 + strspn(name + 5, "0123456789"), "-nvidia") == 0)
			other = &s->os_packages[i].name;
	}
	if (!other)
		return;
	f = triage_add(t, FINDING_DRIVER_MODULE_NOT_BUILT, 86, NULL);
	finding_fact(t->j, f, "package", other, wanted);
}

/* The running kernel's modules are gone from the disk: another was installed in its place. */
static void kernel_gone(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *kernel = fact_value(&s->host.kernel, NULL);
	struct finding *f;
	bool any = false;
	size_t i;

	for (i = 0; i < s->n_signs && kernel; i++) {
		if (!fact_is(&s->signs[i].id, "kernel-folder"))
			continue;
		any = true;
		if (fact_is(&s->signs[i].value, kernel))
			return;
	}
	if (!any || !fails(t))
		return;
	f = triage_add(t, FINDING_DRIVER_MODULE_NOT_BUILT, 86, "kernel-folder");
	finding_message(t->j, f, _(rebooted), kernel);
}

/* "6.12.4" of "6.12.4.arch1-1", "6.12.4-arch1-1", "6.6.63-1-lts". */
static size_t release_length(const char *version)
{
	size_t n = strspn(version, "0123456789.");

	while (n && version[n - 1] == '.')
		n--;
	return n;
}

/* pacman takes the modules of the kernel away that it replaces: uname still names that one. */
static void kernel_replaced(struct triage *t)
{
	static const struct {
		const char *package, *tail;
	} kernels[] = {
		{ "linux", "-arch" },		{ "linux-lts", "-lts" },
		{ "linux-zen", "-zen" },	{ "linux-hardened", "-hardened" },
		{ "linux-cachyos", "cachyos" },
	};
	const struct snapshot *s = t->j->s;
	const char *running = fact_value(&s->host.kernel, NULL);
	struct finding *f;
	size_t i, k, n;

	for (i = 0; i < s->n_os_packages && running; i++) {
		const char *version = fact_value(&s->os_packages[i].version, "");

		for (k = 0; k < ARRAY_LEN(kernels); k++)
			if (fact_is(&s->os_packages[i].name, kernels[k].package) &&
			    strstr(running, kernels[k].tail))
				break;
		n = release_length(version);
		if (k == ARRAY_LEN(kernels) || !n ||
		    (n == release_length(running) && strncmp(version, running, n) == 0))
			continue;
		if (!fails(t))
			return;
		f = triage_add(t, FINDING_DRIVER_MODULE_NOT_BUILT, 84, NULL);
		finding_message(t->j, f, _(rebooted), running);
		finding_fact(t->j, f, "package", &s->os_packages[i].version, running);
		return;
	}
}

/* Ubuntu's packages of built modules are each for the one kernel that they name. */
static void module_packages(struct triage *t)
{
	static const char stem[] = "linux-modules-nvidia-";
	const struct snapshot *s = t->j->s;
	const char *running = fact_value(&s->host.kernel, NULL);
	const struct fact *other = NULL;
	struct finding *f;
	size_t i;

	for (i = 0; i < s->n_os_packages && running; i++) {
		const char *name = fact_value(&s->os_packages[i].name, "");

		if (strncmp(name, stem, sizeof(stem) - 1) != 0)
			continue;
		if (view_ends(view_of(name), running))
			return;
		/* "-generic-hwe-24.04" alone names no kernel, and brings one that does. */
		if (strpbrk(name + sizeof(stem) + 3, ".") && strstr(name, "-generic-hwe") == NULL)
			other = &s->os_packages[i].name;
	}
	if (!other || s->driver.n_dkms || !(fails(t) || triage_has(t, "no-module-file")))
		return;
	f = triage_add(t, FINDING_DRIVER_MODULE_NOT_BUILT, 88, "no-module-file");
	finding_fact(t->j, f, "package", other, running);
}

/* The kernel that a package of headers is for: its version, or what its name ends with. */
static const char *headers_of(const struct ospackage *p)
{
	static const char stem[] = "linux-headers-";
	const char *name = fact_value(&p->name, "");

	if (strcmp(name, "kernel-devel") == 0)
		return fact_value(&p->version, NULL);
	if (strncmp(name, stem, sizeof(stem) - 1) != 0)
		return NULL;
	name += sizeof(stem) - 1;
	/* "linux-headers-generic" follows the kernel; "-common" and "6.8.0-40" alone are a half. */
	if (strspn(name, "0123456789") == 0 || strstr(name, "-common") ||
	    strspn(name, "0123456789.-") == strlen(name))
		return NULL;
	return name;
}

/* DKMS builds for the kernels whose headers are there: those of others are installed alone. */
static void headers_elsewhere(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *running = fact_value(&s->host.kernel, NULL), *of;
	const struct ospackage *other = NULL;
	struct finding *f;
	size_t i;

	for (i = 0; i < s->n_os_packages && running; i++) {
		of = headers_of(&s->os_packages[i]);
		if (!of)
			continue;
		/* RPM's versions leave the machine's name out that uname has at its end. */
		if (strncmp(running, of, strlen(of)) == 0)
			return;
		other = &s->os_packages[i];
	}
	if (!other || triage_has(t, "container") || triage_has(t, "smi-works") ||
	    triage_has(t, "dkms-installed") ||
	    !(fails(t) || triage_has(t, "module-absent") || triage_has(t, "driver-broken-told")))
		return;
	f = triage_add(t, FINDING_DRIVER_MODULE_NOT_BUILT, 84, NULL);
	finding_fact(t->j, f, "kernel", &s->host.kernel, headers_of(other));
}

/* nvidia.ko is listed under the folders of other kernels than the one that runs. */
static void listed_elsewhere(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *running = fact_value(&s->host.kernel, NULL);
	const struct sign *other = NULL;
	struct finding *f;
	size_t i;

	for (i = 0; i < s->n_signs && running; i++) {
		if (!fact_is(&s->signs[i].id, "module-file-listed") ||
		    !fact_known(&s->signs[i].value))
			continue;
		if (fact_is(&s->signs[i].value, running))
			return;
		other = &s->signs[i];
	}
	if (!other || triage_has(t, "container") ||
	    !(fails(t) || triage_has(t, "module-absent") || triage_has(t, "no-module-seen")))
		return;
	f = triage_add(t, FINDING_DRIVER_MODULE_NOT_BUILT, 86, "module-file-listed");
	finding_fact(t->j, f, "kernel", &s->host.kernel, other->value.value);
}

/* -------- the driver's modules among themselves */

/* nvidia.ko and one of those that build on it, as the disk or the kernel has them. */
static void module_set(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *core = triage_value(t, "module-core-version");
	const struct sign *other = NULL;
	struct finding *f;
	size_t i;

	for (i = 0; i < s->n_signs && !other; i++) {
		if (!fact_is(&s->signs[i].id, "module-set-version") ||
		    !fact_known(&s->signs[i].value))
			continue;
		if (!core)
			core = s->signs[i].value.value;
		else if (strcmp(core, s->signs[i].value.value) != 0)
			other = &s->signs[i];
	}
	if (!other)
		return;
	f = triage_add(t, FINDING_DRIVER_MODULE_SET_MIXED, 88, NULL);
	finding_evidence(t->j, f, "module.version", other->value.value, core, other->value.source);
}

/* -------- regions that the firmware gave no room */

static void regions(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct sign *failed = NULL;
	bool listed = false;
	struct finding *f;
	size_t i, k;

	for (i = 0; i < s->n_gpus; i++)
		listed |= fact_known(&s->gpus[i].address);
	for (i = 0; i < s->n_signs && !failed; i++) {
		const char *at = fact_is(&s->signs[i].id, "region-failed")
					 ? fact_value(&s->signs[i].value, NULL)
					 : NULL;
		bool ours = !listed || !at || *at == ' ';

		for (k = 0; at && k < s->n_gpus; k++) {
			const char *have = fact_value(&s->gpus[k].address, "");
			size_t n = strlen(have);

			ours |= n >= 7 && strncasecmp(have + n - 7, at, 7) == 0;
		}
		/* The kernel tries again with other windows. */
		for (k = i; at && ours && k < s->n_signs; k++)
			if (fact_is(&s->signs[k].id, "region-assigned") &&
			    fact_is(&s->signs[k].value, at))
				ours = false;
		if (at && ours)
			failed = &s->signs[i];
	}
	if (!failed)
		return;
	f = triage_add(t, FINDING_PCI_BAR_UNASSIGNED, 90, NULL);
	finding_evidence(t->j, f, "text", failed->text.value, NULL, failed->text.source);
}

/* An image for Jetsons names the release of L4T that it is for, and has its host's driver. */
static void l4t_of_image(struct triage *t)
{
	static const long of_jetpack[] = { 32, 35, 36, 38 };
	const char *image = triage_value(t, "l4t-image"), *host = triage_value(t, "l4t-host");
	long wants = image ? strtol(image, NULL, 10) : 0, has = host ? strtol(host, NULL, 10) : 0;
	struct finding *f;

	if (has >= 4 && has < 8)
		has = of_jetpack[has - 4];
	if (!has || wants <= has ||
	    !triage_holds(t,
			  "cuda-fails|cuda-available-false|said-false|no-device|no-driver-seen|"
			  "libcuda-missing !cpu-index",
			  NULL))
		return;
	f = triage_add(t, FINDING_IMAGE_REQUIRES_NEWER_DRIVER, 82, "l4t-image");
	finding_message(
		t->j, f,
		_("The image is for L4T r%ld, and the Jetson has r%ld: its driver comes with "
		  "JetPack and is too old for it."),
		wants, has);
}

void triage_modules(struct triage *t)
{
	dkms(t);
	kernel_gone(t);
	kernel_replaced(t);
	manjaro(t);
	module_packages(t);
	other_kernel(t);
	headers_elsewhere(t);
	listed_elsewhere(t);
	module_set(t);
	regions(t);
	l4t_of_image(t);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the kernel modules of a Linux host: installed, built for this kernel, loaded, of one
 * version. */
#include <string.h>

#include "base/arena.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* A bare-metal or virtual Linux machine with an NVIDIA GPU on the bus whose module is not loaded.
 */
static bool module_is_missing(const struct judge *j)
{
	return look_is_linux_host(j) && look_has_nvidia(j->s) && !look_module_loaded(j->s) &&
	       !look_cuda_works(j->s) && look_nvml_init(j->s) != 0;
}

static const struct gpu *first_nvidia(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_gpus; i++)
		if (look_is_nvidia(&s->gpus[i]))
			return &s->gpus[i];
	return NULL;
}

/* Evidence that all of these findings share: the GPU is there, the module is not. */
static void gpu_without_module(struct judge *j, struct finding *f)
{
	const struct gpu *g = first_nvidia(j->s);

	if (g)
		finding_fact(j, f, "gpu.pci_id", fact_known(&g->pci_id) ? &g->pci_id : &g->name,
			     NULL);
	finding_fact(j, f, "driver.module_loaded", &j->s->driver.module_loaded, "yes");
}

static void run_driver_not_installed(struct judge *j)
{
	const struct snapshot *s = j->s;
	struct finding *f;

	if (!module_is_missing(j) || look_driver_installed(s))
		return;
	f = finding_add(j, FINDING_DRIVER_NOT_INSTALLED, _("this machine"));
	finding_message(
		j, f, "%s",
		_("An NVIDIA GPU is here, and no NVIDIA driver is installed: neither kernel "
		  "modules nor "
		  "libraries."));
	gpu_without_module(j, f);
	finding_fact(j, f, "driver.libcuda.path", &s->driver.libcuda.path, "libcuda.so.1");
	remedy_driver(j, f, remedy_branch_for_gpus(j, NULL), remedy_driver_kind(j));
}

/* -------- built for this kernel? */

static bool is_nvidia_file(const struct module *m)
{
	return fact_is(&m->name, "nvidia") && fact_known(&m->path);
}

/* Is there an nvidia module file for the running kernel?  *ret_other: one for another kernel. */
static bool built_for_running(const struct snapshot *s, const struct module **ret_other)
{
	size_t i;

	*ret_other = NULL;
	for (i = 0; i < s->driver.n_modules; i++) {
		const struct module *m = &s->driver.modules[i];

		if (!is_nvidia_file(m))
			continue;
		if (!fact_known(&m->kernel) || fact_is(&m->kernel, s->host.kernel.value))
			return true;
		*ret_other = m;
	}
	return false;
}

static void headers_command(struct judge *j, struct remedy *r, const char *kernel)
{
	const char *devel = shell_word(j->a, arena_printf(j->a, "kernel-devel-%s", kernel));

	distro_install(
		j, r,
		&(struct distro_names){
			.debian = shell_word(j->a, arena_printf(j->a, "linux-headers-%s", kernel)),
			.rhel = devel,
			.suse = "kernel-default-devel",
			.arch = "linux-headers",
		});
	remedy_build_module(j, r, NULL, kernel);
	remedy_command(j, r, "sudo modprobe nvidia");
}

/* What DKMS tried, and the error at which it stopped. */
static void build_evidence(struct judge *j, struct finding *f)
{
	size_t i;

	for (i = 0; i < j->s->driver.n_dkms; i++) {
		const struct dkms *d = &j->s->driver.dkms[i];

		if (fact_is(&d->state, "built"))
			continue;
		finding_fact(j, f, "driver.dkms.state", &d->state, "built");
		if (fact_known(&d->error))
			finding_fact(j, f, "driver.dkms.error", &d->error, NULL);
	}
}

static void run_driver_module_not_built(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct module *other;
	const char *kernel = fact_value(&s->host.kernel, NULL);
	struct finding *f;
	struct remedy *r;

	if (!module_is_missing(j) || !look_driver_installed(s))
		return;
	if (!kernel) {
		judge_skip(j, "host.kernel", "%s", _("the running kernel is not known"));
		return;
	}
	if (built_for_running(s, &other))
		return;
	f = finding_add(j, FINDING_DRIVER_MODULE_NOT_BUILT, _("this machine"));
	if (other)
		finding_message(
			j, f,
			_("The running kernel is %s, and the nvidia module was built for %s only."),
			kernel, fact_value(&other->kernel, "another kernel"));
	else
		finding_message(
			j, f,
			_("The driver's libraries are installed, and there is no nvidia module "
			  "for the running "
			  "kernel %s."),
			kernel);
	finding_fact(j, f, "host.kernel", &s->host.kernel,
		     other ? fact_value(&other->kernel, NULL)
			   : _("a kernel with an nvidia module"));
	if (other)
		finding_fact(j, f, "driver.modules.path", &other->path, NULL);
	gpu_without_module(j, f);
	build_evidence(j, f);
	remedy_finish_packages(j, f);
	r = finding_remedy(
		j, f, "%s",
		_("Install the headers of the running kernel and build the module (DKMS), or boot "
		  "the "
		  "kernel that has one."));
	headers_command(j, r, kernel);
	r->needs_root = true;
}

/* -------- another driver holds the GPU */

/* Beside GPUs that work, one that this branch does not drive is rightly left to another driver. */
static bool branch_drives(struct judge *j, const struct gpu *g)
{
	const struct gpu_row *row = look_gpu_row(j, g);
	const struct fact *driver = look_driver(j->s);

	return row && driver && row->first_driver &&
	       look_branch(driver->value) >= look_branch(row->first_driver) &&
	       (!row->last_driver ||
		look_branch(driver->value) <= look_branch(row->last_driver));
}

static void run_nouveau_bound(struct judge *j)
{
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!look_is_linux_host(j) || !look_driver_installed(j->s) ||
	    judge_has(j, FINDING_DRIVER_MODULE_NOT_BUILT))
		return;
	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu *g = &j->s->gpus[i];
		const char *holder = fact_value(&g->kernel_driver, "");

		if (!look_is_nvidia(g) || look_gpu_works(g) ||
		    (strcmp(holder, "nouveau") != 0 && strcmp(holder, "nvidiafb") != 0 &&
		     strcmp(holder, "rivafb") != 0 && strcmp(holder, "nova_core") != 0 &&
		     strcmp(holder, "nova-core") != 0) ||
		    (look_cuda_works(j->s) && !branch_drives(j, g)))
			continue;
		f = finding_add(j, FINDING_NOUVEAU_BOUND, gpu_subject(j, i));
		if (look_cuda_works(j->s))
			f->severity = SEVERITY_WARNING;
		finding_message(
			j, f,
			_("The kernel driver %s holds the GPU, so the installed NVIDIA driver "
			  "cannot take it."),
			holder);
		finding_fact(j, f, "gpu.kernel_driver", &g->kernel_driver, "nvidia");
		r = finding_remedy(
			j, f, _("Keep %s from loading, rebuild the initramfs and reboot."), holder);
		remedy_blacklist(j, r, holder);
		remedy_command(j, r, "sudo reboot");
		r->needs_root = true;
		r->needs_reboot = true;
	}
}

/* -------- installed, built, not loaded, and nothing says why */

static bool reason_known(const struct judge *j)
{
	static const enum finding_id reasons[] = {
		FINDING_GPU_BOUND_TO_VFIO,	FINDING_GPU_OFF_BUS,
		FINDING_PCI_BAR_UNASSIGNED,	FINDING_GPU_NEEDS_NEWER_DRIVER,
		FINDING_GPU_DROPPED_BY_DRIVER,	FINDING_OPEN_MODULE_REQUIRED,
		FINDING_OPEN_MODULE_UNSUPPORTED_GPU, FINDING_DRIVER_MODULE_NOT_BUILT,
		FINDING_SECURE_BOOT_BLOCKS_MODULE, FINDING_NOUVEAU_BOUND,
		FINDING_DRIVER_MODULE_BLOCKED,	FINDING_DRIVER_MODULE_SET_MIXED,
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(reasons); i++)
		if (judge_has(j, reasons[i]))
			return true;
	return false;
}

static void run_driver_module_missing(struct judge *j)
{
	struct finding *f;
	struct remedy *r;

	if (!module_is_missing(j) || !look_driver_installed(j->s) || reason_known(j))
		return;
	f = finding_add(j, FINDING_DRIVER_MODULE_MISSING, _("this machine"));
	finding_message(
		j, f, "%s",
		_("The NVIDIA driver is installed, and its kernel module is not loaded; what "
		  "keeps it from "
		  "loading is not known yet."));
	gpu_without_module(j, f);
	r = finding_remedy(j, f, "%s",
			   _("Load the module; the kernel log says why when that fails."));
	remedy_command(j, r, "sudo modprobe nvidia");
	remedy_command(j, r, "sudo dmesg | grep -iE 'nvrm|nvidia|module verification|lockdown'");
	r->needs_root = true;
	r->risk = RISK_SAFE;
}

/* -------- modules of different versions */

static bool is_sibling(const struct module *m)
{
	const char *name = fact_value(&m->name, "");

	return strncmp(name, "nvidia", 6) == 0 && (name[6] == '-' || name[6] == '_') &&
	       fact_known(&m->version) &&
	       strcmp(name + 7, "fs") != 0; /* nvidia-fs has versions of its own */
}

/* Of one place: both files of one kernel, or both loaded. */
static bool beside(const struct snapshot *s, const struct module *a, const struct module *b)
{
	bool files = fact_known(&a->path) && fact_known(&b->path);

	if (fact_yes(&a->loaded) && fact_yes(&b->loaded) && !files)
		return true;
	if (!files)
		return false;
	if (fact_known(&a->kernel) != fact_known(&b->kernel))
		return false;
	return !fact_known(&a->kernel) ||
	       (fact_is(&a->kernel, b->kernel.value) &&
		(!fact_known(&s->host.kernel) || fact_is(&a->kernel, s->host.kernel.value)));
}

static const struct module *odd_sibling(const struct snapshot *s, const struct module **ret_nvidia)
{
	const struct driver *d = &s->driver;
	size_t i, k;

	for (i = 0; i < d->n_modules; i++) {
		if (!fact_is(&d->modules[i].name, "nvidia") || !fact_known(&d->modules[i].version))
			continue;
		*ret_nvidia = &d->modules[i];
		for (k = 0; k < d->n_modules; k++)
			if (is_sibling(&d->modules[k]) &&
			    beside(s, &d->modules[i], &d->modules[k]) &&
			    !fact_is(&d->modules[k].version, d->modules[i].version.value))
				return &d->modules[k];
	}
	return NULL;
}

static void run_driver_module_set_mixed(struct judge *j)
{
	const struct module *nvidia = NULL, *odd;
	struct finding *f;
	struct remedy *r;

	if (!look_is_linux_host(j))
		return;
	odd = odd_sibling(j->s, &nvidia);
	if (!odd)
		return;
	f = finding_add(j, FINDING_DRIVER_MODULE_SET_MIXED, _("this machine"));
	finding_message(j, f,
			_("The kernel modules are of different versions: nvidia is %s, %s is %s."),
			nvidia->version.value, odd->name.value, odd->version.value);
	finding_fact(j, f, "driver.modules.version", &odd->version, nvidia->version.value);
	finding_fact(j, f, "driver.modules.version", &nvidia->version, NULL);
	if (look_cuda_works(j->s))
		f->severity = SEVERITY_WARNING;
	r = finding_remedy(
		j, f, "%s",
		_("Build and install all modules of one version, then reload them or reboot."));
	if (fact_known(&j->s->host.kernel))
		remedy_build_module(j, r, nvidia->version.value, j->s->host.kernel.value);
	remedy_command(j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
}

const struct rule rule_driver_not_installed = {
	.name = "driver-not-installed",
	.needs = NEED_PCI | NEED_KERNEL | NEED_USERLIB,
	.layer = LAYER_KERNEL,
	.run = run_driver_not_installed,
};
const struct rule rule_driver_module_not_built = {
	.name = "driver-module-not-built",
	.needs = NEED_PCI | NEED_KERNEL | NEED_USERLIB,
	.layer = LAYER_KERNEL,
	.run = run_driver_module_not_built,
};
const struct rule rule_nouveau_bound = {
	.name = "nouveau-bound",
	.needs = NEED_PCI | NEED_KERNEL,
	.layer = LAYER_KERNEL,
	.run = run_nouveau_bound,
};
const struct rule rule_driver_module_missing = {
	.name = "driver-module-missing",
	.needs = NEED_PCI | NEED_KERNEL,
	.layer = LAYER_KERNEL,
	.run = run_driver_module_missing,
};
const struct rule rule_driver_module_set_mixed = {
	.name = "driver-module-set-mixed",
	.needs = NEED_KERNEL,
	.layer = LAYER_KERNEL,
	.run = run_driver_module_set_mixed,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about a module that is there and was not let in, or that said itself why it drives nothing:
 * modprobe's configuration, the kernel's command line, and the module's own lines in the log.
 */
#include <string.h>

#include "base/arena.h"
#include "rule/look_log.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* The nvidia module file that the running kernel would load, or NULL. */
static const struct module *file_for_kernel(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->driver.n_modules; i++) {
		const struct module *m = &s->driver.modules[i];

		if (fact_is(&m->name, "nvidia") && fact_known(&m->path) &&
		    (!fact_known(&m->kernel) || !fact_known(&s->host.kernel) ||
		     fact_is(&m->kernel, s->host.kernel.value)))
			return m;
	}
	return NULL;
}

/* The line that weighs most: a blacklist alone still lets `modprobe nvidia` through. */
static const struct block *strongest(const struct snapshot *s)
{
	static const char *const order[] = { "module_blacklist", "install", "alias-off",
					     "blacklist" };
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(order); i++)
		for (k = 0; k < s->driver.n_blocks; k++)
			if (fact_is(&s->driver.blocks[k].module, "nvidia") &&
			    fact_is(&s->driver.blocks[k].how, order[i]))
				return &s->driver.blocks[k];
	return NULL;
}

static void unblock_remedy(struct judge *j, struct finding *f, const struct block *b)
{
	const struct snapshot *s = j->s;
	bool grub = strcmp(fact_value(&b->how, ""), "module_blacklist") == 0;
	bool prime = fact_known(&s->host.prime);
	const char *like = fact_value(&s->host.os_like, ""), *id = fact_value(&s->host.os_id, "");
	bool red = strstr(like, "fedora") || strstr(like, "rhel") || strcmp(id, "fedora") == 0;
	struct remedy *r;

	if (prime) {
		r = finding_remedy(
			j, f, "%s",
			_("Let the graphics mode include the NVIDIA GPU, and reboot (on-demand keeps "
			  "the display on the other GPU)."));
		remedy_command(j, r, "sudo prime-select on-demand");
	} else if (grub) {
		r = finding_remedy(
			j, f,
			_("Take \"%s\" out of the kernel's command line (/etc/default/grub), write "
			  "the boot loader's configuration and reboot."),
			b->line.value);
		if (red)
			remedy_command(j, r, "sudo grubby --update-kernel=ALL --remove-args=%s",
				       shell_word(j->a, b->line.value));
		else
			remedy_boot_loader(j, r);
	} else {
		r = finding_remedy(
			j, f,
			_("Remove the line \"%s\" from %s (a graphics-mode tool such as envycontrol "
			  "or supergfxctl may have written it: change the mode there), rebuild the "
			  "initramfs and reboot."),
			b->line.value, b->line.source);
		remedy_command(j, r, "grep -rnE '(blacklist|alias|install) +nvidia' "
				     "/etc/modprobe.d /run/modprobe.d /usr/lib/modprobe.d "
				     "/lib/modprobe.d");
		remedy_initramfs(j, r);
	}
	remedy_command(j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
}

static void run_driver_module_blocked(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct block *b = strongest(s);
	const struct module *m = file_for_kernel(s);
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!b || !m || !look_is_linux_host(j) || !look_has_nvidia(s) || look_module_loaded(s) ||
	    look_cuda_works(s) || look_nvml_init(s) == 0)
		return;
	f = finding_add(j, FINDING_DRIVER_MODULE_BLOCKED, _("this machine"));
	finding_message(
		j, f,
		_("The nvidia module is there for the running kernel, and is kept from loading by "
		  "\"%s\" (%s)."),
		b->line.value, b->line.source ? b->line.source : "?");
	for (i = 0; i < s->driver.n_blocks; i++)
		if (fact_is(&s->driver.blocks[i].module, "nvidia"))
			finding_fact(j, f, "driver.blocks", &s->driver.blocks[i].line,
				     _("no such line"));
	finding_fact(j, f, "driver.modules.path", &m->path, NULL);
	finding_fact(j, f, "driver.module_loaded", &s->driver.module_loaded, "yes");
	if (fact_known(&s->host.prime))
		finding_fact(j, f, "host.prime", &s->host.prime, "on-demand");
	if (fact_is(&b->how, "blacklist")) {
		/* Autoloading alone is off; whether something else fails too, this shows at once.
		 */
		r = finding_remedy(j, f, "%s",
				   _("Load the module by hand for now: a blacklist keeps only "
				     "automatic loading away."));
		remedy_command(j, r, "sudo modprobe nvidia");
		r->needs_root = true;
		r->risk = RISK_SAFE;
	}
	unblock_remedy(j, f, b);
}

/* -------- what the module said of a GPU that it does not drive */

static bool has_about(const struct judge *j, const enum finding_id *ids, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (judge_has(j, ids[i]))
			return true;
	return false;
}

/* The module says that a chip which this branch supports is not supported: in a virtual machine
 * that is a virtual function, for which only the vGPU guest driver is made. */
static bool is_virtual_function(struct judge *j, const struct gpu_row *row, const char *driver)
{
	if (!fact_yes(&j->s->host.hypervisor) || !row || !driver)
		return false;
	if (row->last_driver && look_branch(row->last_driver) &&
	    look_branch(driver) > look_branch(row->last_driver))
		return false;
	return row->first_driver && look_branch(row->first_driver) &&
	       look_branch(driver) >= look_branch(row->first_driver);
}

static void grid_needed(struct judge *j, size_t i, const struct event *e)
{
	struct finding *f = finding_add(j, FINDING_VGPU_NEEDS_GRID_DRIVER, gpu_subject(j, i));
	struct remedy *r;

	finding_message(
		j, f, "%s",
		_("This is a virtual GPU: the public driver refuses it, although it supports the "
		  "chip; the guest needs the vGPU (GRID) driver of the host's release."));
	if (e)
		log_evidence(j, f, e);
	finding_fact(j, f, "host.hypervisor", &j->s->host.hypervisor, NULL);
	if (look_driver(j->s))
		finding_fact(j, f, "driver.version", look_driver(j->s), _("a vGPU guest driver"));
	finding_inferred(f);
	r = finding_remedy(
		j, f, "%s",
		_("Install the vGPU guest driver that your provider or the NVIDIA licensing portal "
		  "offers for the host's vGPU release, in place of the public one."));
	r->needs_root = true;
	r->needs_reboot = true;
}

static void simple(struct judge *j, enum finding_id id, size_t i, const struct event *e,
		   const char *message, const char *branch, enum driver_kind kind)
{
	struct finding *f = finding_add(j, id, gpu_subject(j, i));
	const struct gpu *g = &j->s->gpus[i];

	finding_message(j, f, "%s", message);
	log_evidence(j, f, e);
	finding_fact(j, f, "gpu.pci_id", fact_known(&g->pci_id) ? &g->pci_id : &g->name, NULL);
	remedy_driver(j, f, branch, kind);
}

static void release_unsupported(struct judge *j, size_t i, const struct event *e)
{
	const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);
	const struct fact *driver = look_driver(j->s);

	if (is_virtual_function(j, row, driver ? driver->value : NULL))
		grid_needed(j, i, e);
	else if (!row)
		simple(j, FINDING_GPU_NEEDS_NEWER_DRIVER, i, e,
		       _("The module says that this driver release does not know the GPU, which is "
			 "newer than it."),
		       NULL, remedy_driver_kind(j));
}

static const char *present_branch(struct judge *j)
{
	const struct fact *driver = look_driver(j->s);

	return driver ? arena_printf(j->a, "%u", look_branch(driver->value)) : NULL;
}

/* Only where chip, branch and flavour have not decided already: packed modules do not tell their
 * flavour, new GPUs are in no table. */
static void run_module_log(struct judge *j)
{
	static const enum finding_id decided[] = {
		FINDING_GPU_NEEDS_NEWER_DRIVER,	     FINDING_GPU_DROPPED_BY_DRIVER,
		FINDING_OPEN_MODULE_REQUIRED,	     FINDING_OPEN_MODULE_UNSUPPORTED_GPU,
		FINDING_OPEN_MODULE_OPTIN_REQUIRED,
	};
	const struct event *e;
	size_t i;

	if (!look_is_linux_host(j) || has_about(j, decided, ARRAY_LEN(decided)))
		return;
	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu *g = &j->s->gpus[i];

		if (!look_is_nvidia(g) || look_gpu_works(g) ||
		    fact_is(&g->kernel_driver, "vfio-pci"))
			continue;
		if ((e = log_event_of(j->s, "open-module-required", g)) != NULL)
			simple(j, FINDING_OPEN_MODULE_REQUIRED, i, e,
			       _("The module says that this GPU needs the open kernel modules."),
			       present_branch(j), DRIVER_OPEN);
		else if ((e = log_event_of(j->s, "open-module-unsupported", g)) != NULL)
			simple(j, FINDING_OPEN_MODULE_UNSUPPORTED_GPU, i, e,
			       _("The open kernel modules say that this GPU has no GSP, which they "
				 "need."),
			       present_branch(j), DRIVER_PROPRIETARY);
		else if ((e = log_event_of(j->s, "legacy-gpu", g)) != NULL)
			simple(j, FINDING_GPU_DROPPED_BY_DRIVER, i, e,
			       _("The module says that this GPU is a legacy one, which it no longer "
				 "drives."),
			       NULL, DRIVER_PROPRIETARY);
		else if ((e = log_event_of(j->s, "release-unsupported", g)) != NULL)
			release_unsupported(j, i, e);
	}
}

/* -------- virtual GPUs by what they are */

static bool is_vgpu(struct judge *j, const struct gpu *g)
{
	const struct gpu_row *row = look_gpu_row(j, g);

	return fact_is(&g->virtualization, "vgpu") ||
	       (row && row->gpu_class && strcmp(row->gpu_class, "vgpu") == 0);
}

static void run_vgpu_unlicensed(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct event *e = log_event(s, "vgpu-licence"), *good = log_event(s, "vgpu-licensed");
	struct finding *f;
	struct remedy *r;
	size_t i;

	/* Later in the same log: the daemon tries again until it gets one. */
	if (good && e && good > e)
		e = NULL;
	for (i = 0; i < s->n_gpus; i++) {
		const struct gpu *g = &s->gpus[i];

		if (!fact_is(&g->license, "unlicensed") && (!e || fact_known(&g->license)))
			continue;
		f = finding_add(j, FINDING_VGPU_UNLICENSED, gpu_subject(j, i));
		/* It runs, slowly, until the grace period is over. */
		if (look_gpu_works(g) && !look_cuda_failed(s))
			f->severity = SEVERITY_WARNING;
		finding_message(
			j, f, "%s",
			_("The virtual GPU has no licence: its performance is held down, and "
			  "CUDA may be refused."));
		if (fact_known(&g->license))
			finding_fact(j, f, "gpu.license", &g->license, "licensed");
		if (e)
			log_evidence(j, f, e);
		r = finding_remedy(
			j, f, "%s",
			_("Put the client token of your licence server into "
			  "/etc/nvidia/ClientConfigToken and restart the licence client."));
		remedy_command(j, r, "sudo systemctl restart nvidia-gridd");
		remedy_command(j, r, "nvidia-smi -q | grep -A2 -i licens");
		r->needs_root = true;
		if (!fact_known(&g->license))
			return;
	}
}

static void run_vgpu_version_mismatch(struct judge *j)
{
	const struct event *e = log_event(j->s, "vgpu-host");
	struct finding *f;
	struct remedy *r;

	if (!e || look_cuda_works(j->s))
		return;
	f = finding_add(j, FINDING_VGPU_VERSION_MISMATCH, _("this machine"));
	finding_message(
		j, f, "%s",
		_("The vGPU manager of the host refuses this guest driver: the two releases "
		  "do not fit together."));
	log_evidence(j, f, e);
	if (look_driver(j->s))
		finding_fact(j, f, "driver.version", look_driver(j->s),
			     _("a release that the host's manager lists"));
	r = finding_remedy(
		j, f, "%s",
		_("Install the guest driver of the host's vGPU release (same branch, or one that its "
		  "release notes name), or have the host's manager updated."));
	r->needs_root = true;
	r->needs_reboot = true;
}

static void run_vgpu_needs_grid_driver(struct judge *j)
{
	const struct snapshot *s = j->s;
	size_t i;

	if (judge_has(j, FINDING_VGPU_NEEDS_GRID_DRIVER) || look_in_container(s))
		return;
	for (i = 0; i < s->n_services; i++)
		if (view_starts(view_of(fact_value(&s->services[i].name, "")), "nvidia-gridd") &&
		    !fact_is(&s->services[i].state, "not-found"))
			return;
	for (i = 0; i < s->n_gpus; i++)
		if (is_vgpu(j, &s->gpus[i]) && !look_gpu_works(&s->gpus[i]) &&
		    look_driver_installed(s)) {
			grid_needed(j, i, log_event_of(s, "release-unsupported", &s->gpus[i]));
			return;
		}
}

const struct rule rule_driver_module_blocked = {
	.name = "driver-module-blocked",
	.needs = NEED_PCI | NEED_KERNEL,
	.layer = LAYER_KERNEL,
	.run = run_driver_module_blocked,
};
const struct rule rule_module_log = {
	.name = "open-module-required",
	.needs = NEED_PCI | NEED_LOG,
	.layer = LAYER_KERNEL,
	.run = run_module_log,
};
const struct rule rule_vgpu_unlicensed = {
	.name = "vgpu-unlicensed",
	.needs = NEED_PCI,
	.layer = LAYER_DRIVER,
	.run = run_vgpu_unlicensed,
};
const struct rule rule_vgpu_version_mismatch = {
	.name = "vgpu-version-mismatch",
	.needs = NEED_LOG,
	.layer = LAYER_DRIVER,
	.run = run_vgpu_version_mismatch,
};
const struct rule rule_vgpu_needs_grid_driver = {
	.name = "vgpu-needs-grid-driver",
	.needs = NEED_PCI,
	.layer = LAYER_DRIVER,
	.run = run_vgpu_needs_grid_driver,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the GPU itself: is it there, does the bus see it, is it awake. The kernel side is
 * kernel.c's. */
#include <string.h>

#include "base/arena.h"
#include "rule/look_log.h"
#include "rule/remedy.h"
#include "rule/rules.h"

static bool cuda_torch_only_amd(struct judge *j, const struct python **ret)
{
	const struct python *p = look_deciding(j->s);

	*ret = p;
	return p && look_torch_cuda(j, &p->torch) && look_has_amd(j->s) && !look_has_nvidia(j->s);
}

static void run_gpu_not_found(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct python *p;
	struct finding *f;
	struct remedy *r;

	if (look_has_nvidia(s) || (!look_is_linux_host(j) && !look_bus_without_gpu(j)) ||
	    cuda_torch_only_amd(j, &p))
		return;
	/* A driver that counts devices has found what the bus walk has not (some clouds hide the
	 * bus). */
	if (fact_known(&s->driver.cuda_devices) && !fact_is(&s->driver.cuda_devices, "0"))
		return;
	f = finding_add(j, FINDING_GPU_NOT_FOUND, _("this machine"));
	finding_message(j, f, "%s", _("No NVIDIA GPU is on the PCI bus of this machine."));
	finding_evidence(j, f, "gpus", "0", "1",
			 s->parts.pci.source ? s->parts.pci.source : "/sys/bus/pci/devices");
	if (fact_known(&s->host.pci_devices))
		finding_fact(j, f, "host.pci_devices", &s->host.pci_devices, NULL);
	r = finding_remedy(
		j, f, "%s",
		_("Look whether the machine sees the card at all; if it does not: seat it, power "
		  "it, "
		  "enable the slot in the firmware, or attach the GPU to this virtual machine."));
	remedy_command(j, r, "lspci -nn -d 10de:");
	r->risk = RISK_SAFE;
}

static void run_cuda_build_on_amd(struct judge *j)
{
	const struct python *p;
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!cuda_torch_only_amd(j, &p))
		return;
	f = finding_add(j, FINDING_CUDA_BUILD_ON_AMD, look_prefix(p));
	finding_message(j, f,
			_("This torch was built for CUDA %s, and the only GPU here is an AMD GPU."),
			look_torch_cuda(j, &p->torch));
	finding_fact(j, f, "torch.version", &p->torch.version, "a ROCm build");
	for (i = 0; i < j->s->n_gpus; i++)
		finding_fact(j, f, "gpu.pci_id", &j->s->gpus[i].pci_id, "10de:...");
	r = finding_remedy(
		j, f, "%s",
		_("Install the ROCm build that https://pytorch.org/get-started/locally/ names for "
		  "this "
		  "system, or move to a machine with an NVIDIA GPU."));
	r->risk = RISK_CHANGES;
}

static void run_gpu_ambiguous(struct judge *j)
{
	struct finding *f;
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu *g = &j->s->gpus[i];

		if (!fact_known(&g->ambiguous))
			continue;
		f = finding_add(j, FINDING_INSUFFICIENT_EVIDENCE, gpu_subject(j, i));
		f->severity = SEVERITY_INFO;
		finding_message(
			j, f,
			_("%s is the name of different chips: the PCI id decides which one it is "
			  "(%s)."),
			fact_value(&g->name, _("This name")), g->ambiguous.value);
		finding_fact(j, f, "gpu.ambiguous", &g->ambiguous, NULL);
		judge_ask(j, "lspci -nn -d 10de:");
	}
}

static bool another_works(const struct snapshot *s, size_t but)
{
	size_t i;

	for (i = 0; i < s->n_gpus; i++)
		if (i != but && look_is_nvidia(&s->gpus[i]) && look_gpu_works(&s->gpus[i]) &&
		    !look_cuda_failed(s))
			return true;
	return false;
}

static void run_gpu_bound_to_vfio(struct judge *j)
{
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!look_is_linux_host(j))
		return;
	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu *g = &j->s->gpus[i];

		if (!look_is_nvidia(g) || !fact_is(&g->kernel_driver, "vfio-pci"))
			continue;
		f = finding_add(j, FINDING_GPU_BOUND_TO_VFIO, gpu_subject(j, i));
		/* Giving one of several GPUs to a virtual machine is what vfio-pci is for. */
		if (another_works(j->s, i))
			f->severity = SEVERITY_INFO;
		finding_message(
			j, f, "%s",
			_("The GPU is reserved for a virtual machine (vfio-pci holds it), so this "
			  "system "
			  "cannot use it."));
		finding_fact(j, f, "gpu.kernel_driver", &g->kernel_driver, "nvidia");
		r = finding_remedy(
			j, f, "%s",
			_("Remove the device from the vfio-pci ids (kernel command line, "
			  "/etc/modprobe.d), rebuild the initramfs and reboot; or run the work in "
			  "the "
			  "virtual machine that owns the GPU."));
		remedy_command(j, r, "grep -rn vfio-pci /etc/modprobe.d /proc/cmdline");
		r->needs_root = true;
		r->needs_reboot = true;
	}
}

static void run_gpu_off_bus(struct judge *j)
{
	struct finding *f;
	struct remedy *r;
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu *g = &j->s->gpus[i];

		/* A card in D3cold reads ff too: that is its power state, not a loss. */
		if (!look_is_nvidia(g) || !fact_is(&g->config, "all-ff") ||
		    fact_is(&g->power_state, "D3cold"))
			continue;
		f = finding_add(j, FINDING_GPU_OFF_BUS, gpu_subject(j, i));
		finding_message(
			j, f, "%s",
			_("The GPU has fallen off the PCI bus: its configuration space reads ff "
			  "throughout."));
		finding_fact(j, f, "gpu.config", &g->config, "ok");
		r = finding_remedy(
			j, f, "%s",
			_("Power the machine off completely and on again; if it comes back, check "
			  "power "
			  "supply, cables, seat and temperature of the card."));
		remedy_command(j, r, "sudo dmesg | grep -iE 'xid|fallen off the bus|pcieport'");
		remedy_command(j, r, "sudo poweroff");
		r->needs_root = true;
		r->needs_reboot = true;
	}
}

/* Works now: what was logged about it is over. */
static bool works(const struct snapshot *s, const struct gpu *g)
{
	return look_gpu_works(g) && !fact_known(&g->nvml_error) && !look_cuda_failed(s);
}

/*
 * What the kernel logged about this GPU by that id; a line without an address is the only GPU's.
 */
static const struct event *logged(const struct snapshot *s, const char *id, const struct gpu *g)
{
	size_t i, n = 0;

	for (i = 0; i < s->n_gpus; i++)
		n += look_is_nvidia(&s->gpus[i]);
	for (i = 0; s->log && i < s->n_log; i++)
		if (fact_is(&s->log[i].id, id) &&
		    (log_is_of(&s->log[i], g) || (n == 1 && !fact_known(&s->log[i].address))))
			return &s->log[i];
	return NULL;
}

static void run_pci_bar_unassigned(struct judge *j)
{
	const struct event *e;
	struct finding *f;
	struct remedy *r;
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu *g = &j->s->gpus[i];

		e = logged(j->s, "bar-invalid", g);
		if (!look_is_nvidia(g) ||
		    (!fact_is(&g->bars, "unassigned") && (!e || works(j->s, g))))
			continue;
		f = finding_add(j, FINDING_PCI_BAR_UNASSIGNED, gpu_subject(j, i));
		finding_message(
			j, f, "%s",
			_("The firmware gave the GPU no memory addresses (its BARs are "
			  "unassigned), so no "
			  "driver can start it."));
		if (fact_is(&g->bars, "unassigned"))
			finding_fact(j, f, "gpu.bars", &g->bars, "ok");
		if (e)
			log_evidence(j, f, e);
		r = finding_remedy(
			j, f, "%s",
			_("Enable \"Above 4G Decoding\" (and Resizable BAR) in the firmware; for "
			  "a virtual "
			  "machine enlarge its 64-bit MMIO window (OVMF: X-PciMmio64Mb), or boot "
			  "with "
			  "pci=realloc."));
		remedy_command(j, r,
			       "sudo dmesg | grep -iE 'BAR [0-9]+.*(assign|no space|failed)'");
		r->needs_root = true;
		r->needs_reboot = true;
	}
}

/* Asleep is normal for a laptop's GPU; asleep while the driver cannot use it is not. */
static bool asleep_for_driver(const struct snapshot *s, const struct gpu *g)
{
	return look_module_loaded(s) && fact_is(&g->power_state, "D3cold") &&
	       !fact_known(&g->nvml_index) && (look_cuda_init(s) >= 0 || look_nvml_init(s) >= 0);
}

/* The kernel said that it could not wake it, or the tool said that it switched it off. */
static const struct event *power_event(const struct snapshot *s, const struct gpu *g)
{
	const struct event *e = logged(s, "d3cold", g);

	if (!e && fact_is(&g->power_state, "D3cold"))
		e = logged(s, "bbswitch-off", g);
	return e && !works(s, g) ? e : NULL;
}

static void power_finding(struct judge *j, size_t i, const struct event *e)
{
	const struct gpu *g = &j->s->gpus[i];
	struct finding *f = finding_add(j, FINDING_GPU_POWER_STATE, gpu_subject(j, i));
	const char *why = fact_value(&g->runtime_status, "");
	struct remedy *r;

	finding_message(
		j, f,
		_("The GPU is switched off (power state %s%s%s) and the driver does not wake it."),
		fact_value(&g->power_state, "D3cold"), *why ? ", " : "", why);
	if (fact_known(&g->power_state))
		finding_fact(j, f, "gpu.power_state", &g->power_state, "D0");
	if (e)
		log_evidence(j, f, e);
	if (fact_known(&j->s->driver.cuda_init))
		finding_fact(j, f, "driver.cuda_init", &j->s->driver.cuda_init, "0");
	r = finding_remedy(
		j, f, "%s",
		_("Keep the GPU powered (end the graphics-mode service that switched it off: "
		  "supergfxctl, optimus-manager, bbswitch, envycontrol), then reboot."));
	if (fact_known(&g->address))
		remedy_command(j, r, "echo on | sudo tee /sys/bus/pci/devices/%s/power/control",
			       shell_word(j->a, g->address.value));
	remedy_command(j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
}

static void run_gpu_power_state(struct judge *j)
{
	const struct event *e;
	size_t i;

	if (!look_is_linux_host(j) || look_cuda_works(j->s))
		return;
	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu *g = &j->s->gpus[i];

		e = power_event(j->s, g);
		if (look_is_nvidia(g) && (e || asleep_for_driver(j->s, g)))
			power_finding(j, i, e);
	}
}

const struct rule rule_gpu_not_found = {
	.name = "gpu-not-found",
	.needs = NEED_PCI,
	.layer = LAYER_HARDWARE,
	.run = run_gpu_not_found,
};
const struct rule rule_cuda_build_on_amd = {
	.name = "cuda-build-on-amd",
	.needs = NEED_PCI | NEED_TORCH,
	.layer = LAYER_FRAMEWORK,
	.run = run_cuda_build_on_amd,
};
/* Belongs to no layer that it could pass: it only ever says that something is not known. */
const struct rule rule_gpu_ambiguous = {
	.name = "insufficient-evidence",
	.layer = LAYER_WORKLOAD,
	.run = run_gpu_ambiguous,
};
const struct rule rule_gpu_bound_to_vfio = {
	.name = "gpu-bound-to-vfio",
	.needs = NEED_PCI | NEED_KERNEL,
	.layer = LAYER_HARDWARE,
	.run = run_gpu_bound_to_vfio,
};
const struct rule rule_gpu_off_bus = {
	.name = "gpu-off-bus",
	.needs = NEED_PCI,
	.layer = LAYER_HARDWARE,
	.run = run_gpu_off_bus,
};
const struct rule rule_pci_bar_unassigned = {
	.name = "pci-bar-unassigned",
	.needs = NEED_PCI,
	.layer = LAYER_HARDWARE,
	.run = run_pci_bar_unassigned,
};
const struct rule rule_gpu_power_state = {
	.name = "gpu-power-state",
	.needs = NEED_PCI | NEED_KERNEL,
	.layer = LAYER_HARDWARE,
	.run = run_gpu_power_state,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about a GPU that reported trouble: by the kernel log and by NVML's counters. What a GPU
 * that answers now has logged earlier in this boot is a warning.
 */
#include <string.h>

#include "base/arena.h"
#include "rule/look_log.h"
#include "rule/rules.h"
#include "rule/xid.h"

enum { NVML_GPU_IS_LOST = 15, REPEATED = 3 };

/* Takes work now, as far as anybody could see. The driver's own list keeps a GPU that hangs. */
static bool works(const struct judge *j, size_t i)
{
	return i < j->s->n_gpus && look_gpu_works(&j->s->gpus[i]) &&
	       !fact_known(&j->s->gpus[i].nvml_error) && !look_cuda_failed(j->s);
}

static const char *subject_of(struct judge *j, const struct event *e, size_t i)
{
	if (i < j->s->n_gpus)
		return gpu_subject(j, i);
	return arena_printf(j->a, "GPU at %s", fact_value(&e->address, "?"));
}

static bool has_about(const struct judge *j, enum finding_id id, const char *subject)
{
	size_t i;

	for (i = 0; i < j->n_findings; i++)
		if (j->findings[i]->id == id && strcmp(j->findings[i]->subject, subject) == 0)
			return true;
	return false;
}

/* -------- lost */

static void off_bus(struct judge *j, size_t i, const char *subject, const struct event *e)
{
	struct finding *f;
	struct remedy *r;

	if (has_about(j, FINDING_GPU_OFF_BUS, subject))
		return;
	f = finding_add(j, FINDING_GPU_OFF_BUS, subject);
	finding_message(j, f, "%s",
			_("The driver lost the GPU: it fell off the PCI bus and answers no more."));
	if (e)
		log_evidence(j, f, e);
	if (i < j->s->n_gpus && fact_known(&j->s->gpus[i].nvml_error))
		finding_fact(j, f, "gpu.nvml_error", &j->s->gpus[i].nvml_error, NULL);
	r = finding_remedy(
		j, f, "%s",
		_("Power the machine off completely and on again; if it comes back, check power "
		  "supply, cables, seat and temperature of the card."));
	remedy_command(j, r, "sudo poweroff");
	r->needs_root = true;
	r->needs_reboot = true;
}

static void run_gpu_off_bus_log(struct judge *j)
{
	const struct snapshot *s = j->s;
	size_t i, k;

	for (k = 0; k < s->n_log; k++) {
		const struct event *e = &s->log[k];

		if (!fact_known(&e->address) ||
		    (log_xid(e) != 79 && !fact_is(&e->id, "fallen-off-bus")))
			continue;
		i = log_gpu(s, e);
		if (works(j, i) || (i < s->n_gpus && fact_is(&s->gpus[i].power_state, "D3cold")))
			continue;
		off_bus(j, i, subject_of(j, e, i), e);
	}
	for (i = 0; i < s->n_gpus; i++) {
		int64_t error;

		if (fact_to_int(&s->gpus[i].nvml_error, &error) && error == NVML_GPU_IS_LOST)
			off_bus(j, i, gpu_subject(j, i), NULL);
	}
}

/* -------- memory */

/* Needs a reset before results can be trusted again; the others were contained or repaired. */
static bool ecc_xid(unsigned xid, bool *ret_grave)
{
	static const unsigned grave[] = { 48, 64, 95, 140, 171, 172 }, mild[] = { 63, 92, 94 };
	size_t i;

	*ret_grave = true;
	for (i = 0; i < ARRAY_LEN(grave); i++)
		if (grave[i] == xid)
			return true;
	*ret_grave = false;
	for (i = 0; i < ARRAY_LEN(mild); i++)
		if (mild[i] == xid)
			return true;
	return false;
}

static void ecc_finding(struct judge *j, size_t i, const char *subject, const struct event *e,
			bool grave)
{
	const struct gpu *g = i < j->s->n_gpus ? &j->s->gpus[i] : NULL;
	struct finding *f = finding_add(j, FINDING_GPU_ECC_ERROR, subject);

	if (!grave)
		f->severity = SEVERITY_WARNING;
	if (e)
		finding_message(j, f, _("The GPU reported a memory error: Xid %u, %s."), log_xid(e),
				xid_meaning(j, log_xid(e)));
	else
		finding_message(
			j, f, "%s",
			_("The GPU's memory has errors that it could not correct, or whose repair "
			  "waits for a reset."));
	if (e)
		log_evidence(j, f, e);
	if (g && fact_known(&g->ecc_errors))
		finding_fact(j, f, "gpu.ecc_errors", &g->ecc_errors, "0");
	if (g && fact_known(&g->row_remap))
		finding_fact(j, f, "gpu.row_remap", &g->row_remap, "none");
	if (g && fact_known(&g->retired_pending))
		finding_fact(j, f, "gpu.retired_pending", &g->retired_pending, "no");
	xid_remedy(j, f, i, e ? log_xid(e) : 0);
	finding_remedy(j, f, "%s",
		       _("If new errors come after the reset, or remapping failed, have the card "
			 "replaced."));
}

static bool counters_bad(const struct gpu *g, bool *ret_grave)
{
	int64_t n = 0;
	bool counted = fact_to_int(&g->ecc_errors, &n) && n > 0;

	*ret_grave = fact_is(&g->row_remap, "failed");
	return counted || *ret_grave || fact_is(&g->row_remap, "pending") ||
	       fact_yes(&g->retired_pending);
}

static void run_gpu_ecc_error(struct judge *j)
{
	const struct snapshot *s = j->s;
	const char *subject;
	bool grave;
	size_t i, k;

	for (k = 0; k < s->n_log; k++) {
		if (!ecc_xid(log_xid(&s->log[k]), &grave))
			continue;
		i = log_gpu(s, &s->log[k]);
		subject = subject_of(j, &s->log[k], i);
		if (!has_about(j, FINDING_GPU_ECC_ERROR, subject))
			ecc_finding(j, i, subject, &s->log[k], grave || !works(j, i));
	}
	for (i = 0; i < s->n_gpus; i++)
		if (counters_bad(&s->gpus[i], &grave) &&
		    !has_about(j, FINDING_GPU_ECC_ERROR, gpu_subject(j, i)))
			ecc_finding(j, i, gpu_subject(j, i), NULL, grave);
}

/* -------- firmware */

static void run_gsp_timeout(struct judge *j)
{
	const struct snapshot *s = j->s;
	const char *subject;
	struct finding *f;
	struct remedy *r;
	size_t i, k;

	for (k = 0; k < s->n_log; k++) {
		const struct event *e = &s->log[k];

		if (log_xid(e) != 119 && log_xid(e) != 120 && !fact_is(&e->id, "gsp"))
			continue;
		i = log_gpu(s, e);
		subject = subject_of(j, e, i);
		if (has_about(j, FINDING_GSP_TIMEOUT, subject))
			continue;
		f = finding_add(j, FINDING_GSP_TIMEOUT, subject);
		if (works(j, i))
			f->severity = SEVERITY_WARNING;
		finding_message(j, f, "%s",
				_("The GPU's own firmware processor (GSP) stopped answering the "
				  "driver."));
		log_evidence(j, f, e);
		xid_remedy(j, f, i, log_xid(e));
		r = finding_remedy(
			j, f, "%s",
			_("If it comes back: update to the newest release of the driver's branch; "
			  "with the proprietary modules GSP can be switched off."));
		if (fact_is(&s->driver.flavor, "proprietary"))
			remedy_command(j, r,
				       "echo 'options nvidia NVreg_EnableGpuFirmware=0' | sudo tee "
				       "/etc/modprobe.d/nvidia-gsp.conf");
		r->needs_root = true;
		r->needs_reboot = true;
	}
}

/* -------- anything else that only repair cures */

/* Xids of the matrix that point to hardware and have no finding of their own. */
static bool is_hardware(struct judge *j, unsigned xid)
{
	const char *to = xid_points_to(j, xid);
	bool grave;

	return xid && xid != 79 && xid != 119 && xid != 120 && !ecc_xid(xid, &grave) && to &&
	       strncmp(to, "hardware", 8) == 0;
}

/* The driver measures it: the card is on the bus, and its own power is missing. */
static void unpowered(struct judge *j, const struct event *e)
{
	enum { XID_NO_AUXILIARY_POWER = 54 };
	size_t i = log_gpu(j->s, e);
	const char *subject = subject_of(j, e, i);
	struct finding *f;

	if (works(j, i) || has_about(j, FINDING_GPU_HARDWARE_FAULT, subject))
		return;
	f = finding_add(j, FINDING_GPU_HARDWARE_FAULT, subject);
	finding_message(j, f, "%s",
			_("The GPU has no auxiliary power: its power cables are not connected."));
	log_evidence(j, f, e);
	xid_remedy(j, f, i, XID_NO_AUXILIARY_POWER);
}

static void run_gpu_hardware_fault(struct judge *j)
{
	const struct snapshot *s = j->s;
	const char *subject;
	struct finding *f;
	struct remedy *r;
	size_t i, k;

	for (k = 0; k < s->n_log; k++) {
		const struct event *e = &s->log[k];

		if (fact_is(&e->id, "power-cables"))
			unpowered(j, e);
		if (!is_hardware(j, log_xid(e)))
			continue;
		i = log_gpu(s, e);
		subject = subject_of(j, e, i);
		/* A link error that happened once and a GPU that works: nothing to repair yet. */
		if ((works(j, i) && log_count(e) < REPEATED) ||
		    has_about(j, FINDING_GPU_HARDWARE_FAULT, subject))
			continue;
		f = finding_add(j, FINDING_GPU_HARDWARE_FAULT, subject);
		if (works(j, i))
			f->severity = SEVERITY_WARNING;
		finding_message(j, f, _("The GPU reported Xid %u: %s."), log_xid(e),
				xid_meaning(j, log_xid(e)));
		log_evidence(j, f, e);
		if (log_count(e) < REPEATED)
			finding_inferred(f);
		xid_remedy(j, f, i, log_xid(e));
		r = finding_remedy(
			j, f, "%s",
			_("If it comes back, try the card in another slot or machine; when it "
			  "follows the card, have it replaced. nvidia-bug-report.sh collects what "
			  "support asks for."));
		remedy_command(j, r, "sudo nvidia-bug-report.sh");
		r->needs_root = true;
		r->risk = RISK_SAFE;
	}
}

/* -------- a graphics mode that took the card off the bus */

static void run_gpu_removed(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *rule = &s->host.gpu_removed_by;
	struct finding *f;
	struct remedy *r;

	if (!look_is_linux_host(j) || look_has_nvidia(s) || !fact_known(rule))
		return;
	f = finding_add(j, FINDING_GPU_POWER_STATE, _("this machine"));
	finding_message(
		j, f,
		_("A graphics mode keeps the NVIDIA GPU switched off: %s takes it off the bus."),
		rule->value);
	finding_fact(j, f, "host.gpu_removed_by", rule, NULL);
	if (fact_known(&s->host.prime))
		finding_fact(j, f, "host.prime", &s->host.prime, "on-demand");
	r = finding_remedy(
		j, f, "%s",
		_("Choose a mode that keeps the GPU (hybrid, on-demand or nvidia) with the "
		  "tool that set this one, and reboot."));
	remedy_command(j, r, "%s",
		       fact_known(&s->host.prime) ? "sudo prime-select on-demand"
						  : "sudo envycontrol -s hybrid");
	remedy_command(j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
}

const struct rule rule_gpu_off_bus_log = {
	.name = "gpu-off-bus",
	.needs = NEED_PCI,
	.layer = LAYER_HARDWARE,
	.run = run_gpu_off_bus_log,
};
const struct rule rule_gpu_ecc_error = {
	.name = "gpu-ecc-error",
	.needs = NEED_PCI,
	.layer = LAYER_HARDWARE,
	.run = run_gpu_ecc_error,
};
const struct rule rule_gsp_timeout = {
	.name = "gsp-timeout",
	.needs = NEED_LOG,
	.layer = LAYER_HARDWARE,
	.run = run_gsp_timeout,
};
const struct rule rule_gpu_hardware_fault = {
	.name = "gpu-hardware-fault",
	.needs = NEED_LOG,
	.layer = LAYER_HARDWARE,
	.run = run_gpu_hardware_fault,
};
const struct rule rule_gpu_removed = {
	.name = "gpu-power-state",
	.needs = NEED_PCI,
	.layer = LAYER_HARDWARE,
	.run = run_gpu_removed,
};

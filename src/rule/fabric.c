/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about code 802, "system not yet initialized": the fabric of NVSwitch systems, its parts and
 * versions, or a confidential GPU that nobody set ready. Where neither shows, what would show is
 * asked for.
 */
#include <string.h>

#include "base/arena.h"
#include "rule/distro.h"
#include "rule/look_log.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* -------- the fabric */

/* Exactly the driver's version; `debian` names the package, which has the branch in its name. */
static void fabric_install(struct judge *j, struct remedy *r, const char *version,
			   const char *debian)
{
	const char *rpm = shell_word(j->a, arena_printf(j->a, "nvidia-fabric-manager-%s", version));

	debian = shell_word(j->a, arena_printf(j->a, "%s=%s-1", debian, version));
	distro_install(j, r, &(struct distro_names){ .debian = debian, .rhel = rpm, .suse = rpm });
}

static bool has_switch(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_nodes; i++)
		if (view_starts(view_of(fact_value(&s->nodes[i].name, "")), "nvidia-nvswitch"))
			return true;
	for (i = 0; i < s->n_gpus; i++)
		if (fact_known(&s->gpus[i].fabric) && !fact_is(&s->gpus[i].fabric, "none"))
			return true;
	return false;
}

/* The Fabric Manager's package, whose version has to be the driver's to the last digit. */
static const struct ospackage *fabric_package(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_os_packages; i++) {
		struct view name = view_of(fact_value(&s->os_packages[i].name, ""));

		if ((view_starts(name, "nvidia-fabricmanager") ||
		     view_starts(name, "nvidia-fabric-manager")) &&
		    view_find(name, "dev") < 0)
			return &s->os_packages[i];
	}
	return NULL;
}

static void run_fabric_manager_version_mismatch(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct ospackage *o = fabric_package(s);
	const struct fact *driver = look_driver(s);
	const struct event *e = log_event(s, "fabric-version");
	const char *version = NULL;
	struct finding *f;
	struct remedy *r;
	struct view rest;

	if ((!has_switch(s) && look_cuda_init(s) != 802) || look_in_container(s) || !driver)
		return;
	if (o)
		version = view_dup(j->a, view_cut(view_of(o->version.value), '-', &rest));
	if (version && strcmp(version, driver->value) == 0)
		return;
	if (!version && !e)
		return;
	f = finding_add(j, FINDING_FABRIC_MANAGER_VERSION_MISMATCH, "nvidia-fabricmanager");
	if (look_cuda_works(s))
		f->severity = SEVERITY_WARNING;
	finding_message(
		j, f,
		_("The Fabric Manager is %s and the driver is %s: it starts with exactly its "
		  "own driver."),
		version ? version : _("of another version"), driver->value);
	if (o)
		finding_fact(j, f, "os_packages.version", &o->version, driver->value);
	if (e)
		log_evidence(j, f, e);
	finding_fact(j, f, "driver.version", driver, version);
	if (fact_known(&s->driver.cuda_init))
		finding_fact(j, f, "driver.cuda_init", &s->driver.cuda_init, "0");
	r = finding_remedy(j, f, "%s",
			   _("Install the Fabric Manager of exactly the driver's version and start "
			     "it."));
	fabric_install(
		j, r, driver->value,
		o ? o->name.value
		  : arena_printf(j->a, "nvidia-fabricmanager-%u", look_branch(driver->value)));
	remedy_command(j, r, "sudo systemctl restart nvidia-fabricmanager");
	r->needs_root = true;
}

/* Blackwell's data-centre parts: NVLink 5, whose switches are reached over InfiniBand's MAD. */
static bool nvlink5(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_gpus; i++)
		if (look_cc(&s->gpus[i]) == 100 || look_cc(&s->gpus[i]) == 103)
			return true;
	return false;
}

static void run_fabric_prerequisite_missing(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct event *e = log_event(s, "fabric-prerequisite");
	bool no_umad = fact_is(&s->driver.ib_umad_loaded, "no");
	struct finding *f;
	struct remedy *r;

	if (look_cuda_init(s) != 802 || look_in_container(s) || !nvlink5(s) ||
	    (!e && (!no_umad || s->n_gpus < 4)))
		return;
	f = finding_add(j, FINDING_FABRIC_PREREQUISITE_MISSING, "nvidia-fabricmanager");
	finding_message(
		j, f, "%s",
		_("cuInit gives 802 on GPUs with NVLink 5, whose fabric the Fabric Manager reaches "
		  "through ib_umad and NVLSM; these are not there."));
	finding_fact(j, f, "driver.cuda_init", &s->driver.cuda_init, "0");
	finding_fact(j, f, "driver.ib_umad_loaded", &s->driver.ib_umad_loaded, "yes");
	if (e)
		log_evidence(j, f, e);
	r = finding_remedy(
		j, f, "%s",
		_("Load ib_umad now and at every boot, install nvlsm, and start the Fabric "
		  "Manager again."));
	remedy_command(j, r, "sudo modprobe ib_umad");
	remedy_command(j, r, "echo ib_umad | sudo tee /etc/modules-load.d/ib_umad.conf");
	distro_install(j, r,
		       &(struct distro_names){ .debian = "infiniband-diags nvlsm",
					       .rhel = "infiniband-diags nvlsm",
					       .suse = "infiniband-diags nvlsm" });
	remedy_command(j, r, "sudo systemctl restart nvidia-fabricmanager");
	r->needs_root = true;
}

/* -------- 802 */

static void confidential(struct judge *j)
{
	const struct snapshot *s = j->s;
	bool told = fact_is(&s->driver.conf_compute, "on");
	struct finding *f = finding_add(j, FINDING_CONFIDENTIAL_GPU_NOT_READY, gpu_subject(j, 0));
	struct remedy *r;

	finding_message(
		j, f, "%s",
		told ? _("cuInit gives 802 (system not yet initialized): confidential computing is "
			 "on, and the GPUs were not set ready.")
		     : _("cuInit gives 802 (system not yet initialized) on a machine without "
			 "NVSwitch: the GPU is in confidential-computing mode and was not set "
			 "ready."));
	finding_fact(j, f, "driver.cuda_init", &s->driver.cuda_init, "0");
	if (told)
		finding_fact(j, f, "driver.conf_compute", &s->driver.conf_compute, NULL);
	if (fact_known(&s->driver.conf_ready))
		finding_fact(j, f, "driver.conf_ready", &s->driver.conf_ready, "yes");
	if (!told) {
		finding_evidence(j, f, "nodes", _("no /dev/nvidia-nvswitch*"), NULL, "/dev");
		finding_inferred(f);
	}
	r = finding_remedy(j, f, "%s", _("Look at the state, attest the GPU, and set it ready."));
	remedy_command(j, r, "nvidia-smi conf-compute -grs");
	remedy_command(j, r, "sudo nvidia-smi conf-compute -srs 1");
	r->needs_root = true;
}

static const struct unit *fabric_unit(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_services; i++)
		if (view_starts(view_of(fact_value(&s->services[i].name, "")),
				"nvidia-fabricmanager"))
			return &s->services[i];
	return NULL;
}

static void not_running(struct judge *j, const struct unit *unit, bool seen)
{
	const struct snapshot *s = j->s;
	const struct fact *driver = look_driver(s);
	struct finding *f =
		finding_add(j, FINDING_FABRIC_MANAGER_NOT_RUNNING, "nvidia-fabricmanager");
	struct remedy *r;

	finding_message(
		j, f,
		_("cuInit gives 802 (system not yet initialized): the NVSwitch fabric is not set up, "
		  "since nvidia-fabricmanager is %s."),
		unit ? fact_value(&unit->state, "?") : _("not seen"));
	finding_fact(j, f, "driver.cuda_init", &s->driver.cuda_init, "0");
	if (unit)
		finding_fact(j, f, "service.state", &unit->state, "active");
	if (seen)
		finding_evidence(j, f, "nodes", _("an NVSwitch fabric"), NULL, "/dev, NVML");
	else
		finding_inferred(f);
	r = finding_remedy(j, f, "%s",
			   _("Install the Fabric Manager of exactly the driver's version and start "
			     "it."));
	if (driver && (!unit || fact_is(&unit->state, "not-found")))
		fabric_install(j, r, driver->value,
			       arena_printf(j->a, "nvidia-fabricmanager-%u",
					    look_branch(driver->value)));
	remedy_command(j, r, "sudo systemctl enable --now nvidia-fabricmanager");
	r->needs_root = true;
}

static void run_fabric_manager_not_running(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct unit *unit = fabric_unit(s);
	bool seen = has_switch(s), installed = unit && !fact_is(&unit->state, "not-found");

	if (look_cuda_init(s) != 802)
		return;
	if (fact_is(&s->driver.conf_compute, "on") && !fact_yes(&s->driver.conf_ready)) {
		confidential(j);
		return;
	}
	if (seen || installed) {
		if (!installed || !fact_is(&unit->state, "active"))
			not_running(j, unit, seen);
		else
			judge_ask(
				j,
				"journalctl -u nvidia-fabricmanager; nvidia-smi -q | grep -A3 Fabric");
		return;
	}
	/* A virtual machine with a whole board may not see the switches; one or two GPUs alone have
	 * none. */
	if (s->n_gpus > 2 && (unit || look_in_container(s)) && look_cc(&s->gpus[0]) >= 80)
		not_running(j, unit, false);
	else if (s->n_gpus && s->n_gpus <= 2 && look_cc(&s->gpus[0]) >= 90 &&
		 !fact_is(&s->driver.conf_compute, "off"))
		confidential(j);
	else
		judge_ask(j, "nvidia-smi -q | grep -A3 Fabric; nvidia-smi conf-compute -grs");
}

const struct rule rule_fabric_manager_version_mismatch = {
	.name = "fabric-manager-version-mismatch",
	.needs = NEED_NODES,
	.layer = LAYER_DRIVER,
	.run = run_fabric_manager_version_mismatch,
};
const struct rule rule_fabric_prerequisite_missing = {
	.name = "fabric-prerequisite-missing",
	.needs = NEED_CUDA,
	.layer = LAYER_DRIVER,
	.run = run_fabric_prerequisite_missing,
};
const struct rule rule_fabric_manager_not_running = {
	.name = "fabric-manager-not-running",
	.needs = NEED_CUDA,
	.layer = LAYER_DRIVER,
	.run = run_fabric_manager_not_running,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what stands between a working module and a CUDA context: nodes, fabric, MIG, modes,
 * variables. */
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* -------- nvidia_uvm */

static void run_uvm_not_loaded(struct judge *j)
{
	const struct snapshot *s = j->s;
	bool node = look_node(s, "nvidia-uvm") != NULL;
	bool module = fact_yes(&s->driver.uvm_loaded) ||
		      driver_loaded_module(&s->driver, "nvidia_uvm") ||
		      driver_loaded_module(&s->driver, "nvidia-uvm");
	struct finding *f;
	struct remedy *r;

	/* The driver loads it at the first use; it is a fault only once CUDA has failed over it. */
	if (!look_is_linux_host(j) || !look_module_loaded(s) || (node && module) ||
	    (look_cuda_init(s) != 999 && look_cuda_init(s) != 3))
		return;
	f = finding_add(j, FINDING_UVM_NOT_LOADED, _("this machine"));
	finding_message(
		j, f,
		module ? _("nvidia_uvm is loaded and its node /dev/nvidia-uvm was not made, so "
			   "cuInit fails (%ld) "
			   "while NVML works.")
		       : _("nvidia_uvm is not loaded, so cuInit fails (%ld) while NVML works."),
		look_cuda_init(s));
	finding_fact(j, f, "driver.uvm_loaded", &s->driver.uvm_loaded, "yes");
	finding_evidence(j, f, "nodes", node ? "/dev/nvidia-uvm" : _("absent"), "/dev/nvidia-uvm",
			 "/dev");
	finding_fact(j, f, "driver.cuda_init", &s->driver.cuda_init, "0");
	r = finding_remedy(j, f, "%s", _("Load the module and make its nodes."));
	remedy_command(j, r, "sudo modprobe nvidia_uvm");
	remedy_command(j, r, "sudo nvidia-modprobe -u -c=0");
	r->needs_root = true;
	r->risk = RISK_SAFE;
}

/* -------- permissions of the nodes */

static bool in_group(const struct snapshot *s, const char *gid)
{
	return fact_list_has(&s->host.gids, gid);
}

/* By mode and owner, when nobody tried to open it. Root is never excluded. */
static bool mode_excludes(const struct snapshot *s, const struct node *n)
{
	uint64_t mode;
	unsigned bits;

	if (!fact_known(&n->mode) || !fact_known(&s->host.euid) || fact_is(&s->host.euid, "0") ||
	    !view_u64(view_of(n->mode.value), 10, &mode))
		return false;
	/* Octal text: its last three digits are owner, group, others. */
	if (fact_known(&n->uid) && fact_is(&n->uid, s->host.euid.value))
		bits = (unsigned)(mode / 100 % 10);
	else if (fact_known(&n->gid) && in_group(s, n->gid.value))
		bits = (unsigned)(mode / 10 % 10);
	else
		bits = (unsigned)(mode % 10);
	return (bits & 6) != 6;
}

static bool excluded(const struct snapshot *s, const struct node *n)
{
	if (strncmp(fact_value(&n->name, ""), "nvidia", 6) != 0 || strchr(n->name.value, '/'))
		return false;
	if (fact_known(&n->open))
		return fact_is(&n->open, "EACCES");
	return mode_excludes(s, n);
}

/* nvidiactl and nvidia0; without nvidia-uvm another rule says what is to be done. */
static bool is_needed_node(const char *name)
{
	uint64_t n;

	return strcmp(name, "nvidiactl") == 0 ||
	       (strncmp(name, "nvidia", 6) == 0 && view_u64(view_of(name + 6), 10, &n));
}

/* Something made a file where udev and nvidia-modprobe would make the node, and then do not. */
static void file_in_place(struct judge *j, const struct node *n)
{
	const char *path = arena_printf(j->a, "/dev/%s", n->name.value);
	struct finding *f = finding_add(j, FINDING_DEVICE_NODE_PERMISSIONS, path);
	struct remedy *r;

	finding_message(j, f, _("%s is a plain file where the device should be."), path);
	finding_fact(j, f, "node.type", &n->type, "c");
	finding_fact(j, f, "node.open", &n->open, "ok");
	r = finding_remedy(j, f, "%s", _("Take the file away, and let the nodes be made anew."));
	remedy_command(j, r, "sudo rm %s && sudo nvidia-modprobe -u -c=0", shell_word(j->a, path));
	r->needs_root = true;
}

static void run_device_node_permissions(struct judge *j)
{
	const struct snapshot *s = j->s;
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (look_cuda_works(s))
		return;
	for (i = 0; i < s->n_nodes; i++) {
		const struct node *n = &s->nodes[i];

		if (look_is_linux_host(j) && fact_is(&n->type, "other") &&
		    fact_is(&n->open, "ENODEV") && is_needed_node(fact_value(&n->name, "")))
			file_in_place(j, n);
		/* Tools for administrators, which CUDA does not open. */
		if (!excluded(s, n) || fact_is(&n->name, "nvidia-modeset") ||
		    fact_is(&n->name, "nvidia-uvm-tools"))
			continue;
		f = finding_add(j, FINDING_DEVICE_NODE_PERMISSIONS,
				arena_printf(j->a, "/dev/%s", n->name.value));
		finding_message(j, f, _("User %s may not open /dev/%s (mode %s, group %s)."),
				fact_value(&s->host.euid, "?"), n->name.value,
				fact_value(&n->mode, "?"), fact_value(&n->gid, "?"));
		finding_fact(j, f, "node.mode", &n->mode, "0666");
		if (fact_known(&n->open))
			finding_fact(j, f, "node.open", &n->open, "ok");
		finding_fact(j, f, "host.euid", &s->host.euid, NULL);
		r = finding_remedy(
			j, f, "%s",
			_("Join the group of the nodes and log in anew, or let the driver make "
			  "them for "
			  "everyone (NVreg_DeviceFileMode=0666)."));
		if (fact_known(&n->gid) && !fact_is(&n->gid, "0"))
			remedy_command(
				j, r,
				"sudo usermod -aG \"$(getent group %s | cut -d: -f1)\" \"$USER\"",
				shell_word(j->a, n->gid.value));
		else
			remedy_command(j, r, "sudo chmod 0666 /dev/nvidia*");
		r->needs_root = true;
	}
}

/* -------- MIG */

/* The GPU's number for a command line. */
static const char *index_word(struct judge *j, const struct gpu *g)
{
	return shell_word(j->a, fact_value(&g->nvml_index, "0"));
}

static bool other_gpu_usable(const struct snapshot *s, size_t but)
{
	size_t i;

	for (i = 0; i < s->n_gpus; i++)
		if (i != but && look_gpu_used(s, i) && fact_known(&s->gpus[i].nvml_index) &&
		    !fact_is(&s->gpus[i].mig_mode, "enabled"))
			return true;
	return false;
}

static void run_mig_no_instance(struct judge *j)
{
	const struct snapshot *s = j->s;
	struct finding *f;
	struct remedy *r;
	size_t i;

	for (i = 0; i < s->n_gpus; i++) {
		const struct gpu *g = &s->gpus[i];

		if (!fact_is(&g->mig_mode, "enabled") ||
		    (g->mig_devices.state != FACT_KNOWN && g->mig_devices.state != FACT_ABSENT) ||
		    g->mig_devices.n)
			continue;
		f = finding_add(j, FINDING_MIG_NO_INSTANCE, gpu_subject(j, i));
		if (other_gpu_usable(s, i))
			f->severity = SEVERITY_WARNING;
		finding_message(
			j, f, "%s",
			_("MIG mode is on and the GPU has no instance, so CUDA finds no device in "
			  "it."));
		finding_fact(j, f, "gpu.mig_mode", &g->mig_mode, _("instances, or MIG off"));
		finding_evidence(j, f, "gpu.mig_devices", "0", ">= 1", g->mig_devices.source);
		r = finding_remedy(
			j, f, "%s",
			_("Make instances (nvidia-smi mig -lgip lists the profiles; 0 is the "
			  "whole GPU)."));
		remedy_command(j, r, "sudo nvidia-smi mig -i %s -cgi 0 -C",
			       index_word(j, g));
		r->needs_root = true;
		r = finding_remedy(j, f, "%s",
				   _("Or switch MIG mode off (nothing may be using the GPU)."));
		remedy_command(j, r, "sudo nvidia-smi -i %s -mig 0",
			       index_word(j, g));
		r->needs_root = true;
	}
}

/* Every name in the variable is a MIG device's, and no GPU here has one of that name. */
static void run_mig_device_not_selected(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *env = snapshot_env_fact(s, "CUDA_VISIBLE_DEVICES");
	const struct gpu *mig = NULL;
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!env || !view_starts(view_of(env->value), "MIG-") || look_cuda_works(s))
		return;
	for (i = 0; i < s->n_gpus; i++) {
		if (look_gpu_used(s, i))
			return;
		if (fact_is(&s->gpus[i].mig_mode, "enabled") && s->gpus[i].mig_devices.n)
			mig = &s->gpus[i];
	}
	if (!mig)
		return;
	f = finding_add(j, FINDING_MIG_DEVICE_NOT_SELECTED, "CUDA_VISIBLE_DEVICES");
	finding_message(
		j, f,
		_("CUDA_VISIBLE_DEVICES=%s is no MIG device of this machine; instances exist "
		  "under other names."),
		env->value);
	finding_fact(j, f, "CUDA_VISIBLE_DEVICES", env, mig->mig_devices.values[0]);
	finding_evidence(j, f, "gpu.mig_devices", mig->mig_devices.values[0], NULL,
			 mig->mig_devices.source);
	r = finding_remedy(j, f, "%s", _("Name an instance that exists."));
	remedy_command(j, r, "nvidia-smi -L");
	remedy_command(j, r, "export CUDA_VISIBLE_DEVICES=%s",
		       shell_word(j->a, mig->mig_devices.values[0]));
	r->risk = RISK_SAFE;
}

/* -------- compute mode */

/* Prohibited; or exclusive while a program that is no server of MPS has taken the one place. */
static bool mode_blocks(const struct snapshot *s, const struct gpu *g, bool *ret_taken)
{
	struct view mode = view_of(fact_value(&g->compute_mode, ""));
	int64_t n = 0;

	*ret_taken = view_is_nocase(mode, "Exclusive_Process") ||
		     view_is_nocase(mode, "Exclusive_Thread");
	if (view_is_nocase(mode, "Prohibited"))
		return true;
	return *ret_taken && fact_to_int(&g->processes, &n) && n > 0 && !fact_yes(&g->mps_server) &&
	       !snapshot_env(s, "CUDA_MPS_PIPE_DIRECTORY");
}

static void run_compute_mode_exclusive(struct judge *j)
{
	struct finding *f;
	struct remedy *r;
	bool taken;
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu *g = &j->s->gpus[i];

		if (!mode_blocks(j->s, g, &taken) || !look_gpu_used(j->s, i))
			continue;
		f = finding_add(j, FINDING_COMPUTE_MODE_EXCLUSIVE, gpu_subject(j, i));
		if (other_gpu_usable(j->s, i))
			f->severity = SEVERITY_WARNING;
		if (taken)
			finding_message(
				j, f,
				_("The GPU's compute mode is %s, and a program has taken its one "
				  "place: every other is told that the device is busy or "
				  "unavailable."),
				g->compute_mode.value);
		else
			finding_message(j, f, "%s",
					_("The GPU's compute mode is Prohibited: no program may "
					  "make a CUDA context on it."));
		finding_fact(j, f, "gpu.compute_mode", &g->compute_mode, "Default");
		if (taken) {
			finding_fact(j, f, "gpu.processes", &g->processes, "0");
			r = finding_remedy(j, f, "%s",
					   _("Wait for the program that has it, or end it."));
			remedy_command(j, r, "nvidia-smi -i %s", index_word(j, g));
			r->risk = RISK_SAFE;
		}
		r = finding_remedy(j, f, "%s", _("Set the compute mode back to Default."));
		remedy_command(j, r, "sudo nvidia-smi -i %s -c DEFAULT",
			       index_word(j, g));
		r->needs_root = true;
		r->risk = RISK_SAFE;
	}
}

/* -------- CUDA_VISIBLE_DEVICES */

static void visible_twice(struct judge *j, const struct fact *env)
{
	struct finding *f = finding_add(j, FINDING_VISIBLE_DEVICES_WRONG, "CUDA_VISIBLE_DEVICES");
	struct remedy *r;

	finding_message(j, f,
			_("CUDA_VISIBLE_DEVICES=%s names a GPU twice, and CUDA then takes none."),
			env->value);
	finding_fact(j, f, "CUDA_VISIBLE_DEVICES", env, _("each GPU once"));
	finding_fact(j, f, "driver.cuda_init", &j->s->driver.cuda_init, "0");
	r = finding_remedy(j, f, "%s", _("Name each GPU once, or unset the variable."));
	remedy_command(j, r, "unset CUDA_VISIBLE_DEVICES");
	r->risk = RISK_SAFE;
}

static void run_visible_devices_wrong(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *env = snapshot_env_fact(s, "CUDA_VISIBLE_DEVICES");
	size_t i, n = 0;
	struct finding *f;
	struct remedy *r;

	if (!env || (fact_known(&s->driver.cuda_devices) && !fact_is(&s->driver.cuda_devices, "0")))
		return;
	if (!look_cuda_works(s) && look_visible_twice(s)) {
		visible_twice(j, env);
		return;
	}
	/* Names can be written in more ways than are seen here; a cuInit that found a device knows
	 * better. */
	if (look_cuda_works(s) && strchr(env->value, '-') && strcmp(env->value, "-1") != 0)
		return;
	for (i = 0; i < s->n_gpus; i++) {
		if (look_gpu_used(s, i))
			return;
		n += look_is_nvidia(&s->gpus[i]);
	}
	if (!n || judge_has(j, FINDING_MIG_DEVICE_NOT_SELECTED))
		return;
	f = finding_add(j, FINDING_VISIBLE_DEVICES_WRONG, "CUDA_VISIBLE_DEVICES");
	if (*env->value && strcmp(env->value, "-1") != 0)
		finding_message(
			j, f,
			_("CUDA_VISIBLE_DEVICES=%s names none of the %zu GPUs that are here (0 to "
			  "%zu)."),
			env->value, n, n - 1);
	else
		finding_message(j, f, _("CUDA_VISIBLE_DEVICES=%s hides every GPU."), env->value);
	finding_fact(j, f, "CUDA_VISIBLE_DEVICES", env,
		     n == 1 ? "0" : arena_printf(j->a, "0 to %zu", n - 1));
	r = finding_remedy(
		j, f, "%s",
		_("Unset the variable, or name a GPU that exists (nvidia-smi -L lists them)."));
	remedy_command(j, r, "unset CUDA_VISIBLE_DEVICES");
	r->risk = RISK_SAFE;
}

const struct rule rule_uvm_not_loaded = {
	.name = "uvm-not-loaded",
	.needs = NEED_KERNEL | NEED_NODES | NEED_CUDA,
	.layer = LAYER_DRIVER,
	.run = run_uvm_not_loaded,
};
const struct rule rule_device_node_permissions = {
	.name = "device-node-permissions",
	.needs = NEED_NODES,
	.layer = LAYER_DRIVER,
	.run = run_device_node_permissions,
};
const struct rule rule_mig_no_instance = {
	.name = "mig-no-instance",
	.needs = NEED_NVML,
	.layer = LAYER_DRIVER,
	.run = run_mig_no_instance,
};
const struct rule rule_mig_device_not_selected = {
	.name = "mig-device-not-selected",
	.needs = NEED_NVML | NEED_ENVIRONMENT,
	.layer = LAYER_DRIVER,
	.run = run_mig_device_not_selected,
};
const struct rule rule_compute_mode_exclusive = {
	.name = "compute-mode-exclusive",
	.needs = NEED_NVML,
	.layer = LAYER_DRIVER,
	.run = run_compute_mode_exclusive,
};
const struct rule rule_visible_devices_wrong = {
	.name = "visible-devices-wrong",
	.needs = NEED_ENVIRONMENT,
	.layer = LAYER_DRIVER,
	.run = run_visible_devices_wrong,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about a driver that is installed and loaded, and whose state is wrong: after a suspend, by
 * SELinux, of its MIG slices. One code has several causes; evidence tells them apart.
 */
#include <string.h>

#include "base/arena.h"
#include "rule/look_log.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* -------- after a suspend */

static bool uvm_ready(const struct snapshot *s)
{
	const struct node *n = look_node(s, "nvidia-uvm");

	return fact_yes(&s->driver.uvm_loaded) && n &&
	       (!fact_known(&n->open) || fact_is(&n->open, "ok"));
}

static void run_driver_state_after_suspend(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct event *e = log_event(s, "suspend");
	struct finding *f;
	struct remedy *r;
	int64_t wakes = 0;

	if (!look_is_linux_host(j) || look_cuda_init(s) != 999 || !look_module_loaded(s) ||
	    !uvm_ready(s) || look_nvml_init(s) > 0)
		return;
	if (!fact_to_int(&s->host.suspends, &wakes))
		wakes = 0;
	if (!wakes && !e) {
		judge_ask(j, "journalctl -b | grep -E 'suspend (entry|exit)'");
		return;
	}
	f = finding_add(j, FINDING_DRIVER_STATE_AFTER_SUSPEND, _("this machine"));
	finding_message(
		j, f, "%s",
		_("cuInit gives 999 while NVML and nvidia_uvm look healthy, and the machine was "
		  "suspended since it booted: the driver lost its state. CUDA_VISIBLE_DEVICES, "
		  "which programs then name, is not the reason."));
	finding_fact(j, f, "driver.cuda_init", &s->driver.cuda_init, "0");
	if (wakes)
		finding_fact(j, f, "host.suspends", &s->host.suspends, "0");
	if (e)
		log_evidence(j, f, e);
	finding_inferred(f);
	r = finding_remedy(j, f, "%s",
			   _("Load nvidia_uvm anew (end what uses the GPU for computing first)."));
	remedy_command(j, r, "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm");
	r->needs_root = true;
	r->risk = RISK_SAFE;
	r = finding_remedy(
		j, f, "%s",
		_("That it does not come back: let the driver keep video memory over a suspend."));
	if (!fact_is(&s->driver.preserve_memory, "1"))
		remedy_command(j, r,
			       "echo 'options nvidia NVreg_PreserveVideoMemoryAllocations=1' | "
			       "sudo tee /etc/modprobe.d/nvidia-suspend.conf");
	remedy_command(j, r,
		       "sudo systemctl enable nvidia-suspend nvidia-resume nvidia-hibernate");
	r->needs_root = true;
	r->needs_reboot = true;
}

/* -------- SELinux */

static bool mode_allows(const struct node *n)
{
	const char *mode = fact_value(&n->mode, "");
	size_t k = strlen(mode);

	return k && (mode[k - 1] == '6' || mode[k - 1] == '7');
}

static void run_selinux_denied(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct event *e = log_event(s, "selinux");
	const struct node *denied = NULL;
	struct finding *f;
	struct remedy *r;
	size_t i;

	for (i = 0; i < s->n_nodes && !denied; i++)
		if (view_starts(view_of(fact_value(&s->nodes[i].name, "")), "nvidia") &&
		    fact_is(&s->nodes[i].open, "EACCES") && mode_allows(&s->nodes[i]))
			denied = &s->nodes[i];
	/* An old denial while everything works is no fault; without a line, only SELinux is left to
	 * refuse what the mode allows. */
	if (look_cuda_works(s) || !denied || (!e && !fact_is(&s->host.selinux, "enforcing")))
		return;
	f = finding_add(j, FINDING_SELINUX_DENIED,
			arena_printf(j->a, "/dev/%s", denied->name.value));
	finding_message(
		j, f,
		_("SELinux keeps this process from /dev/%s: its mode (%s) allows everyone, and "
		  "opening it is refused."),
		denied->name.value, fact_value(&denied->mode, "?"));
	finding_fact(j, f, "node.open", &denied->open, "ok");
	if (e)
		log_evidence(j, f, e);
	else
		finding_inferred(f);
	if (fact_known(&s->host.selinux))
		finding_fact(j, f, "host.selinux", &s->host.selinux, NULL);
	if (look_in_container(s)) {
		r = finding_remedy(j, f, "%s",
				   _("On the host: let containers use devices, or start this one "
				     "without a label."));
		remedy_command(j, r, "sudo setsebool -P container_use_devices on");
		remedy_command(j, r, "podman run --security-opt=label=disable --device "
				     "nvidia.com/gpu=all IMAGE");
	} else {
		r = finding_remedy(j, f, "%s",
				   _("Give the nodes their label back; see what was denied."));
		remedy_command(j, r, "sudo restorecon -v /dev/nvidia*");
		remedy_command(j, r, "sudo ausearch -m avc -ts recent | grep nvidia");
	}
	r->needs_root = true;
}

/* -------- one slice a process */

static size_t mig_names(const char *visible)
{
	struct view rest = view_of(visible), one;
	size_t n = 0;

	while (rest.n) {
		one = view_trim(view_cut(rest, ',', &rest));
		n += view_starts(one, "MIG-");
	}
	return n;
}

static bool any_mig(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_gpus; i++)
		if (fact_is(&s->gpus[i].mig_mode, "enabled"))
			return true;
	return false;
}

static void run_mig_single_instance(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *visible = snapshot_env_fact(s, "CUDA_VISIBLE_DEVICES"),
			  *rank = snapshot_env_fact(s, "LOCAL_RANK");
	size_t names = visible && fact_known(visible) ? mig_names(visible->value) : 0;
	int64_t index = 0;
	struct finding *f;
	struct remedy *r;

	if (!any_mig(s))
		return;
	/* A launcher that gives each process a number takes the slice of that number. */
	if (!rank || !fact_to_int(rank, &index) || !fact_is(&s->driver.cuda_devices, "1"))
		index = 0;
	if (names < 2 && index < 1)
		return;
	f = finding_add(j, FINDING_MIG_SINGLE_INSTANCE, names > 1 ? "CUDA_VISIBLE_DEVICES" : "MIG");
	if (index < 1)
		f->severity = SEVERITY_WARNING;
	if (names > 1)
		finding_message(
			j, f,
			_("CUDA_VISIBLE_DEVICES names %zu MIG instances, and a process sees "
			  "the first alone."),
			names);
	else
		finding_message(j, f,
				_("This process is number %lld of its node and asks for cuda:%lld, "
				  "and with MIG a process sees one instance alone."),
				(long long)index, (long long)index);
	if (names > 1)
		finding_fact(j, f, "CUDA_VISIBLE_DEVICES", visible, _("one MIG name"));
	if (index)
		finding_fact(j, f, "LOCAL_RANK", rank, "0");
	if (fact_known(&s->driver.cuda_devices))
		finding_fact(j, f, "driver.cuda_devices", &s->driver.cuda_devices, NULL);
	r = finding_remedy(
		j, f, "%s",
		_("Start one process for each instance, each with the name of its own, and use "
		  "cuda:0 in each; or switch MIG off for work over several devices."));
	remedy_command(j, r, "nvidia-smi -L");
	r->risk = RISK_SAFE;
}

const struct rule rule_driver_state_after_suspend = {
	.name = "driver-state-after-suspend",
	.needs = NEED_KERNEL | NEED_NODES | NEED_CUDA,
	.layer = LAYER_DRIVER,
	.run = run_driver_state_after_suspend,
};
const struct rule rule_selinux_denied = {
	.name = "selinux-denied",
	.needs = NEED_NODES,
	.layer = LAYER_DRIVER,
	.run = run_selinux_denied,
};
const struct rule rule_mig_single_instance = {
	.name = "mig-single-instance",
	.needs = NEED_NVML | NEED_ENVIRONMENT,
	.layer = LAYER_DRIVER,
	.run = run_mig_single_instance,
};

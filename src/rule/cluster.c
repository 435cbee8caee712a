/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about a node of a cluster and the pods on it: which runtime starts them, whose driver it
 * is, whether its GPUs reach each other.
 */
#include <string.h>

#include "base/arena.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* -------- the runtime of Kubernetes */

static bool any_nvidia_node(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_nodes; i++)
		if (view_starts(view_of(fact_value(&s->nodes[i].name, "")), "nvidia"))
			return true;
	return false;
}

static void k8s_remedy(struct judge *j, struct finding *f)
{
	struct remedy *r = finding_remedy(
		j, f, "%s",
		_("On the node: register the nvidia runtime with the runtime that Kubernetes really "
		  "uses, and restart it. Pods then need it as the default runtime or by "
		  "`runtimeClassName: nvidia`."));

	remedy_command(j, r,
		       "sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default");
	remedy_command(j, r, "sudo systemctl restart containerd");
	r->needs_root = true;
}

/* The device plugin names GPUs to a pod that was given some; the image's own "all" means nothing.
 */
static void in_pod(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *visible = snapshot_env_fact(s, "NVIDIA_VISIBLE_DEVICES");
	struct finding *f;

	if (!fact_yes(&s->parts.nodes) || any_nvidia_node(s) || look_node(s, "dxg") || !visible ||
	    !fact_known(visible) ||
	    (!view_starts(view_of(visible->value), "GPU-") &&
	     !view_starts(view_of(visible->value), "MIG-") &&
	     (*visible->value < '0' || *visible->value > '9')))
		return;
	f = finding_add(j, FINDING_K8S_RUNTIME_NOT_NVIDIA, _("this pod"));
	finding_message(
		j, f,
		_("The pod was given the GPU %s, and no device node is in it: the runtime that "
		  "started it is not NVIDIA's."),
		visible->value);
	finding_fact(j, f, "NVIDIA_VISIBLE_DEVICES", visible, NULL);
	finding_evidence(j, f, "nodes", _("no /dev/nvidia*"), "/dev/nvidia0", "/dev");
	k8s_remedy(j, f);
}

static void on_node(struct judge *j)
{
	const struct runtime *d = &j->s->runtime;
	struct finding *f;

	/* A driver container brings its toolkit and its settings along. */
	if (!look_is_linux_host(j) || !look_has_nvidia(j->s) || !fact_known(&d->kubelet) ||
	    !fact_is(&d->cri_nvidia, "no") || fact_known(&d->operator_driver))
		return;
	/* Without any sign that GPUs are meant for pods it is a node like others. */
	if (!fact_known(&d->toolkit) && !fact_known(&d->nvidia_runtime))
		return;
	f = finding_add(j, FINDING_K8S_RUNTIME_NOT_NVIDIA, "kubelet");
	f->severity = SEVERITY_WARNING;
	finding_message(
		j, f, "%s",
		fact_known(&d->nvidia_runtime)
			? _("Docker is set up for GPUs, and Kubernetes starts pods with another "
			    "runtime, which is not.")
			: _("The container toolkit is installed, and the runtime of Kubernetes is not "
			    "set up to use it."));
	finding_fact(j, f, "runtime.cri_config", &d->cri_config, _("with the nvidia runtime"));
	finding_fact(j, f, "runtime.kubelet", &d->kubelet, NULL);
	if (fact_known(&d->nvidia_runtime))
		finding_fact(j, f, "runtime.nvidia_runtime", &d->nvidia_runtime, NULL);
	k8s_remedy(j, f);
}

static void run_k8s_runtime_not_nvidia(struct judge *j)
{
	if (fact_is(&j->s->container.kind, "kubernetes"))
		in_pod(j);
	else
		on_node(j);
}

/* -------- two drivers on a node */

static const struct ospackage *host_driver(const struct snapshot *s)
{
	static const char *const starts[] = { "nvidia-driver-",	   "nvidia-dkms-",
					      "nvidia-kernel-",	   "linux-modules-nvidia-",
					      "cuda-drivers",	   "akmod-nvidia",
					      "kmod-nvidia",	   "nvidia-open",
					      "nvidia-compute-G0", "nvidia-gl-G0" };
	size_t i, k;

	for (i = 0; i < s->n_os_packages; i++)
		for (k = 0; k < ARRAY_LEN(starts); k++)
			if (view_starts(view_of(fact_value(&s->os_packages[i].name, "")),
					starts[k]))
				return &s->os_packages[i];
	return NULL;
}

/* The container builds its modules within itself: a file for the running kernel is the host's. */
static const struct module *host_module(const struct snapshot *s)
{
	size_t i;

	if (look_module_loaded(s) || look_nvml_init(s) == 0 || look_cuda_works(s))
		return NULL;
	for (i = 0; i < s->driver.n_modules; i++)
		if (fact_is(&s->driver.modules[i].name, "nvidia") &&
		    fact_known(&s->driver.modules[i].path))
			return &s->driver.modules[i];
	return NULL;
}

static void run_operator_driver_conflict(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct ospackage *o = host_driver(s);
	const struct module *m = o ? NULL : host_module(s);
	const char *word;
	struct finding *f;
	struct remedy *r;

	if (!look_is_linux_host(j) || !fact_known(&s->runtime.operator_driver) || (!o && !m))
		return;
	f = finding_add(j, FINDING_OPERATOR_DRIVER_CONFLICT, _("this node"));
	if (look_nvml_init(s) == 0 || look_cuda_works(s))
		f->severity = SEVERITY_WARNING;
	finding_message(
		j, f,
		_("The GPU operator's driver container (%s) and the host's own driver (%s) are both "
		  "here: whichever loads second finds the other's module."),
		s->runtime.operator_driver.value, o ? o->name.value : m->path.value);
	finding_fact(j, f, "runtime.operator_driver", &s->runtime.operator_driver, NULL);
	if (o)
		finding_fact(j, f, "os_packages.name", &o->name, _("no driver of the host's own"));
	else
		finding_fact(j, f, "driver.modules.path", &m->path,
			     _("no driver of the host's own"));
	r = finding_remedy(j, f, "%s",
			   _("Keep one: tell the operator to use the host's driver, or remove the "
			     "host's packages and reboot."));
	remedy_command(j, r,
		       "helm upgrade gpu-operator nvidia/gpu-operator -n gpu-operator "
		       "--reuse-values --set driver.enabled=false");
	if (!o)
		return;
	r = finding_remedy(j, f, "%s", _("Or, on the node:"));
	word = shell_word(j->a, o->name.value);
	distro_remove(
		j, r,
		&(struct distro_names){ .debian = word, .rhel = word, .suse = word, .arch = word });
	remedy_command(j, r, "sudo reboot");
	r->needs_root = true;
	r->needs_reboot = true;
}

/* -------- GPUs that do not reach each other */

static void run_p2p_blocked_by_acs(struct judge *j)
{
	const struct snapshot *s = j->s;
	size_t i, n = 0;
	struct finding *f;
	struct remedy *r;

	for (i = 0; i < s->n_gpus; i++)
		n += look_is_nvidia(&s->gpus[i]) && fact_known(&s->gpus[i].address);
	/* In a virtual machine the bridges are not real, and the host's are out of sight. */
	if (!look_is_linux_host(j) || n < 2 || fact_yes(&s->host.hypervisor))
		return;
	if (s->host.acs.state == FACT_DENIED) {
		judge_skip(j, "host.acs", "%s", s->host.acs.why ? s->host.acs.why : _("denied"));
		return;
	}
	if (!fact_is(&s->host.acs, "redirects"))
		return;
	f = finding_add(j, FINDING_P2P_BLOCKED_BY_ACS, _("this machine"));
	finding_message(
		j, f,
		_("Access control (ACS) on a bridge above the GPUs sends traffic between them through "
		  "the root complex: transfers from GPU to GPU over PCIe are slow, hang or corrupt "
		  "data (IOMMU: %s)."),
		fact_value(&s->host.iommu, "?"));
	finding_fact(j, f, "host.acs", &s->host.acs, "off");
	finding_fact(j, f, "host.iommu", &s->host.iommu, "off");
	r = finding_remedy(
		j, f, "%s",
		_("Switch ACS off in the firmware (or the IOMMU, when no virtual machine needs it); "
		  "then compare with a run without peer-to-peer."));
	remedy_command(j, r, "sudo lspci -vvv | grep -E '^[0-9a-f]|ACSCtl'");
	remedy_command(j, r, "NCCL_P2P_DISABLE=1 COMMAND");
	r->needs_root = true;
	r->needs_reboot = true;
}

const struct rule rule_k8s_runtime_not_nvidia = {
	.name = "k8s-runtime-not-nvidia",
	.needs = NEED_CONTAINER,
	.layer = LAYER_CLUSTER,
	.run = run_k8s_runtime_not_nvidia,
};
const struct rule rule_operator_driver_conflict = {
	.name = "operator-driver-conflict",
	.needs = NEED_CONTAINER,
	.layer = LAYER_CLUSTER,
	.run = run_operator_driver_conflict,
};
const struct rule rule_p2p_blocked_by_acs = {
	.name = "p2p-blocked-by-acs",
	.needs = NEED_PCI,
	.layer = LAYER_CLUSTER,
	.run = run_p2p_blocked_by_acs,
};

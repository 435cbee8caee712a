/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is there any reason to doubt that cuInit will succeed? Where there is, its code decides between
 * causes, and it is called. A fact that nobody could get is a reason too. Judges nothing: what it
 * says is for tests and logs.
 */
#include <string.h>

#include "base/arena.h"
#include "model/version.h"
#include "probe/driver.h"
#include "probe/nvml_api.h"

static const char *nvml_doubt(const struct snapshot *s, const struct live_calls *calls)
{
	const struct nvml_answer *an = calls->nvml_answer;
	size_t i;

	if (calls->nvml.result.end != CHILD_ANSWERED || !fact_is(&s->driver.nvml_init, "0"))
		return "NVML does not work";
	if (an->count.code || an->count.n <= 0 || an->count.n > DRIVER_GPUS_MAX)
		return "NVML counts no GPU";
	if (an->conf_compute.code == 0 && an->conf_compute.n != NVML_CC_SYSTEM_FEATURE_DISABLED)
		return "confidential computing";
	for (i = 0; i < an->n; i++) {
		const struct nvml_device *d = &an->devices[i];

		if (d->mig.code == 0 && d->mig.n != NVML_DEVICE_MIG_DISABLE)
			return "MIG";
		if (d->compute_mode.code || d->compute_mode.n != NVML_COMPUTEMODE_DEFAULT)
			return "compute mode";
		if (d->fabric.code == 0 && d->fabric.n != NVML_GPU_FABRIC_STATE_NOT_SUPPORTED &&
		    (d->fabric.n != NVML_GPU_FABRIC_STATE_COMPLETED || d->fabric_status))
			return "the NVLink fabric is not up";
	}
	for (i = 0; i < s->n_gpus; i++)
		if (!fact_known(&s->gpus[i].nvml_index) || fact_known(&s->gpus[i].nvml_error))
			return "NVML does not answer for every GPU";
	return NULL;
}

static bool same_or_unknown(const struct fact *f, const char *version)
{
	return !fact_known(f) || strcmp(f->value, version) == 0;
}

static const char *version_doubt(const struct driver *d)
{
	const char *version = fact_value(&d->nvml_driver, NULL);
	size_t i;

	if (!version || !fact_is(&d->version, version))
		return "module and NVML differ";
	if (!fact_yes(&d->module_loaded) || !fact_yes(&d->uvm_loaded))
		return "a module is not loaded";
	/* A libcuda without a version is a stub, or none of the driver's. */
	if (!fact_is(&d->libcuda.version, version) ||
	    !same_or_unknown(&d->libnvml.version, version))
		return "a library has another version";
	for (i = 0; i < d->n_modules; i++)
		if (fact_yes(&d->modules[i].loaded) &&
		    !same_or_unknown(&d->modules[i].version, version))
			return "a module has another version";
	return NULL;
}

/* nvidia0, nvidia17: the digits alone. */
static bool is_gpu_node(const char *name)
{
	struct view v = view_of(name);
	uint64_t n;

	return view_starts(v, "nvidia") && view_u64(view_skip(v, 6), 10, &n);
}

static const char *node_doubt(const struct snapshot *s)
{
	size_t i, gpus = 0, control = 0, uvm = 0;

	for (i = 0; i < s->n_nodes; i++) {
		const struct node *n = &s->nodes[i];
		const char *name = fact_value(&n->name, "");

		if (!is_gpu_node(name) && strcmp(name, "nvidiactl") != 0 &&
		    strcmp(name, "nvidia-uvm") != 0)
			continue;
		if (!fact_is(&n->open, "ok"))
			return "a device node does not open";
		gpus += is_gpu_node(name);
		control += strcmp(name, "nvidiactl") == 0;
		uvm += strcmp(name, "nvidia-uvm") == 0;
	}
	return gpus && control && uvm ? NULL : "a device node is missing";
}

static const char *environment_doubt(const struct snapshot *s)
{
	static const char *const names[] = { "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
					     "LD_PRELOAD" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (snapshot_env(s, names[i]))
			return names[i];
	for (i = 0; i < s->n_environment; i++)
		if (strncmp(fact_value(&s->environment[i].name, ""), "CUDA_MPS_", 9) == 0)
			return "MPS";
	return NULL;
}

/*
 * Kinds of places where the driver's word and its modules are not all. A container is none of them:
 * what one can take away (nodes, access, libraries, the modules' list) was looked at by itself, and
 * NVML opened the GPU's node.
 */
static const char *place_doubt(const struct probe_ctx *p)
{
	const struct snapshot *s = p->s;
	const char *wakes = NULL;
	struct dirlist bridges = { 0 };
	size_t i;

	if (!fact_is(&s->host.system, "linux"))
		return "not plain Linux";
	for (i = 0; i < s->n_gpus; i++)
		if (fact_known(&s->gpus[i].kernel_driver) &&
		    !fact_is(&s->gpus[i].kernel_driver, "nvidia"))
			return "a GPU without the driver";
	if (sysroot_list(p->root, p->a, "/sys/bus/pci/drivers/nvidia-nvswitch", 64, &bridges) == 0)
		for (i = 0; i < bridges.n; i++)
			if (strchr(bridges.names[i], ':'))
				return "NVSwitch";
	if (sysroot_read_line(p->root, p->a, "/sys/power/suspend_stats/success", &wakes) == 0 &&
	    strcmp(wakes, "0") != 0)
		return "it was suspended";
	return NULL;
}

const char *driver_doubt_early(struct probe_ctx *p)
{
	const char *why = environment_doubt(p->s);

	/* Nodes are looked at after the children started. */
	return why || !p->s->n_nodes ? why : node_doubt(p->s);
}

const char *driver_doubt(struct probe_ctx *p, const struct live_calls *calls)
{
	const char *why = nvml_doubt(p->s, calls);

	why = why ? why : version_doubt(&p->s->driver);
	why = why ? why : node_doubt(p->s);
	why = why ? why : environment_doubt(p->s);
	return why ? why : place_doubt(p);
}

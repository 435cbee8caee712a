/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the boundary: what a container or WSL took away. None of them blames the machine
 * below. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* A container that runs: its device nodes could be looked at. */
static bool in_running_container(const struct snapshot *s)
{
	return look_in_container(s) && fact_yes(&s->parts.nodes) && !look_is_wsl(s);
}

/* A WSL 2 distribution reaches the GPU through /dev/dxg, also inside a container. */
static bool any_gpu_node(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_nodes; i++)
		if (strncmp(fact_value(&s->nodes[i].name, ""), "nvidia", 6) == 0 ||
		    fact_is(&s->nodes[i].name, "dxg"))
			return true;
	return false;
}

static bool has_capability(const char *list, const char *capability)
{
	struct view rest = view_of(list), one;

	while (rest.n) {
		one = view_trim(view_cut(rest, ',', &rest));
		if (view_is(one, capability) || view_is(one, "all"))
			return true;
	}
	return false;
}

static bool library_there(const struct library *l)
{
	return fact_known(&l->path);
}

/* -------- no GPU at all */

/*
 * A container that shares the host's /dev (Singularity without --nv, --privileged) has the nodes
 * and nothing of the driver: that comes with the request for a GPU alone.
 */
static bool bare_nodes(const struct snapshot *s)
{
	return s->driver.libcuda.path.state == FACT_ABSENT && !s->driver.libcuda.path.why &&
	       s->driver.libnvml.path.state == FACT_ABSENT && look_nvml_init(s) != 0 &&
	       !look_node(s, "dxg");
}

static void run_container_no_gpu_requested(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *env = snapshot_env_fact(s, "NVIDIA_VISIBLE_DEVICES");
	struct finding *f;

	/* Under WSL, too: what is passed in there is /dev/dxg. */
	if (!look_in_container(s) || !fact_yes(&s->parts.nodes) ||
	    (any_gpu_node(s) && !bare_nodes(s)) || look_is_tegra(j) || look_cuda_works(s) ||
	    look_bus_without_gpu(j))
		return;
	f = finding_add(j, FINDING_CONTAINER_NO_GPU_REQUESTED, _("this container"));
	if (env && (fact_is(env, "void") || fact_is(env, "none") || fact_is(env, "")))
		finding_message(
			j, f,
			_("The container was started with NVIDIA_VISIBLE_DEVICES=%s, so no GPU "
			  "was passed in."),
			env->value);
	else if (any_gpu_node(s))
		finding_message(
			j, f, "%s",
			_("The container sees the host's device nodes and was started without GPU "
			  "support: no library of the driver is in it."));
	else
		finding_message(
			j, f, "%s",
			_("The container was started without GPUs: no NVIDIA device node is in "
			  "it."));
	if (any_gpu_node(s))
		finding_fact(j, f, "driver.libcuda.path", &s->driver.libcuda.path, "libcuda.so.1");
	else
		finding_evidence(j, f, "nodes", _("no /dev/nvidia*"),
				 look_is_wsl(s) ? "/dev/dxg"
						: "/dev/nvidia0, /dev/nvidiactl, /dev/nvidia-uvm",
				 s->parts.nodes.source ? s->parts.nodes.source : "/dev");
	finding_fact(j, f, "container.kind", &s->container.kind, NULL);
	if (env)
		finding_fact(j, f, "NVIDIA_VISIBLE_DEVICES", env, "all");
	remedy_start_container(j, f);
}

/* -------- libcuda was not asked for */

static void run_container_capability_missing(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *caps = snapshot_env_fact(s, "NVIDIA_DRIVER_CAPABILITIES");
	bool nvml = library_there(&s->driver.libnvml) || look_nvml_init(s) == 0;
	struct finding *f;
	struct remedy *r;

	if (!in_running_container(s) || !any_gpu_node(s) || library_there(&s->driver.libcuda) ||
	    !nvml || s->driver.libcuda.path.state == FACT_BROKEN)
		return;
	if (caps && has_capability(caps->value, "compute"))
		return;
	/* It was given, into a directory that the loader does not search. */
	if (s->driver.libcuda.path.why && strchr(s->driver.libcuda.path.why, '/'))
		return;
	f = finding_add(j, FINDING_CONTAINER_CAPABILITY_MISSING, _("this container"));
	finding_message(
		j, f,
		_("The container was given the driver capabilities \"%s\" without \"compute\", so "
		  "it has NVML and "
		  "no libcuda."),
		caps ? caps->value : "");
	if (caps)
		finding_fact(j, f, "NVIDIA_DRIVER_CAPABILITIES", caps, "compute,utility");
	finding_fact(j, f, "driver.libcuda.path", &s->driver.libcuda.path, "libcuda.so.1");
	r = finding_remedy(j, f, "%s", _("Start the container with the compute capability."));
	remedy_command(j, r,
		       "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE");
}

/* -------- nodes */

/* Do the rules of the control group (v1) let this major number through?  True when not known. */
static bool group_allows(const struct fact_list *allowed, const char *major)
{
	struct view kind, number, rest;
	size_t i;

	if (allowed->state != FACT_KNOWN || !allowed->n || !major)
		return true;
	for (i = 0; i < allowed->n; i++) {
		rest = view_of(allowed->values[i]);
		if (!view_word(&rest, &kind) || !view_word(&rest, &number))
			continue;
		number = view_cut(number, ':', &rest);
		if (view_is(kind, "a") ||
		    (view_is(kind, "c") && (view_is(number, "*") || view_is(number, major))))
			return true;
	}
	return false;
}

static void rules_evidence(struct judge *j, struct finding *f, const struct node *n)
{
	const struct fact_list *allowed = &j->s->container.device_rules;
	const char *major = fact_value(&n->major, NULL);

	if (!group_allows(allowed, major))
		finding_evidence(j, f, "container.device_rules",
				 arena_printf(j->a, _("no rule for c %s:*"), major),
				 arena_printf(j->a, "c %s:* rw", major), allowed->source);
}

static void run_container_device_access_revoked(struct judge *j)
{
	const struct snapshot *s = j->s;
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!in_running_container(s))
		return;
	for (i = 0; i < s->n_nodes; i++) {
		const struct node *n = &s->nodes[i];

		if (strncmp(fact_value(&n->name, ""), "nvidia", 6) != 0 ||
		    !fact_is(&n->open, "EPERM"))
			continue;
		f = finding_add(j, FINDING_CONTAINER_DEVICE_ACCESS_REVOKED, _("this container"));
		finding_message(
			j, f,
			_("The container may not open /dev/%s any more (EPERM): its device "
			  "permissions were "
			  "taken away while it ran."),
			n->name.value);
		finding_fact(j, f, "node.open", &n->open, "ok");
		rules_evidence(j, f, n);
		r = finding_remedy(
			j, f, "%s",
			_("Start the container anew; keep `systemctl daemon-reload` from revoking "
			  "the "
			  "devices by passing the nodes explicitly or through CDI."));
		remedy_command(
			j, r,
			"docker run --gpus all --device /dev/nvidiactl --device /dev/nvidia0 "
			"--device /dev/nvidia-uvm --device /dev/nvidia-uvm-tools IMAGE");
		return;
	}
}

static bool any_numbered_node(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_nodes; i++) {
		const char *name = fact_value(&s->nodes[i].name, "");

		if (strncmp(name, "nvidia", 6) == 0 && name[6] >= '0' && name[6] <= '9')
			return true;
	}
	return false;
}

static void run_container_device_nodes_missing(struct judge *j)
{
	const struct snapshot *s = j->s;
	const char *missing = NULL;
	struct finding *f;
	struct remedy *r;

	if (!in_running_container(s) || !any_gpu_node(s) || look_node(s, "dxg") ||
	    look_cuda_works(s) || look_is_tegra(j) ||
	    judge_has(j, FINDING_CONTAINER_CAPABILITY_MISSING))
		return;
	if (!look_node(s, "nvidiactl"))
		missing = "nvidiactl";
	else if (!any_numbered_node(s))
		missing = "nvidia0";
	else if (!look_node(s, "nvidia-uvm"))
		missing = "nvidia-uvm";
	if (!missing)
		return;
	f = finding_add(j, FINDING_CONTAINER_DEVICE_NODES_MISSING, _("this container"));
	finding_message(j, f,
			_("The container has NVIDIA device nodes, and /dev/%s is not among them."),
			missing);
	finding_evidence(j, f, "nodes", _("absent"), arena_printf(j->a, "/dev/%s", missing),
			 "/dev");
	r = finding_remedy(
		j, f, "%s",
		_("Load nvidia_uvm on the host and start the container with all nodes."));
	remedy_command(j, r, "sudo nvidia-modprobe -u -c=0");
	remedy_command(j, r, "docker run --gpus all IMAGE");
}

/* A MIG slice is opened through its capability nodes. */
static void run_mig_caps_missing(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct gpu *mig = NULL;
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!in_running_container(s) || look_cuda_works(s))
		return;
	for (i = 0; i < s->n_gpus; i++)
		if (fact_is(&s->gpus[i].mig_mode, "enabled") && s->gpus[i].mig_devices.n)
			mig = &s->gpus[i];
	for (i = 0; i < s->n_nodes; i++)
		if (strncmp(fact_value(&s->nodes[i].name, ""), "nvidia-caps", 11) == 0)
			return;
	if (!mig || judge_has(j, FINDING_CONTAINER_DEVICE_NODES_MISSING))
		return;
	f = finding_add(j, FINDING_MIG_CAPS_MISSING, _("this container"));
	finding_message(
		j, f, "%s",
		_("The GPU is split by MIG, and the container was not given the capability nodes "
		  "(/dev/nvidia-caps) of its instance."));
	finding_evidence(j, f, "nodes", _("absent"), "/dev/nvidia-caps/nvidia-cap*", "/dev");
	finding_fact(j, f, "gpu.mig_mode", &mig->mig_mode, NULL);
	r = finding_remedy(
		j, f, "%s",
		_("Start the container with the MIG device by name; the container toolkit then "
		  "passes its "
		  "nodes."));
	remedy_command(
		j, r, "docker run --gpus %s IMAGE",
		shell_word(j->a, arena_printf(j->a, "\"device=%s\"", mig->mig_devices.values[0])));
}

/* -------- the driver's libraries in the image or left over from before */

static const struct fact *library_version(const struct snapshot *s)
{
	if (fact_known(&s->driver.libcuda.version) && !look_compat_libcuda(s))
		return &s->driver.libcuda.version;
	return fact_known(&s->driver.libnvml.version) ? &s->driver.libnvml.version : NULL;
}

static void stale_libs(struct judge *j, const struct fact *version, const struct fact *module)
{
	const struct snapshot *s = j->s;
	const struct fact *path = fact_known(&s->driver.libcuda.path) ? &s->driver.libcuda.path
								      : &s->driver.libnvml.path;
	struct finding *f = finding_add(j, FINDING_CONTAINER_STALE_DRIVER_LIBS,
					module ? _("this container") : _("this image"));
	enum family family = distro_family(s);
	bool rpm = family == FAMILY_RHEL || family == FAMILY_FEDORA || family == FAMILY_SUSE;
	const char *apt = family == FAMILY_UBUNTU || family == FAMILY_DEBIAN ?
				  "apt-get purge -y 'libnvidia-*' 'nvidia-driver-*' "
				  "'nvidia-utils-*' && " :
				  "";
	struct remedy *r;

	if (module)
		finding_message(
			j, f,
			_("The container uses driver libraries %s, and the host's module is %s: "
			  "the image's own "
			  "copies shadow the host's."),
			version->value, module->value);
	else
		finding_message(
			j, f,
			_("The image carries driver libraries of its own (%s); they will collide "
			  "with those of "
			  "any host whose driver is another one."),
			version->value);
	finding_fact(j, f, "driver.library.version", version,
		     module ? module->value : _("none in an image"));
	finding_fact(j, f, "driver.library.path", path, NULL);
	r = finding_remedy(
		j, f, "%s",
		_("Build the image without a driver: leave out nvidia-driver-*, libnvidia-* and "
		  "libcuda packages (the container toolkit brings the host's), or remove them."));
	remedy_command(j, r, "RUN %srm -f %s", apt,
		       rpm ? "/usr/lib64/libcuda.so* /usr/lib64/libnvidia-*.so*" :
			     "/usr/lib/*/libcuda.so* /usr/lib/*/libnvidia-*.so*");
}

static void stale_mounts(struct judge *j, const struct fact *version, const struct fact *module)
{
	struct finding *f =
		finding_add(j, FINDING_CONTAINER_STALE_DRIVER_MOUNTS, _("this container"));
	struct remedy *r;

	finding_message(
		j, f,
		_("The container still has the driver libraries %s of before the host's change to "
		  "%s."),
		version ? version->value : _("(another version)"), module->value);
	if (version)
		finding_fact(j, f, "driver.library.version", version, module->value);
	finding_fact(j, f, "driver.nvml_init", &j->s->driver.nvml_init, "0");
	finding_fact(j, f, "driver.version", module, NULL);
	r = finding_remedy(
		j, f, "%s",
		_("Start the container anew: a restart mounts the host's present libraries."));
	remedy_command(j, r, "docker rm -f CONTAINER && docker run --gpus all IMAGE");
}

static void run_container_driver_libs(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *version = library_version(s);
	const struct fact *module = fact_known(&s->driver.version) ? &s->driver.version : NULL;
	bool running = fact_yes(&s->parts.nodes);

	if (!look_in_container(s) || look_is_wsl(s))
		return;
	if (!running) {
		/* A machine's disk that is mounted here has a driver by right, and its modules. */
		if (version && !s->driver.n_modules)
			stale_libs(j, version, NULL);
		return;
	}
	/* A compat libcuda has a rule of its own. */
	if (!module || look_cuda_works(s) || look_compat_libcuda(s) ||
	    (look_nvml_init(s) != 18 && (!version || fact_is(version, module->value))))
		return;
	/*
	 * The toolkit mounts each library as a file of its own; what shadows them is a second copy
	 * in the image. With one copy alone, that copy was mounted, when the container was started.
	 */
	if (version && s->driver.libcuda.shadowed.n && !s->container.deleted.n)
		stale_libs(j, version, module);
	else if (version || look_nvml_init(s) == 18)
		stale_mounts(j, version, module);
}

/* -------- shared memory */

static void run_shm_too_small(struct judge *j)
{
	enum { DOCKER_DEFAULT = 64 << 20 };
	const struct snapshot *s = j->s;
	struct finding *f;
	struct remedy *r;
	int64_t bytes;

	if (!look_in_container(s) || !fact_to_int(&s->host.shm_bytes, &bytes) ||
	    bytes > DOCKER_DEFAULT || (s->n_gpus < 2 && !look_deciding(s)))
		return;
	f = finding_add(j, FINDING_SHM_TOO_SMALL, _("this container"));
	finding_message(
		j, f,
		_("/dev/shm holds %lld MiB: data loaders with workers and NCCL between GPUs need "
		  "more."),
		(long long)(bytes >> 20));
	finding_fact(j, f, "host.shm_bytes", &s->host.shm_bytes, "> 67108864");
	r = finding_remedy(j, f, "%s", _("Start the container with more shared memory."));
	remedy_command(j, r, "docker run --gpus all --shm-size=8g IMAGE");
}

const struct rule rule_container_no_gpu_requested = {
	.name = "container-no-gpu-requested",
	.needs = NEED_CONTAINER | NEED_NODES,
	.layer = LAYER_CONTAINER,
	.run = run_container_no_gpu_requested,
};
const struct rule rule_container_capability_missing = {
	.name = "container-capability-missing",
	.needs = NEED_CONTAINER | NEED_NODES | NEED_USERLIB,
	.layer = LAYER_CONTAINER,
	.run = run_container_capability_missing,
};
const struct rule rule_container_device_access_revoked = {
	.name = "container-device-access-revoked",
	.needs = NEED_CONTAINER | NEED_NODES,
	.layer = LAYER_CONTAINER,
	.run = run_container_device_access_revoked,
};
const struct rule rule_container_device_nodes_missing = {
	.name = "container-device-nodes-missing",
	.needs = NEED_CONTAINER | NEED_NODES,
	.layer = LAYER_CONTAINER,
	.run = run_container_device_nodes_missing,
};
const struct rule rule_mig_caps_missing = {
	.name = "mig-caps-missing",
	.needs = NEED_CONTAINER | NEED_NODES | NEED_NVML,
	.layer = LAYER_CONTAINER,
	.run = run_mig_caps_missing,
};
const struct rule rule_container_driver_libs = {
	.name = "container-stale-driver-libs",
	.needs = NEED_CONTAINER | NEED_USERLIB,
	.layer = LAYER_CONTAINER,
	.run = run_container_driver_libs,
};
const struct rule rule_shm_too_small = {
	.name = "shm-too-small",
	.needs = NEED_CONTAINER,
	.layer = LAYER_CONTAINER,
	.run = run_shm_too_small,
};

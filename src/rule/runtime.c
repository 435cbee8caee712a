/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about what starts containers on a host. A host that runs its GPU work outside containers is
 * not blocked by them: they are warnings, and a runtime without any sign of GPU use is only told.
 */
#include <string.h>

#include "base/arena.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* A Linux host, or a WSL distribution, that has a GPU and may start containers. */
static bool starts_containers(const struct judge *j)
{
	const struct snapshot *s = j->s;

	return !look_in_container(s) && (look_is_linux_host(j) || look_is_wsl(s)) &&
	       (look_has_nvidia(s) || look_node(s, "dxg"));
}

/* Everywhere the same, from NVIDIA's repository. */
static const struct distro_names toolkit_names = {
	.debian = "nvidia-container-toolkit",
	.rhel = "nvidia-container-toolkit",
	.suse = "nvidia-container-toolkit",
	.arch = "nvidia-container-toolkit",
};

/* The toolkit's package comes from NVIDIA's repository, which has to be set up first. */
static void toolkit_remedy(struct judge *j, struct finding *f, bool install)
{
	struct remedy *r = finding_remedy(
		j, f, "%s",
		install ? _("Install the NVIDIA Container Toolkit (its repository: "
			    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/"
			    "latest/install-guide.html), register it with Docker and restart Docker.")
			: _("Register the toolkit with Docker and restart Docker."));

	if (install)
		distro_install(j, r, &toolkit_names);
	if (distro_family(j->s) == FAMILY_NIXOS) {
		remedy_command(j, r, "hardware.nvidia-container-toolkit.enable = true;");
	} else {
		remedy_command(j, r, "sudo nvidia-ctk runtime configure --runtime=docker");
		remedy_command(j, r, "sudo systemctl restart docker");
	}
	r->needs_root = true;
}

/* -------- toolkit missing */

static void run_container_toolkit_missing(struct judge *j)
{
	const struct runtime *d = &j->s->runtime;
	bool wanted = fact_known(&d->nvidia_runtime) || fact_is(&d->default_runtime, "nvidia");
	bool gone = fact_is(&d->nvidia_file, "no") ||
		    (fact_is(&d->default_runtime, "nvidia") && !fact_known(&d->nvidia_runtime));
	struct finding *f;

	if (!starts_containers(j) || (!fact_known(&d->docker) && !wanted) ||
	    fact_is(&d->docker_via, "snap"))
		return;
	if (wanted ? !gone : fact_known(&d->toolkit) || j->s->n_cdi)
		return;
	f = finding_add(j, FINDING_CONTAINER_TOOLKIT_MISSING, "docker");
	if (!wanted) {
		/* Perhaps no container here is meant to use the GPU. */
		f->severity = SEVERITY_INFO;
		finding_message(
			j, f, "%s",
			_("Docker is here without the NVIDIA Container Toolkit: `docker run "
			  "--gpus all` will not find a GPU."));
	} else if (fact_known(&d->nvidia_runtime)) {
		finding_message(
			j, f,
			_("%s names the runtime nvidia (%s), and that program is not there: the "
			  "NVIDIA Container Toolkit is not installed."),
			d->nvidia_runtime.source ? d->nvidia_runtime.source : "Docker",
			d->nvidia_runtime.value);
	} else {
		finding_message(
			j, f, "%s",
			_("Docker's default runtime is nvidia, and no runtime of that name is "
			  "configured."));
	}
	if (fact_known(&d->docker))
		finding_fact(j, f, "runtime.docker", &d->docker, NULL);
	if (fact_known(&d->nvidia_runtime))
		finding_fact(j, f, "runtime.nvidia_runtime", &d->nvidia_runtime,
			     _("a program that exists"));
	if (fact_known(&d->default_runtime))
		finding_fact(j, f, "runtime.default_runtime", &d->default_runtime, NULL);
	finding_fact(j, f, "runtime.toolkit", &d->toolkit, "nvidia-container-runtime");
	toolkit_remedy(j, f, !fact_known(&d->toolkit));
}

/* -------- control groups */

static void run_container_no_cgroups(struct judge *j)
{
	const struct runtime *d = &j->s->runtime;
	struct finding *f;
	struct remedy *r;

	/* Podman and Docker without root need it so. */
	if (!starts_containers(j) || !fact_yes(&d->no_cgroups) || fact_known(&d->rootless) ||
	    (!fact_known(&d->docker) && !fact_known(&d->kubelet)))
		return;
	f = finding_add(j, FINDING_CONTAINER_NO_CGROUPS,
			fact_known(&d->docker) ? "docker" : "kubelet");
	finding_message(
		j, f, "%s",
		_("The container toolkit is told to leave device permissions alone (no-cgroups = "
		  "true), which only containers without root need: here the nodes are passed in "
		  "and may not be opened."));
	finding_fact(j, f, "runtime.no_cgroups", &d->no_cgroups, "no");
	finding_fact(j, f, "runtime.docker", fact_known(&d->docker) ? &d->docker : &d->kubelet,
		     NULL);
	r = finding_remedy(j, f, "%s",
			   _("Switch it off; containers that are started from then on are right."));
	remedy_command(j, r,
		       "sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups=false "
		       "--in-place");
	r->needs_root = true;
	r->risk = RISK_SAFE;
}

static void run_container_cgroup_denied(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct runtime *d = &s->runtime;
	bool rootless = !look_in_container(s) && fact_known(&d->rootless);
	bool nested = fact_is(&s->container.kind, "lxc") && fact_yes(&s->container.rootless) &&
		      fact_known(&d->docker);
	struct finding *f;
	struct remedy *r;

	if ((!rootless && !nested) || !fact_known(&d->toolkit) || !fact_is(&d->no_cgroups, "no") ||
	    fact_is(&d->mode, "cdi"))
		return;
	f = finding_add(j, FINDING_CONTAINER_CGROUP_DENIED,
			rootless ? _("rootless Docker") : _("Docker in this container"));
	finding_message(
		j, f,
		rootless ? _("Docker runs without root here, and the container toolkit wants to "
			     "change device permissions, which only root may: containers with GPUs "
			     "will not start.")
			 : _("Docker runs inside an unprivileged container, where the container "
			     "toolkit may not change device permissions: containers with GPUs will "
			     "not start."));
	finding_fact(j, f, "runtime.no_cgroups", &d->no_cgroups, "yes");
	finding_fact(j, f, rootless ? "runtime.rootless" : "container.rootless",
		     rootless ? &d->rootless : &s->container.rootless, NULL);
	finding_inferred(f);
	r = finding_remedy(j, f, "%s",
			   _("Tell the toolkit to leave device permissions alone, or use CDI."));
	remedy_command(j, r,
		       "sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups --in-place");
	r->needs_root = true;
	r->risk = RISK_SAFE;
}

static void run_container_cgroup_v2_unsupported(struct judge *j)
{
	const struct runtime *d = &j->s->runtime;
	const struct fact *version = fact_known(&d->library_version) ? &d->library_version
								     : &d->toolkit_version;
	struct finding *f;

	/* The toolkit's own numbers and the library's went apart before 1.6. */
	if (!starts_containers(j) || !fact_is(&d->cgroup, "v2") || !fact_known(version) ||
	    !look_driver_below(version->value, "1.8"))
		return;
	f = finding_add(j, FINDING_CONTAINER_CGROUP_V2_UNSUPPORTED, "libnvidia-container");
	f->severity = SEVERITY_WARNING;
	finding_message(j, f,
			_("This host uses control groups v2, which libnvidia-container knows from "
			  "1.8 on; here it is %s."),
			version->value);
	finding_fact(j, f, "runtime.cgroup", &d->cgroup, NULL);
	finding_fact(j, f, "runtime.library_version", version, ">= 1.8");
	toolkit_remedy(j, f, true);
}

/* -------- snap */

static void run_docker_snap_confinement(struct judge *j)
{
	const struct runtime *d = &j->s->runtime;
	struct finding *f;
	struct remedy *r;

	if (!starts_containers(j) || !fact_is(&d->docker_via, "snap"))
		return;
	f = finding_add(j, FINDING_DOCKER_SNAP_CONFINEMENT, "docker");
	finding_message(j, f, "%s",
			_("Docker comes from a snap, whose confinement hides the host's driver "
			  "libraries from the container toolkit."));
	finding_fact(j, f, "runtime.docker", &d->docker, "/usr/bin/dockerd");
	if (fact_known(&d->toolkit))
		finding_fact(j, f, "runtime.toolkit", &d->toolkit, NULL);
	r = finding_remedy(
		j, f, "%s",
		_("Replace the snap by Docker's own packages (images and volumes of the snap stay "
		  "behind: save what you need first), then install the container toolkit."));
	remedy_command(j, r, "sudo snap remove docker");
	distro_install(j, r,
		       &(struct distro_names){ .debian = "docker.io nvidia-container-toolkit",
					       .rhel = "docker-ce nvidia-container-toolkit",
					       .fedora = "moby-engine nvidia-container-toolkit",
					       .suse = "docker nvidia-container-toolkit",
					       .arch = "docker nvidia-container-toolkit" });
	remedy_command(j, r, "sudo nvidia-ctk runtime configure --runtime=docker");
	remedy_command(j, r, "sudo systemctl restart docker");
	r->needs_root = true;
	r->risk = RISK_DESTROYS;
}

/* -------- CDI */

static void run_cdi_spec_stale(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *driver = look_driver(s);
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!starts_containers(j))
		return;
	for (i = 0; i < s->n_cdi; i++) {
		const struct cdi *c = &s->cdi[i];
		bool other = driver && !look_is_wsl(s) && fact_known(&c->version) &&
			     !fact_is(&c->version, driver->value);

		if (!other && !fact_known(&c->missing))
			continue;
		f = finding_add(j, FINDING_CDI_SPEC_STALE, c->path.value);
		if (other)
			finding_message(
				j, f,
				_("The CDI specification %s was made for driver %s, and the "
				  "driver is %s: containers that ask for it will not start."),
				c->path.value, c->version.value, driver->value);
		else
			finding_message(
				j, f,
				_("The CDI specification %s names files that are gone (%s): "
				  "containers that ask for it will not start."),
				c->path.value, c->missing.value);
		if (fact_known(&c->version))
			finding_fact(j, f, "cdi.version", &c->version,
				     driver ? driver->value : NULL);
		if (fact_known(&c->missing))
			finding_fact(j, f, "cdi.missing", &c->missing, _("a file that exists"));
		r = finding_remedy(j, f, "%s", _("Write the specification anew for this driver."));
		remedy_command(j, r, "sudo nvidia-ctk cdi generate --output=%s",
			       shell_word(j->a, c->path.value));
		r->needs_root = true;
		r->risk = RISK_SAFE;
		r = finding_remedy(
			j, f, "%s",
			_("From toolkit 1.18 on a service keeps it up to date by itself."));
		remedy_command(j, r, "sudo systemctl enable --now nvidia-cdi-refresh.path");
		r->needs_root = true;
	}
}

/* -------- releases with a known fault */

/* The four packages of one release, which depend on each other. */
static void downgrade(struct judge *j, struct remedy *r, const char *v)
{
	const char *apt = arena_printf(j->a,
				       "--allow-downgrades nvidia-container-toolkit=%s-1 "
				       "nvidia-container-toolkit-base=%s-1 "
				       "libnvidia-container-tools=%s-1 libnvidia-container1=%s-1",
				       v, v, v, v);
	const char *rpm = arena_printf(j->a,
				       "nvidia-container-toolkit-%s "
				       "nvidia-container-toolkit-base-%s "
				       "libnvidia-container-tools-%s libnvidia-container1-%s",
				       v, v, v, v);

	distro_install(
		j, r,
		&(struct distro_names){ .debian = apt,
					.rhel = rpm,
					.suse = arena_printf(j->a, "--oldpackage %s", rpm) });
}

static void run_container_toolkit_regression(struct judge *j)
{
	static const struct {
		const char *version, *effect, *good, *source;
	} rows[] = {
		{ .version = "1.17.7",
		  .effect = N_("containers of enroot and of Slurm do not start"),
		  .good = "1.17.8",
		  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/1091" },
		{ .version = "1.19.1",
		  .effect = N_("cuInit gives 999 in containers that work with 1.19.0"),
		  .good = "1.19.0",
		  .source = "https://github.com/NVIDIA/nvidia-container-toolkit/issues/1967" },
	};
	const struct runtime *d = &j->s->runtime;
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!starts_containers(j) || !fact_known(&d->toolkit_version))
		return;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		if (!fact_is(&d->toolkit_version, rows[i].version))
			continue;
		f = finding_add(j, FINDING_CONTAINER_TOOLKIT_REGRESSION,
				"nvidia-container-toolkit");
		finding_message(j, f, _("NVIDIA Container Toolkit %s has a known fault: %s."),
				rows[i].version, _(rows[i].effect));
		finding_fact(j, f, "runtime.toolkit_version", &d->toolkit_version, rows[i].good);
		finding_evidence(j, f, "report", rows[i].version, NULL, rows[i].source);
		finding_inferred(f);
		r = finding_remedy(j, f, _("If that is seen here, install release %s and hold it."),
				   rows[i].good);
		downgrade(j, r, rows[i].good);
		r->needs_root = true;
	}
}

/* A rule that reads files of the host alone: without them there is nothing that it could pass. */
#define HOST_RULE(id, name_)                                      \
	const struct rule rule_##id = { .name = name_,            \
					.needs = NEED_CONTAINER,  \
					.layer = LAYER_CONTAINER, \
					.run = run_##id }
HOST_RULE(container_toolkit_missing, "container-toolkit-missing");
HOST_RULE(container_no_cgroups, "container-no-cgroups");
HOST_RULE(container_cgroup_denied, "container-cgroup-denied");
HOST_RULE(container_cgroup_v2_unsupported, "container-cgroup-v2-unsupported");
HOST_RULE(docker_snap_confinement, "docker-snap-confinement");
HOST_RULE(cdi_spec_stale, "cdi-spec-stale");
HOST_RULE(container_toolkit_regression, "container-toolkit-regression");

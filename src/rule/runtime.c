/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about a host's container runtimes: they bite containers alone, so that they warn. */
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

static void run_cdi_spec_stale(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *driver = &s->driver.version;
	struct finding *f;
	struct remedy *r;
	size_t i;

	for (i = 0; i < s->n_cdi; i++) {
		const struct cdi *c = &s->cdi[i];
		bool other = fact_known(&c->version) && fact_known(driver) &&
			     !fact_is(&c->version, driver->value);

		if (!other && !fact_known(&c->missing))
			continue;
		f = finding_add(j, FINDING_CDI_SPEC_STALE, fact_value(&c->path, "CDI"));
		if (other)
			finding_message(
				j, f,
				_("The CDI specification was made for driver %s, and the driver "
				  "is %s: containers "
				  "are given files that are gone."),
				c->version.value, driver->value);
		else
			finding_message(j, f, _("The CDI specification names %s, which is gone."),
					c->missing.value);
		finding_fact(j, f, "cdi.path", &c->path, NULL);
		if (fact_known(&c->version))
			finding_fact(j, f, "cdi.version", &c->version, fact_value(driver, NULL));
		if (fact_known(&c->missing))
			finding_fact(j, f, "cdi.missing", &c->missing, NULL);
		r = finding_remedy(
			j, f, "%s",
			_("Make the specification anew, and after every change of the driver."));
		remedy_command(j, r, "sudo nvidia-ctk cdi generate --output=%s",
			       shell_word(j->a, fact_value(&c->path, "/etc/cdi/nvidia.yaml")));
		r->needs_root = true;
	}
}

static void run_container_no_cgroups(struct judge *j)
{
	const struct runtime *rt = &j->s->runtime;
	struct finding *f;
	struct remedy *r;

	/* A rootless runtime may not change the device cgroup, and has to have it so. */
	if (!fact_yes(&rt->no_cgroups) || look_in_container(j->s) || fact_known(&rt->rootless) ||
	    !fact_known(&rt->docker))
		return;
	f = finding_add(j, FINDING_CONTAINER_NO_CGROUPS,
			rt->no_cgroups.source ? rt->no_cgroups.source : "config.toml");
	finding_message(
		j, f, "%s",
		_("no-cgroups = true with a Docker that runs as root: containers are not allowed "
		  "to open the "
		  "GPU's device nodes."));
	finding_fact(j, f, "runtime.no_cgroups", &rt->no_cgroups, "no");
	finding_fact(j, f, "runtime.docker", &rt->docker, NULL);
	r = finding_remedy(j, f, "%s", _("Set it back and start Docker anew."));
	remedy_command(
		j, r,
		"sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups=false --in-place");
	remedy_command(j, r, "sudo systemctl restart docker");
	r->needs_root = true;
}

static void run_container_toolkit_missing(struct judge *j)
{
	const struct runtime *rt = &j->s->runtime;
	bool named = fact_is(&rt->default_runtime, "nvidia") || fact_known(&rt->nvidia_runtime);
	struct finding *f;
	struct remedy *r;

	if (!named || look_in_container(j->s) ||
	    (!fact_no(&rt->nvidia_file) && rt->toolkit.state != FACT_ABSENT))
		return;
	f = finding_add(j, FINDING_CONTAINER_TOOLKIT_MISSING, fact_value(&rt->config, "Docker"));
	finding_message(
		j, f, "%s",
		_("Docker's configuration names the nvidia runtime, and the NVIDIA Container "
		  "Toolkit is not "
		  "installed."));
	finding_fact(j, f, "runtime.config", &rt->config, NULL);
	if (fact_known(&rt->nvidia_runtime))
		finding_fact(j, f, "runtime.nvidia_runtime", &rt->nvidia_runtime, NULL);
	finding_fact(j, f, "runtime.toolkit", &rt->toolkit, "nvidia-container-toolkit");
	r = finding_remedy(
		j, f, "%s",
		_("Install the toolkit from NVIDIA's repository "
		  "(https://docs.nvidia.com/datacenter/"
		  "cloud-native/container-toolkit/latest/install-guide.html), let it write the "
		  "configuration, and start Docker anew."));
	remedy_command(j, r, "sudo apt-get install nvidia-container-toolkit");
	remedy_command(j, r, "sudo nvidia-ctk runtime configure --runtime=docker");
	remedy_command(j, r, "sudo systemctl restart docker");
	r->needs_root = true;
}

const struct rule rule_cdi_spec_stale = {
	.name = "cdi-spec-stale",
	.needs = NEED_CONTAINER,
	.layer = LAYER_CONTAINER,
	.run = run_cdi_spec_stale,
};
const struct rule rule_container_no_cgroups = {
	.name = "container-no-cgroups",
	.needs = NEED_CONTAINER,
	.layer = LAYER_CONTAINER,
	.run = run_container_no_cgroups,
};
const struct rule rule_container_toolkit_missing = {
	.name = "container-toolkit-missing",
	.needs = NEED_CONTAINER,
	.layer = LAYER_CONTAINER,
	.run = run_container_toolkit_missing,
};

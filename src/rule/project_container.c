/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about how project files set up a container: what it sees of the GPU and of the driver. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "rule/project.h"
#include "rule/rules.h"

static bool in_list(const char *list, const char *word)
{
	struct view rest = view_of(list), one;

	while (rest.n) {
		one = view_trim(view_cut(rest, ',', &rest));
		if (view_is_nocase(one, word))
			return true;
	}
	return false;
}

/* Is there anything in this container that wants a GPU? */
static bool wants_gpu(const struct planned *p)
{
	const char *family = fact_value(&p->image_family, "");

	if (fact_yes(&p->gpus) || fact_is(&p->gpus, "runtime") ||
	    (fact_known(&p->image_cuda) && *p->image_cuda.value))
		return true;
	if (strcmp(family, "ngc") == 0 || strcmp(family, "vllm") == 0 ||
	    strcmp(family, "tgi") == 0 || strcmp(family, "sglang") == 0)
		return true;
	return p->n_packages > 0;
}

/* -------- capabilities */

static void capability_finding(struct judge *j, const struct planned *p, const struct fact *line,
			       const char *remedy, const char *command)
{
	const char *first = arena_strndup(j->a, line->value, strcspn(line->value, ","));
	struct finding *f = project_finding(j, FINDING_CONTAINER_CAPABILITY_MISSING, p,
					    "NVIDIA_DRIVER_CAPABILITIES", line, "compute");
	struct remedy *r;

	finding_message(
		j, f,
		_("The driver capabilities are %s, without compute: libcuda is not put into the "
		  "container."),
		line->value);
	r = finding_remedy(j, f, "%s", remedy);
	remedy_command(j, r, "%s", command);
	r->risk = RISK_SAFE;
	if (strchr(command, '=')) {
		remedy_correct(j, r, line,
			       arena_printf(j->a, "NVIDIA_DRIVER_CAPABILITIES=%s", line->value),
			       arena_printf(j->a, "NVIDIA_DRIVER_CAPABILITIES=compute,%s",
					    line->value));
	} else {
		remedy_correct(j, r, line, first, arena_printf(j->a, "%s, compute", first));
		r->corrections->kind = CORRECT_FLOW;
	}
}

static void capabilities(struct judge *j, const struct planned *p)
{
	const struct var *v = project_var(p, "NVIDIA_DRIVER_CAPABILITIES");
	const char *c = fact_value(&p->capabilities, NULL);

	if (v && *v->value.value && !in_list(v->value.value, "compute") &&
	    !in_list(v->value.value, "all") && wants_gpu(p)) {
		capability_finding(j, p, &v->value, _("Name compute (and utility for nvidia-smi)."),
				   "NVIDIA_DRIVER_CAPABILITIES=compute,utility");
		return;
	}
	/* "gpu" alone gives the default; beside others it gives only these. */
	if (!c || in_list(c, "compute") || in_list(c, "all"))
		return;
	if (strcmp(c, "gpu") != 0 && strcmp(c, "nvidia") != 0 &&
	    (in_list(c, "utility") || in_list(c, "graphics") || in_list(c, "video") ||
	     in_list(c, "display")))
		capability_finding(
			j, p, &p->capabilities,
			_("Ask for [gpu] alone, which gives utility and compute, or add compute."),
			"capabilities: [gpu, compute, utility]");
}

/* -------- visible devices */

static long least(long a, long b)
{
	return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

/* Does this list name no device at all? count -1: not known how many there are. */
static bool names_none(const char *value, long count)
{
	struct view rest, first = view_trim(view_cut(view_of(value), ',', &rest));
	uint64_t n;

	if (!first.n || view_is(first, "-1") || view_is_nocase(first, "none") ||
	    view_is_nocase(first, "void") || view_is_nocase(first, "NoDevFiles"))
		return true;
	return view_u64(first, 10, &n) && count >= 0 && n >= (uint64_t)count;
}

static void hidden(struct judge *j, const struct planned *p, const struct var *v, const char *write)
{
	struct finding *f = project_finding(j, FINDING_VISIBLE_DEVICES_WRONG, p, v->name.value,
					    &v->value, NULL);
	struct remedy *r;

	finding_message(j, f, _("%s=%s names no GPU that the container has: none is visible."),
			v->name.value, v->value.value);
	if (fact_known(&p->gpu_count))
		finding_fact(j, f, "gpu_count", &p->gpu_count, NULL);
	r = finding_remedy(
		j, f, "%s",
		_("Inside a container the GPUs that were given count from 0: leave the variable "
		  "out (remove it), or name those."));
	remedy_command(j, r, "%s=%s", v->name.value, write);
	r->risk = RISK_SAFE;
}

static void visible(struct judge *j, const struct planned *p)
{
	const struct var *cuda = project_var(p, "CUDA_VISIBLE_DEVICES");
	const struct var *nv = project_var(p, "NVIDIA_VISIBLE_DEVICES");
	long declared = j->s->n_gpus ? (long)j->s->n_gpus : -1, given = -1;
	int64_t n;

	if (!wants_gpu(p) || fact_no(&p->final) || fact_yes(&p->hosted))
		return;
	if (fact_to_int(&p->gpu_count, &n))
		given = (long)n;
	if (nv && names_none(nv->value.value, declared)) {
		/* A device request of the runtime wins over the image's variable. */
		if (!fact_yes(&p->gpus) || fact_is(&p->kind, "dockerfile")) {
			hidden(j, p, nv, "all");
			return;
		}
	}
	if (cuda && names_none(cuda->value.value, least(given, declared)))
		hidden(j, p, cuda, "0");
}

/* -------- no GPU asked for */

static void not_requested(struct judge *j, const struct planned *p)
{
	const char *family = fact_value(&p->image_family, "");
	const struct var *nv = project_var(p, "NVIDIA_VISIBLE_DEVICES");
	struct finding *f;
	struct remedy *r;
	bool gpu_image = strcmp(family, "nvidia/cuda") == 0 || strcmp(family, "vllm") == 0 ||
			 strcmp(family, "tgi") == 0 || strcmp(family, "sglang") == 0 ||
			 (strcmp(family, "pytorch") == 0 && fact_known(&p->image_cuda));

	if (!fact_no(&p->gpus) || !gpu_image || nv || !j->s->n_gpus || !look_has_nvidia(j->s))
		return;
	f = project_finding(j, FINDING_CONTAINER_NO_GPU_REQUESTED, p, "image", &p->image, NULL);
	finding_message(
		j, f, "%s",
		_("The container holds a GPU stack and asks for no GPU: it starts without one."));
	if (fact_is(&p->kind, "kubernetes")) {
		r = finding_remedy(j, f, "%s", _("Ask for one in the container's limits."));
		remedy_command(j, r, "resources:\n  limits:\n    nvidia.com/gpu: 1");
	} else if (fact_is(&p->kind, "devcontainer")) {
		r = finding_remedy(j, f, "%s", _("Start it with the GPUs."));
		remedy_command(j, r, "\"runArgs\": [\"--gpus\", \"all\"]");
	} else {
		r = finding_remedy(j, f, "%s", _("Give the service the GPUs."));
		remedy_command(j, r, "gpus: all");
	}
	r->risk = RISK_SAFE;
}

/* The nvidia runtime gives a container what NVIDIA_VISIBLE_DEVICES says: unset it is plain runc. */
static void runtime_alone(struct judge *j, const struct planned *p)
{
	struct finding *f;
	struct remedy *r;

	if (!fact_is(&p->gpus, "runtime") || !fact_yes(&p->image_bare) || !look_has_nvidia(j->s) ||
	    fact_is(&p->kind, "kubernetes") || project_var(p, "NVIDIA_VISIBLE_DEVICES"))
		return;
	f = project_finding(j, FINDING_CONTAINER_NO_GPU_REQUESTED, p, "runtime", &p->gpus, NULL);
	finding_message(
		j, f,
		_("The nvidia runtime gives the GPUs that NVIDIA_VISIBLE_DEVICES names, and "
		  "neither the service nor the image %s sets it: there is none."),
		p->image.value);
	finding_fact(j, f, "image", &p->image, NULL);
	r = finding_remedy(j, f, "%s", _("Set the variable, or ask for the GPUs instead."));
	remedy_command(j, r, "environment: [NVIDIA_VISIBLE_DEVICES=all]");
	remedy_command(j, r, "gpus: all");
	r->risk = RISK_SAFE;
}

/* -------- driver files in the image */

static void own_driver(struct judge *j, const struct planned *p)
{
	const struct deed *d = project_deed(p, "driver");
	struct finding *f;

	if (!d || (!fact_known(&p->image) && p->image.state != FACT_BROKEN) || !fact_yes(&p->final))
		return;
	f = project_finding(j, FINDING_CONTAINER_STALE_DRIVER_LIBS, p, "driver", &d->what, NULL);
	finding_message(
		j, f,
		_("%s puts driver files into the image; the host's are put in when the container "
		  "starts, and two drivers do not go together."),
		d->what.value);
	if (look_driver(j->s))
		finding_fact(j, f, "driver.version", look_driver(j->s), NULL);
	finding_remedy(
		j, f,
		_("Remove %s: the driver belongs to the host and comes in through the NVIDIA Container "
		  "Toolkit; for a toolkit take cuda-toolkit-X-Y, which has no driver."),
		d->what.value)
		->risk = RISK_SAFE;
}

/* -------- LD_LIBRARY_PATH */

static void stubs(struct judge *j, const struct planned *p, const struct var *path)
{
	struct finding *f = project_finding(j, FINDING_LIBCUDA_STUB_LOADED, p, "LD_LIBRARY_PATH",
					    &path->value, NULL);

	finding_message(
		j, f, "%s",
		_("LD_LIBRARY_PATH holds the folder of stubs: the stub of libcuda is taken in place of "
		  "the driver's (error 34)."));
	finding_remedy(j, f, "%s",
		       _("Remove the folder from LD_LIBRARY_PATH; for linking name it with -L or "
			 "LIBRARY_PATH."))
		->risk = RISK_SAFE;
}

static bool all_data_center(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);

		if (!row || !row->gpu_class)
			return true;
		if (strcmp(row->gpu_class, "datacenter") != 0)
			return false;
	}
	return true;
}

/* Driver branch of the image's cuda-compat. */
static long compat_branch(struct judge *j, const char *cuda)
{
	struct version v;
	int64_t n;
	size_t i;

	if (!cuda || !version_prefix(view_of(cuda), &v) || v.n < 2)
		return 0;
	i = compat_find(j->c, "forward_compat", 0, "package",
			arena_printf(j->a, "%u.%u", v.part[0], v.part[1]));
	if (i >= compat_count(j->c, "forward_compat") ||
	    !json_get_int(compat_row(j->c, "forward_compat", i), "branch", &n))
		return 0;
	return (long)n;
}

static void compat_path(struct judge *j, const struct planned *p, const struct var *path)
{
	const struct deed *d = project_deed(p, "compat");
	const char *cuda = d && fact_known(&d->version) ? d->version.value
							: fact_value(&p->image_cuda, NULL);
	const struct fact *driver = look_driver(j->s);
	long branch = compat_branch(j, cuda), host = driver ? (long)look_branch(driver->value) : 0;
	enum finding_id id;
	struct finding *f;

	if (!branch || !host || branch == host)
		return;
	if (branch > host && (!j->s->n_gpus || all_data_center(j)))
		return;
	id = branch > host ? FINDING_CUDA_COMPAT_UNSUPPORTED_GPU
			   : FINDING_CUDA_COMPAT_OLDER_THAN_DRIVER;
	f = project_finding(j, id, p, "LD_LIBRARY_PATH", &path->value, NULL);
	if (branch > host)
		finding_message(
			j, f,
			_("cuda-compat of CUDA %s (driver %ld) is put in front of the host's libcuda "
			  "(%s); this GPU has no forward compatibility: error 804."),
			cuda, branch, driver->value);
	else
		finding_message(
			j, f,
			_("cuda-compat of CUDA %s (driver %ld) is put in front of the host's newer "
			  "libcuda (%s): error 803."),
			cuda, branch, driver->value);
	finding_fact(j, f, "driver.version", driver, NULL);
	finding_remedy(
		j, f, "%s",
		_("Remove the compat folder from LD_LIBRARY_PATH: where it is of use, the container "
		  "toolkit puts it there by itself."))
		->risk = RISK_SAFE;
	if (branch > host)
		project_fix_driver(j, f, cuda);
}

static bool path_has(const char *path, const char *part)
{
	struct view rest = view_of(path), one;

	while (rest.n) {
		one = view_cut(rest, ':', &rest);
		while (one.n && one.p[one.n - 1] == '/')
			one.n--;
		if (view_ends(one, part))
			return true;
	}
	return false;
}

static void library_path(struct judge *j, const struct planned *p)
{
	const struct var *path = project_var(p, "LD_LIBRARY_PATH");

	if (!path || !fact_yes(&p->final))
		return;
	/* Images without a toolkit hold no folder of stubs. */
	if (path_has(path->value.value, "/stubs") &&
	    (!fact_is(&p->image_family, "nvidia/cuda") || fact_is(&p->image_flavor, "devel") ||
	     project_deed(p, "toolkit")))
		stubs(j, p, path);
	if (path_has(path->value.value, "/compat") && strstr(path->value.value, "cuda"))
		compat_path(j, p, path);
}

static void run_project_container(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->s->n_projects; i++) {
		const struct planned *p = &j->s->projects[i];

		if (look_is_windows(j->s) && !fact_known(&p->image))
			continue;
		capabilities(j, p);
		visible(j, p);
		not_requested(j, p);
		runtime_alone(j, p);
		own_driver(j, p);
		library_path(j, p);
	}
}

const struct rule rule_project_container = {
	.name = "project-container",
	.needs = NEED_PROJECT,
	.layer = LAYER_CONTAINER,
	.run = run_project_container,
};

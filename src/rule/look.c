/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about the place and the driver that several rules ask; the GPUs and environments are in
 * look_*.c. */
#include "rule/look.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

bool look_is_wsl(const struct snapshot *s)
{
	return fact_is(&s->host.system, "wsl1") || fact_is(&s->host.system, "wsl2");
}

bool look_is_windows(const struct snapshot *s)
{
	return look_is_wsl(s) || fact_is(&s->host.system, "windows");
}

bool look_in_container(const struct snapshot *s)
{
	return fact_known(&s->container.kind) && !fact_is(&s->container.kind, "none");
}

bool look_is_tegra(const struct judge *j)
{
	const struct snapshot *s = j->s;
	size_t i;

	for (i = 0; i < s->n_gpus; i++) {
		int cc = look_cc(&s->gpus[i]);

		if (!fact_known(&s->gpus[i].pci_id) &&
		    (cc == 53 || cc == 62 || cc == 72 || cc == 87))
			return true;
	}
	return strstr(fact_value(&s->host.kernel, ""), "tegra") != NULL;
}

bool look_is_linux_host(const struct judge *j)
{
	const struct snapshot *s = j->s;

	if (look_is_windows(s) || look_in_container(s) || look_is_tegra(j))
		return false;
	return !fact_known(&s->host.system) || fact_is(&s->host.system, "linux");
}

bool look_bus_without_gpu(const struct judge *j)
{
	const struct snapshot *s = j->s;
	const char *env = snapshot_env(s, "NVIDIA_VISIBLE_DEVICES");
	int64_t n;

	if (!look_in_container(s) || look_is_windows(s) || look_is_tegra(j) ||
	    look_has_nvidia(s) || !fact_is(&s->source, "live"))
		return false;
	if (env && (!*env || strcmp(env, "void") == 0 || strcmp(env, "none") == 0))
		return false;
	return fact_to_int(&s->host.pci_devices, &n) && n > 0;
}

const char *look_platform(const struct snapshot *s)
{
	const char *arch = fact_value(&s->host.arch, "x86_64");

	if (fact_is(&s->host.system, "windows"))
		return "windows_x86_64";
	if (fact_is(&s->host.system, "macos"))
		return "macos_arm64";
	return strcmp(arch, "aarch64") == 0 || strcmp(arch, "arm64") == 0 ? "linux_aarch64"
									   : "linux_x86_64";
}

/* -------- the driver */

/* The nvidia module on disk for the running kernel; else, with one version on disk, any. */
static const struct module *disk_module(const struct snapshot *s)
{
	const struct driver *d = &s->driver;
	const struct module *any = NULL;
	size_t i;

	for (i = 0; i < d->n_modules; i++) {
		const struct module *m = &d->modules[i];

		if (!fact_is(&m->name, "nvidia") || !fact_known(&m->path))
			continue;
		if (!fact_known(&m->kernel) || !fact_known(&s->host.kernel) ||
		    fact_is(&m->kernel, s->host.kernel.value))
			return m;
		any = m;
	}
	return any;
}

const struct fact *look_driver(const struct snapshot *s)
{
	const struct module *m = disk_module(s);

	if (fact_known(&s->driver.version))
		return &s->driver.version;
	if (fact_known(&s->driver.nvml_driver))
		return &s->driver.nvml_driver;
	if (m && fact_known(&m->version))
		return &m->version;
	if (!look_is_wsl(s) && !look_compat_libcuda(s) && fact_known(&s->driver.libcuda.version))
		return &s->driver.libcuda.version;
	return NULL;
}

const struct fact *look_cuda_driver(const struct snapshot *s)
{
	if (look_is_wsl(s) && fact_known(&s->driver.windows_driver))
		return &s->driver.windows_driver;
	return look_driver(s);
}

const struct fact *look_driver_or_skip(struct judge *j)
{
	const struct fact *driver = look_cuda_driver(j->s);

	if (look_is_tegra(j))
		return NULL;
	if (!driver)
		judge_skip(j, "driver.version", "%s", _("the driver's version is not known"));
	return driver;
}

const struct fact *look_flavor(const struct snapshot *s)
{
	const struct module *m = disk_module(s);

	if (fact_known(&s->driver.flavor))
		return &s->driver.flavor;
	return m && fact_known(&m->flavor) ? &m->flavor : NULL;
}

const char *look_ceiling(struct judge *j, struct fact *ret_fact, bool *ret_inferred)
{
	const struct fact *v = look_cuda_driver(j->s);
	const char *cuda;

	*ret_inferred = false;
	if (fact_known(&j->s->driver.cuda_ceiling)) {
		*ret_fact = j->s->driver.cuda_ceiling;
		return ret_fact->value;
	}
	if (!v)
		return NULL;
	cuda = compat_driver_cuda(j->c, v->value);
	if (!cuda)
		return NULL;
	*ret_inferred = true;
	fact_set(ret_fact, cuda,
		 v->source && strcmp(v->source, "assumed") == 0 ? "assumed" : "matrix driver");
	return cuda;
}

bool look_module_loaded(const struct snapshot *s)
{
	return fact_yes(&s->driver.module_loaded) ||
	       driver_loaded_module(&s->driver, "nvidia") != NULL;
}

bool look_driver_installed(const struct snapshot *s)
{
	const struct driver *d = &s->driver;

	return fact_yes(&d->installed) || look_module_loaded(s) || disk_module(s) != NULL ||
	       (fact_known(&d->libcuda.path) && !strstr(d->libcuda.path.value, "/stubs/") &&
		!look_compat_libcuda(s)) ||
	       fact_known(&d->libnvml.path);
}

bool look_compat_libcuda(const struct snapshot *s)
{
	const struct library *l = &s->driver.libcuda;

	return strstr(fact_value(&l->path, ""), "/compat") != NULL ||
	       strstr(fact_value(&l->real, ""), "/compat") != NULL;
}

static long code_of(const struct fact *f)
{
	int64_t n;

	return fact_to_int(f, &n) && n >= 0 && n < 100000 ? (long)n : -1;
}

long look_cuda_init(const struct snapshot *s)
{
	return code_of(&s->driver.cuda_init);
}

long look_nvml_init(const struct snapshot *s)
{
	return code_of(&s->driver.nvml_init);
}

bool look_cuda_works(const struct snapshot *s)
{
	return look_cuda_init(s) == 0;
}

bool look_cuda_failed(const struct snapshot *s)
{
	return look_cuda_init(s) > 0 || fact_known(&s->driver.cuda_end);
}

const struct node *look_node(const struct snapshot *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n_nodes; i++)
		/* A plain file in its place is no node: a mount gone wrong. */
		if (fact_is(&s->nodes[i].name, name) && !fact_is(&s->nodes[i].type, "other"))
			return &s->nodes[i];
	return NULL;
}

bool look_driver_below(const char *driver, const char *least)
{
	struct version a, b;

	if (!driver || !least || !version_prefix(view_of(driver), &a) ||
	    !version_prefix(view_of(least), &b))
		return false;
	return a.n == 1 ? a.part[0] < b.part[0] : version_cmp(&a, &b) < 0;
}

unsigned look_branch(const char *version)
{
	struct version v;

	return version && version_prefix(view_of(version), &v) ? v.part[0] : 0;
}

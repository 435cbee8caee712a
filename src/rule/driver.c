/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the driver's libraries: is libcuda there, the right one, and of the module's version.
 */
#include <string.h>

#include "base/arena.h"
#include "rule/distro.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* -------- the link-time stub */

static void run_libcuda_stub_loaded(struct judge *j)
{
	const struct library *l = &j->s->driver.libcuda;
	bool by_path = strstr(fact_value(&l->path, ""), "/stubs/") ||
		       strstr(fact_value(&l->real, ""), "/stubs/");
	const struct fact *path = snapshot_env_fact(j->s, "LD_LIBRARY_PATH");
	struct finding *f;
	struct remedy *r;

	if (!by_path && look_cuda_init(j->s) != 34)
		return;
	f = finding_add(j, FINDING_LIBCUDA_STUB_LOADED, fact_value(&l->path, "libcuda.so.1"));
	finding_message(
		j, f,
		_("The loader takes %s, the toolkit's stub for linking, which holds no driver "
		  "(error 34)."),
		fact_value(&l->path, "libcuda.so.1"));
	if (by_path)
		finding_fact(j, f, "driver.libcuda.path", &l->path, _("the driver's libcuda.so.1"));
	if (fact_known(&j->s->driver.cuda_init))
		finding_fact(j, f, "driver.cuda_init", &j->s->driver.cuda_init, "0");
	if (path && strstr(path->value, "stubs")) {
		finding_fact(j, f, "LD_LIBRARY_PATH", path, _("without a stubs directory"));
		r = finding_remedy(
			j, f, "%s",
			_("Take the stubs directory out of LD_LIBRARY_PATH; it belongs to the "
			  "linker's "
			  "-L alone."));
		remedy_command(
			j, r,
			"export LD_LIBRARY_PATH=$(printf %%s \"$LD_LIBRARY_PATH\" | tr : '\\n' | "
			"grep -v stubs | "
			"paste -sd:)");
	} else {
		r = finding_remedy(
			j, f, "%s",
			_("Take the stubs directory out of /etc/ld.so.conf.d and renew the "
			  "loader's "
			  "cache."));
		remedy_command(j, r, "grep -rn stubs /etc/ld.so.conf /etc/ld.so.conf.d");
		remedy_command(j, r, "sudo ldconfig");
		r->needs_root = true;
	}
}

/* -------- libcuda of a compat package */

/* GPU classes to which forward compatibility is given. */
static bool forward_compatible(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++) {
		const struct gpu_row *row = look_gpu_row(j, &j->s->gpus[i]);

		if (!look_gpu_used(j->s, i))
			continue;
		if (!row || !row->gpu_class)
			return true; /* not known is no verdict */
		if (strcmp(row->gpu_class, "datacenter") != 0 &&
		    strcmp(row->gpu_class, "tegra") != 0 &&
		    strcmp(row->gpu_class, "workstation") != 0)
			return false;
	}
	return true;
}

static void compat_finding(struct judge *j, enum finding_id id, const struct fact *module)
{
	const struct library *l = &j->s->driver.libcuda;
	bool older = id == FINDING_CUDA_COMPAT_OLDER_THAN_DRIVER;
	struct finding *f = finding_add(j, id, fact_value(&l->path, "libcuda.so.1"));
	struct remedy *r;

	finding_message(
		j, f,
		older ? _("The compat libcuda %s is older than the driver %s and shadows the "
			  "driver's own (error "
			  "803).")
	: look_cuda_init(j->s) == 803
		      ? _("The compat libcuda %s is newer than the driver %s and is not made for "
			  "that branch (error 803).")
		      : _("The compat libcuda %s is newer than the driver %s, and the GPU here "
			  "has no forward "
			  "compatibility (error 804)."),
		fact_value(&l->version, "?"), module->value);
	finding_fact(j, f, "driver.libcuda.version", &l->version, module->value);
	finding_fact(j, f, "driver.libcuda.path", &l->path, NULL);
	finding_fact(j, f, "driver.version", module, NULL);
	r = finding_remedy(
		j, f, "%s",
		_("Take the compat directory out of LD_LIBRARY_PATH and the loader's "
		  "configuration; "
		  "without it the driver's own libcuda is used."));
	remedy_command(
		j, r,
		"export LD_LIBRARY_PATH=$(printf %%s \"$LD_LIBRARY_PATH\" | tr : '\\n' | grep -v "
		"compat | "
		"paste -sd:)");
}

static void run_cuda_compat(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *version = &s->driver.libcuda.version, *module = &s->driver.version;
	int order;

	if (!look_compat_libcuda(s) || look_cuda_works(s))
		return;
	if (!fact_known(version) || !fact_known(module)) {
		judge_skip(j, "driver.libcuda.version", "%s",
			   _("the compat library's or the driver's version is not known"));
		return;
	}
	order = version_cmp_str(version->value, module->value);
	if (order < 0)
		compat_finding(j, FINDING_CUDA_COMPAT_OLDER_THAN_DRIVER, module);
	else if (order > 0 && (look_cuda_init(s) == 804 || look_cuda_init(s) == 803 ||
			       !forward_compatible(j)))
		compat_finding(j, FINDING_CUDA_COMPAT_UNSUPPORTED_GPU, module);
}

/* -------- libcuda missing or broken */

static void run_libcuda_broken_link(struct judge *j)
{
	const struct library *l = &j->s->driver.libcuda;
	const struct fact *broken = l->path.state == FACT_BROKEN ? &l->path
				    : l->real.state == FACT_BROKEN ? &l->real
								   : NULL;
	struct finding *f;
	struct remedy *r;

	if (!broken)
		return;
	f = finding_add(j, FINDING_LIBCUDA_BROKEN_LINK, "libcuda.so.1");
	finding_message(
		j, f,
		_("The link libcuda.so.1 leads nowhere (%s), so no program finds the driver's "
		  "library."),
		broken->why ? broken->why : _("dangling or looping"));
	finding_fact(j, f, "driver.libcuda.path", broken, _("a link to the driver's libcuda"));
	r = finding_remedy(
		j, f, "%s",
		_("Renew the loader's links; if the link stays broken, install the driver's "
		  "compute "
		  "package anew."));
	remedy_command(j, r, "sudo ldconfig");
	remedy_command(j, r, "ldconfig -p | grep libcuda");
	r->needs_root = true;
	r->risk = RISK_SAFE;
}

static void libcuda_package(struct judge *j, struct remedy *r)
{
	const struct snapshot *s = j->s;
	const struct fact *driver = look_driver(s);
	unsigned branch = driver ? look_branch(driver->value) : 0;
	const struct distro_names names = {
		.debian = "libcuda1",
		.ubuntu = branch ? arena_printf(j->a, "libnvidia-compute-%u", branch) : NULL,
		.rhel = "nvidia-driver-cuda",
		.fedora = "xorg-x11-drv-nvidia-cuda",
		.suse = arena_printf(j->a, "nvidia-compute-utils-G0%u", branch >= 590 ? 7 : 6),
		.arch = "nvidia-utils",
	};

	if (branch || distro_family(s) != FAMILY_UBUNTU)
		distro_install(j, r, &names);
}

/* The directory that a probe's reason names ("only in DIR, which the loader does not search"); NULL
 * when none. */
static const char *dir_of_why(struct judge *j, const char *why)
{
	const char *at = strchr(why, '/');

	return at ? arena_strndup(j->a, at, strcspn(at, ", ")) : NULL;
}

/* libcuda lies where the loader does not look (NixOS, Jetson, a container that sets no path). */
static void run_lib_path_not_set(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *path = &s->driver.libcuda.path;
	const char *dir;
	struct finding *f;
	struct remedy *r;

	if (look_is_windows(s) || path->state != FACT_ABSENT || !path->why || look_cuda_works(s))
		return;
	dir = dir_of_why(j, path->why);
	if (!dir)
		return;
	f = finding_add(j, FINDING_LIB_PATH_NOT_SET, "libcuda.so.1");
	finding_message(j, f, _("libcuda.so.1 is in %s, where the loader does not look."), dir);
	finding_fact(j, f, "driver.libcuda.path", path, dir);
	r = finding_remedy(j, f, "%s", _("Put the directory on the loader's path."));
	remedy_command(j, r, "export LD_LIBRARY_PATH=%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}",
		       shell_word(j->a, dir));
	r->risk = RISK_SAFE;
}

static void run_libcuda_not_installed(struct judge *j)
{
	const struct snapshot *s = j->s;
	struct finding *f;
	struct remedy *r;

	if (!look_is_linux_host(j) || judge_has(j, FINDING_LIB_PATH_NOT_SET) ||
	    s->driver.libcuda.path.state != FACT_ABSENT ||
	    look_cuda_works(s) || s->driver.libcuda.real.state == FACT_BROKEN ||
	    (!look_module_loaded(s) && !fact_known(&s->driver.libnvml.path)))
		return;
	f = finding_add(j, FINDING_LIBCUDA_NOT_INSTALLED, "libcuda.so.1");
	finding_message(
		j, f, "%s",
		_("The NVIDIA driver is here without libcuda.so.1: the package with its CUDA "
		  "library is not "
		  "installed."));
	finding_fact(j, f, "driver.libcuda.path", &s->driver.libcuda.path, "libcuda.so.1");
	if (look_driver(s))
		finding_fact(j, f, "driver.version", look_driver(s), NULL);
	r = finding_remedy(
		j, f, "%s",
		_("Install the package of this driver that holds libcuda, of the same version."));
	libcuda_package(j, r);
	r->needs_root = true;
}

/* -------- variables that name a file to open as libcuda */

static struct finding *wrong_file(struct judge *j, const char *message)
{
	const struct library *l = &j->s->driver.libcuda;
	const struct fact *path = snapshot_env_fact(j->s, "LD_LIBRARY_PATH");
	struct finding *f = finding_add(j, FINDING_LIBCUDA_WRONG_FILE, l->path.value);
	const char *dir = arena_strndup(j->a, l->path.value,
					(size_t)(strrchr(l->path.value, '/') - l->path.value));
	struct remedy *r;

	finding_message(j, f, "%s", message);
	finding_fact(j, f, "driver.libcuda.path", &l->path, _("the driver's libcuda.so.1"));
	if (path && fact_is(&l->via, "LD_LIBRARY_PATH")) {
		finding_fact(j, f, "LD_LIBRARY_PATH", path, NULL);
		r = finding_remedy(j, f, _("Take %s out of LD_LIBRARY_PATH."), dir);
		remedy_command(j, r,
			       "export LD_LIBRARY_PATH=$(printf %%s \"$LD_LIBRARY_PATH\" | tr : "
			       "'\\n' | grep -vxF %s | paste -sd:)",
			       shell_word(j->a, dir));
	} else {
		r = finding_remedy(
			j, f, "%s",
			_("Take it out of the way: see which copies there are, and which comes "
			  "first."));
		remedy_command(j, r, "ldconfig -p | grep -E 'libcuda|libnvidia-ml'");
	}
	r->risk = RISK_SAFE;
	return f;
}

/* The loader ends its search at a file that is no library, however good the next one is. */
static void no_library(struct judge *j)
{
	const struct library *l = &j->s->driver.libcuda;

	if (l->soname.state != FACT_BROKEN || !fact_known(&l->path) ||
	    !strchr(l->path.value, '/') || look_cuda_works(j->s) ||
	    fact_is(&j->s->driver.cuda_end, "refused"))
		return;
	wrong_file(j, arena_printf(
			      j->a,
			      _("The loader takes %s for libcuda.so.1, and it is no library: %s."),
			      l->path.value, l->soname.why ? l->soname.why : "?"));
}

/* A library of that name that is not the driver's stands before the driver's own, and fails. */
static void another_library(struct judge *j)
{
	const struct driver *d = &j->s->driver;
	const struct library *l = &d->libcuda;

	if (!look_cuda_failed(j->s) || look_is_wsl(j->s) || look_compat_libcuda(j->s) ||
	    look_nvml_init(j->s) != 0 || look_cuda_init(j->s) == 34 || !fact_known(&l->path) ||
	    fact_known(&l->version) || !l->shadowed.n || !fact_known(&d->version) ||
	    !fact_known(&d->libnvml.version) || !fact_is(&d->libnvml.version, d->version.value) ||
	    strstr(l->path.value, "/stubs/") || !strchr(l->path.value, '/'))
		return;
	finding_inferred(wrong_file(
		j, arena_printf(
			   j->a,
			   _("The loader takes %s for libcuda.so.1 and not the driver's own (%s), "
			     "and CUDA does not start with it."),
			   l->path.value, l->shadowed.values[0])));
}

static void run_libcuda_wrong_file(struct judge *j)
{
	static const char *const names[] = { "NUMBA_CUDA_DRIVER", "TRITON_LIBCUDA_PATH" };
	struct finding *f;
	struct remedy *r;
	size_t i;

	no_library(j);
	another_library(j);
	for (i = 0; i < ARRAY_LEN(names); i++) {
		const struct fact *env = snapshot_env_fact(j->s, names[i]);
		const char *base = env ? strrchr(env->value, '/') : NULL;

		base = base ? base + 1 : env ? env->value : "";
		/* Triton's names a directory, and that is how it may be read. */
		if (!*base || strncmp(base, "libcuda.", strlen("libcuda.")) == 0 ||
		    !strstr(base, ".so"))
			continue;
		f = finding_add(j, FINDING_LIBCUDA_WRONG_FILE, names[i]);
		/* Only the program that reads the variable is misled. */
		f->severity = SEVERITY_WARNING;
		finding_message(
			j, f,
			_("%s is %s, which is not the driver's libcuda: what reads this variable "
			  "finds no CUDA."),
			names[i], env->value);
		finding_fact(j, f, names[i], env, "libcuda.so.1");
		r = finding_remedy(j, f, _("Unset %s; libcuda.so.1 is found without it."),
				   names[i]);
		remedy_command(j, r, "unset %s", names[i]);
		r->risk = RISK_SAFE;
	}
}

/* -------- module and libraries of different versions */

/* All nvidia modules on disk are of the loaded version: booting again brings nothing new. */
static bool disk_agrees(const struct snapshot *s, const char *loaded)
{
	bool any = false;
	size_t i;

	for (i = 0; i < s->driver.n_modules; i++) {
		const struct module *m = &s->driver.modules[i];

		/* Of a packed set only the small ones may have been read. */
		if (strncmp(fact_value(&m->name, ""), "nvidia", 6) != 0 ||
		    fact_is(&m->name, "nvidia-fs") || !fact_known(&m->path) ||
		    !fact_known(&m->version))
			continue;
		/* NixOS keeps what was booted; the next boot takes another generation. */
		if (view_starts(view_of(m->path.value), "/run/booted-system/"))
			continue;
		if (!fact_is(&m->version, loaded))
			return false;
		any = true;
	}
	return any;
}

static const struct library *odd_library(const struct snapshot *s, const char *loaded)
{
	const struct driver *d = &s->driver;

	if (fact_known(&d->libcuda.version) && !look_compat_libcuda(s) &&
	    !fact_is(&d->libcuda.version, loaded) && look_branch(d->libcuda.version.value) > 99)
		return &d->libcuda;
	if (fact_known(&d->libnvml.version) && !fact_is(&d->libnvml.version, loaded) &&
	    look_branch(d->libnvml.version.value) > 99)
		return &d->libnvml;
	return NULL;
}

static void run_driver_library_mismatch(struct judge *j)
{
	const struct snapshot *s = j->s;
	const struct fact *loaded = &s->driver.version;
	const struct library *odd;
	struct finding *f;
	bool mixed;

	if (!look_is_linux_host(j) || !fact_known(loaded) || !look_module_loaded(s) ||
	    look_cuda_works(s) || judge_has(j, FINDING_LIBCUDA_STUB_LOADED))
		return;
	odd = odd_library(s, loaded->value);
	if (!odd && look_nvml_init(s) != 18)
		return;
	mixed = odd && disk_agrees(s, loaded->value);
	f = finding_add(j, mixed ? FINDING_DRIVER_PACKAGES_MIXED : FINDING_DRIVER_LIBRARY_MISMATCH,
			_("this machine"));
	if (!odd)
		finding_message(
			j, f,
			_("The loaded module is %s, and the driver's libraries are of another "
			  "version (NVML 18)."),
			loaded->value);
	else if (mixed)
		finding_message(
			j, f,
			_("The module is %s, loaded and on disk, and the libraries are %s: they "
			  "come from "
			  "different packages, and a reboot changes nothing."),
			loaded->value, odd->version.value);
	else
		finding_message(
			j, f,
			_("The loaded module is %s, and the libraries are %s: the driver was "
			  "changed under a "
			  "running system."),
			loaded->value, odd->version.value);
	finding_fact(j, f, "driver.version", loaded, odd ? odd->version.value : NULL);
	if (odd)
		finding_fact(j, f, "driver.library.version", &odd->version, NULL);
	if (fact_known(&s->driver.nvml_init))
		finding_fact(j, f, "driver.nvml_init", &s->driver.nvml_init, "0");
	if (mixed)
		remedy_driver(j, f, arena_printf(j->a, "%u", look_branch(odd->version.value)),
			      remedy_driver_kind(j));
	else
		remedy_reload(j, f);
}

const struct rule rule_libcuda_stub_loaded = {
	.name = "libcuda-stub-loaded",
	.needs = NEED_USERLIB,
	.layer = LAYER_DRIVER,
	.run = run_libcuda_stub_loaded,
};
const struct rule rule_cuda_compat = {
	.name = "cuda-compat-older-than-driver",
	.needs = NEED_USERLIB,
	.layer = LAYER_DRIVER,
	.run = run_cuda_compat,
};
const struct rule rule_libcuda_broken_link = {
	.name = "libcuda-broken-link",
	.needs = NEED_USERLIB,
	.layer = LAYER_DRIVER,
	.run = run_libcuda_broken_link,
};
const struct rule rule_lib_path_not_set = {
	.name = "lib-path-not-set",
	.needs = NEED_USERLIB | NEED_NODES,
	.layer = LAYER_LIBRARY,
	.run = run_lib_path_not_set,
};
const struct rule rule_libcuda_not_installed = {
	.name = "libcuda-not-installed",
	.needs = NEED_USERLIB | NEED_KERNEL,
	.layer = LAYER_DRIVER,
	.run = run_libcuda_not_installed,
};
const struct rule rule_libcuda_wrong_file = {
	.name = "libcuda-wrong-file",
	.needs = NEED_ENVIRONMENT,
	.layer = LAYER_DRIVER,
	.run = run_libcuda_wrong_file,
};
const struct rule rule_driver_library_mismatch = {
	.name = "driver-library-mismatch",
	.needs = NEED_USERLIB | NEED_KERNEL,
	.layer = LAYER_DRIVER,
	.run = run_driver_library_mismatch,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that compare what a text says of one driver: its packages, the module, the libraries that a
 * program opens, Fabric Manager. */
#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/triage.h"

/* "550.107.02-0ubuntu0.24.04.1" to "550.107.02". */
static const char *upstream(struct arena *a, const char *version)
{
	const char *colon = strchr(version, ':');
	size_t n;

	version = colon ? colon + 1 : version;
	n = strspn(version, "0123456789.");
	return arena_strndup(a, version, n);
}

/* Part of the driver, whose version has to be the module's; not what is made to a version of its
 * own, or judged by a rule of its own. */
static bool of_driver(const char *name)
{
	static const char *const others[] = { "container",	"persistenced", "settings",
					      "modprobe",	"firmware",	"fabricmanager",
					      "fabric-manager", "imex",		"nvidia-mig",
					      "nvidia-fs" };
	size_t i;

	if (!strstr(name, "nvidia") && strncmp(name, "libcuda1", 8) != 0)
		return false;
	for (i = 0; i < ARRAY_LEN(others); i++)
		if (strstr(name, others[i]))
			return false;
	return true;
}

static void packages(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *module = fact_value(&s->driver.version, NULL), *first = NULL;
	const char *nvml = fact_value(&s->driver.libnvml.version, NULL), *other = NULL;
	bool same_everywhere = nvml != NULL, kmod = false;
	size_t i;

	for (i = 0; i < s->n_os_packages; i++) {
		const char *name = fact_value(&s->os_packages[i].name, "");
		const char *v = upstream(t->j->a, fact_value(&s->os_packages[i].version, ""));
		struct finding *f;

		if (look_branch(v) < 100 || !strchr(v, '.') || !of_driver(name))
			continue;
		if (!first)
			first = v;
		if (look_branch(first) != look_branch(v)) {
			f = triage_add(t, FINDING_DRIVER_PACKAGES_MIXED,
				       triage_has(t, "api-mismatch")	? 88
				       : triage_has(t, "nvml-mismatch") ? 82
									: 58,
				       "api-mismatch|nvml-mismatch");
			finding_fact(t->j, f, name, &s->os_packages[i].version, first);
			return;
		}
		same_everywhere &= nvml && strncmp(v, nvml, strlen(nvml)) == 0;
		kmod |= strstr(name, "kmod") || strstr(name, "dkms") || strstr(name, "kernel");
		if (module && triage_has(t, "module-version") && strcmp(module, v) != 0 &&
		    !triage_has(t, "container"))
			other = other ? other : v;
	}
	if (other) {
		struct finding *f = triage_add(t, FINDING_DRIVER_LIBRARY_MISMATCH, 84,
					       "nvml-mismatch|module-version");

		finding_fact(t->j, f, "driver.version", &s->driver.version, other);
		return;
	}
	/* All that is on disk fits together; which module is loaded, and why, is not shown. */
	if (first && kmod && same_everywhere && !module)
		t->against[FINDING_DRIVER_LIBRARY_MISMATCH] = true;
}

/* The version of the libraries that are installed, by the package that holds NVML or libcuda. */
static const char *library_package(struct triage *t)
{
	static const char *const names[] = { "libnvidia-ml", "libnvidia-compute-",
					     "nvidia-driver-libs", "nvidia-driver-cuda-libs",
					     "nvidia-utils", "nvidia-compute-G0",
					     "nvidia-userspace-meta" };
	const struct snapshot *s = t->j->s;
	const char *name, *v;
	size_t i, k;

	for (i = 0; i < s->n_os_packages; i++) {
		name = fact_value(&s->os_packages[i].name, "");
		v = upstream(t->j->a, fact_value(&s->os_packages[i].version, ""));
		for (k = 0; k < ARRAY_LEN(names); k++)
			if (look_branch(v) >= 100 && strncmp(name, names[k], strlen(names[k])) == 0)
				return v;
	}
	return NULL;
}

/* The driver's version in that of a package: "5.14.0-570.el9_6-575.64-1.el9" is of 575.64. */
static const char *version_inside(struct arena *a, const char *version)
{
	const char *at = version;
	size_t n;

	for (; *at; at += strcspn(at, "-_:"), at += *at != 0) {
		n = strspn(at, "0123456789.");
		if (look_branch(at) >= 300 && n > 4 && at[3] == '.')
			return arena_strndup(a, at, n - (at[n - 1] == '.'));
	}
	return NULL;
}

/* Packages of modules are installed, and none of them has the version of the libraries. */
static bool no_module_package_fits(struct triage *t, const char *lib)
{
	const struct snapshot *s = t->j->s;
	bool any = false;
	size_t i;

	for (i = 0; i < s->n_os_packages; i++) {
		const char *name = fact_value(&s->os_packages[i].name, ""), *v;

		if (!strstr(name, "nvidia") || strstr(name, "common") || strstr(name, "source") ||
		    !(strstr(name, "kmod") || strstr(name, "dkms") || strstr(name, "-kmp")))
			continue;
		v = version_inside(t->j->a, fact_value(&s->os_packages[i].version, ""));
		if (!v)
			return false;
		if (strcmp(v, lib) == 0)
			return false;
		any = true;
	}
	return any;
}

/* The module on the disk, which the next boot loads as well, is not the libraries'. */
static void disk_and_libraries(struct triage *t)
{
	const char *on_disk = triage_value(t, "modinfo-version");
	const char *lib = library_package(t);

	if (!lib || triage_has(t, "container") ||
	    !(triage_has(t, "nvml-mismatch") || triage_has(t, "api-mismatch")))
		return;
	if (on_disk ? strcmp(on_disk, lib) != 0 : no_module_package_fits(t, lib))
		triage_add(t, FINDING_DRIVER_PACKAGES_MIXED, 88,
			   on_disk ? "modinfo-version" : "driver-package");
}

/* modinfo's version against the loaded one; NVML's against both. */
static void loaded(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *module = fact_value(&s->driver.version, NULL);
	const char *nvml = fact_value(&s->driver.libnvml.version, NULL);

	const char *on_disk = triage_value(t, "modinfo-version");
	const char *mismatched = triage_value(t, "nvrm-mismatch-module");

	/* An upgrade put another module on the disk; the old one runs until the next boot. */
	if (module && on_disk && triage_has(t, "module-version") && strcmp(module, on_disk) != 0 &&
	    (triage_device_refused(t) || triage_has(t, "nvml-mismatch") ||
	     triage_has(t, "smi-fails")) &&
	    !triage_has(t, "container"))
		triage_add(t, FINDING_DRIVER_LIBRARY_MISMATCH, 74,
			   "modinfo-version|module-version");
	/* What a boot of the host cures lies in no image. */
	if (triage_has(t, "host-reboot-cures") && !triage_has(t, "container-prompt") &&
	    (triage_has(t, "nvml-mismatch") || triage_has(t, "api-mismatch"))) {
		t->against[FINDING_CONTAINER_STALE_DRIVER_LIBS] = true;
		triage_add(t, FINDING_DRIVER_LIBRARY_MISMATCH, 88, "host-reboot-cures");
	}
	/* The module that the next boot will load does not fit either. */
	if (on_disk && mismatched && strcmp(on_disk, mismatched) == 0 &&
	    !triage_has(t, "container"))
		triage_add(t, FINDING_DRIVER_PACKAGES_MIXED, 86, "modinfo-version api-mismatch");
	if (!module && on_disk && nvml && look_branch(nvml) > 100 &&
	    strncmp(on_disk, nvml, strlen(nvml)) != 0 && triage_has(t, "nvml-mismatch") &&
	    !triage_has(t, "container"))
		triage_add(t, FINDING_DRIVER_PACKAGES_MIXED, 86, "modinfo-version nvml-mismatch");
	if (module && nvml && look_branch(nvml) > 100 && strcmp(module, nvml) != 0 &&
	    triage_has(t, "nvml-mismatch") && !triage_has(t, "container"))
		triage_add(t, FINDING_DRIVER_LIBRARY_MISMATCH, 82,
			   "nvml-lib-version|module-version");
}

/* A container keeps the libraries that were mounted when it was started. */
static void mounts(struct triage *t)
{
	const char *module = fact_value(&t->j->s->driver.version, NULL);
	const char *lib = triage_value(t, "lib-mounted");
	struct finding *f;

	if (!module || !lib || look_branch(lib) < 100 || strcmp(module, lib) == 0)
		return;
	f = triage_add(t, FINDING_CONTAINER_STALE_DRIVER_MOUNTS, 92, "lib-mounted");
	finding_fact(t->j, f, "driver.version", &t->j->s->driver.version, lib);
}

/* Error 803 in a container whose libcuda is of another release than the host's module. */
static void image_libcuda(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *module = fact_value(&s->driver.version, NULL);
	const char *lib = fact_value(&s->driver.libcuda.version, NULL);
	struct finding *f;

	if (!module || !lib || !triage_has(t, "cuda-803") || !triage_has(t, "container") ||
	    triage_has(t, "compat-path") || triage_has(t, "container-older") ||
	    strcmp(module, lib) == 0)
		return;
	f = triage_add(t, FINDING_CONTAINER_STALE_DRIVER_LIBS, 88, "cuda-803");
	finding_fact(t->j, f, "driver.libcuda.version", &s->driver.libcuda.version, module);
}

/* nvidia-smi names a newer CUDA than this driver's own: it has loaded a compat libcuda. */
static bool ceiling_lifted(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *driver = fact_value(&s->driver.version, NULL);
	const char *ceiling = fact_value(&s->driver.cuda_ceiling, NULL);
	const char *own = driver ? compat_driver_cuda(t->j->c, driver) : NULL;

	return own && ceiling && version_cmp_str(ceiling, own) > 0;
}

/* "kernel version A does not match DSO version B" in a container whose nvidia-smi works: the driver
 * is whole, and it is the image's compat libcuda that is newer than it. */
static void compat_in_image(struct triage *t)
{
	const char *kernel = triage_value(t, "tf-dso-mismatch");
	const char *dso = kernel ? strstr(kernel, "version ") : NULL;

	if (dso && triage_has(t, "compat-path") && look_branch(dso + 8) < look_branch(kernel)) {
		t->against[FINDING_DRIVER_LIBRARY_MISMATCH] = true;
		triage_add(t, FINDING_CUDA_COMPAT_OLDER_THAN_DRIVER, 92,
			   "tf-dso-mismatch compat-path");
		return;
	}
	if (!dso || triage_has(t, "nvml-mismatch") || look_branch(kernel) >= look_branch(dso + 8))
		return;
	if (!ceiling_lifted(t) &&
	    !triage_holds(t, "container smi-works|smi-header|no-device", NULL))
		return;
	t->against[FINDING_DRIVER_LIBRARY_MISMATCH] = true;
	triage_add(t, FINDING_CUDA_COMPAT_UNSUPPORTED_GPU, 90, "tf-dso-mismatch");
}

/* TensorFlow names the releases of libcuda and of the module: two lines that do not agree. */
static void reported(struct triage *t)
{
	const char *lib = triage_value(t, "tf-reported-libcuda");
	const char *module = triage_value(t, "tf-reported-module");
	int order = lib && module ? version_cmp_str(lib, module) : 0;

	if (order == 0 || look_branch(lib) < 100 || look_branch(module) < 100 ||
	    triage_has(t, "tf-dso-mismatch"))
		return;
	if (!triage_has(t, "container"))
		triage_add(t, FINDING_DRIVER_LIBRARY_MISMATCH, 84,
			   "tf-reported-libcuda tf-reported-module");
	else if (order > 0)
		triage_add(t, FINDING_CONTAINER_STALE_DRIVER_LIBS, 84,
			   "tf-reported-libcuda tf-reported-module");
}

/* The libcuda that the loader lists first is that of a cuda-compat of an older CUDA than the
 * driver's: "/usr/local/cuda-12.8/compat/libcuda.so.1". */
static void compat_listed(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *ceiling = fact_value(&s->driver.cuda_ceiling, NULL), *path = NULL, *cuda;
	size_t i;

	for (i = 0; i < s->n_signs && !path; i++)
		if (fact_is(&s->signs[i].id, "lib-listed") &&
		    strstr(fact_value(&s->signs[i].value, ""), "/libcuda.so"))
			path = s->signs[i].value.value;
	cuda = path && strstr(path, "/compat/") ? strstr(path, "/cuda-") : NULL;
	if (!cuda || !ceiling || !triage_stack_fails(t))
		return;
	cuda = arena_strndup(t->j->a, cuda + 6, strspn(cuda + 6, "0123456789."));
	if (*cuda && version_cmp_str(cuda, ceiling) < 0)
		triage_add(t, FINDING_CUDA_COMPAT_OLDER_THAN_DRIVER, 86, "lib-listed cuda-ceiling");
}

/* What Nix, conda or another package manager brings does not follow a reboot. */
static void foreign(struct triage *t)
{
	if (!triage_has(t, "nvml-mismatch") && !triage_has(t, "api-mismatch") &&
	    !(triage_has(t, "cuda-803") && !triage_has(t, "container")))
		return;
	if (triage_has(t, "foreign-driver-path"))
		triage_add(t, FINDING_DRIVER_PACKAGES_MIXED, 90, "foreign-driver-path");
	if (triage_has(t, "reboot-no-help"))
		triage_add(t, FINDING_DRIVER_PACKAGES_MIXED, 84, "reboot-no-help");
	if (triage_has(t, "runfile-installer") &&
	    (triage_has(t, "driver-package") || triage_has(t, "driver-pkg-named")))
		triage_add(t, FINDING_DRIVER_PACKAGES_MIXED, 84, "runfile-installer");
}

/* "libcuda.so.550.54.14" of a path or a name; NULL for "libcuda.so.1", which is a link itself. */
static const char *libcuda_file(const char *target)
{
	const char *at = target ? strstr(target, "libcuda.so.") : NULL;

	return at && isdigit((unsigned char)at[11]) && strchr(at + 11, '.') ? at : NULL;
}

/* The link names a file that is not there, or not among those listed. */
static void libcuda_link(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *file = NULL;
	bool any = false;
	size_t i;

	for (i = 0; i < s->n_signs; i++) {
		if (!fact_is(&s->signs[i].id, "link-libcuda"))
			continue;
		if (triage_path_gone(t, s->signs[i].value.value)) {
			triage_add(t, FINDING_LIBCUDA_BROKEN_LINK, 90, "link-libcuda path-gone");
			return;
		}
		if (!file)
			file = libcuda_file(s->signs[i].value.value);
	}
	for (i = 0; file && i < s->n_signs; i++) {
		if (!fact_is(&s->signs[i].id, "libcuda-file"))
			continue;
		any = true;
		if (strcmp(file, fact_value(&s->signs[i].value, "-")) == 0)
			return;
	}
	if (any)
		triage_add(t, FINDING_LIBCUDA_BROKEN_LINK, 86, "link-libcuda libcuda-file");
}

/* The driver's file is listed, and the name that programs open, libcuda.so.1, is not. */
static void libcuda_unlinked(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	bool any = false;
	size_t i;

	if (!triage_holds(t, "libcuda-missing !wsl", NULL) ||
	    (triage_has(t, "container") && !triage_has(t, "ncli-said")))
		return;
	for (i = 0; i < s->n_signs; i++) {
		const char *file = fact_value(&s->signs[i].value, "");

		if (!fact_is(&s->signs[i].id, "lib-listed"))
			continue;
		file = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
		if (strcmp(file, "libcuda.so.1") == 0)
			return;
		/* Tegra's is libcuda.so.1.1. */
		if (strncmp(file, "libcuda.so.", 11) == 0 && strchr(file + 11, '.'))
			any = true;
	}
	if (any)
		triage_add(t, FINDING_LIBCUDA_BROKEN_LINK, 80, "lib-listed libcuda-missing");
}

/* -------- Fabric Manager */

/* The two packages of a list, where nothing says what is loaded. */
static void fm_packages(struct triage *t, const char **ret_driver, const char **ret_fm)
{
	const struct snapshot *s = t->j->s;
	size_t i;

	for (i = 0; i < s->n_os_packages; i++) {
		const char *name = fact_value(&s->os_packages[i].name, "");
		const char *v = upstream(t->j->a, fact_value(&s->os_packages[i].version, ""));

		if (look_branch(v) < 400 || !strchr(v, '.'))
			continue;
		if (strstr(name, "abricmanager") || strstr(name, "abric-manager"))
			*ret_fm = v;
		else if (!*ret_driver && (strncmp(name, "nvidia-driver", 13) == 0 ||
					  strncmp(name, "libnvidia-compute", 17) == 0 ||
					  strncmp(name, "nvidia-dkms", 11) == 0))
			*ret_driver = v;
	}
}

static void fabric(struct triage *t)
{
	const struct fact *version = triage_driver(t);
	const char *driver = version ? version->value : NULL;
	const char *fm = triage_value(t, "fm-package-version");
	struct finding *f;

	if (!driver || !fm)
		fm_packages(t, &driver, &fm);
	/* A package's version may end in a release: "535.161.08-1.el8". */
	if (!driver || !fm || strncmp(driver, fm, strlen(fm)) == 0 || look_branch(fm) < 400)
		return;
	f = triage_add(t, FINDING_FABRIC_MANAGER_VERSION_MISMATCH, 86,
		       "fm-package-version|cuda-802");
	if (version)
		finding_fact(t->j, f, "driver.version", version, fm);
}

void triage_machine(struct triage *t)
{
	triage_visible(t);
	packages(t);
	loaded(t);
	disk_and_libraries(t);
	mounts(t);
	image_libcuda(t);
	libcuda_link(t);
	libcuda_unlinked(t);
	compat_in_image(t);
	reported(t);
	compat_listed(t);
	triage_toolkit(t);
	foreign(t);
	fabric(t);
}

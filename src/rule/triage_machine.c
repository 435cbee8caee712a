/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that count and compare what a text says of the machine: visible devices, driver packages,
 * modules and the kernel that runs. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/triage.h"

static bool fails(const struct triage *t)
{
	return triage_no_gpu_got(t) || triage_has(t, "bad-ordinal");
}

/* A UUID, or the beginning of one, that none of the listed GPUs has. */
static bool strange_uuid(const struct snapshot *s, const char *value)
{
	size_t i, n = strcspn(value, ",");

	if (strncmp(value, "GPU-", 4) != 0)
		return false;
	for (i = 0; i < s->n_gpus; i++) {
		const char *uuid = fact_value(&s->gpus[i].uuid, NULL);

		if (!uuid || strncmp(uuid, value, n) == 0)
			return false;
	}
	return s->n_gpus > 0;
}

/* CUDA_VISIBLE_DEVICES empty, -1, or beyond what there is. */
static void visible(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct fact *v = snapshot_env_fact(s, "CUDA_VISIBLE_DEVICES");
	struct finding *f;
	bool none, beyond, senseless;
	long first;

	if (!v || triage_has(t, "nodevfiles") || triage_has(t, "slurm") || triage_has(t, "ray") ||
	    view_starts(view_of(v->value), "MIG-") ||
	    (strchr(v->value, '$') && strcmp(v->value, "$0") != 0))
		return;
	senseless = *v->value && !isdigit((unsigned char)v->value[0]) &&
		    strncmp(v->value, "GPU-", 4) != 0 && strncmp(v->value, "-", 1) != 0 &&
		    strcspn(v->value, "<[{") == strlen(v->value);
	none = senseless || !*v->value || strncmp(v->value, "-1", 2) == 0 ||
	       strcasecmp(v->value, "none") == 0 || strcasecmp(v->value, "all") == 0 ||
	       strcasecmp(v->value, "NoDevFiles") == 0;
	first = strtol(v->value, NULL, 10);
	beyond = (isdigit((unsigned char)v->value[0]) && s->n_gpus > 0 &&
		  (size_t)first >= s->n_gpus) ||
		 strange_uuid(s, v->value);
	if (!none && !beyond && !(isdigit((unsigned char)v->value[0]) && first > 0 && fails(t)))
		return;
	f = triage_add(t, FINDING_VISIBLE_DEVICES_WRONG,
		       none && fails(t)	    ? 86
		       : beyond && fails(t) ? 82
		       : none		    ? 60
					    : 58,
		       "no-device|cuda-available-false|bad-ordinal");
	finding_fact(t->j, f, "CUDA_VISIBLE_DEVICES", v, NULL);
	finding_message(t->j, f,
			none ? _("CUDA_VISIBLE_DEVICES=\"%s\" hides all GPUs.")
			     : _("CUDA_VISIBLE_DEVICES=%s names no GPU that exists here."),
			v->value);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The text says that the file which this names is not there. */
static bool gone(const struct triage *t, const char *target)
{
	const struct snapshot *s = t->j->s;
	size_t i;

	for (i = 0; target && *target && i < s->n_signs; i++) {
		const char *path = fact_is(&s->signs[i].id, "path-gone")
					   ? fact_value(&s->signs[i].value, NULL)
					   : NULL;

		if (path && strcmp(*target == '/' ? path : base_name(path),
				   *target == '/' ? target : base_name(target)) == 0)
			return true;
	}
	return false;
}

/* CUDA_HOME is a folder that holds bin, neither bin itself nor a list of folders. */
static void cuda_home(struct triage *t)
{
	static const char *const names[] = { "CUDA_HOME", "CUDA_PATH" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		const struct fact *v = snapshot_env_fact(t->j->s, names[i]);
		struct view s = view_of(v ? v->value : NULL);
		struct finding *f;

		if (!v || strchr(v->value, '$'))
			continue;
		if (!view_ends(s, "/bin") && !view_ends(s, "/bin/") && !view_ends(s, "/lib64") &&
		    !view_ends(s, "/nvcc") && !(v->value[0] == ':') && view_find(s, ":/") <= 0)
			continue;
		if (view_find(s, ":/") == 1)
			continue; /* "C:/Program Files" */
		f = triage_add(t, FINDING_CUDA_HOME_WRONG, 88, NULL);
		finding_fact(t->j, f, names[i], v, "/usr/local/cuda");
	}
}

/* "12.1" of "/usr/local/cuda-12.1", where a listing of all toolkits does not show it. */
static bool not_listed(const struct triage *t, const char *path)
{
	const struct snapshot *s = t->j->s;
	const char *v = path ? strstr(path, "/usr/local/cuda-") : NULL;
	bool any = false;
	size_t i;

	if (!v || !isdigit((unsigned char)v[16]) || !strchr(v + 16, '.'))
		return false;
	for (i = 0; i < s->n_signs; i++) {
		const char *have;

		if (!fact_is(&s->signs[i].id, "toolkit-folder"))
			continue;
		have = fact_value(&s->signs[i].value, "-");
		any = true;
		if (strncmp(v + 16, have, strlen(have)) == 0 &&
		    !isdigit((unsigned char)v[16 + strlen(have)]))
			return false;
	}
	return any || gone(t, path);
}

static void absent_toolkit(struct triage *t)
{
	const struct fact *home = snapshot_env_fact(t->j->s, "CUDA_HOME");
	const struct snapshot *s = t->j->s;
	struct finding *f;
	size_t i;

	if (!home)
		home = snapshot_env_fact(t->j->s, "CUDA_PATH");
	if (home && not_listed(t, home->value)) {
		f = triage_add(t, FINDING_CUDA_HOME_WRONG, 86, NULL);
		finding_fact(t->j, f, "CUDA_HOME", home, "/usr/local/cuda");
	}
	for (i = 0; i < s->n_signs; i++)
		if (fact_is(&s->signs[i].id, "link-cuda") &&
		    not_listed(t, s->signs[i].value.value)) {
			triage_add(t, FINDING_TOOLKIT_SYMLINK_BROKEN, 86,
				   "link-cuda toolkit-folder|path-gone");
			return;
		}
}

/* A program looks for nvcc in the folder that CUDA_HOME names, and the shell has one elsewhere. */
static void home_without_nvcc(struct triage *t)
{
	static const char tail[] = "/bin/nvcc";
	const struct fact *home = snapshot_env_fact(t->j->s, "CUDA_HOME");
	const char *looked = triage_value(t, "nvcc-looked-for");
	struct finding *f;
	size_t n;

	if (!home)
		home = snapshot_env_fact(t->j->s, "CUDA_PATH");
	n = home ? strlen(home->value) : 0;
	if (!n || !looked || strncmp(looked, home->value, n) != 0)
		return;
	if (strcmp(looked + n - (home->value[n - 1] == '/'), tail) != 0)
		return;
	f = triage_add(t, FINDING_CUDA_HOME_WRONG,
		       triage_has(t, "nvcc-printed") || triage_has(t, "nvcc-path") ? 90 : 56,
		       "nvcc-looked-for");
	finding_fact(t->j, f, "CUDA_HOME", home, "/usr/local/cuda");
}

static void nvidia_visible(struct triage *t)
{
	const struct fact *v = snapshot_env_fact(t->j->s, "NVIDIA_VISIBLE_DEVICES");
	struct finding *f;

	if (!v || (strcmp(v->value, "void") != 0 && strcmp(v->value, "none") != 0 && *v->value))
		return;
	f = triage_add(t, FINDING_CONTAINER_NO_GPU_REQUESTED, 82, NULL);
	finding_fact(t->j, f, "NVIDIA_VISIBLE_DEVICES", v, "all");
}

/* -------- module, libraries, packages */

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

/* modinfo's version against the loaded one; NVML's against both. */
static void loaded(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *module = fact_value(&s->driver.version, NULL);
	const char *nvml = fact_value(&s->driver.libnvml.version, NULL);

	const char *on_disk = triage_value(t, "modinfo-version");

	/* An upgrade put another module on the disk; the old one runs until the next boot. */
	if (module && on_disk && triage_has(t, "module-version") && strcmp(module, on_disk) != 0 &&
	    (fails(t) || triage_has(t, "nvml-mismatch") || triage_has(t, "smi-fails")) &&
	    !triage_has(t, "container"))
		triage_add(t, FINDING_DRIVER_LIBRARY_MISMATCH, 74,
			   "modinfo-version|module-version");
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
	    triage_has(t, "compat-path") || triage_has(t, "cuda-compat-dir") ||
	    triage_has(t, "container-older") || strcmp(module, lib) == 0)
		return;
	f = triage_add(t, FINDING_CONTAINER_STALE_DRIVER_LIBS, 88, "cuda-803");
	finding_fact(t->j, f, "driver.libcuda.version", &s->driver.libcuda.version, module);
}

/* A device is asked for by an index that the CDI specification, of an earlier time, doesn't list.
 */
static void cdi_index(struct triage *t)
{
	const char *asked = triage_value(t, "cdi-unresolvable");
	const char *index = asked ? strstr(asked, "nvidia.com/gpu=") : NULL;
	const struct snapshot *s = t->j->s;
	size_t i, listed = 0;

	if (!index || !isdigit((unsigned char)index[15]))
		return;
	for (i = 0; i < s->n_signs; i++) {
		if (!fact_is(&s->signs[i].id, "cdi-listed"))
			continue;
		listed++;
		if (fact_is(&s->signs[i].value, asked))
			return;
	}
	if (!listed)
		return;
	if ((size_t)strtol(index + 15, NULL, 10) < s->n_gpus)
		triage_add(t, FINDING_CDI_SPEC_STALE, 92, "cdi-unresolvable cdi-listed");
	else if (s->n_gpus)
		triage_add(t, FINDING_VISIBLE_DEVICES_WRONG, 88, "cdi-unresolvable cdi-listed");
}

/* "kernel version A does not match DSO version B" in a container whose nvidia-smi works: the driver
 * is whole, and it is the image's compat libcuda that is newer than it. */
static void compat_in_image(struct triage *t)
{
	const char *kernel = triage_value(t, "tf-dso-mismatch");
	const char *dso = kernel ? strstr(kernel, "version ") : NULL;

	if (!dso || !triage_has(t, "container") || !triage_has(t, "smi-works") ||
	    triage_has(t, "nvml-mismatch") || look_branch(kernel) >= look_branch(dso + 8))
		return;
	t->against[FINDING_DRIVER_LIBRARY_MISMATCH] = true;
	triage_add(t, FINDING_CUDA_COMPAT_UNSUPPORTED_GPU, 90, "tf-dso-mismatch");
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
		if (gone(t, s->signs[i].value.value)) {
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

/* -------- a scheduler's index inside a container */

/* The only GPU that was passed in has the host's number that the variable names. */
static bool only_node(const struct snapshot *s, const char *value)
{
	size_t i, gpus = 0;
	bool same = false;

	for (i = 0; i < s->n_nodes; i++) {
		const char *name = fact_value(&s->nodes[i].name, "");

		if (strncmp(name, "nvidia", 6) != 0 || !isdigit((unsigned char)name[6]))
			continue;
		gpus++;
		same = strcmp(name + 6, value) == 0;
	}
	return gpus == 1 && same;
}

static void constraint(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct fact *v = snapshot_env_fact(s, "CUDA_VISIBLE_DEVICES");
	size_t i, gpus = 0;
	struct finding *f;
	bool named;

	if (!v || !isdigit((unsigned char)v->value[0]))
		return;
	named = only_node(s, v->value);
	if (!triage_has(t, "slurm") && !(named && triage_has(t, "container")))
		return;
	for (i = 0; i < s->n_nodes; i++) {
		const char *name = fact_value(&s->nodes[i].name, "");

		gpus += strncmp(name, "nvidia", 6) == 0 && isdigit((unsigned char)name[6]);
	}
	if (!gpus || (named && s->n_gpus))
		gpus = s->n_gpus;
	if (!gpus || (size_t)strtol(v->value, NULL, 10) < gpus)
		return;
	f = triage_add(t, FINDING_SCHEDULER_DEVICE_CONSTRAINT, 84, "slurm");
	finding_fact(t->j, f, "CUDA_VISIBLE_DEVICES", v, NULL);
}

void triage_machine(struct triage *t)
{
	visible(t);
	nvidia_visible(t);
	cuda_home(t);
	packages(t);
	loaded(t);
	mounts(t);
	cdi_index(t);
	image_libcuda(t);
	libcuda_link(t);
	compat_in_image(t);
	absent_toolkit(t);
	home_without_nvcc(t);
	foreign(t);
	fabric(t);
	constraint(t);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What starts containers on this system, and how it is set up for GPUs: Docker, Podman, the NVIDIA
 * container toolkit, a Kubernetes node. Reads configuration files; asks no daemon.
 */
#include "probe/runtime.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/strbuf.h"

enum { CONFIG_MAX = 1 << 20, HOMES_MAX = 256 };

static const char *first_there(struct probe_ctx *p, const char *const *paths, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (sysroot_exists(p->root, paths[i]))
			return paths[i];
	return NULL;
}

static bool there_fact(struct probe_ctx *p, struct fact *f, const char *const *paths, size_t n)
{
	const char *path = first_there(p, paths, n);

	fact_set(f, path, path ? path : paths[0]);
	return path != NULL;
}

/* -------- TOML, as far as the toolkit's and containerd's files need it */

static struct view without_comment(struct view line)
{
	bool quoted = false;
	size_t i;

	for (i = 0; i < line.n; i++) {
		if (line.p[i] == '"')
			quoted = !quoted;
		else if (line.p[i] == '#' && !quoted)
			break;
	}
	return view_trim((struct view){ .p = line.p, .n = i });
}

static struct view unquote(struct view v)
{
	v = view_trim(v);
	if (v.n >= 2 && (v.p[0] == '"' || v.p[0] == '\'') && v.p[v.n - 1] == v.p[0])
		v = (struct view){ .p = v.p + 1, .n = v.n - 2 };
	return v;
}

const char *runtime_toml(struct arena *a, struct view text, const char *section, const char *key)
{
	const char *found = NULL;
	struct view line, name, value;
	bool here = !*section;

	while (view_line(&text, &line)) {
		line = without_comment(line);
		if (view_starts(line, "[") && view_ends(line, "]")) {
			name = (struct view){ .p = line.p + 1, .n = line.n - 2 };
			here = view_is(view_trim(name), section);
			continue;
		}
		if (!here || view_chr(line, '=') < 0)
			continue;
		name = view_cut(line, '=', &value);
		if (view_is(unquote(name), key))
			found = view_dup(a, unquote(value));
	}
	return found;
}

/* -------- the toolkit */

static void toolkit(struct probe_ctx *p)
{
	static const char *const programs[] = {
		"/usr/bin/nvidia-container-runtime",
		"/usr/local/bin/nvidia-container-runtime",
		"/usr/bin/nvidia-container-runtime-hook",
		"/usr/bin/nvidia-container-toolkit",
		"/usr/local/nvidia/toolkit/nvidia-container-runtime",
		"/usr/bin/nvidia-ctk",
		"/run/current-system/sw/bin/nvidia-container-runtime",
		"/run/current-system/sw/bin/nvidia-ctk"
	};
	static const char path[] = "/etc/nvidia-container-runtime/config.toml";
	struct runtime *r = &p->s->runtime;
	const char *value;
	struct view text;
	int e;

	there_fact(p, &r->toolkit, programs, ARRAY_LEN(programs));
	e = sysroot_read(p->root, p->a, path, CONFIG_MAX, &text, NULL);
	if (e) {
		fact_errno(&r->no_cgroups, -e, path);
		fact_errno(&r->mode, -e, path);
		return;
	}
	value = runtime_toml(p->a, text, "nvidia-container-cli", "no-cgroups");
	fact_flag(&r->no_cgroups, value && strcmp(value, "true") == 0, path);
	fact_set(&r->mode, runtime_toml(p->a, text, "nvidia-container-runtime", "mode"), path);
}

/* "1.17.5" of "1.17.5-1", "1.13.5-0lambda1". */
static void package_version(struct probe_ctx *p, struct fact *f, const char *name)
{
	struct view rest;
	size_t i;

	for (i = 0; i < p->s->n_os_packages; i++) {
		const struct ospackage *o = &p->s->os_packages[i];

		if (fact_is(&o->name, name))
			fact_set(f,
				 view_dup(p->a, view_cut(view_of(o->version.value), '-', &rest)),
				 o->version.source);
	}
}

/* libnvidia-container.so.1.17.5 says its version in its name. */
static void library_version(struct probe_ctx *p, struct fact *f)
{
	static const char *const dirs[] = { "/usr/lib/x86_64-linux-gnu",
					    "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
					    "/usr/lib" };
	static const char stem[] = "libnvidia-container.so.";
	const char *real, *path;
	size_t i;

	for (i = 0; i < ARRAY_LEN(dirs) && !fact_known(f); i++) {
		path = arena_printf(p->a, "%s/%s1", dirs[i], stem);
		if (sysroot_realpath(p->root, p->a, path, &real) == 0 &&
		    strncmp(path_base(real), stem, strlen(stem)) == 0 &&
		    strchr(path_base(real) + strlen(stem), '.'))
			fact_set(f, path_base(real) + strlen(stem), real);
	}
}

/* -------- Docker and Podman */

static void daemon_json(struct probe_ctx *p, const char *path)
{
	struct runtime *r = &p->s->runtime;
	const struct json *doc, *nvidia;
	const char *program;
	struct view text;
	struct err err;
	int e = sysroot_read(p->root, p->a, path, CONFIG_MAX, &text, NULL);

	if (e) {
		fact_errno(&r->config, -e, path);
		return;
	}
	if (json_parse(p->a, text, path, &doc, &err)) {
		fact_broken(&r->config, path, arena_strdup(p->a, err.msg));
		return;
	}
	fact_set(&r->config, path, path);
	fact_set(&r->default_runtime, json_get_str(doc, "default-runtime"), path);
	nvidia = json_get(json_get(doc, "runtimes"), "nvidia");
	program = json_get_str(nvidia, "path");
	fact_set(&r->nvidia_runtime, program, path);
	if (!program)
		return;
	/* A bare name is looked for in the daemon's PATH. */
	fact_flag(&r->nvidia_file,
		  *program == '/' ? sysroot_exists(p->root, program)
				  : fact_known(&r->toolkit) ||
					    sysroot_exists(p->root,
							   path_join(p->a, "/usr/bin", program)),
		  path);
}

/* Docker that runs as a user keeps its configuration in that user's home. */
static void rootless(struct probe_ctx *p)
{
	struct fact *f = &p->s->runtime.rootless;
	struct dirlist homes = { 0 };
	const char *path;
	size_t i;

	fact_absent(f, "/home/*/.config/docker");
	if (sysroot_list(p->root, p->a, "/home", HOMES_MAX, &homes) < 0)
		return;
	for (i = 0; i < homes.n; i++) {
		path = arena_printf(p->a, "/home/%s/.config/docker/daemon.json", homes.names[i]);
		if (sysroot_exists(p->root, path) ||
		    sysroot_exists(p->root,
				   arena_printf(p->a,
						"/home/%s/.config/systemd/user/docker.service",
						homes.names[i]))) {
			fact_set(f, path, path);
			return;
		}
	}
}

static void docker(struct probe_ctx *p)
{
	static const char *const daemons[] = { "/usr/bin/dockerd", "/usr/sbin/dockerd",
					       "/usr/local/bin/dockerd",
					       "/run/current-system/sw/bin/dockerd" };
	static const char *const snaps[] = { "/snap/docker/current/bin/dockerd",
					     "/snap/bin/docker.dockerd", "/snap/docker",
					     "/var/lib/snapd/snap/docker", "/var/snap/docker" };
	static const char *const podmans[] = { "/usr/bin/podman", "/usr/local/bin/podman" };
	struct runtime *r = &p->s->runtime;
	const char *snap = first_there(p, snaps, ARRAY_LEN(snaps));

	if (there_fact(p, &r->docker, daemons, ARRAY_LEN(daemons))) {
		fact_set(&r->docker_via, "package", r->docker.value);
	} else if (snap) {
		fact_set(&r->docker, snap, snap);
		fact_set(&r->docker_via, "snap", snap);
	}
	there_fact(p, &r->podman, podmans, ARRAY_LEN(podmans));
	daemon_json(p, fact_is(&r->docker_via, "snap") &&
				       !sysroot_exists(p->root, "/etc/docker/daemon.json")
			       ? "/var/snap/docker/current/config/daemon.json"
			       : "/etc/docker/daemon.json");
	rootless(p);
}

/* -------- Kubernetes */

/* A file of the runtime's drop-in folders that speaks of nvidia, whatever its name; NULL. */
static const char *drop_in(struct probe_ctx *p)
{
	static const char *const dirs[] = { "/etc/containerd/conf.d", "/etc/crio/crio.conf.d" };
	struct dirlist list;
	struct view text;
	const char *path;
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(dirs); i++) {
		if (sysroot_list(p->root, p->a, dirs[i], HOMES_MAX, &list) < 0)
			continue;
		for (k = 0; k < list.n; k++) {
			path = path_join(p->a, dirs[i], list.names[k]);
			if (sysroot_read(p->root, p->a, path, CONFIG_MAX, &text, NULL) == 0 &&
			    view_find(text, "nvidia") >= 0)
				return path;
		}
	}
	return NULL;
}

static void kubernetes(struct probe_ctx *p)
{
	static const char *const kubelets[] = { "/var/lib/kubelet/config.yaml",
						"/etc/kubernetes/kubelet.conf",
						"/var/lib/rancher/k3s", "/var/lib/rancher/rke2",
						"/var/snap/microk8s" };
	static const char *const configs[] = {
		"/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
		"/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
		"/etc/containerd/config.toml", "/etc/crio/crio.conf.d/99-nvidia.toml",
		"/etc/crio/crio.conf"
	};
	static const char *const drivers[] = { "/run/nvidia/driver/usr/bin/nvidia-smi",
					       "/run/nvidia/driver/lib/modules",
					       "/run/nvidia/driver/etc/os-release" };
	struct runtime *r = &p->s->runtime;
	struct view text;
	const char *path;

	there_fact(p, &r->kubelet, kubelets, ARRAY_LEN(kubelets));
	there_fact(p, &r->operator_driver, drivers, ARRAY_LEN(drivers));
	if (!fact_known(&r->kubelet))
		return;
	path = first_there(p, configs, ARRAY_LEN(configs));
	fact_set(&r->cri_config, path, path ? path : configs[2]);
	if (drop_in(p))
		fact_set(&r->cri_nvidia, "yes", drop_in(p));
	else if (path && sysroot_read(p->root, p->a, path, CONFIG_MAX, &text, NULL) == 0)
		fact_flag(&r->cri_nvidia,
			  view_find(text, "nvidia") >= 0 ||
				  view_find(text, "enable_cdi = true") >= 0,
			  path);
	else
		fact_flag(&r->cri_nvidia, false, configs[2]);
}

/* containerd names the nvidia runtime's program as BinaryName. */
static void containerd(struct probe_ctx *p)
{
	static const char path[] = "/etc/containerd/config.toml";
	struct runtime *r = &p->s->runtime;
	struct view text, line, value;

	if (fact_known(&r->nvidia_runtime) ||
	    sysroot_read(p->root, p->a, path, CONFIG_MAX, &text, NULL) < 0)
		return;
	while (view_line(&text, &line)) {
		line = without_comment(line);
		if (!view_starts(line, "BinaryName") || view_find(line, "nvidia") < 0)
			continue;
		view_cut(line, '=', &value);
		value = unquote(value);
		if (!view_starts(value, "/"))
			continue;
		fact_set(&r->nvidia_runtime, view_dup(p->a, value), path);
		fact_flag(&r->nvidia_file, sysroot_exists(p->root, r->nvidia_runtime.value), path);
		return;
	}
}

static void control_groups(struct probe_ctx *p)
{
	struct fact *f = &p->s->runtime.cgroup;

	if (sysroot_exists(p->root, "/sys/fs/cgroup/cgroup.controllers"))
		fact_set(f, "v2", "/sys/fs/cgroup/cgroup.controllers");
	else if (sysroot_is_dir(p->root, "/sys/fs/cgroup/devices"))
		fact_set(f, "v1", "/sys/fs/cgroup/devices");
	else
		fact_absent(f, "/sys/fs/cgroup");
}

/* -------- CDI */

struct cdi_ctx {
	struct probe_ctx *p;
	struct cdi *c;
	int budget;
};

static bool on_cdi_path(void *ctx, const char *path)
{
	struct cdi_ctx *x = ctx;
	struct stat st;
	int e;

	if (strncmp(path, "/dev/", 5) == 0)
		return true;
	e = sysroot_stat(x->p->root, path, false, &st);
	if (e == -ENOENT || e == -ENOTDIR) {
		fact_set(&x->c->missing, arena_strdup(x->p->a, path), x->c->path.value);
		return false;
	}
	return --x->budget > 0;
}

static void cdi_file(struct probe_ctx *p, const char *path)
{
	enum { PATHS_MAX = 512, FILES_MAX = 32 };
	struct cdi_ctx x = { .p = p, .budget = PATHS_MAX };
	const char *version = NULL;
	struct view text;
	int e;

	if (p->s->n_cdi >= FILES_MAX)
		return;
	e = sysroot_read(p->root, p->a, path, CONFIG_MAX, &text, NULL);
	if (!e && view_find(text, "nvidia.com/") < 0)
		return;
	x.c = ARENA_APPEND(p->a, p->s->cdi, p->s->n_cdi);
	fact_set(&x.c->path, path, path);
	if (e) {
		fact_errno(&x.c->missing, -e, path);
		return;
	}
	cdi_scan(p->a, text, &version, on_cdi_path, &x);
	fact_set(&x.c->version, version, path);
	if (!fact_known(&x.c->missing))
		fact_absent(&x.c->missing, path);
}

static void cdi(struct probe_ctx *p)
{
	static const char *const dirs[] = { "/etc/cdi", "/var/run/cdi", "/run/cdi" };
	struct dirlist list;
	const char *real, *before = "";
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(dirs); i++) {
		/* /var/run is most often a link to /run. */
		if (sysroot_realpath(p->root, p->a, dirs[i], &real) < 0 ||
		    strcmp(real, before) == 0 ||
		    sysroot_list(p->root, p->a, dirs[i], HOMES_MAX, &list) < 0)
			continue;
		before = real;
		for (k = 0; k < list.n; k++) {
			struct view name = view_of(list.names[k]);

			if (view_ends(name, ".yaml") || view_ends(name, ".json") ||
			    view_ends(name, ".yml"))
				cdi_file(p, path_join(p->a, dirs[i], list.names[k]));
		}
	}
}

static void run(struct probe_ctx *p)
{
	struct runtime *r = &p->s->runtime;

	if (!probe_is_running(p))
		return;
	toolkit(p);
	package_version(p, &r->toolkit_version, "nvidia-container-toolkit");
	package_version(p, &r->library_version, "libnvidia-container1");
	library_version(p, &r->library_version);
	docker(p);
	containerd(p);
	kubernetes(p);
	control_groups(p);
	cdi(p);
}

const struct probe probe_runtime = { .name = "runtime", .run = run };

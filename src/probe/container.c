/* SPDX-License-Identifier: Apache-2.0 */
/* Is this a container, and whose?  The most telling mark wins; a plain chroot or a live medium is
 * none. */
#include <string.h>

#include "base/arena.h"
#include "probe/container.h"

enum { MOUNTINFO_MAX = 4 << 20, CGROUP_MAX = 64 << 10 };

struct verdict {
	struct probe_ctx *p;
	struct container *c;
	bool own_disk; /* the root is the top of a disk of its own, as no engine of images makes it
			*/
};

static bool settle(const struct verdict *v, const char *kind, const char *marker,
		   const char *source)
{
	fact_set(&v->c->kind, kind, source);
	fact_set(&v->c->marker, marker, source);
	return true;
}

/* Files that an engine puts into the container. */
static bool by_file(const struct verdict *v)
{
	static const struct {
		const char *path, *kind;
	} rows[] = {
		{ .path = "/.singularity.d", .kind = "singularity" },
		{ .path = "/var/run/secrets/kubernetes.io", .kind = "kubernetes" },
		{ .path = "/run/secrets/kubernetes.io", .kind = "kubernetes" },
		{ .path = "/run/.containerenv", .kind = "podman" },
		{ .path = "/.dockerenv", .kind = "docker" },
		{ .path = "/dev/lxd/sock", .kind = "lxc" },
		{ .path = "/dev/.lxc-boot-id", .kind = "lxc" },
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		/* A virtual machine whose disk was made from an image still has Docker's mark. */
		if (v->own_disk && strcmp(rows[i].path, "/.dockerenv") == 0)
			continue;
		if (sysroot_exists(v->p->root, rows[i].path))
			return settle(v, rows[i].kind, rows[i].path, rows[i].path);
	}
	return false;
}

static bool by_variable(const struct verdict *v, const char *name, const char *kind)
{
	const struct fact *f = snapshot_env_fact(v->p->s, name);

	if (!f || !fact_known(f) || !f->value[0])
		return false;
	return settle(v, kind, arena_printf(v->p->a, "%s=%s", name, f->value), f->source);
}

/* container=... is what systemd's container interface asks engines to set. */
static bool by_container_variable(const struct verdict *v)
{
	static const struct {
		const char *value, *kind;
	} rows[] = {
		{ .value = "podman", .kind = "podman" },
		{ .value = "oci", .kind = "podman" },
		{ .value = "docker", .kind = "docker" },
		{ .value = "lxc", .kind = "lxc" },
		{ .value = "lxc-libvirt", .kind = "lxc" },
		{ .value = "systemd-nspawn", .kind = "lxc" },
	};
	const char *value = snapshot_env(v->p->s, "container");
	size_t i;

	for (i = 0; value && i < ARRAY_LEN(rows); i++)
		if (strcmp(value, rows[i].value) == 0)
			return by_variable(v, "container", rows[i].kind);
	return false;
}

/* Where the process stands in the cgroup tree. With cgroup v2 and a namespace of its own it is just
 * "/". */
static bool by_cgroup(const struct verdict *v, const char *path)
{
	static const struct {
		const char *word, *kind;
	} rows[] = {
		{ .word = "/kubepods", .kind = "kubernetes" },
		{ .word = "kubepods.slice", .kind = "kubernetes" },
		{ .word = "/libpod-", .kind = "podman" },
		{ .word = "/libpod_parent", .kind = "podman" },
		{ .word = "/docker/", .kind = "docker" },
		{ .word = "/docker-", .kind = "docker" },
		{ .word = "/lxc/", .kind = "lxc" },
		{ .word = "/lxc.payload", .kind = "lxc" },
		{ .word = "/machine.slice/libpod", .kind = "podman" },
		{ .word = "/containerd/", .kind = "docker" },
		{ .word = "/ecs/", .kind = "docker" },
	};
	struct view text;
	size_t i;

	if (sysroot_read(v->p->root, v->p->a, path, CGROUP_MAX, &text, NULL) < 0)
		return false;
	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (view_find(text, rows[i].word) >= 0)
			return settle(v, rows[i].kind, rows[i].word, path);
	return false;
}

bool container_mount_line(struct view line, struct container_mount *ret)
{
	struct view word = { 0 };
	int i;

	for (i = 0; i < 5; i++)
		if (!view_word(&line, &word))
			return false;
	ret->point = word;
	do {
		if (!view_word(&line, &word))
			return false;
	} while (!view_is(word, "-"));
	return view_word(&line, &ret->type) && view_word(&line, &word) &&
	       view_word(&line, &ret->options);
}

bool container_size_option(struct view options, int64_t *ret)
{
	struct view option;
	uint64_t n, unit = 1;

	while (options.n) {
		option = view_cut(options, ',', &options);
		if (!view_starts(option, "size="))
			continue;
		option = view_skip(option, 5);
		if (view_ends(option, "k"))
			unit = 1 << 10;
		else if (view_ends(option, "m"))
			unit = 1 << 20;
		else if (view_ends(option, "g"))
			unit = 1 << 30;
		option.n -= unit > 1;
		if (!view_u64(option, 10, &n) || n >= INT64_MAX / unit)
			return false;
		*ret = (int64_t)(n * unit);
		return true;
	}
	return false;
}

/* "/ / ... - ext4 /dev/vda rw": the top of a whole disk or partition. A layer of Docker's device
 * mapper lies in /dev/mapper, one of its vfs driver below the top. */
static bool is_own_disk(struct view line)
{
	static const char *const disks[] = { "/dev/vd", "/dev/sd", "/dev/nvme", "/dev/xvd",
					     "/dev/mmcblk", "/dev/pmem" };
	struct view word = { 0 }, root = { 0 };
	size_t i;

	for (i = 0; i < 4 && view_word(&line, &word); i++)
		root = word;
	while (view_word(&line, &word) && !view_is(word, "-"))
		;
	if (!view_is(root, "/") || !view_word(&line, &word) || !view_word(&line, &word))
		return false;
	for (i = 0; i < ARRAY_LEN(disks); i++)
		if (view_starts(word, disks[i]))
			return true;
	return false;
}

/* An overlay as root is a container's when it lies where an engine keeps its layers. */
static bool by_mounts(struct verdict *v)
{
	static const char path[] = "/proc/self/mountinfo";
	static const struct {
		const char *word, *kind;
	} rows[] = {
		{ .word = "/containers/storage/", .kind = "podman" },
		{ .word = "/docker/", .kind = "docker" },
		{ .word = "/containerd", .kind = "docker" },
		{ .word = "/kubelet/", .kind = "kubernetes" },
		{ .word = "/singularity/", .kind = "singularity" },
		{ .word = "/apptainer/", .kind = "singularity" },
	};
	struct view text, line;
	struct container_mount m;
	int64_t bytes;
	bool found = false;
	size_t i;

	if (sysroot_read(v->p->root, v->p->a, path, MOUNTINFO_MAX, &text, NULL) < 0)
		return false;
	while (view_line(&text, &line)) {
		if (!container_mount_line(line, &m))
			continue;
		if (view_is(m.point, "/"))
			v->own_disk = is_own_disk(line);
		if (view_is(m.point, "/dev/shm") &&
		    v->p->s->host.shm_bytes.state == FACT_NOT_ASKED &&
		    container_size_option(m.options, &bytes))
			fact_int(v->p->a, &v->p->s->host.shm_bytes, bytes, path);
		for (i = 0; !found && view_is(m.point, "/") && i < ARRAY_LEN(rows); i++)
			if (view_find(m.options, rows[i].word) >= 0)
				found = settle(v, rows[i].kind, "overlay", path);
	}
	return found;
}

static void run(struct probe_ctx *p)
{
	struct verdict v = { .p = p, .c = &p->s->container };
	bool found, overlay;

	if (!probe_is_running(p)) {
		settle(&v, "image", p->root->dir, p->root->dir);
		fact_flag(&p->s->parts.container, true, p->root->dir);
		return;
	}
	overlay = by_mounts(&v);
	/* Kubernetes starts containers through engines that leave their own marks: it is asked
	 * before those. */
	found = by_variable(&v, "SINGULARITY_NAME", "singularity") ||
		by_variable(&v, "APPTAINER_NAME", "singularity") ||
		by_variable(&v, "KUBERNETES_SERVICE_HOST", "kubernetes") || by_file(&v) ||
		by_container_variable(&v) || by_cgroup(&v, "/proc/self/cgroup") ||
		by_cgroup(&v, "/proc/1/cgroup") || overlay;
	if (!found) {
		fact_set(&v.c->kind, "none", "/proc/self/cgroup, /proc/self/mountinfo");
		fact_absent(&v.c->marker, p->root->dir);
	}
}

const struct probe probe_container = { .name = "container", .run = run };

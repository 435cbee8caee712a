/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a container, a suspended machine or a security module left as traces: mounts of driver
 * files, the user namespace, wake-ups, SELinux, limits. Whose container it is: container.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "base/arena.h"
#include "probe/boundary.h"

enum { MOUNTINFO_MAX = 4 << 20, MOUNTS_MAX = 256, RULES_MAX = 128 };

static bool is_driver_file(const char *base)
{
	return strncmp(base, "libcuda.so", 10) == 0 || strncmp(base, "libnvidia-", 10) == 0 ||
	       strncmp(base, "libcudadebugger.so", 18) == 0;
}

static void append(struct probe_ctx *p, struct fact_list *l, const char *value, const char *source)
{
	if (l->n >= MOUNTS_MAX)
		return;
	*ARENA_APPEND(p->a, l->values, l->n) = value;
	l->state = FACT_KNOWN;
	l->source = source;
}

void boundary_mounts(struct probe_ctx *p, struct view text, const char *source)
{
	struct container *c = &p->s->container;
	struct view line, word = { 0 }, root = { 0 };
	const char *point;
	int i;

	while (view_line(&text, &line)) {
		for (i = 0; i < 5 && view_word(&line, &word); i++)
			if (i == 3)
				root = word;
		point = i == 5 ? view_dup(p->a, word) : "";
		if (!strchr(point, '/') || !is_driver_file(strrchr(point, '/') + 1))
			continue;
		append(p, &c->mounted, point, source);
		/* The kernel marks a file that is gone; in mountinfo behind a second slash. */
		if (view_ends(root, "//deleted") || view_ends(root, "\\040(deleted)"))
			append(p, &c->deleted, point, source);
	}
}

/* "0 0 4294967295" is the machine's own; anything else, a user namespace. */
static void user_namespace(struct probe_ctx *p)
{
	static const char path[] = "/proc/self/uid_map";
	struct fact *f = &p->s->container.rootless;
	struct view text, inside, outside, count;
	int e = sysroot_read(p->root, p->a, path, 4096, &text, NULL);

	if (e)
		fact_errno(f, -e, path);
	else if (view_word(&text, &inside) && view_word(&text, &outside) &&
		 view_word(&text, &count))
		fact_flag(f, !view_is(inside, "0") || !view_is(outside, "0"), path);
	else
		fact_broken(f, path, _("no three numbers"));
}

/* "12:devices:/docker/0123": the path of the hierarchy that holds device rules; NULL without one.
 */
static const char *devices_group(struct probe_ctx *p, struct view text)
{
	struct view line, controllers, one, path;

	while (view_line(&text, &line)) {
		view_cut(line, ':', &line);
		controllers = view_cut(line, ':', &path);
		while (controllers.n) {
			one = view_cut(controllers, ',', &controllers);
			if (view_is(one, "devices"))
				return view_dup(p->a, path);
		}
	}
	return NULL;
}

/*
 * Which devices the control group lets through (v1: "c 195:* rwm", "a *:* rwm"). With v2 they are a
 * program in the kernel that nobody can read; what it refuses shows when a node is opened.
 */
static void device_rules(struct probe_ctx *p)
{
	static const char own[] = "/proc/self/cgroup", top[] = "/sys/fs/cgroup/devices";
	struct fact_list *list = &p->s->container.device_rules;
	const char *group = NULL, *path;
	struct view text, line;
	size_t n = 0;

	if (sysroot_read(p->root, p->a, own, 64 << 10, &text, NULL) == 0)
		group = devices_group(p, text);
	if (!group)
		return;
	path = arena_printf(p->a, "%s%s/devices.list", top, strcmp(group, "/") ? group : "");
	/* In a container of its own the hierarchy is mounted at the group itself. */
	if (sysroot_read(p->root, p->a, path, 64 << 10, &text, NULL) < 0) {
		path = arena_printf(p->a, "%s/devices.list", top);
		if (sysroot_read(p->root, p->a, path, 64 << 10, &text, NULL) < 0)
			return;
	}
	fact_list_set(list, NULL, 0, path);
	while (n++ < RULES_MAX && view_line(&text, &line))
		append(p, list, view_dup(p->a, view_trim(line)), path);
}

static void selinux(struct probe_ctx *p)
{
	static const char path[] = "/sys/fs/selinux/enforce";
	struct fact *f = &p->s->host.selinux;
	const char *line;
	int e = sysroot_read_line(p->root, p->a, path, &line);

	if (e)
		fact_errno(f, -e, path);
	else
		fact_set(f, strcmp(line, "1") == 0 ? "enforcing" : "permissive", path);
}

static void limits(struct probe_ctx *p)
{
	struct fact *f = &p->s->host.memlock;
	struct rlimit r;

	if (!p->root->live || getrlimit(RLIMIT_MEMLOCK, &r) < 0)
		return;
	if (r.rlim_cur == RLIM_INFINITY)
		fact_set(f, "unlimited", "getrlimit");
	else
		fact_int(p->a, f, (int64_t)r.rlim_cur, "getrlimit");
}

static void run(struct probe_ctx *p)
{
	static const char mountinfo[] = "/proc/self/mountinfo";
	struct view text;

	if (!probe_is_running(p))
		return;
	fact_list_set(&p->s->container.mounted, NULL, 0, mountinfo);
	fact_list_set(&p->s->container.deleted, NULL, 0, mountinfo);
	if (sysroot_read(p->root, p->a, mountinfo, MOUNTINFO_MAX, &text, NULL) == 0)
		boundary_mounts(p, text, mountinfo);
	user_namespace(p);
	device_rules(p);
	selinux(p);
	limits(p);
	sysroot_fact(p->root, p->a, "/sys/power/suspend_stats/success", &p->s->host.suspends);
}

const struct probe probe_boundary = { .name = "boundary", .run = run };

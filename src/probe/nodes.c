/* SPDX-License-Identifier: Apache-2.0 */
/* Device nodes of GPUs: there, and may they be opened?  Live, or by the table of the facts file. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/arena.h"
#include "base/errname.h"
#include "base/json.h"
#include "probe/probe.h"
#include "sys/live_node.h"

enum { NODES_MAX = 512, DEV_MAX = 8192 };

/* A star at the end: all that begin so. */
static const char *const wanted[] = {
	"nvidia*", "dxg", "kfd", "nvmap", "nvhost-*", "nvgpu*", "nvsciipc",
};

/* Opening these starts no GPU. */
static const char *const harmless[] = { "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "dxg" };

static bool is_wanted(const char *name)
{
	size_t i, n;

	for (i = 0; i < ARRAY_LEN(wanted); i++) {
		n = strlen(wanted[i]);
		if (wanted[i][n - 1] == '*' ? strncmp(name, wanted[i], n - 1) == 0
					    : strcmp(name, wanted[i]) == 0)
			return true;
	}
	return false;
}

static bool is_harmless(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(harmless); i++)
		if (strcmp(name, harmless[i]) == 0)
			return true;
	return false;
}

/* Character devices whose major number no driver has: opening gives ENXIO. */
static bool major_has_driver(struct view devices, unsigned major_number)
{
	struct view line, word;
	uint64_t n;

	if (!devices.n)
		return true; /* the list could not be read */
	while (view_line(&devices, &line)) {
		if (view_starts(line, "Block devices"))
			break;
		if (view_word(&line, &word) && view_u64(word, 10, &n) && n == major_number)
			return true;
	}
	return false;
}

static void live_open(struct probe_ctx *p, struct node *n, const char *path, const struct stat *st,
		      struct view devices)
{
	int e = live_node_access(path, is_harmless(n->name.value));

	if (!e && !major_has_driver(devices, major(st->st_rdev)))
		e = ENXIO;
	fact_set(&n->open, e ? errname(e) : "ok",
		 arena_printf(p->a, is_harmless(n->name.value) ? "open(%s)" : "access(%s)", path));
}

static void live_node(struct probe_ctx *p, const char *name, struct view devices)
{
	const char *path = path_join(p->a, "/dev", name);
	struct snapshot *s = p->s;
	struct node *n;
	struct stat st;
	int e = sysroot_stat(p->root, path, true, &st);

	if ((e && e != -EACCES) || (!e && S_ISDIR(st.st_mode)) || s->n_nodes >= NODES_MAX)
		return;
	n = ARENA_APPEND(p->a, s->nodes, s->n_nodes);
	fact_set(&n->name, name, path);
	if (e) {
		fact_errno(&n->open, -e, path);
		return;
	}
	fact_set(&n->type, S_ISCHR(st.st_mode) ? "c" : S_ISBLK(st.st_mode) ? "b" : "other", path);
	fact_set(&n->mode, arena_printf(p->a, "%04o", (unsigned)st.st_mode & 07777), path);
	fact_int(p->a, &n->uid, (int64_t)st.st_uid, path);
	fact_int(p->a, &n->gid, (int64_t)st.st_gid, path);
	fact_int(p->a, &n->major, (int64_t)major(st.st_rdev), path);
	fact_int(p->a, &n->minor, (int64_t)minor(st.st_rdev), path);
	if (S_ISCHR(st.st_mode))
		live_open(p, n, path, &st, devices);
	else
		fact_set(&n->open, "ENODEV",
			 path); /* a file in the node's place: a mount gone wrong */
}

static void live(struct probe_ctx *p)
{
	struct dirlist list, caps;
	struct view devices = { 0 };
	size_t i;
	int e = sysroot_list(p->root, p->a, "/dev", DEV_MAX, &list);

	if (e) {
		fact_errno(&p->s->parts.nodes, -e, "/dev");
		return;
	}
	fact_flag(&p->s->parts.nodes, true, "/dev");
	if (sysroot_read(p->root, p->a, "/proc/devices", SYSROOT_TEXT_MAX, &devices, NULL) < 0)
		devices.n = 0;
	for (i = 0; i < list.n; i++)
		if (is_wanted(list.names[i]))
			live_node(p, list.names[i], devices);
	if (sysroot_list(p->root, p->a, "/dev/nvidia-caps", NODES_MAX, &caps) < 0)
		return;
	for (i = 0; i < caps.n; i++)
		live_node(p, path_join(p->a, "nvidia-caps", caps.names[i]), devices);
}

/* By mode, owner and group, as the kernel judges a process without capabilities; root passes. */
static bool may_open(const struct snapshot *s, int64_t mode, const char *uid, const char *gid)
{
	int64_t shift = 0;

	if (fact_is(&s->host.euid, "0"))
		return true;
	if (fact_is(&s->host.euid, uid))
		shift = 6;
	else if (fact_list_has(&s->host.gids, gid))
		shift = 3;
	return (mode >> shift & 6) == 6;
}

static void facts_node(struct probe_ctx *p, const struct json *j)
{
	const char *source = arena_printf(p->a, "%s: dev", p->facts_name),
		   *mode = json_get_str(j, "mode");
	struct node *n = ARENA_APPEND(p->a, p->s->nodes, p->s->n_nodes);
	const char *how = json_get_str(j, "open"), *type = json_get_str(j, "type");
	int64_t uid = 0, gid = 0, x;
	uint64_t bits = 0;
	size_t i;

	fact_set(&n->name, json_key(j), source);
	fact_set(&n->type, type, source);
	fact_set(&n->mode, mode, source);
	if (json_get_int(j, "uid", &uid))
		fact_int(p->a, &n->uid, uid, source);
	if (json_get_int(j, "gid", &gid))
		fact_int(p->a, &n->gid, gid, source);
	if (json_get_int(j, "major", &x))
		fact_int(p->a, &n->major, x, source);
	if (json_get_int(j, "minor", &x))
		fact_int(p->a, &n->minor, x, source);
	if (how) {
		fact_set(&n->open, how, source);
		return;
	}
	if (!mode || !fact_known(&n->uid) || !fact_known(&n->gid) || !fact_known(&p->s->host.euid))
		return;
	for (i = 0; mode[i] >= '0' && mode[i] <= '7' && i < 6; i++)
		bits = bits * 8 + (uint64_t)(mode[i] - '0');
	if (mode[i] || !i)
		fact_broken(&n->open, source, _("the mode is no octal number"));
	else if (type && strcmp(type, "c") != 0)
		fact_set(&n->open, "ENODEV", source);
	else
		fact_set(&n->open,
			 may_open(p->s, (int64_t)bits, n->uid.value, n->gid.value) ? "ok"
										   : "EACCES",
			 source);
}

static void run(struct probe_ctx *p)
{
	const struct json *dev = json_get(p->facts, "dev"), *j;

	if (p->root->live) {
		live(p);
		return;
	}
	for (j = json_first(dev); j && p->s->n_nodes < NODES_MAX; j = json_next(j))
		if (json_key(j) && json_type(j) == JSON_OBJECT)
			facts_node(p, j);
}

const struct probe probe_nodes = { .name = "nodes", .run = run };

/* SPDX-License-Identifier: Apache-2.0 */
/* The operating system: distribution, kernel, WSL, Secure Boot. The C library is in libc.c. */
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "probe/host.h"
#include "sys/ldso.h"

enum { OS_RELEASE_MAX = 64 << 10, VALUE_MAX = 256 };

/* Shell quoting of os-release(5): double quotes with backslashes, single quotes, or none. */
static const char *unquote(struct arena *a, struct view v)
{
	char quote = '\0';
	struct strbuf b;
	size_t i;

	strbuf_init(&b, a);
	for (i = 0; i < v.n && b.n < VALUE_MAX; i++) {
		if (quote ? v.p[i] == quote : v.p[i] == '"' || v.p[i] == '\'')
			quote = quote ? '\0' : v.p[i];
		else if (v.p[i] == '\\' && quote != '\'' && i + 1 < v.n)
			strbuf_addc(&b, v.p[++i]);
		else if (v.p[i])
			strbuf_addc(&b, v.p[i]);
	}
	return b.s;
}

void host_os_release(struct arena *a, struct view text, const char *source, struct host *h)
{
	struct view line, key, value;
	const struct {
		const char *key;
		struct fact *fact;
	} wanted[] = {
		{ .key = "ID", .fact = &h->os_id },
		{ .key = "VERSION_ID", .fact = &h->os_version },
		{ .key = "PRETTY_NAME", .fact = &h->os_name },
		{ .key = "ID_LIKE", .fact = &h->os_like },
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(wanted); i++)
		fact_absent(wanted[i].fact, source);
	while (view_line(&text, &line)) {
		key = view_cut(view_trim(line), '=', &value);
		for (i = 0; i < ARRAY_LEN(wanted); i++)
			if (view_is(key, wanted[i].key) && value.n)
				fact_set(wanted[i].fact, unquote(a, value), source);
	}
	/* An empty value (VERSION_ID="" of a rolling release) says nothing. */
	for (i = 0; i < ARRAY_LEN(wanted); i++)
		if (fact_is(wanted[i].fact, ""))
			fact_absent(wanted[i].fact, source);
}

static void distribution(struct probe_ctx *p)
{
	static const char *const paths[] = { "/etc/os-release", "/usr/lib/os-release" };
	struct host *h = &p->s->host;
	struct view text;
	int e = 0, first = 0;
	size_t i;

	for (i = 0; i < ARRAY_LEN(paths); i++) {
		e = sysroot_read(p->root, p->a, paths[i], OS_RELEASE_MAX, &text, NULL);
		if (!e) {
			host_os_release(p->a, text, paths[i], h);
			return;
		}
		if (!first || first == -ENOENT)
			first = e;
	}
	fact_errno(&h->os_id, -first, paths[0]);
	fact_errno(&h->os_version, -first, paths[0]);
	fact_errno(&h->os_name, -first, paths[0]);
}

static void kernel(struct probe_ctx *p)
{
	struct host *h = &p->s->host;
	const char *source;

	if (!fact_known(&h->kernel) && probe_is_running(p))
		sysroot_fact(p->root, p->a, "/proc/sys/kernel/osrelease", &h->kernel);
	/* An image says by its loader what it was built for. */
	if (!fact_known(&h->arch)) {
		const char *arch = ldso_arch(p->root, &source);

		if (arch)
			fact_set(&h->arch, arch, source);
	}
}

const char *host_system(const char *release)
{
	/* "4.4.0-19041-Microsoft" is WSL 1; "5.15.153.1-microsoft-standard-WSL2" and own kernels
	 * named so, WSL 2. */
	if (strstr(release, "-Microsoft") && strncmp(release, "4.4.", 4) == 0)
		return "wsl1";
	if (strcasestr(release, "microsoft") || strstr(release, "WSL2"))
		return "wsl2";
	return "linux";
}

static void kind(struct probe_ctx *p)
{
	struct host *h = &p->s->host;

	if (fact_known(&h->kernel))
		fact_set(&h->system, host_system(h->kernel.value), h->kernel.source);
	else if (fact_known(&h->os_id))
		fact_set(&h->system, "linux", h->os_id.source);
	/* A kernel of one's own below WSL need not carry the name; its interop handler does. */
	if (probe_is_running(p) && fact_is(&h->system, "linux") &&
	    sysroot_exists(p->root, "/dev/dxg") &&
	    sysroot_exists(p->root, "/proc/sys/fs/binfmt_misc/WSLInterop"))
		fact_set(&h->system, "wsl2", "/proc/sys/fs/binfmt_misc/WSLInterop");
}

/* The variable's fifth byte; four bytes of attributes stand in front (UEFI specification, 8.2). */
static void secure_boot(struct probe_ctx *p)
{
	static const char path[] =
		"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
	struct fact *f = &p->s->host.secure_boot;
	struct view v;
	int e = sysroot_read(p->root, p->a, path, 16, &v, NULL);

	if (e)
		fact_errno(f, -e, path);
	else if (v.n != 5 || (unsigned char)v.p[4] > 1)
		fact_broken(f, path, _("not the variable's five bytes"));
	else
		fact_flag(f, v.p[4] == 1, path);
}

/* "none [integrity] confidentiality": the word in brackets holds. */
static void lockdown(struct probe_ctx *p)
{
	static const char path[] = "/sys/kernel/security/lockdown";
	struct fact *f = &p->s->host.lockdown;
	const char *line, *open, *close;
	int e = sysroot_read_line(p->root, p->a, path, &line);

	if (e) {
		fact_errno(f, -e, path);
		return;
	}
	open = strchr(line, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		fact_set(f, arena_strndup(p->a, open + 1, (size_t)(close - open - 1)), path);
	else
		fact_broken(f, path, _("no mode in brackets"));
}

static void shared_memory(struct probe_ctx *p)
{
	struct fact *f = &p->s->host.shm_bytes;
	struct statvfs fs;
	int64_t n;

	if (p->root->live) {
		if (statvfs("/dev/shm", &fs) < 0)
			fact_errno(f, errno, "/dev/shm");
		else
			fact_int(p->a, f, (int64_t)(fs.f_blocks * fs.f_frsize),
				 "statvfs(/dev/shm)");
	} else if (json_get_int(p->facts, "shm_bytes", &n)) {
		fact_int(p->a, f, n, arena_printf(p->a, "%s: shm_bytes", p->facts_name));
	}
}

/* "MemTotal:  65842344 kB"; in a container its limit, where that is lower. */
static void memory(struct probe_ctx *p)
{
	static const char total[] = "/proc/meminfo", limit[] = "/sys/fs/cgroup/memory.max";
	struct fact *f = &p->s->host.memory_mib;
	struct view text, line, word;
	const char *max;
	uint64_t n, most;
	int e = sysroot_read(p->root, p->a, total, 64 << 10, &text, NULL);

	if (e) {
		fact_errno(f, -e, total);
		return;
	}
	while (view_line(&text, &line))
		if (view_starts(line, "MemTotal:")) {
			line = view_skip(line, strlen("MemTotal:"));
			if (view_word(&line, &word) && view_u64(word, 10, &n) && n >> 10 < 1 << 30)
				fact_int(p->a, f, (int64_t)(n >> 10), total);
			break;
		}
	if (!fact_known(f)) {
		fact_broken(f, total, _("no MemTotal in it"));
		return;
	}
	if (sysroot_read_line(p->root, p->a, limit, &max) == 0 &&
	    view_u64(view_of(max), 10, &most) && most >> 20 && most >> 20 < n >> 10)
		fact_int(p->a, f, (int64_t)(most >> 20), limit);
}

static void run(struct probe_ctx *p)
{
	distribution(p);
	kernel(p);
	kind(p);
	host_libc(p);
	if (!probe_is_running(p))
		return;
	secure_boot(p);
	lockdown(p);
	sysroot_fact(p->root, p->a, "/proc/cmdline", &p->s->host.cmdline);
	shared_memory(p);
	memory(p);
}

const struct probe probe_host = { .name = "host", .run = run };

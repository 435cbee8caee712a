/* SPDX-License-Identifier: Apache-2.0 */
/* Which C library a root has, and its version, from files alone; only this machine's own may be
 * called. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "base/arena.h"
#include "model/version.h"
#include "probe/host.h"
#include "sys/ldso.h"

enum {
	SEARCH_MAX = 16 << 20, /* libc.so.6 has 2 MiB; its banner stands among the read-only data */
	CHUNK = 64 << 10,
	OVERLAP = 256, /* longer than the banner */
	DPKG_MAX = 16 << 20,
};

/* "2.31" of "libc-2.31.so" and "ld-2.31.so", as glibc before 2.34 named its files. */
static const char *version_in_name(struct arena *a, const char *name, const char *stem)
{
	struct view v = view_of(name);
	struct version x;

	if (!view_starts(v, stem) || !view_ends(v, ".so") || v.n <= strlen(stem) + 3)
		return NULL;
	v = view_skip(v, strlen(stem));
	v.n -= 3;
	return version_parse(v, &x) ? view_dup(a, v) : NULL;
}

const char *host_glibc_text(struct arena *a, struct view text)
{
	ptrdiff_t at = view_find(text, "GNU C Library (");
	struct view rest;
	size_t n = 0;

	if (at < 0)
		return NULL;
	rest = view_skip(text, (size_t)at);
	if (rest.n > OVERLAP)
		rest.n = OVERLAP;
	at = view_find(rest, "release version ");
	if (at < 0)
		return NULL;
	rest = view_skip(rest, (size_t)at + strlen("release version "));
	while (n < rest.n && ((rest.p[n] >= '0' && rest.p[n] <= '9') || rest.p[n] == '.'))
		n++;
	while (n && rest.p[n - 1] == '.')
		n--;
	return n && n < 16 ? arena_strndup(a, rest.p, n) : NULL;
}

/* Searches the file piece by piece; pieces overlap, so that the banner is whole in one of them. */
static const char *version_in_file(struct probe_ctx *p, const char *path)
{
	_cleanup_fd_ int fd = sysroot_open_file(p->root, path);
	char *buf = arena_alloc(p->a, CHUNK + OVERLAP);
	const char *version = NULL;
	size_t kept = 0, total = 0;
	ssize_t n;

	while (fd >= 0 && !version && total < SEARCH_MAX) {
		n = read(fd, buf + kept, CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		total += (size_t)n;
		kept += (size_t)n;
		version = host_glibc_text(p->a, (struct view){ .p = buf, .n = kept });
		if (kept > OVERLAP) {
			memmove(buf, buf + kept - OVERLAP, OVERLAP);
			kept = OVERLAP;
		}
	}
	return version;
}

/* By the file's name, else by its banner. */
static bool glibc_of_file(struct probe_ctx *p, const char *path)
{
	const char *real, *version;

	if (sysroot_realpath(p->root, p->a, path, &real) < 0)
		return false;
	version = version_in_name(p->a, path_base(real), "libc-");
	if (!version)
		version = version_in_file(p, real);
	if (version)
		fact_set(&p->s->host.glibc, version, real);
	return version != NULL;
}

static bool glibc_of_loader(struct probe_ctx *p)
{
	const char *source, *real, *version;

	if (!ldso_arch(p->root, &source) || sysroot_realpath(p->root, p->a, source, &real) < 0)
		return false;
	version = version_in_name(p->a, path_base(real), "ld-");
	if (version)
		fact_set(&p->s->host.glibc, version, real);
	return version != NULL;
}

/* Debian's own list of what is installed: images without a readable libc still have it. */
static bool glibc_of_dpkg(struct probe_ctx *p)
{
	static const char path[] = "/var/lib/dpkg/status";
	struct view text, line;
	struct version v;
	bool here = false;

	if (sysroot_read(p->root, p->a, path, DPKG_MAX, &text, NULL) < 0)
		return false;
	while (view_line(&text, &line)) {
		if (view_starts(line, "Package:"))
			here = view_is(view_trim(view_skip(line, 8)), "libc6");
		if (!here || !view_starts(line, "Version:") ||
		    !version_prefix(view_trim(view_skip(line, 8)), &v))
			continue;
		fact_set(&p->s->host.glibc, arena_printf(p->a, "%u.%u", v.part[0], v.part[1]),
			 path);
		return true;
	}
	return false;
}

static const char *musl_loader(struct probe_ctx *p)
{
	struct dirlist list;
	size_t i;

	if (sysroot_list(p->root, p->a, "/lib", 4096, &list) < 0)
		return NULL;
	for (i = 0; i < list.n; i++)
		if (strncmp(list.names[i], "ld-musl-", 8) == 0)
			return path_join(p->a, "/lib", list.names[i]);
	return NULL;
}

void host_libc(struct probe_ctx *p)
{
	struct host *h = &p->s->host;
	const char *const *dir;
	const char *musl;
	bool found = false;

#ifdef __GLIBC__
	/* This program runs on it; the static one brings a libc of its own, and looks at files. */
	if (p->root->live) {
		fact_set(&h->libc, "glibc", "gnu_get_libc_version");
		fact_set(&h->glibc, gnu_get_libc_version(), "gnu_get_libc_version");
		return;
	}
#endif
	for (dir = ldso_default_dirs(fact_value(&h->arch, NULL)); *dir && !found; dir++)
		found = glibc_of_file(p, path_join(p->a, *dir, "libc.so.6"));
	found = found || glibc_of_loader(p);
	if (!found && (musl = musl_loader(p)) != NULL) {
		fact_set(&h->libc, "musl", musl);
		fact_absent(&h->glibc, musl);
		return;
	}
	if (found || glibc_of_dpkg(p))
		fact_set(&h->libc, "glibc", h->glibc.source);
	else
		fact_absent(&h->glibc, p->root->dir);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The loader's search for one name. It must take its order from ld.so(8), not from where files
 * usually lie. */
#include "sys/ldso.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/errname.h"
#include "base/strbuf.h"
#include "sys/elf.h"

enum { DIRS_MAX = 256, HITS_MAX = 64 };

static const struct {
	const char *arch, *file, *musl;
} loaders[] = {
	{ .arch = "x86_64",
	  .file = "/lib64/ld-linux-x86-64.so.2",
	  .musl = "/lib/ld-musl-x86_64.so.1" },
	{ .arch = "aarch64",
	  .file = "/lib/ld-linux-aarch64.so.1",
	  .musl = "/lib/ld-musl-aarch64.so.1" },
};

const char *ldso_arch(const struct sysroot *r, const char **ret_source)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(loaders); i++) {
		if (sysroot_exists(r, loaders[i].file))
			*ret_source = loaders[i].file;
		else if (sysroot_exists(r, loaders[i].musl))
			*ret_source = loaders[i].musl;
		else
			continue;
		return loaders[i].arch;
	}
	return NULL;
}

const char *const *ldso_default_dirs(const char *arch)
{
	/* Debian's own directories, then those of Fedora, SUSE and upstream, then those of Arch. */
	static const char *const x86_64[] = { "/lib/x86_64-linux-gnu",
					      "/usr/lib/x86_64-linux-gnu",
					      "/lib64",
					      "/usr/lib64",
					      "/lib",
					      "/usr/lib",
					      NULL };
	static const char *const aarch64[] = { "/lib/aarch64-linux-gnu",
					       "/usr/lib/aarch64-linux-gnu",
					       "/lib64",
					       "/usr/lib64",
					       "/lib",
					       "/usr/lib",
					       NULL };
	static const char *const other[] = { "/lib64", "/usr/lib64", "/lib", "/usr/lib", NULL };

	if (arch && strcmp(arch, "x86_64") == 0)
		return x86_64;
	return arch && strcmp(arch, "aarch64") == 0 ? aarch64 : other;
}

static void add_dir(struct ldso *l, const char *path, const char *via)
{
	struct ldso_dir *d;

	if (l->n_dirs >= DIRS_MAX)
		return;
	d = ARENA_APPEND(l->a, l->dirs, l->n_dirs);
	d->path = path;
	d->via = via;
}

/* $LIB and $PLATFORM; NULL for $ORIGIN, since which program asks is not known, and for unknown
 * tokens. */
static const char *expand(const struct ldso *l, struct view dir)
{
	bool multi =
		l->arch && sysroot_is_dir(l->r, arena_printf(l->a, "/lib/%s-linux-gnu", l->arch));
	const char *lib = multi ? arena_printf(l->a, "lib/%s-linux-gnu", l->arch) : "lib64";
	struct strbuf b;
	size_t i = 0, k;

	static const char *const tokens[] = { "${LIB}", "$LIB", "${PLATFORM}", "$PLATFORM" };

	strbuf_init(&b, l->a);
	while (i < dir.n) {
		if (dir.p[i] != '$') {
			strbuf_addc(&b, dir.p[i++]);
			continue;
		}
		for (k = 0; k < ARRAY_LEN(tokens); k++)
			if (view_starts(view_skip(dir, i), tokens[k]))
				break;
		if (k == ARRAY_LEN(tokens) || (k >= 2 && !l->arch))
			return NULL;
		strbuf_add(&b, k < 2 ? lib : l->arch);
		i += strlen(tokens[k]);
	}
	return b.s;
}

/* Colons and semicolons part; what is not absolute depends on a working directory that is not
 * known. */
static void library_path(struct ldso *l, struct view text)
{
	size_t n;
	struct view dir;

	while (text.n) {
		for (n = 0; n < text.n && text.p[n] != ':' && text.p[n] != ';'; n++)
			;
		dir = (struct view){ .p = text.p, .n = n };
		text = view_skip(text, n + 1);
		if (dir.n && dir.p[0] == '/') {
			const char *path =
				memchr(dir.p, '$', dir.n) ? expand(l, dir) : view_dup(l->a, dir);

			if (path)
				add_dir(l, path, "LD_LIBRARY_PATH");
		}
	}
	l->n_env = l->n_dirs;
}

static bool is_musl(const struct ldso *l)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(loaders); i++)
		if (sysroot_exists(l->r, loaders[i].file))
			return false;
	for (i = 0; i < ARRAY_LEN(loaders); i++)
		if (sysroot_exists(l->r, loaders[i].musl))
			return true;
	return false;
}

void ldso_init(struct ldso *l, const struct sysroot *r, struct arena *a, const char *arch,
	       const char *path)
{
	static const char *const musl_dirs[] = { "/lib", "/usr/local/lib", "/usr/lib", NULL };
	const char *const *dirs;
	const char *source;

	*l = (struct ldso){ .a = a, .r = r, .arch = arch ? arch : ldso_arch(r, &source) };
	l->musl = is_musl(l);
	library_path(l, view_of(path));
	l->cache_error = l->musl ? ENOENT : -ldcache_read(r, a, &l->cache);
	for (dirs = l->musl ? musl_dirs : ldso_default_dirs(l->arch); *dirs; dirs++)
		add_dir(l, *dirs, "default");
}

static bool for_this_machine(const struct ldso *l, const struct elf *e)
{
	return !l->arch || strcmp(l->arch, elf_machine_name(e)) == 0;
}

/* Looks at one candidate; false when nothing is there, or it is for another machine. */
static bool look(const struct ldso *l, const char *path, struct ldso_hit *ret)
{
	const char *link = NULL;
	struct elf e;
	_cleanup_fd_ int fd = sysroot_open_file(l->r, path);

	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP) {
		if (sysroot_readlink(l->r, l->a, path, &link) < 0)
			return false;
		ret->broken = true;
		ret->error = -fd;
		ret->why = fd == -ELOOP ? _("link loop")
					: arena_printf(l->a, _("dangling link to %s"), link);
		return true;
	}
	if (sysroot_realpath(l->r, l->a, path, &ret->real) < 0)
		ret->real = NULL;
	if (fd == -EINVAL) {
		ret->broken = true;
		ret->why = _("not a regular file");
	} else if (fd < 0) {
		ret->broken = true;
		ret->error = -fd;
		ret->why = errname(-fd);
	} else if (elf_read(l->a, fd, &e) < 0) {
		ret->broken = true;
		ret->why = _("not an ELF file");
	} else if (!for_this_machine(l, &e)) {
		return false;
	}
	return true;
}

static bool is_known(const struct ldso_hit *hits, size_t n, const struct ldso_hit *h)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(hits[i].path, h->path) == 0 ||
		    (h->real && hits[i].real && strcmp(hits[i].real, h->real) == 0))
			return true;
	return false;
}

static void try(const struct ldso *l, const char *path, const char *via, struct ldso_hit **hits,
		size_t *n)
{
	struct ldso_hit h = { .path = path, .via = via };

	if (*n < HITS_MAX && look(l, path, &h) && !is_known(*hits, *n, &h))
		*ARENA_APPEND(l->a, *hits, *n) = h;
}

size_t ldso_search(const struct ldso *l, const char *name, struct ldso_hit **ret)
{
	int flags = ldcache_flags(l->arch);
	struct ldcache_entry e;
	size_t n = 0, i, pos = 0;

	*ret = NULL;
	for (i = 0; i < l->n_env; i++)
		try(l, path_join(l->a, l->dirs[i].path, name), l->dirs[i].via, ret, &n);
	while (!l->cache_error && ldcache_find(&l->cache, name, flags, &pos, &e))
		if (e.path[0] == '/')
			try(l, arena_strdup(l->a, e.path), "ld.so.cache", ret, &n);
	for (; i < l->n_dirs; i++)
		try(l, path_join(l->a, l->dirs[i].path, name), l->dirs[i].via, ret, &n);
	return n;
}

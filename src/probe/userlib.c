/* SPDX-License-Identifier: Apache-2.0 */
/* libcuda.so.1 and libnvidia-ml.so.1 as the loader would take them. It only looks and loads
 * nothing. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "model/version.h"
#include "probe/probe.h"
#include "sys/elf.h"
#include "sys/ldso.h"

enum { SIBLINGS_MAX = 4096, NEWEST_NUMBERED_ONE = 99 };

/* Places that hold a copy which the loader finds only when somebody tells it to. */
static const char *const unsearched[] = {
	"/usr/lib/wsl/lib",
	"/run/opengl-driver/lib",
	"/usr/lib/aarch64-linux-gnu/nvidia",
	"/usr/lib/aarch64-linux-gnu/tegra",
	"/usr/lib/nvidia",
	"/usr/lib64/nvidia",
	"/usr/local/nvidia/lib64",
	"/usr/local/nvidia/lib",
	"/.singularity.d/libs",
};

/*
 * "550.90.07" out of libcuda.so.550.90.07. Numbers below 100 count the ABI (libcuda.so.1.1 of WSL
 * and Jetson), not the driver.
 */
static const char *version_of(const char *file, const char *stem)
{
	struct version v;

	if (strncmp(file, stem, strlen(stem)) != 0)
		return NULL;
	file += strlen(stem);
	return version_parse(view_of(file), &v) && v.n >= 2 && v.part[0] > NEWEST_NUMBERED_ONE
		       ? file
		       : NULL;
}

static void add_shadowed(struct probe_ctx *p, struct library *l, const char *path)
{
	struct fact_list *f = &l->shadowed;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (strcmp(f->values[i], path) == 0)
			return;
	*ARENA_APPEND(p->a, f->values, f->n) = path;
	f->state = FACT_KNOWN;
}

/* Other versions beside the chosen file: an image's own copy beside the one that was mounted, for
 * example. */
static void siblings(struct probe_ctx *p, struct library *l, const char *stem)
{
	const char *dir = path_dir(p->a, l->real.value);
	struct dirlist list;
	size_t i;

	if (sysroot_list(p->root, p->a, dir, SIBLINGS_MAX, &list) < 0)
		return;
	for (i = 0; i < list.n; i++)
		if (version_of(list.names[i], stem) &&
		    strcmp(list.names[i], path_base(l->real.value)) != 0)
			add_shadowed(p, l, path_join(p->a, dir, list.names[i]));
}

static void elf_facts(struct probe_ctx *p, struct library *l)
{
	_cleanup_fd_ int fd = sysroot_open_file(p->root, l->path.value);
	struct elf e;

	if (fd < 0)
		fact_errno(&l->soname, -fd, l->path.value);
	else if (elf_read(p->a, fd, &e) < 0)
		fact_broken(&l->soname, l->path.value, _("not an ELF file"));
	else
		fact_set(&l->soname, e.soname, l->path.value);
}

static void found(struct probe_ctx *p, struct library *l, const struct ldso_hit *h,
		  const char *stem)
{
	const char *version;

	fact_set(&l->path, h->path, h->via);
	fact_set(&l->via, h->via, h->path);
	if (h->real) {
		fact_set(&l->real, h->real, h->path);
		version = version_of(path_base(h->real), stem);
		fact_set(&l->version, version, h->real);
		siblings(p, l, stem);
	}
	elf_facts(p, l);
}

static void not_found(struct probe_ctx *p, const struct ldso *ld, struct library *l,
		      const char *name)
{
	const char *source = ld->cache_error ? "default directories" : LDCACHE_PATH, *copy;
	size_t i;

	fact_absent(&l->path, source);
	for (i = 0; i < ARRAY_LEN(unsearched); i++) {
		copy = path_join(p->a, unsearched[i], name);
		if (!sysroot_exists(p->root, copy))
			continue;
		l->path.why = arena_printf(p->a, _("only in %s, which the loader does not search"),
					   unsearched[i]);
		return;
	}
}

static void library(struct probe_ctx *p, const struct ldso *ld, const char *name, struct library *l)
{
	const char *stem = arena_strndup(p->a, name, strlen(name) - 1); /* "libcuda.so." */
	const struct ldso_hit *taken = NULL;
	struct ldso_hit *hits;
	size_t n = ldso_search(ld, name, &hits), i;

	fact_set(&l->name, name, "loader");
	/* The loader passes over what it cannot open, and ends at a file that is no library. */
	for (i = 0; i < n && !taken; i++)
		if (!hits[i].broken || !hits[i].error)
			taken = &hits[i];
	if (!n) {
		not_found(p, ld, l, name);
		return;
	}
	if (!taken) {
		if (hits[0].error == EACCES || hits[0].error == EPERM)
			fact_denied(&l->path, hits[0].path, hits[0].why);
		else
			fact_broken(&l->path, hits[0].path, hits[0].why);
		return;
	}
	l->shadowed.source = "loader";
	found(p, l, taken, stem);
	for (i = (size_t)(taken - hits) + 1; i < n; i++)
		if (!hits[i].broken)
			add_shadowed(p, l, hits[i].path);
}

static void run(struct probe_ctx *p)
{
	struct snapshot *s = p->s;
	struct ldso ld;

	ldso_init(&ld, p->root, p->a, fact_value(&s->host.arch, NULL),
		  snapshot_env(s, "LD_LIBRARY_PATH"));
	library(p, &ld, "libcuda.so.1", &s->driver.libcuda);
	library(p, &ld, "libnvidia-ml.so.1", &s->driver.libnvml);
}

const struct probe probe_userlib = { .name = "userlib", .run = run };

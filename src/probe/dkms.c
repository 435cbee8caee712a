/* SPDX-License-Identifier: Apache-2.0 */
/* DKMS's trees of the driver: for which kernels it was built, and the error at which a build ended.
 */
#include <string.h>

#include "base/arena.h"
#include "probe/probe.h"

#define DKMS_TREE "/var/lib/dkms"

enum { NAMES_MAX = 256, ROWS_MAX = 64, LOG_MAX = 4 << 20, LINE_MAX = 200 };

static struct dkms *add(struct probe_ctx *p, const char *name, const char *version, const char *dir)
{
	struct driver *d = &p->s->driver;
	struct dkms *k;

	if (d->n_dkms >= ROWS_MAX)
		return NULL;
	k = ARENA_APPEND(p->a, d->dkms, d->n_dkms);
	fact_set(&k->name, name, dir);
	fact_set(&k->version, version, dir);
	return k;
}

/* The first line of a compiler's or make's log that says "error". */
static void log_error(struct probe_ctx *p, struct fact *f, const char *path)
{
	struct view text, line;

	if (sysroot_read(p->root, p->a, path, LOG_MAX, &text, NULL) < 0)
		return;
	while (view_line(&text, &line)) {
		if (view_find(line, "error:") < 0 && view_find(line, "Error ") < 0 &&
		    view_find(line, "ERROR:") < 0 && view_find(line, "No such file") < 0)
			continue;
		line = view_trim(line);
		line.n = line.n > LINE_MAX ? LINE_MAX : line.n;
		fact_set(f, view_dup(p->a, line), path);
		return;
	}
}

/* VERSION/KERNEL/ARCH/module is a finished build; VERSION/build/make.log one that did not finish.
 */
static void version(struct probe_ctx *p, const char *name, const char *ver)
{
	const char *top = arena_printf(p->a, DKMS_TREE "/%s/%s", name, ver), *log;
	struct dirlist kernels, archs;
	struct dkms *k;
	size_t i, a;
	bool any = false;

	if (sysroot_list(p->root, p->a, top, NAMES_MAX, &kernels) < 0)
		return;
	for (i = 0; i < kernels.n; i++) {
		const char *dir = path_join(p->a, top, kernels.names[i]);

		if (strcmp(kernels.names[i], "source") == 0 ||
		    strcmp(kernels.names[i], "build") == 0 ||
		    sysroot_list(p->root, p->a, dir, NAMES_MAX, &archs) < 0)
			continue;
		for (a = 0; a < archs.n; a++) {
			const char *module =
				arena_printf(p->a, "%s/%s/module", dir, archs.names[a]);

			if (!sysroot_is_dir(p->root, module))
				continue;
			k = add(p, name, ver, dir);
			if (!k)
				return;
			any = true;
			fact_set(&k->kernel, kernels.names[i], dir);
			fact_set(&k->state, "built", module);
		}
	}
	log = path_join(p->a, top, "build/make.log");
	if (sysroot_exists(p->root, log)) {
		k = add(p, name, ver, top);
		if (!k)
			return;
		fact_set(&k->state, "failed", log);
		log_error(p, &k->error, log);
	} else if (!any) {
		k = add(p, name, ver, top);
		if (k)
			fact_set(&k->state, "added", top);
	}
}

static void run(struct probe_ctx *p)
{
	struct dirlist names, versions;
	size_t i, v;

	if (!probe_is_running(p) ||
	    sysroot_list(p->root, p->a, DKMS_TREE, NAMES_MAX, &names) < 0)
		return;
	for (i = 0; i < names.n; i++) {
		if (strncmp(names.names[i], "nvidia", 6) != 0 ||
		    strcmp(names.names[i], "nvidia-fs") == 0 ||
		    sysroot_list(p->root, p->a, path_join(p->a, DKMS_TREE, names.names[i]),
				 NAMES_MAX, &versions) < 0)
			continue;
		for (v = 0; v < versions.n; v++)
			if (versions.names[v][0] >= '0' && versions.names[v][0] <= '9')
				version(p, names.names[i], versions.names[v]);
	}
}

const struct probe probe_dkms = { .name = "dkms", .run = run };

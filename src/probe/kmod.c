/* SPDX-License-Identifier: Apache-2.0 */
/* The NVIDIA kernel modules: loaded ones, and whether a driver is installed at all. Those on disk:
 * kmod_disk.c. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "model/version.h"
#include "probe/kmod.h"

#define PROC_MODULES "/proc/modules"
#define PROC_VERSION "/proc/driver/nvidia/version"

enum { LOADED_MAX = 32 };

void kmod_names(struct view text, kmod_name_fn *fn, void *ctx)
{
	struct view line, name;

	while (view_line(&text, &line))
		if (view_word(&line, &name) && name.n < 64)
			fn(ctx, name);
}

struct loaded {
	struct probe_ctx *p;
	bool nvidia, uvm, nouveau, ib_umad;
};

static void on_name(void *ctx, struct view name)
{
	struct loaded *l = ctx;
	struct driver *d = &l->p->s->driver;
	struct module *m;
	const char *file;

	l->nvidia |= view_is(name, "nvidia");
	l->uvm |= view_is(name, "nvidia_uvm");
	l->nouveau |= view_is(name, "nouveau");
	l->ib_umad |= view_is(name, "ib_umad");
	if ((!view_is(name, "nvidia") && !view_starts(name, "nvidia_")) ||
	    d->n_modules >= LOADED_MAX)
		return;
	m = ARENA_APPEND(l->p->a, d->modules, d->n_modules);
	fact_set(&m->name, view_dup(l->p->a, name), PROC_MODULES);
	fact_flag(&m->loaded, true, PROC_MODULES);
	file = arena_printf(l->p->a, "/sys/module/%s/version", m->name.value);
	if (memchr(name.p, '/', name.n))
		fact_broken(&m->version, PROC_MODULES, _("not a module's name"));
	else
		sysroot_fact(l->p->root, l->p->a, file, &m->version);
}

bool kmod_nvrm(struct arena *a, struct view text, struct kmod_nvrm *ret)
{
	struct view line, word, rest;
	struct version v;

	*ret = (struct kmod_nvrm){ 0 };
	while (view_line(&text, &line)) {
		if (!view_starts(line, "NVRM version:"))
			continue;
		rest = view_trim(view_skip(line, strlen("NVRM version:")));
		ret->line = view_dup(a, rest);
		ret->flavor = view_find(rest, "Open Kernel Module") >= 0 ? "open"
			      : view_find(rest, "Kernel Module") >= 0	 ? "proprietary"
									 : NULL;
		while (!ret->version && view_word(&rest, &word))
			if (version_parse(word, &v) && v.n >= 2)
				ret->version = view_dup(a, word);
		return true;
	}
	return false;
}

/* "NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build ..." */
static void proc_version(struct probe_ctx *p)
{
	struct driver *d = &p->s->driver;
	struct kmod_nvrm nvrm;
	struct view text;
	int e = sysroot_read(p->root, p->a, PROC_VERSION, 8192, &text, NULL);

	if (e) {
		fact_errno(&d->proc_version, -e, PROC_VERSION);
		return;
	}
	if (!kmod_nvrm(p->a, text, &nvrm)) {
		fact_broken(&d->proc_version, PROC_VERSION, _("no line of NVRM"));
		return;
	}
	fact_set(&d->proc_version, nvrm.line, PROC_VERSION);
	if (!fact_known(&d->version) && nvrm.version)
		fact_set(&d->version, nvrm.version, PROC_VERSION);
	if (nvrm.flavor)
		fact_set(&d->flavor, nvrm.flavor, PROC_VERSION);
}

static void loaded_modules(struct probe_ctx *p)
{
	struct driver *d = &p->s->driver;
	struct loaded l = { .p = p };
	struct view text;
	int e = sysroot_read(p->root, p->a, PROC_MODULES, SYSROOT_TEXT_MAX, &text, NULL);
	bool here = sysroot_exists(p->root, "/sys/module/nvidia/version");

	if (!e) {
		kmod_names(text, on_name, &l);
		fact_flag(&d->module_loaded, l.nvidia || here, PROC_MODULES);
		fact_flag(&d->uvm_loaded,
			  l.uvm || sysroot_exists(p->root, "/sys/module/nvidia_uvm"), PROC_MODULES);
		fact_flag(&d->nouveau_loaded, l.nouveau, PROC_MODULES);
		fact_flag(&d->ib_umad_loaded, l.ib_umad, PROC_MODULES);
		fact_flag(&p->s->parts.kernel, true, PROC_MODULES);
	} else if (p->root->live && e == -ENOENT && sysroot_is_dir(p->root, "/sys/module")) {
		/* A kernel without loadable modules. */
		fact_flag(&d->module_loaded, here, "/sys/module");
		fact_flag(&d->uvm_loaded, sysroot_exists(p->root, "/sys/module/nvidia_uvm"),
			  "/sys/module");
		fact_flag(&d->nouveau_loaded, sysroot_exists(p->root, "/sys/module/nouveau"),
			  "/sys/module");
		fact_flag(&p->s->parts.kernel, true, "/sys/module");
	} else {
		fact_errno(&p->s->parts.kernel, -e, PROC_MODULES);
		/* Some sandboxes hide the list and leave the driver's own files. */
		if (here || sysroot_exists(p->root, PROC_VERSION))
			fact_flag(&d->module_loaded, true,
				  here ? "/sys/module/nvidia/version" : PROC_VERSION);
		else
			fact_errno(&d->module_loaded, -e, PROC_MODULES);
	}
	sysroot_fact(p->root, p->a, "/sys/module/nvidia/version", &d->version);
	proc_version(p);
}

/* The kernel marks itself tainted by a proprietary module: P. */
static void flavor_by_taint(struct probe_ctx *p)
{
	struct driver *d = &p->s->driver;
	const char *taint;

	if (fact_known(&d->flavor) || !fact_known(&d->version) ||
	    sysroot_read_line(p->root, p->a, "/sys/module/nvidia/taint", &taint) < 0 || !taint[0])
		return;
	fact_set(&d->flavor, strchr(taint, 'P') ? "proprietary" : "open",
		 "/sys/module/nvidia/taint");
}

/* The licence of the module file of the running kernel, when nothing is loaded that could say. */
static void flavor_by_file(struct probe_ctx *p)
{
	struct driver *d = &p->s->driver;
	size_t i;

	for (i = 0; i < d->n_modules && !fact_known(&d->flavor); i++) {
		const struct module *m = &d->modules[i];

		if (fact_is(&m->name, "nvidia") && fact_known(&m->path) && fact_known(&m->flavor) &&
		    fact_known(&p->s->host.kernel) && fact_is(&m->kernel, p->s->host.kernel.value))
			d->flavor = m->flavor;
	}
}

/* A library of a driver package; stubs, compat packages and Windows' libraries are none. */
static bool is_driver_library(const struct library *l)
{
	const char *real = fact_value(&l->real, "");

	return fact_known(&l->path) && !strstr(real, "/stubs/") && !strstr(real, "/compat") &&
	       !strstr(real, "/wsl/");
}

static void installed(struct probe_ctx *p)
{
	struct driver *d = &p->s->driver;
	const struct fact *proof = NULL;
	size_t i;

	if (fact_yes(&d->module_loaded))
		proof = &d->module_loaded;
	for (i = 0; i < d->n_modules && !proof; i++)
		if (fact_is(&d->modules[i].name, "nvidia") && fact_known(&d->modules[i].path))
			proof = &d->modules[i].path;
	if (!proof && is_driver_library(&d->libcuda))
		proof = &d->libcuda.real;
	if (!proof && is_driver_library(&d->libnvml))
		proof = &d->libnvml.real;
	fact_flag(&d->installed, proof != NULL, proof ? proof->source : "/lib/modules, loader");
}

static void run(struct probe_ctx *p)
{
	if (probe_is_running(p))
		loaded_modules(p);
	kmod_disk(p);
	if (probe_is_running(p)) {
		flavor_by_taint(p);
		flavor_by_file(p);
	}
	installed(p);
}

const struct probe probe_kmod = { .name = "kmod", .run = run };

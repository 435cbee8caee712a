/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which libcudnn an installed PyTorch loads, by the loader's rules: DT_RPATH of the library and of
 * those that load it, LD_LIBRARY_PATH, DT_RUNPATH, the default directories; last what torch itself
 * preloads. See ld.so(8).
 */
#include <string.h>

#include "base/arena.h"
#include "model/version.h"
#include "probe/loading.h"

enum { SHADOWED_MAX = 16 };

struct hunt {
	struct probe_ctx *p;
	struct library *lib;
	const char *name; /* libcudnn.so.9 */
	uint16_t machine;
	bool wide;
	const char **shadowed;
	size_t n_shadowed;
	struct ldso_hit *hits; /* of the loader's search without RPATH */
	size_t n_hits;
};

/*
 * Takes dir/name when it is a library for this machine; a second one is noted as hidden by the
 * first.
 */
static void try_dir(struct hunt *h, const char *dir, const char *via)
{
	const char *path, *real;
	struct elf e;
	size_t i;

	/* "lib/../../nvidia/cudnn/lib" is what the loader opens, and hard to read. */
	if (sysroot_realpath(h->p->root, h->p->a, dir, &dir) != 0)
		return;
	path = path_join(h->p->a, dir, h->name);
	if (!loading_read_elf(h->p, path, &e) || e.machine != h->machine || e.wide != h->wide)
		return;
	if (sysroot_realpath(h->p->root, h->p->a, path, &real) != 0)
		return;
	if (!fact_known(&h->lib->path)) {
		fact_set(&h->lib->path, path, via);
		fact_set(&h->lib->real, real, path);
		fact_set(&h->lib->via, via, path);
		fact_set(&h->lib->soname, e.soname, path);
		return;
	}
	if (strcmp(real, h->lib->real.value) == 0 || h->n_shadowed == SHADOWED_MAX)
		return;
	for (i = 0; i < h->n_shadowed; i++)
		if (strcmp(h->shadowed[i], path) == 0)
			return;
	*ARENA_APPEND(h->p->a, h->shadowed, h->n_shadowed) = path;
}

static void try_list(struct hunt *h, const char *list, const char *origin, const char *via)
{
	struct view rest = view_of(list), entry;
	const char *dir;

	while (rest.n) {
		entry = view_cut(rest, ':', &rest);
		dir = entry.n ? loading_expand(h->p->a, entry, origin) : NULL;
		if (dir)
			try_dir(h, dir, via);
	}
}

/*
 * DT_RPATH of the library that asks and of those that loaded it: libtorch_python, the extension
 * module, the interpreter. A library with DT_RUNPATH has no DT_RPATH.
 */
static void try_rpaths(struct hunt *h, const struct py_env *e, const struct elf *asks,
		       const char *lib)
{
	const char *loaders[2] = { path_join(h->p->a, lib, "libtorch_python.so"), NULL }, *real;
	struct elf x;
	size_t i;

	if (asks->runpath)
		return;
	try_list(h, asks->rpath, lib, "DT_RPATH");
	if (e->interpreter && sysroot_realpath(h->p->root, h->p->a, e->interpreter, &real) == 0)
		loaders[1] = real;
	for (i = 0; i < ARRAY_LEN(loaders); i++)
		if (loaders[i] && loading_read_elf(h->p, loaders[i], &x) && !x.runpath)
			try_list(h, x.rpath, path_dir(h->p->a, loaders[i]),
				 "DT_RPATH of the loading library");
}

/* What the loader's own search gives, and only the part of it that is asked for here. */
static void try_loader(struct hunt *h, bool variable)
{
	size_t i;

	for (i = 0; i < h->n_hits; i++) {
		bool named = strcmp(h->hits[i].via, "LD_LIBRARY_PATH") == 0;

		if (!h->hits[i].broken && named == variable)
			try_dir(h, path_dir(h->p->a, h->hits[i].path), h->hits[i].via);
	}
}

/* torch looks into the package directories itself when the loader finds nothing. */
static void try_preload(struct hunt *h, const struct python *out)
{
	size_t i;

	for (i = 0; i < out->site_dirs.n; i++)
		try_dir(h, path_join(h->p->a, out->site_dirs.values[i], "nvidia/cudnn/lib"),
			"preload");
}

/* libcudnn.so.9 as the library names it; NULL when it links cuDNN into itself or has none. */
static const char *needed_cudnn(const struct elf *e)
{
	size_t i;

	for (i = 0; i < e->n_needed; i++)
		if (strncmp(e->needed[i], "libcudnn.so.", 12) == 0)
			return e->needed[i];
	return NULL;
}

/* By the file's own name (libcudnn.so.9.10.1), else the package that brought it. */
static void set_version(struct hunt *h, const struct python *out)
{
	const char *real = fact_value(&h->lib->real, ""), *tail = strstr(path_base(real), ".so.");
	struct version v;
	size_t i;

	if (tail && version_parse(view_of(tail + 4), &v) && v.n >= 3) {
		fact_set(&h->lib->version, tail + 4, real);
		return;
	}
	for (i = 0; i < out->n_packages; i++) {
		const struct package *pkg = &out->packages[i];
		const char *name = fact_value(&pkg->name, "");
		bool wheel = strncmp(name, "nvidia-cudnn", 12) == 0;

		if (wheel ? strstr(real, "/nvidia/cudnn/") != NULL
			  : strcmp(name, "cudnn") == 0 && !strstr(real, "/nvidia/cudnn/")) {
			h->lib->version = pkg->version;
			return;
		}
	}
}

void py_cudnn(struct probe_ctx *p, const struct py_env *e, struct python *out, const char *lib)
{
	/* The first is loaded before all others, whatever it needs is there already. */
	static const char *const askers[] = { "libtorch_global_deps.so", "libtorch_cuda.so",
					      "libtorch_cuda_cpp.so", "libcaffe2_gpu.so",
					      "libtorch_python.so" };
	struct hunt h = { .p = p, .lib = &out->torch.cudnn };
	struct elf asks = { 0 };
	struct ldso ld;
	size_t i;

	for (i = 0; i < ARRAY_LEN(askers) && !h.name; i++)
		if (loading_read_elf(p, path_join(p->a, lib, askers[i]), &asks))
			h.name = needed_cudnn(&asks);
	if (!h.name) {
		fact_absent(&h.lib->name, lib);
		return;
	}
	h.machine = asks.machine;
	h.wide = asks.wide;
	fact_set(&h.lib->name, h.name, path_join(p->a, lib, askers[i - 1]));
	try_rpaths(&h, e, &asks, lib);
	ldso_init(&ld, p->root, p->a, elf_machine_name(&asks),
		  snapshot_env(p->s, "LD_LIBRARY_PATH"));
	h.n_hits = ldso_search(&ld, h.name, &h.hits);
	try_loader(&h, true);
	if (asks.runpath)
		try_list(&h, asks.runpath, lib, "DT_RUNPATH");
	try_loader(&h, false);
	try_preload(&h, out);
	if (!fact_known(&h.lib->path))
		fact_absent(&h.lib->path, lib);
	set_version(&h, out);
	if (h.n_shadowed)
		fact_list_set(&h.lib->shadowed, h.shadowed, h.n_shadowed, h.name);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Python packages load by themselves when they are imported, as rows, and the imports of torch
 * and of jax's CUDA plugin as steps of a load session. Told in own words after torch/__init__.py
 * and jax_plugins/cuda/__init__.py; other versions load a library more or less.
 */
#ifndef SYS_LDSO_PYTHON_H
#define SYS_LDSO_PYTHON_H

#include "sys/ldso_load.h"

/* A library that torch loads itself, out of nvidia/FOLDER/lib or nvidia/cu13/lib below a directory
 * of sys.path. */
struct preload_row {
	const char *folder;  /* "cudnn" */
	const char *stem;    /* "libcudnn.so." and digits behind it */
	bool always; /* after libtorch_global_deps, when the wheel's own libcudart is in the process
		      */
};
extern const struct preload_row torch_preloads[]; /* in its order; ends with a NULL folder */

/* What jax's plugin opens, in its order, when the package nvidia.FOLDER can be imported. */
extern const struct preload_row jax_preloads[];

/* What a package does, for a reader: rows by the name of its folder in site-packages. */
struct package_load_row {
	const char *package;
	const char *text; /* N_() */
};
/* NULL when nothing special is known of the package that this path belongs to. */
const struct package_load_row *package_load(const char *path);

struct torch_import {
	const struct load_object *global_deps,
		*extension; /* libtorch_global_deps.so, _C; NULL: not there */
	bool preloaded; /* the loader alone did not find all: torch looked into nvidia/ itself */
	const char *missing; /* preloading asked for this stem, and no directory has it; NULL */
	const struct load_object *failed; /* what could not be loaded in the end; NULL */
};

/*
 * The libraries that jax's CUDA plugin opens before the plugin itself. By path, so that
 * LD_LIBRARY_PATH does not count; what is not there is left to the loader.
 */
void jax_import(struct load_session *s, const char *const *sites, size_t n_sites);
/*
 * `import torch` in the session, whose program is the interpreter. `torch` is the package's folder,
 * `sites` the directories of sys.path in their order.
 */
void torch_import(struct load_session *s, const char *torch, const char *const *sites,
		  size_t n_sites, struct torch_import *ret);

#endif

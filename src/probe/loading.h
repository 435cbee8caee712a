/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process of an environment would have loaded: libraries one after another, each found by
 * the loader's rules for the one that asks (ld.so(8)). Only libraries of CUDA and of the frameworks
 * are followed; the rest of the system is of no interest here. For the Python probe alone.
 *
 * Why this is no load session (sys/ldso_load), which follows the loader to the letter: a session
 * answers as a process would, so that with one library missing dlopen takes back everything that
 * came with it, while rules have to know of each library by itself where it would come from, beside
 * those that are missing; it stops at a file that the loader refuses, as the libraries of an image
 * are of which only a part was kept; and it reads whatever the interpreter and the system libraries
 * need as well, for every environment of a machine. `cuvet inspect` has the sessions.
 */
#ifndef PROBE_LOADING_H
#define PROBE_LOADING_H

#include "probe/python.h"
#include "sys/elf.h"
#include "sys/ldso.h"

enum { LOADED_MAX = 160 };

struct loaded {
	const char *name; /* soname, else the file's name */
	const char *path; /* NULL: nothing was found */
	const char *via;
	const char *rpath, *runpath;
	const char **needed;
	size_t n_needed;
	int by;	    /* index of the one that asked; -1: Python itself */
	bool fresh; /* not yet looked at for what it needs */
};

struct loading {
	struct probe_ctx *p;
	struct arena *a;
	const struct python *out;
	struct ldso ld;
	const char *exe_dir,
		*exe_rpath; /* the interpreter's DT_RPATH holds for all that it loads */
	const char *machine;
	struct loaded *list;
	size_t n;
	bool preload; /* torch looks into nvidia's wheels itself for what the loader does not find
		       */
};

/* `machine` as elf_machine_name() gives it. */
void loading_init(struct loading *l, struct probe_ctx *p, const struct py_env *e,
		  const struct python *out, const char *machine);
/* Loads a file as dlopen(PATH) of Python does; its index, or -1 when it is no library. */
int loading_open(struct loading *l, const char *path);
/* What the one with that index gets for NAME; loads it. Index; the entry's path is NULL when
 * nothing is found. */
int loading_find(struct loading *l, const char *name, int by);
/* Everything that is needed by what was loaded, breadth first as the loader does it. */
void loading_all(struct loading *l);
/*
 * One entry of DT_RPATH or DT_RUNPATH; $ORIGIN is the folder of the library as it was loaded. NULL
 * for what is not absolute then.
 */
const char *loading_expand(struct arena *a, struct view entry, const char *origin);
/* The file as an ELF file; false when it is none or cannot be read. */
bool loading_read_elf(struct probe_ctx *p, const char *path, struct elf *ret);
/* Is it a library of CUDA, by its name ("libcublasLt.so.12")? */
bool loading_is_cuda(const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load session: what glibc's loader would do in one process. Objects are loaded in order, first
 * the program, then what LD_PRELOAD names, then what these need, breadth first; later ones by
 * dlopen. For each name it says which file answers, by which rule, and which other copies that
 * hides. Follows ld.so(8) and, where that is silent, the behaviour of elf/dl-load.c of glibc 2.28
 * to 2.41. Nothing is mapped or run.
 *
 * For musl the order of its own loader is followed; load_session_is_musl says so.
 */
#ifndef SYS_LDSO_LOAD_H
#define SYS_LDSO_LOAD_H

#include <sys/types.h>

#include "sys/elf.h"
#include "sys/ldso_root.h"

struct load_session;

/* The process that is emulated. */
struct load_env {
	const char *library_path; /* LD_LIBRARY_PATH; NULL: not set */
	const char *preload;	  /* LD_PRELOAD; NULL: not set */
	const char *cwd; /* NULL: not known, then relative elements of a path are passed over */
};

enum load_state {
	LOAD_OK,
	LOAD_MISSING, /* no file of that name */
	LOAD_FATAL,   /* the loader meets a file that it cannot take, and gives up: `why` */
};

enum load_via {
	VIA_MAIN,
	VIA_PRELOAD,
	VIA_PATH,    /* the name is a path */
	VIA_RPATH,   /* DT_RPATH of the object that asks */
	VIA_RPATH_INHERITED, /* DT_RPATH of an object that loaded it: `holder` */
	VIA_LIBRARY_PATH,
	VIA_RUNPATH,
	VIA_CACHE,
	VIA_DEFAULT,
	VIA_LOADER,  /* the loader itself */
	VIA_LOADED,  /* an answer only: it is in the process already */
	VIA_NONE,
};

struct load_object;

/* A copy that would answer if those in front of it were not there. */
struct load_shadow {
	const char *path;
	enum load_via via;
};

struct load_object {
	const char *name; /* as it was asked for */
	const char *path; /* as the loader builds it, absolute; NULL when missing */
	const char *origin; /* $ORIGIN, without a slash at the end */
	enum load_via via;
	const struct load_object
		*holder; /* of the DT_RPATH that led here, when it is not the asker's own */
	const struct load_object *loader; /* what asked for it first; NULL for the program */
	enum load_state state;
	const char *why; /* LOAD_FATAL: the reason, translated */
	struct elf elf;	 /* its fd is closed */
	dev_t dev;
	ino_t ino;
	struct load_shadow *shadowed;
	size_t n_shadowed;
	const char **names; /* all that it was asked as */
	size_t n_names;
	struct load_dirs *rpath, *runpath; /* private: taken apart when they are first needed */
};

/* One distinct name that was asked for. */
struct load_answer {
	const char *name;
	const struct load_object *asker; /* NULL: the program itself, or LD_PRELOAD */
	const struct load_object *object; /* its state may be LOAD_MISSING */
	enum load_via via; /* VIA_LOADED when an object that was there answers to another name */
};

/* `w` may serve many sessions. Everything lies on the arena `a`, which `w` has to outlive. */
struct load_session *load_session_new(struct arena *a, struct ldso_root *w,
				      const struct load_env *env);
/*
 * The program, or a library in its place (as ldd does), with all that it needs. `path` is absolute
 * below the root. 0, or a negative errno when the file cannot be read or is no ELF file.
 */
int load_session_main(struct load_session *s, const char *path);
/*
 * dlopen(name) by the object `caller` (NULL: the program). The object, whose state tells whether it
 * was found; when it or something that it needs cannot be loaded, nothing stays loaded and
 * *ret_failed (may be NULL) is what failed.
 */
const struct load_object *load_session_dlopen(struct load_session *s, const char *name,
					      const struct load_object *caller,
					      const struct load_object **ret_failed);
/* Distinct names in the order in which they were asked for. */
const struct load_answer *load_session_answers(const struct load_session *s, size_t *ret_n);
/* The object that answers to this name now; NULL when none does. */
const struct load_object *load_session_loaded(const struct load_session *s, const char *name);
/* Did an element of a path depend on a working directory that is not known? */
bool load_session_skipped_relative(const struct load_session *s);
/* "DT_RPATH", "LD_LIBRARY_PATH", "ld.so.cache", ... */
const char *load_via_name(enum load_via via);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loader of a root is like: which one, its version, the directories that were built into
 * it, the folders for special processors that it looks into. All of it out of its own file; nothing
 * is run.
 */
#ifndef SYS_LDSO_ROOT_H
#define SYS_LDSO_ROOT_H

#include <sys/types.h>

#include "sys/elf.h"
#include "sys/ldcache.h"

struct arena;

enum { LDSO_DIRS = 16, LDSO_CAPS = 24 };

/* A directory that libraries are looked for in, known once for the whole root. */
struct ldso_place {
	const char *dir; /* ends in a slash; "" is the working directory */
	bool relative;
	bool known;			/* the next two were looked up */
	bool exists;
	bool caps[LDSO_CAPS];		/* which folders for special processors are there */
	struct ldso_place *next;
};

/* A file that was met, read once for all sessions of a run. */
struct ldso_file {
	const char *path;
	int error;	   /* of opening it; 0. EINVAL: no regular file */
	size_t n;	   /* bytes of the header that could be read */
	unsigned char header[64];
	dev_t dev;
	ino_t ino;
	bool is_elf;
	struct elf elf; /* when is_elf; its descriptor is closed */
	struct ldso_file *next;
};
enum { LDSO_BUCKETS = 1024 };

struct ldso_root {
	struct arena *a;
	const struct sysroot *r;
	const char *arch;    /* "x86_64", by the loader's file; NULL when there is none known */
	const char *loader;  /* "/lib64/ld-linux-x86-64.so.2"; NULL */
	const char *soname;  /* what libraries need it as: "ld-linux-x86-64.so.2" */
	bool musl;
	const char *version; /* "2.36" of glibc, or NULL */
	const char *dirs[LDSO_DIRS]; /* built in, each ends in a slash */
	size_t n_dirs;
	bool dirs_known;     /* read out of the loader itself, not taken from a table */
	const char *lib;     /* $LIB: "lib/x86_64-linux-gnu" */
	const char *platform; /* $PLATFORM */
	const char *feature;  /* "avx512_1", before glibc 2.37; NULL */
	const char *caps[LDSO_CAPS]; /* "glibc-hwcaps/x86-64-v3/", ..., "" as the last, in their
					order */
	size_t n_caps;
	const char *hwcaps[8]; /* names of glibc-hwcaps for the cache; NULL-terminated */
	bool hwcaps_known;     /* the processor was asked, or declared; else x86-64-v3 is taken */
	struct ldcache cache;
	struct ldcache_cpu cpu;
	int cache_error; /* errno of reading the cache, EINVAL for one that the loader refuses; 0 */
	struct ldso_place *places;
	struct ldso_file *files[LDSO_BUCKETS];
};

/*
 * hwcaps: NULL-terminated names that the processor has, best first, and "haswell", "xeon_phi" and
 * "avx512_1" of before glibc 2.37; NULL: this machine's own for a live root, else those of
 * x86-64-v3.
 */
void ldso_root_init(struct ldso_root *w, const struct sysroot *r, struct arena *a,
		    const char *const *hwcaps);
/* The file at `path`, or NULL when there is none that could be opened (*ret_error: why). */
const struct ldso_file *ldso_file(struct ldso_root *w, const char *path, int *ret_error);
/* The place of that name ("" or with a slash at the end), found or added. */
struct ldso_place *ldso_place(struct ldso_root *w, const char *dir);

#endif

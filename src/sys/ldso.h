/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file the loader of a root would take for a library name, as a program without RPATH asks
 * for it: LD_LIBRARY_PATH, then the cache, then the default directories (ld.so(8)); for musl its
 * own order. Only looks. Left out: directories for certain processors (glibc-hwcaps), where no GPU
 * library is installed.
 */
#ifndef SYS_LDSO_H
#define SYS_LDSO_H

#include <stdbool.h>
#include <stddef.h>

#include "sys/ldcache.h"
#include "sys/sysroot.h"

struct arena;

struct ldso_dir {
	const char *path;
	const char *via; /* "LD_LIBRARY_PATH", "default" */
};

struct ldso {
	struct arena *a;
	const struct sysroot *r;
	const char *arch; /* uname -m; NULL when not known */
	bool musl;
	struct ldso_dir *dirs; /* LD_LIBRARY_PATH first, n_env of them; then the defaults */
	size_t n_dirs, n_env;
	struct ldcache cache;
	int cache_error; /* errno of reading the cache, EINVAL for one that the loader refuses; 0 */
};

struct ldso_hit {
	const char *path; /* as the loader builds it */
	const char *real; /* behind the links; NULL when they lead nowhere */
	const char *via;
	const char *why; /* why the loader cannot take it, translated; NULL for one that it can */
	int error;	 /* errno of opening it; 0 */
	bool broken;	 /* it is a link that leads nowhere, or no library at all */
};

/* arch: NULL asks the root's own loader file. library_path: LD_LIBRARY_PATH of the audited
 * environment, or NULL. */
void ldso_init(struct ldso *l, const struct sysroot *r, struct arena *a, const char *arch,
	       const char *library_path);
/*
 * Everything that is in the loader's way for NAME, in its order; a file that is reached twice comes
 * once. The first one that is not broken is what the loader takes. Files for another machine are
 * left out, as it passes them over.
 */
size_t ldso_search(const struct ldso *l, const char *name, struct ldso_hit **ret);
/* "x86_64" or "aarch64" by the root's loader file, *ret_source that file; NULL when there is none.
 */
const char *ldso_arch(const struct sysroot *r, const char **ret_source);
/* Directories of libraries in a glibc root of that machine, in the loader's order; NULL-terminated.
 */
const char *const *ldso_default_dirs(const char *arch);

#endif

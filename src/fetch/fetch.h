/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cuvet fetch`: archives of NVIDIA's redist servers, chosen, downloaded, verified, unpacked,
 * listed and taken away again.
 *
 *   PREFIX/<name>/<version>-cuda<N>/   an installation: include, lib, LICENSE and its record
 *   PREFIX/<name>/current              link to the one in use
 *   PREFIX/.into/<name>-<version>...   records of what was merged into a toolkit
 *   PREFIX/.lock, .stage-*, .trash-*   while something is changed; the next run clears them
 *   CACHE/<product>/redist/...         manifests, verified archives and parts, laid out as a mirror
 *
 * Nothing here prints. Nothing is written outside the prefix, the cache and the toolkit of --into.
 */
#ifndef FETCH_FETCH_H
#define FETCH_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "compat/compat.h"
#include "fetch/transfer.h"
#include "model/snapshot.h"

struct arena;

#define FETCH_BASE "https://developer.download.nvidia.com/compute"

enum fetch_state { FETCH_PLANNED, FETCH_CACHED, FETCH_INSTALLED };
const char *fetch_state_name(enum fetch_state s);

/* One archive: what is asked for and what became of it. */
struct fetch_item {
	const char *name;    /* of the component */
	const char *version; /* "9.1.1.17" */
	const char *label;   /* of its manifest */
	const char *cuda;    /* "12"; NULL: for none in particular */
	const char *platform, *url, *sha256;
	uint64_t size;
	const char *licence, *licence_url;
	const char *licence_file; /* below `path`; NULL: not installed, or there is none */
	const char *rel;  /* below the cache */
	const char *dir;  /* "9.1.1.17-cuda12" */
	const char *path; /* where it is, or will be */
	enum fetch_state state;
	uint64_t files;
	bool fresh; /* installed by this run */
	bool other; /* what is installed has another sha256 */
	const char *damaged; /* the first of its files that is missing or changed; NULL: none */
};

enum fetch_phase { FETCH_MANIFEST, FETCH_DOWNLOAD, FETCH_VERIFY, FETCH_UNPACK };

struct fetch_watch {
	/* Both may be NULL. `total` 0: not known. */
	void (*progress)(void *ctx, enum fetch_phase phase, const char *what, uint64_t done,
			 uint64_t total);
	void (*note)(void *ctx, const char *text); /* a line that the user should see */
	/* May the licence be taken as accepted? NULL: only by fetch_options.accept. */
	bool (*licence)(void *ctx, const struct fetch_item *item);
	void *ctx;
};

struct fetch_options {
	const char *prefix, *cache; /* absolute; the cache NULL: PREFIX/.cache */
	const char *mirror;	    /* URL, file: URL or folder; NULL: FETCH_BASE */
	const char *product, *label;
	const char *const *components; /* n_components names; none: the product's own */
	size_t n_components;
	const char *cuda, *platform;
	const char *into; /* absolute; NULL */
	bool offline, accept, dry_run, strict;
	uint64_t max_size; /* 0: the usual limits */
	struct transfer_options transfer;
	struct fetch_watch watch;
};

/*
 * Plans all items and, unless dry_run, installs them. *ret_n items are filled as far as it came, so
 * that they can be shown. Errors: ERR_NOENT: nothing fits (exit 1); ERR_USAGE: the licence is not
 * accepted, or there is no such component; else what could not be done.
 */
int fetch_run(struct arena *a, struct compat *c, const struct fetch_options *o,
	      struct fetch_item **ret, size_t *ret_n, struct err *err) ATTR_MUST;
/* Has the folder what `cuvet env --cuda` asks of a toolkit: a version or nvcc, and libraries? */
bool fetch_is_toolkit(const char *path);
/*
 * Is exactly this installed already (by label or version)? Reads records, and looks whether what
 * they list is there. *ret NULL: it is not. ERR_DATA: it is, and damaged.
 */
int fetch_installed(struct arena *a, const struct fetch_options *o, struct fetch_item **ret,
		    struct err *err) ATTR_MUST;

/* -------- what is installed */

struct installed_item {
	const char *name, *version, *cuda; /* cuda NULL: none */
	const char *label, *platform, *url, *sha256;
	const char *dir;  /* "9.1.1.17-cuda12" */
	const char *path; /* its folder, or the toolkit that it was merged into */
	const char *into; /* the toolkit; NULL */
	const char *record; /* path of its record below the prefix */
	bool current;
	uint64_t files;
	const char **changed, **missing, **extra;
	size_t n_changed, n_missing, n_extra;
};

/*
 * `wanted`: NULL (all), NAME, NAME/VERSION or NAME/VERSION-cudaN; a version may be the label or its
 * beginning by parts. verify: every file is read and its hash compared. ERR_NOENT: nothing of that
 * name.
 */
int fetch_list(struct arena *a, const char *prefix, const char *wanted, bool verify,
	       const struct fetch_watch *watch, struct installed_item **ret, size_t *ret_n,
	       struct err *err) ATTR_MUST;
/*
 * Takes away exactly what was put there. ERR_USAGE when several fit: the message names them.
 * `into`: only what was merged into that toolkit; NULL: it only matters when several fit.
 */
int fetch_remove(struct arena *a, const char *prefix, const char *wanted, const char *into,
		 const struct fetch_watch *watch, struct installed_item *ret, size_t *ret_kept,
		 struct err *err) ATTR_MUST;
/* Makes it the current one of its name. */
int fetch_use(struct arena *a, const char *prefix, const char *wanted,
	      const struct fetch_watch *watch, struct installed_item *ret,
	      struct err *err) ATTR_MUST;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: from what the user named to one snapshot. The last step overlays what was assumed. */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include "base/err.h"
#include "base/view.h"
#include "compat/compat.h"
#include "model/snapshot.h"

struct arena;

struct source_options {
	const char *root;	/* --root DIR; NULL: this machine */
	const char *facts;	/* --facts FILE; NULL: DIR/../facts.json when it exists */
	const char *python;	/* --python PATH */
	const char *const *inputs; /* files named on the command line: snapshots (later: images,
				      projects, text) */
	size_t n_inputs;
	struct view json;	/* a saved snapshot or report in memory, instead of inputs */
	const char *json_name;	/* for messages */
	const char *const *assume; /* "gpu=T4", ... in order */
	size_t n_assume;
	const char *const *require; /* "cc>=8.0", ... */
	size_t n_require;
	const struct project_overlay *overlay; /* instead of files of a project; n_overlay */
	size_t n_overlay;
	bool no_live;
	bool deep;
	long timeout_ms; /* for each driver call; 0: the default */
};

/*
 * Fills *ret. Bad input is an error: unknown --assume key or value (ERR_USAGE / ERR_UNKNOWN_NAME
 * with near names), damaged snapshot or facts file (ERR_PARSE), root that cannot be opened.
 */
int source_snapshot(struct arena *a, struct compat *c, const struct source_options *o,
		    struct snapshot *ret, struct err *err) ATTR_MUST;

/*
 * Completes GPUs from the tables: PCI id to name, chip, compute capability; NVML or assumed names
 * to the same.
 */
void source_enrich(struct arena *a, struct compat *c, struct snapshot *s);
/* The same for one GPU whose rows are known; several rows that disagree set gpu.ambiguous. */
void source_enrich_gpu(struct arena *a, struct compat *c, struct gpu *g, const struct gpu_match *m);
/* Overlays K=V on the snapshot (design.md, keys of --assume). */
int source_assume(struct arena *a, struct compat *c, const char *const *assume, size_t n,
		  struct snapshot *s, struct err *err) ATTR_MUST;
/* Parses "cc>=8.0" into snapshot.require. Operators: >= <= > < == != =. */
int source_require(struct arena *a, const char *const *require, size_t n, struct snapshot *s,
		   struct err *err) ATTR_MUST;

#endif

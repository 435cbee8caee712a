/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hunt for libraries of CUDA: whose needs are looked at, and where copies lie that the loader
 * does not take. For the Python probe alone.
 */
#ifndef PROBE_HUNT_H
#define PROBE_HUNT_H

#include "probe/loading.h"

/* A folder in which libraries may lie. */
struct hunt_place {
	const char *dir;
	struct dirlist names;
	bool own; /* it belongs to the environment */
};

struct hunt {
	struct probe_ctx *p;
	const struct py_env *e;
	struct python *out;
	struct loading l;
	struct hunt_place *places;
	size_t n_places;
	const char *package; /* whose needs are looked at */
};

/* Where libraries lie: the environment's own folders, toolkits, what `cuvet fetch` unpacked. */
void hunt_places(struct hunt *h);
/* Facts of the libraries that were looked for since the one at FROM of the list. */
void hunt_report(struct hunt *h, size_t from);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Proving that the stack executes: the whole run, all GPUs. Prints nothing. */
#ifndef PROVE_PROVE_H
#define PROVE_PROVE_H

#include "prove/lab.h"

/* What a terminal may be told meanwhile; any may be NULL. */
struct prove_watch {
	void (*doing)(void *ctx, int gpu, const char *rung);
	void *ctx;
};

/* Climbs the ladder on every GPU. What goes wrong is in the rows; never fails itself. */
void prove_run(struct arena *a, const struct prove_options *o, const struct prove_watch *watch,
	       struct proof *ret);
/*
 * Why nothing that rests on this GPU's ladder (-1: on those of all) can be run after it: a rung is
 * broken, no kernel ran, or a signal came. NULL: it can.
 */
const char *prove_obstacle(struct arena *a, const struct proof *p, int gpu);
/* The first GPU without an obstacle; -1: there is none. */
int prove_sound(struct arena *a, const struct proof *p);
/* Appends a row that was not run. */
void prove_skip(struct arena *a, struct proof *p, const char *name, int gpu, const char *why);
/*
 * Every pair of GPUs; appends rows "p2p" where there are two or more, one that is skipped where a
 * ladder broke.
 */
void peer_run(struct arena *a, const struct prove_options *o, struct proof *p);
/*
 * Speeds of GPUs of one model against the best of them: figure "of_best_sibling"; below 0.8 the row
 * becomes inconclusive, but where others use the GPUs.
 */
void sibling_judge(const struct prove_options *o, struct proof *p);
/* The present environment without what the loader would preload; `visible`: CUDA_VISIBLE_DEVICES
 * set to that, NULL: as it is. */
const char *const *prove_environment(struct arena *a, const char *visible);

/* What CUDA_VISIBLE_DEVICES names this GPU of a finished ladder by; NULL when that is not known. */
const char *prove_visible(const struct proof *p, int gpu);

#endif

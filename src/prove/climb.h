/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's side. Private to prove/. */
#ifndef PROVE_CLIMB_H
#define PROVE_CLIMB_H

#include <stddef.h>

enum { WORKER_MAGIC = 0x70726f76 };

/* Gives the turn back, if this GPU has it. */
struct lab_turn;
void give_turn(struct lab_turn *t, int gpu);
/* child_fn: climbs the ladder by the struct worker `ctx`, writing notes into the answer's pipe. */
long climb(void *ctx, void *answer, size_t size);

#endif

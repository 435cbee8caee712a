/* SPDX-License-Identifier: Apache-2.0 */
/* From a root cause to what to install instead, on this GPU, driver, Python and system. */
#ifndef PLAN_MEND_H
#define PLAN_MEND_H

#include "plan/plan.h"

/*
 * When another build of PyTorch mends the root cause, or what the driver has to be is a question of
 * builds, the planned set becomes the root's first remedy. Does nothing when the snapshot names no
 * GPU whose compute capability is known.
 */
void plan_mend(struct arena *a, struct matrix *m, const struct snapshot *s, struct results *r);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of mounts, for tests. */
#ifndef PROBE_BOUNDARY_H
#define PROBE_BOUNDARY_H

#include "probe/probe.h"

/* Adds the driver's files among the mounts of a mountinfo text to the snapshot's container. */
void boundary_mounts(struct probe_ctx *p, struct view text, const char *source);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the matrix says of an Xid (table "xid", NVIDIA's catalogue), and the remedy that follows. */
#ifndef RULE_XID_H
#define RULE_XID_H

#include "rule/rule.h"

/* What it is, for a sentence; never NULL. */
const char *xid_meaning(struct judge *j, unsigned xid);
/* "hardware", "application", "driver/firmware", ...; NULL when the catalogue does not say. */
const char *xid_points_to(struct judge *j, unsigned xid);
/*
 * The catalogue's immediate action as a remedy, on the GPU at this place of the snapshot (n_gpus:
 * one that is not known). xid 0, or one without an action: reset, else reboot.
 */
void xid_remedy(struct judge *j, struct finding *f, size_t gpu, unsigned xid);

#endif

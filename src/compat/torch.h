/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about PyTorch share. Private to compat/. */
#ifndef COMPAT_TORCH_H
#define COMPAT_TORCH_H

#include "compat/table.h"

/*
 * Key fields of all rows of the torch table, without a parse; number.n 0 where the version is none.
 */
const struct torch_key *torch_keys(struct compat *c, struct table *t);

#endif

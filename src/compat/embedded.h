/* SPDX-License-Identifier: Apache-2.0 */
/* What is embedded beside the tables: their schemas and the public key of data archives. */
#ifndef COMPAT_EMBEDDED_H
#define COMPAT_EMBEDDED_H

#include "base/view.h"

/*
 * "schema/gpu.schema", "data/keys/cuvet-data.pub". An empty view when there is none of that name.
 */
struct view compat_embedded(const char *name);
/* Newest date of the embedded tables; points into them, so that it need not end in NUL. */
struct view compat_embedded_date(void);
/* Name of embedded table i ("gpu"), NULL beyond the end. */
const char *compat_embedded_table(size_t i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a saved snapshot. Private to source/. */
#ifndef SOURCE_SNAPSHOT_FILE_H
#define SOURCE_SNAPSHOT_FILE_H

#include "source/source.h"

int source_snapshot_file(struct arena *a, const char *path, struct snapshot *ret,
			 struct err *err) ATTR_MUST;
/* The same from memory; `name` stands in messages and as the source. */
int source_snapshot_json(struct arena *a, struct view text, const char *name, struct snapshot *ret,
			 struct err *err) ATTR_MUST;

#endif

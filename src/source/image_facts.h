/* SPDX-License-Identifier: Apache-2.0 */
/* From an image, or a folder that holds a root or an OCI layout, to a snapshot. */
#ifndef SOURCE_IMAGE_FACTS_H
#define SOURCE_IMAGE_FACTS_H

#include "source/source.h"

/* Is it an archive, an OCI layout, or a folder that holds a root (etc or usr in it)? */
bool source_is_tree(const char *path);
int source_from_image(struct arena *a, const struct source_options *o, struct snapshot *s,
		      struct err *err) ATTR_MUST;

#endif

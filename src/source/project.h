/* SPDX-License-Identifier: Apache-2.0 */
/* Project files as a source: what they would install for the declared target. */
#ifndef SOURCE_PROJECT_H
#define SOURCE_PROJECT_H

#include "source/source.h"

struct project_reader;

/* Are the inputs project files (or folders of them)? By content; the first one decides. */
bool source_is_project(struct arena *a, const struct source_options *o);
/* Reads them; filled into the snapshot later, when the target is known. */
int source_project_read(struct arena *a, struct compat *c, const struct source_options *o,
			struct project_reader **ret, struct snapshot *s, struct err *err) ATTR_MUST;
void source_project_fill(struct project_reader *r, struct snapshot *s);

#endif

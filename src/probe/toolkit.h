/* SPDX-License-Identifier: Apache-2.0 */
/* The toolkit probe's parsers, for tests. */
#ifndef PROBE_TOOLKIT_H
#define PROBE_TOOLKIT_H

#include "base/view.h"
#include "probe/probe.h"

/* Version in a toolkit's version.json and version.txt; NULL when there is none. */
const char *toolkit_version_json(struct arena *a, struct view text, const char *name);
const char *toolkit_version_txt(struct arena *a, struct view text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the toolkit probe share, and its parsers, for tests. */
#ifndef PROBE_TOOLKIT_H
#define PROBE_TOOLKIT_H

#include "base/view.h"
#include "probe/probe.h"

/* Version in a toolkit's version.json and version.txt; NULL when there is none. */
const char *toolkit_version_json(struct arena *a, struct view text, const char *name);
const char *toolkit_version_txt(struct arena *a, struct view text);
/* cuDNN's version by its header; NULL when it says none. */
const char *toolkit_cudnn_header(struct arena *a, struct view text);
/* toolkit.c: takes the toolkit at `home`, if one is there, or notes that `via` leads to it too. */
void toolkit_add(struct probe_ctx *p, const char *home, const char *via);
/* toolkit_places.c: those of alternatives, the HPC SDK, spack and environment modules. */
void toolkit_places(struct probe_ctx *p);
/* compiler.c: the version of the host's gcc, by the names of its files. */
void toolkit_compiler(struct probe_ctx *p);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers of the container runtime's files, for the probes of this part and for tests. */
#ifndef PROBE_RUNTIME_H
#define PROBE_RUNTIME_H

#include "probe/probe.h"

/*
 * The value of KEY in SECTION of a TOML text ("" for the keys before the first section), as text
 * without quotes; NULL when it is not set. Comments, blanks and quotes are understood, values of
 * several lines are not. The last of two equal keys counts.
 */
const char *runtime_toml(struct arena *a, struct view text, const char *section, const char *key);

/*
 * Reads a CDI specification, YAML or JSON, as text: *ret_version is the driver's version in the
 * name of a libcuda.so.X or libnvidia-*.so.X, NULL without one. Every absolute path on the host is
 * given to fn until it returns false.
 */
typedef bool cdi_path_fn(void *ctx, const char *path);
void cdi_scan(struct arena *a, struct view text, const char **ret_version, cdi_path_fn *fn,
	      void *ctx);

#endif

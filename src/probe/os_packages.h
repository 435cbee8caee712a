/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of dpkg's status file, for tests. */
#ifndef PROBE_OS_PACKAGES_H
#define PROBE_OS_PACKAGES_H

#include "probe/probe.h"

/* Adds the driver's packages of the file's text to the snapshot; keeps nothing of `text`. */
void os_packages_dpkg(struct probe_ctx *p, struct view text, const char *source);

#endif

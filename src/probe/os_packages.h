/* SPDX-License-Identifier: Apache-2.0 */
/* The parsers of what package managers write, for tests. */
#ifndef PROBE_OS_PACKAGES_H
#define PROBE_OS_PACKAGES_H

#include "probe/probe.h"

/* Adds the driver's packages of the file's text to the snapshot; keeps nothing of `text`. */
void os_packages_dpkg(struct probe_ctx *p, struct view text, const char *source);
/* The same of lines "name TAB version-release TAB vendor". */
void os_packages_rpm(struct probe_ctx *p, struct view text, const char *source);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The line parser of the modprobe probe, for tests. */
#ifndef PROBE_MODPROBE_H
#define PROBE_MODPROBE_H

#include "probe/probe.h"

/*
 * The module ("nvidia", "nvidia_uvm") that a line of modprobe.d(5) keeps from loading, or NULL;
 * *ret_how is then blacklist, alias-off or install. An `install` line that loads another module is
 * none.
 */
const char *modprobe_block(struct view line, const char **ret_how);

#endif

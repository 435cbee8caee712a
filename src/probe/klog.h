/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of logs, for tests. */
#ifndef PROBE_KLOG_H
#define PROBE_KLOG_H

#include "probe/probe.h"

/* Which lines count: the kernel's, or those of the driver's services and of the audit daemon. */
enum klog_kind { KLOG_KERNEL, KLOG_SERVICE };

/*
 * Adds what the text says about the driver to the snapshot's log. What stood before the last boot
 * in it is left out. `text` is not kept.
 */
void klog_events(struct probe_ctx *p, struct view text, enum klog_kind kind, const char *source);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The container probe's parsers, for tests. */
#ifndef PROBE_CONTAINER_H
#define PROBE_CONTAINER_H

#include "base/view.h"
#include "probe/probe.h"

/* What matters of a line of /proc/PID/mountinfo (proc_pid_mountinfo(5)); options are those of the
 * file system. */
struct container_mount {
	struct view point, type, options;
};
bool container_mount_line(struct view line, struct container_mount *ret);
/* Bytes of "size=65536k" among mount options; false without it. */
bool container_size_option(struct view options, int64_t *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* May this process use a device node of this machine?  Only for live probes: it goes past the root
 * layer. */
#ifndef SYS_LIVE_NODE_H
#define SYS_LIVE_NODE_H

#include <stdbool.h>

/*
 * 0 or the errno with which opening PATH for reading and writing fails. With `open_it` the node is
 * really opened (non-blocking, closed at once). Without it, permissions, device cgroup and mount
 * options are asked, since opening would start the device: a GPU's node takes seconds for that, and
 * hangs when the GPU does.
 */
int live_node_access(const char *path, bool open_it);

#endif

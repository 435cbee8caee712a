/* SPDX-License-Identifier: Apache-2.0 */
/* Resolving a path inside a root one component at a time, for kernels without openat2 and for real
 * paths. */
#ifndef SYS_SYSROOT_WALK_H
#define SYS_SYSROOT_WALK_H

#include <limits.h>
#include <stdbool.h>

/*
 * Opens what PATH leads to below ROOT_FD as an O_PATH descriptor. Absolute links start anew at the
 * root, ".." stops there, after 40 links it is -ELOOP. With follow false a link in the last place
 * is opened itself. `ret_path` (may be NULL) gets the resolved path, absolute below the root.
 * Negative errno on failure; ret_path is undefined then.
 */
int sysroot_walk(int root_fd, const char *path, bool follow, char ret_path[PATH_MAX]);

#endif

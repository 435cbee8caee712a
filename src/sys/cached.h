/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of a file only what the kernel has in memory. */
#ifndef SYS_CACHED_H
#define SYS_CACHED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* All of n bytes at off, without waiting for a disk; false when it would wait, or on an error. */
bool read_cached(int fd, void *buf, size_t n, off_t off);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The end of logs: the kernel's own of this machine, and files below a root. */
#ifndef SYS_LOGS_H
#define SYS_LOGS_H

#include "sys/sysroot.h"

/*
 * The last `limit` bytes of this machine's kernel log, in syslog(2)'s form ("<6>[  12.3] text").
 * 0 or -errno: -EPERM where only root may read it. Consumes nothing.
 */
int logs_kernel(struct arena *a, size_t limit, struct view *ret);
/* The last `limit` bytes of a regular file, from the start of a line on. 0 or -errno. */
int logs_tail(const struct sysroot *r, struct arena *a, const char *path, size_t limit,
	      struct view *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the ends of logs, bounded. It must not wait for more and must not clear anything. */
#include "sys/logs.h"

#include <errno.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

enum { SYSLOG_READ_ALL = 3 }; /* syslog(2) */

int logs_kernel(struct arena *a, size_t limit, struct view *ret)
{
	char *buf = arena_alloc(a, limit);
	int n = klogctl(SYSLOG_READ_ALL, buf, (int)limit);

	if (n < 0)
		return -errno;
	*ret = (struct view){ .p = buf, .n = (size_t)n };
	return 0;
}

int logs_tail(const struct sysroot *r, struct arena *a, const char *path, size_t limit,
	      struct view *ret)
{
	_cleanup_fd_ int fd = sysroot_open_file(r, path);
	struct view first;
	struct stat st;
	off_t from = 0;
	char *buf;
	ssize_t n;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size > (off_t)limit)
		from = st.st_size - (off_t)limit;
	else
		limit = st.st_size > 0 ? (size_t)st.st_size : 0;
	buf = arena_alloc(a, limit + 1);
	n = limit ? pread(fd, buf, limit, from) : 0;
	if (n < 0)
		return -errno;
	*ret = (struct view){ .p = buf, .n = (size_t)n };
	/* Half a line says half of something. */
	if (from)
		view_line(ret, &first);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Asking and opening device nodes. It must open nothing but what its caller named as harmless. */
#include "sys/live_node.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/attr.h"

int live_node_access(const char *path, bool open_it)
{
	struct statvfs fs;

	if (open_it) {
		_cleanup_fd_ int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

		return fd < 0 ? errno : 0;
	}
	/* The device cgroup is asked here as well: EPERM comes from it, EACCES from mode and owner.
	 */
	if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) < 0)
		return errno;
	if (statvfs(path, &fs) == 0 && (fs.f_flag & ST_NODEV))
		return EACCES;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* preadv2 with RWF_NOWAIT, which musl has no function for. Never waits. */
#include "sys/cached.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

bool read_cached(int fd, void *buf, size_t n, off_t off)
{
	struct iovec v = { .iov_base = buf, .iov_len = n };

#ifdef RWF_NOWAIT
	return preadv2(fd, &v, 1, off, RWF_NOWAIT) == (ssize_t)n;
#else
	enum { NOWAIT = 8 };

	/* Two halves of the offset; the upper one counts only where a register is too small. */
	return syscall(SYS_preadv2, fd, &v, 1, (long)off, 0L, NOWAIT) == (long)n;
#endif
}

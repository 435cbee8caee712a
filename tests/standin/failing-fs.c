/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For LD_PRELOAD: lets the CUVET_FAIL_AT'th call that changes the file system fail with the errno
 * value CUVET_FAIL_WITH, or kills the process there (CUVET_FAIL_WITH=kill); writes one byte at a
 * time with CUVET_FAIL_WITH=short. What it counted it writes into the file CUVET_FAIL_COUNT at the
 * end.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int calls;
static char order[4096];

static int fails(char letter)
{
	const char *at = getenv("CUVET_FAIL_AT"), *with = getenv("CUVET_FAIL_WITH");

	if (calls < (int)sizeof(order) - 1)
		order[calls] = letter;
	calls++;
	if (!at || !with || strcmp(with, "short") == 0 || calls != (int)strtol(at, NULL, 10))
		return 0;
	if (strcmp(with, "kill") == 0)
		raise(SIGKILL);
	errno = (int)strtol(with, NULL, 10);
	return 1;
}

#define NEXT(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

int mkdir(const char *path, mode_t mode)
{
	return fails('m') ? -1 : NEXT(mkdir)(path, mode);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	return fails('m') ? -1 : NEXT(mkdirat)(dir, path, mode);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return fails('r') ? -1 : NEXT(renameat)(from_dir, from, to_dir, to);
}

int fsync(int fd)
{
	return fails('s') ? -1 : NEXT(fsync)(fd);
}

int fchmod(int fd, mode_t mode)
{
	return fails('c') ? -1 : NEXT(fchmod)(fd, mode);
}

int openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	if (flags & O_CREAT) {
		va_start(ap, flags);
		mode = va_arg(ap, mode_t);
		va_end(ap);
		if (fails('o'))
			return -1;
	}
	return NEXT(openat64)(dir, path, flags, mode);
}

ssize_t write(int fd, const void *p, size_t n)
{
	const char *with = getenv("CUVET_FAIL_WITH");

	if (fd <= STDERR_FILENO)
		return NEXT(write)(fd, p, n);
	if (fails('w'))
		return -1;
	/* All but a few bytes at once, so that it ends soon, and EINTR on the way. */
	if (with && strcmp(with, "short") == 0) {
		if (calls % 3 == 0) {
			errno = EINTR;
			return -1;
		}
		n = n > 5 ? n - 5 : 1;
	}
	return NEXT(write)(fd, p, n);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("CUVET_FAIL_COUNT");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (f) {
		fprintf(f, "%d\n%s\n", calls, order);
		fclose(f);
	}
}

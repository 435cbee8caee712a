/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For LD_PRELOAD: faults of the calls of cuvet, of its children and of the libraries it loads.
 * Counter and log are shared by all processes through the file CUVET_CALLS, which the test makes
 * (1 MiB of zeros): the number of calls, then one line a call that was logged, "NAME WHAT".
 *
 * CUVET_FAULT, several separated by blanks:
 *   N:ERRNO       the N'th call fails                N:kill  the process ends there by SIGKILL
 *   N:killall     its parent first, when it is a child of the first process
 *   NAME=ERRNO    every call of that name fails
 *   short         reads and writes come in pieces, EINTR between
 *   thread2       a process has one thread beside its first
 *   clock         each look at the wall clock shows a time an hour before the last
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOG_BYTES = 1 << 20, HEAD_BYTES = 64 };

struct shared {
	atomic_int calls, used, turns, hours;
};

static struct shared *shared;
static pid_t first;
static char fault[512];

#define NEXT(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("CUVET_CALLS"), *what = getenv("CUVET_FAULT");
	int fd = path ? NEXT(open64)(path, O_RDWR | O_CLOEXEC) : -1;
	void *p = fd < 0 ? MAP_FAILED
			 : mmap(NULL, LOG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		NEXT(close)(fd);
	if (p == MAP_FAILED)
		return;
	snprintf(fault, sizeof(fault), "%s", what ? what : "");
	first = getpid();
	shared = p;
}

static void put(const char *name, const char *what)
{
	char line[1024];
	int n = snprintf(line, sizeof(line), "%s %s\n", name, what), at;

	if (n <= 0 || (size_t)n >= sizeof(line))
		return;
	at = atomic_fetch_add(&shared->used, n);
	if (HEAD_BYTES + at + n < LOG_BYTES)
		memcpy((char *)shared + HEAD_BYTES + at, line, (size_t)n);
}

/* What a descriptor stands for, with `name` behind it. */
static const char *path_of(int fd, const char *name, char buf[768])
{
	char link[64];
	ssize_t n = 0;

	if (name && name[0] == '/') {
		snprintf(buf, 768, "%s", name);
		return buf;
	}
	if (fd == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/self/cwd");
	else
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = NEXT(readlink)(link, buf, 500);
	n = n < 0 ? 0 : n;
	snprintf(buf + n, 768 - (size_t)n, "%s%s", name ? "/" : "", name ? name : "");
	return buf;
}

static void end(int all)
{
	if (all && getpid() != first)
		kill(first, SIGKILL);
	kill(getpid(), SIGKILL);
}

/* 1: errno is set and the call is to fail. */
static int fails(const char *name)
{
	char *s = fault, *colon;
	int n;

	if (!shared)
		return 0;
	n = atomic_fetch_add(&shared->calls, 1) + 1;
	while (*s) {
		size_t len = strcspn(s, " ");

		if (*s >= '0' && *s <= '9' && strtol(s, &colon, 10) == n && *colon == ':') {
			if (strncmp(colon + 1, "kill", 4) == 0)
				end(colon[5] == 'a');
			put("FAULT", name);
			errno = (int)strtol(colon + 1, NULL, 10);
			return 1;
		}
		if (strncmp(s, name, strlen(name)) == 0 && s[strlen(name)] == '=') {
			put("FAULT", name);
			errno = (int)strtol(s + strlen(name) + 1, NULL, 10);
			return 1;
		}
		s += len + (s[len] == ' ');
	}
	return 0;
}

static int pieces(size_t *n)
{
	if (!shared || !strstr(fault, "short"))
		return 0;
	if (atomic_fetch_add(&shared->turns, 1) % 3 == 2) {
		errno = EINTR;
		return 1;
	}
	*n = *n > 7 ? *n - 7 : 1;
	return 0;
}

#define LOG(name, fd, path) \
	do { \
		char buf_[768]; \
		int e_ = errno; \
		if (shared) \
			put(name, path_of(fd, path, buf_)); \
		errno = e_; \
	} while (0)

#define PLAIN(ret, name, params, args) \
	ret name params \
	{ \
		return fails(#name) ? (ret)-1 : NEXT(name) args; \
	}

PLAIN(int, mkdir, (const char *p, mode_t m), (p, m))
PLAIN(int, flock, (int fd, int op), (fd, op))
PLAIN(int, pipe2, (int fds[2], int flags), (fds, flags))
PLAIN(pid_t, fork, (void), ())
PLAIN(int, dup, (int fd), (fd))
PLAIN(int, fstat64, (int fd, struct stat64 *st), (fd, st))
PLAIN(int, fstatat64, (int dir, const char *p, struct stat64 *st, int f), (dir, p, st, f))
PLAIN(int, fstatvfs64, (int fd, struct statvfs64 *v), (fd, v))
PLAIN(ssize_t, readlinkat, (int dir, const char *p, char *b, size_t n), (dir, p, b, n))
PLAIN(ssize_t, getrandom, (void *p, size_t n, unsigned f), (p, n, f))
PLAIN(int, ftruncate64, (int fd, off64_t n), (fd, n))
PLAIN(int, fchmod, (int fd, mode_t m), (fd, m))
PLAIN(off64_t, lseek64, (int fd, off64_t at, int from), (fd, at, from))
PLAIN(int, poll, (struct pollfd * p, nfds_t n, int ms), (p, n, ms))

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *arg)
{
	static atomic_int made;

	if (fails("pthread_create"))
		return errno;
	if (strstr(fault, "thread2") && atomic_fetch_add(&made, 1))
		return EAGAIN;
	if (shared)
		put("thread", "");
	return NEXT(pthread_create)(t, a, run, arg);
}

int mkdirat(int dir, const char *p, mode_t m)
{
	LOG("mkdirat", dir, p);
	return fails("mkdirat") ? -1 : NEXT(mkdirat)(dir, p, m);
}

int symlinkat(const char *to, int dir, const char *p)
{
	LOG("symlinkat", dir, p);
	return fails("symlinkat") ? -1 : NEXT(symlinkat)(to, dir, p);
}

int linkat(int from_dir, const char *from, int dir, const char *p, int flags)
{
	LOG("linkat", dir, p);
	return fails("linkat") ? -1 : NEXT(linkat)(from_dir, from, dir, p, flags);
}

int unlinkat(int dir, const char *p, int flags)
{
	LOG("unlinkat", dir, p);
	return fails("unlinkat") ? -1 : NEXT(unlinkat)(dir, p, flags);
}

int renameat(int from_dir, const char *from, int dir, const char *p)
{
	LOG("renameat", dir, p);
	return fails("renameat") ? -1 : NEXT(renameat)(from_dir, from, dir, p);
}

int fsync(int fd)
{
	LOG("fsync", fd, NULL);
	return fails("fsync") ? -1 : NEXT(fsync)(fd);
}

int syncfs(int fd)
{
	LOG("syncfs", fd, NULL);
	return fails("syncfs") ? -1 : NEXT(syncfs)(fd);
}

DIR *fdopendir(int fd)
{
	return fails("fdopendir") ? NULL : NEXT(fdopendir)(fd);
}

/* A descriptor is closed whatever it says; one that is none does not count. */
int close(int fd)
{
	int r = NEXT(close)(fd);

	return r == 0 && fails("close") ? -1 : r;
}

int open64(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (flags & O_CREAT)
		LOG("create", AT_FDCWD, path);
	return fails("open") ? -1 : NEXT(open64)(path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (flags & O_CREAT)
		LOG("create", dir, path);
	return fails("openat") ? -1 : NEXT(openat64)(dir, path, flags, mode);
}

/* What goes between the processes is whole or not there at all (PIPE_BUF). */
static int one_piece(size_t n)
{
	return n <= 64;
}

static int is_file(int fd)
{
	struct stat64 st;

	return NEXT(fstat64)(fd, &st) == 0 && S_ISREG(st.st_mode);
}

ssize_t read(int fd, void *p, size_t n)
{
	return fails("read") || (!one_piece(n) && pieces(&n)) ? -1 : NEXT(read)(fd, p, n);
}

ssize_t pread64(int fd, void *p, size_t n, off64_t at)
{
	return fails("pread") || pieces(&n) ? -1 : NEXT(pread64)(fd, p, n, at);
}

ssize_t write(int fd, const void *p, size_t n)
{
	if (fd <= STDERR_FILENO)
		return NEXT(write)(fd, p, n);
	LOG("write", fd, NULL);
	return fails(is_file(fd) ? "write" : "send") || (!one_piece(n) && pieces(&n))
		       ? -1
		       : NEXT(write)(fd, p, n);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	LOG("write", fd, NULL);
	return fails("pwrite") || pieces(&n) ? -1 : NEXT(pwrite64)(fd, p, n, at);
}

pid_t waitpid(pid_t pid, int *status, int flags)
{
	/* ECHILD is for a child that is not there; EINTR is what may come. */
	if (fails("waitpid")) {
		errno = EINTR;
		return -1;
	}
	return NEXT(waitpid)(pid, status, flags);
}

long syscall(long number, ...)
{
	long a[6];
	va_list ap;
	int i;

	va_start(ap, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_renameat2) {
		LOG("renameat", (int)a[2], (const char *)a[3]);
		if (fails("renameat2"))
			return -1;
	} else if (number == SYS_openat2 && fails("openat2")) {
		return -1;
	}
	return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static long back(long now)
{
	return now - 3600L * atomic_fetch_add(&shared->hours, 1);
}

time_t time(time_t *ret)
{
	time_t t = NEXT(time)(NULL);

	if (shared && strstr(fault, "clock"))
		t = (time_t)back((long)t);
	if (ret)
		*ret = t;
	return t;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	int r = NEXT(clock_gettime)(id, t);

	if (!r && id == CLOCK_REALTIME && shared && strstr(fault, "clock"))
		t->tv_sec = (time_t)back((long)t->tv_sec);
	return r;
}

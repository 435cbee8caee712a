/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing files that the user named on the command line. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/arena.h"

static int too_big(const char *name, size_t limit, struct err *err)
{
	return err_set(err, ERR_TOOBIG, _("%s: larger than the limit of %zu MiB"), name,
		       limit >> 20);
}

/* Reads until the end or until the buffer is full; -1 with errno, else 1 at the end. */
static int fill(int fd, char *buf, size_t cap, size_t *n)
{
	ssize_t r;

	while (*n < cap) {
		r = read(fd, buf + *n, cap - *n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -1;
		if (r == 0)
			return 1;
		*n += (size_t)r;
	}
	return 0;
}

/*
 * A pipe says no size. Its buffer is no part of the arena while it grows, so that what was read is
 * moved and not copied: half the memory of a large text.
 */
static int read_stream(struct arena *a, int fd, const char *name, size_t limit, struct view *ret,
		       struct err *err)
{
	size_t cap = 0, n = 0;
	char *buf = NULL, *more;
	int end = 0, saved;

	while (!end) {
		cap = cap ? cap * 2 : 65536;
		if (cap > limit + 1)
			cap = limit + 1;
		more = realloc(buf, cap);
		if (!more) {
			free(buf);
			arena_exhausted(a);
		}
		buf = more;
		end = fill(fd, buf, cap, &n);
		if (end < 0 || n > limit) {
			saved = errno;
			free(buf);
			return end < 0 ? err_errno(err, saved, "%s", name)
				       : too_big(name, limit, err);
		}
	}
	arena_defer(a, free, buf);
	*ret = (struct view){ .p = buf, .n = n };
	return 0;
}

int file_read_fd(struct arena *a, int fd, const char *name, size_t limit, struct view *ret,
		 struct err *err)
{
	size_t cap, n = 0;
	struct stat st;
	char *buf;
	int end;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0 || (size_t)st.st_size > limit)
		return read_stream(a, fd, name, limit, ret, err);
	/* What the size promises, and one byte to see the end by; a file may still grow. */
	cap = (size_t)st.st_size + 1;
	buf = arena_alloc(a, cap);
	for (;;) {
		end = fill(fd, buf, cap, &n);
		if (end < 0)
			return err_errno(err, errno, "%s", name);
		if (n > limit)
			return too_big(name, limit, err);
		if (end)
			break;
		buf = arena_grow(a, buf, cap, cap * 2);
		cap *= 2;
	}
	*ret = (struct view){ .p = buf, .n = n };
	return 0;
}

/* The descriptor that a shell's <(...) or /dev/stdin stands for; -1: the path is none of these. */
static int inherited(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	uint64_t n;
	size_t i;

	if (strcmp(path, "/dev/stdin") == 0)
		return STDIN_FILENO;
	for (i = 0; i < ARRAY_LEN(folders); i++)
		if (view_starts(view_of(path), folders[i]) &&
		    view_u64(view_skip(view_of(path), strlen(folders[i])), 10, &n) &&
		    n <= INT32_MAX)
			return (int)n;
	return -1;
}

int file_read_operand(struct arena *a, const char *path, size_t limit, struct view *ret,
		      struct err *err)
{
	struct stat st;
	int fd = inherited(path);

	if (fd < 0 || fstat(fd, &st) < 0 || S_ISDIR(st.st_mode))
		return file_read(a, path, limit, ret, err);
	return file_read_fd(a, fd, path, limit, ret, err);
}

int file_read(struct arena *a, const char *path, size_t limit, struct view *ret, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;

	if (strcmp(path, "-") == 0)
		return file_read_fd(a, STDIN_FILENO, _("standard input"), limit, ret, err);
	/* O_NONBLOCK: a FIFO must not hang the open; it is refused below. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_errno(err, errno, "%s", path);
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "%s", path);
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_TYPE, _("%s: is a directory"), path);
	/* What scripts write where a file without a line is meant. */
	if (!S_ISREG(st.st_mode) && !(S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)))
		return err_set(err, ERR_TYPE, _("%s: not a regular file"), path);
	return file_read_fd(a, fd, path, limit, ret, err);
}

int file_write_fd(int fd, const char *name, struct view data, struct err *err)
{
	ssize_t r;

	while (data.n) {
		r = write(fd, data.p, data.n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_errno(err, errno, "%s", name);
		data = view_skip(data, (size_t)r);
	}
	return 0;
}

int file_may_be_new(const char *path, bool replace, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_errno(err, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_USAGE, _("%s: not a regular file; it stays as it is"),
			       path);
	if (!replace)
		return err_set(err, ERR_USAGE, _("%s: it is there already; --force replaces it"),
			       path);
	return 0;
}

/* rename() that never replaces; where the file system cannot do that, by a second name. */
static int rename_new(const char *from, const char *to)
{
	enum { NO_REPLACE = 1 };

	/* As a system call: not every C library has the function. */
	if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, NO_REPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (link(from, to) < 0)
		return -1;
	unlink(from);
	return 0;
}

static int write_named(const char *path, struct view data, bool replace, struct err *err)
{
	char tmp[4096];
	_cleanup_fd_ int fd = -1;
	int n = snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path), r;

	if (n < 0 || (size_t)n >= sizeof(tmp))
		return err_set(err, ERR_IO, _("%.200s...: the name is too long"), path);
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, errno, "%s", path);
	r = file_write_fd(fd, path, data, err);
	if (!r && (fchmod(fd, 0644) < 0 || fsync(fd) < 0 ||
		   (replace ? rename(tmp, path) : rename_new(tmp, path)) < 0))
		r = err_errno(err, errno, "%s", path);
	if (r)
		unlink(tmp);
	return r;
}

int file_write_new(const char *path, struct view data, bool replace, struct err *err)
{
	int r = file_may_be_new(path, replace, err);

	return r ? r : write_named(path, data, replace, err);
}

int file_write(const char *path, struct view data, struct err *err)
{
	return write_named(path, data, true, err);
}

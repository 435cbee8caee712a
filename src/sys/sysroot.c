/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, reading and listing below the audited root. It must never open what is not a regular
 * file or a folder. */
#include "sys/sysroot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/sysroot_walk.h"
#include "sys/tree.h"

/* linux/openat2.h is younger than the kernels and libraries that this has to build on. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
struct how {
	uint64_t flags, mode, resolve;
};
enum {
	RESOLVE_MAGICLINKS_NOT = 0x02,
	RESOLVE_INSIDE_ROOT = 0x10,
	PROC_MAGIC = 0x9fa0,
	SYSFS_MAGIC = 0x62656572,
	RACE_TRIES = 16,
};

static int openat2_in_root(int root_fd, const char *path, uint64_t flags)
{
	struct how how = { .flags = flags | O_CLOEXEC,
			   .resolve = RESOLVE_INSIDE_ROOT | RESOLVE_MAGICLINKS_NOT };
	long fd = -1;
	int i;

	/* EAGAIN: something was renamed while ".." was resolved. */
	for (i = 0; i < RACE_TRIES; i++) {
		fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd < 0 ? -errno : (int)fd;
}

/* /proc or /sys mounted below a foreign root speak of the present machine, not of the audited one.
 */
static int refuse_foreign_kernel_files(const struct sysroot *r, int fd)
{
	struct statfs fs;

	if (r->live)
		return 0;
	if (fstatfs(fd, &fs) < 0)
		return errno == ENOSYS || errno == EBADF ? 0 : -errno;
	return fs.f_type == PROC_MAGIC || fs.f_type == SYSFS_MAGIC ? -EXDEV : 0;
}

/* O_PATH descriptor of what PATH is: nothing is opened for reading yet. */
static int path_fd(const struct sysroot *r, const char *path, bool follow)
{
	int fd, e;

	if (!path[0])
		return -ENOENT;
	if (r->no_openat2)
		fd = sysroot_walk(r->fd, path, follow, NULL);
	else
		fd = openat2_in_root(r->fd, path, O_PATH | (follow ? 0 : O_NOFOLLOW));
	if (fd < 0)
		return fd;
	e = refuse_foreign_kernel_files(r, fd);
	if (e) {
		close(fd);
		return e;
	}
	return fd;
}

static bool same_file(int a, int b)
{
	struct stat sa, sb;

	return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/*
 * Turns an O_PATH descriptor whose type is known into one for reading. /proc/self/fd reopens that
 * very file; where /proc is not mounted the path is opened once more and has to lead to the same
 * file.
 */
static int reopen(const struct sysroot *r, int pfd, const char *path, int flags)
{
	char link[40] = "/proc/self/fd/", digits[16];
	size_t n = strlen(link), d = 0;
	unsigned x = (unsigned)pfd;
	int fd, saved;

	do
		digits[d++] = (char)('0' + x % 10);
	while (x /= 10);
	while (d)
		link[n++] = digits[--d];
	fd = open(link, flags | O_CLOEXEC);
	if (fd >= 0 || (errno != ENOENT && errno != ENOTDIR))
		return fd < 0 ? -errno : fd;
	saved = errno;
	if (flags & O_DIRECTORY)
		fd = openat(pfd, ".", flags | O_CLOEXEC);
	else if (!r->no_openat2)
		fd = openat2_in_root(r->fd, path, (uint64_t)flags);
	if (fd < 0)
		return -saved;
	if (!same_file(pfd, fd)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

static int open_in_tree(const struct sysroot *r, const char *path, struct stat *ret)
{
	const struct tree_node *n;
	int e = ftree_find(r->tree, path, true, NULL, &n);

	if (e)
		return e;
	ftree_stat(n, ret);
	return ftree_open(r->tree, n);
}

static int open_checked(const struct sysroot *r, const char *path, struct stat *ret)
{
	_cleanup_fd_ int pfd = r->tree ? -1 : path_fd(r, path, true);

	if (r->tree)
		return open_in_tree(r, path, ret);
	if (pfd < 0)
		return pfd;
	if (fstat(pfd, ret) < 0)
		return -errno;
	if (!S_ISREG(ret->st_mode))
		return -EINVAL;
	return reopen(r, pfd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

static void close_root(void *p)
{
	close(((struct sysroot *)p)->fd);
}

int sysroot_open(struct arena *a, const char *dir, struct sysroot **ret, struct err *err)
{
	struct sysroot *r = arena_alloc(a, sizeof(*r));
	_cleanup_free_ char *real = realpath(dir, NULL);
	_cleanup_fd_ int probe = -1;

	/* Without it this machine would be taken for an image. */
	if (!real && errno == ENOMEM)
		arena_exhausted(a);
	r->fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->fd < 0 && errno == ENOTDIR)
		return err_set(err, ERR_TYPE, _("%s: not a directory"), dir);
	if (r->fd < 0)
		return err_errno(err, errno, "%s", dir);
	arena_defer(a, close_root, r);
	if (faccessat(r->fd, ".", X_OK, AT_EACCESS) < 0)
		return err_errno(err, errno, "%s", dir);
	r->live = real && strcmp(real, "/") == 0;
	r->dir = r->live ? "/" : arena_strdup(a, dir);
	probe = openat2_in_root(r->fd, ".", O_PATH);
	/* Kernels before 5.6 lack it, and some container sandboxes answer EPERM. */
	r->no_openat2 = probe < 0;
	*ret = r;
	return 0;
}

struct sysroot *sysroot_of_tree(struct arena *a, const struct ftree *tree, const char *dir)
{
	struct sysroot *r = arena_calloc(a, 1, sizeof(*r));

	r->fd = -1;
	r->tree = tree;
	r->dir = dir;
	return r;
}

bool sysroot_has(const struct sysroot *r, const char *path, uint64_t at, uint64_t size)
{
	const struct tree_node *n;

	return !r->tree ||
	       (ftree_find(r->tree, path, true, NULL, &n) == 0 && ftree_has(n, at, size));
}

int sysroot_open_file(const struct sysroot *r, const char *path)
{
	struct stat st;

	return open_checked(r, path, &st);
}

int sysroot_open_dir(const struct sysroot *r, const char *path)
{
	_cleanup_fd_ int pfd = -1;
	struct stat st;
	int e;

	if (r->tree)
		return -ENOTSUP;
	if (!r->no_openat2 && path[0]) {
		/* O_DIRECTORY is checked before anything is opened: a FIFO or a device is safe. */
		pfd = openat2_in_root(r->fd, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
		e = pfd < 0 ? pfd : refuse_foreign_kernel_files(r, pfd);
		return e ? e : take_fd(&pfd);
	}
	pfd = path_fd(r, path, true);
	if (pfd < 0)
		return pfd;
	if (fstat(pfd, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return reopen(r, pfd, path, O_RDONLY | O_DIRECTORY);
}

/* Reads until `size` bytes or the end. Bytes read or -errno. */
static ssize_t read_full(int fd, char *buf, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t k = read(fd, buf + n, size - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		if (k == 0)
			break;
		n += (size_t)k;
	}
	return (ssize_t)n;
}

int sysroot_read(const struct sysroot *r, struct arena *a, const char *path, size_t limit,
		 struct view *ret, bool *ret_cut)
{
	struct stat st;
	_cleanup_fd_ int fd = open_checked(r, path, &st);
	size_t n = 0, cap;
	char *buf;

	if (fd < 0)
		return fd;
	/* Kernel files say size 0 or one page. One byte more than expected shows that there is
	 * more. */
	cap = st.st_size > 0 ? (size_t)st.st_size + 1 : 4096;
	if (cap > limit)
		cap = limit + 1;
	buf = arena_alloc(a, cap);
	for (;;) {
		ssize_t k = read_full(fd, buf + n, cap - n);
		size_t more = cap * 2 < limit + 1 ? cap * 2 : limit + 1;

		if (k < 0)
			return (int)k;
		n += (size_t)k;
		if (n < cap || n > limit)
			break;
		buf = arena_grow(a, buf, cap, more);
		cap = more;
	}
	if (ret_cut)
		*ret_cut = n > limit;
	*ret = (struct view){ .p = buf, .n = n < limit ? n : limit };
	return 0;
}

int sysroot_read_line(const struct sysroot *r, struct arena *a, const char *path, const char **ret)
{
	char buf[4096];
	struct view text, line;
	struct stat st;
	_cleanup_fd_ int fd = open_checked(r, path, &st);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read_full(fd, buf, sizeof(buf));
	if (n < 0)
		return (int)n;
	text = (struct view){ .p = buf, .n = (size_t)n };
	if (!view_line(&text, &line))
		line = text;
	*ret = view_dup(a, view_trim(line));
	return 0;
}

int sysroot_readlink(const struct sysroot *r, struct arena *a, const char *path, const char **ret)
{
	_cleanup_fd_ int pfd = r->tree ? -1 : path_fd(r, path, false);
	const struct tree_node *node;
	char buf[PATH_MAX];
	struct stat st;
	ssize_t n;
	int e;

	if (r->tree) {
		e = ftree_find(r->tree, path, false, NULL, &node);
		if (!e && !S_ISLNK(node->mode))
			e = -EINVAL;
		if (!e)
			*ret = node->link;
		return e;
	}
	if (pfd < 0)
		return pfd;
	if (fstat(pfd, &st) < 0)
		return -errno;
	if (!S_ISLNK(st.st_mode))
		return -EINVAL;
	n = readlinkat(pfd, "", buf, sizeof(buf));
	if (n < 0)
		return -errno;
	*ret = arena_strndup(a, buf, (size_t)n);
	return 0;
}

int sysroot_stat(const struct sysroot *r, const char *path, bool follow, struct stat *ret)
{
	_cleanup_fd_ int pfd = r->tree ? -1 : path_fd(r, path, follow);
	const struct tree_node *n;
	int e;

	if (r->tree) {
		e = ftree_find(r->tree, path, follow, NULL, &n);
		if (!e)
			ftree_stat(n, ret);
		return e;
	}
	if (pfd < 0)
		return pfd;
	return fstat(pfd, ret) < 0 ? -errno : 0;
}

bool sysroot_exists(const struct sysroot *r, const char *path)
{
	struct stat st;

	return sysroot_stat(r, path, true, &st) == 0;
}

bool sysroot_is_dir(const struct sysroot *r, const char *path)
{
	struct stat st;

	return sysroot_stat(r, path, true, &st) == 0 && S_ISDIR(st.st_mode);
}

int sysroot_realpath(const struct sysroot *r, struct arena *a, const char *path, const char **ret)
{
	char buf[PATH_MAX];
	int fd;

	if (!path[0])
		return -ENOENT;
	if (r->tree) {
		const struct tree_node *n;

		fd = ftree_find(r->tree, path, true, buf, &n);
		if (fd)
			return fd;
	} else {
		fd = sysroot_walk(r->fd, path, true, buf);
		if (fd < 0)
			return fd;
		close(fd);
	}
	*ret = arena_strdup(a, buf);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool entry_is_dir(int fd, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type == DT_DIR;
	return fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int list_tree(const struct sysroot *r, struct arena *a, const char *path, size_t max,
		     bool mark, struct dirlist *ret)
{
	const struct tree_node *dir, *n;
	int e = ftree_find(r->tree, path, true, NULL, &dir);

	*ret = (struct dirlist){ 0 };
	if (!e && !S_ISDIR(dir->mode))
		e = -ENOTDIR;
	for (n = e ? NULL : dir->children; n; n = n->next) {
		if (n->gone)
			continue;
		if (ret->n == max) {
			ret->cut = true;
			break;
		}
		*ARENA_APPEND(a, ret->names, ret->n) =
			mark && S_ISDIR(n->mode) ? arena_printf(a, "%s/", n->name) : n->name;
	}
	if (ret->n)
		qsort(ret->names, ret->n, sizeof(*ret->names), by_name);
	return e;
}

static int list(const struct sysroot *r, struct arena *a, const char *path, size_t max, bool mark,
		struct dirlist *ret)
{
	_cleanup_fd_ int fd = r->tree ? -1 : sysroot_open_dir(r, path);
	_cleanup_dir_ DIR *d = NULL;
	struct dirent *e;

	if (r->tree)
		return list_tree(r, a, path, max, mark, ret);
	*ret = (struct dirlist){ 0 };
	if (fd < 0)
		return fd;
	d = fdopendir(fd);
	if (!d && errno == ENOMEM)
		arena_exhausted(a);
	if (!d)
		return -errno;
	take_fd(&fd);
	while (errno = 0, (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (ret->n == max) {
			ret->cut = true;
			break;
		}
		*ARENA_APPEND(a, ret->names, ret->n) = mark && entry_is_dir(dirfd(d), e)
							       ? arena_printf(a, "%s/", e->d_name)
							       : arena_strdup(a, e->d_name);
	}
	if (!e && errno)
		return -errno;
	if (ret->n)
		qsort(ret->names, ret->n, sizeof(*ret->names), by_name);
	return 0;
}

int sysroot_list(const struct sysroot *r, struct arena *a, const char *path, size_t max,
		 struct dirlist *ret)
{
	return list(r, a, path, max, false, ret);
}

int sysroot_list_marked(const struct sysroot *r, struct arena *a, const char *path, size_t max,
			struct dirlist *ret)
{
	return list(r, a, path, max, true, ret);
}

void sysroot_fact(const struct sysroot *r, struct arena *a, const char *path, struct fact *f)
{
	const char *line = NULL, *source = arena_strdup(a, path);
	int e = sysroot_read_line(r, a, path, &line);

	if (e == -EINVAL)
		fact_broken(f, source, N_("not a regular file"));
	else if (e)
		fact_errno(f, -e, source);
	else if (!line[0])
		fact_broken(f, source, N_("empty"));
	else
		fact_set(f, line, source);
}

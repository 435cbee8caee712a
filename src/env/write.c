/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that snippets are written into: read once, replaced as a whole, with owner, mode and
 * attributes kept. A link is followed only when it is the user's own or root's, and a file that
 * changed meanwhile is left as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "env/env.h"

enum { NO_REPLACE = 1, LINKS_MAX = 40, TEXT_MAX = 4 << 20, ATTRS_MAX = 1 << 16 };

/* -------- where a path leads */

static int follow(struct arena *a, const char *link, const struct stat *st, const char *rest,
		  const char **ret, struct err *err)
{
	char *to = arena_alloc(a, PATH_MAX);
	ssize_t n;

	if (st->st_uid != 0 && st->st_uid != geteuid())
		return err_set(err, ERR_ACCESS,
			       _("%.300s: this link belongs to user %u; name the file behind it"),
			       link, (unsigned)st->st_uid);
	n = readlink(link, to, PATH_MAX - 1);
	if (n <= 0)
		return err_errno(err, n < 0 ? errno : EINVAL, "%s", link);
	to[n] = '\0';
	*ret = arena_printf(a, "%s%s%s%s", to[0] == '/' ? "" : path_dir(a, link),
			    to[0] == '/' ? "" : "/", to, rest);
	return 0;
}

/* Component by component; the last one need not exist. *ret_linked: was there a link? */
static int resolve(struct arena *a, const char *path, const char **ret, bool *ret_linked,
		   struct err *err)
{
	const char *done = path[0] == '/' ? "" : ".", *rest = path, *here;
	struct stat st;
	size_t n;
	int links = 0, r;

	*ret_linked = false;
	for (;;) {
		rest += strspn(rest, "/");
		if (!*rest)
			break;
		n = strcspn(rest, "/");
		here = arena_printf(a, "%s/%.*s", done, (int)n, rest);
		rest += n;
		if (lstat(here, &st) < 0) {
			if (errno != ENOENT && errno != ENOTDIR)
				return err_errno(err, errno, "%s", here);
		} else if (S_ISLNK(st.st_mode)) {
			if (++links > LINKS_MAX)
				return err_errno(err, ELOOP, "%s", path);
			r = follow(a, here, &st, rest, &rest, err);
			if (r)
				return r;
			*ret_linked = true;
			done = rest[0] == '/' ? "" : ".";
			continue;
		}
		done = here;
	}
	if (!*done || strcmp(done, ".") == 0)
		return err_set(err, ERR_TYPE, _("%s: is a directory"), path);
	*ret = done;
	return 0;
}

static void remember(struct env_file *f, const struct stat *st)
{
	f->dev = (unsigned long long)st->st_dev;
	f->ino = (unsigned long long)st->st_ino;
	f->size = (unsigned long long)st->st_size;
	f->mtime = (long long)st->st_mtim.tv_sec;
	f->mtime_ns = (long long)st->st_mtim.tv_nsec;
	f->ctime = (long long)st->st_ctim.tv_sec;
	f->ctime_ns = (long long)st->st_ctim.tv_nsec;
}

static bool unchanged(const struct env_file *f, const struct stat *st)
{
	struct env_file now;

	remember(&now, st);
	return now.dev == f->dev && now.ino == f->ino && now.size == f->size &&
	       now.mtime == f->mtime && now.mtime_ns == f->mtime_ns && now.ctime == f->ctime &&
	       now.ctime_ns == f->ctime_ns;
}

int env_file_read(struct arena *a, const char *path, struct env_file *ret, struct err *err)
{
	struct env_file f = { .exists = true };
	_cleanup_fd_ int fd = -1;
	struct stat st;
	int r;

	r = resolve(a, path, &f.path, &f.linked, err);
	if (r)
		return r;
	fd = open(f.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ENOENT) {
		f.exists = false;
		*ret = f;
		return 0;
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(err, errno, "%s", path);
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_TYPE, _("%s: is a directory"), path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_TYPE, _("%s: not a regular file"), path);
	if (st.st_nlink > 1)
		return err_set(err, ERR_UNSUPPORTED,
			       _("%s: has %lu hard links, which replacing the file would part"),
			       path, (unsigned long)st.st_nlink);
	remember(&f, &st);
	r = file_read_fd(a, fd, path, TEXT_MAX, &f.text, err);
	if (!r)
		*ret = f;
	return r;
}

/* -------- replacing */

/* Access lists and security labels: whatever can be kept. */
static void copy_attributes(struct arena *a, const char *path, int to)
{
	char *names = arena_alloc(a, ATTRS_MAX), *value = arena_alloc(a, ATTRS_MAX);
	ssize_t n = listxattr(path, names, ATTRS_MAX), k;
	const char *p;

	for (p = names; n > 0; n -= (ssize_t)strlen(p) + 1, p += strlen(p) + 1) {
		k = getxattr(path, p, value, ATTRS_MAX);
		/* Not all can be set, and none of them is worth leaving the block out. */
		if (k >= 0 && fsetxattr(to, p, value, (size_t)k, 0) < 0)
			continue;
	}
}

static int like_old(struct arena *a, const struct env_file *f, int fd, const char *tmp,
		    struct err *err)
{
	struct stat old, new;
	mode_t mask;

	if (!f->exists) {
		mask = umask(0);
		umask(mask);
		return fchmod(fd, 0666 & ~mask) < 0 ? err_errno(err, errno, "%s", tmp) : 0;
	}
	if (lstat(f->path, &old) < 0 || fstat(fd, &new) < 0)
		return err_errno(err, errno, "%s", f->path);
	if (!unchanged(f, &old))
		return err_set(err, ERR_IO, _("%s: changed meanwhile; nothing was written"),
			       f->path);
	if ((old.st_uid != new.st_uid || old.st_gid != new.st_gid) &&
	    fchown(fd, old.st_uid, old.st_gid) < 0)
		return err_errno(err, errno, _("%s: its owner cannot be kept"), f->path);
	copy_attributes(a, f->path, fd);
	if (fchmod(fd, old.st_mode & 07777) < 0)
		return err_errno(err, errno, "%s", tmp);
	return 0;
}

/* A file that appeared meanwhile is not overwritten either. */
static int into_place(const struct env_file *f, const char *tmp, struct err *err)
{
	struct stat st;

	if (!f->exists) {
		/* As a system call: not every C library has the function. */
		if (syscall(SYS_renameat2, AT_FDCWD, tmp, AT_FDCWD, f->path, NO_REPLACE) == 0)
			return 0;
		if (errno == EEXIST)
			return err_set(err, ERR_IO, _("%s: changed meanwhile; nothing was written"),
				       f->path);
		if (errno != EINVAL && errno != ENOSYS)
			return err_errno(err, errno, "%s", f->path);
	} else if (lstat(f->path, &st) < 0 || !unchanged(f, &st)) {
		return err_set(err, ERR_IO, _("%s: changed meanwhile; nothing was written"),
			       f->path);
	}
	return rename(tmp, f->path) < 0 ? err_errno(err, errno, "%s", f->path) : 0;
}

static void sync_folder(const char *dir)
{
	_cleanup_fd_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* Some file systems refuse it; the file itself is written by then. */
	if (fd >= 0 && fsync(fd) < 0)
		return;
}

static int make_folders(struct arena *a, const char *dir, struct err *err)
{
	int r;

	if (!*dir || mkdir(dir, 0777) == 0 || errno == EEXIST)
		return 0;
	if (errno != ENOENT)
		return err_errno(err, errno, "%s", dir);
	r = make_folders(a, path_dir(a, dir), err);
	if (!r && mkdir(dir, 0777) < 0)
		r = err_errno(err, errno, "%s", dir);
	return r;
}

static int take_away(const struct env_file *f, struct err *err)
{
	struct stat st;

	if (lstat(f->path, &st) < 0 || !unchanged(f, &st))
		return err_set(err, ERR_IO, _("%s: changed meanwhile; nothing was written"),
			       f->path);
	return unlink(f->path) < 0 ? err_errno(err, errno, "%s", f->path) : 0;
}

int env_file_write(struct arena *a, const struct env_file *f, const struct view *text, bool mkdirs,
		   struct err *err)
{
	char *tmp = arena_printf(a, "%s.cuvet.XXXXXX", f->path);
	const char *dir = path_dir(a, f->path);
	_cleanup_fd_ int fd = -1;
	int r;

	if (!text)
		return take_away(f, err);
	if (f->exists && access(f->path, W_OK) < 0)
		return err_errno(err, errno, "%s", f->path);
	r = mkdirs ? make_folders(a, dir, err) : 0;
	if (r)
		return r;
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, errno, "%s", f->path);
	r = file_write_fd(fd, f->path, *text, err);
	if (!r)
		r = like_old(a, f, fd, tmp, err);
	if (!r && fsync(fd) < 0)
		r = err_errno(err, errno, "%s", f->path);
	if (!r)
		r = into_place(f, tmp, err);
	if (r)
		unlink(tmp);
	else
		sync_folder(dir);
	return r;
}

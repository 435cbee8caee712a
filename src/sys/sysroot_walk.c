/* SPDX-License-Identifier: Apache-2.0 */
/* The component walk behind sysroot.c. It must never let the kernel follow a link by itself. */
#include "sys/sysroot_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"

enum { LINK_LIMIT = 40, DEPTH_LIMIT = 200 }; /* 40 is the kernel's own limit for links */

struct walk {
	int root_fd;
	int fd[DEPTH_LIMIT]; /* the directories below the root that lead here, then the object */
	size_t len[DEPTH_LIMIT]; /* length of `path` before each */
	size_t depth;
	int links;
	char path[PATH_MAX]; /* "/usr/lib"; empty at the root */
	size_t n;
	char todo[PATH_MAX]; /* what is left to resolve */
};

static int here(const struct walk *w)
{
	return w->depth ? w->fd[w->depth - 1] : w->root_fd;
}

static void pop(struct walk *w)
{
	if (!w->depth)
		return; /* ".." at the root stays there */
	w->depth--;
	close(w->fd[w->depth]);
	w->n = w->len[w->depth];
}

static void pop_all(struct walk *w)
{
	while (w->depth)
		pop(w);
}

/* Takes fd over. */
static int push(struct walk *w, int fd, const char *name, size_t n)
{
	if (w->depth == DEPTH_LIMIT || w->n + n + 2 > sizeof(w->path)) {
		close(fd);
		return -ENAMETOOLONG;
	}
	w->fd[w->depth] = fd;
	w->len[w->depth++] = w->n;
	w->path[w->n++] = '/';
	memcpy(w->path + w->n, name, n);
	w->n += n;
	return 0;
}

/* Puts the text of the link `fd` in front of what is left. Closes fd. */
static int expand(struct walk *w, int fd)
{
	char text[PATH_MAX];
	size_t left = strlen(w->todo);
	ssize_t n = readlinkat(fd, "", text, sizeof(text));
	int r = n < 0 ? -errno : 0;

	close(fd);
	if (r)
		return r;
	if (n == 0)
		return -ENOENT;
	if (++w->links > LINK_LIMIT)
		return -ELOOP;
	if ((size_t)n + left + 2 > sizeof(w->todo))
		return -ENAMETOOLONG;
	memmove(w->todo + n + 1, w->todo, left + 1);
	memcpy(w->todo, text, (size_t)n);
	w->todo[n] = left ? '/' : '\0';
	if (text[0] == '/')
		pop_all(w);
	return 0;
}

/* One component, already taken off `todo`. `last`: nothing follows it, not even a slash. */
static int step(struct walk *w, const char *name, bool last, bool follow)
{
	struct stat st;
	int fd;

	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0) {
		pop(w);
		return 0;
	}
	fd = openat(here(w), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	if (S_ISLNK(st.st_mode) && (follow || !last))
		return expand(w, fd);
	if (!S_ISDIR(st.st_mode) && !last) {
		close(fd);
		return -ENOTDIR;
	}
	return push(w, fd, name, strlen(name));
}

static int walk_all(struct walk *w, bool follow)
{
	char name[NAME_MAX + 1];
	int r = 0;

	while (!r) {
		size_t skip = strspn(w->todo, "/"), n = strcspn(w->todo + skip, "/");
		bool last = w->todo[skip + n] == '\0';

		if (!n)
			break;
		if (n > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, w->todo + skip, n);
		name[n] = '\0';
		memmove(w->todo, w->todo + skip + n, strlen(w->todo + skip + n) + 1);
		r = step(w, name, last, follow);
	}
	return r;
}

int sysroot_walk(int root_fd, const char *path, bool follow, char ret_path[PATH_MAX])
{
	struct walk w = { .root_fd = root_fd };
	int r, fd = -1;

	if (strlen(path) >= sizeof(w.todo))
		return -ENAMETOOLONG;
	memcpy(w.todo, path, strlen(path) + 1);
	r = walk_all(&w, follow);
	if (!r) {
		fd = fcntl(here(&w), F_DUPFD_CLOEXEC, 3);
		r = fd < 0 ? -errno : 0;
	}
	if (!r && ret_path) {
		memcpy(ret_path, w.n ? w.path : "/", w.n ? w.n : 1);
		ret_path[w.n ? w.n : 1] = '\0';
	}
	pop_all(&w);
	return r ? r : fd;
}

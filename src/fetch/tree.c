/* SPDX-License-Identifier: Apache-2.0 */
/* Path work relative to descriptors; must not follow a link below the folder it was given. */
#include "fetch/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/view.h"

enum {
	OPEN_DIR = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
	PART_MAX = 255,
	DEPTH_MAX = 64,
	ITEMS_MAX = 400000,
};

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#define TREE_NO_MAGICLINKS 0x02
#define TREE_NO_SYMLINKS 0x04
#define TREE_BENEATH 0x08

/* As in linux/openat2.h, which older systems lack. */
struct how {
	unsigned long long flags, mode, resolve;
};

bool tree_name_ok(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Copies the next part of *path; false when it is none or too long. */
static bool next_part(const char **path, char part[PART_MAX + 1])
{
	const char *slash = strchr(*path, '/');
	size_t n = slash ? (size_t)(slash - *path) : strlen(*path);

	if (n == 0 || n > PART_MAX)
		return false;
	memcpy(part, *path, n);
	part[n] = '\0';
	*path = slash ? slash + 1 : *path + n;
	return strcmp(part, ".") != 0 && strcmp(part, "..") != 0;
}

/* For kernels before 5.6. */
static int walk_open(int root, const char *path, int flags, unsigned mode)
{
	_cleanup_fd_ int dir = -1;
	char part[PART_MAX + 1];
	int fd;

	for (;;) {
		if (!next_part(&path, part))
			return -EINVAL;
		if (!*path)
			break;
		fd = openat(dir < 0 ? root : dir, part, OPEN_DIR);
		if (fd < 0)
			return -errno;
		cleanup_fd(&dir);
		dir = fd;
	}
	fd = openat(dir < 0 ? root : dir, part, flags | O_NOFOLLOW | O_CLOEXEC, (mode_t)mode);
	return fd < 0 ? -errno : fd;
}

int tree_open(int root, const char *path, int flags, unsigned mode)
{
	const struct how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = TREE_BENEATH | TREE_NO_SYMLINKS | TREE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd >= 0)
		return (int)fd;
	if (errno != ENOSYS && errno != EPERM)
		return -errno;
	if (strcmp(path, ".") != 0)
		return walk_open(root, path, flags, mode);
	fd = openat(root, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

int tree_make_dir(int root, const char *path)
{
	int dir = -1, fd;
	char part[PART_MAX + 1];

	do {
		if (!next_part(&path, part)) {
			cleanup_fd(&dir);
			return -EINVAL;
		}
		fd = openat(dir < 0 ? root : dir, part, OPEN_DIR);
		if (fd < 0 && errno == ENOENT) {
			if (mkdirat(dir < 0 ? root : dir, part, 0755) < 0 && errno != EEXIST)
				fd = -errno;
			else
				fd = openat(dir < 0 ? root : dir, part, OPEN_DIR);
		}
		if (fd < 0) {
			int e = fd == -1 ? -errno : fd;

			cleanup_fd(&dir);
			return e;
		}
		cleanup_fd(&dir);
		dir = fd;
	} while (*path);
	return dir;
}

int tree_parent(int root, const char *path, bool make, const char **ret_base)
{
	const char *slash = strrchr(path, '/');
	char dir[4096];
	size_t n = slash ? (size_t)(slash - path) : 0;

	*ret_base = slash ? slash + 1 : path;
	if (!slash) {
		int fd = dup(root);

		return fd < 0 ? -errno : fd;
	}
	if (n >= sizeof(dir))
		return -ENAMETOOLONG;
	memcpy(dir, path, n);
	dir[n] = '\0';
	return make ? tree_make_dir(root, dir) : tree_open(root, dir, O_RDONLY | O_DIRECTORY, 0);
}

int tree_user_dir(struct arena *a, const char *path, int *ret_fd, struct err *err)
{
	char *copy = arena_strdup(a, path), *slash;
	int fd, why = 0;

	if (!*path)
		return err_set(err, ERR_USAGE, _("an empty name is no folder"));
	for (slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		/* What cannot be made and is not there shows with the last one, and says why. */
		if (mkdir(copy, 0755) < 0 && errno != EEXIST && !why)
			why = errno;
		*slash = '/';
	}
	if (mkdir(copy, 0755) < 0 && errno != EEXIST)
		return err_errno(err, errno == ENOENT && why ? why : errno, "%.400s", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, errno, "%.400s", path);
	*ret_fd = fd;
	return 0;
}

struct lister {
	struct arena *a;
	struct tree_item *items;
	size_t n;
};

static char type_of(const struct stat *st)
{
	if (S_ISREG(st->st_mode))
		return 'f';
	if (S_ISDIR(st->st_mode))
		return 'd';
	return S_ISLNK(st->st_mode) ? 'l' : '?';
}

/* Takes `fd`. 0 or -errno. */
static int list_dir(struct lister *l, int fd, const char *path, int depth)
{
	_cleanup_dir_ DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		close(fd);
		return -errno;
	}
	if (depth > DEPTH_MAX)
		return -ELOOP;
	while (!r && (entry = readdir(dir))) {
		const char *name = entry->d_name, *below;
		struct tree_item *item;
		struct stat st;

		if (!tree_name_ok(name))
			continue;
		if (l->n >= ITEMS_MAX)
			return -EOVERFLOW;
		if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			if (errno == ENOENT)
				continue;
			return -errno;
		}
		below = *path ? arena_printf(l->a, "%s/%s", path, name) : arena_strdup(l->a, name);
		if (S_ISDIR(st.st_mode)) {
			int sub = openat(dirfd(dir), name, OPEN_DIR);

			r = sub < 0 ? -errno : list_dir(l, sub, below, depth + 1);
		}
		item = ARENA_APPEND(l->a, l->items, l->n);
		*item = (struct tree_item){
			.path = below,
			.type = type_of(&st),
			.mode = st.st_mode & 07777,
			.size = (unsigned long long)st.st_size,
		};
	}
	return r;
}

int tree_list(struct arena *a, int root, struct tree_item **ret, size_t *ret_n, struct err *err)
{
	struct lister l = { .a = a };
	int fd = openat(root, ".", OPEN_DIR), r;

	if (fd < 0)
		return err_errno(err, errno, "%s", ".");
	r = list_dir(&l, fd, "", 0);
	if (r < 0)
		return err_errno(err, -r, "%s", l.n ? l.items[l.n - 1].path : ".");
	*ret = l.items;
	*ret_n = l.n;
	return 0;
}

static int remove_below(int fd, int depth)
{
	_cleanup_dir_ DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		close(fd);
		return -errno;
	}
	if (depth > DEPTH_MAX)
		return -ELOOP;
	while ((entry = readdir(dir))) {
		int sub, e;

		if (!tree_name_ok(entry->d_name))
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0) == 0 || errno == ENOENT)
			continue;
		e = -errno;
		sub = openat(dirfd(dir), entry->d_name, OPEN_DIR);
		if (sub >= 0) {
			e = remove_below(sub, depth + 1);
			if (!e && unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR) < 0)
				e = -errno;
		}
		if (e && !r)
			r = e;
	}
	return r;
}

int tree_remove(int dir, const char *name)
{
	int fd = openat(dir, name, OPEN_DIR), r;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return unlinkat(dir, name, 0) < 0 && errno != ENOENT ? -errno : 0;
	r = remove_below(fd, 0);
	if (!r && unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		r = -errno;
	return r;
}

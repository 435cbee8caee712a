/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root of the audited system: every path of it is opened here and nowhere else.
 *
 * Links are resolved inside the root: an absolute link means root-relative, ".." stops at the root
 * (openat2 RESOLVE_IN_ROOT, else a component walk with a 40-link limit). FIFOs, devices and sockets
 * are never opened for reading. All calls return 0 (or a descriptor) or a negative errno.
 */
#ifndef SYS_SYSROOT_H
#define SYS_SYSROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/path.h"
#include "base/view.h"
#include "model/fact.h"

struct arena;
struct ftree;

struct sysroot {
	int fd;		 /* O_PATH directory */
	bool live;	 /* it is this machine's own "/" */
	const char *dir; /* as the user named it, "/" when live */
	bool no_openat2; /* found out at opening; also set by tests */
	const struct ftree *tree; /* the files of an image, which are in no folder; else NULL */
};

/* A root whose files are those of a tree; `dir` is what it is called. */
struct sysroot *sysroot_of_tree(struct arena *a, const struct ftree *tree, const char *dir);
/*
 * Are these bytes of a file there? False where an image was read as a stream and they were left
 * out.
 */
bool sysroot_has(const struct sysroot *r, const char *path, uint64_t at, uint64_t size);
/*
 * Opens DIR ("/" gives live). The descriptor is closed with the arena. ERR_NOENT, ERR_ACCESS,
 * ERR_TYPE.
 */
int sysroot_open(struct arena *a, const char *dir, struct sysroot **ret, struct err *err) ATTR_MUST;

enum { SYSROOT_TEXT_MAX = 1 << 20 }; /* usual limit for a text file */

/* Regular file, read-only, close-on-exec. -EINVAL for anything that is no regular file. */
int sysroot_open_file(const struct sysroot *r, const char *path);
/* Directory for listing. */
int sysroot_open_dir(const struct sysroot *r, const char *path);
/* At most `limit` bytes; a longer file is cut there and *ret_cut (may be NULL) set. 0 or -errno. */
int sysroot_read(const struct sysroot *r, struct arena *a, const char *path, size_t limit,
		 struct view *ret, bool *ret_cut);
/* Trimmed first line of a small file as a string (sysfs attributes). 0 or -errno. */
int sysroot_read_line(const struct sysroot *r, struct arena *a, const char *path, const char **ret);
/* Text of the link itself, not resolved further. */
int sysroot_readlink(const struct sysroot *r, struct arena *a, const char *path, const char **ret);
/* follow: of what the link leads to, inside the root. */
int sysroot_stat(const struct sysroot *r, const char *path, bool follow, struct stat *ret);
bool sysroot_exists(const struct sysroot *r, const char *path); /* follows */
bool sysroot_is_dir(const struct sysroot *r, const char *path); /* follows */
/*
 * The path with every link resolved, root-relative and absolute ("/usr/lib/..."). -ELOOP, -ENOENT.
 */
int sysroot_realpath(const struct sysroot *r, struct arena *a, const char *path, const char **ret);

/*
 * Names in a directory (without "." and ".."), sorted; at most `max`, *ret_cut when there were
 * more.
 */
struct dirlist {
	const char **names;
	size_t n;
	bool cut;
};
int sysroot_list(const struct sysroot *r, struct arena *a, const char *path, size_t max,
		 struct dirlist *ret);
/* The same; the name of a folder (not of a link to one) ends in '/'. */
int sysroot_list_marked(const struct sysroot *r, struct arena *a, const char *path, size_t max,
			struct dirlist *ret);

/* Fills a fact from the first line of PATH; its state follows errno, its source is PATH. */
void sysroot_fact(const struct sysroot *r, struct arena *a, const char *path, struct fact *f);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths below a folder, each resolved by the kernel relative to a descriptor: never through a link
 * and never out of the folder (openat2, else a walk by components). No string is resolved here.
 */
#ifndef FETCH_TREE_H
#define FETCH_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct arena;

/* openat() below `root` without following any link; 0600-style mode for O_CREAT. fd or -errno. */
int tree_open(int root, const char *path, int flags, unsigned mode);
/* A folder below `root`, made with its parents where it is not there. fd or -errno. */
int tree_make_dir(int root, const char *path);
/*
 * The folder that holds `path`, opened (made: with parents); *ret_base is the last part. fd or
 * -errno.
 */
int tree_parent(int root, const char *path, bool make, const char **ret_base);
/* A folder that the user names, made with its parents where it is not there; links are the user's.
 */
int tree_user_dir(struct arena *a, const char *path, int *ret_fd, struct err *err) ATTR_MUST;

/* What lies below a folder, depth first: a folder after what it holds. Links are not followed. */
struct tree_item {
	const char *path;
	char type; /* 'f', 'd', 'l', '?' */
	unsigned mode;
	unsigned long long size;
};
int tree_list(struct arena *a, int root, struct tree_item **ret, size_t *ret_n, struct err *err)
	ATTR_MUST;
/* Takes `name` in `dir` away with all below it. 0 or -errno; what is not there is no error. */
int tree_remove(int dir, const char *name);
bool tree_name_ok(const char *name); /* one part: no '/', not "", "." or ".." */

#endif

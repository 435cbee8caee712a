/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of files that is not on a disk: names, links and modes in memory, contents where they lie
 * (in an archive, or in one unnamed spill file). A root that is such a tree serves probes like a
 * folder: links are resolved inside it, and nothing of the real file system is ever opened for it.
 */
#ifndef SYS_TREE_H
#define SYS_TREE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/attr.h"

struct arena;

/* A piece of a file: `n` bytes at `at` of it lie at `from` of the descriptor. */
struct tree_piece {
	uint64_t at, n, from;
};

/* Contents; shared by hard links. Bytes that no piece covers were not kept. */
struct tree_data {
	int fd; /* borrowed; -1: nothing was kept */
	uint64_t size;
	struct tree_piece *pieces; /* ascending */
	size_t n_pieces;
};

struct tree_node {
	struct tree_node *parent, *next, *children;
	const char *name;
	const char *link; /* target of a symbolic link */
	struct tree_data *data;
	mode_t mode;
	unsigned layer; /* the last one that said something about it */
	bool gone;	/* a later layer took it away */
};

struct ftree {
	struct arena *a;
	struct tree_node root;
	struct tree_node **slots; /* by hash of parent and name; n_slots is a power of two */
	size_t n_slots, n;
	bool full; /* the limit of names was reached */
};

struct ftree *ftree_new(struct arena *a);
/*
 * Puts a file, folder or link at PATH, whatever was there; folders above it are made. Links among
 * those above lead on inside the tree. The node, or NULL for a name that cannot be (empty, "..",
 * too long or deep) and when the tree is full.
 */
struct tree_node *ftree_put(struct ftree *t, const char *path, mode_t mode, unsigned layer);
/* Takes PATH away, and all below it, as far as an earlier layer put it there. */
void ftree_remove(struct ftree *t, const char *path, unsigned layer);
/* Takes away what earlier layers put into the folder PATH. */
void ftree_make_opaque(struct ftree *t, const char *path, unsigned layer);

/* What PATH leads to; `ret_path` (PATH_MAX, may be NULL) gets it without links. 0 or -errno. */
int ftree_find(const struct ftree *t, const char *path, bool follow, char *ret_path,
	      const struct tree_node **ret) ATTR_MUST;
/* A descriptor for reading: a copy in memory of what was kept, or, of a large library, of its
 * headers. */
int ftree_open(const struct ftree *t, const struct tree_node *n);
void ftree_stat(const struct tree_node *n, struct stat *ret);
/* Were all these bytes of the file kept? */
bool ftree_has(const struct tree_node *n, uint64_t at, uint64_t size);
/* Reads up to n bytes at `at`; what was not kept reads as zeros. Bytes or -errno. */
ssize_t ftree_read(const struct tree_data *d, void *buf, size_t n, uint64_t at);

#endif

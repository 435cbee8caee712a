/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging an archive into a toolkit that is there (--into): no file of the toolkit is replaced, all
 * that is put there is recorded in the prefix before, and can be taken away again. A record that
 * still ends in ".pending" is undone when the prefix is next locked.
 */
#ifndef FETCH_INTO_H
#define FETCH_INTO_H

#include "fetch/fetch.h"
#include "fetch/record.h"

struct prefix;

#define INTO_DONE ".record"
#define INTO_PENDING ".pending"

struct into {
	const char *toolkit;
	const char *id;	   /* of its record: "cudnn-9.1.1.17-cuda12@0123456789abcdef" */
	const char *stage; /* name of the staging folder in the toolkit */
	int fd, stage_fd;  /* of toolkit and staging folder */
};

/* Id of the record of an item in a toolkit. */
const char *into_id(struct arena *a, const char *name, const char *dir, const char *toolkit);
/* Opens the toolkit (made when it is not there), writes the pending record, makes a staging folder.
 */
int into_begin(struct prefix *s, const struct fetch_item *item, const char *toolkit,
	       struct into *ret, struct err *err) ATTR_MUST;
/* Moves what was unpacked into place. ERR_IO naming the file that is there already. */
int into_commit(struct prefix *s, struct into *t, struct fetch_item *item, const char *accepted,
		struct err *err) ATTR_MUST;
/* Undoes what was begun, if it was not committed; closes. */
void into_end(struct prefix *s, struct into *t);
/* Is anything pending? Undoes it when told to; the lock is held then. */
bool into_recover(struct prefix *s, bool undo_them);
/*
 * Takes away what a record lists below `root`; folders that others use too stay. *ret_gone counts
 * what went, after a failure too.
 */
int into_take_away(struct arena *a, int root, const struct record *r, size_t *ret_gone,
		   struct err *err) ATTR_MUST;
/* A folder below a toolkit, in which its own links count (lib64 to targets/...). fd or -errno. */
int into_open_dir(int root, const char *path, bool make);

#endif

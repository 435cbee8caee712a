/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prefix: its lock, staging, publishing under the final name, the records. What is changed is
 * changed under the lock, which ends with its process; what a dead process left is cleared when the
 * lock is taken.
 */
#ifndef FETCH_PREFIX_H
#define FETCH_PREFIX_H

#include "fetch/fetch.h"
#include "fetch/record.h"

#define PREFIX_LOCK ".lock"
#define PREFIX_CACHE ".cache"
#define PREFIX_INTO ".into"
#define PREFIX_CURRENT "current"
#define PREFIX_STAGE ".stage-"
#define PREFIX_TRASH ".trash-"
#define PREFIX_REMOVING ".removing-" /* NAME@DIR: the record of what is half taken away */

struct prefix {
	struct arena *a;
	const char *path;
	int fd;	  /* -1: the prefix is not there */
	int lock; /* -1: none is held */
	const char *denied; /* a folder that prefix_items could not look into; NULL */
	const struct fetch_watch *watch;
};

/* Opens the prefix as it is, for reading; it may not be there. */
int prefix_look(struct arena *a, const char *path, struct prefix *ret, struct err *err) ATTR_MUST;
/*
 * Makes the prefix if it is not there, takes the lock (waiting while its holder lives) and clears
 * what was left over. ERR_IO with errno's text for a prefix that cannot be written.
 */
int prefix_open(struct arena *a, const char *path, const struct fetch_watch *watch,
	       struct prefix *ret, struct err *err) ATTR_MUST;
void prefix_close(struct prefix *s);
/* Is there what prefix_open would clear (or a run at work)? */
bool prefix_has_leftovers(struct prefix *s);

/* A new empty folder in the prefix. */
int prefix_stage(struct prefix *s, const char **ret_name, int *ret_fd, struct err *err) ATTR_MUST;
/* Throws a staging folder away. */
void prefix_unstage(struct prefix *s, const char *name);
/*
 * Completes the record in the staging folder from its list and gives the folder its final name.
 * Whatever interrupts it, the name is not there or is whole. Fills item->files.
 */
int prefix_publish(struct prefix *s, const char *stage, struct fetch_item *item,
		  const char *accepted, struct err *err) ATTR_MUST;
/* The record's text of a staging folder: head, files, end. Also for --into. */
int prefix_record(struct prefix *s, int stage, const struct fetch_item *item, const char *accepted,
		 const char *into, const char **ret, struct record *ret_parsed,
		 struct err *err) ATTR_MUST;
/* Writes a file of the prefix under another name, syncs it and renames it. */
int prefix_write(struct prefix *s, int dir, const char *name, const char *text,
		struct err *err) ATTR_MUST;

/*
 * Everything that is installed, sorted by name and version; heads of records alone are read. ERR_IO
 * when something could not be looked at.
 */
int prefix_items(struct prefix *s, struct installed_item **ret, size_t *ret_n,
		struct err *err) ATTR_MUST;
/* The whole record of an item. */
int prefix_read_record(struct prefix *s, const struct installed_item *item, struct record *ret,
		      struct err *err) ATTR_MUST;
/*
 * Does what was put down still lie there, by kind, size and target of links (contents are not
 * read)? NULL: it does; else the first path of the record that is missing or is another.
 */
const char *prefix_glance(struct prefix *s, const struct installed_item *item,
			  const struct record *r);
/* The one that `wanted` names, as fetch_remove takes it. */
int prefix_pick(struct prefix *s, const char *wanted, const char *into, struct installed_item *ret,
		struct err *err) ATTR_MUST;
/*
 * Opens the prefix to change the item that `wanted` and `into` name, which is picked again under
 * the lock. Nothing is made in a prefix that has no such item and nothing to be cleared. After an
 * error nothing is open.
 */
int prefix_open_for(struct arena *a, const char *prefix, const char *wanted, const char *into,
		    const struct fetch_watch *watch, struct prefix *ret_s,
		    struct installed_item *ret, struct err *err) ATTR_MUST;
/* Lists in item->extra what lies in its folder `root` and is not in its record. */
int prefix_extra(struct prefix *s, int root, struct installed_item *item, const struct record *r,
		 struct err *err) ATTR_MUST;
/* Switches PREFIX/<name>/current. */
int prefix_switch(struct prefix *s, const char *name, const char *dir, struct err *err) ATTR_MUST;
/*
 * May an item get its name in the prefix? -ERR_IO saying what lies there and what to do; an empty
 * folder is in nobody's way.
 */
int prefix_free_for(struct prefix *s, const struct fetch_item *item, struct err *err) ATTR_MUST;
/*
 * Takes away what PREFIX_REMOVING names (the lock is held): `name` is the file's. What fails stays
 * for the next run.
 */
int prefix_finish_removal(struct prefix *s, const char *name, struct err *err) ATTR_MUST;

/* -------- signals */
/* SIGINT, SIGTERM and SIGHUP wait from now on, to be looked for; *ret is the mask to go back to. */
void stop_block(void *ret_mask);
void stop_unblock(const void *mask);
/* -ERR_IO with "interrupted" once one of them waits. */
int stop_check(struct err *err);

#endif

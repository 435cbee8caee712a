/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prefix: its lock, staging, publishing under the final name, the records. What is changed is
 * changed under the lock, which ends with its process; what a dead process left is cleared when the
 * lock is taken.
 */
#ifndef FETCH_STORE_H
#define FETCH_STORE_H

#include "fetch/fetch.h"
#include "fetch/record.h"

#define STORE_LOCK ".lock"
#define STORE_CACHE ".cache"
#define STORE_INTO ".into"
#define STORE_STAGE ".stage-"
#define STORE_TRASH ".trash-"

struct store {
	struct arena *a;
	const char *path;
	int fd;	  /* -1: the prefix is not there */
	int lock; /* -1: none is held */
	const struct fetch_watch *watch;
};

/* Opens the prefix as it is, for reading; it may not be there. */
int store_look(struct arena *a, const char *path, struct store *ret, struct err *err) ATTR_MUST;
/*
 * Makes the prefix if it is not there, takes the lock (waiting while its holder lives) and clears
 * what was left over. ERR_IO with errno's text for a prefix that cannot be written.
 */
int store_open(struct arena *a, const char *path, const struct fetch_watch *watch,
	       struct store *ret, struct err *err) ATTR_MUST;
void store_close(struct store *s);

/* A new empty folder in the prefix. */
int store_stage(struct store *s, const char **ret_name, int *ret_fd, struct err *err) ATTR_MUST;
/* Throws a staging folder away. */
void store_unstage(struct store *s, const char *name);
/*
 * Completes the record in the staging folder from its list and gives the folder its final name.
 * Whatever interrupts it, the name is not there or is whole. Fills item->files.
 */
int store_publish(struct store *s, const char *stage, struct fetch_item *item,
		  const char *accepted, struct err *err) ATTR_MUST;
/* The record's text of a staging folder: head, files, end. Also for --into. */
int store_record(struct store *s, int stage, const struct fetch_item *item, const char *accepted,
		 const char *into, const char **ret, struct record *ret_parsed,
		 struct err *err) ATTR_MUST;
/* Writes a file of the prefix under another name, syncs it and renames it. */
int store_write(struct store *s, int dir, const char *name, const char *text,
		struct err *err) ATTR_MUST;

/* Everything that is installed, sorted by name and version; heads of records alone are read. */
int store_items(struct store *s, struct installed_item **ret, size_t *ret_n,
		struct err *err) ATTR_MUST;
/* The whole record of an item. */
int store_read_record(struct store *s, const struct installed_item *item, struct record *ret,
		      struct err *err) ATTR_MUST;
/* Switches PREFIX/<name>/current; only where there is none when `if_none`. */
int store_switch(struct store *s, const char *name, const char *dir, bool if_none,
		 struct err *err) ATTR_MUST;

/* -------- signals */
/* SIGINT, SIGTERM and SIGHUP wait from now on, to be looked for; *ret is the mask to go back to. */
void stop_block(void *ret_mask);
void stop_unblock(const void *mask);
/* -ERR_IO with "interrupted" once one of them waits. */
int stop_check(struct err *err);

#endif

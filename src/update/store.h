/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing this user's installed tables (compat/installed.h has the layout). A set is written whole
 * under another name, synced and renamed; then `current` is replaced by rename. Whatever interrupts
 * it, the set that was used before is still used. One process at a time, by a lock that ends with
 * it.
 */
#ifndef UPDATE_STORE_H
#define UPDATE_STORE_H

#include "compat/installed.h"
#include "update/archive.h"

struct store {
	int fd;	  /* the folder of the sets */
	int lock; /* held until store_close */
	const char *path;
	struct installed_current current; /* as it was when the lock was got */
};

/* Makes the folder if it is not there, and waits 10 s at most for the lock. */
int store_open(struct arena *a, struct store *ret, struct err *err) ATTR_MUST;
void store_close(struct store *s);

struct store_note {
	const char *name; /* of the set: "2026-12-15-0123abcd" */
	const char *from, *key, *sha256;
	const char *allowed_over; /* date of the embedded tables, when older ones were asked for; or
				     NULL */
};
/* Writes the set and makes it the current one; then takes away all but the two used before it. */
int store_install(struct arena *a, struct store *s, const struct archive *archive,
		  const struct store_note *note, struct err *err) ATTR_MUST;
/* Goes back to the set before, or to the embedded tables (*ret NULL) when none can be used. */
int store_rollback(struct arena *a, struct store *s, const char **ret, struct err *err) ATTR_MUST;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door to libsqlite3, for one kind of file: rpm's database (rpmdb.sqlite). It is loaded and
 * called in a child with a deadline alone; nothing is locked, written or run.
 * Facts of the format: rpm's sqlite back end (tables Packages and Name), header file format.
 */
#ifndef SYS_RPMDB_H
#define SYS_RPMDB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/view.h"

struct arena;

struct rpm_package {
	char name[96], version[96]; /* version with release, without the epoch */
	char vendor[64];	    /* empty when the header has none */
};

struct rpm_packages {
	struct rpm_package *list; /* on the arena */
	size_t n;
};

/* Is a package of this name wanted?  Called in the child. */
typedef bool rpmdb_wanted(struct view name);

/*
 * The wanted packages in the database that the descriptor (borrowed) is open on. ERR_UNSUPPORTED:
 * there is no libsqlite3, or it cannot read a file without a name; ERR_TIMEOUT; ERR_PARSE.
 */
int rpmdb_read(struct arena *a, int fd, rpmdb_wanted *wanted, long deadline_ms,
	       struct rpm_packages *ret, struct err *err) ATTR_MUST;

/* Name, version and vendor of a header as the database keeps it; false when it is none. */
bool rpmdb_header(struct view header, struct rpm_package *ret);

#endif

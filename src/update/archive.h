/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A data archive: one JSON document that holds every table as the text of its file.
 *
 *   {"schema":"cuvet.data-archive/1","date":"2026-12-15","tables":{"gpu":"{\"schema\":...","chip":...}}
 *
 * Its date is the newest date of its tables. The signature is over its bytes and is verified before
 * anything here looks at them.
 */
#ifndef UPDATE_ARCHIVE_H
#define UPDATE_ARCHIVE_H

#include "base/err.h"
#include "base/view.h"

struct arena;

enum { ARCHIVE_MAX = 64 << 20 };

struct archive {
	const char *date;
	const char **names; /* of the tables that this program knows, in its order */
	struct view *texts; /* of each, as it is to be written */
	size_t n;
	size_t unknown; /* tables of newer programs, left out */
};

/* Takes the document apart; `name` for messages. -ERR_DATA when it is none or lacks a table. */
int archive_read(struct arena *a, struct view bytes, const char *name, struct archive *ret,
		 struct err *err) ATTR_MUST;
/* Validates all tables, their layout and the date. The message holds the first problem. */
int archive_validate(struct arena *a, const struct archive *archive, const char *name,
		     struct err *err) ATTR_MUST;

#endif

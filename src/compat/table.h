/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as rows that are parsed one by one when asked for. Private to compat/. */
#ifndef COMPAT_TABLE_H
#define COMPAT_TABLE_H

#include "base/arena.h"
#include "base/json.h"
#include "base/view.h"
#include "compat/compat.h"
#include "compat/installed.h"

/*
 * One row: a line of an embedded table until it is parsed, a value of the document in any other
 * table.
 */
struct row {
	struct view line;
	const struct json *json;
};

struct source {
	const char *key, *text;
};

enum table_state { TABLE_NEW, TABLE_READY, TABLE_MISSING, TABLE_DAMAGED };

struct table {
	const char *name;   /* "gpu" */
	const char *origin; /* for messages: "data/compat/gpu.json" or a path */
	struct view text;
	bool trusted; /* came with the program: one row a line, checked when it was built */
	enum table_state state;
	const struct json *doc; /* whole document, NULL until somebody needs it */
	struct source *sources; /* cached by compat_source, ends with key NULL */
	struct row *rows;
	size_t n;
	const void *
		*typed; /* typed row by index, NULL until built; for the file that owns the type */
};

struct torch_key {
	struct view version, platform, variant;
	struct version number;
};

struct compat {
	struct arena *a;
	const char *dir; /* NULL: embedded */
	struct data_origin origin;
	struct table *tables;
	size_t n_tables;
	struct table *last; /* the one that was asked for last; NULL */
	const char **names; /* cached result of compat_tables */
	const char *date;
	struct err err;
	bool failed;
	struct torch_key *torch_keys;
	/* what was found for the names that were asked for; several rules ask for each GPU */
	struct gpu_found *gpu_found;
	size_t n_gpu_found;
	const struct torch_key **torch_newest; /* the chooser's order */
	struct torch_row *torch_rows;
	size_t n_torch_rows;
	void *made; /* compat_made() */
};

/*
 * The table, loaded; NULL when it is missing or damaged (the first such error is kept in the
 * compat).
 */
struct table *table_get(struct compat *c, const char *name);
/* The same for a table that may be absent: no error then. */
struct table *table_maybe(struct compat *c, const char *name);
/* Row i, parsed; NULL when it is damaged. */
const struct json *table_row(struct compat *c, struct table *t, size_t i);
/*
 * A string member of row i, without a parse where that is possible. Empty view (p NULL) when it is
 * none.
 */
struct view table_text(struct compat *c, struct table *t, size_t i, const char *key);
/* First row from `from` on whose string member `key` is `value`; t->n when there is none. */
size_t table_find(struct compat *c, struct table *t, size_t from, const char *key,
		  const char *value);
/* A member of the table's head ("date"), NULL when it is none. */
const char *table_head(struct compat *c, struct table *t, const char *key);
/*
 * The layout of the files that come along: head, a line `"rows":[`, one row a line, a line `]}`.
 * False when the text has no such lines; table_line() then takes them one by one, without the
 * comma, until the last.
 */
bool table_lines(struct view text, struct view *ret_lines);
bool table_line(struct view *lines, struct view *ret_row);
/* Keeps the first error. */
void compat_fail(struct compat *c, const struct err *err);
/* A row that rests on a thin source: findings built on it say inferred. */
bool row_doubtful(const struct json *row);
/* Is `field` among the row's inferred ones? */
bool row_inferred(const struct json *row, const char *field);

/*
 * For tests and the fuzz target: puts `text` in the place of the table `name`, as if --data had
 * given it.
 */
void compat_replace(struct compat *c, const char *name, struct view text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validating tables: by their schemas (embedded, data/compat/schema), and what a schema cannot say:
 * order and unique keys, sources that are defined, dates that exist, references to other tables.
 * scripts/compat/check.py checks the same of the repository's files, and how they are written.
 */
#ifndef COMPAT_VALIDATE_H
#define COMPAT_VALIDATE_H

#include "compat/compat.h"

struct data_problem {
	const char *table;
	const char *where; /* key of the row, "" for the table as a whole */
	const char *text;
};

struct data_report {
	struct data_problem *v;
	size_t n;
	size_t tables, rows; /* that were looked at */
};

/*
 * `unknown_ok`: members that the schemas do not know are let through, as newer data may have them.
 */
void compat_validate(struct compat *c, bool unknown_ok, struct data_report *ret);
/*
 * Rows in the layout that is read without a parse of the rest: a line each, as many lines as rows.
 * The bundled tables have it, and data that are to be installed must. Adds to `ret`.
 */
void compat_validate_layout(struct compat *c, struct data_report *ret);

/* "2026-12-15", a day that exists; with `part` also "2026-12" and "2026". */
bool compat_is_date(const char *text, bool part);

#endif

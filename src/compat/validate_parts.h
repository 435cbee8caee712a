/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the validation share. Private to compat/. */
#ifndef COMPAT_VALIDATE_PARTS_H
#define COMPAT_VALIDATE_PARTS_H

#include "base/strbuf.h"
#include "compat/table.h"
#include "compat/validate.h"

enum { VALIDATE_KEYS = 4 };

struct validate_key {
	const char *field;
	const char *kind; /* "int", "hex", "text", "version" */
};

/* A table under validation. */
struct checked {
	struct compat *c;
	struct table *t;
	const struct json *doc;	   /* NULL when it could not be parsed */
	const struct json *schema;
	const struct json **rows;
	size_t n;
	bool sound; /* the schema holds, so that members may be relied on */
	struct validate_key key[VALIDATE_KEYS];
	size_t n_key;
	struct data_report *report;
};

/* Adds a problem; row NULL: of the table as a whole. */
void validate_say(struct checked *k, const struct json *row, const char *fmt, ...)
	ATTR_PRINTF(3, 4);
/* A scalar as text; "" for anything else. Lives on the arena or the document. */
const char *validate_text(struct arena *a, const struct json *v);

/* Sort order of two values of a key field of this kind, as data/compat/README.md has it. */
int validate_order(const char *kind, const char *a, const char *b);
/* Order of the rows, and that no key stands twice. */
void validate_rows(struct checked *k);
/* Dates, sources and what is inferred. */
void validate_dates(struct checked *k);
void validate_sources(struct checked *k);
/* References ("x-refs") into all the tables of `all`. */
void validate_refs(struct checked *k, struct checked *all, size_t n);

#endif

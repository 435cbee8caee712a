/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table "signatures", prepared: its rows, its literals by four bytes of each, and the patterns
 * as they are first needed. Made once for a matrix, so that of a thousand cases only the first
 * pays. Knows nothing of a text.
 */
#ifndef TRIAGE_BOOK_H
#define TRIAGE_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/view.h"

struct compat;
struct json;
struct regex;

enum { BOOK_BUCKETS = 1 << 14, LITERAL_MIN = 4 };

/* Where a row may match: on any line, on a typed command, on one that printed nothing. */
enum where { ON_LINE, ON_COMMAND, ON_SILENT };

struct literal {
	struct view s;
	uint32_t row;
	uint32_t next; /* index + 1 in its bucket's chain; 0: the end */
	uint32_t at;   /* of the four bytes by which it is found */
	uint32_t word; /* these, folded */
};

/* All of it is there once book_row() has returned it. */
struct book_row {
	const char *id; /* NULL: not read yet */
	const struct json *facts, *tags;
	struct regex *re, *under; /* NULL: none */
	enum where where;
	bool benign; /* says by itself that nothing is wrong, or belongs to what works */
};

struct book_pattern {
	const char *pattern;
	struct regex *re;
};

struct book {
	struct book_row *rows;
	size_t n_rows;
	struct literal *literals;
	size_t n_literals;
	uint32_t bucket[BOOK_BUCKETS]; /* index + 1 of a chain's first literal */
	/* of extractors, by the address of the constant */
	struct book_pattern *patterns;
	size_t n_patterns;
	unsigned char folded[256];
};

/* The book of this matrix, on its arena. ERR_DATA for a damaged row. */
int book_open(struct compat *c, struct book **ret, struct err *err) ATTR_MUST;
/*
 * Row i, read and its patterns compiled when it is first asked for: most never are. ERR_DATA for a
 * damaged one.
 */
int book_row(struct compat *c, struct book *b, size_t i, const struct book_row **ret,
	     struct err *err) ATTR_MUST;
/* The pattern (a string constant), compiled once; NULL when it is none. */
struct regex *book_regex(struct compat *c, struct book *b, const char *pattern);

static inline uint32_t book_hash(uint32_t word)
{
	return (word * 2654435761u) >> 18;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document of keys and values as people write it, with the place of each: what the readers of
 * TOML and of YAML (JSON is a part of it) give. Values are text; what they mean is the caller's.
 */
#ifndef BASE_DOC_H
#define BASE_DOC_H

#include <stdbool.h>

#include "base/err.h"
#include "base/view.h"

struct arena;

enum doc_kind {
	DOC_NULL, /* YAML alone */
	DOC_STRING,
	DOC_INT,
	DOC_FLOAT,
	DOC_BOOL,
	DOC_DATE, /* TOML alone: dates, times and both */
	DOC_LIST,
	DOC_MAP,
};

struct doc {
	enum doc_kind kind;
	const char *key;	 /* of a member of a map, else NULL */
	size_t key_line, key_column; /* from 1 */
	size_t line, column;	 /* of the value, from 1 */
	size_t end_line;	 /* of its last character */
	const char *text;	 /* of a scalar, as it is meant (quotes and escapes resolved) */
	const struct doc *first, *next; /* children in order */
	struct doc *last;
	size_t n;
	size_t weight; /* values below it and itself, aliases counted each time */
	unsigned flags; /* the reader's own */
};

enum {
	DOC_DEPTH = 64,	       /* nesting */
	DOC_KEYS = 8192,       /* members of one map */
	DOC_WEIGHT = 1 << 20,  /* values of a document, aliases expanded (faults: P10) */
};

/*
 * TOML 1.0, whole: anything that the specification calls invalid is ERR_PARSE with
 * NAME:LINE:COLUMN. Integers, floats, booleans and dates keep their text as written (underscores of
 * numbers taken out).
 */
int toml_parse(struct arena *a, struct view text, const char *name, const struct doc **ret,
	       struct err *err) ATTR_MUST;
/*
 * YAML, the only door to libyaml: a list of the documents in the text. Scalars that are not quoted
 * become null, booleans, integers and floats by the core schema. Aliases stand for what they name
 * (no copy); depth and expanded size are bounded. ERR_PARSE with NAME:LINE:COLUMN.
 */
int yaml_parse(struct arena *a, struct view text, const char *name, const struct doc **ret,
	       struct err *err) ATTR_MUST;

/* All accept NULL and anything of another kind, which have nothing. */
const struct doc *doc_get(const struct doc *map, const char *key); /* through YAML's "<<" too */
/* "tool.uv.sources": keys without dots, one after the other. */
const struct doc *doc_at(const struct doc *map, const char *path);
const char *doc_str(const struct doc *d);	/* text of a scalar, NULL when it is none */
const char *doc_get_str(const struct doc *map, const char *key);
bool doc_true(const struct doc *d);
bool doc_is(const struct doc *d, enum doc_kind kind);
const struct doc *doc_first(const struct doc *d);

#endif

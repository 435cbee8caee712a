/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of the TOML reader to each other. Private to base/. */
#ifndef BASE_TOML_H
#define BASE_TOML_H

#include "base/doc.h"

struct toml {
	struct arena *a;
	struct view text;
	size_t at;
	const char *what; /* of the first fault, untranslated */
	size_t fault;
	size_t count;
	struct toml *self;
	size_t seen, seen_line, seen_start; /* how far lines were counted */
};

bool toml_fault(struct toml *t, size_t at, const char *what); /* false */
char toml_peek(const struct toml *t, size_t ahead); /* '\0' behind the end */
bool toml_end(const struct toml *t);
void toml_blanks(struct toml *t);
bool toml_gap(struct toml *t); /* blanks, comments and newlines */
void toml_place(const struct toml *t, size_t at, size_t *ret_line, size_t *ret_column);
struct doc *toml_node(struct toml *t, enum doc_kind kind, size_t at);
void toml_append(struct doc *parent, struct doc *child);
bool toml_pair(struct toml *t, struct doc *map, int depth);
struct doc *toml_value(struct toml *t, int depth); /* NULL: a fault */
bool toml_key_string(struct toml *t, const char **ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signature engine: rows of the table "signatures" against a text. A literal of the row has to
 * stand in the text before its pattern is even compiled, so that hundreds of rows cost one pass.
 * What matches becomes a sign of the snapshot and, where the row says so, facts.
 */
#ifndef TRIAGE_SIGN_H
#define TRIAGE_SIGN_H

#include "base/err.h"
#include "triage/paste.h"

/* All rows against the whole text. ERR_DATA for a damaged row. */
int sign_scan(struct paste *p, struct err *err) ATTR_MUST;
/* A sign that an extractor saw: its id is one of those that rules know. value may be empty. */
void sign_add(struct paste *p, const char *id, size_t line, struct view value);
/* Adds the sign with the pattern's group 1 where `pattern` (as for paste_match) matches in `s`. */
bool sign_match(struct paste *p, const char *id, const char *pattern, struct view s, size_t line);
bool sign_has(const struct paste *p, const char *id);
/* What the last sign of this id names; NULL when there is none or it names nothing. */
const char *sign_value(const struct paste *p, const char *id);

#endif

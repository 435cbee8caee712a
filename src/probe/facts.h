/* SPDX-License-Identifier: Apache-2.0 */
/* The check of a facts file by itself, for its loader and for tests. */
#ifndef PROBE_FACTS_H
#define PROBE_FACTS_H

#include "base/err.h"
#include "base/view.h"

struct arena;
struct json;

/*
 * Parses and checks a document of cuvet.facts/1: every key that a probe reads has its type, numbers
 * are whole and not negative, no list is longer than 4096. Unknown keys are let through. ERR_PARSE
 * says which key is wrong; *ret is then untouched.
 */
int facts_parse(struct arena *a, struct view text, const char *name, const struct json **ret,
		struct err *err) ATTR_MUST;

#endif

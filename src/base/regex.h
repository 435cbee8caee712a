/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions, the only door to PCRE2: every match is bounded in steps, depth and memory.
 */
#ifndef BASE_REGEX_H
#define BASE_REGEX_H

#include <stdbool.h>

#include "base/err.h"
#include "base/view.h"

struct arena;
struct regex; /* lives until its arena is freed */

enum { REGEX_GROUPS = 10 };

struct regex_match {
	size_t start, end;		  /* of the whole match, in bytes of the subject */
	struct view group[REGEX_GROUPS]; /* [0] the whole match; empty where a group took no part */
	size_t n; /* groups of the pattern, the whole one too; at most REGEX_GROUPS */
};

enum regex_result { REGEX_NO, REGEX_YES, REGEX_GAVE_UP };

/* Case is ignored, "." stops at a newline, ^ and $ hold at lines. ERR_DATA for a bad pattern. */
int regex_new(struct arena *a, const char *pattern, struct regex **ret, struct err *err) ATTR_MUST;
/*
 * First match at or behind `from` in `text`. GAVE_UP when the bounds were reached, which is no
 * match and costs some milliseconds at most (faults: P14).
 */
enum regex_result regex_find(struct regex *re, struct view text, size_t from,
			     struct regex_match *ret);

#endif

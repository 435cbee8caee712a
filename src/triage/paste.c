/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a line is, and the patterns of extractors; facts are set in paste_*.c. */
#include "triage/paste.h"

#include <string.h>

#include "base/arena.h"
#include "base/regex.h"
#include "triage/book.h"

enum { MATCHES_MAX = 250000 };

/* -------- whose */

/* "pasted line 12", with whose it is where a text shows several. */
const char *paste_source_at(struct paste *p, size_t line, uint32_t number)
{
	const char *source = text_source_at(p->a, &p->t, line, number);
	size_t owner = line < p->t.n ? p->t.lines[line].owner : 0;

	return owner && p->owners.n > 2 && p->owners.v[owner].label
		       ? arena_printf(p->a, "%s (%s)", source, p->owners.v[owner].label)
		       : source;
}

bool paste_may_look(struct paste *p)
{
	enum { LOOKS_MAX = 4000 };

	return p->looked_back++ < LOOKS_MAX;
}

bool paste_under(const struct paste *p, size_t i, const char *what)
{
	int32_t by = p->t.lines[i].by;

	return by != NO_COMMAND && view_find(line_cmd(&p->t.lines[by]), what) >= 0;
}

bool paste_foreign(const struct paste *p, size_t line, enum scope scope)
{
	return line < p->t.n && p->owners.n &&
	       owner_foreign(&p->owners, p->t.lines[line].owner, scope);
}

/* -------- patterns of extractors */

int paste_book(struct paste *p, struct err *err)
{
	return p->book ? 0 : book_open(p->c, &p->book, err);
}

bool paste_match(struct paste *p, const char *pattern, struct view v, struct regex_match *ret)
{
	struct regex *re;
	struct regex_match m;

	/* A text of nothing but what extractors look at; ordinary logs stay far below. */
	if (p->matches++ >= MATCHES_MAX || paste_book(p, NULL))
		return false;
	re = book_regex(p->c, p->book, pattern);
	if (!re)
		return false;
	if (v.n > 2000)
		v.n = 2000;
	return regex_find(re, v, 0, ret ? ret : &m) == REGEX_YES;
}

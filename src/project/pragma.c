/* SPDX-License-Identifier: Apache-2.0 */
/* "# cuvet: ignore=NAME[,NAME] reason" in a comment of any of the file kinds. */
#include <string.h>

#include "base/arena.h"
#include "project/project.h"

enum { PRAGMAS = 1000 };

static void one_line(struct project_reader *r, struct view line, const char *path, size_t number)
{
	ptrdiff_t mark = view_find(line, "cuvet:");
	struct view rest, names, before, one;
	size_t n = 0;

	if (mark < 0 || r->n_pragmas >= PRAGMAS)
		return;
	before = view_trim((struct view){ .p = line.p, .n = (size_t)mark });
	/* In a comment alone: "#", or "//" of JSON with comments. */
	if (!view_ends(before, "#") && !view_ends(before, "//"))
		return;
	rest = view_trim(view_skip(line, (size_t)mark + 6));
	if (!view_starts(rest, "ignore="))
		return;
	rest = view_skip(rest, 7);
	while (n < rest.n && rest.p[n] != ' ' && rest.p[n] != '\t')
		n++;
	names = (struct view){ .p = rest.p, .n = n };
	rest = view_trim(view_skip(rest, n));
	while (names.n) {
		struct pragma *p;

		one = view_cut(names, ',', &names);
		if (!one.n)
			continue;
		p = ARENA_APPEND(r->a, r->pragmas, r->n_pragmas);
		p->name = view_dup(r->a, one);
		p->reason = view_dup(r->a, rest);
		p->at = (struct place){ .file = path, .line = number, .column = (size_t)mark + 1 };
		p->alone = before.n <= 2;
	}
}

void pragma_scan(struct project_reader *r, struct view text, const char *path)
{
	size_t number = 1, at = 0;
	struct view line;
	ptrdiff_t found;

	/* Most files have none: one search, and no walk over lines. */
	while ((found = view_find(view_skip(text, at), "cuvet:")) >= 0) {
		size_t hit = at + (size_t)found, start = hit, end = hit, i;

		while (start > at && text.p[start - 1] != '\n')
			start--;
		while (end < text.n && text.p[end] != '\n')
			end++;
		for (i = at; i < start; i++)
			number += text.p[i] == '\n';
		line = (struct view){ .p = text.p + start, .n = end - start };
		one_line(r, line, path, number);
		if (end >= text.n)
			return;
		number++;
		at = end + 1;
	}
}

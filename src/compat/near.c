/* SPDX-License-Identifier: Apache-2.0 */
/* Names close to one that is not known, nearest first; for messages, never for a decision. */
#include <string.h>

#include "base/arena.h"
#include "compat/near.h"

enum { LONGEST = 64 };

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/*
 * Edit distance (insert, drop, change), case apart; looks at the first LONGEST bytes and stops
 * beyond `limit`.
 */
static size_t distance(struct view a, struct view b, size_t limit)
{
	size_t row[LONGEST + 1], i, j, left, diagonal, least;

	a.n = a.n > LONGEST ? LONGEST : a.n;
	b.n = b.n > LONGEST ? LONGEST : b.n;
	if ((a.n > b.n ? a.n - b.n : b.n - a.n) > limit)
		return limit + 1;
	for (j = 0; j <= b.n; j++)
		row[j] = j;
	for (i = 1; i <= a.n; i++) {
		diagonal = row[0];
		left = row[0] = i;
		least = i;
		for (j = 1; j <= b.n; j++) {
			size_t up = row[j], d = diagonal + (lower(a.p[i - 1]) != lower(b.p[j - 1]));

			d = up + 1 < d ? up + 1 : d;
			d = left + 1 < d ? left + 1 : d;
			diagonal = up;
			row[j] = left = d;
			least = d < least ? d : least;
		}
		if (least > limit)
			return limit + 1;
	}
	return row[b.n];
}

void near_init(struct near *s, struct view wanted)
{
	*s = (struct near){ .wanted = wanted, .limit = wanted.n > 18 ? 7 : wanted.n / 3 + 1 };
}

void near_offer(struct near *s, struct view form, struct view shown, size_t penalty)
{
	size_t d, i, at;

	for (i = 0; i < s->n; i++)
		if (s->shown[i].n == shown.n && memcmp(s->shown[i].p, shown.p, shown.n) == 0)
			return;
	d = distance(s->wanted, form, s->limit) + penalty;
	if (d > s->limit)
		return;
	for (at = 0; at < s->n && s->d[at] <= d; at++)
		;
	if (at == NEAR_MAX)
		return;
	if (s->n < NEAR_MAX)
		s->n++;
	for (i = s->n - 1; i > at; i--) {
		s->shown[i] = s->shown[i - 1];
		s->d[i] = s->d[i - 1];
	}
	s->shown[at] = shown;
	s->d[at] = d;
	if (s->n == NEAR_MAX)
		s->limit = s->d[NEAR_MAX - 1];
}

const char *const *near_list(struct arena *a, const struct near *s)
{
	const char **list = arena_calloc(a, s->n + 1, sizeof(*list));
	size_t i;

	for (i = 0; i < s->n; i++)
		list[i] = view_dup(a, s->shown[i]);
	return list;
}

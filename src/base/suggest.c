/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance over short words; keeps no state. */
#include "base/suggest.h"

#include <string.h>

enum { WORD_MAX = 40 };

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

size_t edit_distance(const char *a, const char *b)
{
	size_t d[WORD_MAX + 1][WORD_MAX + 1];
	size_t n = strnlen(a, WORD_MAX), m = strnlen(b, WORD_MAX), i, j;

	for (i = 0; i <= n; i++)
		d[i][0] = i;
	for (j = 0; j <= m; j++)
		d[0][j] = j;
	for (i = 1; i <= n; i++) {
		for (j = 1; j <= m; j++) {
			d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1,
				       d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	}
	return d[n][m];
}

const char *suggest(const char *word, const char *const *names)
{
	size_t best = strlen(word) / 3 + 2, dist, i;
	const char *found = NULL;

	for (i = 0; names[i]; i++) {
		dist = edit_distance(word, names[i]);
		if (dist < best && dist < strlen(names[i])) {
			best = dist;
			found = names[i];
		}
	}
	return found;
}

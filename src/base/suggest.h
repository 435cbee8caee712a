/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": the nearest of a list of names. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

/*
 * Optimal string alignment distance: insertions, deletions, replacements and transpositions of
 * neighbours count one each. Of a longer word the first 40 bytes count.
 */
size_t edit_distance(const char *a, const char *b);

/*
 * The name nearest to `word` by edit distance (transpositions count one) when it is near enough;
 * else NULL.
 */
const char *suggest(const char *word, const char *const *names);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": the nearest of a list of names. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

/*
 * The name nearest to `word` by edit distance (transpositions count one) when it is near enough;
 * else NULL.
 */
const char *suggest(const char *word, const char *const *names);

#endif

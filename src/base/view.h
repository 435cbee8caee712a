/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointer-and-length strings for parsing without copies. A view owns nothing and need not end in
 * NUL.
 */
#ifndef BASE_VIEW_H
#define BASE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct view {
	const char *p;
	size_t n;
};

#define VIEW(lit) ((struct view){ .p = (lit), .n = sizeof(lit) - 1 })
struct view view_of(const char *s); /* NULL gives the empty view */
bool view_is(struct view v, const char *s);
bool view_is_nocase(struct view v, const char *s);
bool view_starts(struct view v, const char *s);
bool view_ends(struct view v, const char *s);
/* Where the comment of a requirements file begins: " #", or "#" in front; v.n without one. */
size_t view_comment(struct view v);
struct view view_trim(struct view v); /* spaces, tabs, CR, LF, NUL at both ends */
struct view view_skip(struct view v, size_t n);
/*
 * Cuts at the first `sep`: *rest is what follows (empty when there was none); returns what stood
 * before.
 */
struct view view_cut(struct view v, char sep, struct view *rest);
/* Next line (without LF and CR) out of *text; false at the end. */
bool view_line(struct view *text, struct view *ret_line);
/* Does one of the first 4,000 lines begin so? That is where the kind of a file is told. */
bool view_has_line(struct view text, const char *begin);
/* Next blank-separated word out of *text; false at the end. */
bool view_word(struct view *text, struct view *ret_word);
/* Position of `needle` or -1. */
ptrdiff_t view_find(struct view v, const char *needle);
ptrdiff_t view_chr(struct view v, char c);
char *view_dup(struct arena *a, struct view v); /* NUL-terminated copy; stops at an embedded NUL */

/*
 * Strict numbers: the whole view, no sign (unless signed), no blanks, no overflow. base 10 or 16
 * ("0x" allowed).
 */
bool view_u64(struct view v, int base, uint64_t *ret);
bool view_i64(struct view v, int64_t *ret);
/* A size of memory in MiB: "24", "24GiB", "24 GB", "24576MiB". */
bool view_mib(struct view v, uint64_t *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: validity, decoding, and which code points must never reach a terminal. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stdint.h>

#include "base/view.h"

/* Decodes one code point at *i and moves *i past it. An invalid byte gives -1 and moves by one. */
int32_t utf8_next(struct view v, size_t *i);
bool utf8_valid(struct view v, size_t *ret_bad_offset); /* ret may be NULL */
/* Controls C0 (tab and newline too), DEL, C1, and the bidi and zero-width format characters. */
bool utf8_is_control(int32_t cp);
bool utf8_is_format(
	int32_t cp); /* bidi overrides/isolates/marks, zero-width, BOM, line separators */
/* Columns on a terminal: 0 for combining, 2 for East Asian wide, else 1. */
int utf8_width(int32_t cp);
size_t utf8_columns(const char *s);

#endif

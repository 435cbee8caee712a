/* SPDX-License-Identifier: Apache-2.0 */
/* Growable text on an arena, always NUL-terminated. The one place that formats into memory. */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stddef.h>

#include "base/attr.h"
#include "base/view.h"

struct arena;

struct strbuf {
	struct arena *a;
	char *s; /* never NULL after init */
	size_t n, cap;
};

void strbuf_init(struct strbuf *b, struct arena *a);
void strbuf_add(struct strbuf *b, const char *s);
void strbuf_addn(struct strbuf *b, const char *s, size_t n);
void strbuf_addc(struct strbuf *b, char c);
void strbuf_addv(struct strbuf *b, struct view v);
void strbuf_printf(struct strbuf *b, const char *fmt, ...) ATTR_PRINTF(2, 3);
/* Adds `sep` first unless the buffer is empty. */
void strbuf_sep(struct strbuf *b, const char *sep);

#endif

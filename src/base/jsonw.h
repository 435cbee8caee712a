/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing JSON into a strbuf: commas and nesting are kept by the writer, all escaping is in one
 * function.
 */
#ifndef BASE_JSONW_H
#define BASE_JSONW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

enum { JSONW_DEPTH = 64 };

struct jsonw {
	struct strbuf *out;
	bool pretty; /* two-space indent, else one line */
	int depth;
	bool filled[JSONW_DEPTH]; /* something was written at this depth */
	bool after_key;
};

void jsonw_init(struct jsonw *w, struct strbuf *out, bool pretty);
void jsonw_object(struct jsonw *w); /* opens */
void jsonw_array(struct jsonw *w);  /* opens */
void jsonw_end_object(struct jsonw *w);
void jsonw_end_array(struct jsonw *w);
void jsonw_key(struct jsonw *w, const char *key);
/*
 * A string; NULL writes null. C0, DEL, C1 and the format characters are \u-escaped, so that no
 * control character reaches a terminal through JSON; bytes that are not UTF-8 become U+FFFD
 * (faults: X7, X8).
 */
void jsonw_str(struct jsonw *w, const char *s);
void jsonw_view(struct jsonw *w, struct view v);
void jsonw_int(struct jsonw *w, int64_t n);
void jsonw_num(struct jsonw *w, double n); /* not finite: null */
void jsonw_bool(struct jsonw *w, bool b);
void jsonw_null(struct jsonw *w);
/* key and value in one call */
void jsonw_kstr(struct jsonw *w, const char *key, const char *s);
void jsonw_kint(struct jsonw *w, const char *key, int64_t n);
void jsonw_kbool(struct jsonw *w, const char *key, bool b);
void jsonw_kstrs(struct jsonw *w, const char *key, const char *const *list, size_t n);

#endif

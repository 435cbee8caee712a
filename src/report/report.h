/* SPDX-License-Identifier: Apache-2.0 */
/* Reports: each format is one function over finished results; none asks anything of the machine. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "rule/finding.h"

struct compat;

struct report {
	const char *command;   /* "check" */
	const char *data_date; /* of the matrix */
	const struct snapshot *s;
	const struct results *r;
	bool colour; /* ANSI SGR allowed */
	bool utf8;   /* marks and lines beyond ASCII allowed */
	int width;   /* columns, 0: unknown (80) */
};

struct report_format {
	const char *name; /* "text", "json", "markdown" */
	void (*render)(struct arena *a, const struct report *rep, struct strbuf *out);
};
extern const struct report_format *const report_formats[]; /* NULL-terminated */
const struct report_format *report_format(const char *name); /* NULL when unknown */

/*
 * The one way for foreign text into text and markdown output: controls, bidi and zero-width
 * characters and bytes that are not UTF-8 are shown as \xNN or \u{NNNN}; newline and tab become a
 * blank. Capped at 4096 bytes.
 */
void put_clean(struct strbuf *out, const char *s);
const char *clean(struct arena *a, const char *s); /* the same, as a string */
/* Also escapes what Markdown would take as markup. */
void put_clean_markdown(struct strbuf *out, const char *s);

#endif

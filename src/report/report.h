/* SPDX-License-Identifier: Apache-2.0 */
/* Reports: each format is one function over finished results; none asks anything of the machine. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "rule/finding.h"

struct compat;

/* A row of the table target x file; `target` "" when none has a name. */
struct report_target {
	const char *target, *file, *part; /* part: stage or service, NULL */
	enum verdict verdict;
	const char *finding; /* name of the root cause, NULL */
};

struct report {
	const char *command;   /* "check" */
	const char *data_date; /* of the matrix */
	const struct snapshot *s;
	const struct results *r;
	bool colour; /* ANSI SGR allowed */
	bool utf8;   /* marks and lines beyond ASCII allowed */
	int width;   /* columns, 0: unknown (80) */
	const struct report_target *targets;
	size_t n_targets;
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
/* The same, but `words between back-quotes` stay the code that they are meant to be. */
void put_prose_markdown(struct strbuf *out, const char *s);

#endif

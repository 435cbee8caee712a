/* SPDX-License-Identifier: Apache-2.0 */
/* The line of a finding, for formats that want one. Private to report/. */
#ifndef REPORT_PLACE_H
#define REPORT_PLACE_H

#include "report/report.h"

struct report_place {
	const char *file;    /* NULL: the finding is about a machine */
	size_t line, column; /* from 1; column 0: not known */
};

/* The first evidence that names FILE:LINE (:COLUMN) decides. */
struct report_place report_place(struct arena *a, const struct finding *f);
/* Stable over changes of other lines: code, file, field and what was seen; 16 hex digits. */
const char *report_fingerprint(struct arena *a, const struct finding *f);
/* Message and what to do, in plain text of several lines. */
const char *report_words(struct arena *a, const struct finding *f);
/* For XML: & < > " and what XML 1.0 forbids. */
void put_xml(struct arena *a, struct strbuf *out, const char *s);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* An answer to the person who pasted the text. */
#ifndef REPORT_REPLY_H
#define REPORT_REPLY_H

#include "report/report.h"

/* Markdown, to be pasted below the question. */
void report_reply(struct arena *a, const struct report *rep, struct strbuf *out);

#endif

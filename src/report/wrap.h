/* SPDX-License-Identifier: Apache-2.0 */
/* Wrapping of prose and of shell commands to a width. Private to report/. */
#ifndef REPORT_WRAP_H
#define REPORT_WRAP_H

#include "base/strbuf.h"

/*
 * Columns to use for a terminal of `width` columns; unknown or absurd widths give 80, at most 100.
 */
int wrap_width(int width);
/*
 * Adds `text` (already clean) broken at blanks: the first line starts at column `at`, later ones
 * are indented by `indent`. A word that is longer than the line stands alone. Ends with a newline.
 */
void wrap_text(struct strbuf *out, const char *text, int at, int indent, int width);
/* The same for a shell command: lines end in " \", and blanks inside quotes are not broken. */
void wrap_command(struct strbuf *out, const char *command, int at, int indent, int width);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* How to present text here: colour, character set, width. */
#ifndef CLI_PRESENT_H
#define CLI_PRESENT_H

#include "cli/cmd.h"

bool present_colour(const struct run *r); /* --color, NO_COLOR, TERM=dumb, a terminal */
bool present_utf8(const struct run *r);
int present_width(const struct run *r);	  /* columns; 80 when stdout is no terminal */
struct report;
void present_report(const struct run *r, struct report *rep); /* the three of a report */
/* For commands without a report: formats of CI systems are refused. 0 or the exit code. */
int present_formats(const struct run *r);
/* Writes a page of text; with --format markdown as a block of code. Returns the exit code. */
int present_page(struct run *r, const char *text, size_t n);
/* The same as a block of code in Markdown, whatever the format. */
int present_block(struct run *r, const char *text, size_t n);

#endif

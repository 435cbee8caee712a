/* SPDX-License-Identifier: Apache-2.0 */
/* How to present text here: colour, character set, width. */
#ifndef CLI_PRESENT_H
#define CLI_PRESENT_H

#include "cli/cmd.h"

bool present_colour(const struct run *r); /* --color, NO_COLOR, TERM=dumb, a terminal */
bool present_utf8(const struct run *r);
int present_width(const struct run *r);	  /* columns; 80 when stdout is no terminal */

#endif

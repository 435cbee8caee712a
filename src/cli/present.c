/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the terminal and the environment of the process how text may look. */
#include "cli/present.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

bool present_colour(const struct run *r)
{
	const char *when = r->o->colour, *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (when && strcmp(when, "always") == 0)
		return true;
	if ((when && strcmp(when, "never") == 0) || (no && *no))
		return false;
	return r->out_tty && term && strcmp(term, "dumb") != 0;
}

bool present_utf8(const struct run *r)
{
	(void)r;
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

int present_width(const struct run *r)
{
	struct winsize w = { 0 };

	if (!r->out_tty || ioctl(r->out_fd, TIOCGWINSZ, &w) < 0)
		return 80;
	return w.ws_col;
}

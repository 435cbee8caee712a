/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the terminal and the environment of the process how text may look. */
#include "cli/present.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/strbuf.h"
#include "report/report.h"

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

int present_formats(const struct run *r)
{
	const char *f = r->o->format;
	struct err err;

	if (!f || strcmp(f, "text") == 0 || strcmp(f, "json") == 0 || strcmp(f, "markdown") == 0)
		return 0;
	err_set(&err, ERR_USAGE,
		_("--format %s goes with reports; here it is text, json or markdown"), f);
	return cli_fail(&err);
}

int present_page(struct run *r, const char *text, size_t n)
{
	return r->o->format && strcmp(r->o->format, "markdown") == 0 ? present_block(r, text, n)
								     : cli_write(r, text, n);
}

int present_block(struct run *r, const char *text, size_t n)
{
	struct strbuf b;

	strbuf_init(&b, r->a);
	/* Longer than any run of backquotes in our own pages. */
	strbuf_add(&b, "`````text\n");
	strbuf_addn(&b, text, n);
	if (n && text[n - 1] != '\n')
		strbuf_addc(&b, '\n');
	strbuf_add(&b, "`````\n");
	return cli_write(r, b.s, b.n);
}

void present_report(const struct run *r, struct report *rep)
{
	rep->colour = present_colour(r);
	rep->utf8 = present_utf8(r);
	rep->width = present_width(r);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Manual pages as scdoc source; every option and finding comes from its row. */
#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "cli/cmd.h"
#include "cli/docs_parts.h"
#include "cli/opts.h"
#include "rule/finding.h"

/* scdoc takes these as markup, and a "-" that begins a line as that of a list. */
void docs_put_escaped(struct strbuf *out, const char *s)
{
	if (*s == '-')
		strbuf_addc(out, '\\');
	for (; *s; s++) {
		if (strchr("\\*_#.~`<>[]", *s) && *s != '.')
			strbuf_addc(out, '\\');
		strbuf_addc(out, *s);
	}
}

void docs_put_title(struct strbuf *out, const char *page, const char *summary)
{
	const char *dot = strrchr(page, '.'), *c;

	for (c = page; c < dot; c++)
		strbuf_addc(out, (char)toupper((unsigned char)*c));
	strbuf_printf(out, "(%s)\n\n# NAME\n\n%.*s - ", dot + 1, (int)(dot - page), page);
	docs_put_escaped(out, summary);
	strbuf_add(out, "\n\n");
}

/* Paragraphs; lines that start with a blank are examples and stand in a literal block. */
static void put_details(struct strbuf *out, const char *details)
{
	struct view rest = view_of(details), line;
	bool literal = false;

	while (view_line(&rest, &line)) {
		bool example = line.n && line.p[0] == ' ';

		if (example != literal)
			strbuf_add(out, "```\n");
		literal = example;
		if (example) {
			strbuf_addv(out, view_skip(line, 2));
			strbuf_addc(out, '\n');
		} else {
			docs_put_escaped(out, arena_strndup(out->a, line.p, line.n));
			strbuf_addc(out, '\n');
		}
	}
	if (literal)
		strbuf_add(out, "```\n");
	strbuf_addc(out, '\n');
}

static void put_option(struct strbuf *out, const struct opt *o)
{
	strbuf_add(out, "*");
	if (o->letter)
		strbuf_printf(out, "-%c*, *", o->letter);
	strbuf_printf(out, "--%s*", o->name);
	if (o->arg) {
		strbuf_add(out, " _");
		docs_put_escaped(out, o->choices ? o->choices : o->arg);
		strbuf_add(out, "_");
	}
	strbuf_add(out, "\n\t");
	docs_put_escaped(out, o->help);
	strbuf_add(out, "\n\n");
}

static void put_tail(struct strbuf *out)
{
	strbuf_add(
		out,
		"# EXIT STATUS\n\n"
		"*0*\n\tstack-ok or degraded\n\n"
		"*1*\n\tblocked; with *--strict*, degraded too\n\n"
		"*2*\n\tusage\n\n"
		"*3*\n\tundetermined: the report lists what would decide\n\n"
		"*4*\n\tcuvet could not do its work (input or output, download, verification)\n\n"
		"# SEE ALSO\n\n*cuvet*(1), *cuvet-findings*(7), *cuvet-compat*(5)\n");
}

void docs_put_program(struct strbuf *out)
{
	const struct cmd *const *c;

	docs_put_title(out, "cuvet.1", "will this GPU deep-learning stack run here");
	strbuf_add(
		out,
		"# SYNOPSIS\n\n*cuvet* [_COMMAND_] [_OPTION_]... [_ARGUMENT_]...\n\n# DESCRIPTION\n\n"
		"cuvet tells whether a GPU deep-learning stack will run on a machine, names the one thing that "
		"is broken when it will not, and says what to type to fix it. Without a command it runs "
		"*check*. The result goes to standard output, everything else to standard error. Nothing of "
		"what is judged is executed, and nothing goes to the network unless a command says so.\n\n"
		"# COMMANDS\n\n");
	for (c = cmds; *c; c++) {
		strbuf_printf(out, "*%s* ", (*c)->name);
		docs_put_escaped(out, (*c)->args);
		strbuf_add(out, "\n\t");
		docs_put_escaped(out, (*c)->summary);
		strbuf_printf(out, "; see *cuvet-%s*(1)\n\n", (*c)->name);
	}
	strbuf_add(out, "# SHARED OPTIONS\n\n");
	opts_put_shared(out, NULL, put_option);
	strbuf_add(out, "# ENVIRONMENT\n\n"
			"*NO\\_COLOR*\n\tno colours, whatever the terminal\n\n"
			"*LC\\_ALL*, *LC\\_MESSAGES*, *LANGUAGE*\n\tlanguage of the report\n\n");
	put_tail(out);
}

void docs_put_command(struct strbuf *out, const struct cmd *c)
{
	docs_put_title(out, arena_printf(out->a, "cuvet-%s.1", c->name), c->summary);
	strbuf_printf(out, "# SYNOPSIS\n\n*cuvet %s* [_OPTION_]...%s", c->name,
		      *c->args ? " " : "");
	docs_put_escaped(out, c->args);
	strbuf_add(out, "\n\n# DESCRIPTION\n\n");
	put_details(out, c->details);
	if (c->opts && *c->opts) {
		strbuf_add(out, "# OPTIONS\n\n");
		opts_put(out, c->opts, put_option);
	}
	strbuf_add(out, "# SHARED OPTIONS\n\n");
	opts_put_shared(out, c, put_option);
	put_tail(out);
}

void docs_put_findings(struct strbuf *out)
{
	int layer = -1;
	size_t i;

	docs_put_title(out, "cuvet-findings.7", "the findings of cuvet");
	strbuf_add(
		out,
		"# DESCRIPTION\n\nEvery finding has a name and a code that never change. *--ignore* and *--error* "
		"take the name; *cuvet explain* prints the same text.\n\n");
	for (i = 0; i < FINDING_COUNT; i++) {
		const struct finding_info *f = finding_info((enum finding_id)i);

		if ((int)f->layer != layer)
			strbuf_printf(out, "# LAYER %s\n\n", layer_name(f->layer));
		layer = (int)f->layer;
		strbuf_printf(out, "## %s (%s, %s)\n\n", f->name, f->code,
			      severity_name(f->severity));
		docs_put_escaped(out, f->means);
		strbuf_add(out, "\n\n*Decided by:* ");
		docs_put_escaped(out, f->decided);
		strbuf_add(out, "\n\n*To fix it:* ");
		docs_put_escaped(out, f->fix);
		strbuf_add(out, "\n\n");
		if (*f->not_this) {
			strbuf_add(out, "*Not to be confused with:* ");
			docs_put_escaped(out, f->not_this);
			strbuf_add(out, "\n\n");
		}
	}
	strbuf_add(out, "# SEE ALSO\n\n*cuvet*(1), *cuvet-explain*(1)\n");
}

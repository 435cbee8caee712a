/* SPDX-License-Identifier: Apache-2.0 */
/* Help text from the rows of commands and options; no option is named here. */
#include "cli/help.h"

#include <string.h>

#include "base/arena.h"
#include "base/jsonw.h"
#include "cli/opts.h"
#include "report/wrap.h"

enum { HELP_COLUMN = 24, HELP_MORE = 8, HELP_WIDTH = 80 };

/* A long list of choices goes on in the next line, behind a bar. Returns the column. */
static int put_left(struct strbuf *out, const char *left)
{
	int at = 2, n;

	strbuf_add(out, "  ");
	while (*left) {
		n = (int)strcspn(left, "|");
		n += left[n] == '|';
		if (at + n > HELP_WIDTH) {
			strbuf_printf(out, "\n%*s", HELP_MORE, "");
			at = HELP_MORE;
		}
		strbuf_printf(out, "%.*s", n, left);
		at += n;
		left += n;
	}
	return at;
}

static void two_columns(struct strbuf *out, const char *left, const char *right)
{
	int n = put_left(out, left);

	if (n > HELP_COLUMN - 2) {
		strbuf_addc(out, '\n');
		n = 0;
	}
	strbuf_printf(out, "%*s", HELP_COLUMN - n, "");
	wrap_text(out, right, HELP_COLUMN, HELP_COLUMN, HELP_WIDTH);
}

static void put_option(struct strbuf *out, const struct opt *o)
{
	struct strbuf left;

	strbuf_init(&left, out->a);
	if (o->letter)
		strbuf_printf(&left, "-%c, ", o->letter);
	strbuf_printf(&left, "--%s", o->name);
	if (o->choices)
		strbuf_printf(&left, " %s", o->choices);
	else if (o->arg)
		strbuf_printf(&left, " %s", o->arg);
	two_columns(out, left.s, _(o->help));
}

static void put_exit_codes(struct strbuf *out)
{
	wrap_text(
		out,
		_("Exit codes: 0 stack-ok or degraded; 1 blocked (with --strict, degraded too); 2 usage; "
		  "3 undetermined; 4 cuvet could not do its work."),
		0, 12, HELP_WIDTH);
}

static void put_program(struct strbuf *out)
{
	const struct cmd *const *c;

	strbuf_add(out, _("Usage: cuvet [COMMAND] [OPTION]... [ARGUMENT]...\n\n"));
	wrap_text(
		out,
		_("Will this GPU deep-learning stack run here, and if not, which one thing is broken and what "
		  "do I type? Without a command: check."),
		0, 0, HELP_WIDTH);
	strbuf_add(out, _("\nCommands (`cuvet COMMAND --help` says more):\n"));
	for (c = cmds; *c; c++)
		two_columns(out, (*c)->name, _((*c)->summary));
	strbuf_add(out, _("\nShared options:\n"));
	opts_put_shared(out, NULL, put_option);
	strbuf_addc(out, '\n');
	put_exit_codes(out);
}

static void put_paragraphs(struct strbuf *out, const char *text)
{
	struct view rest = view_of(text), line;

	while (view_line(&rest, &line)) {
		/* Lines that start with a blank are examples and stand as they are. */
		if (line.n && line.p[0] == ' ')
			strbuf_printf(out, "%.*s\n", (int)line.n, line.p);
		else
			wrap_text(out, arena_strndup(out->a, line.p, line.n), 0, 0, HELP_WIDTH);
	}
}

void help_put(struct strbuf *out, const struct cmd *cmd)
{
	if (!cmd) {
		put_program(out);
		return;
	}
	strbuf_printf(out, _("Usage: cuvet %s [OPTION]...%s%s\n\n"), cmd->name,
		      *cmd->args ? " " : "", cmd->args);
	put_paragraphs(out, _(cmd->details));
	if (cmd->opts && *cmd->opts) {
		strbuf_add(out, _("\nOptions:\n"));
		opts_put(out, cmd->opts, put_option);
	}
	strbuf_add(out, _("\nShared options:\n"));
	opts_put_shared(out, cmd, put_option);
	strbuf_addc(out, '\n');
	put_exit_codes(out);
}

static void dump_options(struct jsonw *w, const char *key, const struct opt *const *rows)
{
	char letter[2] = { 0 };

	jsonw_key(w, key);
	jsonw_array(w);
	for (; rows && *rows; rows++) {
		letter[0] = (*rows)->letter;
		jsonw_object(w);
		jsonw_kstr(w, "name", (*rows)->name);
		jsonw_kstr(w, "letter", letter[0] ? letter : NULL);
		jsonw_kstr(w, "arg", (*rows)->arg);
		jsonw_kstr(w, "choices", (*rows)->choices);
		jsonw_kbool(w, "repeatable", (*rows)->kind == OPT_LIST);
		jsonw_kstr(w, "help", (*rows)->help);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void help_dump(struct strbuf *out)
{
	const struct cmd *const *c;
	struct jsonw w;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_key(&w, "commands");
	jsonw_array(&w);
	for (c = cmds; *c; c++) {
		jsonw_object(&w);
		jsonw_kstr(&w, "name", (*c)->name);
		jsonw_kstr(&w, "args", (*c)->args);
		jsonw_kstr(&w, "summary", (*c)->summary);
		jsonw_kstr(&w, "details", (*c)->details);
		dump_options(&w, "options", (*c)->opts);
		jsonw_end_object(&w);
	}
	jsonw_end_array(&w);
	dump_options(&w, "shared", shared_opts);
	jsonw_end_object(&w);
	strbuf_addc(out, '\n');
}

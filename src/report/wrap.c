/* SPDX-License-Identifier: Apache-2.0 */
/* Wrapping by columns, not bytes; knows nothing of what it wraps. */
#include "report/wrap.h"

#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"

enum { WIDTH_DEFAULT = 80, WIDTH_MIN = 40, WIDTH_MAX = 100 };

int wrap_width(int width)
{
	if (width < WIDTH_MIN)
		return WIDTH_DEFAULT;
	return width > WIDTH_MAX ? WIDTH_MAX : width;
}

static void blanks(struct strbuf *out, int n)
{
	while (n-- > 0)
		strbuf_addc(out, ' ');
}

static int columns(struct strbuf *out, struct view word)
{
	return (int)utf8_columns(arena_strndup(out->a, word.p, word.n));
}

/* Next word; for commands a word runs on over blanks inside single or double quotes. */
static bool next_word(struct view *text, bool quotes, struct view *ret)
{
	char open = '\0';
	size_t i = 0;

	while (text->n && text->p[0] == ' ')
		*text = view_skip(*text, 1);
	if (!text->n)
		return false;
	for (; i < text->n && (open || text->p[i] != ' '); i++) {
		char c = text->p[i];

		if (!quotes || (c != '"' && c != '\''))
			continue;
		if (open == c)
			open = '\0';
		else if (!open)
			open = c;
	}
	*ret = (struct view){ .p = text->p, .n = i };
	*text = view_skip(*text, i);
	return true;
}

static void wrap(struct strbuf *out, const char *s, int at, int indent, int width)
{
	bool command = width < 0, first = true;
	struct view text = view_of(s), word;
	int cols;

	width = command ? -width - 2 : width;
	while (next_word(&text, command, &word)) {
		cols = columns(out, word);
		if (!first && at + 1 + cols > width) {
			strbuf_add(out, command ? " \\\n" : "\n");
			blanks(out, indent);
			at = indent;
		} else if (!first) {
			strbuf_addc(out, ' ');
			at++;
		}
		strbuf_addv(out, word);
		at += cols;
		first = false;
	}
	strbuf_addc(out, '\n');
}

void wrap_text(struct strbuf *out, const char *text, int at, int indent, int width)
{
	wrap(out, text, at, indent, width);
}

void wrap_command(struct strbuf *out, const char *command, int at, int indent, int width)
{
	wrap(out, command, at, indent, -width);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins lines that a terminal, a mail program or an editor broke. Takes nothing out and joins no
 * tables, commands or messages of their own.
 */
#include <ctype.h>
#include <string.h>

#include "triage/text.h"

enum { TERMINAL_WIDTH = 80 };

/* The line at s[start..end) fills the terminal, and the next goes on in the middle of it. */
static bool goes_on(const char *s, size_t n, size_t start, size_t end)
{
	const char *next = s + end + 1;

	if (end - start != TERMINAL_WIDTH || end + 1 >= n || strchr("|+-=*#", s[end - 1]))
		return false;
	if (!islower((unsigned char)*next) && !isdigit((unsigned char)*next) &&
	    !strchr("._/:,)='\"", *next))
		return false;
	if (strchr("\"');]?!", s[end - 1]) && isalnum((unsigned char)*next))
		return false;
	/* Lines of one length that begin alike are a list. */
	return end + 9 > n || memcmp(s + start, next, 4) != 0;
}

static bool is_terminal(const char *s, size_t n)
{
	size_t start = 0, end;
	bool full = false;
	const char *nl;

	for (; start < n; start = end + 1) {
		nl = memchr(s + start, '\n', n - start);
		end = nl ? (size_t)(nl - s) : n;
		if (end - start > TERMINAL_WIDTH)
			return false;
		full |= end - start == TERMINAL_WIDTH;
	}
	return full;
}

/* -------- between words */

enum { WRAP_LEAST = 60, WRAP_MOST = 100, PIECE_LEAST = 40, WRAPPED_MAX = 1 << 20 };

/* Where the longest line ends; 0 when one is too long to have been wrapped, or none is long. */
static size_t wrap_width(const char *s, size_t n)
{
	size_t start = 0, end, most = 0;
	const char *nl;

	for (; start < n; start = end + 1) {
		nl = memchr(s + start, '\n', n - start);
		end = nl ? (size_t)(nl - s) : n;
		if (end - start > WRAP_MOST)
			return 0;
		if (end - start > most)
			most = end - start;
	}
	return most >= WRAP_LEAST ? most : 0;
}

static bool is_table(struct view v)
{
	return view_find(v, "   ") >= 0 || view_chr(v, '\t') >= 0 || view_chr(v, '|') >= 0 ||
	       view_starts(v, "ii ");
}

/*
 * The first word of the line `next` had no place in the line before it, and goes on with what that
 * says: with a small letter, a figure, a mark.
 */
static bool word_goes_on(struct view line, struct view next, size_t width)
{
	struct view t = view_trim(line), u = view_trim(next), rest = u, word;
	bool inside = t.n && strchr(",=-(", t.p[t.n - 1]); /* a sentence ends otherwise */

	if (!t.n || line.n < PIECE_LEAST || !view_word(&rest, &word) ||
	    line.n + 1 + word.n <= width)
		return false;
	if (is_table(t) || is_table(u) || text_prompt(t).n || text_prompt(u).n)
		return false;
	if (view_ends(t, "no such file or directory") || view_ends(t, "No such file or directory"))
		return false;
	if (strchr(".!?;{}`>", t.p[t.n - 1]) || strchr("-*+#$>=<[{`", u.p[0]))
		return false;
	if (view_is(word, "warn(") || view_is(word, "warnings.warn(") || view_is(word, "return"))
		return false;
	if (!inside && !islower((unsigned char)u.p[0]) && !strchr("._/:,)'\"(", u.p[0]))
		return false;
	if (t.p - line.p != u.p - next.p) /* a quoted line of code, an item */
		return false;
	/* "docker: Error", "pid=1", "nvidia/550.120,": what begins a line of its own. */
	if (text_is_program(word) || view_starts(word, "nvidia") || view_find(u, " = ") >= 0)
		return false;
	if (word.p[word.n - 1] == ':' || view_chr(word, '=') > 0)
		return false;
	/* "af:00.0": the address of another device of a list. */
	if (word.n >= 7 && word.p[word.n - 5] == ':' && word.p[word.n - 2] == '.')
		return false;
	return t.n < 4 || u.n < 4 || memcmp(t.p, u.p, 4) != 0;
}

/* As text_unwrap, for what was broken between words: a CR stands for each such end. */
static void unwrap_words(char *s, size_t n)
{
	size_t width = n > WRAPPED_MAX ? 0 : wrap_width(s, n), start = 0, end, w = 0;
	struct view line, next = { 0 };
	const char *nl;

	if (!width)
		return;
	for (; start < n; start = end + 1) {
		nl = memchr(s + start, '\n', n - start);
		end = nl ? (size_t)(nl - s) : n;
		line = (struct view){ s + start, end - start };
		if (w && next.n == 1) { /* joined to the line before: without its indent */
			while (line.n && *line.p == ' ')
				line = view_skip(line, 1);
		}
		memmove(s + w, line.p, line.n);
		w += line.n;
		if (end >= n)
			break;
		nl = memchr(s + end + 1, '\n', n - end - 1);
		next = (struct view){ s + end + 1, nl ? (size_t)(nl - s) - end - 1 : n - end - 1 };
		line = (struct view){ s + w - line.n, line.n };
		next.n = word_goes_on(line, next, width);
		s[w++] = next.n ? '\r' : '\n';
	}
	memset(s + w, ' ', n - w);
}

void text_unwrap(char *s, size_t n)
{
	size_t i, start = 0, w = 0, joined = 0;

	if (!is_terminal(s, n)) {
		unwrap_words(s, n);
		return;
	}
	for (i = 0; i < n; i++) {
		bool ends = s[i] == '\n';

		if (ends && goes_on(s, n, start, i)) {
			joined++;
			start = i + 1;
			continue;
		}
		s[w++] = s[i];
		if (!ends)
			continue;
		start = i + 1;
		for (; joined; joined--)
			s[w++] = '\r';
	}
	memset(s + w, ' ', n - w);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands at the margin of every line of a text: numbers of lines, ranks of a launcher, a frame
 * or a table of one column around it, backticks, a patch's plus. One line alone does not show it;
 * never takes off what only some lines have.
 */
#include <ctype.h>
#include <string.h>

#include "triage/text.h"

enum { LINES_LEAST = 3, LINES_LOOKED_AT = 2000 };

struct margin {
	size_t lines, numbered, ranked, framed, added, ticked;
	size_t cells; /* lines with a bar inside */
	unsigned long last;
};

/* "  12  ", "12: ", "12| ": digits and what parts them from the text; 0 when it is none. */
static size_t number_at(struct view v, unsigned long *ret, char *ret_sep)
{
	size_t i = 0, start;

	while (i < v.n && v.p[i] == ' ')
		i++;
	for (*ret = 0, start = i; i < v.n && i < start + 6 && isdigit((unsigned char)v.p[i]); i++)
		*ret = *ret * 10 + (unsigned long)(v.p[i] - '0');
	if (i == start || i + 1 >= v.n)
		return 0;
	*ret_sep = v.p[i];
	if (*ret_sep == ' ')
		return i + 1 < v.n && (v.p[i + 1] == ' ' || v.p[i + 1] == '|') ? i + 2 : 0;
	if (*ret_sep == ':' && isdigit((unsigned char)v.p[i + 1])) /* a time */
		return 0;
	return *ret_sep == ':' || *ret_sep == '|' || *ret_sep == '\t' ? i + 1 : 0;
}

static bool is_framed(struct view t)
{
	return t.n >= 4 && t.p[0] == '|' && t.p[1] == ' ' && t.p[t.n - 1] == '|' &&
	       t.p[t.n - 2] == ' ';
}

static bool is_rule(struct view t)
{
	size_t i;

	for (i = 0; i < t.n; i++)
		if (!strchr("|-+=: ", t.p[i]))
			return false;
	return true;
}

/* "`a line`", each as code of its own. */
static bool is_ticked(struct view t)
{
	return t.n >= 3 && t.p[0] == '`' && t.p[1] != '`' && t.p[t.n - 1] == '`' &&
	       t.p[t.n - 2] != '`';
}

static void look(struct margin *m, struct view line)
{
	struct view t = view_trim(line);
	unsigned long number;
	char sep;

	if (!t.n || is_rule(t))
		return;
	m->lines++;
	if (number_at(line, &number, &sep)) {
		m->numbered += m->lines == 1 || number > m->last;
		m->ranked += sep == ':' && (m->lines == 1 || number <= m->last + 8);
		m->last = number;
	}
	m->framed += is_framed(t);
	m->cells += is_framed(t) && memchr(t.p + 1, '|', t.n - 2) != NULL;
	m->ticked += is_ticked(t);
	m->added += line.p[0] == '+' && !view_starts(line, "+--") && !view_starts(line, "+==");
}

static void blank(char *s, size_t n)
{
	memset(s, ' ', n);
}

static void take_off(const struct margin *m, char *s, size_t n)
{
	struct view line = { s, n }, t = view_trim(line);
	unsigned long number;
	size_t k;
	char sep;

	if (!t.n)
		return;
	if (m->framed == m->lines) {
		if (is_framed(t)) {
			s[t.p - s] = ' ';
			s[t.p - s + (ptrdiff_t)t.n - 1] = ' ';
		}
	} else if (m->ticked == m->lines) {
		/* What is indented stays so: the blanks go to the end. */
		if (is_ticked(t)) {
			k = (size_t)(t.p - s);
			memmove(s, t.p + 1, t.n - 2);
			blank(s + t.n - 2, k + 2);
		}
	} else if (m->added == m->lines) {
		s[0] = ' ';
	} else {
		k = number_at(line, &number, &sep);
		blank(s, k);
	}
}

static void each_line(struct margin *m, char *s, size_t n, bool take)
{
	size_t start = 0, end, count = 0;
	const char *nl;

	for (; start < n && (take || count < LINES_LOOKED_AT); start = end + 1, count++) {
		nl = memchr(s + start, '\n', n - start);
		end = nl ? (size_t)(nl - s) : n;
		if (end > start && take)
			take_off(m, s + start, end - start);
		else if (end > start)
			look(m, (struct view){ s + start, end - start });
	}
}

void text_unmargin(char *s, size_t n)
{
	struct margin m = { 0 };
	bool framed;

	each_line(&m, s, n, false);
	framed = m.framed == m.lines && m.cells * 2 < m.lines;
	if (m.lines < LINES_LEAST ||
	    !(framed || m.ticked == m.lines || m.added == m.lines || m.numbered == m.lines ||
	      m.ranked == m.lines))
		return;
	each_line(&m, s, n, true);
}

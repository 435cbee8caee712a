/* SPDX-License-Identifier: Apache-2.0 */
/* Edits of a text and the difference of two texts. Reads and writes no file. */
#include "project/edit.h"

#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "project/edit_name.h"

/* Offsets of a line: its begin, and where its text ends in front of "\n" or "\r\n". */
static bool find_line(struct view text, size_t number, size_t *ret_begin, size_t *ret_end,
		      const char **ret_eol)
{
	size_t begin = 0, n;
	const char *p;

	for (; number > 1; number--) {
		p = memchr(text.p + begin, '\n', text.n - begin);
		if (!p)
			return false;
		begin = (size_t)(p - text.p) + 1;
	}
	if (begin > text.n)
		return false;
	p = text.n > begin ? memchr(text.p + begin, '\n', text.n - begin) : NULL;
	n = p ? (size_t)(p - text.p) : text.n;
	*ret_eol = n > begin && text.p[n - 1] == '\r' ? "\r\n" : "\n";
	*ret_begin = begin;
	*ret_end = n > begin && text.p[n - 1] == '\r' ? n - 1 : n;
	return true;
}

static bool edge(struct view text, size_t at)
{
	return at >= text.n || strchr(" \t\r\n\"',]", text.p[at]) != NULL;
}

static void put_new(struct strbuf *b, const char *s, const char *eol)
{
	for (; *s; s++) {
		if (*s == '\n')
			strbuf_add(b, eol);
		else
			strbuf_addc(b, *s);
	}
}

static bool take_line(struct view text, size_t begin, size_t end, size_t at, size_t n,
		      struct strbuf *b)
{
	struct view line = { .p = text.p + begin, .n = end - begin };
	size_t next = end;

	if (view_trim(line).n != n || view_trim(line).p != text.p + at)
		return false;
	while (next < text.n && text.p[next] != '\n')
		next++;
	next += next < text.n;
	strbuf_addn(b, text.p, begin);
	strbuf_addn(b, text.p + next, text.n - next);
	return true;
}

bool edit_apply(struct arena *a, struct view text, const struct edit *e, struct view *ret)
{
	size_t begin, end, at, n = strlen(e->old);
	const char *eol;
	struct strbuf b;
	bool quoted;

	if (!e->line || !e->column || !n || !find_line(text, e->line, &begin, &end, &eol))
		return false;
	at = begin + e->column - 1;
	if (at > end)
		return false;
	/* A place may be that of the quote; what would be more than one word stays out of quotes.
	 */
	if (at < end && strchr("\"'", text.p[at]) && text.p[at] != e->old[0])
		at++;
	quoted = at > begin && strchr("\"'", text.p[at - 1]) != NULL;
	if (quoted && e->kind != EDIT_LINE && strpbrk(e->new, " \n"))
		return false;
	if (end - at < n || memcmp(text.p + at, e->old, n) != 0 ||
	    !edge(text, at + n) || (at > begin && !strchr(" \t\"'[,=", text.p[at - 1])))
		return false;
	strbuf_init(&b, a);
	if (e->kind == EDIT_LINE) {
		if (!take_line(text, begin, end, at, n, &b))
			return false;
	} else {
		/* A new line of its own can only come in front of one that begins here. */
		if (strchr(e->new, '\n') && at != begin)
			return false;
		if (e->kind == EDIT_FLOW && !memchr(text.p + begin, '[', at - begin))
			return false;
		strbuf_addn(&b, text.p, at);
		put_new(&b, e->new, eol);
		strbuf_addn(&b, text.p + at + n, text.n - at - n);
	}
	*ret = (struct view){ .p = b.s ? b.s : "", .n = b.n };
	return e->kind != EDIT_INDEX || edit_rename_index(a, ret, begin, e);
}

/* -------- the difference */

enum { AROUND = 3, WINDOW = 200 };

struct lines {
	struct view *v; /* with their ends */
	size_t n;
};

static struct lines split(struct arena *a, struct view text)
{
	struct lines l = { .n = 0 };
	size_t i = 0, k;
	const char *p;

	while (i < text.n) {
		p = memchr(text.p + i, '\n', text.n - i);
		k = p ? (size_t)(p - text.p) + 1 : text.n;
		*ARENA_APPEND(a, l.v, l.n) = (struct view){ .p = text.p + i, .n = k - i };
		i = k;
	}
	return l;
}

static struct view line_at(const struct lines *l, size_t i)
{
	return l->v && i < l->n ? l->v[i] : (struct view){ .p = "", .n = 0 };
}

static bool same(const struct lines *x, size_t i, const struct lines *y, size_t k)
{
	return x->v[i].n == y->v[k].n && memcmp(x->v[i].p, y->v[k].p, x->v[i].n) == 0;
}

struct change {
	size_t from, n_from, to, n_to;
};

/* The nearest pair of lines, behind these two, that are alike again. */
static struct change change_at(const struct lines *x, size_t i, const struct lines *y, size_t k)
{
	size_t sum, p, q;

	for (sum = 1; sum < WINDOW; sum++)
		for (p = 0; p <= sum; p++) {
			q = sum - p;
			if (i + p < x->n && k + q < y->n && same(x, i + p, y, k + q))
				return (struct change){
					.from = i, .n_from = p, .to = k, .n_to = q
				};
		}
	return (struct change){ .from = i, .n_from = x->n - i, .to = k, .n_to = y->n - k };
}

static void put_line(struct strbuf *out, char sign, struct view line)
{
	strbuf_addc(out, sign);
	strbuf_addv(out, line);
	if (!line.n || line.p[line.n - 1] != '\n')
		strbuf_add(out, "\n\\ No newline at end of file\n");
}

static void put_hunk(struct strbuf *out, const struct lines *x, const struct lines *y,
		     const struct change *c, size_t n)
{
	const struct change *last = &c[n - 1];
	size_t begin = c->from > AROUND ? c->from - AROUND : 0, i, k;
	size_t end = last->from + last->n_from + AROUND;
	size_t before = c->from - begin, behind;

	end = end < x->n ? end : x->n;
	behind = end - last->from - last->n_from;
	k = last->to + last->n_to + behind - (c->to - before);
	strbuf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", begin + (end > begin), end - begin,
		      c->to - before + (k > 0), k);
	for (i = begin; n; c++, n--) {
		for (; i < c->from; i++)
			put_line(out, ' ', line_at(x, i));
		for (; i < c->from + c->n_from; i++)
			put_line(out, '-', line_at(x, i));
		for (k = c->to; k < c->to + c->n_to; k++)
			put_line(out, '+', line_at(y, k));
	}
	for (; i < end; i++)
		put_line(out, ' ', line_at(x, i));
}

void edit_diff(struct arena *a, const char *path, struct view before, struct view after,
	       struct strbuf *out)
{
	struct lines x = split(a, before), y = split(a, after);
	struct change *c = NULL;
	size_t n = 0, i = 0, k = 0, first;

	while (i < x.n || k < y.n) {
		if (i < x.n && k < y.n && same(&x, i, &y, k)) {
			i++;
			k++;
			continue;
		}
		*ARENA_APPEND(a, c, n) = change_at(&x, i, &y, k);
		i += c[n - 1].n_from;
		k += c[n - 1].n_to;
	}
	if (!n)
		return;
	strbuf_printf(out, "--- %s\n+++ %s\n", path, path);
	for (first = 0, i = 1; i <= n; i++)
		if (i == n || c[i].from > c[i - 1].from + c[i - 1].n_from + (size_t)2 * AROUND) {
			put_hunk(out, &x, &y, c + first, i - first);
			first = i;
		}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few forms in which shell text makes a version out of another ("$(echo $V | cut -d. -f1,2 | tr
 * -d .)", "${V//./}", "${V%.*}"). Nothing is run; what is not one of them is not decided.
 */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "project/project.h"

enum { PARTS = 16, TEXT = 4096 };

/* -------- ${NAME//a/b} and its kin */

static const char *replaced(struct arena *a, const char *text, struct view from, struct view to,
			    bool all)
{
	struct view rest = view_of(text);
	struct strbuf b;
	ptrdiff_t at;

	strbuf_init(&b, a);
	while (from.n && (at = view_find(rest, view_dup(a, from))) >= 0) {
		strbuf_addn(&b, rest.p, (size_t)at);
		strbuf_addv(&b, to);
		rest = view_skip(rest, (size_t)at + from.n);
		if (!all)
			break;
	}
	strbuf_addv(&b, rest);
	return b.s ? b.s : "";
}

/* "%.*" and "%%.*", "#*." and "##*.", or a literal: others are not decided. */
static const char *trimmed(struct arena *a, const char *text, char side, bool longest,
			   struct view pattern)
{
	size_t n = strlen(text), m = pattern.n;
	const char *at;

	if (side == '%' && m == 2 && pattern.p[1] == '*' && pattern.p[0] != '*') {
		at = longest ? strchr(text, pattern.p[0]) : strrchr(text, pattern.p[0]);
		return at ? arena_strndup(a, text, (size_t)(at - text)) : text;
	}
	if (side == '#' && m == 2 && pattern.p[0] == '*' && pattern.p[1] != '*') {
		at = longest ? strrchr(text, pattern.p[1]) : strchr(text, pattern.p[1]);
		return at ? at + 1 : text;
	}
	if (!m || memchr(pattern.p, '*', m) || memchr(pattern.p, '?', m) ||
	    memchr(pattern.p, '[', m))
		return NULL;
	if (m > n)
		return text;
	if (side == '%')
		return memcmp(text + n - m, pattern.p, m) == 0 ? arena_strndup(a, text, n - m)
							       : text;
	return memcmp(text, pattern.p, m) == 0 ? text + m : text;
}

const char *shell_expand(struct arena *a, const char *value, struct view how)
{
	struct view from, to;
	bool twice = how.n > 1 && how.p[0] == how.p[1];

	if (!how.n || strlen(value) > TEXT)
		return NULL;
	if (how.p[0] == '/') {
		from = view_cut(view_skip(how, twice ? 2 : 1), '/', &to);
		return replaced(a, value, from, to, twice);
	}
	if (how.p[0] == '%' || how.p[0] == '#')
		return trimmed(a, value, how.p[0], twice, view_skip(how, twice ? 2 : 1));
	return NULL;
}

/* -------- pipelines of echo, cut, tr and sed */

struct words {
	const char *v[PARTS];
	size_t n;
};

/* Words with quotes taken off and variables put in; false for what is more than that. */
static bool words_of(struct project_reader *r, const struct project *p, struct view text,
		     struct words *ret)
{
	bool unknown = false;
	size_t i = 0;

	ret->n = 0;
	while (i < text.n) {
		struct strbuf b;
		char q = 0;

		while (i < text.n && (text.p[i] == ' ' || text.p[i] == '\t'))
			i++;
		if (i == text.n)
			break;
		strbuf_init(&b, r->a);
		for (; i < text.n && (q || (text.p[i] != ' ' && text.p[i] != '\t')); i++) {
			char c = text.p[i];

			if (!q && (c == '"' || c == '\''))
				q = c;
			else if (c == q)
				q = 0;
			else if (strchr("`;&()\n", c) || (c == '$' && q == '\''))
				return false;
			else
				strbuf_addc(&b, c);
		}
		if (q || ret->n == PARTS)
			return false;
		ret->v[ret->n++] = substitute(r, p, (struct view){ .p = b.s ? b.s : "", .n = b.n },
					      &unknown);
	}
	return !unknown;
}

/* -d. -f1,2 (or with blanks): fields of one line. */
static const char *cut_fields(struct arena *a, const char *text, const struct words *x)
{
	const char *fields = NULL, *delimiter = "\t";
	struct view rest, one, from, to;
	struct strbuf b;
	bool first = true;
	uint64_t lo, hi, n;
	size_t i;

	for (i = 1; i < x->n; i++) {
		const char *w = x->v[i];
		const char **at = strncmp(w, "-d", 2) == 0   ? &delimiter
				  : strncmp(w, "-f", 2) == 0 ? &fields
							     : NULL;

		if (!at || (!w[2] && i + 1 == x->n))
			return NULL;
		*at = w[2] ? w + 2 : x->v[++i];
	}
	if (!fields || strlen(delimiter) != 1)
		return NULL;
	strbuf_init(&b, a);
	for (rest = view_of(fields); rest.n;) {
		struct view left = view_of(text);
		bool more = true;

		one = view_cut(rest, ',', &rest);
		from = view_cut(one, '-', &to);
		if (!view_u64(from, 10, &lo))
			return NULL;
		hi = lo;
		if (view_chr(one, '-') >= 0 && (to.n ? !view_u64(to, 10, &hi) : (hi = 99, false)))
			return NULL;
		for (n = 1; more && n <= hi; n++) {
			more = view_chr(left, delimiter[0]) >= 0;
			one = view_cut(left, delimiter[0], &left);
			if (n < lo)
				continue;
			if (!first)
				strbuf_add(&b, delimiter);
			first = false;
			strbuf_addv(&b, one);
		}
	}
	return b.s ? b.s : "";
}

/* tr -d SET, tr A B: sets of single characters. */
static const char *translated(struct arena *a, const char *text, const struct words *x)
{
	bool delete = x->n == 3 && strcmp(x->v[1], "-d") == 0;
	const char *set = x->n == 3 ? x->v[delete ? 2 : 1] : NULL, *to = delete ? "" : x->v[2];
	struct strbuf b;

	if (!set || strpbrk(set, "[-\\") || (!delete && (strlen(set) != 1 || strlen(to) != 1)))
		return NULL;
	strbuf_init(&b, a);
	for (; *text; text++)
		if (!strchr(set, *text))
			strbuf_addc(&b, *text);
		else if (!delete)
			strbuf_addc(&b, *to);
	return b.s ? b.s : "";
}

/* sed 's/a/b/g' with a literal ("\." is one). */
static const char *edited(struct arena *a, const char *text, const struct words *x)
{
	struct view rest, from, to;
	struct strbuf b;
	size_t i;

	if (x->n != 2 || strncmp(x->v[1], "s/", 2) != 0)
		return NULL;
	from = view_cut(view_of(x->v[1] + 2), '/', &rest);
	to = view_cut(rest, '/', &rest);
	strbuf_init(&b, a);
	for (i = 0; i < from.n; i++) {
		if (from.p[i] == '\\' && i + 1 < from.n && from.p[i + 1] == '.')
			i++;
		else if (strchr(".*[]^$\\", from.p[i]))
			return NULL;
		strbuf_addc(&b, from.p[i]);
	}
	if (!b.n || (rest.n && !view_is(rest, "g")))
		return NULL;
	return replaced(a, text, (struct view){ .p = b.s, .n = b.n }, to, rest.n > 0);
}

static const char *stage(struct arena *a, const char *text, const struct words *x)
{
	if (!x->n)
		return NULL;
	if (strcmp(x->v[0], "cut") == 0)
		return cut_fields(a, text, x);
	if (strcmp(x->v[0], "tr") == 0)
		return translated(a, text, x);
	return strcmp(x->v[0], "sed") == 0 ? edited(a, text, x) : NULL;
}

const char *shell_evaluate(struct project_reader *r, const struct project *p, struct view inner)
{
	struct words *x = arena_alloc(r->a, sizeof(*x));
	struct view rest = inner, one = view_cut(rest, '|', &rest);
	const char *text;

	if (inner.n > TEXT || !words_of(r, p, one, x) || !x->n)
		return NULL;
	if (strcmp(x->v[0], "echo") == 0 && x->n == 2) {
		text = x->v[1];
	} else if (x->n > 2 && strcmp(x->v[x->n - 2], "<<<") == 0) {
		text = x->v[x->n - 1];
		x->n -= 2;
		text = stage(r->a, text, x);
	} else {
		return NULL;
	}
	while (text && rest.n) {
		one = view_cut(rest, '|', &rest);
		text = words_of(r, p, one, x) ? stage(r->a, text, x) : NULL;
	}
	return text;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Corrections that go through a name: an index of TOML, an ARG of a Dockerfile. Reads no file. */
#include "project/edit_name.h"

#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"

/* -------- an index and its name */

/* "cu126" of ".../whl/cu126" and ".../whl/cu126/"; empty when there is none. */
static struct view last_part(const char *url)
{
	struct view v = view_of(url);
	size_t i;

	while (v.n && v.p[v.n - 1] == '/')
		v.n--;
	for (i = v.n; i && v.p[i - 1] != '/'; i--)
		;
	return (struct view){ .p = v.p + i, .n = v.n - i };
}

static bool is_header(struct view line)
{
	return view_starts(view_trim(line), "[");
}

/* What stands between the quotes of `name = "..."`; empty when the line is another one. */
static struct view named(struct view line)
{
	struct view rest, key = view_trim(view_cut(line, '=', &rest));
	struct view value = view_trim(rest);
	const char *end;

	if (!view_is(key, "name") || value.n < 2 || (value.p[0] != '"' && value.p[0] != '\''))
		return (struct view){ .p = "", .n = 0 };
	end = memchr(value.p + 1, value.p[0], value.n - 1);
	return (struct view){ .p = value.p + 1, .n = end ? (size_t)(end - value.p) - 1 : 0 };
}

/* The name that the table of the line at `at` has. */
static struct view name_of_table(struct view text, size_t at)
{
	struct view rest = text, line, found = { .p = "", .n = 0 };

	while (view_line(&rest, &line)) {
		if (is_header(line)) {
			if (line.p > text.p + at)
				break;
			found.n = 0;
		} else if (named(line).n) {
			found = named(line);
		}
	}
	return found;
}

static const char *with_part(struct arena *a, struct view name, struct view old, struct view new)
{
	struct strbuf b;
	ptrdiff_t at = view_find(name, arena_strndup(a, old.p, old.n));

	if (at < 0)
		return NULL;
	strbuf_init(&b, a);
	strbuf_addn(&b, name.p, (size_t)at);
	strbuf_addv(&b, new);
	strbuf_addn(&b, name.p + at + old.n, name.n - (size_t)at - old.n);
	return b.s;
}

/* Is there a string at offset i that is all of `name`? */
static bool string_at(struct view text, size_t i, struct view name)
{
	return i && i + name.n < text.n && strchr("\"'", text.p[i - 1]) &&
	       text.p[i + name.n] == text.p[i - 1] && memcmp(text.p + i, name.p, name.n) == 0;
}

/* Is the string at offset i the value of one of these keys: "index = " in front of its quote? */
static bool refers(struct view text, size_t i)
{
	static const char *const keys[] = { "index", "source" };
	size_t end = i - 1, k;

	while (end && (text.p[end - 1] == ' ' || text.p[end - 1] == '\t'))
		end--;
	if (!end || text.p[--end] != '=')
		return false;
	while (end && (text.p[end - 1] == ' ' || text.p[end - 1] == '\t'))
		end--;
	for (k = 0; k < ARRAY_LEN(keys); k++)
		if (view_ends((struct view){ .p = text.p, .n = end }, keys[k]))
			return true;
	return false;
}

static bool line_has(struct view text, size_t at, const char *word)
{
	struct view rest = { .p = text.p + at, .n = text.n - at }, line;

	return view_line(&rest, &line) && view_find(line, word) >= 0;
}

bool edit_rename_index(struct arena *a, struct view *text, size_t at, const struct edit *e)
{
	struct view old = last_part(e->old), new = last_part(e->new);
	struct view name = name_of_table(*text, at);
	const char *renamed = old.n && name.n ? with_part(a, name, old, new) : NULL;
	struct strbuf b;
	size_t i;

	/* A table in one line is not taken apart; any other name says nothing of the address. */
	if (!renamed)
		return !line_has(*text, at, arena_strndup(a, old.p, old.n));
	strbuf_init(&b, a);
	for (i = 0; i < text->n; i++) {
		if (string_at(*text, i, view_of(renamed)))
			return false;
		if (string_at(*text, i, name)) {
			/* The same word may be the name of an extra. */
			if (text->p + i != name.p && !refers(*text, i))
				return false;
			strbuf_add(&b, renamed);
			i += name.n - 1;
		} else {
			strbuf_addc(&b, text->p[i]);
		}
	}
	*text = (struct view){ .p = b.s, .n = b.n };
	return true;
}

/* -------- an ARG */

static bool name_char(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

struct use {
	struct view name;
	size_t from, to; /* of "${NAME}" or "$NAME" in the word */
};

/* The variable of a word in which exactly one stands, without a form of its own (":-", "%"). */
static bool only_use(struct view word, struct use *ret)
{
	const char *dollar = memchr(word.p, '$', word.n);
	size_t i, n = 0;
	bool braces;

	if (!dollar)
		return false;
	ret->from = (size_t)(dollar - word.p);
	braces = ret->from + 1 < word.n && word.p[ret->from + 1] == '{';
	i = ret->from + 1 + braces;
	while (i + n < word.n && name_char(word.p[i + n]))
		n++;
	ret->name = (struct view){ .p = word.p + i, .n = n };
	ret->to = i + n + braces;
	if (!n || (braces && (i + n >= word.n || word.p[i + n] != '}')))
		return false;
	return !memchr(word.p + ret->to, '$', word.n - ret->to);
}

/* How often the variable is used anywhere. */
static size_t uses(struct view text, struct view name)
{
	size_t i, k, n = 0;

	for (i = 0; i + name.n < text.n; i++) {
		if (text.p[i] != '$')
			continue;
		k = i + 1 + (text.p[i + 1] == '{');
		if (k + name.n <= text.n && memcmp(text.p + k, name.p, name.n) == 0 &&
		    (k + name.n == text.n || !name_char(text.p[k + name.n])))
			n++;
	}
	return n;
}

/* Offset of the default in "ARG NAME=DEFAULT" alone on its line; 0: none, or several. */
static size_t only_default(struct view text, struct view name, struct view *ret)
{
	struct view rest = text, line, word, value;
	size_t found = 0;

	while (view_line(&rest, &line)) {
		line = view_trim(line);
		if (!view_word(&line, &word) || !view_is_nocase(word, "ARG"))
			continue;
		line = view_trim(line);
		word = view_cut(line, '=', &value);
		if (word.n != name.n || memcmp(word.p, name.p, name.n) != 0)
			continue;
		if (found || word.n == line.n)
			return 0;
		if (value.n > 1 && strchr("\"'", value.p[0]) && value.p[value.n - 1] == value.p[0])
			value = (struct view){ .p = value.p + 1, .n = value.n - 2 };
		*ret = value;
		found = (size_t)(value.p - text.p);
	}
	return found;
}

static struct view word_at(struct view text, size_t line, size_t column)
{
	struct view rest = text, v = { .p = "", .n = 0 };
	size_t n = 0;

	while (line && view_line(&rest, &v))
		line--;
	if (line || column > v.n)
		return (struct view){ .p = "", .n = 0 };
	v.p += column - 1;
	v.n -= column - 1;
	while (n < v.n && !strchr(" \t\r", v.p[n]))
		n++;
	v.n = n;
	return v;
}

bool edit_apply_arg(struct arena *a, struct view text, const struct edit *e, struct view *ret)
{
	struct view word, value = { .n = 0 }, old = view_of(e->old), new = view_of(e->new);
	struct strbuf b;
	struct use u;
	size_t at, tail;

	if (e->kind != EDIT_WORD || !e->line || !e->column || !e->new[0])
		return false;
	word = word_at(text, e->line, e->column);
	if (!only_use(word, &u) || uses(text, u.name) != 1)
		return false;
	at = only_default(text, u.name, &value);
	tail = word.n - u.to;
	/* What is around the variable is what is around its value, before and after. */
	if (!at || old.n != u.from + value.n + tail || new.n < u.from + tail + 1 ||
	    memcmp(old.p, word.p, u.from) != 0 || memcmp(new.p, word.p, u.from) != 0 ||
	    memcmp(old.p + u.from, value.p, value.n) != 0 ||
	    memcmp(old.p + old.n - tail, word.p + u.to, tail) != 0 ||
	    memcmp(new.p + new.n - tail, word.p + u.to, tail) != 0)
		return false;
	strbuf_init(&b, a);
	strbuf_addn(&b, text.p, at);
	strbuf_addn(&b, new.p + u.from, new.n - u.from - tail);
	strbuf_addn(&b, text.p + at + value.n, text.n - at - value.n);
	*ret = (struct view){ .p = b.s, .n = b.n };
	return true;
}

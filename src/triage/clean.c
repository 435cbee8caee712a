/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes out of a text what is not text: terminal escapes, controls, invisible characters, HTML; and
 * gives typographic characters their plain form, so that patterns need to know one form only.
 */
#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "triage/text.h"

/* Length of an escape sequence at p (p[0] is ESC), at least 1. */
static size_t escape_len(const char *p, size_t n)
{
	size_t i = 2;

	if (n < 2)
		return 1;
	if (p[1] == '[') {
		while (i < n && i < 64 && !(p[i] >= 0x40 && p[i] <= 0x7e))
			i++;
		return i < n && i < 64 ? i + 1 : 2;
	}
	if (p[1] == ']' || p[1] == 'P' || p[1] == '_' || p[1] == '^') {
		while (i < n && i < 4096 && p[i] != '\a' && p[i] != 0x1b && p[i] != '\n')
			i++;
		if (i < n && p[i] == '\a')
			return i + 1;
		return i + 1 < n && p[i] == 0x1b && p[i + 1] == '\\' ? i + 2 : i;
	}
	return 2;
}

/* "[0m", "[1;31m": colour whose ESC got lost on the way. */
static size_t colour_residue(const char *p, size_t n)
{
	size_t i = 1;

	while (i < n && i < 12 && (isdigit((unsigned char)p[i]) || p[i] == ';'))
		i++;
	return i > 1 && i < n && p[i] == 'm' && (i + 1 >= n || p[i + 1] != 'a') ? i + 1 : 0;
}

/* "[   12.345678] " of dmesg, so that messages which wrap stay whole. */
static size_t kernel_time(const char *p, size_t n)
{
	size_t i = 1, digits;

	while (i < n && i < 12 && p[i] == ' ')
		i++;
	for (digits = i; i < n && i < 24 && isdigit((unsigned char)p[i]); i++)
		;
	if (i == digits || i >= n || p[i] != '.')
		return 0;
	for (digits = ++i; i < n && i < 32 && isdigit((unsigned char)p[i]); i++)
		;
	return i - digits >= 2 && i + 1 < n && p[i] == ']' && p[i + 1] == ' ' ? i + 2 : 0;
}

struct entity {
	const char *name, *text;
};

/* "&#39;", "&#x27;" of an ASCII character; others stay as they are. */
static size_t numeric_entity(const char *p, size_t n, char *ret)
{
	bool hex = n > 3 && (p[2] == 'x' || p[2] == 'X');
	size_t i = hex ? 3 : 2, digits = i;
	unsigned v = 0;

	while (i < n && i < digits + 6 &&
	       (hex ? isxdigit((unsigned char)p[i]) : isdigit((unsigned char)p[i]))) {
		char c = (char)(p[i] | 0x20);

		v = v * (hex ? 16 : 10) + (unsigned)(c >= 'a' ? c - 'a' + 10 : p[i] - '0');
		i++;
	}
	if (i == digits || i >= n || p[i] != ';' || (v != 160 && (v < 0x20 || v > 0x7e)))
		return 0;
	*ret = v == 160 ? ' ' : (char)v;
	return i + 1;
}

static size_t entity_at(const char *p, size_t n, const char **ret)
{
	static const struct entity list[] = {
		{ "&lt;", "<" },    { "&gt;", ">" },   { "&amp;", "&" },
		{ "&quot;", "\"" }, { "&apos;", "'" }, { "&nbsp;", " " },
	};
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(list); i++) {
		k = strlen(list[i].name);
		if (k <= n && strncasecmp(p, list[i].name, k) == 0) {
			*ret = list[i].text;
			return k;
		}
	}
	return 0;
}

/*
 * "<br>", "</td>", "<span class=...>": tags of pages and mails. What is none ("<module>",
 * "<stdin>",
 * "<frozen importlib>") stays. *ret is what takes its place: a line's end ('\v'), a blank.
 */
static size_t tag_at(const char *p, size_t n, char *ret)
{
	static const struct {
		const char *name;
		bool block; /* ends a line */
	} tags[] = {
		{ "br", true },	  { "p", true },       { "div", true },	    { "tr", true },
		{ "li", true },	  { "ul", true },      { "ol", true },	    { "table", true },
		{ "pre", true },  { "details", true }, { "summary", true }, { "blockquote", true },
		{ "td", false },  { "th", false },     { "span", false },   { "code", false },
		{ "b", false },	  { "strong", false }, { "em", false },	    { "i", false },
		{ "a", false },	  { "font", false },   { "kbd", false },    { "html", true },
		{ "body", true }, { "h1", true },      { "h2", true },	    { "h3", true },
	};
	bool closing = n > 1 && p[1] == '/';
	size_t start = closing ? 2 : 1, i = start, k, end;

	while (i < n && i < start + 12 && isalnum((unsigned char)p[i]))
		i++;
	if (i == start || i >= n || (p[i] != '>' && p[i] != ' ' && p[i] != '/'))
		return 0;
	for (end = i; end < n && end < i + 300 && p[end] != '>' && p[end] != '\n' && p[end] != '<';
	     end++)
		;
	if (end >= n || p[end] != '>' ||
	    (p[i] == ' ' && !memchr(p + i, '=', end - i) && p[end - 1] != '/'))
		return 0;
	for (k = 0; k < ARRAY_LEN(tags); k++)
		if (strlen(tags[k].name) == i - start &&
		    strncasecmp(p + start, tags[k].name, i - start) == 0) {
			*ret = tags[k].block ? '\v' : ' ';
			return end + 1;
		}
	return 0;
}

/* Plain form of a typographic code point, or NULL. Never longer than its UTF-8 form. */
static const char *plain(int32_t cp)
{
	if (cp == 0xa0 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x202f || cp == 0x3000)
		return " ";
	if (cp >= 0x2018 && cp <= 0x201b)
		return "'";
	if (cp >= 0x201c && cp <= 0x201f)
		return "\"";
	if (cp >= 0x2010 && cp <= 0x2015)
		return "-";
	if (cp == 0x2502 || cp == 0x2503 || cp == 0x2551)
		return "|";
	if (cp == 0x2500 || cp == 0x2501 || cp == 0x2550)
		return "-";
	if (cp == 0x2192 || cp == 0x21d2)
		return "->";
	if (cp == 0x2264)
		return "<=";
	if (cp == 0x2265)
		return ">=";
	if (cp == 0x2026)
		return "...";
	return NULL;
}

struct out {
	char *s;
	size_t n;
};

static void put(struct out *o, const char *s, size_t n)
{
	memmove(o->s + o->n, s, n);
	o->n += n;
}

/* A long dash before a word, behind a blank: an editor made it of the two of an option. */
static bool is_option(const struct out *o, struct view v, size_t now, int32_t cp)
{
	return (cp == 0x2013 || cp == 0x2014) && (!o->n || strchr(" \n`'\"", o->s[o->n - 1])) &&
	       now + 1 < v.n && islower((unsigned char)v.p[now]) &&
	       islower((unsigned char)v.p[now + 1]);
}

static void put_code_point(struct out *o, struct view v, size_t was, size_t now, int32_t cp)
{
	const char *form = is_option(o, v, now, cp) ? "--" : plain(cp);

	if (form)
		put(o, form, strlen(form));
	else if (!utf8_is_format(cp) && !(utf8_is_control(cp)))
		put(o, v.p + was, now - was);
}

/* What ASCII stands at i; returns how many bytes it took. */
static size_t ascii(struct out *o, struct view v, size_t i)
{
	const char *p = v.p + i, *form;
	size_t n = v.n - i, k;
	char c = *p;

	if (c == 0x1b)
		return escape_len(p, n);
	if (c == '\r') {
		if (n > 1 && p[1] == '\n')
			return 1;
		put(o, "\v", 1); /* what a progress bar overwrote: a line that does not count */
		return 1;
	}
	if (c == '[' && (k = colour_residue(p, n)) != 0)
		return k;
	if (c == '[' && (!o->n || o->s[o->n - 1] == '\n') && (k = kernel_time(p, n)) != 0)
		return k;
	if (c == '&' && n > 1 && p[1] == '#' && (k = numeric_entity(p, n, &c)) != 0) {
		put(o, &c, 1);
		return k;
	}
	if (*p == '&' && (k = entity_at(p, n, &form)) != 0) {
		put(o, form, strlen(form));
		return k;
	}
	if (*p == '<' && (k = tag_at(p, n, &c)) != 0) {
		put(o, &c, 1);
		return k;
	}
	if (c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f))
		put(o, &c, 1);
	else if (c != '\b')
		put(o, " ", 1);
	return 1;
}

/* Bytes that stand for themselves, until one that has to be looked at. */
static size_t plain_run(struct view v, size_t i)
{
	size_t start = i;

	while (i < v.n) {
		unsigned char c = (unsigned char)v.p[i];

		if (c >= 0x7f || (c < 0x20 && c != '\n' && c != '\t') || c == '[' || c == '&' ||
		    c == '<')
			break;
		i++;
	}
	return i - start;
}

struct view text_clean(struct view utf8)
{
	/* Nothing gets longer, so that writing never overtakes reading. */
	struct out o = { .s = (char *)(uintptr_t)utf8.p };
	size_t i = 0, was, n;
	int32_t cp;

	while (i < utf8.n) {
		n = plain_run(utf8, i);
		if (n) {
			put(&o, utf8.p + i, n);
			i += n;
			continue;
		}
		if ((unsigned char)utf8.p[i] < 0x80) {
			i += ascii(&o, utf8, i);
			continue;
		}
		was = i;
		cp = utf8_next(utf8, &i);
		if (cp < 0)
			put(&o, "?", 1);
		else
			put_code_point(&o, utf8, was, i, cp);
	}
	return (struct view){ .p = o.s, .n = o.n };
}

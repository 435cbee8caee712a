/* SPDX-License-Identifier: Apache-2.0 */
/* TOML 1.0: strings, numbers, booleans, dates, arrays and inline tables. */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/toml.h"

enum { FROZEN = 4 }; /* T_FROZEN of toml.c */

static void put_utf8(struct strbuf *b, uint32_t c)
{
	if (c < 0x80) {
		strbuf_addc(b, (char)c);
	} else if (c < 0x800) {
		strbuf_addc(b, (char)(0xc0 | (c >> 6)));
		strbuf_addc(b, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		strbuf_addc(b, (char)(0xe0 | (c >> 12)));
		strbuf_addc(b, (char)(0x80 | ((c >> 6) & 0x3f)));
		strbuf_addc(b, (char)(0x80 | (c & 0x3f)));
	} else {
		strbuf_addc(b, (char)(0xf0 | (c >> 18)));
		strbuf_addc(b, (char)(0x80 | ((c >> 12) & 0x3f)));
		strbuf_addc(b, (char)(0x80 | ((c >> 6) & 0x3f)));
		strbuf_addc(b, (char)(0x80 | (c & 0x3f)));
	}
}

static bool unicode(struct toml *t, struct strbuf *b, size_t digits)
{
	struct view hex = { .p = t->text.p + t->at, .n = digits };
	uint64_t c = 0;
	size_t i;

	if (t->at + digits > t->text.n)
		return toml_fault(t, t->at, N_("an escape is cut"));
	for (i = 0; i < digits; i++)
		if (!strchr("0123456789abcdefABCDEF", hex.p[i]) || !hex.p[i])
			return toml_fault(t, t->at + i, N_("an escape needs hexadecimal digits"));
	if (!view_u64(hex, 16, &c) || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return toml_fault(t, t->at, N_("no Unicode scalar value"));
	t->at += digits;
	/* A NUL cannot be held by text here: it is shown as what it is not, visibly. */
	put_utf8(b, c ? (uint32_t)c : 0xfffd);
	return true;
}

static bool escape(struct toml *t, struct strbuf *b)
{
	static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
	char c = toml_peek(t, 1);
	const char *p = c ? strchr(from, c) : NULL;

	t->at += 2;
	if (p) {
		strbuf_addc(b, to[p - from]);
		return true;
	}
	if (c == 'u')
		return unicode(t, b, 4);
	if (c == 'U')
		return unicode(t, b, 8);
	return toml_fault(t, t->at - 2, N_("no such escape"));
}

static bool plain(struct toml *t, struct strbuf *b)
{
	unsigned char c = (unsigned char)toml_peek(t, 0);

	if ((c < 0x20 && c != '\t') || c == 0x7f)
		return toml_fault(t, t->at, N_("a control character in a string"));
	strbuf_addc(b, (char)c);
	t->at++;
	return true;
}

static bool one_line(struct toml *t, char quote, const char **ret)
{
	size_t start = t->at++;
	struct strbuf b;

	strbuf_init(&b, t->a);
	for (;;) {
		if (toml_end(t) || toml_peek(t, 0) == '\n')
			return toml_fault(t, start, N_("a string is not closed"));
		if (toml_peek(t, 0) == quote)
			break;
		if (quote == '"' && toml_peek(t, 0) == '\\' ? !escape(t, &b) : !plain(t, &b))
			return false;
	}
	t->at++;
	*ret = b.s;
	return true;
}

/* "\" at the end of a line takes away all blanks up to the next character. */
static bool line_fold(struct toml *t)
{
	size_t at = t->at + 1;

	while (at < t->text.n && (t->text.p[at] == ' ' || t->text.p[at] == '\t'))
		at++;
	if (at < t->text.n && t->text.p[at] == '\r')
		at++;
	if (at >= t->text.n || t->text.p[at] != '\n')
		return false;
	while (at < t->text.n && strchr(" \t\r\n", t->text.p[at]) && t->text.p[at])
		at++;
	t->at = at;
	return true;
}

static size_t quotes_here(const struct toml *t, char quote)
{
	size_t n = 0;

	while (n < 6 && toml_peek(t, n) == quote)
		n++;
	return n;
}

static bool many_lines(struct toml *t, char quote, const char **ret)
{
	size_t start = t->at, n, i;
	struct strbuf b;

	strbuf_init(&b, t->a);
	t->at += 3;
	if (toml_peek(t, 0) == '\r' && toml_peek(t, 1) == '\n')
		t->at++;
	if (toml_peek(t, 0) == '\n')
		t->at++;
	while (!toml_end(t)) {
		n = quotes_here(t, quote);
		if (n >= 3) {
			if (n > 5)
				return toml_fault(t, t->at, N_("too many quotes in a row"));
			for (i = 3; i < n; i++)
				strbuf_addc(&b, quote);
			t->at += n;
			*ret = b.s;
			return true;
		}
		if (toml_peek(t, 0) == '\n' ||
		    (toml_peek(t, 0) == '\r' && toml_peek(t, 1) == '\n')) {
			t->at += toml_peek(t, 0) == '\r' ? 2 : 1;
			strbuf_addc(&b, '\n');
		} else if (quote == '"' && toml_peek(t, 0) == '\\') {
			if (!line_fold(t) && !escape(t, &b))
				return false;
		} else if (!plain(t, &b)) {
			return false;
		}
	}
	return toml_fault(t, start, N_("a string is not closed"));
}

bool toml_key_string(struct toml *t, const char **ret)
{
	char q = toml_peek(t, 0);

	if (quotes_here(t, q) >= 3)
		return toml_fault(t, t->at, N_("a key stands on one line"));
	return one_line(t, q, ret);
}

/* -------- words: numbers, booleans, dates */

static bool digits(struct view v, size_t from, size_t n)
{
	size_t i;

	if (from + n > v.n)
		return false;
	for (i = from; i < from + n; i++)
		if (v.p[i] < '0' || v.p[i] > '9')
			return false;
	return true;
}

static unsigned number(struct view v, size_t from, size_t n)
{
	unsigned x = 0;

	while (n--)
		x = x * 10 + (unsigned)(v.p[from++] - '0');
	return x;
}

/* HH:MM:SS[.f]; returns its length, 0 when it is none. */
static size_t time_part(struct view v, size_t at)
{
	size_t n = 8;

	if (!digits(v, at, 2) || at + 8 > v.n || v.p[at + 2] != ':' || !digits(v, at + 3, 2) ||
	    v.p[at + 5] != ':' || !digits(v, at + 6, 2))
		return 0;
	if (number(v, at, 2) > 23 || number(v, at + 3, 2) > 59 || number(v, at + 6, 2) > 60)
		return 0;
	if (at + n < v.n && v.p[at + n] == '.') {
		if (!digits(v, at + n + 1, 1))
			return 0;
		for (n++; digits(v, at + n, 1);)
			n++;
	}
	return n;
}

static bool date_part(struct view v)
{
	static const unsigned char days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	unsigned y, m, d;

	if (v.n < 10 || !digits(v, 0, 4) || v.p[4] != '-' || !digits(v, 5, 2) || v.p[7] != '-' ||
	    !digits(v, 8, 2))
		return false;
	y = number(v, 0, 4);
	m = number(v, 5, 2);
	d = number(v, 8, 2);
	if (m < 1 || m > 12 || d < 1 || d > days[m - 1])
		return false;
	return m != 2 || d != 29 || (y % 4 == 0 && (y % 100 != 0 || y % 400 == 0));
}

static bool is_date(struct view v)
{
	size_t at, n;

	n = time_part(v, 0);
	if (n)
		return n == v.n;
	if (!date_part(v))
		return false;
	if (v.n == 10)
		return true;
	if (!strchr("Tt ", v.p[10]))
		return false;
	n = time_part(v, 11);
	if (!n)
		return false;
	at = 11 + n;
	if (at == v.n)
		return true;
	if (v.p[at] == 'Z' || v.p[at] == 'z')
		return at + 1 == v.n;
	return (v.p[at] == '+' || v.p[at] == '-') && at + 6 == v.n && digits(v, at + 1, 2) &&
	       v.p[at + 3] == ':' && digits(v, at + 4, 2) && number(v, at + 1, 2) < 24 &&
	       number(v, at + 4, 2) < 60;
}

/* Digits of a base with single underscores between them; returns how far they go. */
static size_t run_of(struct view v, size_t at, const char *set, bool *ret_ok)
{
	size_t start = at;

	*ret_ok = true;
	while (at < v.n && v.p[at] && (strchr(set, v.p[at]) || v.p[at] == '_')) {
		if (v.p[at] == '_' && (at == start || v.p[at - 1] == '_' || at + 1 == v.n ||
				       !v.p[at + 1] || !strchr(set, v.p[at + 1])))
			*ret_ok = false;
		at++;
	}
	if (at == start)
		*ret_ok = false;
	return at;
}

static bool is_based(struct view v)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	const char *set;
	bool ok;

	if (v.n < 3 || v.p[0] != '0')
		return false;
	set = v.p[1] == 'x' ? hex : v.p[1] == 'o' ? "01234567" : v.p[1] == 'b' ? "01" : NULL;
	return set && run_of(v, 2, set, &ok) == v.n && ok;
}

static bool is_number(struct view v, bool *ret_float)
{
	size_t at = v.n && (v.p[0] == '+' || v.p[0] == '-'), start = at;
	bool ok;

	*ret_float = false;
	if (view_is(view_skip(v, at), "inf") || view_is(view_skip(v, at), "nan")) {
		*ret_float = true;
		return true;
	}
	at = run_of(v, at, "0123456789", &ok);
	if (!ok || (v.p[start] == '0' && at > start + 1))
		return false;
	if (at < v.n && v.p[at] == '.') {
		*ret_float = true;
		at = run_of(v, at + 1, "0123456789", &ok);
		if (!ok)
			return false;
	}
	if (at < v.n && (v.p[at] == 'e' || v.p[at] == 'E')) {
		*ret_float = true;
		at++;
		if (at < v.n && (v.p[at] == '+' || v.p[at] == '-'))
			at++;
		at = run_of(v, at, "0123456789", &ok);
		if (!ok)
			return false;
	}
	return at == v.n;
}

static bool fits_int64(struct view v)
{
	char buf[80];
	size_t i, n = 0;
	uint64_t u;
	int base = 10;

	if (v.n > 2 && v.p[0] == '0' && strchr("xob", v.p[1]))
		base = v.p[1] == 'x' ? 16 : v.p[1] == 'o' ? 8 : 2;
	for (i = base == 10 ? 0 : 2; i < v.n && n + 1 < sizeof(buf); i++)
		if (v.p[i] != '_' && v.p[i] != '+')
			buf[n++] = v.p[i];
	buf[n] = '\0';
	if (i < v.n)
		return false;
	if (base == 10) {
		bool minus = buf[0] == '-';

		return view_u64((struct view){ .p = buf + minus, .n = n - minus }, 10, &u) &&
		       u <= (uint64_t)INT64_MAX + minus;
	}
	if (base == 16)
		return view_u64((struct view){ .p = buf, .n = n }, 16, &u) && u <= INT64_MAX;
	return n <= (base == 8 ? 21U : 63U);
}

static struct doc *word(struct toml *t)
{
	struct view v = { .p = t->text.p + t->at };
	struct doc *d = toml_node(t, DOC_NULL, t->at);
	struct strbuf b;
	bool is_float;
	size_t i;

	while (t->at + v.n < t->text.n && v.p[v.n] && !strchr(" \t\r\n,]}#=[{\"'", v.p[v.n]))
		v.n++;
	/* A date and its time may be joined by one blank. */
	if (v.n == 10 && date_part(v) && t->at + 13 <= t->text.n && v.p[10] == ' ' &&
	    digits((struct view){ .p = v.p, .n = 13 }, 11, 2))
		for (v.n = 11; t->at + v.n < t->text.n && v.p[v.n] &&
			       !strchr(" \t\r\n,]}#=", v.p[v.n]);)
			v.n++;
	if (view_is(v, "true") || view_is(v, "false"))
		d->kind = DOC_BOOL;
	else if (is_date(v))
		d->kind = DOC_DATE;
	else if (is_based(v))
		d->kind = DOC_INT;
	else if (is_number(v, &is_float))
		d->kind = is_float ? DOC_FLOAT : DOC_INT;
	if (d->kind == DOC_NULL || (d->kind == DOC_INT && !fits_int64(v))) {
		toml_fault(t, t->at, v.n ? N_("no value of TOML") : N_("a value is missing"));
		return NULL;
	}
	strbuf_init(&b, t->a);
	for (i = 0; i < v.n; i++)
		if (v.p[i] != '_')
			strbuf_addc(&b, v.p[i]);
	d->text = b.s;
	t->at += v.n;
	return d;
}

/* -------- arrays and inline tables */

static struct doc *array(struct toml *t, int depth)
{
	struct doc *d = toml_node(t, DOC_LIST, t->at), *v;
	size_t column;

	t->at++;
	for (;;) {
		if (!toml_gap(t))
			return NULL;
		if (toml_peek(t, 0) == ']')
			break;
		v = toml_value(t, depth + 1);
		if (!v)
			return NULL;
		toml_append(d, v);
		if (!toml_gap(t))
			return NULL;
		if (toml_peek(t, 0) == ',')
			t->at++;
		else if (toml_peek(t, 0) != ']') {
			toml_fault(t, t->at, N_("an array is not closed"));
			return NULL;
		}
	}
	toml_place(t, t->at++, &d->end_line, &column);
	return d;
}

static void freeze(struct doc *d)
{
	const struct doc *c;

	d->flags |= FROZEN;
	for (c = d->first; c; c = c->next)
		if (c->kind == DOC_MAP)
			freeze((struct doc *)(uintptr_t)c);
}

static struct doc *inline_table(struct toml *t, int depth)
{
	struct doc *d = toml_node(t, DOC_MAP, t->at);

	t->at++;
	toml_blanks(t);
	if (toml_peek(t, 0) == '}') {
		t->at++;
		freeze(d);
		return d;
	}
	for (;;) {
		toml_blanks(t);
		if (!toml_pair(t, d, depth + 1))
			return NULL;
		toml_blanks(t);
		if (toml_peek(t, 0) == ',') {
			t->at++;
		} else if (toml_peek(t, 0) == '}') {
			t->at++;
			freeze(d);
			return d;
		} else {
			toml_fault(t, t->at, N_("an inline table is not closed"));
			return NULL;
		}
	}
}

struct doc *toml_value(struct toml *t, int depth)
{
	char c = toml_peek(t, 0);
	struct doc *d;
	bool ok;

	if (depth > DOC_DEPTH || t->what) {
		toml_fault(t, t->at, N_("nested too deep"));
		return NULL;
	}
	if (c == '[' )
		return array(t, depth);
	if (c == '{')
		return inline_table(t, depth);
	if (c != '"' && c != '\'')
		return word(t);
	d = toml_node(t, DOC_STRING, t->at);
	ok = quotes_here(t, c) >= 3 ? many_lines(t, c, &d->text) : one_line(t, c, &d->text);
	if (ok) {
		size_t column;

		toml_place(t, t->at - 1, &d->end_line, &column);
	}
	return ok ? d : NULL;
}

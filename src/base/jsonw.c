/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer. Escaping happens in put_string alone. */
#include "base/jsonw.h"

#include <assert.h>
#include <math.h>

#include "base/utf8.h"

void jsonw_init(struct jsonw *w, struct strbuf *out, bool pretty)
{
	*w = (struct jsonw){ .out = out, .pretty = pretty };
}

static void newline(struct jsonw *w)
{
	int i;

	if (!w->pretty)
		return;
	strbuf_addc(w->out, '\n');
	for (i = 0; i < w->depth; i++)
		strbuf_add(w->out, "  ");
}

/* Comma and line break before a member; nothing after a key. */
static void lead(struct jsonw *w)
{
	if (w->after_key) {
		w->after_key = false;
		return;
	}
	if (!w->depth)
		return;
	if (w->filled[w->depth - 1])
		strbuf_addc(w->out, ',');
	w->filled[w->depth - 1] = true;
	newline(w);
}

static void open_level(struct jsonw *w, char c)
{
	lead(w);
	strbuf_addc(w->out, c);
	assert(w->depth < JSONW_DEPTH);
	w->filled[w->depth++] = false;
}

static void close_level(struct jsonw *w, char c)
{
	bool filled;

	assert(w->depth > 0);
	filled = w->filled[--w->depth];
	if (filled)
		newline(w);
	strbuf_addc(w->out, c);
}

void jsonw_object(struct jsonw *w)
{
	open_level(w, '{');
}

void jsonw_array(struct jsonw *w)
{
	open_level(w, '[');
}

void jsonw_end_object(struct jsonw *w)
{
	close_level(w, '}');
}

void jsonw_end_array(struct jsonw *w)
{
	close_level(w, ']');
}

static void put_escape(struct strbuf *out, int32_t cp)
{
	if (cp > 0xFFFF) {
		cp -= 0x10000;
		strbuf_printf(out, "\\u%04x\\u%04x", 0xD800 + (unsigned)(cp >> 10),
			      0xDC00 + (unsigned)(cp & 0x3FF));
	} else {
		strbuf_printf(out, "\\u%04x", (unsigned)cp);
	}
}

static void put_string(struct strbuf *out, struct view v)
{
	size_t i = 0, at;
	int32_t cp;

	strbuf_addc(out, '"');
	while (i < v.n) {
		at = i;
		cp = utf8_next(v, &i);
		if (cp < 0)
			strbuf_add(out, "\xEF\xBF\xBD");
		else if (cp == '"' || cp == '\\')
			strbuf_printf(out, "\\%c", (char)cp);
		else if (cp == '\n')
			strbuf_add(out, "\\n");
		else if (cp == '\t')
			strbuf_add(out, "\\t");
		else if (utf8_is_control(cp) || utf8_is_format(cp))
			put_escape(out, cp);
		else
			strbuf_addn(out, v.p + at, i - at);
	}
	strbuf_addc(out, '"');
}

void jsonw_key(struct jsonw *w, const char *key)
{
	lead(w);
	put_string(w->out, view_of(key));
	strbuf_add(w->out, w->pretty ? ": " : ":");
	w->after_key = true;
}

void jsonw_view(struct jsonw *w, struct view v)
{
	lead(w);
	put_string(w->out, v);
}

void jsonw_str(struct jsonw *w, const char *s)
{
	if (s)
		jsonw_view(w, view_of(s));
	else
		jsonw_null(w);
}

void jsonw_int(struct jsonw *w, int64_t n)
{
	lead(w);
	strbuf_printf(w->out, "%lld", (long long)n);
}

void jsonw_num(struct jsonw *w, double n)
{
	lead(w);
	if (isfinite(n))
		strbuf_printf(w->out, "%.15g", n);
	else
		strbuf_add(w->out, "null");
}

void jsonw_bool(struct jsonw *w, bool b)
{
	lead(w);
	strbuf_add(w->out, b ? "true" : "false");
}

void jsonw_null(struct jsonw *w)
{
	lead(w);
	strbuf_add(w->out, "null");
}

void jsonw_kstr(struct jsonw *w, const char *key, const char *s)
{
	jsonw_key(w, key);
	jsonw_str(w, s);
}

void jsonw_kint(struct jsonw *w, const char *key, int64_t n)
{
	jsonw_key(w, key);
	jsonw_int(w, n);
}

void jsonw_kbool(struct jsonw *w, const char *key, bool b)
{
	jsonw_key(w, key);
	jsonw_bool(w, b);
}

void jsonw_kstrs(struct jsonw *w, const char *key, const char *const *list, size_t n)
{
	size_t i;

	jsonw_key(w, key);
	jsonw_array(w);
	for (i = 0; i < n; i++)
		jsonw_str(w, list[i]);
	jsonw_end_array(w);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The one way for foreign text into text and Markdown output. */
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "report/particle.h"
#include "report/report.h"

enum { CLEAN_MAX = 4096 };

static void put_code_point(struct strbuf *out, struct view v, size_t at, size_t end, int32_t cp)
{
	if (cp == '\n' || cp == '\t')
		strbuf_addc(out, ' ');
	else if (cp < 0)
		strbuf_printf(out, "\\x%02x", (unsigned char)v.p[at]);
	else if (utf8_is_control(cp) && cp < 0x100)
		strbuf_printf(out, "\\x%02x", (unsigned)cp);
	else if (utf8_is_format(cp))
		strbuf_printf(out, "\\u{%04x}", (unsigned)cp);
	else
		strbuf_addn(out, v.p + at, end - at);
}

static void put(struct strbuf *out, const char *s, const char *escape)
{
	struct view v = view_of(s);
	size_t i = 0, at, particle;
	int32_t cp;

	while (i < v.n) {
		if (i >= CLEAN_MAX) {
			strbuf_add(out, "...");
			return;
		}
		particle = v.p[i] & 0x80 || v.p[i] == '(' ? particle_put(out, v.p + i) : 0;
		if (particle) {
			i += particle;
			continue;
		}
		at = i;
		cp = utf8_next(v, &i);
		if (cp > 0 && cp < 0x80 && escape && strchr(escape, cp))
			strbuf_addc(out, '\\');
		put_code_point(out, v, at, i, cp);
	}
}

void put_clean(struct strbuf *out, const char *s)
{
	put(out, s, NULL);
}

void put_clean_markdown(struct strbuf *out, const char *s)
{
	put(out, s, "\\`*_{}[]<>|#!~&");
}

/* Inside a code span nothing is markup, so that what stands there needs no escape: not even when it
 * came from outside, for the span ends at the next back-quote. */
void put_prose_markdown(struct strbuf *out, const char *s)
{
	const char *open, *end;
	struct arena *a = out->a;

	for (; (open = strchr(s, '`')) != NULL; s = end + 1) {
		end = strchr(open + 1, '`');
		if (!end || end == open + 1 || open[1] == ' ')
			break;
		put_clean_markdown(out, arena_strndup(a, s, (size_t)(open - s)));
		strbuf_addc(out, '`');
		put_clean(out, arena_strndup(a, open + 1, (size_t)(end - open - 1)));
		strbuf_addc(out, '`');
	}
	put_clean_markdown(out, s);
}

const char *clean(struct arena *a, const char *s)
{
	struct strbuf b;

	strbuf_init(&b, a);
	put_clean(&b, s);
	return b.s;
}

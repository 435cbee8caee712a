/* SPDX-License-Identifier: Apache-2.0 */
/* String building on an arena; cannot fail (the arena ends the run when memory does). */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"

static void reserve(struct strbuf *b, size_t more)
{
	size_t want = b->n + more + 1, cap = b->cap;

	if (want <= cap)
		return;
	while (cap < want)
		cap *= 2;
	b->s = arena_grow(b->a, b->s, b->cap, cap);
	b->cap = cap;
}

void strbuf_init(struct strbuf *b, struct arena *a)
{
	*b = (struct strbuf){ .a = a, .cap = 64 };
	b->s = arena_alloc(a, b->cap);
}

void strbuf_addn(struct strbuf *b, const char *s, size_t n)
{
	if (!n)
		return;
	reserve(b, n);
	memcpy(b->s + b->n, s, n);
	b->n += n;
	b->s[b->n] = '\0';
}

void strbuf_add(struct strbuf *b, const char *s)
{
	strbuf_addn(b, s, strlen(s));
}

void strbuf_addc(struct strbuf *b, char c)
{
	strbuf_addn(b, &c, 1);
}

void strbuf_addv(struct strbuf *b, struct view v)
{
	strbuf_addn(b, v.p, v.n);
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n <= 0)
		return;
	reserve(b, (size_t)n);
	va_start(ap, fmt);
	vsnprintf(b->s + b->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->n += (size_t)n;
}

void strbuf_sep(struct strbuf *b, const char *sep)
{
	if (b->n)
		strbuf_add(b, sep);
}

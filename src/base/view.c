/* SPDX-License-Identifier: Apache-2.0 */
/* Views: splitting, trimming, strict numbers. Allocates only in view_dup. */
#include "base/view.h"

#include <string.h>
#include <strings.h>

#include "base/arena.h"

struct view view_of(const char *s)
{
	return (struct view){ .p = s ? s : "", .n = s ? strlen(s) : 0 };
}

bool view_is(struct view v, const char *s)
{
	size_t n = strlen(s);

	return v.n == n && (n == 0 || memcmp(v.p, s, n) == 0);
}

bool view_is_nocase(struct view v, const char *s)
{
	size_t n = strlen(s);

	return v.n == n && (n == 0 || strncasecmp(v.p, s, n) == 0);
}

bool view_starts(struct view v, const char *s)
{
	size_t n = strlen(s);

	return v.n >= n && (n == 0 || memcmp(v.p, s, n) == 0);
}

bool view_ends(struct view v, const char *s)
{
	size_t n = strlen(s);

	return v.n >= n && memcmp(v.p + v.n - n, s, n) == 0;
}

size_t view_comment(struct view v)
{
	size_t i;

	for (i = 0; i < v.n; i++)
		if (v.p[i] == '#' && (i == 0 || v.p[i - 1] == ' ' || v.p[i - 1] == '\t'))
			return i;
	return v.n;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0' || c == '\v' ||
	       c == '\f';
}

struct view view_trim(struct view v)
{
	while (v.n && is_blank(v.p[0])) {
		v.p++;
		v.n--;
	}
	while (v.n && is_blank(v.p[v.n - 1]))
		v.n--;
	return v;
}

struct view view_skip(struct view v, size_t n)
{
	if (n > v.n)
		n = v.n;
	return (struct view){ .p = v.p + n, .n = v.n - n };
}

struct view view_cut(struct view v, char sep, struct view *rest)
{
	const char *q = v.n ? memchr(v.p, sep, v.n) : NULL;
	struct view head = v;

	if (q) {
		head.n = (size_t)(q - v.p);
		*rest = (struct view){ .p = q + 1, .n = v.n - head.n - 1 };
	} else {
		*rest = (struct view){ .p = v.p + v.n, .n = 0 };
	}
	return head;
}

bool view_line(struct view *text, struct view *ret_line)
{
	struct view line;

	if (!text->n)
		return false;
	line = view_cut(*text, '\n', text);
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	*ret_line = line;
	return true;
}

bool view_word(struct view *text, struct view *ret_word)
{
	size_t i = 0, start;

	while (i < text->n && is_blank(text->p[i]))
		i++;
	start = i;
	while (i < text->n && !is_blank(text->p[i]))
		i++;
	if (i == start) {
		*text = view_skip(*text, text->n);
		return false;
	}
	*ret_word = (struct view){ .p = text->p + start, .n = i - start };
	*text = view_skip(*text, i);
	return true;
}

/* Where the byte of the needle stands that texts hold least of. */
static size_t rarest(const char *needle)
{
	static const char common[] = "_2y/gfb:1vh0=mp\n.-udlcsatnroie "; /* commonest last */
	size_t i, best = 0, rank = sizeof(common);

	for (i = 0; needle[i] && rank; i++) {
		const char *at = strchr(common, needle[i]);
		size_t r = at ? (size_t)(at - common) + 1 : 0;

		if (r < rank) {
			rank = r;
			best = i;
		}
	}
	return best;
}

ptrdiff_t view_find(struct view v, const char *needle)
{
	enum { LINE = 512, MISSES = 64 };
	size_t n = strlen(needle), at, misses = 0;
	const char *q, *last;

	if (!v.n || v.n < n)
		return -1;
	if (!n)
		return 0;
	/* To choose a byte costs more than it saves in a line. */
	at = v.n > LINE ? rarest(needle) : 0;
	for (q = v.p + at, last = v.p + v.n - n + at; q <= last; q++) {
		q = memchr(q, needle[at], (size_t)(last - q) + 1);
		if (!q)
			return -1;
		if (memcmp(q - at, needle, n) == 0)
			return q - at - v.p;
		/* Here it is common: memmem takes the same time for any text. */
		if (++misses == MISSES && v.n > LINE) {
			q = memmem(q + 1 - at, (size_t)(last - q) + n - 1, needle, n);
			return q ? q - v.p : -1;
		}
	}
	return -1;
}

ptrdiff_t view_chr(struct view v, char c)
{
	const char *q = v.n ? memchr(v.p, c, v.n) : NULL;

	return q ? q - v.p : -1;
}

char *view_dup(struct arena *a, struct view v)
{
	return arena_strndup(a, v.p, v.n ? strnlen(v.p, v.n) : 0);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

bool view_u64(struct view v, int base, uint64_t *ret)
{
	uint64_t x = 0;
	size_t i;

	if (base == 16 && (view_starts(v, "0x") || view_starts(v, "0X")))
		v = view_skip(v, 2);
	if (!v.n)
		return false;
	for (i = 0; i < v.n; i++) {
		int d = digit(v.p[i]);

		if (d >= base || __builtin_mul_overflow(x, (uint64_t)base, &x) ||
		    __builtin_add_overflow(x, (uint64_t)d, &x))
			return false;
	}
	*ret = x;
	return true;
}

bool view_i64(struct view v, int64_t *ret)
{
	bool neg = v.n && v.p[0] == '-';
	uint64_t u;

	if (!view_u64(neg ? view_skip(v, 1) : v, 10, &u) || u > INT64_MAX)
		return false;
	*ret = neg ? -(int64_t)u : (int64_t)u;
	return true;
}

bool view_mib(struct view v, uint64_t *ret)
{
	static const char *const units[] = { "", "g", "gb", "gib", "m", "mb", "mib" };
	enum { FIRST_OF_MIB = 4, MIB_MAX = 1 << 24 };
	struct view unit;
	size_t n = 0, i;
	uint64_t x;

	v = view_trim(v);
	while (n < v.n && v.p[n] >= '0' && v.p[n] <= '9')
		n++;
	unit = view_trim(view_skip(v, n));
	if (!view_u64((struct view){ .p = v.p, .n = n }, 10, &x) || x > MIB_MAX)
		return false;
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (!view_is_nocase(unit, units[i]))
			continue;
		*ret = i < FIRST_OF_MIB ? x * 1024 : x;
		return true;
	}
	return false;
}

bool view_has_line(struct view text, const char *begin)
{
	enum { LINES_MAX = 4000 };
	struct view line;
	size_t n = 0;

	while (n++ < LINES_MAX && view_line(&text, &line))
		if (view_starts(line, begin))
			return true;
	return false;
}

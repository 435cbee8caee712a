/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that came inside of another format's string: JSON of a log collector, a notebook or a
 * ticket, Python's repr, syslog's "#012", Markdown's backslashes. Gives it its line ends and marks
 * back; what is no such string stays as it is, paths of Windows above all.
 */
#include <ctype.h>
#include <string.h>

#include "base/attr.h"
#include "triage/text.h"

/* Stands for a line's end that is none of the paste; text_clean knows it. */
enum { SOFT_END = '\r', NESTED_MAX = 3, STRING_MAX = 1 << 20 };

struct quoted {
	size_t n;    /* with both quotes */
	size_t ends; /* line ends in it */
};

static bool is_escape(const char *p, size_t n, bool json)
{
	size_t i;

	if (n < 2)
		return false;
	if (p[1] == 'u' || (!json && p[1] == 'x')) {
		for (i = 2; i < (p[1] == 'u' ? 6U : 4U); i++)
			if (i >= n || !isxdigit((unsigned char)p[i]))
				return false;
		return true;
	}
	return p[1] && strchr(json ? "nrtbf\"\\/" : "nrt\"'\\", p[1]);
}

/* A string at p[0], which is its quote; false for one that no writer of such strings makes. */
static bool string_at(const char *p, size_t n, struct quoted *ret)
{
	size_t i = 1;

	*ret = (struct quoted){ 0 };
	if (n > STRING_MAX)
		n = STRING_MAX;
	while (i < n && p[i] != p[0]) {
		if (p[i] == '\n' || p[i] == SOFT_END)
			return false;
		if (p[i] != '\\') {
			i++;
			continue;
		}
		/* "C:\new" is a path. */
		if (!is_escape(p + i, n - i, p[0] == '"') ||
		    (p[i - 1] == ':' && p[i + 1] != '\\' && i > 1 &&
		     isupper((unsigned char)p[i - 2]) &&
		     (i == 2 || !isalnum((unsigned char)p[i - 3]))))
			return false;
		ret->ends += p[i + 1] == 'n' || (p[i + 1] == '\\' && i + 2 < n && p[i + 2] == 'n');
		i += 2;
	}
	ret->n = i + 1;
	return i < n;
}

static int hex_value(const char *p, size_t digits)
{
	int v = 0;

	for (; digits; digits--, p++)
		v = v * 16 + (isdigit((unsigned char)*p) ? *p - '0' : (*p | 0x20) - 'a' + 10);
	return v;
}

/* UTF-8 of one "\uXXXX" or "\xXX"; halves of pairs become '?'.  Never longer than it was. */
static size_t put_code(char *out, int cp)
{
	if (cp == 0x1b || (cp >= 0x20 && cp < 0x7f)) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x80 || (cp >= 0xd800 && cp < 0xe000)) {
		out[0] = cp < 0x80 ? ' ' : '?';
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xc0 | (cp >> 6));
		out[1] = (char)(0x80 | (cp & 0x3f));
		return 2;
	}
	out[0] = (char)(0xe0 | (cp >> 12));
	out[1] = (char)(0x80 | ((cp >> 6) & 0x3f));
	out[2] = (char)(0x80 | (cp & 0x3f));
	return 3;
}

/* Writes what the n bytes inside of the quotes stand for. */
static size_t unescape(char *out, const char *p, size_t n)
{
	size_t i = 0, w = 0;

	while (i < n) {
		if (p[i] != '\\' || i + 1 >= n) {
			out[w++] = p[i++];
			continue;
		}
		switch (p[i + 1]) {
		case 'n':
			out[w++] = SOFT_END;
			break;
		case 'r':
		case 'b':
		case 'f':
			break;
		case 't':
			out[w++] = '\t';
			break;
		case 'u':
		case 'x': {
			size_t digits = p[i + 1] == 'u' ? 4 : 2;

			if (i + 2 + digits <= n)
				w += put_code(out + w, hex_value(p + i + 2, digits));
			i += digits;
			break;
		}
		default:
			out[w++] = p[i + 1];
		}
		i += 2;
	}
	return w;
}

/* Does a string begin at s[i] as a value does, so that it is none of a sentence's quotes? */
static bool is_value(const char *s, size_t i)
{
	size_t k = i;

	while (k && (s[k - 1] == ' ' || s[k - 1] == '\t'))
		k--;
	if (!k || s[k - 1] == '\n' || s[k - 1] == SOFT_END)
		return true;
	if (s[i - 1] == 'b' && (i < 2 || !isalnum((unsigned char)s[i - 2])))
		return true;
	return strchr(":=[,({", s[k - 1]) != NULL;
}

/*
 * The message of one line of a log in JSON ({"log":"...\n","stream":...}): where its string begins,
 * or 0.
 */
static size_t message_of(struct view line)
{
	static const char *const keys[] = { "\"log\":",	   "\"MESSAGE\":",     "\"message\":",
					    "\"msg\":",	   "\"textPayload\":", "\"MESSAGE\" :",
					    "\"stderr\":", "\"stdout\":" };
	struct quoted q;
	ptrdiff_t at;
	size_t i, k;

	if (line.n < 8 || line.p[0] != '{' || line.p[line.n - 1] != '}')
		return 0;
	for (k = 0; k < ARRAY_LEN(keys); k++) {
		at = view_find(line, keys[k]);
		if (at < 0)
			continue;
		for (i = (size_t)at + strlen(keys[k]); i < line.n && line.p[i] == ' '; i++)
			;
		if (i < line.n && line.p[i] == '"' && string_at(line.p + i, line.n - i, &q))
			return i;
	}
	return 0;
}

/* "text": [ of a notebook, "lines": [: the list's strings are lines of a text. */
static bool opens_lines(struct view line)
{
	static const char *const keys[] = { "\"text\"",	     "\"text/plain\"", "\"lines\"",
					    "\"stdout\"",    "\"stderr\"",     "\"output\"",
					    "\"traceback\"", "\"logs\"",       "\"log\"",
					    "\"message\"" };
	size_t k;

	if (!line.n || line.p[line.n - 1] != '[')
		return false;
	for (k = 0; k < ARRAY_LEN(keys); k++)
		if (view_starts(line, keys[k]))
			return true;
	return false;
}

/* A whole line that is one string of such a list: its inside, unescaped; 0 when it is none. */
static size_t list_line(struct view line, char *out)
{
	struct quoted q;
	size_t w;

	if (line.n && line.p[line.n - 1] == ',')
		line.n--;
	if (line.n < 2 || line.p[0] != '"' || !string_at(line.p, line.n, &q) || q.n != line.n)
		return 0;
	if (line.n == 2) {
		out[0] = ' ';
		return 1;
	}
	w = unescape(out, line.p + 1, line.n - 2);
	return w > 1 && out[w - 1] == SOFT_END ? w - 1 : w;
}

/* One line of s, of n bytes, to out; in place, never longer. */
static size_t one_line(const char *s, size_t from, size_t n, char *out, bool *changed)
{
	const char *p = s + from;
	struct view line = view_trim((struct view){ p, n });
	size_t i = 0, w = 0, start = message_of(line);
	struct quoted q;

	if (start && string_at(line.p + start, line.n - start, &q)) {
		*changed = true;
		w = unescape(out, line.p + start + 1, q.n - 2);
		return w && out[w - 1] == SOFT_END ? w - 1 : w;
	}
	while (i < n) {
		if ((p[i] != '"' && p[i] != '\'') || !is_value(s, from + i) ||
		    !string_at(p + i, n - i, &q) || q.ends < (p[i] == '"' ? 1 : 2)) {
			out[w++] = p[i++];
			continue;
		}
		*changed = true;
		out[w++] = SOFT_END;
		w += unescape(out + w, p + i + 1, q.n - 2);
		out[w++] = SOFT_END;
		i += q.n;
	}
	return w;
}

static struct view unquote_strings(struct view v)
{
	char *out = (char *)(uintptr_t)v.p;
	size_t i, k, start = 0, w = 0, pass, n = v.n;
	bool changed = true, list = false;

	for (pass = 0; pass < NESTED_MAX && changed; pass++) {
		changed = false;
		for (i = start = w = 0; i <= n; i++) {
			char end = i < n ? out[i] : '\n';
			struct view line;

			if (end != '\n' && end != SOFT_END)
				continue;
			line = view_trim((struct view){ out + start, i - start });
			k = 0;
			if (list)
				k = list_line(line, out + w);
			if (!k)
				list = opens_lines(line);
			w += k ? k : one_line(out, start, i - start, out + w, &changed);
			if (i < n)
				out[w++] = end;
			start = i + 1;
		}
		n = w;
	}
	return (struct view){ .p = out, .n = n };
}

/* -------- escapes that no quotes surround */

/* "...last):\n  File": a line's end before what begins one, in a line with several of them. */
static bool is_bare_end(struct view v, size_t i)
{
	return i + 2 < v.n && v.p[i] == '\\' && v.p[i + 1] == 'n' &&
	       (isupper((unsigned char)v.p[i + 2]) || strchr(" $#>|+[\\", v.p[i + 2])) &&
	       (!i || (v.p[i - 1] != ':' && v.p[i - 1] != '\\') || v.p[i + 2] == ' ');
}

static bool is_octal(struct view v, size_t i)
{
	return i + 3 < v.n && v.p[i] == '#' && v.p[i + 1] == '0' &&
	       ((v.p[i + 2] == '1' && (v.p[i + 3] == '2' || v.p[i + 3] == '1')) ||
		(v.p[i + 2] == '3' && v.p[i + 3] == '3'));
}

static struct view unescape_bare(struct view v)
{
	char *out = (char *)(uintptr_t)v.p;
	size_t i, w = 0, bare = 0, octal = 0;

	for (i = 0; i < v.n; i++) {
		bare += v.p[i] == '\\' && is_bare_end(v, i);
		octal += v.p[i] == '#' && is_octal(v, i);
	}
	if (bare < 2 && octal < 2)
		return v;
	for (i = 0; i < v.n;) {
		if (octal >= 2 && is_octal(v, i)) {
			out[w++] = v.p[i + 2] == '3' ? 0x1b : v.p[i + 3] == '2' ? SOFT_END : '\t';
			i += 4;
		} else if (bare >= 2 && is_bare_end(v, i)) {
			out[w++] = SOFT_END;
			i += 2;
		} else {
			out[w++] = v.p[i++];
		}
	}
	return (struct view){ .p = out, .n = w };
}

/* "sm\_120", "julia\> x": an editor of Markdown wrote the text, not the program. */
static bool is_markdown(struct view v)
{
	size_t i;

	for (i = 1; i + 2 < v.n && i < 65536; i++)
		if (v.p[i] == '\\' && isalnum((unsigned char)v.p[i - 1]) &&
		    ((v.p[i + 1] == '_' && isalnum((unsigned char)v.p[i + 2])) ||
		     (v.p[i + 1] == '>' && v.p[i + 2] == ' ')))
			return true;
	return false;
}

static struct view unescape_markdown(struct view v)
{
	char *out = (char *)(uintptr_t)v.p;
	size_t i, w = 0;
	bool path = false; /* the line has one of Windows */

	if (!is_markdown(v))
		return v;
	for (i = 0; i < v.n; i++) {
		if (v.p[i] == '\n')
			path = false;
		path |= v.p[i] == '\\' && i && v.p[i - 1] == ':';
		if (v.p[i] != '\\' || path || i + 1 >= v.n || !v.p[i + 1] ||
		    !strchr("_*[]()#<>|~`\"'$+-.!", v.p[i + 1]))
			out[w++] = v.p[i];
	}
	return (struct view){ .p = out, .n = w };
}

struct view text_unescape(struct view utf8)
{
	if (view_chr(utf8, '\\') < 0 && view_find(utf8, "#012") < 0 &&
	    view_find(utf8, "\"MESSAGE\"") < 0 && view_find(utf8, ": [\n") < 0)
		return utf8;
	return unescape_markdown(unescape_bare(unquote_strings(utf8)));
}

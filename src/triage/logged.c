/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What logs write in front of a line: times, levels, services, pods, the host's name. Patterns that
 * hold at the start of a line then hold in a log too. Takes nothing else off.
 */
#include <ctype.h>
#include <string.h>

#include "base/attr.h"
#include "triage/text.h"

static size_t digits(struct view v, size_t at)
{
	size_t n = 0;

	while (at + n < v.n && isdigit((unsigned char)v.p[at + n]))
		n++;
	return n;
}

/* "12:34:56" with fractions ("12:34:56.789", "12:34:56,789"): its length, 0 when it is none. */
static size_t clock_at(struct view v, size_t at)
{
	size_t i = at, part, n;

	for (part = 0; part < 3; part++) {
		n = digits(v, i);
		if (n < 1 || n > 2)
			return 0;
		i += n;
		if (part < 2 && (i >= v.n || v.p[i++] != ':'))
			return 0;
	}
	if (i + 1 < v.n && (v.p[i] == '.' || v.p[i] == ',') && digits(v, i + 1))
		i += 1 + digits(v, i + 1);
	if (i < v.n && v.p[i] == 'Z')
		return i + 1 - at;
	if (i + 3 < v.n && (v.p[i] == '+' || v.p[i] == '-') && digits(v, i + 1) >= 2) {
		i += 1 + digits(v, i + 1);
		if (i + 2 < v.n && v.p[i] == ':' && digits(v, i + 1) == 2)
			i += 3;
	}
	return i - at;
}

/* "2024-05-01T12:00:00Z", "2024/05/01 12:00:00,427": its length. */
static size_t stamp_at(struct view v, size_t at)
{
	size_t i = at, n;

	if (digits(v, i) != 4 || i + 10 > v.n || (v.p[i + 4] != '-' && v.p[i + 4] != '/') ||
	    digits(v, i + 5) != 2 || v.p[i + 7] != v.p[i + 4] || digits(v, i + 8) != 2)
		return 0;
	i += 10;
	if (i >= v.n || (v.p[i] != 'T' && v.p[i] != ' ' && v.p[i] != '_'))
		return 0;
	n = clock_at(v, i + 1);
	return n ? i + 1 + n - at : 0;
}

/* "06-01 12:00:00 " of loggers that leave the year out. */
static size_t short_stamp(struct view v)
{
	size_t n;

	if (digits(v, 0) != 2 || v.n < 14 || v.p[2] != '-' || digits(v, 3) != 2 || v.p[5] != ' ')
		return 0;
	n = clock_at(v, 6);
	return n && 6 + n < v.n && v.p[6 + n] == ' ' ? 6 + n : 0;
}

/* "May 31 09:35:42 host kernel: ", "May 31 09:35:42 host prog[12]: ". */
static size_t syslog_at(struct view v)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	size_t i, n;
	ptrdiff_t colon;

	if (v.n < 20 || v.p[3] != ' ' || !isupper((unsigned char)v.p[0]))
		return 0;
	for (i = 0; i < 12; i++)
		if (memcmp(v.p, months + 3 * i, 3) == 0)
			break;
	if (i == 12)
		return 0;
	for (i = 4; i < v.n && v.p[i] == ' '; i++)
		;
	n = digits(v, i);
	if (n < 1 || n > 2 || i + n >= v.n || v.p[i + n] != ' ')
		return 0;
	i += n + 1;
	n = clock_at(v, i);
	if (!n || i + n >= v.n || v.p[i + n] != ' ')
		return 0;
	i += n + 1;
	/* Host and program; a date alone ("Thu Jun 14") is no log line. */
	colon = view_find(view_skip(v, i), ": ");
	return colon > 0 && colon < 100 ? i + (size_t)colon + 2 : 0;
}

/* "[INFO]", "[real_accelerator.py:203:get_accelerator]", "[rank0]:", "(EngineCore pid=12)". */
static size_t bracket_at(struct view v)
{
	static const char *const inside[] = { "INFO", "WARN", "ERROR", "DEBUG", "CRITICAL", ".py:",
					      "pid=", "rank", "job",   "pod/",	"TRACE" };
	size_t i, k, n = 0;
	char close;

	if (!v.n || (v.p[0] != '[' && v.p[0] != '('))
		return 0;
	close = v.p[0] == '[' ? ']' : ')';
	while (n < v.n && n < 100 && v.p[n] != close)
		n++;
	if (n >= v.n || v.p[n] != close || n + 1 >= v.n)
		return 0;
	for (i = 0; i < ARRAY_LEN(inside); i++)
		for (k = 1; k + strlen(inside[i]) <= n; k++)
			if (strncmp(v.p + k, inside[i], strlen(inside[i])) == 0)
				return v.p[n + 1] == ':' ? n + 2 : n + 1;
	return 0;
}

/* "web_1  | text", "trainer-0 | text" of compose. */
static size_t service_at(struct view v)
{
	size_t i = 0, name;

	while (i < v.n && i < 60 && (isalnum((unsigned char)v.p[i]) || strchr("._-", v.p[i])))
		i++;
	name = i;
	if (name < 3 || !isdigit((unsigned char)v.p[name - 1]) ||
	    !memchr(v.p, v.p[name - 2] == '_' ? '_' : '-', name))
		return 0;
	if (v.p[name - 2] != '-' && v.p[name - 2] != '_')
		return 0;
	while (i < v.n && v.p[i] == ' ')
		i++;
	return i > name && i + 1 < v.n && v.p[i] == '|' && v.p[i + 1] == ' ' ? i + 2 : 0;
}

static size_t level_at(struct view v)
{
	static const char *const words[] = { "INFO ",	  "WARNING ",  "WARN ", "ERROR ", "DEBUG ",
					     "stdout F ", "stderr F ", "INFO:", "DEBUG:" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (v.n && v.p[0] == words[i][0] && view_starts(v, words[i]))
			return strlen(words[i]);
	return 0;
}

static size_t one_prefix(struct view v, bool behind_stamp)
{
	size_t n = syslog_at(v);

	if (!n && v.n > 20 && v.p[0] == '[') {
		n = stamp_at(v, 1);
		n = n && n + 1 < v.n && v.p[n + 1] == ']' ? n + 2 : 0;
	}
	if (!n)
		n = stamp_at(v, 0);
	if (!n)
		n = short_stamp(v);
	if (!n)
		n = service_at(v);
	if (!n && behind_stamp)
		n = level_at(v);
	if (!n)
		n = bracket_at(v);
	return n;
}

struct view text_unlogged(struct view v)
{
	struct view rest = v, next;
	bool behind = false;
	size_t n, steps;

	for (steps = 0; steps < 5; steps++) {
		n = one_prefix(rest, behind);
		if (!n)
			break;
		next = view_trim(view_skip(rest, n));
		if (!next.n)
			break;
		/* "2024-05-01 12:00:00: text", "12:00:00 - text" */
		while (next.n > 1 && strchr(":-|", next.p[0]) && next.p[1] == ' ')
			next = view_trim(view_skip(next, 1));
		rest = next;
		behind = true;
	}
	return rest;
}

void text_blank_log(char *s, const char *end)
{
	size_t i, n;

	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	n = (size_t)(end - s);
	if (!n || (!isdigit((unsigned char)*s) && *s != '[' && !memchr(s, '|', n)) ||
	    (*s == '[' && (n < 6 || memcmp(s, "[rank", 5) != 0)))
		return;
	for (i = 0; i < n && (!i || (s[i] != '[' && s[i] != '(')); i++)
		s[i] = ' ';
}

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

/*
 * Of "host nvidia-gridd[12]" where NVIDIA's daemon begins, whose messages say nothing of the GPU
 * without its name; 0 for other programs.
 */
static size_t daemon_at(struct view v)
{
	ptrdiff_t host = view_find(v, " ");
	struct view program = view_skip(v, host < 0 ? v.n : (size_t)host + 1);

	return view_starts(program, "nvidia-") || view_starts(program, "nv-") ? v.n - program.n : 0;
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
	if (colon <= 0 || colon >= 100)
		return 0;
	n = daemon_at((struct view){ v.p + i, (size_t)colon });
	return n ? i + n : i + (size_t)colon + 2;
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
	if (view_starts(v, "[stderr] ") || view_starts(v, "[stdout] "))
		return 9;
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

/* "<14>1 2024-... host app 42 - - text" of RFC 5424, "<6>" of the kernel: what is not the text. */
static size_t priority_at(struct view v)
{
	size_t n = digits(v, 1), i, words;

	if (!v.n || v.p[0] != '<' || !n || n > 3 || n + 2 >= v.n || v.p[n + 1] != '>')
		return 0;
	i = n + 2;
	if (digits(v, i) != 1 || i + 2 >= v.n || v.p[i + 1] != ' ' || !stamp_at(v, i + 2))
		return i;
	for (words = 0; words < 7; words++) { /* version, time, host, program, process, id, data */
		while (i < v.n && v.p[i] != ' ')
			i++;
		while (i < v.n && v.p[i] == ' ')
			i++;
	}
	return i < v.n ? i : 0;
}

/* "#12 4.031 " of BuildKit, "[1,0]<stderr>:" of mpirun. */
static size_t step_at(struct view v)
{
	size_t n;

	if (v.n > 8 && v.p[0] == '#' && (n = digits(v, 1)) != 0 && v.p[1 + n] == ' ') {
		size_t i = n + 2, k = digits(v, i);

		if (k && i + k + 1 < v.n && v.p[i + k] == '.' && digits(v, i + k + 1)) {
			i += k + 1 + digits(v, i + k + 1);
			return i < v.n && v.p[i] == ' ' ? i + 1 : 0;
		}
		return 0;
	}
	if (v.n > 12 && v.p[0] == '[' && (n = digits(v, 1)) != 0 && v.p[1 + n] == ',') {
		struct view rest = view_skip(v, n + 2 + digits(v, n + 2));

		if (view_starts(rest, "]<stderr>:") || view_starts(rest, "]<stdout>:"))
			return v.n - rest.n + 10;
	}
	return 0;
}

/* "<kira> ", "<@kira> ", "Kim: " of somebody who writes. */
static size_t nick_at(struct view v)
{
	size_t i = 1;

	if (v.n < 4 || v.p[0] != '<')
		return 0;
	while (i < v.n && i < 32 && (isalnum((unsigned char)v.p[i]) || strchr("_-@+~|`.", v.p[i])))
		i++;
	return i > 1 && i + 1 < v.n && v.p[i] == '>' && v.p[i + 1] == ' ' ? i + 2 : 0;
}

/*
 * "[14:02:11] <kira> ", "14:02 <@kira> ", "[14.02.24, 10:42:05] Kim: " of chats: the time and who
 * wrote it.
 */
static size_t chat_at(struct view v)
{
	size_t i = 0, n, name;
	bool bracket = v.n && v.p[0] == '[', dated;

	if (v.n < 8)
		return 0;
	if (bracket && (unsigned char)v.p[1] >= 0x80) { /* "[Kim] [... 10:42] " of KakaoTalk */
		ptrdiff_t who = view_find(v, "] ["), end = view_find(view_skip(v, 2), ":");

		if (who < 2 || who > 40 || end < who)
			return 0;
		i = (size_t)end + 3;
		n = digits(v, i);
		return n == 2 && i + 3 < v.n && v.p[i + 2] == ']' && v.p[i + 3] == ' ' ? i + 4 : 0;
	}
	i = bracket;
	for (n = i; n < v.n && n < 14 && strchr("0123456789./-", v.p[n]); n++)
		;
	dated = n > i + 5 && n + 2 < v.n && v.p[n] == ',' && v.p[n + 1] == ' ';
	if (dated)
		i = n + 2;
	n = digits(v, i);
	if (n < 1 || n > 2 || i + n + 3 >= v.n || v.p[i + n] != ':' || digits(v, i + n + 1) != 2)
		return 0;
	i += n + 3;
	if (v.p[i] == ':' && digits(v, i + 1) == 2)
		i += 3;
	if (bracket && (i >= v.n || v.p[i++] != ']'))
		return 0;
	if (i + 3 >= v.n || v.p[i++] != ' ')
		return 0;
	name = nick_at(view_skip(v, i));
	if (name)
		return i + name;
	if (!dated)
		return 0;
	for (n = i; n < v.n && n < i + 32 && v.p[n] != ':' && v.p[n] != '"' && v.p[n] != '/'; n++)
		;
	return n > i && n + 1 < v.n && v.p[n] == ':' && v.p[n + 1] == ' ' ? n + 2 : 0;
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

bool text_of_service(struct view line)
{
	return service_at(line) > 0;
}

/* "00O ", "01E+" of GitLab, behind its time: which stream. */
static size_t stream_at(struct view v)
{
	return v.n > 4 && digits(v, 0) == 2 && (v.p[2] == 'O' || v.p[2] == 'E') &&
			       (v.p[3] == ' ' || v.p[3] == '+')
		       ? 4
		       : 0;
}

static size_t level_at(struct view v);

/* "stdout - ", "app.main:run:42 - ", beside a level: who logged. */
static size_t logger_at(struct view v, bool behind_level)
{
	size_t i = 0;

	while (i < v.n && i < 60 && (isalnum((unsigned char)v.p[i]) || strchr("._:<>", v.p[i])))
		i++;
	if (!i || i + 3 >= v.n || memcmp(v.p + i, " - ", 3) != 0)
		return 0;
	return behind_level || level_at(view_skip(v, i + 3)) ? i + 3 : 0;
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

/* What stood before. */
enum behind { NOTHING, PREFIX, LEVEL };

static size_t one_prefix(struct view v, enum behind *behind)
{
	size_t n = syslog_at(v);
	enum behind was = *behind;

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
	if (!n)
		n = priority_at(v);
	if (!n)
		n = step_at(v);
	if (!n)
		n = chat_at(v);
	if (!n && *behind == PREFIX)
		n = stream_at(v);
	if (!n && *behind)
		n = logger_at(v, *behind == LEVEL);
	*behind = PREFIX;
	if (!n && was) {
		n = level_at(v);
		*behind = LEVEL;
	}
	if (!n)
		n = bracket_at(v);
	return n;
}

struct view text_unlogged(struct view v)
{
	struct view rest = v, next;
	enum behind behind = NOTHING;
	size_t n, steps;

	for (steps = 0; steps < 5; steps++) {
		n = one_prefix(rest, &behind);
		if (!n)
			break;
		next = view_trim(view_skip(rest, n));
		if (!next.n)
			break;
		/* "2024-05-01 12:00:00: text", "12:00:00 - text" */
		while (next.n > 1 && strchr(":-|", next.p[0]) && next.p[1] == ' ')
			next = view_trim(view_skip(next, 1));
		rest = next;
	}
	return rest;
}

void text_blank_log(char *s, const char *end)
{
	size_t i, n;

	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	n = (size_t)(end - s);
	if (n > 3 && (*s == '<' || *s == '#' ||
		      (*s == '[' && (isdigit((unsigned char)s[1]) || (unsigned char)s[1] >= 0x80 ||
				     (n > 5 && memcmp(s, "[pod/", 5) == 0))))) {
		memset(s, ' ', n);
		return;
	}
	if (!n || (!isdigit((unsigned char)*s) && *s != '[' && !memchr(s, '|', n)) ||
	    (*s == '[' && (n < 6 || memcmp(s, "[rank", 5) != 0)))
		return;
	for (i = 0; i < n && (!i || (s[i] != '[' && s[i] != '(')); i++)
		s[i] = ' ';
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in a text and is no evidence: the examples of a form that nobody filled in, and what
 * a chatbot supposed, which names causes and quotes messages that nobody saw. Becomes blanks.
 */
#include <ctype.h>
#include <string.h>

#include "base/attr.h"
#include "triage/text.h"

enum { COMMENT_MOST = 2000, PREFERRED_MOST = 60, LIST_MOST = 240 };

/* "<!-- Please paste the output here. For example: ... -->": a form speaks, and nobody else. */
static bool is_form_comment(struct view v)
{
	static const char *const words[] = { "lease ",	 "escribe",  "xample",	"e.g.",
					     "aste the", "rovide ",  "ill in",	"pplicable",
					     "emove th", "elete th", "nclude ", "Before " };
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (view_find(v, words[i]) >= 0)
			return true;
	return false;
}

static void blank_form_comment(char *s, size_t n)
{
	struct view v = { s, n < COMMENT_MOST ? n : COMMENT_MOST };
	ptrdiff_t end = view_find(v, "-->"), i;

	if (end < 0 || !is_form_comment((struct view){ s, (size_t)end }))
		return;
	for (i = 0; i < end + 3; i++)
		if (s[i] != '\n')
			s[i] = ' ';
}

/* "Forward Compatibility is preferred ... but was unavailable: [[... cuInit()=804]]": what the
 * start script of an image tried first; what it does instead works. */
static void blank_preferred(char *s, size_t at, size_t n)
{
	static const char said[] = "was unavailable:";
	size_t from = at > PREFERRED_MOST ? at - PREFERRED_MOST : 0;
	ptrdiff_t end;

	if (view_find((struct view){ s + from, at - from }, said) < 0)
		return;
	n = n - at < LIST_MOST ? n - at : LIST_MOST;
	end = view_find((struct view){ s + at, n }, "]]");
	if (end > 0)
		memset(s + at, ' ', (size_t)end);
}

void text_blank_examples(char *s, size_t n)
{
	size_t i, k;

	for (i = 0; i + 5 < n; i++) {
		if (s[i] == '<' && memcmp(s + i, "<!--", 4) == 0)
			blank_form_comment(s + i, n - i);
		if (s[i] == '[' && s[i + 1] == '[')
			blank_preferred(s, i, n);
		if (s[i] != '[' ||
		    (memcmp(s + i + 1, "e.g", 3) != 0 && memcmp(s + i + 1, "E.g", 3) != 0))
			continue;
		for (k = i; k < n && k < i + 200 && s[k] != ']' && s[k] != '\n'; k++)
			;
		if (k < n && s[k] == ']')
			memset(s + i, ' ', k - i + 1);
	}
}

/* -------- advice of a chatbot */

enum { ADVICE_MOST = 2000, ADVISED_MAX = 1 << 20 };

static size_t any_of(struct view v, const char *const *list, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		k = strlen(list[i]);
		if (v.n >= k && strncasecmp(v.p, list[i], k) == 0)
			return k;
	}
	return 0;
}

/* "ChatGPT", "GPT-4o": the length of its name. */
static size_t bot_at(struct view v)
{
	static const char *const bots[] = { "chatgpt",	  "chat gpt",	 "gpt",	     "claude",
					    "copilot",	  "gemini",	 "deepseek", "grok",
					    "perplexity", "bing chat",	 "the bot",  "an ai",
					    "the ai",	  "the chatbot", "a chatbot" };
	size_t n = any_of(v, bots, ARRAY_LEN(bots));

	while (n && n < v.n && n < 24 && (isalnum((unsigned char)v.p[n]) || strchr("-.", v.p[n])))
		n++;
	return n;
}

/*
 * What follows the name: " says", " told me that", ":"; its length, 0 when it does not speak.
 * *ret_line: what it says goes to the line's end.
 */
static size_t speaks(struct view v, bool starts, bool *ret_line)
{
	static const char *const verbs[] = { "says",	"said",	    "suggests",	  "suggested",
					     "thinks",	"claims",   "claimed",	  "told",
					     "tells",	"answers",  "answered",	  "replied",
					     "advised", "advises",  "insists",	  "believes",
					     "guesses", "guessed",  "recommends", "recommended",
					     "blames",	"supposes", "thought" };
	size_t n = 0, verb;

	*ret_line = false;
	while (n < v.n && v.p[n] == ' ')
		n++;
	verb = any_of(view_skip(v, n), verbs, ARRAY_LEN(verbs));
	n += verb;
	if (verb && n < v.n && isalnum((unsigned char)v.p[n]))
		return 0;
	if (n < v.n && v.p[n] == ':' && (starts || verb)) {
		*ret_line = true;
		return n + 1;
	}
	return verb ? n : 0;
}

/* Where what is said from v on ends. */
static size_t said(struct view v, bool line)
{
	size_t i = 0;

	while (i < v.n && v.p[i] == ' ')
		i++;
	if (i < v.n && v.p[i] == '"') {
		for (i++; i < v.n && i < ADVICE_MOST && v.p[i] != '"'; i++)
			;
		if (i < v.n && v.p[i] == '"')
			return i;
		i = 0;
	}
	for (; i < v.n && v.p[i] != '\n' && v.p[i] != '\v'; i++) {
		struct view rest = view_skip(v, i);

		if (!line && (view_starts(rest, ". ") || view_starts(rest, "; ") ||
			      view_starts(rest, ", but") || view_starts(rest, " but ")))
			break;
	}
	return i;
}

void text_blank_advice(char *s, size_t n)
{
	size_t i, k, name, word, end;
	bool line, starts;

	if (n > ADVISED_MAX) /* a log */
		return;
	for (i = 0; i < n; i++) {
		if (!strchr("cCgGdDpPbBtTaA", s[i]) || !s[i] ||
		    (i && (isalnum((unsigned char)s[i - 1]) || strchr("-_/.", s[i - 1]))))
			continue;
		name = bot_at((struct view){ s + i, n - i });
		if (!name)
			continue;
		for (k = i; k && (s[k - 1] == ' ' || s[k - 1] == '*'); k--)
			;
		starts = !k || s[k - 1] == '\n' || s[k - 1] == '\v';
		word = speaks((struct view){ s + i + name, n - i - name }, starts, &line);
		if (!word)
			continue;
		k = i + name + word;
		end = k + said((struct view){ s + k, n - k }, line);
		for (; k < end; k++)
			if (s[k] != '\n' && s[k] != '\v')
				s[k] = ' ';
		i = end;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that was read off a picture: letters taken for figures and the other way round in words that
 * messages have, and in numbers. Knows a word or leaves it alone.
 */
#include <ctype.h>
#include <string.h>

#include "base/attr.h"
#include "triage/text.h"

enum { WORD_MOST = 20, PICTURES_MAX = 1 << 20 }; /* nobody reads a log off pictures */

/* Words of messages, as they are folded: i, I, 1, | are l; O, 0 are o. */
static const char *const words[] = {
	"available",	"capabilities",	  "capability",
	"communicate",	"compatible",	  "compiled",
	"control",	"compute",	  "couldn't",
	"device",	"devices",	  "display",
	"distribution", "driver",	  "enabled",
	"error",	"execution",	  "failed",
	"fallen",	"image",	  "incompatible",
	"initialize",	"initialized",	  "initialization",
	"install",	"installation",	  "installed",
	"invalid",	"kernel",	  "libraries",
	"library",	"license",	  "loaded",
	"loading",	"memory",	  "minimal",
	"mismatch",	"module",	  "modules",
	"multiple",	"nouveau",	  "nvidia",
	"permission",	"persistence",	  "please",
	"python",	"runtime",	  "supported",
	"supports",	"symbol",	  "system",
	"unavailable",	"undefined",	  "unknown",
	"unsupported",	"version",	  "visible",
	"volatile",	"with",		  "illegal",
	"utilization",	"allocate",	  "tried",
	"total",	"file",		  "detected",
	"fatal",	"value",	  "architecture",
	"defined",	"option",	  "compiler",
	"initialise",	"daemon",	  "select",
	"compile",	"minimum",	  "maximum",
	"exclusive",	"implementation", "include",
	"signal",	"limit",	  "insufficient",
	"condition",	"unsatisfied",	  "container",
	"executable",	"evaluate",	  "directory",
	"possible",	"single",	  "multiprocessing",
	"unable",	"torch",	  "located",
	"application",	"link",		  "specified",
};

static char folded(char c)
{
	c = (char)tolower((unsigned char)c);
	return c == 'i' || c == '1' || c == '|' ? 'l' : c == '0' ? 'o' : c;
}

static bool is_same(const char *s, size_t n, const char *word)
{
	size_t i;

	for (i = 0; i < n && word[i]; i++)
		if (folded(s[i]) != folded(word[i]))
			return false;
	return i == n && !word[n];
}

/* "Fai1ed", "avaiIable": a figure, a bar or a capital I within a word of small letters. */
static void mend_word(char *s, size_t n)
{
	size_t i, k, odd = 0;

	for (i = 0; i < n; i++)
		odd += s[i] == '1' || s[i] == '0' || s[i] == '|' ||
		       (i && s[i] == 'I' && islower((unsigned char)s[i - 1]));
	if (!odd || n < 4 || n > WORD_MOST || odd * 2 > n)
		return;
	for (k = 0; k < ARRAY_LEN(words); k++) {
		if (!is_same(s, n, words[k]))
			continue;
		for (i = 0; i < n; i++)
			if (!isupper((unsigned char)s[i]) || (i && s[i] == 'I'))
				s[i] = words[k][i];
		return;
	}
}

/* "55O.163", "l2.4": letters in a number of two figures at least. */
static void mend_number(char *s, size_t n)
{
	size_t i, figures = 0, odd = 0, whole = n;

	if (n > 3 && s[n - 1] == 'a') /* "sm_12Oa" */
		n--;

	for (i = 0; i < n; i++) {
		figures += isdigit((unsigned char)s[i]) != 0;
		odd += s[i] == 'O' || s[i] == 'I' || (s[i] == 'l' && i + 1 < n);
		if (!isdigit((unsigned char)s[i]) && !strchr("OIl.", s[i]))
			return;
	}
	if (!odd || figures < 2 || odd > figures || whole < 4) /* "01O" is a mark of GitLab */
		return;
	for (i = 0; i < n; i++)
		s[i] = s[i] == 'O' ? '0' : s[i] == 'I' || (s[i] == 'l' && i + 1 < n) ? '1' : s[i];
}

static bool is_in(char c)
{
	return isalnum((unsigned char)c) || c == '|' || c == '\'' || c == '.';
}

/* "sm 50 sm 60": a list of architectures whose strokes below the line were not read. */
static bool is_arch(const char *s, size_t n, size_t i)
{
	size_t k = i + 3, figures;

	if (i + 5 > n || (i && s[i - 1] != ' ') || memcmp(s + i, "sm ", 3) != 0)
		return false;
	for (figures = 0; k < n && isdigit((unsigned char)s[k]); k++)
		figures++;
	return figures >= 2 && figures <= 3 && (k >= n || !isalnum((unsigned char)s[k]));
}

void text_mend_ocr(char *s, size_t n)
{
	size_t i, start;

	if (n > PICTURES_MAX)
		return;
	for (i = 0; i < n;) {
		if (is_arch(s, n, i))
			s[i + 2] = '_';
		for (start = i; i < n && is_in(s[i]); i++)
			;
		if (i > start + 2) {
			size_t end = i;

			while (end > start && strchr(".'|", s[end - 1]))
				end--;
			mend_number(s + start, end - start);
			mend_word(s + start, end - start);
		}
		i += i == start;
	}
}

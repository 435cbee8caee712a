/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms of a GPU's name for comparing: what people and programs add to it or leave out. Looks at no
 * table.
 */
#include <string.h>

#include "compat/gpu.h"

static const char *const marks[] = { "(r)", "(tm)", "\xc2\xae", "\xe2\x84\xa2", "(nvgpu)",
				     "developer kit" };

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* Length of a mark that begins at s, or 0. */
static size_t mark_at(const char *s)
{
	size_t i;

	if (*s != '(' && *s != 'd' && !(*s & 0x80))
		return 0;
	for (i = 0; i < ARRAY_LEN(marks); i++)
		if (starts(s, marks[i]))
			return strlen(marks[i]);
	return 0;
}

static void take_front(char *s, size_t n)
{
	while (s[n] == ' ')
		n++;
	memmove(s, s + n, strlen(s + n) + 1);
}

/* "ad102 [geforce rtx 4090] (rev a1)", as lspci prints it, is the name in brackets. */
static void unwrap_brackets(char *s)
{
	char *open = strchr(s, '['), *close = open ? strchr(open, ']') : NULL;

	if (!open || !close || open == s)
		return;
	if (close[1] != '\0' && !starts(close + 1, " (rev"))
		return;
	*close = '\0';
	take_front(s, (size_t)(open + 1 - s));
}

bool gpu_name_plain(struct view name, struct gpu_name *ret)
{
	char raw[NAME_MAX_LEN];
	size_t i, n = 0, skip;

	name = view_trim(name);
	if (!name.n || name.n >= sizeof(raw) || memchr(name.p, '\0', name.n))
		return false;
	for (i = 0; i < name.n; i++)
		raw[i] = lower(name.p[i]);
	raw[name.n] = '\0';
	for (i = 0; raw[i]; i += skip ? skip : 1) {
		skip = mark_at(raw + i);
		if (skip || raw[i] == ' ' || raw[i] == '\t') {
			if (n && ret->s[n - 1] != ' ')
				ret->s[n++] = ' ';
		} else {
			ret->s[n++] = raw[i];
		}
	}
	while (n && ret->s[n - 1] == ' ')
		n--;
	ret->s[n] = '\0';
	ret->branded = starts(ret->s, "nvidia ");
	if (ret->branded)
		take_front(ret->s, strlen("nvidia "));
	if (starts(ret->s, "corporation "))
		take_front(ret->s, strlen("corporation "));
	unwrap_brackets(ret->s);
	return ret->s[0] != '\0';
}

/* Words that say whose or which line; a query may leave them out. */
static const struct {
	const char *word;
	unsigned drop;
} lines[] = {
	{ "nvidia", NAME_DROP_BRAND }, { "geforce", NAME_DROP_BRAND }, { "tesla", NAME_DROP_BRAND },
	{ "quadro", NAME_DROP_BRAND }, { "jetson", NAME_DROP_BRAND },  { "agx", NAME_DROP_BRAND },
	{ "rtx", NAME_DROP_SERIES },   { "gtx", NAME_DROP_SERIES },    { "gt", NAME_DROP_SERIES },
	{ "gts", NAME_DROP_SERIES },
};

void gpu_name_words(const struct gpu_name *name, unsigned drop, struct gpu_words *ret)
{
	const char *p = name->s, *start;
	size_t i;

	*ret = (struct gpu_words){ .n = 0 };
	while (*p && ret->n < NAME_WORDS) {
		struct view w;

		start = p;
		while (*p && *p != ' ' && *p != '-' && *p != '_' && *p != '/')
			p++;
		w = (struct view){ .p = start, .n = (size_t)(p - start) };
		if (*p)
			p++;
		for (i = 0; w.n && i < ARRAY_LEN(lines); i++) {
			if (!view_is(w, lines[i].word))
				continue;
			ret->lines |= 1u << i;
			if (lines[i].drop & drop)
				w.n = 0;
		}
		if (w.n)
			ret->w[ret->n++] = w;
	}
}

bool gpu_words_branded(const struct gpu_words *words)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(lines); i++)
		if ((lines[i].drop & NAME_DROP_BRAND) && (words->lines & (1u << i)))
			return true;
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "80gb", "144g": a size of memory. */
static bool is_size(struct view w)
{
	size_t i = 0;

	while (i < w.n && is_digit(w.p[i]))
		i++;
	return i && (view_is(view_skip(w, i), "gb") || view_is(view_skip(w, i), "g"));
}

/* Words about the shape of a board, which leave its chip family as it is. */
static bool is_shape(struct view w)
{
	static const char *const shapes[] = { "sxm",	"pcie",	      "pci",	   "e",
					      "nvl",	"fhhl",	      "dgxs",	   "lp",
					      "ada",	"generation", "blackwell", "workstation",
					      "server", "edition",    "max",	   "q",
					      "sff",	"(pascal)",   "ac",	   "maxq",
					      "gpu" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(shapes); i++)
		if (view_is(w, shapes[i]))
			return true;
	if (view_starts(w, "sxm") && w.n == 4 && is_digit(w.p[3]))
		return true;
	return is_size(w) || (view_starts(w, "hbm") && w.n >= 4 && w.n <= 5 && is_digit(w.p[3]));
}

/* One word after another as one text: "rtx" "4090" equals "rtx4090". */
static size_t join(const struct gpu_words *words, char *buf, size_t size)
{
	size_t i, n = 0;

	for (i = 0; i < words->n && n + words->w[i].n < size; i++) {
		memcpy(buf + n, words->w[i].p, words->w[i].n);
		n += words->w[i].n;
	}
	return n;
}

bool gpu_words_fit(const struct gpu_words *wanted, const struct gpu_words *name)
{
	char text[NAME_MAX_LEN];
	size_t n = join(wanted, text, sizeof(text)), at = 0, i;

	/* "Quadro RTX 4090" must not find a GeForce. */
	if (!n || (wanted->lines & ~name->lines))
		return false;
	for (i = 0; i < name->n && at < n; i++) {
		if (name->w[i].n > n - at || memcmp(name->w[i].p, text + at, name->w[i].n) != 0)
			return false;
		at += name->w[i].n;
	}
	if (at != n)
		return false;
	for (; i < name->n; i++)
		if (!is_shape(name->w[i]))
			return false;
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Texts from embedded .mo files; keeps no state but the environment's, and prints nothing. */
#include "base/lang.h"

#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"

/* The header of a .mo file (gettext manual, "The Format of GNU MO Files"), in words of 32 bits. */
enum { MO_MAGIC, MO_REVISION, MO_COUNT, MO_ORIGINALS, MO_TRANSLATIONS, MO_WORDS };
static const uint32_t mo_magic = 0x950412deu;

static bool word_at(const unsigned char *mo, size_t n, size_t at, uint32_t *ret)
{
	if (at > n || n - at < sizeof(*ret))
		return false;
	memcpy(ret, mo + at, sizeof(*ret));
	return true;
}

/* String I of the table at TABLE: pairs of length and place. The zero after it isn't counted. */
static const char *string_at(const unsigned char *mo, size_t n, size_t table, size_t i)
{
	uint32_t len, place;

	if (!word_at(mo, n, table + i * 8, &len) || !word_at(mo, n, table + i * 8 + 4, &place))
		return NULL;
	if (place >= n || len >= n - place || mo[place + len])
		return NULL;
	return (const char *)mo + place;
}

const char *lang_find(const unsigned char *mo, size_t n, const char *msgid)
{
	uint32_t head[MO_WORDS];
	size_t low = 0, high, mid;

	for (mid = 0; mid < MO_WORDS; mid++)
		if (!word_at(mo, n, mid * sizeof(head[0]), &head[mid]))
			return NULL;
	if (head[MO_MAGIC] != mo_magic || head[MO_REVISION] >> 16 || !msgid[0])
		return NULL;
	high = head[MO_COUNT];
	while (low < high) {
		const char *s;
		int cmp;

		mid = low + (high - low) / 2;
		s = string_at(mo, n, head[MO_ORIGINALS], mid);
		if (!s)
			return NULL;
		cmp = strcmp(msgid, s);
		if (cmp == 0)
			return string_at(mo, n, head[MO_TRANSLATIONS], mid);
		if (cmp < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

enum { KEY_DIGITS = 6 };
_Static_assert(LANG_KEY_ROOM == 2 * KEY_DIGITS + 2 + 1, "a key, two line ends and a zero");

/* KEY_DIGITS digits of 64 for V, which is below 2^31; the lowest first. */
static void digits_of(uint64_t v, char *ret)
{
	static const char alphabet[65] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+_";
	size_t i;

	for (i = 0; i < KEY_DIGITS; i++, v /= 64)
		ret[i] = alphabet[v % 64];
}

void lang_key(const char *msgid, char ret[static LANG_KEY_ROOM])
{
	/* The same as in scripts/key-catalogue.awk, which has only floating point to count with. */
	uint64_t a = 1, b = 1;
	const unsigned char *p;

	for (p = (const unsigned char *)msgid; *p; p++) {
		a = (a * 257 + *p) % 2147483647u;
		b = (b * 16807 + *p) % 2147483629u;
	}
	/* msgfmt wants a line end before, and behind, both halves of a message or neither. */
	if (msgid[0] == '\n')
		*ret++ = '\n';
	digits_of(a, ret);
	ret += KEY_DIGITS;
	digits_of(b, ret);
	ret += KEY_DIGITS;
	if (msgid[0] && p[-1] == '\n')
		*ret++ = '\n';
	*ret = 0;
}

/* "ko", "ko_KR", "ko_KR.UTF-8", "ko:en": the language that stands first. */
static const struct lang_catalogue *catalogue_of(const char *name)
{
	size_t i, n = name ? strcspn(name, "_.:@") : 0;

	for (i = 0; n && i < lang_catalogue_count; i++)
		if (strlen(lang_catalogues[i].lang) == n &&
		    strncmp(lang_catalogues[i].lang, name, n) == 0)
			return &lang_catalogues[i];
	return NULL;
}

const char *lang_text(const char *msgid)
{
	const struct lang_catalogue *c = catalogue_of(getenv("LANGUAGE"));
	char key[LANG_KEY_ROOM];
	const char *found = NULL;

	if (c && msgid && msgid[0]) {
		lang_key(msgid, key);
		found = lang_find(c->start, (size_t)(c->end - c->start), key);
	}
	return found && found[0] ? found : msgid;
}

const char *lang_plural(const char *one, const char *many, unsigned long n)
{
	/* A catalogue knows the pair by its first half; Korean has a single form. */
	const char *found = lang_text(one);

	if (found != one)
		return found;
	return n == 1 ? one : many;
}

static bool says_utf8(const char *locale)
{
	return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8") ||
	       strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* What the environment asks for; a locale need not be installed, since nothing of it is used. */
static const char *language_asked(void)
{
	static const char *const names[] = { "LC_ALL", "LC_MESSAGES", "LANG" };
	const char *locale = NULL, *first;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names) && (!locale || !locale[0]); i++)
		locale = getenv(names[i]);
	if (!locale || !locale[0] || strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0)
		return "en";
	if (!says_utf8(locale))
		return "en";
	first = getenv("LANGUAGE");
	return first && first[0] ? first : locale;
}

void lang_choose(const char *said)
{
	const struct lang_catalogue *c;

	setlocale(LC_MESSAGES, "");
	setlocale(LC_CTYPE, "");
	c = catalogue_of(said ? said : language_asked());
	setenv("LANGUAGE", c ? c->lang : "en", 1);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which form a Korean particle takes, by the sound that the text before it ends in. */
#include "report/particle.h"

#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "base/utf8.h"
#include "base/view.h"

/* How a syllable or a digit ends decides. After a final R, (으)로 is as after a vowel. */
enum ending { ENDS_UNKNOWN, ENDS_IN_VOWEL, ENDS_IN_R, ENDS_IN_CONSONANT };

static const struct {
	const char *open, *consonant, *vowel;
	bool r_is_vowel;
} particles[] = {
	{ .open = "을(를)", .consonant = "을", .vowel = "를" },
	{ .open = "은(는)", .consonant = "은", .vowel = "는" },
	{ .open = "이(가)", .consonant = "이", .vowel = "가" },
	{ .open = "과(와)", .consonant = "과", .vowel = "와" },
	{ .open = "(으)로", .consonant = "으로", .vowel = "로", .r_is_vowel = true },
	{ .open = "(이)라", .consonant = "이라", .vowel = "라" },
};

/* Unicode, Hangul Syllables: 28 forms a pair of consonant and vowel, the first without end. */
static enum ending ending_of_syllable(int32_t cp)
{
	enum { FIRST = 0xac00, LAST = 0xd7a3, FORMS = 28, FINAL_R = 8 };
	int32_t form;

	if (cp < FIRST || cp > LAST)
		return ENDS_UNKNOWN;
	form = (cp - FIRST) % FORMS;
	if (form == 0)
		return ENDS_IN_VOWEL;
	return form == FINAL_R ? ENDS_IN_R : ENDS_IN_CONSONANT;
}

/* As the digits are read: yeong, il, i, sam, sa, o, yuk, chil, pal, gu. */
static enum ending ending_of_digit(char c)
{
	static const enum ending ends[] = { ENDS_IN_CONSONANT, ENDS_IN_R,	  ENDS_IN_VOWEL,
					    ENDS_IN_CONSONANT, ENDS_IN_VOWEL,	  ENDS_IN_VOWEL,
					    ENDS_IN_CONSONANT, ENDS_IN_R,	  ENDS_IN_R,
					    ENDS_IN_VOWEL };

	return c >= '0' && c <= '9' ? ends[c - '0'] : ENDS_UNKNOWN;
}

/* What is in quotes or brackets is read, the signs are not. */
static enum ending ending_of(const char *s, size_t n)
{
	size_t at = n, i;

	while (at && strchr("\"')]}`", s[at - 1]))
		at--;
	if (!at)
		return ENDS_UNKNOWN;
	if ((unsigned char)s[at - 1] < 0x80)
		return ending_of_digit(s[at - 1]);
	for (i = at - 1; i && ((unsigned char)s[i] & 0xc0) == 0x80;)
		i--;
	return ending_of_syllable(utf8_next((struct view){ .p = s, .n = at }, &i));
}

size_t particle_put(struct strbuf *out, const char *s)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(particles); i++) {
		enum ending e;

		if (strncmp(s, particles[i].open, strlen(particles[i].open)) != 0)
			continue;
		e = ending_of(out->s, out->n);
		if (e == ENDS_IN_R && particles[i].r_is_vowel)
			e = ENDS_IN_VOWEL;
		if (e == ENDS_UNKNOWN)
			strbuf_add(out, particles[i].open);
		else if (e == ENDS_IN_VOWEL)
			strbuf_add(out, particles[i].vowel);
		else
			strbuf_add(out, particles[i].consonant);
		return strlen(particles[i].open);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The language of what a user reads: message catalogues inside the program. Prints nothing. */
#ifndef BASE_LANG_H
#define BASE_LANG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The catalogues are GNU gettext's: po/LANG.po, compiled by msgfmt and embedded. Its run-time half,
 * libintl, isn't used: it reads its files from a folder of the system and does nothing in the
 * locale "C", which is what containers have; cuvet is one file that has to answer there too.
 */
struct lang_catalogue {
	const char *lang; /* "ko" */
	const unsigned char *start;
	const unsigned char *end; /* of a whole .mo file, by keys (lang_key) */
};
extern const struct lang_catalogue lang_catalogues[];
extern const size_t lang_catalogue_count;

/*
 * The text of MSGID in the language of the process, MSGID itself where there is none. The language
 * is the environment's LANGUAGE, as lang_choose() leaves it: there is no state here. Not owned.
 */
const char *lang_text(const char *msgid) __attribute__((format_arg(1)));

/* The same for a text with a number in it. English and Korean alone are known: N == 1 is ONE. */
const char *lang_plural(const char *one, const char *many, unsigned long n)
	__attribute__((format_arg(1), format_arg(2)));

/*
 * Decides the language of the process and leaves it in the environment's LANGUAGE: SAID ("ko", from
 * the command line), or with NULL what LC_ALL, LC_MESSAGES, LANG and LANGUAGE name, if the terminal
 * takes UTF-8. To be called once, before there are threads.
 */
void lang_choose(const char *said);

/*
 * What a catalogue knows MSGID by: twelve letters, with the line ends that MSGID begins and ends
 * with around them. The English stands in the program already; a second copy as keys would be more
 * than a third of the catalogue. Two messages of a catalogue with one key are an error of the
 * build, and 62 bits keep other texts apart from them.
 */
enum { LANG_KEY_ROOM = 12 + 2 + 1 };
void lang_key(const char *msgid, char ret[static LANG_KEY_ROOM]);

/*
 * MSGID in the .mo file of N bytes at MO, or NULL. The bytes may be anything: what lies outside of
 * them, or is no text with its end, isn't there.
 */
const char *lang_find(const unsigned char *mo, size_t n, const char *msgid);

#endif

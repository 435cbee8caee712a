/* SPDX-License-Identifier: Apache-2.0 */
/* Catalogues of messages: found, missing, damaged at every byte; and whose language is spoken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/attr.h"
#include "base/lang.h"

/* Three messages, the header of a catalogue among them, as msgfmt lays them out. */
static size_t make_mo(unsigned char *mo, size_t room)
{
	static const char *const text[][2] = { { "", "Language: xx\n" },
					       { "broken", "kaputt" },
					       { "fine", "" } };
	uint32_t head[7] = { 0x950412deu, 0, ARRAY_LEN(text), 28, 28 + 8 * ARRAY_LEN(text), 0, 0 };
	size_t at = 28 + 16 * ARRAY_LEN(text), i, k;

	memset(mo, 0, room);
	memcpy(mo, head, sizeof(head));
	for (k = 0; k < 2; k++)
		for (i = 0; i < ARRAY_LEN(text); i++) {
			uint32_t pair[2] = { (uint32_t)strlen(text[i][k]), (uint32_t)at };

			memcpy(mo + head[3 + k] + 8 * i, pair, sizeof(pair));
			memcpy(mo + at, text[i][k], pair[0] + 1);
			at += pair[0] + 1;
		}
	assert_true(at <= room);
	return at;
}

static void a_message_is_found_or_not(void **state)
{
	unsigned char mo[256];
	size_t n = make_mo(mo, sizeof(mo));

	(void)state;
	assert_string_equal(lang_find(mo, n, "broken"), "kaputt");
	assert_string_equal(lang_find(mo, n, "fine"), "");
	assert_null(lang_find(mo, n, "brok"));
	assert_null(lang_find(mo, n, "zebra"));
	assert_null(lang_find(mo, n, "")); /* the header is no message */
}

/* Whatever the bytes: an answer is a string that ends inside of them. */
static void a_damaged_catalogue_gives_nothing_outside(void **state)
{
	unsigned char mo[256], *copy;
	size_t n = make_mo(mo, sizeof(mo)), at, cut;
	unsigned int bit;

	(void)state;
	for (cut = 0; cut < n; cut++) {
		copy = malloc(cut ? cut : 1);
		assert_non_null(copy);
		memcpy(copy, mo, cut);
		lang_find(copy, cut, "broken");
		free(copy);
	}
	for (at = 0; at < n; at++)
		for (bit = 0; bit < 8; bit++) {
			const char *s;

			copy = malloc(n);
			assert_non_null(copy);
			memcpy(copy, mo, n);
			copy[at] ^= (unsigned char)(1u << bit);
			s = lang_find(copy, n, "broken");
			if (s)
				assert_non_null(
					memchr(s, 0, n - (size_t)((unsigned char *)s - copy)));
			free(copy);
		}
}

/* As scripts/key-catalogue.awk makes them; what the catalogue answers by shows that they agree. */
static void a_message_has_a_key(void **state)
{
	char key[LANG_KEY_ROOM];

	(void)state;
	lang_key("CUDA", key);
	assert_int_equal(strlen(key), 12);
	lang_key("\nCUDA\n", key);
	assert_int_equal(strlen(key), 14);
	assert_true(key[0] == '\n' && key[13] == '\n');
	lang_key("", key);
	assert_string_equal(key, "BAAAAABAAAAA");
	if (!lang_catalogue_count)
		return;
	setenv("LANGUAGE", "ko", 1);
	assert_string_equal(lang_text("exit 1 for warnings too"), "경고에도 1로 끝냅니다");
	assert_string_not_equal(lang_text("\"=\" is missing"), "\"=\" is missing");
	assert_string_equal(lang_text("\n  sha256   %s\n  size     %.1f MiB\n  licence  "),
			    "\n  sha256   %s\n  크기     %.1f MiB\n  라이선스 ");
}

static void speak(const char *said, const char *lc_all, const char *language, const char *want)
{
	setenv("LC_ALL", lc_all, 1);
	if (language)
		setenv("LANGUAGE", language, 1);
	else
		unsetenv("LANGUAGE");
	lang_choose(said);
	assert_string_equal(getenv("LANGUAGE"), want);
}

/* No locale has to be installed, and none decides against --lang. */
static void the_language_is_what_was_asked_for(void **state)
{
	const char *ko = lang_catalogue_count ? "ko" : "en";

	(void)state;
	speak("ko", "C", NULL, ko);
	speak("en", "ko_KR.UTF-8", "ko", "en");
	speak(NULL, "ko_KR.UTF-8", NULL, ko);
	speak(NULL, "en_US.UTF-8", "ko:en", ko);
	speak(NULL, "en_US.UTF-8", NULL, "en");
	speak(NULL, "C", "ko", "en");
	speak(NULL, "POSIX", "ko", "en");
	speak(NULL, "xx_YY.UTF-8", "xx", "en");
	speak(NULL, "ko_KR.eucKR", NULL, "en"); /* the terminal would show rubbish */
}

static void what_has_no_translation_stays_english(void **state)
{
	static const char odd[] = "a text that nobody has written for a user";

	(void)state;
	setenv("LANGUAGE", "ko", 1);
	assert_ptr_equal(lang_text(odd), odd);
	assert_string_equal(lang_plural("one thing", "many things", 1), "one thing");
	assert_string_equal(lang_plural("one thing", "many things", 2), "many things");
	assert_string_equal(lang_text(""), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_found_or_not),
		cmocka_unit_test(a_damaged_catalogue_gives_nothing_outside),
		cmocka_unit_test(a_message_has_a_key),
		cmocka_unit_test(the_language_is_what_was_asked_for),
		cmocka_unit_test(what_has_no_translation_stays_english),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

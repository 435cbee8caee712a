/* SPDX-License-Identifier: Apache-2.0 */
/* Korean particles fit what stands before them, and nothing else of a text is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/attr.h"
#include "report/report.h"

static void the_particle_fits_the_sound_before_it(void **state)
{
	static const char *const rows[][2] = {
		/* Digits as they are read; a zero of any size ends in a consonant. */
		{ "torch 2.13.0을(를)", "torch 2.13.0을" },
		{ "12.4은(는)", "12.4는" },
		{ "cu126이(가)", "cu126이" },
		{ "CUDA 12.1(으)로", "CUDA 12.1로" }, /* il ends in R */
		{ "CUDA 12.3(으)로", "CUDA 12.3으로" },
		{ "CUDA 12.2(으)로", "CUDA 12.2로" },
		{ "535과(와)", "535와" },
		{ "580(이)라고", "580이라고" },
		/* Syllables by their last letter. */
		{ "드라이버이(가)", "드라이버가" },
		{ "커널이(가)", "커널이" },
		{ "커널(으)로", "커널로" },
		{ "이미지을(를)", "이미지를" },
		/* What is in quotes is read, the quotes are not. */
		{ "\"580\"을(를)", "\"580\"을" },
		{ "torch (12.4)은(는)", "torch (12.4)는" },
		/* A Latin word is read in more than one way: the choice stays open. */
		{ "torch을(를)", "torch을(를)" },
		{ "을(를)", "을(를)" },
		/* No choice, no change. */
		{ "이 머신(root)", "이 머신(root)" },
		{ "", "" },
	};
	struct arena *a = arena_new(NULL);
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(clean(a, rows[i][0]), rows[i][1]);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_particle_fits_the_sound_before_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* PCRE2 with bounds; no other file includes its header. Subjects are bytes: nothing has to be valid
 * UTF-8. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/regex.h"

#include <pcre2.h>

#include "base/arena.h"

enum { MATCH_LIMIT = 20000, DEPTH_LIMIT = 500, HEAP_KIB = 512, PATTERN_MAX = 4096 };

struct regex {
	struct arena *a;
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *bounds;
};

static void regex_free(void *p)
{
	struct regex *re = p;

	pcre2_match_data_free(re->data);
	pcre2_match_context_free(re->bounds);
	pcre2_code_free(re->code);
}

int regex_new(struct arena *a, const char *pattern, struct regex **ret, struct err *err)
{
	struct regex *re = arena_alloc(a, sizeof(*re));
	struct view p = view_of(pattern);
	PCRE2_SIZE at = 0;
	int code = 0;

	re->a = a;
	if (p.n > PATTERN_MAX)
		return err_set(err, ERR_DATA, _("a pattern of %zu bytes is too long"), p.n);
	re->code = pcre2_compile((PCRE2_SPTR)p.p, p.n, PCRE2_CASELESS | PCRE2_MULTILINE, &code, &at,
				 NULL);
	if (!re->code && code == PCRE2_ERROR_HEAP_FAILED)
		arena_exhausted(a);
	if (!re->code)
		return err_set(err, ERR_DATA, _("bad pattern at byte %zu: %.200s"), (size_t)at,
			       pattern);
	arena_defer(a, regex_free, re);
	re->data = pcre2_match_data_create(REGEX_GROUPS, NULL);
	re->bounds = pcre2_match_context_create(NULL);
	if (!re->data || !re->bounds)
		arena_exhausted(a);
	pcre2_set_match_limit(re->bounds, MATCH_LIMIT);
	pcre2_set_depth_limit(re->bounds, DEPTH_LIMIT);
	pcre2_set_heap_limit(re->bounds, HEAP_KIB);
	*ret = re;
	return 0;
}

enum regex_result regex_find(struct regex *re, struct view text, size_t from,
			     struct regex_match *ret)
{
	const PCRE2_SIZE *at;
	size_t i, found;
	int n;

	*ret = (struct regex_match){ .n = 0 };
	if (from > text.n)
		return REGEX_NO;
	n = pcre2_match(re->code, (PCRE2_SPTR)text.p, text.n, from, 0, re->data, re->bounds);
	if (n == PCRE2_ERROR_NOMATCH)
		return REGEX_NO;
	if (n == PCRE2_ERROR_NOMEMORY)
		arena_exhausted(re->a);
	if (n < 0)
		return REGEX_GAVE_UP;
	found = n == 0 || n > REGEX_GROUPS ? REGEX_GROUPS : (size_t)n;
	at = pcre2_get_ovector_pointer(re->data);
	for (i = 0; i < found; i++)
		if (at[2 * i] != PCRE2_UNSET && at[2 * i + 1] >= at[2 * i])
			ret->group[i] = (struct view){ .p = text.p + at[2 * i],
						       .n = at[2 * i + 1] - at[2 * i] };
	ret->n = found;
	ret->start = at[0];
	ret->end = at[1];
	return REGEX_YES;
}

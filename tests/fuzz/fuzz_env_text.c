/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search paths and the marked block of `cuvet env`: the first line of the input is the value of a
 * search path, the rest a file. What is put in comes out again, and nothing is put in twice.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "env/env.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void lists(struct arena *a, const char *old)
{
	const char *now = env_list_add(a, "/c/bin:/d", old, ENV_LIST), *at, *back;

	check(strncmp(now, "/c/bin:/d", strlen("/c/bin:/d")) == 0);
	check(!strstr(now, "::") && now[strlen(now) - 1] != ':');
	for (at = strstr(now + 1, "/c/bin"); at; at = strstr(at + 1, "/c/bin"))
		check(at[-1] != ':' || (at[6] && at[6] != ':'));
	check(strcmp(env_list_add(a, "/c/bin:/d", now, ENV_LIST), now) == 0);
	back = env_list_undo(a, now, "/c/bin:/d", old, ENV_LIST);
	check(back && strcmp(back, old) == 0);
	back = env_list_undo(a, arena_printf(a, "/mine:%s", now), "/c/bin:/d", NULL, ENV_LIST);
	check(back && strncmp(back, "/mine", 5) == 0 && !strstr(back, "/c/bin:/d:"));
}

static void blocks(struct arena *a, struct view text)
{
	const char *once, *twice, *back;
	size_t n, m, k;
	bool had;
	int r = env_block_edit(a, text, "#", "one\ntwo\n", &once, &n, &had, NULL);

	if (r)
		return;
	check(!env_block_edit(a, (struct view){ .p = once, .n = n }, "#", "one\ntwo\n", &twice, &m,
			      &had, NULL));
	check(had && m == n && memcmp(once, twice, n) == 0);
	env_diff(a, "x", text, (struct view){ .p = once, .n = n });
	check(!env_block_edit(a, (struct view){ .p = once, .n = n }, NULL, NULL, &back, &k, &had,
			      NULL));
	check(had);
	/* Without a block before, the text comes back byte by byte. */
	check(!env_block_edit(a, text, NULL, NULL, &twice, &m, &had, NULL));
	if (!had)
		check(k == text.n && (!k || memcmp(back, text.p, k) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(NULL);
	struct view text = { .p = (const char *)data, .n = size }, line = { .n = 0 };

	view_line(&text, &line);
	lists(a, view_dup(a, line));
	blocks(a, text);
	arena_free(a);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a JSON file of conda-meta: the channel is plain, and no token of it is left. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "probe/python.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view text = { .p = (const char *)data, .n = size }, rest, part;
	struct arena *a = arena_new(NULL);
	const char *channel = py_conda_channel(a, text);

	if (channel) {
		if (!*channel || strchr(channel, ':'))
			abort();
		/* Words between slashes, the first not "t", behind which a token would stand. */
		for (rest = view_of(channel); rest.n;) {
			part = view_cut(rest, '/', &rest);
			if (part.n && !py_is_word(part))
				abort();
		}
	}
	arena_free(a);
	return 0;
}

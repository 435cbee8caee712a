/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a requirements file. Its includes name files of a folder that is not there, so
 * nothing is read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "plan/reqfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(NULL);
	struct requirement_list list = { .n = 0 };
	struct err err = { .code = ERR_OK };
	struct view text = { .p = (const char *)data, .n = size };
	size_t i;

	/* An absolute include could name a device or standard input. */
	if (view_find(text, "-r") >= 0 &&
	    (view_find(text, "/") >= 0 || view_find(text, "-r -") >= 0)) {
		arena_free(a);
		return 0;
	}
	if (reqfile_parse(a, text, "/nonexistent/r.txt", &list, &err) && (!err.code || !err.msg[0]))
		abort();
	for (i = 0; i < list.n; i++)
		if (!list.v[i].name || !list.v[i].from)
			abort();
	arena_free(a);
	return 0;
}

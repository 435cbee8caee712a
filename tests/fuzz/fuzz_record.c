/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as RECORD of a wheel: a path that comes out stays below its folder. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "probe/python.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view text = { .p = (const char *)data, .n = size }, line;
	struct arena *a = arena_new(NULL);
	const char *path, *c;

	while (view_line(&text, &line)) {
		path = py_record_path(a, line);
		if (!path)
			continue;
		if (!*path || *path == '/' || strstr(path, "../") || strlen(path) > line.n)
			abort();
		for (c = path; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				abort();
	}
	arena_free(a);
	return 0;
}

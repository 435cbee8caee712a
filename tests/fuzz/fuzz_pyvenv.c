/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as pyvenv.cfg: versions are plain words, home is an absolute path without controls. */
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "probe/python.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view v = { .p = (const char *)data, .n = size };
	struct arena *a = arena_new(NULL);
	struct pyvenv c;
	const char *p;

	pyvenv_parse(a, v, &c);
	if ((c.version && !py_is_word(view_of(c.version))) ||
	    (c.uv && !py_is_word(view_of(c.uv))) || (c.home && c.home[0] != '/'))
		abort();
	for (p = c.home; p && *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			abort();
	arena_free(a);
	return 0;
}

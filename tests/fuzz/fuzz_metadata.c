/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as METADATA, WHEEL and version.py: what comes out is a plain word or nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "probe/python.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void plain(const char *s)
{
	if (s && s[0] && !py_is_word(view_of(s)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view v = { .p = (const char *)data, .n = size };
	struct arena *a = arena_new(NULL);
	struct py_metadata m;
	const char *tag, *twice;

	py_metadata_parse(a, v, &m);
	plain(m.name);
	plain(m.version);
	tag = py_wheel_tag(a, v);
	plain(tag);
	if (tag)
		plain(py_tag_glibc(a, tag));
	plain(py_assigned(a, v, "__version__"));
	plain(py_assigned(a, v, "cuda"));
	if (m.name) {
		twice = py_normalize(a, view_of(m.name));
		if (!twice || strcmp(twice, m.name) != 0)
			abort();
	}
	plain(py_minor(a, view_dup(a, v)));
	arena_free(a);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a version, tag, compute capability and code target; comparing must be antisymmetric.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/version.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(NULL);
	struct view v = { .p = (const char *)data, .n = size }, rest;
	char *x = view_dup(a, view_cut(v, '\n', &rest)), *y = view_dup(a, rest);
	struct version p, q;
	struct arch t;
	int c = version_cmp_str(x, y), d = version_cmp_str(y, x);

	if ((c > 0) != (d < 0) || (c == 0) != (d == 0))
		abort();
	if (version_parse(v, &p) && (!version_prefix(v, &q) || version_cmp(&p, &q) != 0))
		abort();
	version_of_cu_tag(a, x);
	cc_parse(x);
	if (arch_parse(x, &t) && t.cc < 10)
		abort();
	arena_free(a);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a requirement: a fault stands inside the text, and what is read is read the same
 * again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/requirement.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct marker_env env = { .python = "3.12",
					       .python_full = "3.12.1",
					       .sys_platform = "linux" };
	struct arena *a = arena_new(NULL);
	struct view v = { .p = (const char *)data, .n = size };
	struct requirement r = { .name = NULL }, again = { .name = NULL };
	const char *what = NULL;
	size_t at = 0;

	if (!requirement_parse(a, v, &r, &at, &what)) {
		if (at > size || !what)
			abort();
	} else {
		requirement_applies(a, &r, &env);
		if (!requirement_parse(a, view_of(r.text), &again, &at, &what) ||
		    strcmp(r.name, again.name) != 0 || r.spec.n != again.spec.n)
			abort();
	}
	arena_free(a);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* ld.so.cache: whatever the file says, nothing outside it is read, and what is found ends in NUL
 * within it. */
#include <stdlib.h>
#include <string.h>

#include "sys/ldcache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct view text = { .p = (const char *)data, .n = size };
	struct ldcache_entry e;
	struct ldcache c;
	size_t i, pos = 0;

	if (ldcache_parse(text, &c))
		return 0;
	if (c.n > size)
		abort();
	for (i = 0; i < c.n; i++)
		if (ldcache_entry(&c, i, &e) && (e.name + strlen(e.name) >= text.p + size ||
						 e.path + strlen(e.path) >= text.p + size))
			abort();
	while (ldcache_find(&c, "libcuda.so.1", LDCACHE_ANY, &pos, &e))
		if (strcmp(e.name, "libcuda.so.1") != 0)
			abort();
	return 0;
}

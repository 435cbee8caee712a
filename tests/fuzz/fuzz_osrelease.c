/* SPDX-License-Identifier: Apache-2.0 */
/* os-release, the banner of libc, version.txt and version.json of a toolkit. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "probe/host.h"
#include "probe/toolkit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct view text = { .p = (const char *)data, .n = size };
	struct arena *a = arena_new(NULL);
	struct host h = { 0 };
	const char *v;

	host_os_release(a, text, "fuzz", &h);
	if (fact_known(&h.os_id) && (!h.os_id.value[0] || strlen(h.os_id.value) > 256))
		abort();
	v = host_glibc_text(a, text);
	if (v && strspn(v, "0123456789.") != strlen(v))
		abort();
	v = toolkit_version_txt(a, text);
	if (v && strspn(v, "0123456789.") != strlen(v))
		abort();
	v = toolkit_version_json(a, text, "fuzz");
	if (v && strspn(v, "0123456789.") != strlen(v))
		abort();
	arena_free(a);
	return 0;
}

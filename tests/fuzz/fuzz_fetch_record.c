/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of installed files: what is read stays below its folder, and comes back as it was written.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "fetch/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct view text = { .p = (const char *)data, .n = size };
	struct arena *a = arena_new(NULL);
	struct record r, again;
	struct strbuf b;
	size_t i;

	if (record_head(a, text, "fuzz", &r, NULL) == 0 && !r.name)
		abort();
	if (record_read(a, text, "fuzz", &r, NULL) == 0) {
		strbuf_init(&b, a);
		record_put_head(&b, &r);
		for (i = 0; i < r.n; i++) {
			if (!record_path_ok(r.files[i].path) || r.files[i].path[0] == '/' ||
			    strcmp(r.files[i].path, "..") == 0 ||
			    strncmp(r.files[i].path, "../", 3) == 0 ||
			    strstr(r.files[i].path, "/../"))
				abort();
			record_put_file(&b, &r.files[i]);
		}
		record_put_end(&b);
		if (record_read(a, (struct view){ .p = b.s, .n = b.n }, "again", &again, NULL) !=
			    0 ||
		    again.n != r.n || again.n_files != r.n_files || strcmp(again.name, r.name) != 0)
			abort();
	}
	arena_free(a);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any correction of any text: what is made is the text with one place changed, and the difference
 * of both ends. First bytes: kind, line, column, length of the old word.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "project/edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(NULL);
	struct edit e;
	struct view text, got;
	struct strbuf b;

	if (size > 4) {
		size_t n = data[3] % (size - 3);

		text = (struct view){ .p = (const char *)data + 4, .n = size - 4 };
		e = (struct edit){ .kind = (enum edit_kind)(data[0] % 3),
				   .line = data[1],
				   .column = data[2],
				   .old = arena_strndup(a, text.p, n < text.n ? n : text.n),
				   .new = data[0] & 4 ? "x\ny" : "x" };
		if (edit_apply(a, text, &e, &got)) {
			strbuf_init(&b, a);
			edit_diff(a, "f", text, got, &b);
			if (got.n + strlen(e.old) + 2 < text.n)
				abort();
		}
	}
	arena_free(a);
	return 0;
}

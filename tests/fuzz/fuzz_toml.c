/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as TOML: read within bounds, or refused with a place. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(NULL);
	struct view text = { .p = (const char *)data, .n = size };
	struct err err = { .code = ERR_OK };
	const struct doc *d = NULL;

	if (!toml_parse(a, text, "f", &d, &err)) {
		if (!d || (d->kind != DOC_MAP && d->kind != DOC_LIST))
			abort();
		doc_at(doc_first(d), "a.b.c");
	} else if (err.code != ERR_PARSE || strncmp(err.msg, "f:", 2) != 0) {
		abort();
	}
	arena_free(a);
	return 0;
}

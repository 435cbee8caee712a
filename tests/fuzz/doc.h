/* SPDX-License-Identifier: Apache-2.0 */
/* Any text through a parser of documents: read within bounds, or refused with a place. */
#ifndef FUZZ_DOC_H
#define FUZZ_DOC_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/doc.h"

typedef int fuzz_doc_parse(struct arena *a, struct view text, const char *name,
			   const struct doc **ret, struct err *err);

static inline int fuzz_doc(fuzz_doc_parse *parse, const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(NULL);
	struct view text = { .p = (const char *)data, .n = size };
	struct err err = { .code = ERR_OK };
	const struct doc *d = NULL;

	if (!parse(a, text, "f", &d, &err)) {
		if (!d || (d->kind != DOC_MAP && d->kind != DOC_LIST))
			abort();
		doc_at(doc_first(d), "a.b.c");
	} else if (err.code != ERR_PARSE || strncmp(err.msg, "f:", 2) != 0) {
		abort();
	}
	arena_free(a);
	return 0;
}

#endif

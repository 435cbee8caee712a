/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a snapshot file: load, and what loads saves and loads to the same text again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "model/snapshot_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *save(struct arena *a, const struct snapshot *s)
{
	struct strbuf b;
	struct jsonw w;

	strbuf_init(&b, a);
	jsonw_init(&w, &b, false);
	snapshot_save(&w, s);
	return b.s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(NULL);
	struct snapshot s = { 0 }, t = { 0 };
	const struct json *doc;
	char *first;

	if (json_parse(a, (struct view){ .p = (const char *)data, .n = size }, "in", &doc, NULL) ==
		    0 &&
	    snapshot_load(a, doc, "in", &s, NULL) == 0) {
		first = save(a, &s);
		if (json_parse(a, view_of(first), "again", &doc, NULL) ||
		    snapshot_load(a, doc, "in", &t, NULL) || strcmp(first, save(a, &t)) != 0)
			abort();
	}
	arena_free(a);
	return 0;
}

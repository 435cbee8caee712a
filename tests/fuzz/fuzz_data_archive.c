/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an update reads after (and, for keys and signatures, before) a signature held. The first
 * byte says as what the rest is taken: A an archive, K a public key, S a signature, else the text
 * of a table.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "compat/embedded.h"
#include "compat/table.h"
#include "compat/validate.h"
#include "update/archive.h"
#include "net/encode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_archive(struct arena *a, struct view bytes)
{
	struct archive archive;

	if (archive_read(a, bytes, "in", &archive, NULL) == 0 &&
	    archive_validate(a, &archive, "in", NULL) == 0 && !compat_is_date(archive.date, false))
		abort();
}

/* What the validation passes is read line by line later on, with the same rows. */
static void rows_agree(struct compat *c, struct table *t, const struct json *doc)
{
	const struct json *row = json_first(json_get(doc, "rows")), *line;
	struct table lines = { .name = t->name, .origin = "in", .text = t->text, .trusted = true };
	size_t i;

	*t = lines;
	if (compat_count(c, t->name) != json_count(json_get(doc, "rows")))
		abort();
	for (i = 0; row; row = json_next(row), i++) {
		line = compat_row(c, t->name, i);
		if (!line || json_count(line) != json_count(row))
			abort();
	}
}

/* The other tables are empty, so that one is validated alone and at once. */
static void as_table(struct arena *a, unsigned which, struct view bytes)
{
	struct data_report d;
	const struct json *doc;
	struct compat *c;
	size_t i, k, wrong = 0;

	if (compat_open(a, NULL, &c, NULL))
		abort();
	which %= (unsigned)c->n_tables;
	for (i = 0; i < c->n_tables; i++)
		compat_replace(c, c->tables[i].name, i == which ? bytes : VIEW(""));
	compat_validate(c, which & 1, &d);
	compat_validate_layout(c, &d);
	for (k = 0; k < d.n; k++)
		wrong += strcmp(d.v[k].table, c->tables[which].name) == 0;
	if (!wrong && json_parse(a, bytes, "in", &doc, NULL) == 0)
		rows_agree(c, &c->tables[which], doc);
}

static void as_key(struct arena *a, struct view bytes)
{
	unsigned char key[KEY_BYTES], again[KEY_BYTES];

	if (key_read(bytes, "in", key, NULL))
		return;
	if (!base64_read(view_of(base64_text(a, key, sizeof(key))), again, sizeof(again)) ||
	    memcmp(key, again, sizeof(key)) != 0)
		abort();
}

static void as_signature(struct arena *a, struct view bytes)
{
	unsigned char s[SIGNATURE_BYTES], again[SIGNATURE_BYTES];

	if (signature_read(bytes, "in", s, NULL))
		return;
	if (signature_read(view_of(base64_text(a, s, sizeof(s))), "in", again, NULL) ||
	    memcmp(s, again, sizeof(s)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view bytes = { .p = (const char *)data + 1, .n = size ? size - 1 : 0 };
	struct arena *a;

	if (!size)
		return 0;
	a = arena_new(NULL);
	if (data[0] == 'A')
		as_archive(a, bytes);
	else if (data[0] == 'K')
		as_key(a, bytes);
	else if (data[0] == 'S')
		as_signature(a, bytes);
	else
		as_table(a, data[0], bytes);
	arena_free(a);
	return 0;
}

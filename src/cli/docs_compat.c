/* SPDX-License-Identifier: Apache-2.0 */
/* cuvet-compat(5) from the tables and their schemas: what is embedded, nothing written by hand. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "cli/docs_parts.h"
#include "compat/compat.h"
#include "compat/embedded.h"

/* Members of an object's schema; those that are always there in bold. */
static void put_members(struct strbuf *out, const struct json *schema)
{
	const struct json *properties = json_get(schema, "properties"), *p, *r;
	bool first = true;

	for (p = json_first(properties); p; p = json_next(p)) {
		bool always = false;

		for (r = json_first(json_get(schema, "required")); r; r = json_next(r))
			always |= json_str(r) && strcmp(json_str(r), json_key(p)) == 0;
		strbuf_add(out, first ? "Fields: " : ", ");
		first = false;
		strbuf_add(out, always ? "*" : "_");
		docs_put_escaped(out, json_key(p));
		strbuf_add(out, always ? "*" : "_");
	}
	if (!first)
		strbuf_add(out, "\n\n");
}

/* A row may be of several kinds: one list of fields a kind. */
static void put_fields(struct strbuf *out, const char *table)
{
	struct view text = compat_embedded(arena_printf(out->a, "schema/%s.schema", table));
	const struct json *doc, *items, *kind;
	struct err err;

	if (!text.n || json_parse_trusted(out->a, text, table, &doc, &err))
		return;
	items = json_get(json_get(json_get(doc, "properties"), "rows"), "items");
	put_members(out, items);
	for (kind = json_first(json_get(items, "oneOf")); kind; kind = json_next(kind))
		put_members(out, kind);
	for (kind = json_first(json_get(items, "anyOf")); kind; kind = json_next(kind))
		put_members(out, kind);
}

static void put_table(struct strbuf *out, struct compat *c, const char *name)
{
	const struct json *doc = compat_table(c, name);
	const struct table_key *k = compat_table_keys(name);
	const char *note = json_get_str(doc, "note");
	size_t i;

	strbuf_add(out, "## ");
	docs_put_escaped(out, name);
	strbuf_printf(out, "\n\n%zu rows, of %s, from %zu sources.", compat_count(c, name),
		      compat_table_date(c, name), json_count(json_get(doc, "sources")));
	if (note) {
		strbuf_addc(out, ' ');
		docs_put_escaped(out, note);
	}
	strbuf_add(out, "\n\n");
	for (i = 0; k && k[i].field; i++) {
		strbuf_add(out, i ? ", " : "Looked up by: ");
		docs_put_escaped(out, k[i].field);
	}
	if (i)
		strbuf_add(out, "\n\n");
	put_fields(out, name);
}

void docs_put_compat(struct strbuf *out)
{
	const char *const *names;
	struct compat *c;

	docs_put_title(out, "cuvet-compat.5", "the compatibility tables of cuvet");
	strbuf_add(
		out,
		"# DESCRIPTION\n\nThe matrix is a folder of JSON files, one a table: embedded in the program, "
		"installed for a user by *cuvet data update*, or named with *--data* _DIR_. What was "
		"published is listed in it, never derived from version numbers; what installed files say of "
		"themselves outranks it.\n\n"
		"Each file is one object: *schema* (\"cuvet.compat/1\"), *table*, *date* (when the table was last "
		"checked as a whole), *note*, *sources* (key to what, where and date), *rows*; some have "
		"*facts*, rules that are no rows. Each row has *sources*, keys of the same file. A field that "
		"is null or absent is not known. _inferred_ names fields that were derived, _confidence_ is "
		"high unless it says otherwise, and a finding that rests on such a row says so.\n\n"
		"*cuvet show* _TABLE_ [_KEY_] prints rows with their sources; *cuvet show --check* holds all "
		"of it to the schemas.\n\n# TABLES\n\nFields in bold are in every row.\n\n");
	if (compat_open(out->a, NULL, &c, NULL))
		return;
	for (names = compat_tables(c); *names; names++)
		put_table(out, c, *names);
	strbuf_add(
		out,
		"# SEE ALSO\n\n*cuvet*(1), *cuvet-show*(1), *cuvet-data*(1), *cuvet-findings*(7)\n");
}

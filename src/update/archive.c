/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and validating a data archive; writes nothing. */
#include "update/archive.h"

#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "compat/embedded.h"
#include "compat/table.h"
#include "compat/validate.h"

#define SCHEMA "cuvet.data-archive/1"

static int take_tables(struct arena *a, const struct json *tables, const char *name,
		       struct archive *ret, struct err *err)
{
	const struct json *one;
	const char *table;
	size_t i;

	for (i = 0; compat_embedded_table(i); i++)
		;
	ret->names = arena_calloc(a, i + 1, sizeof(*ret->names));
	ret->texts = arena_calloc(a, i + 1, sizeof(*ret->texts));
	for (i = 0; (table = compat_embedded_table(i)); i++) {
		one = json_get(tables, table);
		if (!json_str(one))
			return err_set(
				err, ERR_DATA,
				_("%s: lacks the table %s, which this version of cuvet needs"),
				name, table);
		ret->names[i] = table;
		ret->texts[i] = view_of(json_str(one));
		ret->n++;
	}
	ret->unknown = json_count(tables) - ret->n;
	return 0;
}

int archive_read(struct arena *a, struct view bytes, const char *name, struct archive *ret,
		 struct err *err)
{
	const struct json *doc;
	const char *schema;
	struct err e;

	*ret = (struct archive){ .n = 0 };
	if (json_parse(a, bytes, name, &doc, &e))
		return err_set(err, ERR_DATA, "%s", e.msg);
	schema = json_get_str(doc, "schema");
	if (!schema || strcmp(schema, SCHEMA) != 0)
		return err_set(err, ERR_DATA, _("%s: \"schema\" is not \"" SCHEMA "\""), name);
	ret->date = json_get_str(doc, "date");
	if (!ret->date || !compat_is_date(ret->date, false))
		return err_set(err, ERR_DATA, _("%s: \"date\" is not a day"), name);
	return take_tables(a, json_get(doc, "tables"), name, ret, err);
}

int archive_validate(struct arena *a, const struct archive *archive, const char *name,
		     struct err *err)
{
	struct data_report d;
	struct compat *c;
	size_t i;

	if (compat_open(a, NULL, &c, err))
		return -(int)ERR_DATA;
	for (i = 0; i < archive->n; i++)
		compat_replace(c, archive->names[i], archive->texts[i]);
	compat_validate(c, true, &d);
	compat_validate_layout(c, &d);
	if (d.n)
		return err_set(err, ERR_DATA,
			       _("%s: signed, but not valid: %s%s%s: %s (problem 1 of %zu)"), name,
			       d.v[0].table, *d.v[0].where ? " " : "", d.v[0].where, d.v[0].text,
			       d.n);
	/* Otherwise old tables could come along under a new date. */
	if (strcmp(compat_date(c), archive->date) != 0)
		return err_set(err, ERR_DATA,
			       _("%s: signed, but its date is %s and that of its newest table %s"),
			       name, archive->date, compat_date(c));
	return 0;
}

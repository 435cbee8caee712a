/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading tables, embedded or from a folder, when first asked for. Knows their common shape and
 * none of their fields.
 */
#include "compat/table.h"

#include <string.h>

#include "base/file.h"
#include "compat/near.h"
#include "compat/raw.h"
#include "compat_data.h"

enum { TABLE_MAX = 16 << 20 };
#define SCHEMA "cuvet.compat/1"

void compat_fail(struct compat *c, const struct err *err)
{
	if (c->failed)
		return;
	c->failed = true;
	c->err = *err;
	c->err.code = ERR_DATA;
}

static int fail(struct compat *c, struct table *t, const char *what)
{
	struct err e;

	t->state = TABLE_DAMAGED;
	err_set(&e, ERR_DATA, "%s: %s", t->origin, what);
	compat_fail(c, &e);
	return -(int)ERR_DATA;
}

bool table_lines(struct view text, struct view *ret_lines)
{
	static const char mark[] = "\n\"rows\":[\n";
	ptrdiff_t at = view_find(text, mark);

	if (at < 0)
		return false;
	*ret_lines = view_skip(text, (size_t)at + sizeof(mark) - 1);
	return true;
}

bool table_line(struct view *lines, struct view *ret_row)
{
	struct view line;

	if (!view_line(lines, &line) || view_starts(line, "]"))
		return false;
	if (line.n && line.p[line.n - 1] == ',')
		line.n--;
	*ret_row = line;
	return true;
}

/*
 * Nothing is checked beyond the layout, for the build's tests or the installation did. False
 * without it.
 */
static bool split_lines(struct compat *c, struct table *t)
{
	struct view rest, line;
	size_t n = 0, i;

	if (!table_lines(t->text, &rest))
		return false;
	for (i = 0; i < rest.n; i++) {
		const char *nl = memchr(rest.p + i, '\n', rest.n - i);

		n++;
		if (!nl)
			break;
		i = (size_t)(nl - rest.p);
	}
	t->rows = arena_calloc(c->a, n ? n : 1, sizeof(*t->rows));
	t->n = 0;
	while (table_line(&rest, &line)) {
		if (line.n < 2 || line.p[0] != '{' || line.p[line.n - 1] != '}')
			return false;
		t->rows[t->n++].line = line;
	}
	return true;
}

static int parse_whole(struct compat *c, struct table *t)
{
	struct err e = { .code = ERR_OK };
	const struct json *doc, *rows, *row;
	const char *schema, *name;
	int r;

	r = t->trusted ? json_parse_trusted(c->a, t->text, t->origin, &doc, &e)
		       : json_parse(c->a, t->text, t->origin, &doc, &e);
	if (r) {
		t->state = TABLE_DAMAGED;
		compat_fail(c, &e);
		return r;
	}
	schema = json_get_str(doc, "schema");
	name = json_get_str(doc, "table");
	rows = json_get(doc, "rows");
	if (!schema || strcmp(schema, SCHEMA) != 0)
		return fail(c, t, _("\"schema\" is not \"" SCHEMA "\""));
	if (!name || strcmp(name, t->name) != 0)
		return fail(c, t, _("\"table\" is not the table's name"));
	if (json_type(rows) != JSON_ARRAY)
		return fail(c, t, _("\"rows\" is not a list"));
	t->doc = doc;
	if (t->rows)
		return 0; /* the rows were there already, as lines */
	t->rows = arena_calloc(c->a, json_count(rows) + 1, sizeof(*t->rows));
	t->n = 0;
	for (row = json_first(rows); row; row = json_next(row))
		t->rows[t->n++].json = row;
	return 0;
}

/* What every look-up relies on: rows are objects, and the fields of the key have their types. */
static int check_rows(struct compat *c, struct table *t)
{
	const struct table_key *key = compat_table_keys(t->name), *k;
	int64_t ignored;
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct json *row = t->rows[i].json;

		if (json_type(row) != JSON_OBJECT)
			return fail(c, t, arena_printf(c->a, _("row %zu is not an object"), i + 1));
		for (k = key; k && k->field; k++) {
			const struct json *v = json_get(row, k->field);

			if (k->in_key && !json_str(v) && !json_int(v, &ignored))
				return fail(c, t,
					    arena_printf(c->a, _("row %zu has no \"%s\""), i + 1,
							 k->field));
		}
	}
	return 0;
}

static void read_file(struct compat *c, struct table *t)
{
	struct err e;
	int r;

	if (!c->dir || t->text.p)
		return;
	r = file_read(c->a, t->origin, TABLE_MAX, &t->text, &e);
	if (r == -(int)ERR_NOENT) {
		t->state = TABLE_MISSING;
	} else if (r) {
		t->state = TABLE_DAMAGED;
		compat_fail(c, &e);
	}
}

static void load(struct compat *c, struct table *t)
{
	read_file(c, t);
	if (t->state != TABLE_NEW)
		return;
	if (!t->trusted || !split_lines(c, t)) {
		t->rows = NULL;
		if (parse_whole(c, t) || check_rows(c, t))
			return;
	}
	t->typed = arena_calloc(c->a, t->n + 1, sizeof(*t->typed));
	t->state = TABLE_READY;
}

/* Rows are asked for one after another: the table is mostly that of the last time. */
static struct table *named(struct compat *c, const char *name)
{
	size_t i;

	if (c->last && strcmp(c->last->name, name) == 0)
		return c->last;
	for (i = 0; i < c->n_tables; i++)
		if (strcmp(c->tables[i].name, name) == 0)
			return c->last = &c->tables[i];
	return NULL;
}

struct table *table_maybe(struct compat *c, const char *name)
{
	struct table *t = named(c, name);

	if (t && t->state == TABLE_NEW)
		load(c, t);
	return t && t->state == TABLE_READY ? t : NULL;
}

struct table *table_get(struct compat *c, const char *name)
{
	struct table *t = table_maybe(c, name), *lost;
	struct err e;

	if (t)
		return t;
	lost = named(c, name);
	err_set(&e, ERR_DATA, _("%s: no such table"), lost ? lost->origin : name);
	compat_fail(c, &e);
	return NULL;
}

const struct json *table_row(struct compat *c, struct table *t, size_t i)
{
	struct err e;

	if (i >= t->n)
		return NULL;
	if (!t->rows[i].json &&
	    json_parse_trusted(c->a, t->rows[i].line, t->origin, &t->rows[i].json, &e)) {
		compat_fail(c, &e);
		return NULL;
	}
	return t->rows[i].json;
}

struct view table_text(struct compat *c, struct table *t, size_t i, const char *key)
{
	struct view v = { .p = NULL, .n = 0 };
	const char *s;

	if (t->rows[i].line.p && raw_string(t->rows[i].line, key, &v))
		return v;
	/* Not there, or not as plain text: a parse only where the text could be there at all. */
	if (t->rows[i].line.p && view_chr(t->rows[i].line, '\\') < 0)
		return v;
	s = json_get_str(table_row(c, t, i), key);
	return s ? view_of(s) : v;
}

size_t table_find(struct compat *c, struct table *t, size_t from, const char *key,
		  const char *value)
{
	size_t i;

	for (i = from; i < t->n; i++) {
		struct view v = table_text(c, t, i, key);

		if (v.p && view_is(v, value))
			break;
	}
	return i;
}

const char *table_head(struct compat *c, struct table *t, const char *key)
{
	struct view v;

	if (t->doc)
		return json_get_str(t->doc, key);
	return raw_string(t->text, key, &v) ? view_dup(c->a, v) : NULL;
}

bool row_inferred(const struct json *row, const char *field)
{
	const struct json *v;

	for (v = json_first(json_get(row, "inferred")); v; v = json_next(v))
		if (json_str(v) && strcmp(json_str(v), field) == 0)
			return true;
	return false;
}

bool row_doubtful(const struct json *row)
{
	const char *confidence = json_get_str(row, "confidence");
	const struct json *v;

	if (json_get_str(row, "doubt"))
		return true;
	if (confidence && (strcmp(confidence, "low") == 0 || strcmp(confidence, "unverified") == 0))
		return true;
	for (v = json_first(json_get(row, "sources")); v; v = json_next(v))
		if (json_str(v) && strcmp(json_str(v), "MEM") != 0 &&
		    strcmp(json_str(v), "INFERRED") != 0)
			return false;
	return true;
}

/* The one refusal that a folder that is there meets is "is a directory". */
static int check_folder(struct arena *a, const char *dir, struct err *err)
{
	struct view ignored;
	struct err e;
	int r = file_read(a, dir, TABLE_MAX, &ignored, &e);

	if (r == 0)
		return err_set(err, ERR_DATA, _("%s: not a directory"), dir);
	return r == -(int)ERR_TYPE ? 0 : err_set(err, ERR_DATA, "%s", e.msg);
}

int compat_open(struct arena *a, const char *dir, struct compat **ret, struct err *err)
{
	struct compat *c = arena_alloc(a, sizeof(*c));
	size_t i;

	c->a = a;
	if (dir && check_folder(a, dir, err))
		return -(int)ERR_DATA;
	c->origin.kind = DATA_FOLDER;
	c->origin.path = dir;
	if (!dir) {
		c->origin.path = installed_active(a, &c->origin.ignored);
		c->origin.kind = c->origin.path ? DATA_USER : DATA_EMBEDDED;
	}
	c->dir = c->origin.path;
	c->n_tables = embedded_table_count;
	c->tables = arena_calloc(a, c->n_tables + 1, sizeof(*c->tables));
	for (i = 0; i < c->n_tables; i++) {
		const struct embedded_table *e_t = &embedded_table[i];
		struct table *t = &c->tables[i];

		t->name = e_t->name;
		t->trusted = c->origin.kind != DATA_FOLDER;
		t->origin = arena_printf(a, "%s/%s.json", c->dir ? c->dir : "data/compat", t->name);
		if (!c->dir)
			t->text = (struct view){ .p = (const char *)e_t->start,
						 .n = (size_t)(e_t->end - e_t->start) };
	}
	*ret = c;
	return 0;
}

const struct data_origin *compat_origin(const struct compat *c)
{
	return &c->origin;
}

void compat_replace(struct compat *c, const char *name, struct view text)
{
	struct table *t = named(c, name);

	if (!t)
		return;
	*t = (struct table){ .name = t->name, .origin = name, .text = text };
	c->torch_keys = NULL;
	c->torch_newest = NULL;
	c->torch_rows = NULL;
	c->n_torch_rows = 0;
	c->made = NULL;
}

struct arena *compat_arena(struct compat *c)
{
	return c->a;
}

void **compat_made(struct compat *c)
{
	return &c->made;
}

const struct err *compat_error(const struct compat *c)
{
	return c->failed ? &c->err : NULL;
}

/* A folder need not hold all tables: those that it lacks are not listed. */
static bool present(struct compat *c, struct table *t)
{
	if (t->state == TABLE_NEW)
		read_file(c, t);
	return t->state != TABLE_MISSING;
}

const char *const *compat_tables(struct compat *c)
{
	size_t i, n = 0;

	if (!c->names) {
		c->names = arena_calloc(c->a, c->n_tables + 1, sizeof(*c->names));
		for (i = 0; i < c->n_tables; i++)
			if (present(c, &c->tables[i]))
				c->names[n++] = c->tables[i].name;
	}
	return c->names;
}

const struct json *compat_table(struct compat *c, const char *name)
{
	struct table *t = named(c, name);

	if (!t || !(t = table_get(c, name)))
		return NULL;
	if (!t->doc && parse_whole(c, t))
		return NULL;
	return t->doc;
}

size_t compat_count(struct compat *c, const char *name)
{
	struct table *t = table_maybe(c, name);

	return t ? t->n : 0;
}

const struct json *compat_row(struct compat *c, const char *name, size_t i)
{
	struct table *t = table_maybe(c, name);

	return t ? table_row(c, t, i) : NULL;
}

bool compat_raw_list(struct compat *c, const char *table, size_t i, const char *field,
		     struct view *ret)
{
	struct table *t = table_get(c, table);
	struct view v;

	if (!t || i >= t->n || !t->rows[i].line.p || !raw_member(t->rows[i].line, field, &v) ||
	    v.n < 2 || v.p[0] != '[' || view_chr(v, '\\') >= 0)
		return false;
	*ret = (struct view){ .p = v.p + 1, .n = v.n - 2 };
	return true;
}

const char *compat_text(struct compat *c, const char *name, size_t i, const char *field)
{
	struct table *t = table_maybe(c, name);
	struct view v = { .p = NULL, .n = 0 };

	if (t && i < t->n)
		v = table_text(c, t, i, field);
	return v.p ? view_dup(c->a, v) : NULL;
}

const char *compat_value(struct compat *c, const char *name, size_t i, const char *field)
{
	const char *s = compat_text(c, name, i, field);
	struct table *t = table_maybe(c, name);
	struct view v;
	int64_t n;

	if (s || !t || i >= t->n)
		return s;
	if (t->rows[i].line.p && !t->rows[i].json) {
		/* Rows whose key is a number are looked through without a parse too. */
		if (!raw_member(t->rows[i].line, field, &v) || !view_i64(v, &n))
			return NULL;
	} else if (!json_get_int(table_row(c, t, i), field, &n)) {
		return NULL;
	}
	return arena_printf(c->a, "%lld", (long long)n);
}

size_t compat_find(struct compat *c, const char *name, size_t from, const char *field,
		   const char *value)
{
	struct table *t = table_maybe(c, name);

	return t ? table_find(c, t, from, field, value) : 0;
}

const struct json *compat_sorted(struct compat *c, const char *name, const char *field,
				 const char *value)
{
	size_t lo = 0, hi = compat_count(c, name), mid;
	const char *text;
	int order;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		text = compat_text(c, name, mid, field);
		order = strcmp(value, text ? text : "");
		if (order == 0)
			return compat_row(c, name, mid);
		if (order < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

static void offer_keys(struct compat *c, struct table *t, bool all, struct near *near)
{
	const struct table_key *k, *keys = compat_table_keys(t->name);
	const char *v;
	size_t i;

	for (i = 0; i < t->n; i++) {
		for (k = keys; k && k->field; k++) {
			v = all || k->in_key ? compat_value(c, t->name, i, k->field) : NULL;
			if (v)
				near_offer(near, view_of(v), view_of(v), 0);
		}
	}
}

const char *const *compat_near(struct compat *c, const char *name, const char *wanted)
{
	struct table *t = table_maybe(c, name);
	struct near near;

	near_init(&near, view_of(wanted));
	if (t)
		offer_keys(c, t, false, &near);
	if (t && !near.n)
		offer_keys(c, t, true, &near);
	return near_list(c->a, &near);
}

const char *compat_table_date(struct compat *c, const char *name)
{
	struct table *t = table_maybe(c, name);

	return t ? table_head(c, t, "date") : NULL;
}

const char *compat_date(struct compat *c)
{
	const char *const *name;
	struct table *t;
	const char *date;

	for (name = c->date ? NULL : compat_tables(c); name && *name; name++) {
		t = named(c, *name);
		date = t ? table_head(c, t, "date") : NULL;
		if (date && (!c->date || strcmp(date, c->date) > 0))
			c->date = date;
	}
	return c->date ? c->date : "";
}

static const char *source_text(struct compat *c, const struct json *source)
{
	const char *what = json_get_str(source, "what"), *where = json_get_str(source, "where");
	const char *date = json_get_str(source, "date");

	if (!what)
		return json_key(source);
	if (!where && !date)
		return what;
	return arena_printf(c->a, "%s (%s%s%s)", what, where ? where : "",
			    where && date ? ", " : "", date ? date : "");
}

static void read_sources(struct compat *c, struct table *t)
{
	const struct json *all = t->doc ? json_get(t->doc, "sources") : NULL, *v;
	struct view text;
	struct err e;
	size_t n = 0;

	if (!all && raw_member(t->text, "sources", &text) &&
	    json_parse_trusted(c->a, text, t->origin, &all, &e))
		all = NULL;
	if (json_type(all) != JSON_OBJECT)
		all = NULL;
	t->sources = arena_calloc(c->a, json_count(all) + 1, sizeof(*t->sources));
	for (v = json_first(all); v; v = json_next(v))
		t->sources[n++] = (struct source){ .key = json_key(v), .text = source_text(c, v) };
}

const char *compat_source(struct compat *c, const char *name, const char *key)
{
	struct table *t = table_maybe(c, name);
	const struct source *s;

	if (!t)
		return key;
	if (!t->sources)
		read_sources(c, t);
	for (s = t->sources; s->key; s++)
		if (strcmp(s->key, key) == 0)
			return s->text;
	return key;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Validating all tables of a compat; prints nothing and changes nothing. */
#include "compat/validate.h"

#include <string.h>

#include "compat/embedded.h"
#include "compat/schema.h"
#include "compat/validate_parts.h"

const char *validate_text(struct arena *a, const struct json *v)
{
	int64_t i;
	double d;

	if (json_str(v))
		return json_str(v);
	if (json_int(v, &i))
		return arena_printf(a, "%lld", (long long)i);
	return json_num(v, &d) ? arena_printf(a, "%g", d) : "";
}

static const char *key_of(struct checked *k, const struct json *row)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, k->c->a);
	for (i = 0; i < k->n_key; i++) {
		strbuf_sep(&b, " ");
		strbuf_add(&b, validate_text(k->c->a, json_get(row, k->key[i].field)));
	}
	return b.s;
}

void validate_say(struct checked *k, const struct json *row, const char *fmt, ...)
{
	struct data_problem *p = ARENA_APPEND(k->c->a, k->report->v, k->report->n);
	va_list ap;

	va_start(ap, fmt);
	p->table = k->t->name;
	p->where = row ? key_of(k, row) : "";
	p->text = arena_vprintf(k->c->a, fmt, ap);
	va_end(ap);
}

/* "rows/12/cc" is the member cc of a row, which is named by its key. */
static void from_schema(void *ctx, const char *path, const char *text)
{
	struct checked *k = ctx;
	struct view rest = view_of(path), number;
	const struct json *row = NULL;
	uint64_t i;

	k->sound = false;
	if (view_starts(rest, "rows/")) {
		number = view_cut(view_skip(rest, 5), '/', &rest);
		if (view_u64(number, 10, &i) && i < k->n)
			row = k->rows[i];
		if (row && json_type(row) != JSON_OBJECT)
			row = NULL;
		if (!row)
			rest = view_of(path);
	}
	if (rest.n)
		validate_say(k, row, "%.*s: %s", (int)rest.n, rest.p, text);
	else
		validate_say(k, row, "%s", text);
}

/* The schema, and from it the key. */
static void take_schema(struct checked *k)
{
	struct arena *a = k->c->a;
	const char *name = arena_printf(a, "schema/%s.schema", k->t->name);
	const struct json *one;
	struct err e;

	if (json_parse_trusted(a, compat_embedded(name), name, &k->schema, &e)) {
		k->schema = NULL;
		return;
	}
	for (one = json_first(json_get(k->schema, "x-key")); one && k->n_key < VALIDATE_KEYS;
	     one = json_next(one)) {
		k->key[k->n_key].field = json_str(json_first(one));
		k->key[k->n_key].kind = json_str(json_next(json_first(one)));
		if (!k->key[k->n_key].field || !k->key[k->n_key].kind) {
			k->schema = NULL;
			return;
		}
		k->n_key++;
	}
}

static void take_rows(struct checked *k)
{
	const struct json *rows = json_get(k->doc, "rows"), *row;

	if (json_type(rows) != JSON_ARRAY)
		return;
	k->rows = arena_calloc(k->c->a, json_count(rows) + 1, sizeof(*k->rows));
	for (row = json_first(rows); row; row = json_next(row))
		k->rows[k->n++] = row;
	k->report->rows += k->n;
}

/* Parses the text itself: a table that is read line by line would pass with a broken head. */
static void take(struct checked *k, bool unknown_ok)
{
	const char *name;
	struct err e;

	take_schema(k);
	if (!k->t->text.p) {
		validate_say(k, NULL, "%s", k->c->failed ? k->c->err.msg : _("cannot be read"));
		return;
	}
	if (json_parse(k->c->a, k->t->text, k->t->origin, &k->doc, &e)) {
		validate_say(k, NULL, "%s", e.msg);
		k->doc = NULL;
		return;
	}
	k->sound = true;
	take_rows(k);
	name = json_get_str(k->doc, "table");
	if (name && strcmp(name, k->t->name) != 0) {
		k->sound = false;
		validate_say(k, NULL, _("calls itself %.60s"), name);
		return;
	}
	schema_check(k->c->a, k->schema, k->doc, unknown_ok, from_schema, k);
}

void compat_validate(struct compat *c, bool unknown_ok, struct data_report *ret)
{
	const char *const *names = compat_tables(c);
	struct checked *all = arena_calloc(c->a, c->n_tables + 1, sizeof(*all));
	size_t i, n = 0;

	*ret = (struct data_report){ .n = 0 };
	for (i = 0; i < c->n_tables; i++) {
		if (!*names || strcmp(*names, c->tables[i].name) != 0)
			continue;
		names++;
		all[n].c = c;
		all[n].t = &c->tables[i];
		all[n].report = ret;
		take(&all[n++], unknown_ok);
	}
	ret->tables = n;
	for (i = 0; i < n; i++) {
		if (!all[i].sound)
			continue;
		validate_rows(&all[i]);
		validate_sources(&all[i]);
		validate_dates(&all[i]);
		validate_refs(&all[i], all, n);
	}
}

static void layout_of(struct compat *c, struct table *t, struct data_report *ret)
{
	struct checked k = { .c = c, .t = t, .report = ret };
	const struct json *row;
	struct view lines = t->text, line;
	size_t n = 0;
	struct err e;

	if (json_parse(c->a, t->text, t->origin, &k.doc, &e))
		return; /* compat_validate has said so */
	if (!table_lines(t->text, &lines)) {
		validate_say(&k, NULL, _("its rows do not stand in a line each"));
		return;
	}
	while (table_line(&lines, &line)) {
		n++;
		if (json_parse(c->a, line, t->origin, &row, &e) || json_type(row) != JSON_OBJECT) {
			validate_say(&k, NULL, _("row %zu is not a line of its own"), n);
			return;
		}
	}
	if (n != json_count(json_get(k.doc, "rows")))
		validate_say(&k, NULL, _("%zu lines of rows, but %zu rows"), n,
			     json_count(json_get(k.doc, "rows")));
}

void compat_validate_layout(struct compat *c, struct data_report *ret)
{
	const char *const *names = compat_tables(c);
	size_t i;

	for (i = 0; i < c->n_tables; i++) {
		if (!*names || strcmp(*names, c->tables[i].name) != 0)
			continue;
		names++;
		if (c->tables[i].text.p)
			layout_of(c, &c->tables[i], ret);
	}
}

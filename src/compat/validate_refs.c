/* SPDX-License-Identifier: Apache-2.0 */
/* Dates, sources and references of a table whose schema holds. */
#include <stdlib.h>
#include <string.h>

#include "compat/raw.h"
#include "compat/validate_parts.h"

static bool number_between(struct view v, uint64_t low, uint64_t high, uint64_t *ret)
{
	return view_u64(v, 10, ret) && *ret >= low && *ret <= high;
}

bool compat_is_date(const char *text, bool part)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	struct view rest = view_of(text), y, m, d;
	uint64_t year, month, day, last;

	y = view_cut(rest, '-', &rest);
	m = view_cut(rest, '-', &d);
	if (strspn(text, "0123456789-") != strlen(text) || y.n != 4 ||
	    !number_between(y, 1, 9999, &year))
		return false;
	if (strlen(text) == 4)
		return part;
	if (m.n != 2 || !number_between(m, 1, 12, &month))
		return false;
	if (strlen(text) == 7)
		return part;
	last = days[month - 1];
	if (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0))
		last = 29;
	return strlen(text) == 10 && d.n == 2 && number_between(d, 1, last, &day);
}

static bool is_date_ref(const struct json *spec)
{
	const char *ref = json_get_str(spec, "$ref");

	return ref && strcmp(ref, "#/$defs/date") == 0;
}

/* Does the schema call this member of a row a date? */
static bool date_field(const struct json *spec)
{
	const struct json *one;

	for (one = json_first(json_get(spec, "anyOf")); one; one = json_next(one))
		if (is_date_ref(one))
			return true;
	return is_date_ref(spec);
}

static const struct json *row_properties(const struct checked *k)
{
	const struct json *rows = json_get(json_get(k->schema, "properties"), "rows");

	return json_get(json_get(rows, "items"), "properties");
}

void validate_dates(struct checked *k)
{
	const char *text = json_get_str(k->doc, "date");
	const struct json *one;
	size_t i;

	/* The date of the table is compared with others as a day. */
	if (text && !compat_is_date(text, false))
		validate_say(k, NULL, _("date: no such day: %.40s"), text);
	for (one = json_first(json_get(k->doc, "sources")); one; one = json_next(one)) {
		text = json_get_str(one, "date");
		if (text && !compat_is_date(text, true))
			validate_say(k, NULL, _("source %.60s: no such date: %.40s"), json_key(one),
				     text);
	}
	for (one = json_first(row_properties(k)); one; one = json_next(one)) {
		if (!date_field(one))
			continue;
		for (i = 0; i < k->n; i++) {
			text = json_get_str(k->rows[i], json_key(one));
			if (text && !compat_is_date(text, true))
				validate_say(k, k->rows[i], _("%.60s: no such date: %.40s"),
					     json_key(one), text);
		}
	}
}

/* Names of defined sources, and whether a row used each. */
struct source_use {
	const char *key;
	bool used;
};

static int compare_use(const void *x, const void *y)
{
	return strcmp(((const struct source_use *)x)->key, ((const struct source_use *)y)->key);
}

static void row_sources(struct checked *k, const struct json *row, struct source_use *all, size_t n)
{
	const char *confidence = json_get_str(row, "confidence"), *name;
	const struct json *one;
	struct source_use *u, want;
	bool thin = true;

	for (one = json_first(json_get(row, "sources")); one; one = json_next(one)) {
		name = want.key = json_str(one);
		u = n ? bsearch(&want, all, n, sizeof(*all), compare_use) : NULL;
		if (u)
			u->used = true;
		else
			validate_say(k, row, _("source %.60s is not defined"), name);
		thin = thin && (strcmp(name, "MEM") == 0 || strcmp(name, "INFERRED") == 0);
	}
	for (one = json_first(json_get(row, "inferred")); one; one = json_next(one))
		if (!json_get(row, json_str(one)))
			validate_say(k, row, _("inferred names %.60s, which is absent"),
				     json_str(one));
	if (thin && (!confidence ||
		     (strcmp(confidence, "low") != 0 && strcmp(confidence, "unverified") != 0)))
		validate_say(k, row, _("rests on MEM or INFERRED alone: confidence must be low"));
}

void validate_sources(struct checked *k)
{
	const struct json *sources = json_get(k->doc, "sources"), *one;
	struct source_use *all = arena_calloc(k->c->a, json_count(sources) + 1, sizeof(*all));
	struct view facts = { .p = "", .n = 0 };
	size_t i, n = 0;

	for (one = json_first(sources); one; one = json_next(one))
		all[n++].key = json_key(one);
	qsort(all, n, sizeof(*all), compare_use);
	for (i = 0; i < k->n; i++)
		row_sources(k, k->rows[i], all, n);
	if (!raw_member(k->t->text, "facts", &facts))
		facts.n = 0;
	for (i = 0; i < n; i++)
		if (!all[i].used &&
		    view_find(facts, arena_printf(k->c->a, "\"%s\"", all[i].key)) < 0)
			validate_say(k, NULL, _("source %.60s is never used"), all[i].key);
}

/* One rule of "x-refs". */
struct ref {
	const char *field; /* of the row */
	const char *when;  /* only rows in which this one is not null; NULL: all */
	const char *to;	   /* "chip.chip" */
	const char **known; /* sorted values of that column */
	size_t n;
};

static int compare_text(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* False when that table is not there or not sound: then nothing can be said. */
static bool take_column(struct checked *all, size_t n, struct ref *ref)
{
	struct view field, name = view_cut(view_of(ref->to), '.', &field);
	const char *column;
	size_t i, r;

	for (i = 0; i < n && !view_is(name, all[i].t->name); i++)
		;
	if (i == n || !all[i].sound)
		return false;
	column = view_dup(all[i].c->a, field);
	ref->known = arena_calloc(all[i].c->a, all[i].n + 1, sizeof(*ref->known));
	for (r = 0; r < all[i].n; r++)
		ref->known[r] = validate_text(all[i].c->a, json_get(all[i].rows[r], column));
	ref->n = all[i].n;
	qsort(ref->known, ref->n, sizeof(*ref->known), compare_text);
	return true;
}

static void one_ref(struct checked *k, const struct json *row, const struct ref *ref,
		    const char *value)
{
	if (!bsearch(&value, ref->known, ref->n, sizeof(*ref->known), compare_text))
		validate_say(k, row, _("%.60s %.60s is not in %s"), ref->field, value, ref->to);
}

static void row_refs(struct checked *k, const struct json *row, const struct ref *ref)
{
	const struct json *v = json_get(row, ref->field), *one;

	if (ref->when && json_type(json_get(row, ref->when)) == JSON_NULL)
		return;
	switch (json_type(v)) {
	case JSON_NULL:
		break;
	case JSON_ARRAY:
		for (one = json_first(v); one; one = json_next(one))
			one_ref(k, row, ref, validate_text(k->c->a, one));
		break;
	case JSON_OBJECT:
		for (one = json_first(v); one; one = json_next(one))
			one_ref(k, row, ref, json_key(one));
		break;
	default:
		one_ref(k, row, ref, validate_text(k->c->a, v));
	}
}

void validate_refs(struct checked *k, struct checked *all, size_t n)
{
	const struct json *one;
	size_t i;

	for (one = json_first(json_get(k->schema, "x-refs")); one; one = json_next(one)) {
		struct ref ref = { .field = json_key(one), .to = json_str(one) };

		if (!ref.to) {
			ref.to = json_get_str(one, "to");
			ref.when = json_get_str(one, "when");
		}
		if (!ref.to || !take_column(all, n, &ref))
			continue;
		for (i = 0; ref.n && i < k->n; i++)
			row_refs(k, k->rows[i], &ref);
	}
}

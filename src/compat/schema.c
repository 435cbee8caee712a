/* SPDX-License-Identifier: Apache-2.0 */
/* A validator for the keywords of JSON Schema in use here; knows no table and opens no file. */
#include "compat/schema.h"

#include <regex.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/strbuf.h"

enum { DEPTH_MAX = 64, UNIQUE_MAX = 1000 };

/* Patterns are few and met thousands of times. */
struct pattern {
	const char *text;
	regex_t re;
	bool bad;
};

struct schema_run {
	struct arena *a;
	const struct json *root;
	bool unknown_ok;
	schema_report_fn *report;
	void *ctx;
	struct pattern **patterns;
	size_t n_patterns;
	struct strbuf path;
	int quiet; /* inside an anyOf that may fit yet */
	int depth;
};

static bool check(struct schema_run *s, const struct json *schema, const struct json *v);

static bool problem(struct schema_run *s, const char *fmt, ...) ATTR_PRINTF(2, 3);
static bool problem(struct schema_run *s, const char *fmt, ...)
{
	va_list ap;

	if (!s->quiet) {
		va_start(ap, fmt);
		s->report(s->ctx, s->path.s, arena_vprintf(s->a, fmt, ap));
		va_end(ap);
	}
	return false;
}

/* "rows", then "rows/3": returns the length to which pop() goes back. */
static size_t push(struct schema_run *s, const char *key)
{
	size_t n = s->path.n;

	strbuf_sep(&s->path, "/");
	strbuf_add(&s->path, key);
	return n;
}

static void pop(struct schema_run *s, size_t n)
{
	s->path.n = n;
	s->path.s[n] = '\0';
}

/* POSIX has no \uXXXX; those in use are ASCII. A string never holds NUL, so that 1 stands for 0. */
static const char *posix_pattern(struct arena *a, const char *text)
{
	struct strbuf b;
	uint64_t cp;

	strbuf_init(&b, a);
	for (; *text; text++) {
		if (text[0] == '\\' && text[1] == 'u' && strlen(text) >= 6 &&
		    view_u64((struct view){ .p = text + 2, .n = 4 }, 16, &cp) && cp < 0x80) {
			strbuf_addc(&b, (char)(cp ? cp : 1));
			text += 5;
		} else {
			strbuf_addc(&b, *text);
		}
	}
	return b.s;
}

static const struct pattern *compiled(struct schema_run *s, const char *text)
{
	struct pattern *p;
	size_t i;

	for (i = 0; i < s->n_patterns; i++)
		if (s->patterns[i]->text == text || strcmp(s->patterns[i]->text, text) == 0)
			return s->patterns[i];
	p = arena_alloc(s->a, sizeof(*p));
	p->text = text;
	p->bad = regcomp(&p->re, posix_pattern(s->a, text), REG_EXTENDED | REG_NOSUB) != 0;
	*ARENA_APPEND(s->a, s->patterns, s->n_patterns) = p;
	return p;
}

static bool equal(const struct json *x, const struct json *y)
{
	enum json_type t = json_type(x);
	double a, b;

	if (t != json_type(y))
		return false;
	switch (t) {
	case JSON_NULL:
		return true;
	case JSON_BOOL:
		return json_is_true(x) == json_is_true(y);
	case JSON_NUMBER:
		return json_num(x, &a) && json_num(y, &b) && a >= b && a <= b;
	case JSON_STRING:
		return strcmp(json_str(x), json_str(y)) == 0;
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
	/* The schemas compare no lists and no objects; unlike is the answer that is noticed. */
	return false;
}

static bool type_fits(const char *type, const struct json *v)
{
	static const char *const names[] = {
		[JSON_NULL] = "null",	  [JSON_BOOL] = "boolean", [JSON_NUMBER] = "number",
		[JSON_STRING] = "string", [JSON_ARRAY] = "array",  [JSON_OBJECT] = "object",
	};
	int64_t ignored;

	if (strcmp(type, "integer") == 0)
		return json_int(v, &ignored);
	return strcmp(type, names[json_type(v)]) == 0;
}

static bool on_type(struct schema_run *s, const struct json *arg, const struct json *v)
{
	const char *type = json_str(arg);

	if (type && type_fits(type, v))
		return true;
	return problem(s, _("is not of type %s"), type ? type : "?");
}

static bool on_const(struct schema_run *s, const struct json *arg, const struct json *v)
{
	return equal(arg, v) ||
	       problem(s, _("is not \"%.60s\""), json_str(arg) ? json_str(arg) : "?");
}

static bool on_enum(struct schema_run *s, const struct json *arg, const struct json *v)
{
	const struct json *one;

	for (one = json_first(arg); one; one = json_next(one))
		if (equal(one, v))
			return true;
	return problem(s, _("\"%.60s\" is none of the values that are known"),
		       json_str(v) ? json_str(v) : "?");
}

static bool on_any_of(struct schema_run *s, const struct json *arg, const struct json *v)
{
	const struct json *one;

	s->quiet++;
	for (one = json_first(arg); one && !check(s, one, v); one = json_next(one))
		;
	s->quiet--;
	if (one)
		return true;
	/* The first form is the one meant; its own words say more than "fits none". */
	if (!check(s, json_first(arg), v))
		return false;
	return problem(s, _("fits none of the forms that are allowed"));
}

static bool on_ref(struct schema_run *s, const struct json *arg, const struct json *v)
{
	static const char at[] = "#/$defs/";
	const char *ref = json_str(arg);
	const struct json *def = NULL;

	if (ref && strncmp(ref, at, sizeof(at) - 1) == 0)
		def = json_get(json_get(s->root, "$defs"), ref + sizeof(at) - 1);
	if (!def)
		return problem(s, _("the schema refers to %.60s, which it lacks"), ref ? ref : "?");
	return check(s, def, v);
}

static bool on_required(struct schema_run *s, const struct json *arg, const struct json *v)
{
	const struct json *one;
	bool ok = true;

	for (one = json_first(arg); json_type(v) == JSON_OBJECT && one; one = json_next(one))
		if (json_str(one) && !json_get(v, json_str(one)))
			ok = problem(s, _("lacks \"%.60s\""), json_str(one));
	return ok;
}

static bool on_properties(struct schema_run *s, const struct json *arg, const struct json *v)
{
	const struct json *one, *sub;
	bool ok = true;
	size_t n;

	for (one = json_type(v) == JSON_OBJECT ? json_first(v) : NULL; one; one = json_next(one)) {
		sub = json_get(arg, json_key(one));
		if (!sub)
			continue;
		n = push(s, json_key(one));
		ok &= check(s, sub, one);
		pop(s, n);
	}
	return ok;
}

static bool others(struct schema_run *s, const struct json *schema, const struct json *arg,
		   const struct json *v)
{
	const struct json *one, *known = json_get(schema, "properties");
	bool ok = true;
	size_t n;

	for (one = json_type(v) == JSON_OBJECT ? json_first(v) : NULL; one; one = json_next(one)) {
		if (json_get(known, json_key(one)))
			continue;
		if (json_type(arg) == JSON_BOOL) {
			if (!json_is_true(arg) && !s->unknown_ok)
				ok = problem(s, _("\"%.60s\" is no member that the schema knows"),
					     json_key(one));
			continue;
		}
		n = push(s, json_key(one));
		ok &= check(s, arg, one);
		pop(s, n);
	}
	return ok;
}

static bool on_items(struct schema_run *s, const struct json *arg, const struct json *v)
{
	const struct json *one;
	bool ok = true;
	size_t i = 0, n;

	for (one = json_type(v) == JSON_ARRAY ? json_first(v) : NULL; one;
	     one = json_next(one), i++) {
		n = push(s, "");
		strbuf_printf(&s->path, "%zu", i);
		ok &= check(s, arg, one);
		pop(s, n);
	}
	return ok;
}

static bool on_min_items(struct schema_run *s, const struct json *arg, const struct json *v)
{
	int64_t least;

	if (json_type(v) != JSON_ARRAY ||
	    (json_int(arg, &least) && (int64_t)json_count(v) >= least))
		return true;
	return problem(s, _("has too few entries"));
}

static bool on_unique_items(struct schema_run *s, const struct json *arg, const struct json *v)
{
	const struct json *x, *y;

	if (json_type(v) != JSON_ARRAY || !json_is_true(arg))
		return true;
	if (json_count(v) > UNIQUE_MAX)
		return problem(s, _("has too many entries"));
	for (x = json_first(v); x; x = json_next(x))
		for (y = json_next(x); y; y = json_next(y))
			if (equal(x, y))
				return problem(s, _("has an entry twice"));
	return true;
}

static bool on_min_length(struct schema_run *s, const struct json *arg, const struct json *v)
{
	int64_t least;

	if (json_type(v) != JSON_STRING ||
	    (json_int(arg, &least) && (int64_t)strlen(json_str(v)) >= least))
		return true;
	return problem(s, _("is too short"));
}

static bool on_minimum(struct schema_run *s, const struct json *arg, const struct json *v)
{
	double least, have;

	if (!json_num(v, &have) || (json_num(arg, &least) && have >= least))
		return true;
	return problem(s, _("is too small"));
}

static bool on_maximum(struct schema_run *s, const struct json *arg, const struct json *v)
{
	double most, have;

	if (!json_num(v, &have) || (json_num(arg, &most) && have <= most))
		return true;
	return problem(s, _("is too large"));
}

static bool on_pattern(struct schema_run *s, const struct json *arg, const struct json *v)
{
	const struct pattern *p;

	if (json_type(v) != JSON_STRING)
		return true;
	p = json_str(arg) ? compiled(s, json_str(arg)) : NULL;
	if (!p || p->bad)
		return problem(s, _("the schema has a pattern that cannot be read"));
	if (regexec(&p->re, json_str(v), 0, NULL, 0) == 0)
		return true;
	return problem(s, _("\"%.60s\" has not the form %.60s"), json_str(v), p->text);
}

static const struct {
	const char *name;
	bool (*fn)(struct schema_run *s, const struct json *arg,
		   const struct json *v); /* NULL: says nothing */
} keywords[] = {
	{ .name = "type", .fn = on_type },
	{ .name = "properties", .fn = on_properties },
	{ .name = "$ref", .fn = on_ref },
	{ .name = "anyOf", .fn = on_any_of },
	{ .name = "required", .fn = on_required },
	{ .name = "items", .fn = on_items },
	{ .name = "pattern", .fn = on_pattern },
	{ .name = "enum", .fn = on_enum },
	{ .name = "const", .fn = on_const },
	{ .name = "minLength", .fn = on_min_length },
	{ .name = "minimum", .fn = on_minimum },
	{ .name = "maximum", .fn = on_maximum },
	{ .name = "minItems", .fn = on_min_items },
	{ .name = "uniqueItems", .fn = on_unique_items },
	{ .name = "$schema" },
	{ .name = "$id" },
	{ .name = "$defs" },
	{ .name = "title" },
	{ .name = "description" },
	{ .name = "x-key" },
	{ .name = "x-refs" },
};

static bool one_keyword(struct schema_run *s, const struct json *schema, const struct json *k,
			const struct json *v)
{
	const char *name = json_key(k);
	size_t i;

	if (strcmp(name, "additionalProperties") == 0)
		return others(s, schema, k, v);
	for (i = 0; i < ARRAY_LEN(keywords); i++)
		if (strcmp(keywords[i].name, name) == 0)
			return !keywords[i].fn || keywords[i].fn(s, k, v);
	return problem(s, _("the schema has a keyword that is not known: %.60s"), name);
}

static bool check(struct schema_run *s, const struct json *schema, const struct json *v)
{
	const struct json *k = json_get(schema, "type");
	bool ok = true;

	if (s->depth >= DEPTH_MAX)
		return problem(s, _("is nested too deep"));
	/* Of a value of another type nothing else is worth saying. */
	if (k && !on_type(s, k, v))
		return false;
	s->depth++;
	for (k = json_first(schema); k; k = json_next(k))
		ok &= one_keyword(s, schema, k, v);
	s->depth--;
	return ok;
}

void schema_check(struct arena *a, const struct json *schema, const struct json *doc,
		  bool unknown_ok, schema_report_fn *report, void *ctx)
{
	struct schema_run s = {
		.a = a, .root = schema, .unknown_ok = unknown_ok, .report = report, .ctx = ctx
	};
	size_t i;

	strbuf_init(&s.path, a);
	if (json_type(schema) == JSON_OBJECT)
		check(&s, schema, doc);
	else
		problem(&s, _("there is no schema for it"));
	for (i = 0; i < s.n_patterns; i++)
		if (!s.patterns[i]->bad)
			regfree(&s.patterns[i]->re);
}

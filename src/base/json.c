/* SPDX-License-Identifier: Apache-2.0 */
/* The door to cJSON: parse with a length, check what cJSON does not, hand out typed values. */
#include "base/json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"

/* struct json is never defined: a pointer to it is a pointer to a cJSON item. */
static const cJSON *item(const struct json *v)
{
	return (const cJSON *)v;
}

static const struct json *value(const cJSON *c)
{
	return (const struct json *)c;
}

/*
 * cJSON answers the same NULL to a lack of memory as to a text that is no JSON; malloc leaves
 * ENOMEM behind. Its hooks would tell too, but they belong to the whole process, which in the
 * library is somebody else's.
 */
static cJSON *parse(struct arena *a, struct view text, const char **ret_end)
{
	cJSON *doc;

	errno = 0;
	doc = cJSON_ParseWithLengthOpts(text.p, text.n, ret_end, 0);
	if (!doc && errno == ENOMEM)
		arena_exhausted(a);
	return doc;
}

static void doc_free(void *p)
{
	cJSON_Delete(p);
}

static int compare_keys(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* First duplicate key below v, or NULL. Sorting keeps hostile objects from costing n^2. */
static const char *duplicate_key(struct arena *a, const cJSON *v)
{
	const char *dup = NULL;
	const char **keys;
	const cJSON *c;
	size_t n = 0, i;

	for (c = v->child; c && !dup; c = c->next) {
		n++;
		if (c->child)
			dup = duplicate_key(a, c);
	}
	if (dup || !cJSON_IsObject(v) || n < 2)
		return dup;
	keys = arena_calloc(a, n, sizeof(*keys));
	for (c = v->child, i = 0; c; c = c->next)
		keys[i++] = c->string ? c->string : "";
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (i = 1; i < n; i++)
		if (strcmp(keys[i - 1], keys[i]) == 0)
			return keys[i];
	return NULL;
}

static void position(struct view text, const char *at, unsigned *line, unsigned *col)
{
	const char *p = text.p, *end = at >= text.p && at <= text.p + text.n ? at : text.p + text.n;

	for (*line = 1, *col = 1; p < end; p++) {
		if (*p == '\n') {
			++*line;
			*col = 1;
		} else {
			++*col;
		}
	}
}

int json_parse_trusted(struct arena *a, struct view text, const char *name, const struct json **ret,
		       struct err *err)
{
	const char *end = NULL;
	cJSON *doc = parse(a, text, &end);
	unsigned line, col;
	struct view rest;

	if (doc) {
		rest = view_trim(view_skip(text, (size_t)(end - text.p)));
		if (!rest.n) {
			arena_defer(a, doc_free, doc);
			*ret = value(doc);
			return 0;
		}
		end = rest.p;
		cJSON_Delete(doc);
	}
	position(text, end ? end : text.p, &line, &col);
	return err_set(err, ERR_PARSE, _("%s:%u:%u: not valid JSON"), name, line, col);
}

int json_parse(struct arena *a, struct view text, const char *name, const struct json **ret,
	       struct err *err)
{
	const struct json *doc;
	const char *dup;
	size_t bad;
	int r;

	if (!utf8_valid(text, &bad))
		return err_set(err, ERR_PARSE, _("%s: byte %zu is not UTF-8"), name, bad);
	r = json_parse_trusted(a, text, name, &doc, err);
	if (r)
		return r;
	dup = duplicate_key(a, item(doc));
	if (dup)
		return err_set(err, ERR_PARSE,
			       _("%s: the key \"%.64s\" stands twice in one object"), name, dup);
	*ret = doc;
	return 0;
}

enum json_type json_type(const struct json *v)
{
	const cJSON *c = item(v);

	if (!c || cJSON_IsNull(c))
		return JSON_NULL;
	if (cJSON_IsBool(c))
		return JSON_BOOL;
	if (cJSON_IsNumber(c))
		return JSON_NUMBER;
	if (cJSON_IsString(c))
		return JSON_STRING;
	return cJSON_IsArray(c) ? JSON_ARRAY : JSON_OBJECT;
}

const char *json_key(const struct json *v)
{
	return v ? item(v)->string : NULL;
}

const struct json *json_first(const struct json *v)
{
	return v ? value(item(v)->child) : NULL;
}

const struct json *json_next(const struct json *v)
{
	return v ? value(item(v)->next) : NULL;
}

size_t json_count(const struct json *v)
{
	const struct json *c;
	size_t n = 0;

	for (c = json_first(v); c; c = json_next(c))
		n++;
	return n;
}

const struct json *json_get(const struct json *obj, const char *key)
{
	const struct json *c;

	if (json_type(obj) != JSON_OBJECT)
		return NULL;
	for (c = json_first(obj); c; c = json_next(c))
		if (strcmp(json_key(c), key) == 0)
			return c;
	return NULL;
}

const char *json_str(const struct json *v)
{
	return json_type(v) == JSON_STRING ? item(v)->valuestring : NULL;
}

const char *json_get_str(const struct json *obj, const char *key)
{
	return json_str(json_get(obj, key));
}

bool json_is_true(const struct json *v)
{
	return v && cJSON_IsTrue(item(v));
}

bool json_get_bool(const struct json *obj, const char *key, bool dflt)
{
	const struct json *v = json_get(obj, key);

	return json_type(v) == JSON_BOOL ? json_is_true(v) : dflt;
}

bool json_int(const struct json *v, int64_t *ret)
{
	double d;

	if (json_type(v) != JSON_NUMBER)
		return false;
	d = item(v)->valuedouble;
	if (!isfinite(d) || d != floor(d) || fabs(d) > 9007199254740992.0)
		return false;
	*ret = (int64_t)d;
	return true;
}

bool json_num(const struct json *v, double *ret)
{
	if (json_type(v) != JSON_NUMBER || !isfinite(item(v)->valuedouble))
		return false;
	*ret = item(v)->valuedouble;
	return true;
}

bool json_get_int(const struct json *obj, const char *key, int64_t *ret)
{
	return json_int(json_get(obj, key), ret);
}

const char **json_str_list(struct arena *a, const struct json *v, size_t *ret_n)
{
	const char **list, *s;
	const struct json *c;
	size_t n = 0;

	if (json_type(v) != JSON_ARRAY)
		return NULL;
	list = arena_calloc(a, json_count(v) + 1, sizeof(*list));
	for (c = json_first(v); c; c = json_next(c)) {
		s = json_str(c);
		if (s)
			list[n++] = s;
	}
	if (ret_n)
		*ret_n = n;
	return list;
}

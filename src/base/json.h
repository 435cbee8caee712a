/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading JSON: the only door to cJSON. Values are read through getters that say where a wrong one
 * stands.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/view.h"

struct arena;
struct json; /* one value of a document; owned by the arena it was parsed on */

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/*
 * Parses one whole document (trailing blanks allowed, nothing else). Nesting deeper than cJSON's
 * limit, invalid UTF-8 and duplicate keys in one object are malformed. `name` stands in messages. 0
 * or -code.
 */
int json_parse(struct arena *a, struct view text, const char *name, const struct json **ret,
	       struct err *err) ATTR_MUST;
/*
 * The same for text that the program brings along: skips the checks for UTF-8 and duplicate keys.
 */
int json_parse_trusted(struct arena *a, struct view text, const char *name, const struct json **ret,
		       struct err *err) ATTR_MUST;

enum json_type json_type(const struct json *v); /* NULL pointer gives JSON_NULL */
const char *json_key(const struct json *v);	/* key of a member of an object, else NULL */
/* Members of an array or object, in order. NULL at the end; accepts NULL. */
const struct json *json_first(const struct json *v);
const struct json *json_next(const struct json *v);
size_t json_count(const struct json *v);
const struct json *json_get(const struct json *obj,
			    const char *key); /* exact key, NULL when absent */

/* The value or a default when absent, null or of another type. Strings belong to the document. */
const char *json_str(const struct json *v);			      /* NULL unless a string */
const char *json_get_str(const struct json *obj, const char *key);   /* NULL unless a string */
bool json_get_bool(const struct json *obj, const char *key, bool dflt);
/* Whole numbers up to 2^53 only; false otherwise. */
bool json_int(const struct json *v, int64_t *ret);
bool json_get_int(const struct json *obj, const char *key, int64_t *ret);
/* Any finite number. */
bool json_num(const struct json *v, double *ret);
bool json_is_true(const struct json *v);

/*
 * Array of strings as NULL-terminated list on the arena; other members are left out. NULL unless an
 * array.
 */
const char **json_str_list(struct arena *a, const struct json *v, size_t *ret_n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of JSON Schema that data/compat/schema uses, over values that are parsed. Prints
 * nothing.
 */
#ifndef COMPAT_SCHEMA_H
#define COMPAT_SCHEMA_H

#include <stdbool.h>

struct arena;
struct json;

/* Called for each problem: where in the document ("rows/12/cc", "" for the whole), and what. */
typedef void schema_report_fn(void *ctx, const char *path, const char *text);

/*
 * Checks `doc` against `schema`: type, const, enum, anyOf, $ref to #/$defs, properties, required,
 * additionalProperties, items, minItems, uniqueItems, minimum, maximum, minLength, pattern. A
 * keyword that is none of these is a problem of the schema and reported, never passed over. With
 * `unknown_ok` members that the schema does not name are let through: newer data have fields that
 * an older program ignores.
 */
void schema_check(struct arena *a, const struct json *schema, const struct json *doc,
		  bool unknown_ok, schema_report_fn *report, void *ctx);

#endif

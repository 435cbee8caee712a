/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading: lines of the embedded tables against folders of tables in any format, and tables that
 * are damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka wants the first four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/file.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "compat/compat.h"
#include "compat/raw.h"

struct fixture {
	struct arena *a;
	char dir[64];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->a = arena_new(NULL);
	snprintf(f->dir, sizeof(f->dir), "/tmp/cuvet-compat-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = { "gpu", "chip", "name", "driver", "cuda", "torch" };
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		unlink(arena_printf(f->a, "%s/%s.json", f->dir, names[i]));
	rmdir(f->dir);
	arena_free(f->a);
	free(f);
	return 0;
}

static void put(struct fixture *f, const char *table, const char *text, size_t n)
{
	assert_int_equal(file_write(arena_printf(f->a, "%s/%s.json", f->dir, table),
				    (struct view){ .p = text, .n = n }, NULL), 0);
}

/* The same document with a line break after every comma and colon outside of strings. */
static void put_reformatted(struct fixture *f, const char *table)
{
	struct view text;
	struct strbuf b;
	bool quoted = false;
	size_t i;

	assert_int_equal(file_read(f->a, arena_printf(f->a, "data/compat/%s.json", table), 1 << 24,
				   &text, NULL),
			 0);
	strbuf_init(&b, f->a);
	for (i = 0; i < text.n; i++) {
		strbuf_addc(&b, text.p[i]);
		if (quoted && text.p[i] == '\\') {
			strbuf_addc(&b, text.p[++i]);
			continue;
		}
		if (text.p[i] == '"')
			quoted = !quoted;
		if (!quoted && (text.p[i] == ',' || text.p[i] == ':'))
			strbuf_add(&b, "\n\t ");
	}
	put(f, table, b.s, b.n);
}

static const char *show(const char *s)
{
	return s ? s : "(null)";
}

static void any_format_gives_the_same_answers(void **state)
{
	static const char *const tables[] = { "gpu", "chip", "name", "driver", "cuda", "torch" };
	static const char *const names[] = {
		"T4",	  "GeForce GT 710", "NVIDIA GeForce RTX 2070 ...", "Orin", "GRID T4-2A",
		"cc:8.9", "RTX 9999"
	};
	struct fixture *f = *state;
	struct compat *lines, *whole;
	struct gpu_match m, n;
	size_t i, count, k;

	for (i = 0; i < ARRAY_LEN(tables); i++)
		put_reformatted(f, tables[i]);
	assert_int_equal(compat_open(f->a, NULL, &lines, NULL), 0);
	assert_int_equal(compat_open(f->a, f->dir, &whole, NULL), 0);
	for (i = 0; i < ARRAY_LEN(tables); i++) {
		assert_int_equal(compat_count(lines, tables[i]), compat_count(whole, tables[i]));
		assert_string_equal(compat_table_date(lines, tables[i]),
				    compat_table_date(whole, tables[i]));
	}
	count = compat_count(lines, "gpu");
	for (i = 0; i < count; i += 5) {
		const struct gpu_row *g = compat_gpu_at(lines, i), *h = compat_gpu_at(whole, i);

		assert_string_equal(show(g->name), show(h->name));
		assert_string_equal(show(g->last_driver), show(h->last_driver));
		assert_string_equal(show(g->first_driver), show(h->first_driver));
		assert_int_equal(g->cc, h->cc);
	}
	count = compat_count(lines, "torch");
	for (i = 0; i < count; i += 5) {
		const struct torch_row *g = compat_torch_at(lines, i),
				       *h = compat_torch_at(whole, i);

		assert_string_equal(g->source, h->source);
		assert_int_equal(g->n_arch, h->n_arch);
		assert_ptr_equal(compat_torch(whole, g->version, g->platform, g->variant), h);
	}
	for (i = 0; i < ARRAY_LEN(names); i++) {
		compat_gpu_find(lines, names[i], &m);
		compat_gpu_find(whole, names[i], &n);
		assert_int_equal(m.n, n.n);
		assert_int_equal(m.cc, n.cc);
		for (k = 0; m.near[k]; k++)
			assert_string_equal(m.near[k], n.near[k]);
	}
	assert_string_equal(compat_min_driver(whole, "12.4", false, NULL), "525.60.13");
	assert_string_equal(compat_source(whole, "gpu", "I"), compat_source(lines, "gpu", "I"));
	assert_string_equal(compat_date(whole), compat_date(lines));
	assert_null(compat_error(whole));
	/* The rest is not there: not listed, and an error when asked for. */
	for (i = 0; compat_tables(whole)[i]; i++)
		;
	assert_int_equal(i, ARRAY_LEN(tables));
	assert_null(compat_table(whole, "xid"));
}

static void every_embedded_table_parses_whole(void **state)
{
	struct fixture *f = *state;
	const char *const *t;
	struct compat *c;
	size_t n = 0;

	assert_int_equal(compat_open(f->a, NULL, &c, NULL), 0);
	for (t = compat_tables(c); *t; t++, n++) {
		const struct json *doc = compat_table(c, *t), *rows = json_get(doc, "rows"), *row;
		size_t i = 0;

		assert_non_null(doc);
		assert_int_equal(json_count(rows), compat_count(c, *t));
		for (row = json_first(rows); row; row = json_next(row), i++) {
			const char *key = json_key(json_first(row));

			assert_string_equal(json_key(json_first(compat_row(c, *t, i))), key);
			if (json_get_str(row, key))
				assert_string_equal(compat_text(c, *t, i, key),
						    json_get_str(row, key));
		}
		assert_int_equal(strlen(compat_table_date(c, *t)), strlen("2026-11-30"));
	}
	assert_true(n >= 6);
	assert_null(compat_table(c, "no such table"));
	assert_null(compat_error(c));
}

#define HEAD \
	"{\"schema\":\"cuvet.compat/1\",\"table\":\"gpu\",\"date\":\"2026-01-01\",\"sources\":{},\"rows\":"

/* Each is an error that names the file and, where there is one, the place in it. */
static void damaged_tables_are_named(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ .text = NULL, .says = "/gpu.json: no such table" },
		{ .text = "", .says = "/gpu.json:1:1: not valid JSON" },
		{ .text = "{\n\"rows\":[\n{]}", .says = "/gpu.json:3:" },
		{ .text = "[]", .says = "\"schema\" is not" },
		{ .text = "{\"schema\":\"cuvet.compat/2\",\"table\":\"gpu\",\"rows\":[]}",
		  .says = "\"schema\" is not" },
		{ .text = "{\"schema\":\"cuvet.compat/1\",\"table\":\"torch\",\"rows\":[]}",
		  .says = "\"table\" is not" },
		{ .text = HEAD "{}}", .says = "\"rows\" is not a list" },
		{ .text = HEAD "[3]}", .says = "row 1 is not an object" },
		{ .text = HEAD "[{\"id\":\"2684\"},{\"id\":null}]}",
		  .says = "row 2 has no \"id\"" },
		{ .text = HEAD "[{\"id\":\"2684\",\"id\":\"2685\"}]}", .says = "stands twice" },
		{ .text = HEAD "[]} trailing", .says = "not valid JSON" },
		{ .text = HEAD "[{\"id\":\"\xff\"}]}", .says = "is not UTF-8" },
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct compat *c;

		if (rows[i].text)
			put(f, "gpu", rows[i].text, strlen(rows[i].text));
		assert_int_equal(compat_open(f->a, f->dir, &c, NULL), 0);
		assert_null(compat_gpu(c, "2684"));
		assert_non_null(compat_error(c));
		assert_int_equal(compat_error(c)->code, ERR_DATA);
		if (!strstr(compat_error(c)->msg, rows[i].says) ||
		    !strstr(compat_error(c)->msg, f->dir)) {
			print_error("%zu: %s\n", i, compat_error(c)->msg);
			fail();
		}
	}
}

/* Fields of another type than they should have are not known; nothing else follows from them. */
static void wrong_types_are_not_known(void **state)
{
	static const char text[] =
		HEAD "[{\"id\":\"2684\",\"name\":5,\"chip\":[],\"cc\":8.9,\"last_driver\":{},"
		     "\"open\":true,\"other_names\":{\"a\":1},\"sub\":\"x\",\"memory_gib\":\"24\"},"
		     "{\"id\":7}]}";
	struct fixture *f = *state;
	const struct gpu_row *g;
	struct gpu_match m;
	struct compat *c;

	put(f, "gpu", text, sizeof(text) - 1);
	assert_int_equal(compat_open(f->a, f->dir, &c, NULL), 0);
	g = compat_gpu(c, "2684");
	assert_non_null(g);
	assert_null(g->name);
	assert_null(g->chip);
	assert_int_equal(g->cc, -1);
	assert_null(g->last_driver);
	assert_true(g->memory_gib == 0);
	assert_null(compat_gpu_at(c, 1));
	compat_gpu_find(c, "RTX 4090", &m);
	assert_int_equal(m.n, 0);
}

static void folders_that_are_none_are_refused(void **state)
{
	struct fixture *f = *state;
	struct compat *c;
	struct err e;

	assert_int_equal(compat_open(f->a, "/nonexistent/cuvet", &c, &e), -(int)ERR_DATA);
	assert_non_null(strstr(e.msg, "/nonexistent/cuvet"));
	put(f, "gpu", "x", 1);
	assert_int_equal(compat_open(f->a, arena_printf(f->a, "%s/gpu.json", f->dir), &c, &e),
			 -(int)ERR_DATA);
	assert_int_equal(compat_open(f->a, "-", &c, &e), -(int)ERR_DATA);
}

static void members_are_found_without_a_parse(void **state)
{
	static const struct {
		const char *object, *key, *value; /* value NULL: none */
	} rows[] = {
		{ .object = "{\"a\":\"x\",\"b\":{\"a\":1},\"c\":[1,\"]\"]}",
		  .key = "a",
		  .value = "\"x\"" },
		{ .object = "{\"a\":\"x\",\"b\":{\"a\":1},\"c\":[1,\"]\"]}",
		  .key = "b",
		  .value = "{\"a\":1}" },
		{ .object = "{\"a\":\"x\",\"b\":{\"a\":1},\"c\":[1,\"]\"]}",
		  .key = "c",
		  .value = "[1,\"]\"]" },
		{ .object = " { \"b\" : null , \"a\" : -3 } ", .key = "a", .value = "-3" },
		{ .object = "{\"b\":{\"a\":1}}", .key = "a", .value = NULL },
		{ .object = "{\"b\":\"\\\"a\\\":1\",\"a\":2}", .key = "a", .value = "2" },
		{ .object = "{\"ab\":1,\"a\":2}", .key = "a", .value = "2" },
		{ .object = "{\"a\":", .key = "a", .value = NULL },
		{ .object = "{\"a\":\"x", .key = "a", .value = NULL },
		{ .object = "{\"a\"", .key = "a", .value = NULL },
		{ .object = "{", .key = "a", .value = NULL },
		{ .object = "", .key = "a", .value = NULL },
		{ .object = "[1]", .key = "a", .value = NULL },
		{ .object = "{\"b\":[[[[,\"a\":1}", .key = "a", .value = NULL },
		{ .object = "{\"b\":]},\"a\":1}", .key = "a", .value = NULL },
		{ .object = "{\"b\":\"\\", .key = "a", .value = NULL },
	};
	struct view v;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		bool got = raw_member(view_of(rows[i].object), rows[i].key, &v);

		if (got != (rows[i].value != NULL) || (got && !view_is(v, rows[i].value))) {
			print_error("%s\n", rows[i].object);
			fail();
		}
	}
	assert_true(raw_string(view_of("{\"a\":\"x y\"}"), "a", &v) && view_is(v, "x y"));
	assert_false(raw_string(view_of("{\"a\":\"x\\n\"}"), "a", &v));
	assert_false(raw_string(view_of("{\"a\":1}"), "a", &v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(any_format_gives_the_same_answers),
		T(every_embedded_table_parses_whole),
		T(damaged_tables_are_named),
		T(wrong_types_are_not_known),
		T(folders_that_are_none_are_refused),
		T(members_are_found_without_a_parse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

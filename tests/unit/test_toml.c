/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOML 1.0 by the classes of the public toml-test, with documents of our own: what is valid and
 * what it means, what is not and where; and bounds (faults: P10 P11).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/doc.h"
#include "base/strbuf.h"

/* "{a=i:1,b=[s:x]}" */
static void flatten(struct strbuf *b, const struct doc *d)
{
	static const char kinds[] = { [DOC_NULL] = 'n', [DOC_STRING] = 's', [DOC_INT] = 'i',
				      [DOC_FLOAT] = 'f', [DOC_BOOL] = 'b', [DOC_DATE] = 'd' };
	const struct doc *c;

	if (d->kind != DOC_LIST && d->kind != DOC_MAP) {
		strbuf_printf(b, "%c:%s", kinds[d->kind], d->text ? d->text : "");
		return;
	}
	strbuf_addc(b, d->kind == DOC_LIST ? '[' : '{');
	for (c = d->first; c; c = c->next) {
		if (c != d->first)
			strbuf_addc(b, ',');
		if (c->key)
			strbuf_printf(b, "%s=", c->key);
		flatten(b, c);
	}
	strbuf_addc(b, d->kind == DOC_LIST ? ']' : '}');
}

static void valid_documents_mean_what_they_say(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "{}" },
		{ "\xef\xbb\xbf"
		  "a=1",
		  "{a=i:1}" },
		{ "# c\n\na = 1 # c\n", "{a=i:1}" },
		{ "a=1\r\nb=2\r\n", "{a=i:1,b=i:2}" },
		/* strings */
		{ "s = \"a\\tb\\\"\\\\\\u00e9\\U0001F600\"",
		  "{s=s:a\tb\"\\\xc3\xa9\xf0\x9f\x98\x80}" },
		{ "s = 'C:\\n'", "{s=s:C:\\n}" },
		{ "s = \"\"\"\na\n b\"\"\"", "{s=s:a\n b}" },
		{ "s = \"\"\"a \\\n   b\"\"\"", "{s=s:a b}" },
		{ "s = \"\"\"a\"\"\"\"\"", "{s=s:a\"\"}" },
		{ "s = '''\n'x'\n'''", "{s=s:'x'\n}" },
		{ "s = ''", "{s=s:}" },
		{ "s = \"\"\"\r\na\r\n\"\"\"", "{s=s:a\n}" },
		/* numbers */
		{ "a=[0,-0,+9,1_000,0xDEAD_beef,0o17,0b1_0]",
		  "{a=[i:0,i:-0,i:+9,i:1000,i:0xDEADbeef,i:0o17,i:0b10]}" },
		{ "a=9223372036854775807\nb=-9223372036854775808",
		  "{a=i:9223372036854775807,b=i:-9223372036854775808}" },
		{ "a=[1.0,-0.5,1e6,6.6e-34,1_0.0_1,inf,-inf,nan,+nan]",
		  "{a=[f:1.0,f:-0.5,f:1e6,f:6.6e-34,f:10.01,f:inf,f:-inf,f:nan,f:+nan]}" },
		{ "a=true\nb=false", "{a=b:true,b=b:false}" },
		/* dates */
		{ "a=1979-05-27T07:32:00Z", "{a=d:1979-05-27T07:32:00Z}" },
		{ "a=1979-05-27 07:32:00.999-07:00", "{a=d:1979-05-27 07:32:00.999-07:00}" },
		{ "a=1979-05-27", "{a=d:1979-05-27}" },
		{ "a=07:32:00", "{a=d:07:32:00}" },
		{ "a=2024-02-29", "{a=d:2024-02-29}" },
		{ "a=1979-05-27 # day", "{a=d:1979-05-27}" },
		/* keys */
		{ "\"a b\" = 1\n'c.d' = 2\n1 = 3\n-_ = 4", "{a b=i:1,c.d=i:2,1=i:3,-_=i:4}" },
		{ "a.b.c = 1\na.b.d = 2", "{a={b={c=i:1,d=i:2}}}" },
		{ "a . b = 1", "{a={b=i:1}}" },
		{ "3.14 = 'pi'", "{3={14=s:pi}}" },
		{ "\"\" = 1", "{=i:1}" },
		/* tables */
		{ "[a]\nx=1\n[a.b]\ny=2", "{a={x=i:1,b={y=i:2}}}" },
		{ "[a.b]\ny=2\n[a]\nx=1", "{a={b={y=i:2},x=i:1}}" },
		{ "[ a . \"b\" ]\n", "{a={b={}}}" },
		{ "[fruit]\napple.color='r'\n[fruit.apple.texture]\nx=1",
		  "{fruit={apple={color=s:r,texture={x=i:1}}}}" },
		{ "[[a]]\nx=1\n[[a]]\nx=2\n[a.b]\ny=3", "{a=[{x=i:1},{x=i:2,b={y=i:3}}]}" },
		{ "[[a.b]]\n[[a.b]]\n[[a.b.c]]\nx=1", "{a={b=[{},{c=[{x=i:1}]}]}}" },
		/* arrays and inline tables */
		{ "a=[1, 'x', [2.0], {b=1}, ]", "{a=[i:1,s:x,[f:2.0],{b=i:1}]}" },
		{ "a=[\n# c\n1,\n2 # d\n]", "{a=[i:1,i:2]}" },
		{ "a={}\nb={ x = 1, y.z = 2 }", "{a={},b={x=i:1,y={z=i:2}}}" },
	};
	struct arena *a = arena_new(NULL);
	const struct doc *d;
	struct err err;
	struct strbuf b;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		if (toml_parse(a, view_of(rows[i].text), "t", &d, &err))
			fail_msg("%s: %s", rows[i].text, err.msg);
		strbuf_init(&b, a);
		flatten(&b, d);
		assert_string_equal(b.s, rows[i].want);
	}
	arena_free(a);
}

static void invalid_documents_are_refused(void **state)
{
	static const char *const rows[] = {
		/* keys */
		"a",
		"a =",
		"= 1",
		"a = 1 b = 2",
		"a b = 1",
		"a..b = 1",
		".a = 1",
		"a. = 1",
		"\xc3\xa9 = 1",
		"a = 1\na = 2",
		"a = 1\na.b = 2",
		"a.b = 1\na = 2",
		"\"\"\"a\"\"\" = 1",
		"a\n= 1",
		"a#b = 1",
		"a = {b = 1}\na.c = 2",
		/* strings */
		"a = \"x",
		"a = 'x",
		"a = \"x\ny\"",
		"a = \"\\q\"",
		"a = \"\\u12\"",
		"a = \"\\ud800\"",
		"a = \"\\U00110000\"",
		"a = \"\x01\"",
		"a = '\x7f'",
		"a = \"\"\"x",
		"a = '''x''",
		"a = x",
		"a = \"\"\"x\"\"\"\"\"\"",
		"a = \"\\x41\"",
		"a = 'a'b'",
		/* numbers */
		"a = 01",
		"a = +01",
		"a = 1__0",
		"a = _1",
		"a = 1_",
		"a = 0x",
		"a = 0xg",
		"a = 0X1",
		"a = +0x1",
		"a = 0b2",
		"a = 0o8",
		"a = 9223372036854775808",
		"a = -9223372036854775809",
		"a = 1.",
		"a = .5",
		"a = 1.e1",
		"a = 1e",
		"a = 1._0",
		"a = 1_.0",
		"a = 1e_1",
		"a = 0x_1",
		"a = Inf",
		"a = NaN",
		"a = 03.14",
		"a = 1e1.5",
		"a = --1",
		"a = 0x8000000000000000",
		"a = True",
		"a = FALSE",
		"a = truex",
		"a = 1a",
		/* dates */
		"a = 1979-13-01",
		"a = 1979-00-01",
		"a = 1979-02-30",
		"a = 2023-02-29",
		"a = 1900-02-29",
		"a = 1979-05-27T",
		"a = 1979-05-27T25:00:00",
		"a = 1979-05-27T07:60:00",
		"a = 07:32",
		"a = 79-05-27",
		"a = 1979-05-27T07:32:00+25:00",
		"a = 1979-05-27T07:32:00.",
		"a = 1979-5-27",
		/* tables */
		"[a",
		"[]",
		"[a]]",
		"[[a]",
		"[a]\n[a]",
		"[a] b = 1",
		"[a.b]\n[a]\n[a]",
		"a = 1\n[a]",
		"a = 1\n[a.b]",
		"a = {}\n[a]",
		"a = {}\n[a.b]",
		"a.b = 1\n[a]",
		"[[a]]\n[a]",
		"[a]\n[[a]]",
		"a = []\n[[a]]",
		"[a]\nb.c = 1\n[a.b]",
		"[a b]",
		"[a\nb]",
		"[ [a]]",
		"[a.]",
		"[a.b.c]\nz=9\n[a]\nb.c.t = 1",
		"[[a.b]]\n[a]\nb.y = 2",
		/* arrays and inline tables */
		"a = [1",
		"a = [1 2]",
		"a = [,]",
		"a = [1,,2]",
		"a = {b = 1",
		"a = {b = 1,}",
		"a = {b = 1,\nc = 2}",
		"a = {,}",
		"a = {b = 1 c = 2}",
		"a = {b = 1, b = 2}",
		"a = {b.c = 1, b = 2}",
		"a = {b = 1}\n[a.c]",
		"a = [{b = 1}]\n[a.c]",
		/* text */
		"a = 1 \x01",
		"# \x01",
		"# \x7f",
		"a = \"\xff\"",
		"a = 1\rb = 2",
		"\xff",
	};
	struct arena *a = arena_new(NULL);
	const struct doc *d;
	struct err err;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		if (!toml_parse(a, view_of(rows[i]), "t", &d, &err))
			fail_msg("taken: %s", rows[i]);
		assert_int_equal(err.code, ERR_PARSE);
		assert_int_equal(strncmp(err.msg, "t:", 2), 0);
	}
	arena_free(a);
}

static void values_have_places(void **state)
{
	struct arena *a = arena_new(NULL);
	const struct doc *d, *v;
	struct err err;

	(void)state;
	assert_int_equal(toml_parse(a, view_of("[p]\n  deps = [\n    \"x\",\n    'y',\n  ]\n"), "t",
				    &d, &err),
			 0);
	v = doc_at(d, "p.deps");
	assert_int_equal(v->key_line, 2);
	assert_int_equal(v->key_column, 3);
	assert_int_equal(v->end_line, 5);
	assert_int_equal(v->first->line, 3);
	assert_int_equal(v->first->next->line, 4);
	assert_int_equal(v->first->next->column, 5);
	assert_int_equal(toml_parse(a, view_of("a = 1\nb = [\n 2,\n x ]"), "f", &d, &err) < 0, 1);
	assert_string_equal(err.msg, "f:4:2: no value of TOML");
	assert_int_equal(yaml_parse(a, view_of("a:\n  - b\n  - c: d\n"), "y", &d, &err), 0);
	v = doc_get(d->first, "a");
	assert_int_equal(v->first->line, 2);
	assert_int_equal(v->first->column, 5);
	assert_string_equal(doc_get_str(v->first->next, "c"), "d");
	arena_free(a);
}

/* P10: YAML's aliases, nesting, tags. P11: TOML that is malformed, doubled or huge. */
static void bounds_hold(void **state)
{
	struct arena *a = arena_new(NULL);
	const struct doc *d;
	struct err err;
	struct strbuf b;
	int i;

	(void)state;
	strbuf_init(&b, a);
	strbuf_add(&b, "a = ");
	for (i = 0; i < 100000; i++)
		strbuf_addc(&b, '[');
	assert_true(toml_parse(a, (struct view){ b.s, b.n }, "t", &d, &err) < 0); /* P11 */
	assert_true(yaml_parse(a, (struct view){ b.s + 4, b.n - 4 }, "t", &d, &err) < 0); /* P10 */
	strbuf_init(&b, a);
	for (i = 0; i < 100000; i++)
		strbuf_add(&b, i ? ".a" : "a");
	strbuf_add(&b, " = 1");
	assert_true(toml_parse(a, (struct view){ b.s, b.n }, "t", &d, &err) < 0); /* P11 */
	strbuf_init(&b, a);
	strbuf_add(&b, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
	for (i = 1; i < 12; i++)
		strbuf_printf(&b, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i,
			      i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
	assert_true(yaml_parse(a, (struct view){ b.s, b.n }, "t", &d, &err) < 0); /* P10 */
	assert_true(yaml_parse(a, view_of("a: &a [*a]"), "t", &d, &err) < 0);	  /* P10 */
	/* A tag makes nothing; of two keys of one name the later counts, as for the tools. */
	assert_int_equal(yaml_parse(a,
				    view_of("a: !!python/object/apply:os.system [x]\nb: 1\nb: 2\n"),
				    "t", &d, &err),
			 0);
	assert_string_equal(doc_get_str(d->first, "b"), "2");
	strbuf_init(&b, a);
	for (i = 0; i < 20000; i++)
		strbuf_printf(&b, "k%d = 1\n", i);
	assert_true(toml_parse(a, (struct view){ b.s, b.n }, "t", &d, &err) < 0); /* P11 */
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_documents_mean_what_they_say),
		cmocka_unit_test(invalid_documents_are_refused),
		cmocka_unit_test(values_have_places),
		cmocka_unit_test(bounds_hold),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

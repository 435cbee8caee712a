/* SPDX-License-Identifier: Apache-2.0 */
/* The loader's cache in its three formats, damaged ones (T13), and the search that uses it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/attr.h"
#include "sys/ldso.h"
#include "tree.h"

/* Writes caches as ldconfig does: entries first, then the strings. */
struct maker {
	unsigned char buf[4096];
	size_t n;
};

struct row {
	const char *name, *path;
	uint32_t flags;
	uint64_t hwcap;
};

static const struct row rows[] = {
	{ "libcuda.so.1", "/lib/x86_64-linux-gnu/libcuda.so.1", 0x303, 0 },
	{ "libcuda.so.1", "/lib32/libcuda.so.1", 0x003, 0 },
	{ "libc.so.6", "/lib/fast/libc.so.6", 0x303, 1 },
	{ "libc.so.6", "/lib/libc.so.6", 0x303, 0 },
	{ "libcuda.so.1", "/opt/libcuda.so.1", 0x303, 0 },
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void put32(struct maker *m, uint32_t x)
{
	memcpy(m->buf + m->n, &x, 4);
	m->n += 4;
}

static void make_new(struct maker *m)
{
	size_t start = m->n, strings = 48 + 24 * ROWS;

	memcpy(m->buf + m->n, "glibc-ld.so.cache1.1", 20);
	m->n += 20;
	put32(m, ROWS);
	put32(m, 0);
	m->buf[m->n] = 2;
	m->n += 20;
	for (size_t i = 0; i < ROWS; i++) {
		put32(m, rows[i].flags);
		put32(m, (uint32_t)strings);
		strings += strlen(rows[i].name) + 1;
		put32(m, (uint32_t)strings);
		strings += strlen(rows[i].path) + 1;
		put32(m, 0);
		memcpy(m->buf + m->n, &rows[i].hwcap, 8);
		m->n += 8;
	}
	for (size_t i = 0; i < ROWS; i++) {
		m->n += 1 + (size_t)sprintf((char *)m->buf + m->n, "%s", rows[i].name);
		m->n += 1 + (size_t)sprintf((char *)m->buf + m->n, "%s", rows[i].path);
	}
	assert_int_equal(m->n - start, strings);
}

/* Old entries count from the end of their own table. */
static void make_old(struct maker *m, bool with_new)
{
	size_t strings = 0, pad;

	memcpy(m->buf, "ld.so-1.7.0", 12);
	m->n = 12;
	put32(m, ROWS);
	pad = (8 - (16 + 12 * ROWS) % 8) % 8;
	if (with_new)
		strings = pad + 48 + 24 * ROWS;
	for (size_t i = 0; i < ROWS; i++) {
		put32(m, rows[i].flags);
		put32(m, (uint32_t)strings);
		strings += strlen(rows[i].name) + 1;
		put32(m, (uint32_t)strings);
		strings += strlen(rows[i].path) + 1;
	}
	if (with_new) {
		m->n += pad;
		make_new(m);
		return;
	}
	for (size_t i = 0; i < ROWS; i++) {
		m->n += 1 + (size_t)sprintf((char *)m->buf + m->n, "%s", rows[i].name);
		m->n += 1 + (size_t)sprintf((char *)m->buf + m->n, "%s", rows[i].path);
	}
}

static struct view text(const struct maker *m)
{
	return (struct view){ .p = (const char *)m->buf, .n = m->n };
}

static void expect_sound(struct maker *m)
{
	struct ldcache c;
	struct ldcache_entry e;
	size_t pos = 0;

	assert_int_equal(ldcache_parse(text(m), &c), 0);
	assert_null(c.damage);
	assert_int_equal(c.n, ROWS);
	assert_true(ldcache_find(&c, "libcuda.so.1", LDCACHE_X86_64, &pos, &e));
	assert_string_equal(e.path, "/lib/x86_64-linux-gnu/libcuda.so.1");
	assert_true(ldcache_find(&c, "libcuda.so.1", LDCACHE_X86_64, &pos, &e));
	assert_string_equal(e.path, "/opt/libcuda.so.1");
	assert_false(ldcache_find(&c, "libcuda.so.1", LDCACHE_X86_64, &pos, &e));
	pos = 0;
	assert_true(ldcache_find(&c, "libcuda.so.1", LDCACHE_I386, &pos, &e));
	assert_string_equal(e.path, "/lib32/libcuda.so.1");
	pos = 0;
	assert_false(ldcache_find(&c, "libcuda.so", LDCACHE_ANY, &pos, &e));
}

static void test_formats(void **state)
{
	struct maker m = { 0 };
	struct ldcache c;
	struct ldcache_entry e;
	size_t pos = 0;

	(void)state;
	make_new(&m);
	expect_sound(&m);
	/* What is for certain processors only is passed over. */
	assert_int_equal(ldcache_parse(text(&m), &c), 0);
	assert_true(ldcache_find(&c, "libc.so.6", LDCACHE_X86_64, &pos, &e));
	assert_string_equal(e.path, "/lib/libc.so.6");

	m = (struct maker){ 0 };
	make_old(&m, false);
	expect_sound(&m);
	m = (struct maker){ 0 };
	make_old(&m, true);
	expect_sound(&m);
	assert_int_equal(ldcache_parse(text(&m), &c), 0);
	assert_true(c.is_new);
}

static void test_t13_counts_and_offsets(void **state)
{
	struct maker m = { 0 };
	struct ldcache c;
	struct ldcache_entry e;
	uint32_t huge = 0xffffffff, odd = 0xfffffff0;
	size_t pos = 0, n;

	(void)state;
	make_new(&m);
	memcpy(m.buf + 20, &huge, 4);
	assert_int_equal(ldcache_parse(text(&m), &c), 0);
	assert_non_null(c.damage);
	assert_true(c.n < m.n / 24);
	assert_true(ldcache_find(&c, "libcuda.so.1", LDCACHE_X86_64, &pos, &e));

	/* Offsets outside: that entry is passed over, the others hold. */
	m = (struct maker){ 0 };
	make_new(&m);
	memcpy(m.buf + 48 + 4, &odd, 4);
	assert_int_equal(ldcache_parse(text(&m), &c), 0);
	assert_false(ldcache_entry(&c, 0, &e));
	pos = 0;
	assert_true(ldcache_find(&c, "libcuda.so.1", LDCACHE_X86_64, &pos, &e));
	assert_string_equal(e.path, "/opt/libcuda.so.1");

	/* Strings that do not end. */
	m = (struct maker){ 0 };
	make_new(&m);
	m.n--;
	assert_int_equal(ldcache_parse(text(&m), &c), 0);
	assert_false(ldcache_entry(&c, ROWS - 1, &e));

	/* Cut anywhere: nothing outside is read (the sanitizers look), entries stay whole or are
	 * gone. */
	m = (struct maker){ 0 };
	make_old(&m, true);
	for (n = 0; n < m.n; n++) {
		char *copy = malloc(n ? n : 1);

		memcpy(copy, m.buf, n);
		pos = 0;
		if (ldcache_parse((struct view){ .p = copy, .n = n }, &c) == 0)
			while (ldcache_find(&c, "libcuda.so.1", LDCACHE_ANY, &pos, &e))
				assert_true(e.path + strlen(e.path) < copy + n);
		free(copy);
	}
}

static void test_not_a_cache(void **state)
{
	struct maker m = { 0 };
	struct ldcache c;

	(void)state;
	assert_int_equal(ldcache_parse(VIEW(""), &c), -EINVAL);
	assert_int_equal(ldcache_parse(VIEW("ld.so-1.7.0"), &c), -EINVAL);
	assert_int_equal(ldcache_parse(VIEW("glibc-ld.so.cache1.1"), &c), -EINVAL);
	make_new(&m);
	m.buf[28] = 3; /* the other byte order */
	assert_int_equal(ldcache_parse(text(&m), &c), -EINVAL);
}

static struct ldso_hit *search(struct tree *t, const char *path, size_t *n)
{
	struct ldso_hit *hits;
	struct ldso l;

	ldso_init(&l, t->p.root, t->a, "x86_64", path);
	*n = ldso_search(&l, "libcuda.so.1", &hits);
	return hits;
}

static void test_search_order(void **state)
{
	struct tree *t = *state;
	struct maker m = { 0 };
	struct ldso_hit *h;
	size_t n;

	make_new(&m);
	tree_put_bytes(t, "/etc/ld.so.cache", m.buf, m.n);
	tree_library(t, "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.1");
	tree_link(t, "usr/lib", "/lib");
	h = search(t, NULL, &n);
	assert_int_equal(n, 1);
	assert_string_equal(h[0].path, "/lib/x86_64-linux-gnu/libcuda.so.1");
	assert_string_equal(h[0].real, "/usr/lib/x86_64-linux-gnu/libcuda.so.1");
	assert_string_equal(h[0].via, "ld.so.cache");

	tree_library(t, "/stubs/libcuda.so.1", "libcuda.so.1");
	tree_library(t, "/opt/libcuda.so.1", "libcuda.so.1");
	h = search(t, "relative:/none:/stubs/;$ORIGIN/x", &n);
	assert_int_equal(n, 3);
	assert_string_equal(h[0].path, "/stubs/libcuda.so.1");
	assert_string_equal(h[0].via, "LD_LIBRARY_PATH");
	assert_string_equal(h[1].path, "/lib/x86_64-linux-gnu/libcuda.so.1");
	assert_string_equal(h[2].path, "/opt/libcuda.so.1");

	h = search(t, "/usr/$LIB", &n);
	assert_string_equal(h[0].path, "/usr/lib/x86_64-linux-gnu/libcuda.so.1");
	assert_string_equal(h[0].via, "LD_LIBRARY_PATH");
}

/*
 * T14: the loader reads its cache and never ld.so.conf, so that includes of itself, a pattern that
 * matches everything, a FIFO and a folder that it names change nothing.
 */
static void test_t14_configuration_is_not_read(void **state)
{
	struct tree *t = *state;
	struct maker m = { 0 };
	struct ldso_hit *h;
	size_t n;

	make_new(&m);
	tree_put_bytes(t, "/etc/ld.so.cache", m.buf, m.n);
	tree_library(t, "/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.1");
	tree_library(t, "/evil/libcuda.so.1", "libcuda.so.1");
	tree_put(t, "/etc/ld.so.conf",
		 "/evil\ninclude /etc/ld.so.conf\ninclude /etc/ld.so.conf.d/*.conf\n"
		 "include /*/*/*/*/*/*/*/*/*/*/*/*\ninclude {a,b}{a,b}{a,b}{a,b}\n");
	tree_put(t, "/etc/ld.so.conf.d/loop.conf", "include /etc/ld.so.conf\n/evil\n");
	tree_fifo(t, "/etc/ld.so.conf.d/fifo.conf");
	tree_link(t, "self.conf", "/etc/ld.so.conf.d/self.conf");
	h = search(t, NULL, &n);
	assert_int_equal(n, 1);
	assert_string_equal(h[0].path, "/lib/x86_64-linux-gnu/libcuda.so.1");
	assert_string_equal(h[0].via, "ld.so.cache");
	/* Nor does it stand in for a cache that is not there. */
	tree_put(t, "/etc/ld.so.cache", "");
	h = search(t, NULL, &n);
	assert_int_equal(n, 1);
	assert_string_equal(h[0].path, "/lib/x86_64-linux-gnu/libcuda.so.1");
	assert_string_equal(h[0].via, "default");
}

/* Without a cache, and with one that the loader refuses, the default folders count. */
static void test_search_without_cache(void **state)
{
	struct tree *t = *state;
	struct ldso_hit *h;
	size_t n;

	tree_library(t, "/usr/lib64/libcuda.so.1", "libcuda.so.1");
	h = search(t, NULL, &n);
	assert_int_equal(n, 1);
	assert_string_equal(h[0].via, "default");
	tree_put(t, "/etc/ld.so.cache", "no cache at all");
	h = search(t, NULL, &n);
	assert_int_equal(n, 1);
	assert_string_equal(h[0].path, "/usr/lib64/libcuda.so.1");
}

/* T4, T3, T6, E2, E15: what the loader cannot take is said, and what it passes over is not. */
static void test_search_broken(void **state)
{
	struct tree *t = *state;
	struct ldso_hit *h;
	size_t n;

	tree_link(t, "libcuda.so.535.0", "/a/libcuda.so.1");
	tree_link(t, "libcuda.so.1", "/b/libcuda.so.1");
	tree_fifo(t, "/c/libcuda.so.1");
	tree_put(t, "/d/libcuda.so.1", "GROUP ( libcuda.so )");
	h = search(t, "/a:/b:/c:/d", &n);
	assert_int_equal(n, 4);
	assert_true(h[0].broken && h[1].broken && h[2].broken && h[3].broken);
	assert_string_equal(h[0].why, "dangling link to libcuda.so.535.0");
	assert_string_equal(h[1].why, "link loop");
	assert_string_equal(h[2].why, "not a regular file");
	assert_string_equal(h[3].why, "not an ELF file");
}

/* A sorted cache whose entries for glibc-hwcaps stand in front; the names of the folders are in the
 * extension. */
static size_t make_hwcaps(struct maker *m)
{
	static const struct row sorted[] = {
		{ "libb.so.10", "/lib/libb.so.10", 0x303, 0 },
		{ "libb.so.2", "/v3/libb.so.2", 0x303, (UINT64_C(1) << 62) | 0 },
		{ "libb.so.2", "/v2/libb.so.2", 0x303, (UINT64_C(1) << 62) | 1 },
		{ "libb.so.2", "/tls/libb.so.2", 0x303, UINT64_C(1) << 63 },
		{ "libb.so.2", "/32/libb.so.2", 0x003, 0 },
		{ "libb.so.2", "/lib/libb.so.2", 0x303, 0 },
		{ "liba.so.1", "/lib/liba.so.1", 0x303, 0 },
	};
	size_t n = ARRAY_LEN(sorted), strings = 48 + 24 * n, i, names, ext;

	memset(m, 0, sizeof(*m));
	memcpy(m->buf, "glibc-ld.so.cache1.1", 20);
	m->n = 20;
	put32(m, (uint32_t)n);
	put32(m, 0);
	m->buf[m->n] = 2;
	m->n += 20;
	for (i = 0; i < n; i++) {
		put32(m, sorted[i].flags);
		put32(m, (uint32_t)strings);
		strings += strlen(sorted[i].name) + 1;
		put32(m, (uint32_t)strings);
		strings += strlen(sorted[i].path) + 1;
		put32(m, 0);
		memcpy(m->buf + m->n, &sorted[i].hwcap, 8);
		m->n += 8;
	}
	for (i = 0; i < n; i++) {
		m->n += 1 + (size_t)sprintf((char *)m->buf + m->n, "%s", sorted[i].name);
		m->n += 1 + (size_t)sprintf((char *)m->buf + m->n, "%s", sorted[i].path);
	}
	names = m->n;
	m->n += 1 + (size_t)sprintf((char *)m->buf + m->n, "x86-64-v3");
	m->n += 1 + (size_t)sprintf((char *)m->buf + m->n, "x86-64-v2");
	ext = m->n = (m->n + 3) & ~(size_t)3;
	put32(m, 0xEAA42174);
	put32(m, 1);
	put32(m, 1); /* the list of names */
	put32(m, 0);
	put32(m, (uint32_t)m->n + 8);
	put32(m, 8);
	put32(m, (uint32_t)names);
	put32(m, (uint32_t)names + 10);
	memcpy(m->buf + 32, &(uint32_t){ (uint32_t)ext }, 4);
	return ext;
}

static const char *look_up(struct maker *m, const char *name, const char *best, bool legacy)
{
	const char *const caps[] = { best, best ? "x86-64-v2" : NULL, NULL };
	struct ldcache_cpu cpu = { .hwcaps = caps, .legacy = legacy };
	static struct ldcache c;

	assert_int_equal(ldcache_parse(text(m), &c), 0);
	return ldcache_lookup(&c, name, LDCACHE_X86_64, &cpu);
}

static void test_lookup_by_processor(void **state)
{
	struct maker m;

	(void)state;
	make_hwcaps(&m);
	assert_string_equal(look_up(&m, "libb.so.2", "x86-64-v3", false), "/v3/libb.so.2");
	assert_string_equal(look_up(&m, "libb.so.2", "x86-64-v9", false), "/v2/libb.so.2");
	assert_string_equal(look_up(&m, "libb.so.2", NULL, false), "/lib/libb.so.2");
	/* Loaders before 2.37 take those of the old folders. */
	assert_string_equal(look_up(&m, "libb.so.2", NULL, true), "/tls/libb.so.2");
	assert_string_equal(look_up(&m, "libb.so.10", NULL, false), "/lib/libb.so.10");
	assert_string_equal(look_up(&m, "liba.so.1", NULL, false), "/lib/liba.so.1");
	assert_null(look_up(&m, "libb.so.3", NULL, false));
	assert_null(look_up(&m, "", NULL, false));
}

/* T13: every byte of the header, the entries and the extension changed: nothing outside is read. */
static void test_t13_lookup_in_damaged(void **state)
{
	static const unsigned char values[] = { 0, 0x7f, 0x80, 0xff };
	struct maker m;
	size_t at, k, n;

	(void)state;
	make_hwcaps(&m);
	n = m.n;
	for (at = 20; at < n; at++) {
		for (k = 0; k < sizeof(values); k++) {
			struct ldcache_cpu cpu = { .hwcaps = (const char *const[]){ "x86-64-v3",
										    NULL } };
			unsigned char *copy;
			struct ldcache c;

			make_hwcaps(&m);
			m.buf[at] = values[k];
			/* On the heap, so that a sanitizer sees the end. */
			copy = malloc(n);
			memcpy(copy, m.buf, n);
			if (ldcache_parse((struct view){ .p = (char *)copy, .n = n }, &c) == 0)
				(void)ldcache_lookup(&c, "libb.so.2", LDCACHE_X86_64, &cpu);
			free(copy);
		}
	}
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_t13_counts_and_offsets),
		cmocka_unit_test(test_not_a_cache),
		T(test_search_order),
		T(test_search_without_cache),
		T(test_search_broken),
		T(test_t14_configuration_is_not_read),
		cmocka_unit_test(test_lookup_by_processor),
		cmocka_unit_test(test_t13_lookup_in_damaged),
	};

	return cmocka_run_group_tests_name("ldcache", tests, NULL, NULL);
}

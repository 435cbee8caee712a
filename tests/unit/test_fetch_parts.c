/* SPDX-License-Identifier: Apache-2.0 */
/* What fetch decides without a disk or a network: manifests, entries of archives, records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "fetch/manifest.h"
#include "fetch/record.h"
#include "fetch/walk.h"

#define HASH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LEAF(path) "\"relative_path\":\"" path "\",\"sha256\":\"" HASH "\",\"size\":\"12\""

static const char mixed[] =
	"{\"release_label\":\"9.27.0\",\"cudnn\":{\"version\":\"9.27.0.42\",\"windows-arm64\":{"
	"\"cuda13\":{" LEAF("c/a_cuda13-archive.zip") "}," LEAF("c/a_cuda13.4-archive.zip") "}},"
	"\"cudnn_samples\":{\"version\":\"9.27.0.42\",\"source\":{" LEAF("s/x.tar.xz") "}}}";

static void both_leaves_of_the_mixed_form(void **state)
{
	struct arena *a = arena_new(NULL);
	const struct leaf *l;
	struct manifest m;
	struct err err;

	(void)state;
	assert_int_equal(manifest_read(a, view_of(mixed), "x", &m, &err), 0);
	assert_int_equal(manifest_pick(a, &m, "cudnn", "windows-arm64", "13.4", &l, &err), 0);
	assert_string_equal(l->path, "c/a_cuda13.4-archive.zip");
	assert_int_equal(l->size, 12);
	assert_int_equal(manifest_pick(a, &m, "cudnn", "windows-arm64", "13", &l, &err), 0);
	assert_string_equal(l->path, "c/a_cuda13-archive.zip");
	assert_int_equal(manifest_pick(a, &m, "cudnn", "windows-arm64", NULL, &l, &err), 0);
	assert_string_equal(l->cuda, "13");
	assert_int_equal(manifest_pick(a, &m, "cudnn", "windows-arm64", "12", &l, &err),
			 -(int)ERR_NOENT);
	assert_int_equal(manifest_pick(a, &m, "cudnn_samples", "linux-x86_64", "12", &l, &err), 0);
	arena_free(a);
}

static int admit(struct walk *w, char type, const char *name, const char *link)
{
	const struct packed_member m = {
		.name = name, .name_ok = true, .type = type, .link = link, .mode = 0644 };
	struct walk_entry e;

	return walk_admit(w, &m, &e, NULL);
}

static void entries_that_are_taken_and_refused(void **state)
{
	const struct walk_limits limits = { .total = 1000, .entries = 100 };
	struct arena *a = arena_new(NULL);
	struct walk *w = walk_new(a, &limits);

	(void)state;
	assert_int_equal(admit(w, 'd', "./top/", NULL), 0);
	assert_int_equal(admit(w, 'f', "top/lib/a.so.1", NULL), 1);
	assert_int_equal(admit(w, 'd', "top/lib", NULL), 1); /* it only stood in a name before */
	assert_true(admit(w, 'd', "top/lib", NULL) < 0);
	assert_int_equal(admit(w, 'l', "top/lib/a.so", "a.so.1"), 1);
	assert_int_equal(admit(w, 'l', "top/lib/up", "../include"), 1);
	assert_int_equal(admit(w, 'h', "top/lib/hard", "top/lib/a.so.1"), 1);
	assert_true(admit(w, 'h', "top/lib/h2", "top/lib/a.so") < 0);
	assert_true(admit(w, 'l', "top/lib/out", "../../x") < 0);
	assert_true(admit(w, 'l', "top/lib/via", "up/../../x") < 0);
	assert_true(admit(w, 'f', "top/lib/up/x", NULL) < 0);
	assert_true(admit(w, 'f', "other/x", NULL) < 0);
	assert_true(admit(w, 'f', "top/LIB/y", NULL) < 0);
	assert_true(admit(w, 'f', "top/../y", NULL) < 0);
	assert_true(admit(w, '?', "top/dev", NULL) < 0);
	assert_int_equal(walk_bytes(w, 1000, NULL), 0);
	assert_true(walk_bytes(w, 1, NULL) < 0);
	arena_free(a);
}

static void records_come_back(void **state)
{
	struct record_file files[] = {
		{ .type = 'f', .mode = 0755, .size = 3, .sha256 = HASH, .path = "lib/a b.so" },
		{ .type = 'l', .link = "a b.so", .path = "lib/l" },
		{ .type = 'd', .path = "lib" },
	};
	const struct record head = { .name = "cudnn", .version = "9.1.1.17", .cuda = "12" };
	struct arena *a = arena_new(NULL);
	struct record r;
	struct strbuf b;
	size_t i;

	(void)state;
	strbuf_init(&b, a);
	record_put_head(&b, &head);
	for (i = 0; i < ARRAY_LEN(files); i++)
		record_put_file(&b, &files[i]);
	/* Without its end it is not whole. */
	assert_true(record_read(a, view_of(b.s), "x", &r, NULL) < 0);
	record_put_end(&b);
	assert_int_equal(record_read(a, view_of(b.s), "x", &r, NULL), 0);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.n_files, 2);
	assert_string_equal(r.files[0].path, "lib/a b.so");
	assert_string_equal(r.files[1].link, "a b.so");
	assert_string_equal(r.cuda, "12");
	assert_false(record_path_ok("../x"));
	assert_false(record_path_ok("/x"));
	assert_false(record_path_ok("a/../x"));
	assert_true(record_path_ok("a/..x"));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_leaves_of_the_mixed_form),
		cmocka_unit_test(entries_that_are_taken_and_refused),
		cmocka_unit_test(records_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

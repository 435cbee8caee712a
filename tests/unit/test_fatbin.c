/* SPDX-License-Identifier: Apache-2.0 */
/* Targets out of GPU code: which ones, by how few reads, and that no size in it is believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "elf_make.h"
#include "sys/fatbin.h"

struct code {
	struct arena *a;
	struct fat_make f;
	struct elf_make m;
	uint64_t at[256];
	struct fatbin r;
};

static int setup(void **state)
{
	struct code *c = calloc(1, sizeof(*c));

	c->a = arena_new(NULL);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct code *c = *state;

	arena_free(c->a);
	free(c);
	return 0;
}

static void blob(struct code *c)
{
	fat_blob(&c->f);
	c->at[c->m.n_blobs++] = c->f.blob;
}

/* The names of the build's targets in one line. */
static const char *scan(struct code *c, bool records, unsigned max)
{
	struct elf_section code, seg;
	const char **names, *line = "";
	struct elf e;
	size_t n, i;
	int fd;

	c->m.fat = c->f.buf;
	c->m.fat_n = c->f.n;
	c->m.blobs = c->at;
	elf_make(&c->m);
	fd = elf_make_fd(c->m.buf, c->m.n);
	assert_int_equal(elf_read(c->a, fd, &e), 0);
	assert_true(elf_section(&e, ".nv_fatbin", &code));
	assert_true(elf_section(&e, ".nvFatBinSegment", &seg));
	fatbin_scan(fd, &code, records ? &seg : NULL, max, &c->r);
	close(fd);
	names = fatbin_build_targets(c->a, &c->r, &n);
	for (i = 0; i < n; i++)
		line = arena_printf(c->a, "%s%s%s", line, i ? " " : "", names[i]);
	return line;
}

static void common_blobs(struct code *c, unsigned n)
{
	while (n--) {
		blob(c);
		fat_entry(&c->f, 1, 120, 0, 24);
		fat_entry(&c->f, 2, 120, 0, 40);
		fat_entry(&c->f, 2, 90, 0, 40);
		fat_entry(&c->f, 2, 80, 0, 40);
	}
}

static void test_build_targets(void **state)
{
	struct code *c = *state;

	unsigned i;

	common_blobs(c, 4);
	/* PTX in half of the blobs is the build's, too. */
	for (i = 0; i < 4; i++) {
		blob(c);
		fat_entry(&c->f, 2, 80, 0, 40);
		fat_entry(&c->f, 2, 90, 0, 40);
		fat_entry(&c->f, 2, 120, 0, 40);
	}
	blob(c);
	fat_entry(&c->f, 2, 90, 'a', 8);
	blob(c);
	fat_entry(&c->f, 2, 100, 'f', 8);
	fat_entry(&c->f, 8, 80, 0, 8); /* LTO */
	/* One blob of ten says nothing about the build; cubins stand before PTX, numbers rise. */
	assert_string_equal(scan(c, true, 64), "sm_80 sm_90 sm_120 compute_120");
	assert_string_equal(scan(c, false, FATBIN_ALL), "sm_80 sm_90 sm_120 compute_120");
	assert_null(c->r.damage);
	assert_int_equal(c->r.blobs, 10);
	assert_int_equal(c->r.n, 7);
	assert_string_equal(fatbin_target_name(c->a, &c->r.targets[2]), "sm_90a");
	assert_string_equal(fatbin_target_name(c->a, &c->r.targets[3]), "sm_100f");
	assert_string_equal(fatbin_target_name(c->a, &c->r.targets[5]), "lto_80");
}

static void test_reads_headers_only(void **state)
{
	struct code *c = *state;
	unsigned i;

	for (i = 0; i < 200; i++) {
		blob(c);
		fat_entry(&c->f, 2, i < 100 ? 80 : 90, 0, 64);
	}
	scan(c, true, 10);
	assert_int_equal(c->r.blobs, 10);
	assert_int_equal(c->r.total, 200);
	assert_int_equal(c->r.bytes, 10 * (24 + 16 + 64));
	/* Spread evenly: both halves are seen. */
	assert_int_equal(c->r.n, 2);
	assert_int_equal(c->r.targets[0].blobs, 5);
	scan(c, false, 10);
	assert_int_equal(c->r.blobs, 10);
	assert_int_equal(c->r.targets[0].blobs, 5);
}

static void test_relocated_records(void **state)
{
	struct code *c = *state;
	struct elf_section code, seg;
	struct elf e;
	int fd;

	common_blobs(c, 3);
	scan(c, true, 64);
	memset(c->m.buf + c->m.records + 8, 0, 8);
	fd = elf_make_fd(c->m.buf, c->m.n);
	assert_int_equal(elf_read(c->a, fd, &e), 0);
	assert_true(elf_section(&e, ".nv_fatbin", &code) &&
		    elf_section(&e, ".nvFatBinSegment", &seg));
	fatbin_scan(fd, &code, &seg, 64, &c->r);
	close(fd);
	assert_int_equal(c->r.blobs, 3);
	assert_null(c->r.damage);
}

static void test_padding(void **state)
{
	struct code *c = *state;

	common_blobs(c, 1);
	c->f.n += 8192;
	common_blobs(c, 1);
	assert_string_equal(scan(c, false, FATBIN_ALL), "sm_80 sm_90 sm_120 compute_120");
	assert_int_equal(c->r.blobs, 2);
}

static void test_e11_header_size(void **state)
{
	struct code *c = *state;
	unsigned size;

	common_blobs(c, 1);
	for (size = 0; size <= 0xFFFF; size += 0xFFFF) {
		elf_put(c->f.buf + 6, size, 2);
		scan(c, false, 64);
		assert_non_null(c->r.damage);
	}
}

static void test_e12_past_the_end(void **state)
{
	static const uint64_t sizes[] = { UINT64_MAX, UINT64_MAX - 63, UINT64_C(1) << 63, 1 << 20 };
	struct code *c = *state;
	size_t i;

	common_blobs(c, 2);
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		elf_put(c->f.buf + 16 + 8, sizes[i], 8); /* payload of the first entry */
		scan(c, false, 64);
		assert_string_equal(c->r.damage, "an entry ends past its blob");
		scan(c, true, 64);
		assert_string_equal(c->r.damage, "an entry ends past its blob");
	}
	elf_put(c->f.buf + 16 + 8, 24, 8);
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		elf_put(c->f.buf + c->at[1] + 8, sizes[i], 8); /* the second blob */
		scan(c, true, 64);
		assert_string_equal(c->r.damage, "a blob ends past its section");
		assert_int_equal(c->r.entries, 8);
	}
}

static void test_e13_endless(void **state)
{
	struct code *c = *state;
	unsigned i;

	/* Entries without payload, more targets than there can be, empty blobs. */
	blob(c);
	for (i = 0; i < 500; i++)
		fat_entry(&c->f, 2, 10 + i, 0, 0);
	scan(c, false, 64);
	assert_int_equal(c->r.n, FATBIN_TARGETS);
	assert_non_null(c->r.damage);
	c->f.n = 0;
	c->m.n_blobs = 0;
	for (i = 0; i < 200; i++)
		blob(c);
	assert_string_equal(scan(c, false, 64), "");
	assert_string_equal(scan(c, true, 64), "");
}

static void test_e14_unknown_kind(void **state)
{
	struct code *c = *state;

	blob(c);
	fat_entry(&c->f, 0x77, 80, 0, 8);
	fat_entry(&c->f, 2, 0xFFFFFFFF, 0, 8);
	assert_string_equal(scan(c, true, 64), "");
	assert_int_equal(c->r.unknown, 2);
	assert_int_equal(c->r.blobs, 1);
}

/* Walks what c->f holds at `base` bytes into a file, so much behind an address that is odd there.
 */
static void walk(struct code *c, size_t base, uint64_t first, uint64_t max)
{
	static unsigned char file[ELF_MAKE_MAX];
	struct fatbin_place p = { .base = base, .junk_first = first, .junk_max = max };
	int fd;

	memset(file, 0x11, sizeof(file));
	memcpy(file + base, c->f.buf, c->f.n);
	p.section = (struct elf_section){ .off = base, .size = c->f.n };
	p.fd = fd = elf_make_fd(file, base + c->f.n);
	fatbin_walk(&p, &c->r);
	close(fd);
}

/* A member of an archive begins at any even offset: alignment counts from there. */
static void test_walk_aligns_by_the_object(void **state)
{
	struct code *c = *state;
	size_t base;

	common_blobs(c, 3);
	for (base = 0; base < 16; base += 2) {
		walk(c, base, 64, 64);
		assert_int_equal(c->r.blobs, 3);
		assert_int_equal(c->r.entries, 12);
		assert_null(c->r.damage);
	}
}

/* E13: however large payloads are, a header costs at most what is read around it. */
static void test_walk_reads_headers(void **state)
{
	struct code *c = *state;
	unsigned i;

	for (i = 0; i < 8; i++) {
		fat_blob(&c->f);
		fat_entry(&c->f, 2, 80, 0, 3000);
		fat_entry(&c->f, 2, 90, 0, 3000);
	}
	walk(c, 0, 64, 64);
	assert_int_equal(c->r.entries, 16);
	assert_in_range(c->r.bytes, 16 * 64, 8 * (512 + 64) + 1024);
}

static void test_walk_gives_up_in_junk(void **state)
{
	struct code *c = *state;

	memset(c->f.buf, 0x22, 9000);
	c->f.n = 9000;
	common_blobs(c, 1);
	walk(c, 0, 4096, 4096);
	assert_int_equal(c->r.blobs, 0);
	walk(c, 0, 16384, 4096);
	assert_int_equal(c->r.blobs, 1);
}

/* E14: of a version that is not known nothing is claimed, and it is not left out either. */
static void test_walk_unknown_version(void **state)
{
	struct code *c = *state;

	common_blobs(c, 2);
	elf_put(c->f.buf + 4, 9, 2);
	walk(c, 0, 64, 64);
	assert_int_equal(c->r.total, 2);
	assert_int_equal(c->r.unknown, 1);
	assert_int_equal(c->r.versions[0], 9);
	assert_int_equal(c->r.n, 4);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_build_targets), T(test_reads_headers_only), T(test_relocated_records),
		T(test_padding),       T(test_e11_header_size),	   T(test_e12_past_the_end),
		T(test_e13_endless),   T(test_e14_unknown_kind),
		T(test_walk_aligns_by_the_object), T(test_walk_reads_headers),
		T(test_walk_gives_up_in_junk),	   T(test_walk_unknown_version),
	};

	return cmocka_run_group_tests_name("fatbin", tests, NULL, NULL);
}

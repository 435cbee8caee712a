/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacking of single files: what the reference encoders make of one text, its cuts and changed
 * bits, the bound, and what is no such file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "sys/packed_file.h"

/* "module text, " 18 times, as xz -6, gzip -9 and zstd -19 pack it. */
static const unsigned char xz[] = {
	0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46,
	0x02, 0x00, 0x21, 0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3,
	0xe0, 0x00, 0xe9, 0x00, 0x14, 0x5d, 0x00, 0x36, 0x9b, 0xc8, 0xb1, 0xae,
	0x12, 0xee, 0xed, 0xeb, 0x61, 0x1d, 0x63, 0x65, 0x50, 0xcf, 0x5b, 0x23,
	0x1c, 0x00, 0x00, 0x00, 0x0f, 0xf2, 0x6c, 0x17, 0xae, 0x8b, 0x9b, 0x6d,
	0x00, 0x01, 0x30, 0xea, 0x01, 0x00, 0x00, 0x00, 0x6b, 0x6b, 0xf7, 0x1d,
	0xb1, 0xc4, 0x67, 0xfb, 0x02, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
};
static const unsigned char gz[] = {
	0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0xcd,
	0x4f, 0x29, 0xcd, 0x49, 0x55, 0x28, 0x49, 0xad, 0x28, 0xd1, 0x51, 0xc8,
	0x1d, 0xce, 0x1c, 0x00, 0xe1, 0x7e, 0x1d, 0xfd, 0xea, 0x00, 0x00, 0x00,
};
static const unsigned char zst[] = {
	0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x68, 0xa5, 0x00, 0x00, 0x68, 0x6d, 0x6f,
	0x64, 0x75, 0x6c, 0x65, 0x20, 0x74, 0x65, 0x78, 0x74, 0x2c, 0x20, 0x01,
	0x00, 0x5a, 0xa0, 0xe6, 0x17, 0xf8, 0x0b, 0xe2, 0x77,
};

enum { TEXT = 13 * 18, MAX = 1 << 20 };

static const struct form {
	char filter;
	const unsigned char *bytes;
	size_t n;
} forms[] = {
	{ .filter = 'x', .bytes = xz, .n = sizeof(xz) },
	{ .filter = 'g', .bytes = gz, .n = sizeof(gz) },
	{ .filter = 'z', .bytes = zst, .n = sizeof(zst) },
};

/* What unpacking the bytes gives: a length, or a negative code. */
static long unpack(char filter, const unsigned char *bytes, size_t n, size_t max, char *to)
{
	struct arena *a = arena_new(NULL);
	int fd = memfd_create("test", MFD_CLOEXEC), out;
	struct err err = { 0 };
	long got;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), (ssize_t)n);
	out = packed_file(a, fd, filter, max, &err);
	close(fd);
	if (out < 0) {
		assert_true(err.msg[0] != '\0' && !strchr(err.msg, '\n'));
		arena_free(a);
		return out;
	}
	got = (long)pread(out, to, MAX, 0);
	close(out);
	arena_free(a);
	return got;
}

static void test_whole(void **state)
{
	static char text[MAX];
	size_t i, k;

	(void)state;
	for (k = 0; k < ARRAY_LEN(forms); k++) {
		assert_int_equal(unpack(forms[k].filter, forms[k].bytes, forms[k].n, MAX, text),
				 TEXT);
		for (i = 0; i < TEXT; i += 13)
			assert_memory_equal(text + i, "module text, ", 13);
	}
}

static void test_bound(void **state)
{
	static char text[MAX];
	size_t k;

	(void)state;
	for (k = 0; k < ARRAY_LEN(forms); k++) {
		const struct form *f = &forms[k];

		assert_int_equal(unpack(f->filter, f->bytes, f->n, TEXT - 1, text), -ERR_TOOBIG);
		assert_int_equal(unpack(f->filter, f->bytes, f->n, TEXT, text), TEXT);
	}
}

/* T: a cut or changed file gives an error or bytes within the bound, never more. */
static void test_damaged(void **state)
{
	static char text[MAX];
	unsigned char b[256];
	size_t i, k;

	(void)state;
	for (k = 0; k < ARRAY_LEN(forms); k++) {
		const struct form *f = &forms[k];

		assert_true(f->n <= sizeof(b));
		for (i = 0; i < 24 && i < f->n - 8; i++)
			assert_true(unpack(f->filter, f->bytes, i, MAX, text) < 0);
		for (i = 0; i < f->n * 8; i++) {
			memcpy(b, f->bytes, f->n);
			b[i / 8] ^= (unsigned char)(1u << i % 8);
			assert_true(unpack(f->filter, b, f->n, 4096, text) <= 4096);
		}
		assert_true(unpack(f->filter, (const unsigned char *)"\x7f" "ELF", 4, MAX, text) <
			    0);
		assert_true(unpack(f->filter, NULL, 0, MAX, text) < 0);
	}
}

/* A file that is packed in another way than its name says is not guessed at. */
static void test_other_filter(void **state)
{
	static char text[MAX];

	(void)state;
	assert_true(unpack('g', xz, sizeof(xz), MAX, text) < 0);
	assert_true(unpack('x', zst, sizeof(zst), MAX, text) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_other_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacking of .xz: a file of the reference encoder, its cuts and changed bits, the bound. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/xz.h"

/* "module text, " 18 times, as xz -6 packs it. */
static const unsigned char packed[] = {
	0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46,
	0x02, 0x00, 0x21, 0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3,
	0xe0, 0x00, 0xe9, 0x00, 0x14, 0x5d, 0x00, 0x36, 0x9b, 0xc8, 0xb1, 0xae,
	0x12, 0xee, 0xed, 0xeb, 0x61, 0x1d, 0x63, 0x65, 0x50, 0xcf, 0x5b, 0x23,
	0x1c, 0x00, 0x00, 0x00, 0x0f, 0xf2, 0x6c, 0x17, 0xae, 0x8b, 0x9b, 0x6d,
	0x00, 0x01, 0x30, 0xea, 0x01, 0x00, 0x00, 0x00, 0x6b, 0x6b, 0xf7, 0x1d,
	0xb1, 0xc4, 0x67, 0xfb, 0x02, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
};
enum { TEXT = 13 * 18, MAX = 1 << 20 };

/* What unpacking the bytes gives: a length, or a negative errno. */
static long unpack(const unsigned char *bytes, size_t n, size_t max, char *to)
{
	int fd = memfd_create("test", MFD_CLOEXEC), out;
	long got;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), (ssize_t)n);
	out = xz_unpack(fd, max);
	close(fd);
	if (out < 0)
		return out;
	got = (long)read(out, to, MAX);
	close(out);
	return got;
}

static void test_whole(void **state)
{
	static char text[MAX];
	size_t i;

	(void)state;
	assert_int_equal(unpack(packed, sizeof(packed), MAX, text), TEXT);
	for (i = 0; i < TEXT; i += 13)
		assert_memory_equal(text + i, "module text, ", 13);
}

static void test_bound(void **state)
{
	static char text[MAX];

	(void)state;
	assert_int_equal(unpack(packed, sizeof(packed), TEXT - 1, text), -EFBIG);
	assert_int_equal(unpack(packed, sizeof(packed), TEXT, text), TEXT);
}

/* T: a cut or changed file gives an error or bytes within the bound, never more. */
static void test_damaged(void **state)
{
	static char text[MAX];
	unsigned char b[sizeof(packed)];
	size_t i;

	(void)state;
	/* The block is cut: nothing comes out. */
	for (i = 0; i < 40; i++)
		assert_int_equal(unpack(packed, i, MAX, text), -EBADMSG);
	for (i = 0; i < sizeof(packed) * 8; i++) {
		memcpy(b, packed, sizeof(b));
		b[i / 8] ^= (unsigned char)(1u << i % 8);
		assert_true(unpack(b, sizeof(b), 4096, text) <= 4096);
	}
	assert_int_equal(unpack((const unsigned char *)"\x7f" "ELF", 4, MAX, text), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

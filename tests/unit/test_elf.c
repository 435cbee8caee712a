/* SPDX-License-Identifier: Apache-2.0 */
/* Sound and damaged ELF files: what is read of them, and that every lie is named and none is
 * believed. */
#include <elf.h>
#include <errno.h>
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
#include "sys/elf.h"

struct file {
	struct arena *a;
	struct elf_make m;
	struct elf e;
};

static int setup(void **state)
{
	struct file *f = calloc(1, sizeof(*f));

	f->a = arena_new(NULL);
	f->m.soname = "libx.so.1";
	f->m.needed[0] = "libc10.so";
	f->m.needed[1] = "libcudnn.so.9";
	f->m.versions[0] = "GLIBC_2.2.5";
	f->m.versions[1] = "GLIBC_2.28";
	f->m.versions[2] = "GLIBC_PRIVATE";
	f->m.versions[3] = "GLIBC_2.9";
	f->m.rpath = "$ORIGIN/../y";
	elf_make(&f->m);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct file *f = *state;

	arena_free(f->a);
	free(f);
	return 0;
}

static int rd(struct file *f, size_t n)
{
	int fd = elf_make_fd(f->m.buf, n), r;

	memset(&f->e, 0, sizeof(f->e));
	r = elf_read(f->a, fd, &f->e);
	close(fd);
	return r;
}

static void test_sound(void **state)
{
	struct file *f = *state;

	assert_int_equal(rd(f, f->m.n), 0);
	assert_null(f->e.damage);
	assert_string_equal(elf_machine_name(&f->e), "x86_64");
	assert_string_equal(f->e.soname, "libx.so.1");
	assert_string_equal(f->e.rpath, "$ORIGIN/../y");
	assert_null(f->e.runpath);
	assert_int_equal(f->e.n_needed, 2);
	assert_string_equal(f->e.needed[1], "libcudnn.so.9");
	/* 2.28 is higher than 2.9, and PRIVATE is no version */
	assert_string_equal(f->e.glibc, "2.28");
}

static void test_e1_short(void **state)
{
	struct file *f = *state;
	size_t n;

	for (n = 0; n < f->m.n; n++) {
		int r = rd(f, n);

		assert_true(r == -ENOEXEC || (r == 0 && (n >= f->m.shdr || f->e.damage)));
	}
	assert_int_equal(rd(f, 3), -ENOEXEC);
}

static void test_e2_class_order_machine(void **state)
{
	struct file *f = *state;

	f->m.buf[EI_CLASS] = 9;
	assert_int_equal(rd(f, f->m.n), 0);
	assert_non_null(f->e.damage);
	f->m.buf[EI_CLASS] = ELFCLASS64;
	f->m.buf[EI_DATA] = ELFDATA2MSB;
	elf_put(f->m.buf + 18, 0x1500, 2); /* EM_PPC64, big-endian */
	assert_int_equal(rd(f, f->m.n), 0);
	assert_string_equal(f->e.damage, "big-endian");
	assert_string_equal(elf_machine_name(&f->e), "ppc64");
	f->m.buf[EI_DATA] = ELFDATA2LSB;
	elf_put(f->m.buf + 18, 0xFFFF, 2);
	assert_int_equal(rd(f, f->m.n), 0);
	assert_string_equal(elf_machine_name(&f->e), "unknown");
}

static void test_e3_counts(void **state)
{
	struct file *f = *state;
	struct elf_section s;

	elf_put(f->m.buf + 56, 0xFFFF, 2);
	assert_int_equal(rd(f, f->m.n), 0);
	assert_string_equal(f->e.damage, "too many segments");
	elf_put(f->m.buf + 56, 2, 2);
	elf_put(f->m.buf + 60, 0xFFFF, 2);
	assert_int_equal(rd(f, f->m.n), 0);
	assert_false(elf_section(&f->e, ".nv_fatbin", &s));
	elf_put(f->m.buf + 60, 4, 2);
	elf_put(f->m.buf + 62, 0xFFFE, 2);
	assert_int_equal(rd(f, f->m.n), 0);
	assert_false(elf_section(&f->e, ".shstrtab", &s));
}

static void test_e4_overflow(void **state)
{
	struct file *f = *state;
	struct elf_section s;

	elf_put(f->m.buf + 40, UINT64_MAX - 255, 8); /* e_shoff */
	assert_int_equal(rd(f, f->m.n), 0);
	assert_false(elf_section(&f->e, ".shstrtab", &s));
	elf_put(f->m.buf + 40, f->m.shdr, 8);
	elf_put(f->m.buf + 32, INT64_MAX - 15, 8); /* e_phoff */
	assert_int_equal(rd(f, f->m.n), 0);
	assert_non_null(f->e.damage);
	elf_put(f->m.buf + 32, 64, 8);
	elf_put(f->m.buf + 64 + 56 + 32, UINT64_MAX, 8); /* size of PT_DYNAMIC */
	assert_int_equal(rd(f, f->m.n), 0);
	assert_non_null(f->e.damage);
}

static void test_e5_segments(void **state)
{
	struct file *f = *state;

	/* PT_LOAD covers nothing: no address can be turned into an offset. */
	elf_put(f->m.buf + 64 + 32, 0, 8);
	assert_int_equal(rd(f, f->m.n), 0);
	assert_non_null(f->e.damage);
	assert_null(f->e.soname);
	assert_int_equal(f->e.n_needed, 0);
}

static void test_e6_unended_string(void **state)
{
	struct file *f = *state;
	size_t i;

	for (i = f->m.strtab; i < f->m.verneed; i++)
		f->m.buf[i] = 'x';
	assert_int_equal(rd(f, f->m.n), 0);
	assert_non_null(f->e.damage);
	assert_null(f->e.soname);
}

static void test_e7_strtab_outside(void **state)
{
	struct file *f = *state;
	size_t at;

	for (at = f->m.dyn; f->m.buf[at] != DT_STRTAB; at += 16)
		;
	elf_put(f->m.buf + at + 8, UINT64_C(1) << 60, 8);
	assert_int_equal(rd(f, f->m.n), 0);
	assert_non_null(f->e.damage);
	assert_null(f->e.soname);
}

static void test_names_behind_the_table(void **state)
{
	struct file *f = *state;
	size_t at;

	for (at = f->m.dyn; f->m.buf[at] != DT_STRSZ; at += 16)
		;
	elf_put(f->m.buf + at + 8, 4, 8);
	assert_int_equal(rd(f, f->m.n), 0);
	assert_non_null(f->e.damage);
	assert_int_equal(f->e.n_needed, 0);
	assert_null(f->e.rpath);
}

static void test_e9_version_chain(void **state)
{
	struct file *f = *state;

	elf_put(f->m.buf + f->m.verneed + 2, 0xFFFF, 2); /* vn_cnt */
	elf_put(f->m.buf + f->m.verneed + 8, 0, 4);	 /* vn_aux: itself */
	assert_int_equal(rd(f, f->m.n), 0);
	elf_put(f->m.buf + f->m.verneed + 8, 16, 4);
	elf_put(f->m.buf + f->m.verneed + 16 + 12, 0xFFFFFFF0, 4); /* vna_next */
	assert_int_equal(rd(f, f->m.n), 0);
	assert_non_null(f->e.damage);
	elf_put(f->m.buf + f->m.verneed + 16 + 12, 16, 4);
	elf_put(f->m.buf + f->m.verneed + 12, 0xFFFFFFF0, 4); /* vn_next */
	assert_int_equal(rd(f, f->m.n), 0);
	assert_non_null(f->e.damage);
	assert_string_equal(f->e.glibc, "2.28");
}

static void test_e15_no_elf(void **state)
{
	static const char *const texts[] = { "#!/bin/sh\necho libcuda\n",
					     "!<arch>\n0123456789abcdef01234",
					     "/* GNU ld script */ INPUT(libx.so)", "" };
	struct file *f = *state;
	size_t i;

	for (i = 0; i < ARRAY_LEN(texts); i++) {
		int fd = elf_make_fd(texts[i], strlen(texts[i]));

		assert_int_equal(elf_read(f->a, fd, &f->e), -ENOEXEC);
		close(fd);
	}
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_sound),
		T(test_e1_short),
		T(test_e2_class_order_machine),
		T(test_e3_counts),
		T(test_e4_overflow),
		T(test_e5_segments),
		T(test_e6_unended_string),
		T(test_e7_strtab_outside),
		T(test_names_behind_the_table),
		T(test_e9_version_chain),
		T(test_e15_no_elf),
	};

	return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}

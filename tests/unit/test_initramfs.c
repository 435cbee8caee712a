/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules in an initramfs: archives one behind the other, cut at any place, and of other kinds.
 * Whole images with packed archives are machines of tests/roots.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "tree.h"

#define FACTS "{\"schema\":\"cuvet.facts/1\",\"uname\":\"Linux 6.1 x86_64\"}"
#define PATH  "/boot/initrd.img-6.1"

enum { MAX = 64 << 10 };

struct bytes {
	char *p;
	size_t n;
};

static void pad(struct bytes *b, size_t to)
{
	while (b->n % to)
		b->p[b->n++] = '\0';
}

/* A member in cpio's newc form. */
static void member(struct bytes *b, const char *name, const char *data, size_t n)
{
	b->n += (size_t)sprintf(
		b->p + b->n, "070701%08x%08x%08x%08x%08x%08x%08zx%08x%08x%08x%08x%08zx%08x", 1,
		*data ? 0100644 : 0, 0, 0, 1, 0, n, 0, 0, 0, 0, strlen(name) + 1, 0);
	strcpy(b->p + b->n, name);
	b->n += strlen(name) + 1;
	pad(b, 4);
	memcpy(b->p + b->n, data, n);
	b->n += n;
	pad(b, 4);
}

static void end_of_archive(struct bytes *b)
{
	member(b, "TRAILER!!!", "", 0);
	pad(b, 512);
}

/* Microcode, zeros, then an archive with a module that is no ELF file, and one of another name. */
static struct bytes image(struct arena *a)
{
	struct bytes b = { .p = arena_calloc(a, MAX, 1) };

	member(&b, "kernel/x86/microcode/GenuineIntel.bin", "xxxx", 4);
	end_of_archive(&b);
	b.n += 1024;
	member(&b, "usr/lib/modules/6.1/updates/nvidia.ko", "no module", 9);
	member(&b, "usr/lib/modules/6.1/kernel/nvme.ko", "other", 5);
	member(&b, "usr/lib/modules/6.1/updates/nvidia-drm.ko.xz", "not packed", 10);
	end_of_archive(&b);
	return b;
}

static void look(struct tree *t, const void *p, size_t n)
{
	remove(arena_printf(t->a, "%s" PATH, t->top));
	tree_put_bytes(t, PATH, p, n);
	tree_facts(t, FACTS);
	tree_probe(t, &probe_environ);
	t->p.deep = true;
	fact_set(&t->s->host.kernel, "6.1", "test");
	tree_probe(t, &probe_initramfs);
}

static void the_second_archive_is_read(void **state)
{
	struct tree *t = *state;
	struct bytes b = image(t->a);
	struct driver *d = &t->s->driver;

	look(t, b.p, b.n);
	assert_true(fact_yes(&t->s->parts.initramfs));
	assert_int_equal(d->n_initramfs, 2);
	assert_string_equal(fact_value(&d->initramfs[0].name, ""), "nvidia");
	assert_string_equal(fact_value(&d->initramfs[0].kernel, ""), "6.1");
	assert_int_equal(d->initramfs[0].version.state, FACT_BROKEN);
	assert_string_equal(fact_value(&d->initramfs[1].name, ""), "nvidia-drm");
	assert_int_equal(d->initramfs[1].version.state, FACT_BROKEN);
}

static void without_deep_it_is_not_looked_at(void **state)
{
	struct tree *t = *state;
	struct bytes b = image(t->a);

	tree_put_bytes(t, PATH, b.p, b.n);
	tree_facts(t, FACTS);
	t->p.deep = false;
	fact_set(&t->s->host.kernel, "6.1", "test");
	tree_probe(t, &probe_initramfs);
	assert_int_equal(t->s->parts.initramfs.state, FACT_NOT_ASKED);
	assert_int_equal(t->s->driver.n_initramfs, 0);
}

/* T: cut anywhere it ends, and holds no more than was there. */
static void cut_images_end(void **state)
{
	struct tree *t = *state;
	struct bytes b = image(t->a);
	size_t n;

	for (n = 0; n < b.n; n += n < 1500 ? 37 : 61) {
		look(t, b.p, n);
		assert_true(t->s->driver.n_initramfs <= 2);
	}
}

/* T: what is no archive at all, zeros without end, a size that no file has. */
static void other_bytes_end(void **state)
{
	struct tree *t = *state;
	char *zeros = arena_calloc(t->a, MAX, 1);
	struct bytes b = image(t->a);
	char *size = b.p + 54; /* of the first member */

	look(t, zeros, MAX);
	assert_int_equal(t->s->driver.n_initramfs, 0);
	look(t, "\x1f\x8b\x08 and no more", 15);
	assert_int_equal(t->s->driver.n_initramfs, 0);
	look(t, "\x7f" "ELF", 4);
	assert_int_equal(t->s->driver.n_initramfs, 0);
	memcpy(size, "ffffffff", 8);
	look(t, b.p, b.n);
	assert_int_equal(t->s->driver.n_initramfs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_second_archive_is_read, tree_setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(without_deep_it_is_not_looked_at, tree_setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(cut_images_end, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(other_bytes_end, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's modules in the initramfs of the running kernel: what is loaded from there is loaded
 * before the disk is seen, so that a copy of an earlier driver outlives its upgrade. Only with
 * --deep, since all of the image has to be unpacked. An image is several archives, one behind the
 * other: plain ones (microcode, and with some distributions modules) and a packed one.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "probe/kmod.h"
#include "sys/packed_file.h"

enum {
	SEGMENTS_MAX = 8,
	MODULES_MAX = 64,
	PADDING_MAX = 1 << 20,
	UNPACKED_MAX = 192 << 20,
};
static const uint64_t members_max = UINT64_C(4) << 30; /* bytes of all members */

struct image {
	struct probe_ctx *p;
	const char *path;
	const char *kernel; /* that its name says, or NULL */
	int fd;
	off_t at;
	uint64_t seen; /* bytes of members that passed by */
	size_t budget; /* bytes of modules that may still be unpacked */
};

static int64_t from_image(void *ctx, void *buf, size_t n)
{
	struct image *im = ctx;
	ssize_t got;

	do
		got = pread(im->fd, buf, n, im->at);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		im->at += got;
	return got;
}

/* "lib/modules/6.8.0-45-generic/updates/nvidia.ko": the folder behind "modules". */
static const char *kernel_of(struct arena *a, const char *member)
{
	const char *at = strstr(member, "lib/modules/");
	size_t n;

	if (!at)
		return NULL;
	at += strlen("lib/modules/");
	n = strcspn(at, "/");
	return at[n] ? arena_strndup(a, at, n) : NULL;
}

static void module(struct image *im, struct packed *z, const struct packed_member *member)
{
	struct driver *d = &im->p->s->driver;
	struct arena *a = im->p->a;
	const char *packed, *name = kmod_file_name(a, path_base(member->name), &packed);
	struct err err = { 0 };
	struct module *m;
	int fd;

	if (!name || !member->is_file || d->n_initramfs >= MODULES_MAX)
		return;
	m = ARENA_APPEND(a, d->initramfs, d->n_initramfs);
	fact_set(&m->path, arena_printf(a, "%s: %s", im->path, member->name), im->path);
	fact_set(&m->name, name, m->path.value);
	fact_set(&m->kernel, im->kernel ? im->kernel : kernel_of(a, m->path.value), im->path);
	fd = packed_member_file(z, im->budget, &err);
	if (fd < 0) {
		fact_broken(&m->version, m->path.value, arena_strdup(a, err.msg));
		return;
	}
	if (packed)
		kmod_packed_facts(im->p, m, fd, packed, &im->budget);
	else
		kmod_file_facts(im->p, m, fd);
	close(fd);
}

/* One archive. 1: it came to its end; 0: nothing more can be read. */
static int segment(struct image *im, char filter)
{
	struct packed_member member;
	struct err err = { 0 };
	struct packed *z;
	int r = packed_open_cpio(im->p->a, from_image, im, filter, &z, &err);

	if (r == 0)
		while ((r = packed_next(z, &member, &err)) > 0) {
			im->seen += member.size;
			if (im->seen > members_max)
				break;
			module(im, z, &member);
		}
	if (r < 0)
		fact_broken(&im->p->s->parts.initramfs, im->path, arena_strdup(im->p->a, err.msg));
	if (r == 0)
		im->at -= (off_t)packed_rest(z).n;
	return r == 0;
}

/* Archives begin at the next bytes that are not 0. False at the end of the file. */
static bool skip_padding(struct image *im, unsigned char *ret_head)
{
	unsigned char buf[4096];
	off_t end = im->at + PADDING_MAX;
	ssize_t n, i;

	while (im->at < end) {
		n = pread(im->fd, buf, sizeof(buf), im->at);
		if (n <= 0)
			return false;
		for (i = 0; i < n && !buf[i]; i++)
			;
		im->at += i;
		if (i < n)
			return pread(im->fd, ret_head, 6, im->at) == 6;
	}
	return false;
}

/* The letter of the door's filter by the first bytes; '\0' for a plain cpio, '?' for others. */
static char filter_of(const unsigned char *head)
{
	static const struct {
		const char *magic;
		size_t n;
		char letter;
	} rows[] = {
		{ .magic = "07070", .n = 5, .letter = '\0' },
		{ .magic = "\x1f\x8b", .n = 2, .letter = 'g' },
		{ .magic = "\xfd"
			  "7zXZ",
		  .n = 5,
		  .letter = 'x' },
		{ .magic = "\x28\xb5\x2f\xfd", .n = 4, .letter = 'z' },
		{ .magic = "BZh", .n = 3, .letter = 'b' },
		{ .magic = "\x02\x21\x4c\x18", .n = 4, .letter = 'l' }, /* the kernel's own form */
		{ .magic = "\x04\x22\x4d\x18", .n = 4, .letter = 'l' },
		{ .magic = "\x5d\0\0", .n = 3, .letter = 'm' },
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (memcmp(head, rows[i].magic, rows[i].n) == 0)
			return rows[i].letter;
	return '?';
}

static void image(struct image *im)
{
	unsigned char head[6];
	char filter = '\0';
	int i;

	fact_flag(&im->p->s->parts.initramfs, true, im->path);
	/* Behind a packed archive nothing comes that anybody makes. */
	for (i = 0; i < SEGMENTS_MAX && filter == '\0' && skip_padding(im, head); i++) {
		filter = filter_of(head);
		if (!segment(im, filter))
			return;
	}
}

static void run(struct probe_ctx *p)
{
	/* Debian, Red Hat, SUSE; Arch names no release. */
	static const struct {
		const char *before, *after;
	} names[] = {
		{ .before = "/boot/initrd.img-", .after = "" },
		{ .before = "/boot/initramfs-", .after = ".img" },
		{ .before = "/boot/initrd-", .after = "" },
		{ .before = "/boot/initramfs-linux.img" },
		{ .before = "/boot/initramfs-linux-lts.img" },
	};
	const char *kernel = fact_value(&p->s->host.kernel, NULL);
	struct fact *part = &p->s->parts.initramfs;
	struct image im = { .p = p, .budget = UNPACKED_MAX };
	size_t i;

	if (!p->deep || !probe_is_running(p) || !kernel)
		return;
	fact_absent(part, "/boot");
	for (i = 0; i < ARRAY_LEN(names); i++) {
		im.kernel = names[i].after ? kernel : NULL;
		im.path = im.kernel ? arena_printf(p->a, "%s%s%s", names[i].before, kernel,
						   names[i].after)
				    : names[i].before;
		im.fd = sysroot_open_file(p->root, im.path);
		if (im.fd == -EACCES || im.fd == -EPERM)
			fact_denied(part, im.path, _("only root may read it"));
		if (im.fd < 0)
			continue;
		image(&im);
		close(im.fd);
		return;
	}
}

const struct probe probe_initramfs = { .name = "initramfs", .run = run };

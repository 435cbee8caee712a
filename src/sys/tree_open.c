/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contents of a file of a tree as a descriptor: a file in memory with holes. Of a large library
 * only what probes read is copied: headers, tables of names and symbols, headers of GPU code.
 * Trusts no offset.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/elf.h"
#include "sys/tree.h"

enum {
	WHOLE = 1 << 20,	/* up to here a file is copied whole, */
	HEAD = 16 << 20,	/* of another one that is no library so much, */
	FIRST = 64 << 10,	/* and so much of a library in any case */
	STEP = 256 << 10,
	SECTIONS_MAX = 4096,
	SECTION_MAX = 96 << 20, /* names of symbols of a large library take 30 MiB */
	DATA_MAX = 1 << 20,
	ENTRIES_MAX = 1 << 20,
	PADDING_MAX = 4096,
	FATBIN_MAGIC = 0xBA55ED50,
};

ssize_t ftree_read(const struct tree_data *d, void *buf, size_t n, uint64_t at)
{
	size_t i = 0, end = d->n_pieces, mid;

	if (at >= d->size)
		return 0;
	if (n > d->size - at)
		n = (size_t)(d->size - at);
	memset(buf, 0, n);
	/* The first piece that ends behind `at`. */
	while (i < end) {
		mid = (i + end) / 2;
		if (d->pieces[mid].at + d->pieces[mid].n <= at)
			i = mid + 1;
		else
			end = mid;
	}
	for (; i < d->n_pieces && d->pieces[i].at < at + n; i++) {
		const struct tree_piece *p = &d->pieces[i];
		uint64_t lo = p->at > at ? p->at : at,
			 hi = p->at + p->n < at + n ? p->at + p->n : at + n;

		if (lo < hi && !elf_pread(d->fd, (char *)buf + (lo - at), (size_t)(hi - lo),
					  p->from + (lo - p->at)))
			return -EIO;
	}
	return (ssize_t)n;
}

bool ftree_has(const struct tree_node *n, uint64_t at, uint64_t size)
{
	const struct tree_data *d = n->data;
	size_t i;

	if (!d || d->fd < 0)
		return false;
	for (i = 0; size && i < d->n_pieces; i++) {
		const struct tree_piece *p = &d->pieces[i];
		uint64_t left;

		if (at < p->at || at - p->at >= p->n)
			continue;
		left = p->n - (at - p->at);
		if (left >= size)
			return true;
		at += left;
		size -= left;
	}
	return !size;
}

struct copy {
	const struct tree_data *d;
	int fd;
	int error;
};

static void take(struct copy *c, uint64_t at, uint64_t n)
{
	char buf[STEP];

	while (n && !c->error && at < c->d->size) {
		ssize_t k = ftree_read(c->d, buf, n < sizeof(buf) ? (size_t)n : sizeof(buf), at), w;

		if (k <= 0) {
			c->error = k < 0 ? (int)k : 0;
			return;
		}
		w = pwrite(c->fd, buf, (size_t)k, (off_t)at);
		if (w != k) {
			c->error = w < 0 ? -errno : -EIO;
			return;
		}
		at += (uint64_t)k;
		n -= (uint64_t)k;
	}
}

static bool get(struct copy *c, void *buf, size_t n, uint64_t at)
{
	return ftree_read(c->d, buf, n, at) == (ssize_t)n;
}

/* Headers of the entries of one bundle; where the next one begins. */
static uint64_t take_bundle(struct copy *c, uint64_t at, uint64_t end, unsigned *budget)
{
	unsigned char h[64];
	uint64_t stop;

	if (!get(c, h, 16, at) || elf_le(h + 8, 8) > end - at)
		return end;
	take(c, at, 16);
	stop = at + elf_le(h + 6, 2) + elf_le(h + 8, 8);
	at += elf_le(h + 6, 2);
	while (at < stop && stop - at >= sizeof(h) && *budget && get(c, h, sizeof(h), at)) {
		uint64_t head = elf_le(h + 4, 4), body = elf_le(h + 8, 8);

		(*budget)--;
		if (head < sizeof(h) || head > FIRST || body > stop - at)
			break;
		take(c, at, head);
		at += head + body;
	}
	return (stop + 7) & ~UINT64_C(7);
}

static void take_fatbin(struct copy *c, uint64_t at, uint64_t size)
{
	uint64_t end = at + size, padding = 0;
	unsigned budget = ENTRIES_MAX;
	unsigned char h[4];

	while (at < end && end - at >= 16 && budget-- && padding < PADDING_MAX &&
	       get(c, h, 4, at)) {
		if (elf_le(h, 4) == FATBIN_MAGIC) {
			at = take_bundle(c, at, end, &budget);
			padding = 0;
		} else {
			at += 8;
			padding += 8;
		}
	}
}

static void take_section(struct copy *c, const unsigned char *h, bool fatbin)
{
	uint64_t type = elf_le(h + 4, 4), off = elf_le(h + 24, 8), size = elf_le(h + 32, 8);

	if (type == SHT_NOBITS || off >= c->d->size)
		return;
	if (size > c->d->size - off)
		size = c->d->size - off;
	if (fatbin)
		take_fatbin(c, off, size);
	else if (type == SHT_PROGBITS)
		take(c, off, size < DATA_MAX ? size : DATA_MAX);
	else
		take(c, off, size < SECTION_MAX ? size : SECTION_MAX);
}

static void take_library(struct copy *c)
{
	unsigned char e[sizeof(Elf64_Ehdr)], h[sizeof(Elf64_Shdr)], names[sizeof(Elf64_Shdr)];
	uint64_t table, i, n;
	char name[16];

	take(c, 0, FIRST);
	if (!get(c, e, sizeof(e), 0) || e[EI_CLASS] != ELFCLASS64 || e[EI_DATA] != ELFDATA2LSB) {
		take(c, 0, HEAD);
		return;
	}
	table = elf_le(e + 40, 8);
	n = elf_le(e + 60, 2);
	if (!n || n > SECTIONS_MAX || elf_le(e + 58, 2) != sizeof(h) ||
	    !get(c, names, sizeof(names), table + elf_le(e + 62, 2) * sizeof(h))) {
		take(c, 0, HEAD);
		return;
	}
	take(c, table, n * sizeof(h));
	for (i = 0; i < n && get(c, h, sizeof(h), table + i * sizeof(h)); i++) {
		memset(name, 0, sizeof(name));
		(void)ftree_read(c->d, name, sizeof(name) - 1,
				 elf_le(names + 24, 8) + elf_le(h, 4));
		take_section(c, h, strcmp(name, ".nv_fatbin") == 0);
	}
}

int ftree_open(const struct ftree *t, const struct tree_node *n)
{
	struct copy c = { .d = n->data };
	_cleanup_fd_ int fd = -1;
	char magic[SELFMAG];

	(void)t;
	if (!S_ISREG(n->mode))
		return -EINVAL;
	if (!n->data || n->data->fd < 0)
		return -ENODATA;
	if (n->data->size > INT64_MAX)
		return -EFBIG;
	fd = memfd_create("cuvet", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	c.fd = fd;
	if (ftruncate(fd, (off_t)n->data->size) < 0)
		return -errno;
	if (n->data->size <= WHOLE)
		take(&c, 0, n->data->size);
	else if (get(&c, magic, sizeof(magic), 0) && memcmp(magic, ELFMAG, SELFMAG) == 0)
		take_library(&c);
	else
		take(&c, 0, HEAD);
	return c.error ? c.error : take_fd(&fd);
}

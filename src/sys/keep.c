/* SPDX-License-Identifier: Apache-2.0 */
/* Decides byte by byte of a stream, with the headers that came first; must not trust any of them.
 */
#include "sys/keep.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/elf.h"

enum {
	WINDOW = 512 << 10,
	FIRST = 64 << 10,	/* of a library: headers and segments */
	HEAD = 64 << 10,	/* of another file that is not kept whole */
	WHOLE = 4 << 20,	/* a library up to here is kept whole */
	CODE_MAX = 64 << 20,	/* of a segment that holds code and perhaps everything else */
	DATA_MAX = 64 << 20,
	TAIL = 1 << 20,		/* in front of the section table, names of sections */
	RANGES_MAX = 40,
	ENTRY = 64, /* smallest header of an entry of GPU code */
	ENTRY_MAX = 4096,
	FATBIN_MAGIC = 0xBA55ED50,
};

struct keeper {
	struct arena *a;
	struct spill *s;
	struct tree_data *d;
	enum keep_how how;
	uint64_t pos;		/* of the first byte in `buf` */
	uint64_t skip_to;	/* payload that is left out */
	uint64_t bundle_end;	/* within a bundle of GPU code up to here */
	struct {
		uint64_t from, to;
	} ranges[RANGES_MAX];
	size_t n_ranges;
	bool parsed;
	unsigned char *buf;
	size_t n;
};

/* An unnamed file where temporary files lie; else memory. */
static int open_spill(void)
{
	const char *dir = getenv("TMPDIR");
	int fd =
		open(dir && dir[0] == '/' ? dir : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd < 0 ? memfd_create("cuvet-spill", MFD_CLOEXEC) : fd;
}

static int put(struct keeper *k, uint64_t at, const unsigned char *p, size_t n)
{
	struct tree_piece *last = k->d->n_pieces ? &k->d->pieces[k->d->n_pieces - 1] : NULL;
	ssize_t w;

	if (!n)
		return 0;
	if (k->s->fd < 0)
		k->s->fd = open_spill();
	if (k->s->fd < 0)
		return -errno;
	if (n > k->s->limit - k->s->size)
		return -ENOSPC;
	k->d->fd = k->s->fd;
	if (last && last->at + last->n == at && last->from + last->n == k->s->size)
		last->n += n;
	else
		*ARENA_APPEND(k->a, k->d->pieces, k->d->n_pieces) =
			(struct tree_piece){ .at = at, .n = n, .from = k->s->size };
	while (n) {
		w = pwrite(k->s->fd, p, n, (off_t)k->s->size);
		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return w < 0 ? -errno : -EIO;
		k->s->size += (uint64_t)w;
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

static void add_range(struct keeper *k, uint64_t from, uint64_t size, uint64_t max)
{
	if (k->n_ranges == RANGES_MAX || from >= k->d->size)
		return;
	if (size > max)
		size = max;
	if (size > k->d->size - from)
		size = k->d->size - from;
	k->ranges[k->n_ranges].from = from;
	k->ranges[k->n_ranges++].to = from + size;
}

/* Which parts of a library matter, by its segments. Nothing else is known while it passes by. */
static void find_ranges(struct keeper *k)
{
	uint64_t ph = elf_le(k->buf + 32, 8), sh = elf_le(k->buf + 40, 8), i,
		 n = elf_le(k->buf + 56, 2);

	k->parsed = true;
	add_range(k, 0, FIRST, FIRST);
	if (memcmp(k->buf, ELFMAG, SELFMAG) != 0 || k->buf[EI_CLASS] != ELFCLASS64 ||
	    k->buf[EI_DATA] != ELFDATA2LSB)
		return;
	if (ph > FIRST)
		return;
	for (i = 0; i < n && i < 32; i++) {
		uint64_t at = ph + i * sizeof(Elf64_Phdr), type, off, size;
		const unsigned char *p;

		if (at + sizeof(Elf64_Phdr) > k->n)
			break;
		p = k->buf + at;
		type = elf_le(p, 4);
		off = elf_le(p + 8, 8);
		size = elf_le(p + 32, 8);
		if (type == PT_LOAD && (elf_le(p + 4, 4) & PF_X) && off)
			continue; /* machine code alone */
		if (type == PT_LOAD || type == PT_DYNAMIC || type == PT_NOTE)
			add_range(k, off, size, type == PT_LOAD && off ? DATA_MAX : CODE_MAX);
	}
	if (sh < k->d->size)
		add_range(k, sh > TAIL ? sh - TAIL : 0, UINT64_MAX, (uint64_t)TAIL * 2);
}

/* Bytes [at, at + n), of which those in a range are kept. */
static int pass(struct keeper *k, uint64_t at, const unsigned char *p, size_t n)
{
	size_t i;
	int e;

	while (n) {
		uint64_t next = at + n;
		bool in = false;

		for (i = 0; i < k->n_ranges; i++) {
			if (at >= k->ranges[i].from && at < k->ranges[i].to) {
				in = true;
				next = k->ranges[i].to < at + n ? k->ranges[i].to : at + n;
				break;
			}
		}
		for (i = 0; !in && i < k->n_ranges; i++)
			if (k->ranges[i].from > at && k->ranges[i].from < next)
				next = k->ranges[i].from;
		e = in ? put(k, at, p, (size_t)(next - at)) : 0;
		if (e)
			return e;
		p += next - at;
		n -= (size_t)(next - at);
		at = next;
	}
	return 0;
}

/* Is this the header of a bundle of GPU code? */
static bool is_bundle(const struct keeper *k, const unsigned char *p, uint64_t at)
{
	return elf_le(p, 4) == FATBIN_MAGIC && elf_le(p + 6, 2) == 16 &&
	       elf_le(p + 8, 8) <= k->d->size - at;
}

/* The next entry of the bundle: its header is kept. Bytes taken; 0: more are needed. */
static size_t entry(struct keeper *k, const unsigned char *p, size_t n, uint64_t at, int *ret_error)
{
	uint64_t head, body, left = k->bundle_end - at;

	if (left < ENTRY) {
		k->skip_to = k->bundle_end;
		return (size_t)(left < n ? left : n);
	}
	if (n < ENTRY)
		return 0;
	head = elf_le(p + 4, 4);
	body = elf_le(p + 8, 8);
	if (head < ENTRY || head > ENTRY_MAX || body > left - head) {
		/* Damaged: the rest of it is left out, as nobody could read it. */
		*ret_error = put(k, at, p, ENTRY);
		k->skip_to = k->bundle_end;
		return ENTRY;
	}
	if (n < head)
		return 0;
	*ret_error = put(k, at, p, (size_t)head);
	k->skip_to = at + head + body;
	return (size_t)head;
}

/* Everything in front of the next bundle. Bytes taken; 0: more are needed. */
static size_t plain(struct keeper *k, const unsigned char *p, size_t n, uint64_t at, bool last,
		    int *ret_error)
{
	size_t i = (size_t)(-at & 7), end = last ? n : n < 16 ? 0 : n - 15;

	for (; i + 16 <= n; i += 8) {
		if (!is_bundle(k, p + i, at + i))
			continue;
		*ret_error = pass(k, at, p, i);
		if (!*ret_error)
			*ret_error = put(k, at + i, p + i, 16);
		k->bundle_end = at + i + 16 + elf_le(p + i + 8, 8);
		return i + 16;
	}
	*ret_error = pass(k, at, p, end);
	return end;
}

static int process(struct keeper *k, bool last)
{
	size_t i = 0, step;
	int e = 0;

	if (!k->parsed && k->how == KEEP_LIBRARY)
		find_ranges(k);
	while (i < k->n && !e) {
		uint64_t at = k->pos + i;

		if (k->how != KEEP_LIBRARY) {
			e = pass(k, at, k->buf + i, k->n - i);
			step = k->n - i;
		} else if (at < k->skip_to) {
			step = k->skip_to - at < k->n - i ? (size_t)(k->skip_to - at) : k->n - i;
		} else if (at < k->bundle_end) {
			step = entry(k, k->buf + i, k->n - i, at, &e);
		} else {
			step = plain(k, k->buf + i, k->n - i, at, last, &e);
		}
		if (!step)
			break;
		i += step;
	}
	memmove(k->buf, k->buf + i, k->n - i);
	k->n -= i;
	k->pos += i;
	return e;
}

struct keeper *keep_begin(struct arena *a, struct spill *s, uint64_t size, enum keep_how how,
			  struct tree_data **ret)
{
	struct keeper *k = arena_calloc(a, 1, sizeof(*k));

	*ret = arena_calloc(a, 1, sizeof(**ret));
	(*ret)->fd = -1;
	(*ret)->size = size;
	k->a = a;
	k->s = s;
	k->d = *ret;
	k->how = how == KEEP_LIBRARY && size <= WHOLE ? KEEP_ALL : how;
	if (k->how == KEEP_ALL)
		add_range(k, 0, size, UINT64_MAX);
	else if (k->how == KEEP_HEAD)
		add_range(k, 0, HEAD, HEAD);
	return k;
}

int keep_push(struct keeper *k, const void *data, size_t n)
{
	const unsigned char *p = data;
	size_t step;
	int e;

	if (k->how == KEEP_NOTHING)
		return 0;
	/* Only libraries need a window over the pieces of the stream. */
	if (k->how != KEEP_LIBRARY) {
		e = pass(k, k->pos, p, n);
		k->pos += n;
		return e;
	}
	if (!k->s->window)
		k->s->window = arena_alloc(k->a, WINDOW);
	k->buf = k->s->window;
	while (n) {
		step = WINDOW - k->n < n ? WINDOW - k->n : n;
		memcpy(k->buf + k->n, p, step);
		k->n += step;
		p += step;
		n -= step;
		if (k->n < WINDOW)
			continue;
		e = process(k, false);
		if (e)
			return e;
	}
	return 0;
}

int keep_end(struct keeper *k)
{
	int e = 0;

	if (k->how == KEEP_LIBRARY && k->n)
		e = process(k, true);
	return e;
}

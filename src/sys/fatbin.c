/* SPDX-License-Identifier: Apache-2.0 */
/* Hops over the headers of GPU code; must not trust a size in them and reads no payload. */
#include "sys/fatbin.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum {
	BLOB_HEADER = 16,
	ENTRY_HEADER = 64,
	RECORD = 24,
	ENTRIES_MAX = 4096, /* in one blob; real ones hold about 10 */
	READS_MAX = 1 << 20,
	JUNK_MAX = 1 << 20, /* bytes of padding that are searched for the next blob */
	CHUNK = 4096
};
static const uint32_t blob_magic = 0xBA55ED50, record_magic = 0x466243B1;

struct scan {
	int fd;
	uint64_t start, end; /* the section in the file */
	struct fatbin *f;
	unsigned reads;
	uint64_t junk;
};

static void damaged(struct scan *s, const char *what)
{
	if (!s->f->damage)
		s->f->damage = what;
}

static bool read_at(struct scan *s, void *buf, size_t n, uint64_t off)
{
	if (++s->reads > READS_MAX) {
		damaged(s, "too many headers");
		return false;
	}
	s->f->bytes += n;
	return off <= s->end && n <= s->end - off && elf_pread(s->fd, buf, n, off);
}

/* Counts the target for the blob; `seen` has a bit for each that was counted for it already. */
static void count_target(struct scan *s, const struct fatbin_target *t, uint64_t *seen)
{
	struct fatbin *f = s->f;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->targets[i].kind == t->kind && f->targets[i].arch == t->arch &&
		    f->targets[i].suffix == t->suffix)
			break;
	if (i == FATBIN_TARGETS)
		return damaged(s, "more targets than there are");
	if (i == f->n)
		f->targets[f->n++] = *t;
	if (*seen >> i & 1)
		return;
	*seen |= (uint64_t)1 << i;
	f->targets[i].blobs++;
}

static void entry_target(struct scan *s, const unsigned char *h, uint64_t *seen)
{
	uint64_t flags = elf_le(h + 40, 8);
	struct fatbin_target t = { .arch = (unsigned)elf_le(h + 28, 4) };
	unsigned kind = (unsigned)elf_le(h, 2);

	if ((kind != FATBIN_PTX && kind != FATBIN_CUBIN && kind != FATBIN_LTO) || t.arch < 10 ||
	    t.arch > 999) {
		s->f->unknown++;
		return;
	}
	t.kind = (enum fatbin_kind)kind;
	t.suffix = flags & 0x100000 ? 'a' : flags & 0x200000 ? 'f' : '\0';
	count_target(s, &t, seen);
}

/*
 * The header of the blob at `off`: true and where its entries lie when it is one. A size past the
 * end of the section is cut there and named.
 */
static bool read_blob(struct scan *s, uint64_t off, uint64_t *ret_first, uint64_t *ret_end)
{
	unsigned char h[BLOB_HEADER];
	uint64_t size, hsize;

	if (!read_at(s, h, sizeof(h), off) || elf_le(h, 4) != blob_magic)
		return false;
	hsize = elf_le(h + 6, 2);
	size = elf_le(h + 8, 8);
	if (hsize < BLOB_HEADER || hsize > s->end - off) {
		damaged(s, "a blob has a senseless header size");
		hsize = BLOB_HEADER;
		size = 0;
	}
	if (size > s->end - off - hsize) {
		damaged(s, "a blob ends past its section");
		size = s->end - off - hsize;
	}
	*ret_first = off + hsize;
	*ret_end = off + hsize + size;
	return true;
}

static void read_entries(struct scan *s, uint64_t at, uint64_t end)
{
	unsigned char h[ENTRY_HEADER];
	uint64_t hsize, size, seen = 0;
	unsigned n;

	s->f->blobs++;
	for (n = 0; end - at >= ENTRY_HEADER; n++) {
		if (n == ENTRIES_MAX)
			return damaged(s, "a blob with too many entries");
		if (!read_at(s, h, sizeof(h), at))
			return damaged(s, "an entry cannot be read");
		s->f->entries++;
		entry_target(s, h, &seen);
		hsize = elf_le(h + 4, 4);
		size = elf_le(h + 8, 8);
		if (hsize < ENTRY_HEADER || hsize > end - at || size > end - at - hsize)
			return damaged(s, "an entry ends past its blob");
		at += hsize + size;
	}
}

/*
 * Offset of the blob that record i of .nvFatBinSegment names; 0 when the file does not hold it
 * (relocated).
 */
static uint64_t record_blob(struct scan *s, const struct elf_section *seg,
			    const struct elf_section *fb, uint64_t i)
{
	unsigned char r[RECORD];
	uint64_t addr;

	s->f->bytes += sizeof(r);
	if (!elf_pread(s->fd, r, sizeof(r), seg->off + i * RECORD) || elf_le(r, 4) != record_magic)
		return 0;
	addr = elf_le(r + 8, 8);
	if (addr < fb->addr || addr - fb->addr >= fb->size)
		return 0;
	return fb->off + (addr - fb->addr);
}

/*
 * By the records: only the chosen blobs are touched. False when the records do not lead to blobs.
 */
static bool scan_records(struct scan *s, const struct elf_section *fb,
			 const struct elf_section *seg, unsigned max)
{
	uint64_t n = seg->size / RECORD, take = n < max ? n : max, i, off, first, end;

	if (!n)
		return false;
	for (i = 0; i < take; i++) {
		off = record_blob(s, seg, fb, i * n / take);
		if (!off || !read_blob(s, off, &first, &end))
			return false;
		read_entries(s, first, end);
	}
	s->f->total = n > FATBIN_ALL ? FATBIN_ALL : (unsigned)n;
	return true;
}

/* Padding: the next place at or behind `off`, which is aligned, where a blob seems to begin. */
static bool skip_padding(struct scan *s, uint64_t off, uint64_t *ret)
{
	unsigned char buf[CHUNK];
	size_t n, i, step = 64;

	while (off < s->end && s->end - off >= BLOB_HEADER && s->junk < JUNK_MAX) {
		n = s->end - off < step ? (size_t)(s->end - off) & ~(size_t)7 : step;
		if (!read_at(s, buf, n, off))
			return false;
		s->junk += n;
		for (i = 0; i + 8 <= n; i += 8) {
			if (elf_le(buf + i, 4) == blob_magic) {
				*ret = off + i;
				return true;
			}
		}
		off += n;
		if (step < CHUNK)
			step *= 2;
	}
	return false;
}

struct blob {
	uint64_t first, end; /* its entries */
};

/* The blob at or behind *off, which is moved past it. */
static bool next_blob(struct scan *s, uint64_t *off, struct blob *ret)
{
	if (!read_blob(s, *off, &ret->first, &ret->end) &&
	    (!skip_padding(s, *off, off) || !read_blob(s, *off, &ret->first, &ret->end)))
		return false;
	*off = (ret->end + 7) & ~(uint64_t)7;
	return true;
}

/* One after another; when not all are wanted they are counted first, so that the choice is even. */
static void scan_chain(struct scan *s, unsigned max)
{
	unsigned i, stride = 1;
	uint64_t off = s->start;
	struct blob b;

	if (max < FATBIN_ALL) {
		for (i = 0; i < FATBIN_ALL && next_blob(s, &off, &b); i++)
			;
		stride = i > max ? (i + max - 1) / max : 1;
	}
	off = s->start;
	s->junk = 0;
	for (i = 0; i < FATBIN_ALL && next_blob(s, &off, &b); i++)
		if (i % stride == 0)
			read_entries(s, b.first, b.end);
	s->f->total = i;
}

static int kind_rank(enum fatbin_kind k)
{
	return k == FATBIN_CUBIN ? 0 : k == FATBIN_LTO ? 1 : 2;
}

static int target_order(const void *pa, const void *pb)
{
	const struct fatbin_target *a = pa, *b = pb;
	int d = kind_rank(a->kind) - kind_rank(b->kind);

	if (!d)
		d = (a->arch > b->arch) - (a->arch < b->arch);
	return d ? d : a->suffix - b->suffix;
}

void fatbin_scan(int fd, const struct elf_section *fatbin, const struct elf_section *segment,
		 unsigned max_blobs, struct fatbin *ret)
{
	struct scan s = {
		.fd = fd, .start = fatbin->off, .end = fatbin->off + fatbin->size, .f = ret
	};

	*ret = (struct fatbin){ 0 };
	if (!max_blobs)
		max_blobs = 1;
	if (!segment || max_blobs >= FATBIN_ALL || !scan_records(&s, fatbin, segment, max_blobs)) {
		uint64_t bytes = ret->bytes;

		*ret = (struct fatbin){ .bytes = bytes };
		scan_chain(&s, max_blobs);
	}
	if (!ret->blobs && fatbin->size)
		damaged(&s, "no GPU code in the section");
	qsort(ret->targets, ret->n, sizeof(ret->targets[0]), target_order);
}

const char *fatbin_target_name(struct arena *a, const struct fatbin_target *t)
{
	const char *stem = t->kind == FATBIN_CUBIN ? "sm"
			   : t->kind == FATBIN_PTX ? "compute"
						   : "lto";

	return arena_printf(a, "%s_%u%.1s", stem, t->arch,
			    t->suffix == 'a'   ? "a"
			    : t->suffix == 'f' ? "f"
					       : "");
}

const char **fatbin_build_targets(struct arena *a, const struct fatbin *f, size_t *ret_n)
{
	const char **names = arena_calloc(a, f->n ? f->n : 1, sizeof(*names));
	unsigned most = 0;
	size_t i, n = 0;

	for (i = 0; i < f->n; i++)
		if (f->targets[i].kind != FATBIN_LTO && f->targets[i].blobs > most)
			most = f->targets[i].blobs;
	for (i = 0; i < f->n; i++)
		if (f->targets[i].kind != FATBIN_LTO && f->targets[i].blobs * 2 >= most)
			names[n++] = fatbin_target_name(a, &f->targets[i]);
	*ret_n = n;
	return names;
}

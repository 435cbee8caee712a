/* SPDX-License-Identifier: Apache-2.0 */
/* Hops over the headers of GPU code; must not trust a size in them and reads no payload. */
#include "sys/fatbin.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "sys/cached.h"

enum {
	BLOB_HEADER = 16,
	ENTRY_HEADER = 64,
	RECORD = 24,
	RECORDS_AT_ONCE = 64,
	ENTRIES_MAX = 4096, /* in one blob; real ones hold about 10 */
	READS_MAX = 1 << 20,
	JUNK_MAX = 1 << 20, /* bytes of padding that are searched for the next blob */
	CHUNK = 4096,
	BIG_CHUNK = 128 << 10,
	WINDOW = 192, /* padding, a header and the first entry: three lines of a cache */
	DENSE_AFTER = 8,      /* blobs after which their distance is known */
	DENSE = 64 << 10,     /* bytes from one to the next */
	AHEAD = 8 << 20,
	BATCH = 256, /* blobs whose entries are looked at together */
	BLOB_VERSION = 1,
	PACK_OLD = 0x1000,
	PACK_LZ4 = 0x2000,
	PACK_ZSTD = 0x8000,
};
static const uint32_t blob_magic = 0xBA55ED50, record_magic = 0x466243B1;

struct scan {
	int fd;
	uint64_t base;	     /* what alignment counts from */
	uint64_t start, end; /* the section in the file */
	struct fatbin *f;
	unsigned reads;
	uint64_t junk, junk_max; /* the first becomes 0 at each blob */
	uint64_t junk_next;	 /* what junk_max becomes when there was a blob; 0: stays */
	bool cold; /* the file is not in memory: reads wait for the disk */
	bool windowed; /* small reads go through the window */
	unsigned char window[WINDOW]; /* bytes of the file at window_at, window_n of them */
	uint64_t window_at;
	size_t window_n;
};

struct blob {
	uint64_t first, end; /* its entries */
	uint64_t seen;	     /* a bit for each target that was counted */
	unsigned entries;
};

static void damaged(struct scan *s, const char *what)
{
	if (!s->f->damage)
		s->f->damage = what;
}

/* Reads n bytes if they are in memory already. */
static bool ready(const struct scan *s, void *buf, size_t n, uint64_t off)
{
	return off <= INT64_MAX - n && read_cached(s->fd, buf, n, (off_t)off);
}

static void ask_for(const struct scan *s, uint64_t off, uint64_t n)
{
	if (off < s->end)
		(void)posix_fadvise(s->fd, (off_t)off, (off_t)(n < s->end - off ? n : s->end - off),
				    POSIX_FADV_WILLNEED);
}

/* Copies n bytes out of the window, when they are in it. */
static bool in_window(const struct scan *s, void *buf, size_t n, uint64_t off)
{
	if (off < s->window_at || off - s->window_at > s->window_n ||
	    n > s->window_n - (off - s->window_at))
		return false;
	memcpy(buf, s->window + (off - s->window_at), n);
	return true;
}

static bool read_at(struct scan *s, void *buf, size_t n, uint64_t off)
{
	if (in_window(s, buf, n, off))
		return true;
	if (s->windowed && n <= ENTRY_HEADER && off <= s->end && n <= s->end - off) {
		size_t want = s->end - off < WINDOW ? (size_t)(s->end - off) : WINDOW;

		s->window_n = 0;
		if (++s->reads > READS_MAX) {
			damaged(s, "too many headers");
			return false;
		}
		if (!s->cold && !ready(s, s->window, want, off))
			s->cold = true;
		if (s->cold && !elf_pread(s->fd, s->window, want, off))
			return false;
		s->f->bytes += want;
		s->window_at = off;
		s->window_n = want;
		memcpy(buf, s->window, n);
		return true;
	}
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

static void note(unsigned *list, size_t *n, unsigned value)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (list[i] == value)
			return;
	if (*n < FATBIN_KINDS)
		list[(*n)++] = value;
}

static void count_packing(struct fatbin *f, uint64_t flags)
{
	if (flags & PACK_ZSTD)
		f->zstd++;
	else if (flags & PACK_LZ4)
		f->lz4++;
	else if (flags & PACK_OLD)
		f->packed++;
	else
		f->plain++;
}

static void entry_target(struct scan *s, const unsigned char *h, uint64_t *seen)
{
	uint64_t flags = elf_le(h + 40, 8);
	struct fatbin_target t = { .arch = (unsigned)elf_le(h + 28, 4) };
	unsigned kind = (unsigned)elf_le(h, 2);

	if ((kind != FATBIN_PTX && kind != FATBIN_CUBIN && kind != FATBIN_LTO) || t.arch < 10 ||
	    t.arch > 999) {
		s->f->unknown++;
		note(s->f->kinds, &s->f->n_kinds, kind);
		return;
	}
	count_packing(s->f, flags);
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
	unsigned version;

	if (!read_at(s, h, sizeof(h), off) || elf_le(h, 4) != blob_magic)
		return false;
	version = (unsigned)elf_le(h + 4, 2);
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
	if (version != BLOB_VERSION) {
		/* How its entries look is not known. */
		s->f->unknown++;
		note(s->f->versions, &s->f->n_versions, version);
		*ret_first = *ret_end;
	}
	return true;
}

/* Takes the header `h` of the entry at b->first and goes on to the next. False at the end of the
 * blob. */
static bool take_entry(struct scan *s, struct blob *b, const unsigned char *h)
{
	uint64_t hsize = elf_le(h + 4, 4), size = elf_le(h + 8, 8);

	s->f->entries++;
	entry_target(s, h, &b->seen);
	if (hsize < ENTRY_HEADER || hsize > b->end - b->first ||
	    size > b->end - b->first - hsize) {
		damaged(s, "an entry ends past its blob");
		return false;
	}
	b->first += hsize + size;
	if (++b->entries == ENTRIES_MAX && b->end - b->first >= ENTRY_HEADER) {
		damaged(s, "a blob with too many entries");
		return false;
	}
	return b->end - b->first >= ENTRY_HEADER;
}

static void read_entries(struct scan *s, uint64_t at, uint64_t end)
{
	struct blob b = { .first = at, .end = end };
	unsigned char h[ENTRY_HEADER];

	s->f->blobs++;
	if (end - at < ENTRY_HEADER)
		return;
	do {
		if (!read_at(s, h, sizeof(h), b.first))
			return damaged(s, "an entry cannot be read");
	} while (take_entry(s, &b, h));
}

/* Reads n bytes when they are in memory; else false, and they are asked for. */
static bool read_ready(struct scan *s, void *buf, size_t n, uint64_t off)
{
	if (off > s->end || n > s->end - off)
		return false;
	if (ready(s, buf, n, off)) {
		s->reads++;
		s->f->bytes += n;
		return true;
	}
	s->cold = true;
	ask_for(s, off, n);
	return false;
}

/*
 * The entries of up to BATCH blobs, one of each, then the next of each: what is not in memory yet
 * is asked for at once, so that the disk has many reads to do instead of one.
 */
static void read_batch(struct scan *s, struct blob *b, unsigned n)
{
	bool late[BATCH];
	unsigned char h[ENTRY_HEADER];
	unsigned i, live;

	for (; n; n = live) {
		live = 0;
		for (i = 0; i < n; i++) {
			late[live] = !read_ready(s, h, sizeof(h), b[i].first);
			if (late[live] || take_entry(s, &b[i], h))
				b[live++] = b[i];
		}
		n = live;
		live = 0;
		for (i = 0; i < n; i++) {
			if (late[i] && !read_at(s, h, sizeof(h), b[i].first)) {
				damaged(s, "an entry cannot be read");
				continue;
			}
			if (!late[i] || take_entry(s, &b[i], h))
				b[live++] = b[i];
		}
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

static bool find_magic(const unsigned char *buf, size_t n, size_t *ret)
{
	size_t i;

	for (i = 0; i + 8 <= n; i += 8) {
		if (elf_le(buf + i, 4) == blob_magic) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* Padding: the next place at or behind `off`, which is aligned, where a blob seems to begin. */
static bool skip_padding(struct scan *s, uint64_t off, uint64_t *ret)
{
	unsigned char buf[CHUNK], *big = NULL, *p = buf;
	size_t n, at, step = 64;
	bool found = false;

	while (!found && off < s->end && s->end - off >= BLOB_HEADER && s->junk < s->junk_max) {
		n = s->end - off < step ? (size_t)(s->end - off) & ~(size_t)7 : step;
		if (!read_at(s, p, n, off))
			break;
		s->junk += n;
		found = find_magic(p, n, &at);
		off += found ? at : n;
		if (step < CHUNK)
			step *= 2;
		else if (step == CHUNK && s->junk_max > JUNK_MAX && (big = malloc(BIG_CHUNK)))
			p = big, step = BIG_CHUNK;
	}
	free(big);
	*ret = off;
	return found;
}

/* The blob at or behind *off, which is moved past it. */
static bool next_blob(struct scan *s, uint64_t *off, struct blob *ret)
{
	*ret = (struct blob){ 0 };
	*off += (s->base - *off) & 7;
	if (!read_blob(s, *off, &ret->first, &ret->end) &&
	    (!skip_padding(s, *off, off) || !read_blob(s, *off, &ret->first, &ret->end)))
		return false;
	*off = ret->end;
	s->junk = 0;
	if (s->junk_next)
		s->junk_max = s->junk_next;
	return true;
}

/* Takes the entries whose headers came along with the bundle's. False when there are no more. */
static bool take_window(struct scan *s, struct blob *b)
{
	unsigned char h[ENTRY_HEADER];

	if (b->end - b->first < ENTRY_HEADER)
		return false;
	while (in_window(s, h, sizeof(h), b->first))
		if (!take_entry(s, b, h))
			return false;
	return true;
}

/*
 * Where bundles lie close together and one leads to the next, waiting for each costs more than to
 * have the disk deliver all that lies between.
 */
static void read_ahead(const struct scan *s, uint64_t off, unsigned blobs, uint64_t *asked)
{
	if (!s->cold || blobs < DENSE_AFTER || (off - s->start) / blobs > DENSE ||
	    (*asked > off && *asked - off > AHEAD / 2))
		return;
	if (*asked < off)
		*asked = off;
	ask_for(s, *asked, AHEAD);
	*asked += AHEAD;
}

static void walk_all(struct scan *s)
{
	struct blob batch[BATCH], b;
	uint64_t off = s->start, asked = 0;
	unsigned i, n = 0;

	for (i = 0; i < FATBIN_ALL; i++) {
		s->windowed = true;
		if (!next_blob(s, &off, &b))
			break;
		s->windowed = false;
		s->f->blobs++;
		read_ahead(s, off, i + 1, &asked);
		if (!take_window(s, &b))
			continue;
		batch[n++] = b;
		if (n == BATCH) {
			read_batch(s, batch, n);
			n = 0;
		}
	}
	s->windowed = false;
	read_batch(s, batch, n);
	s->f->total = i;
}

/* One after another; when not all are wanted they are counted first, so that the choice is even. */
static void scan_chain(struct scan *s, unsigned max)
{
	unsigned i, stride = 1;
	uint64_t off = s->start;
	struct blob b;

	if (max >= FATBIN_ALL)
		return walk_all(s);
	for (i = 0; i < FATBIN_ALL && next_blob(s, &off, &b); i++)
		;
	s->f->unknown = 0;
	stride = i > max ? (i + max - 1) / max : 1;
	off = s->start;
	s->junk = 0;
	for (i = 0; i < FATBIN_ALL && next_blob(s, &off, &b); i++)
		if (i % stride == 0)
			read_entries(s, b.first, b.end);
	s->f->total = i;
}

/* Asks for the headers of all blobs that the records name, when the first of them is not in memory.
 */
static void ask_for_blobs(struct scan *s, const struct elf_section *fb,
			  const struct elf_section *seg)
{
	unsigned char r[RECORD * RECORDS_AT_ONCE], h[BLOB_HEADER];
	uint64_t n = seg->size / RECORD, i, k, per, addr;

	if (read_ready(s, h, sizeof(h), s->start) || n > FATBIN_ALL)
		return;
	for (i = 0; i < n; i += per) {
		per = n - i < RECORDS_AT_ONCE ? n - i : RECORDS_AT_ONCE;
		if (!elf_pread(s->fd, r, per * RECORD, seg->off + i * RECORD))
			return;
		s->f->bytes += per * RECORD;
		for (k = 0; k < per; k++) {
			addr = elf_le(r + k * RECORD + 8, 8);
			if (addr >= fb->addr && addr - fb->addr < fb->size)
				ask_for(s, fb->off + (addr - fb->addr), BLOB_HEADER + ENTRY_HEADER);
		}
	}
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

static struct scan scan_of(int fd, const struct elf_section *section, struct fatbin *f)
{
	*f = (struct fatbin){ 0 };
	return (struct scan){ .fd = fd, .start = section->off, .end = section->off + section->size,
			      .junk_max = JUNK_MAX, .f = f };
}

void fatbin_scan(int fd, const struct elf_section *fatbin, const struct elf_section *segment,
		 unsigned max_blobs, struct fatbin *ret)
{
	struct scan s = scan_of(fd, fatbin, ret);

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

void fatbin_walk(const struct fatbin_place *p, struct fatbin *ret)
{
	struct scan s = scan_of(p->fd, &p->section, ret);

	s.base = p->base;
	s.junk_max = p->junk_first;
	s.junk_next = p->junk_max;
	/* Else each read would bring 128 KiB along, and what is read lies further apart. */
	(void)posix_fadvise(p->fd, 0, 0, POSIX_FADV_RANDOM);
	if (p->segment)
		ask_for_blobs(&s, &p->section, p->segment);
	walk_all(&s);
	(void)posix_fadvise(p->fd, 0, 0, POSIX_FADV_NORMAL);
	qsort(ret->targets, ret->n, sizeof(ret->targets[0]), target_order);
}

int64_t fatbin_registered(const struct fatbin_place *p)
{
	uint64_t n = p->segment ? p->segment->size / RECORD : 0, i, k, per, addr;
	unsigned char r[RECORD * RECORDS_AT_ONCE];
	int64_t count = 0;
	bool filled = false;

	if (n > FATBIN_ALL)
		return -1;
	for (i = 0; i < n; i += per) {
		per = n - i < RECORDS_AT_ONCE ? n - i : RECORDS_AT_ONCE;
		if (!elf_pread(p->fd, r, per * RECORD, p->segment->off + i * RECORD))
			return -1;
		for (k = 0; k < per; k++) {
			addr = elf_le(r + k * RECORD + 8, 8);
			filled |= addr != 0;
			count +=
				addr >= p->section.addr && addr - p->section.addr < p->section.size;
		}
	}
	return filled ? count : -1;
}

const char **fatbin_names(struct arena *a, const struct fatbin *f, enum fatbin_kind kind,
			  size_t *ret_n)
{
	const char **names = arena_calloc(a, f->n ? f->n : 1, sizeof(*names));
	size_t i, n = 0;

	for (i = 0; i < f->n; i++)
		if (f->targets[i].kind == kind)
			names[n++] = fatbin_target_name(a, &f->targets[i]);
	*ret_n = n;
	return names;
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

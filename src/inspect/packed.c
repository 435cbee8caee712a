/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of wheels and source archives. Small ones are held in memory whole. Of large ones only
 * what is looked at: in a first pass the beginning and the section table, in a second the parts
 * that the table leads to, and of GPU code the headers. So memory is bounded however large a
 * library is; the rest of it are holes.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "inspect/parts.h"
#include "sys/archive_door.h"
#include "sys/pe.h"

enum {
	BUFFER = 256 << 10,
	WHOLE_MAX = 16 << 20, /* up to here a member is held whole */
	FRONT = 64 << 10,
	TAIL_SLACK = 1 << 20, /* names of sections stand close to the table */
	TAIL_MAX = 32 << 20,
	PART_MAX = 64 << 20,
	PARTS_MAX = 64,
	JUNK = 1 << 20,
	HOP = 64, /* a header of GPU code */
};
static const uint32_t blob_magic = 0xBA55ED50;

/* Bytes [from, to) of a member that are kept. */
struct part {
	uint64_t from, to;
	bool code;     /* keep headers only */
	uint64_t next; /* of GPU code: where the next header is looked for */
	uint64_t blob_end;
	uint64_t junk;
	unsigned char carry[HOP]; /* a header that is split between two pieces */
	size_t carried;
};

struct sieve {
	int fd; /* what is kept, at its place */
	struct part parts[PARTS_MAX];
	size_t n;
};

static bool put(int fd, const unsigned char *p, size_t n, uint64_t off)
{
	while (n) {
		ssize_t k = pwrite(fd, p, n, (off_t)off);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		p += k;
		off += (uint64_t)k;
		n -= (size_t)k;
	}
	return true;
}

static void keep(struct sieve *s, uint64_t from, uint64_t to, bool code)
{
	if (s->n < PARTS_MAX && from < to)
		s->parts[s->n++] = (struct part){ .from = from, .to = to, .code = code,
						  .next = (from + 7) & ~(uint64_t)7 };
}

/* A header of GPU code at p->next: where the following one is. */
static void hop(struct part *p, const unsigned char *h)
{
	uint64_t hsize, size;

	if (p->next >= p->blob_end) {
		/* At a blob, or in the padding before one. */
		if (elf_le(h, 4) == blob_magic) {
			hsize = elf_le(h + 6, 2);
			size = elf_le(h + 8, 8);
			p->blob_end = size > p->to - p->next ? p->to : p->next + hsize + size;
			p->next += hsize < 16 ? 16 : hsize;
			if (p->blob_end > p->next)
				return;
			p->next = p->blob_end;
		} else {
			p->next += 8;
			p->junk += 8;
			if (p->junk > JUNK)
				p->next = p->to;
			return;
		}
	} else {
		hsize = elf_le(h + 4, 4);
		size = elf_le(h + 8, 8);
		if (hsize < HOP || hsize > p->to - p->next || size > p->to - p->next - hsize)
			p->next = p->blob_end;
		else
			p->next += hsize + size;
	}
	if (p->next >= p->blob_end || p->blob_end - p->next < HOP) {
		p->next = (p->blob_end + 7) & ~(uint64_t)7;
		p->blob_end = p->next;
	}
}

/* Headers of GPU code in the piece [off, off + n). Those that reach past it wait in p->carry. */
static bool sift_code(struct sieve *s, struct part *p, const unsigned char *buf, size_t n,
		      uint64_t off)
{
	while (p->next < p->to && p->next < off + n) {
		uint64_t left = p->to - p->next;
		size_t want = left < HOP ? (size_t)left : HOP, have;
		unsigned char h[HOP] = { 0 };
		uint64_t at = p->next;

		if (p->carried) {
			/* The beginning came with the piece before. */
			at += p->carried;
		}
		if (at < off)
			return true;
		have = off + n - at < want - p->carried ? (size_t)(off + n - at)
							: want - p->carried;
		memcpy(p->carry + p->carried, buf + (at - off), have);
		p->carried += have;
		if (p->carried < want)
			return true;
		memcpy(h, p->carry, want);
		p->carried = 0;
		if (!put(s->fd, h, want, p->next))
			return false;
		hop(p, h);
	}
	return true;
}

static bool sift(struct sieve *s, const unsigned char *buf, size_t n, uint64_t off)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		struct part *p = &s->parts[i];
		uint64_t from = p->from > off ? p->from : off,
			 to = p->to < off + n ? p->to : off + n;

		if (from >= to)
			continue;
		if (p->code ? !sift_code(s, p, buf, n, off)
			    : !put(s->fd, buf + (from - off), (size_t)(to - from), from))
			return false;
	}
	return true;
}

/* Where the section table of a large library begins, by its header. */
static uint64_t table_at(const unsigned char *h, size_t n)
{
	if (n < sizeof(Elf64_Ehdr) || memcmp(h, ELFMAG, SELFMAG) != 0 ||
	    h[EI_CLASS] != ELFCLASS64 || h[EI_DATA] != ELFDATA2LSB)
		return 0;
	return elf_le(h + 40, 8);
}

/* Reads the member to its end through the sieve. False: *err says why, or memory ran out. */
static bool stream(struct packed *p, struct sieve *s, unsigned char *buf, uint64_t *off,
		   struct err *err)
{
	int64_t k;

	while ((k = packed_read(p, buf, BUFFER, err)) > 0) {
		if (!sift(s, buf, (size_t)k, *off)) {
			err_set(err, ERR_IO, "%s", _("memory for a member"));
			return false;
		}
		*off += (uint64_t)k;
	}
	return k == 0;
}

/* Of a Windows file: the tables of imports and exports, and GPU code. */
static void plan_pe(struct inspect *in, struct sieve *s, uint64_t size)
{
	static const char *const whole[] = { ".rdata", ".idata", ".edata", ".nvFatBi" };
	struct pe *p = arena_alloc(in->a, sizeof(*p));
	uint64_t end;
	size_t i, k;

	if (pe_read(in->a, s->fd, 0, size, p) < 0)
		return;
	for (i = 0; i < p->n_sections; i++) {
		end = (uint64_t)p->sections[i].off + p->sections[i].size;
		if (strcmp(p->sections[i].name, ".nv_fatb") == 0)
			keep(s, p->sections[i].off, end, true);
		for (k = 0; k < ARRAY_LEN(whole) && p->sections[i].size <= PART_MAX; k++)
			if (strcmp(p->sections[i].name, whole[k]) == 0)
				keep(s, p->sections[i].off, end, false);
	}
}

/* What the second pass is to keep. */
static void plan_parts(struct inspect *in, struct sieve *s, uint64_t size)
{
	static const char *const whole[] = { ".dynstr", ".dynamic", ".gnu.version_r", ".interp",
					     ".nvFatBinSegment", ".note.cuda.fwd_compatibility" };
	struct elf_named *list;
	struct elf e;
	size_t n, i, k;

	s->n = 0;
	if (elf_read_at(in->a, s->fd, 0, size, &e) < 0)
		return plan_pe(in, s, size);
	list = elf_sections(in->a, &e, &n);
	for (i = 0; i < n; i++) {
		struct elf_section *x = &list[i].s;

		if (x->type == SHT_NOBITS || x->off > size || x->size > size - x->off)
			continue;
		if (strcmp(list[i].name, ".nv_fatbin") == 0 ||
		    strcmp(list[i].name, "__nv_relfatbin") == 0 ||
		    strcmp(list[i].name, ".ldata") == 0 ||
		    strcmp(list[i].name, ".cask_resource") == 0)
			keep(s, x->off, x->off + x->size, true);
		for (k = 0; k < ARRAY_LEN(whole) && x->size <= PART_MAX; k++)
			if (strcmp(list[i].name, whole[k]) == 0)
				keep(s, x->off, x->off + x->size, false);
	}
}

struct walk {
	struct inspect *in;
	int archive;
	const char *path; /* of the archive */
	unsigned char *buf;
};

/* The archive once more, up to member number `index`. */
static struct packed *reopen(struct walk *w, unsigned index, struct err *err)
{
	struct packed_member m;
	struct packed *p;
	unsigned i;

	if (packed_open(w->in->a, w->archive, &p, err))
		return NULL;
	for (i = 0; i <= index; i++)
		if (packed_next(p, &m, err) != 1) {
			packed_close(p);
			return NULL;
		}
	return p;
}

static bool second_pass(struct walk *w, struct sieve *s, unsigned index, uint64_t size,
			struct err *err)
{
	/* A second reader moves the position of the first, so that it is put back afterwards. */
	off_t at = lseek(w->archive, 0, SEEK_CUR);
	uint64_t off = 0;
	struct packed *p;
	bool ok;

	plan_parts(w->in, s, size);
	p = reopen(w, index, err);
	ok = p && stream(p, s, w->buf, &off, err);
	if (p)
		packed_close(p);
	return lseek(w->archive, at, SEEK_SET) >= 0 && ok;
}

/* One member whose first bytes are in w->buf, `n` of them. */
static bool member(struct walk *w, struct packed *p, const struct packed_member *m, unsigned index,
		   size_t n, struct err *err)
{
	struct inspect_file sub = { .path = arena_printf(w->in->a, "%s!%s", w->path, m->name),
				    .container = w->path };
	struct sieve s = { .fd = memfd_create("member", MFD_CLOEXEC) };
	bool large = m->size > WHOLE_MAX, again = memcmp(w->buf, "MZ", 2) == 0, ok;
	uint64_t off = n, table = table_at(w->buf, n);
	_cleanup_fd_ int fd = s.fd;

	if (fd < 0) {
		err_errno(err, errno, "memfd");
		return false;
	}
	if (large && memcmp(w->buf, "!<arch>\n", 8) == 0) {
		sub.kind = INSPECT_AR;
		sub.note = _("larger than 16 MiB: not looked into within an archive");
		*ARENA_APPEND(w->in->a, w->in->files, w->in->n) = sub;
		return true;
	}
	again |= table != 0;
	if (large) {
		keep(&s, 0, FRONT, false);
		if (table && table < m->size && m->size - table < TAIL_MAX)
			keep(&s, table > TAIL_SLACK ? table - TAIL_SLACK : 0, m->size, false);
	} else {
		keep(&s, 0, WHOLE_MAX, false);
	}
	ok = sift(&s, w->buf, n, 0) && stream(p, &s, w->buf, &off, err);
	if (ok && off > WHOLE_MAX && again && ftruncate(fd, (off_t)off) == 0)
		ok = second_pass(w, &s, index, off, err);
	if (!ok)
		sub.note = arena_strdup(w->in->a, err->msg);
	inspect_bytes(w->in, fd, 0, off, &sub, false);
	return ok;
}

/* Reads on until the buffer holds `want` bytes or the member ends. */
static int64_t first_bytes(struct packed *p, unsigned char *buf, size_t want, struct err *err)
{
	size_t n = 0;
	int64_t k;

	while (n < want) {
		k = packed_read(p, buf + n, want - n, err);
		if (k < 0)
			return k;
		if (!k)
			break;
		n += (size_t)k;
	}
	return (int64_t)n;
}

static bool worth_it(const unsigned char *h, int64_t n)
{
	return n >= 64 && (memcmp(h, ELFMAG, SELFMAG) == 0 || memcmp(h, "MZ", 2) == 0 ||
			   memcmp(h, "\x50\xed\x55\xba", 4) == 0 || memcmp(h, "!<arch>\n", 8) == 0);
}

void inspect_packed(struct inspect *in, int fd, struct inspect_file *f)
{
	struct walk w = { .in = in, .archive = fd, .path = f->path };
	struct view name = view_of(f->path);
	struct packed_member m;
	struct err err = { 0 };
	struct packed *p;
	unsigned index;
	size_t mine = in->n;
	int64_t n = 0;
	int rc;

	f->kind = view_ends(name, ".whl") ? INSPECT_WHEEL : INSPECT_SDIST;
	*ARENA_APPEND(in->a, in->files, in->n) = *f;
	w.buf = arena_alloc(in->a, BUFFER);
	rc = packed_open(in->a, fd, &p, &err);
	for (index = 0; !rc; index++) {
		rc = packed_next(p, &m, &err);
		if (rc != 1)
			break;
		rc = 0;
		in->files[mine].members++;
		if (!m.is_file)
			continue;
		if (m.is_locked) {
			in->files[mine].why = _("holds members that are locked by a password");
			continue;
		}
		m.name = arena_strdup(in->a, m.name);
		n = first_bytes(p, w.buf, 512, &err);
		if (n < 0 || (worth_it(w.buf, n) && !member(&w, p, &m, index, (size_t)n, &err)))
			rc = -1;
	}
	if (rc < 0)
		in->files[mine].why = arena_strdup(in->a, err.msg);
}

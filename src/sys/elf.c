/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Header, segments, dynamic section and sections of an ELF file; must not trust any offset, count
 * or size in it.
 */
#include "sys/elf.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "model/version.h"

enum {
	PHDR_MAX = 128,
	DYN_MAX = 4096, /* entries; libtorch_cuda.so has 51 */
	NEEDED_MAX = 512,
	NAME_MAX_LEN = 4096, /* soname, needed, version */
	PATH_MAX_LEN = 1 << 16,
	VERNEED_MAX =
		1 << 14 /* bytes of .gnu.version_r that are read; real ones take less than 1 KiB */
};

/* Dynamic entries that matter, as found. */
struct dynamic {
	uint64_t strtab, strsz, verneed, soname, rpath, runpath, flags_1;
	bool has_soname, has_rpath, has_runpath;
	uint64_t needed[NEEDED_MAX];
	size_t n_needed;
};

bool elf_pread(int fd, void *buf, size_t n, uint64_t off)
{
	char *p = buf;
	ssize_t r;

	if (off > INT64_MAX - n)
		return false;
	while (n) {
		r = pread(fd, p, n, (off_t)off);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		p += r;
		off += (uint64_t)r;
		n -= (size_t)r;
	}
	return true;
}

bool elf_at(const struct elf *e, void *buf, size_t n, uint64_t off)
{
	return off <= e->file_size && n <= e->file_size - off &&
	       elf_pread(e->fd, buf, n, e->base + off);
}

static void damaged(struct elf *e, const char *what)
{
	if (!e->damage)
		e->damage = what;
}

/*
 * Offset in the file of an address of the loaded image, and how many bytes of its segment follow.
 */
static bool elf_offset(const struct elf *e, uint64_t addr, uint64_t *ret_off, uint64_t *ret_left)
{
	size_t i;

	for (i = 0; i < e->n_loads; i++) {
		const struct elf_load *l = &e->loads[i];

		if (addr < l->addr || addr - l->addr >= l->size)
			continue;
		*ret_off = l->off + (addr - l->addr);
		*ret_left = l->size - (addr - l->addr);
		return true;
	}
	return false;
}

/*
 * A string of at most `max` bytes in the table at file offset `off`, of which `size` bytes are
 * there.
 */
static const char *read_string(struct arena *a, const struct elf *e, uint64_t off, uint64_t size,
			       size_t max)
{
	size_t step = 128, n = 0, i;
	char *buf = NULL;

	if (max > size)
		max = (size_t)size;
	for (;;) {
		if (step > max)
			step = max;
		if (step <= n)
			return NULL; /* no NUL within the limit */
		buf = n ? arena_grow(a, buf, n, step) : arena_alloc(a, step);
		if (!elf_at(e, buf + n, step - n, off + n))
			return NULL;
		for (i = n; i < step; i++)
			if (!buf[i])
				return buf;
		n = step;
		step *= 8;
	}
}

static const char *dyn_string(struct arena *a, struct elf *e, const struct dynamic *d, uint64_t at,
			      size_t max)
{
	uint64_t off, left;
	const char *s;

	/*
	 * File sizes stop reads of a string near the end; d->strsz is within the segment (see
	 * dynamic_strings).
	 */
	if (at >= d->strsz || !elf_offset(e, d->strtab + at, &off, &left)) {
		damaged(e, "a name lies outside the string table");
		return NULL;
	}
	if (left > d->strsz - at)
		left = d->strsz - at;
	if (off < e->file_size && left > e->file_size - off)
		left = e->file_size - off;
	s = read_string(a, e, off, left, max);
	if (!s)
		damaged(e, "a name in the string table does not end");
	return s;
}

static bool read_header(struct elf *e)
{
	unsigned char h[sizeof(Elf64_Ehdr)] = { 0 };
	size_t need;

	if (!elf_at(e, h, 20, 0) || memcmp(h, ELFMAG, SELFMAG) != 0)
		return false;
	if (h[EI_CLASS] != ELFCLASS32 && h[EI_CLASS] != ELFCLASS64) {
		damaged(e, "unknown class");
		return true;
	}
	e->wide = h[EI_CLASS] == ELFCLASS64;
	e->big = h[EI_DATA] == ELFDATA2MSB;
	e->type = (uint16_t)(e->big ? h[16] << 8 | h[17] : h[17] << 8 | h[16]);
	e->machine = (uint16_t)(e->big ? h[18] << 8 | h[19] : h[19] << 8 | h[18]);
	if (h[EI_DATA] != ELFDATA2LSB) {
		damaged(e, e->big ? "big-endian" : "unknown byte order");
		return true;
	}
	need = e->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	if (!elf_at(e, h, need, 0)) {
		damaged(e, "shorter than its header");
		return true;
	}
	e->shoff = elf_le(h + (e->wide ? 40 : 32), e->wide ? 8 : 4);
	e->shentsize = (uint16_t)elf_le(h + (e->wide ? 58 : 46), 2);
	e->shnum = (uint32_t)elf_le(h + (e->wide ? 60 : 48), 2);
	e->shstrndx = (uint32_t)elf_le(h + (e->wide ? 62 : 50), 2);
	return true;
}

static void read_segments(struct arena *a, struct elf *e)
{
	unsigned char h[64], p[sizeof(Elf64_Phdr)];
	size_t hsize = e->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	size_t psize = e->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), w = e->wide ? 8 : 4, i;
	uint64_t phoff;
	size_t n, ent;

	if (!elf_at(e, h, hsize, 0))
		return;
	phoff = elf_le(h + (e->wide ? 32 : 28), w);
	ent = elf_le(h + (e->wide ? 54 : 42), 2);
	n = elf_le(h + (e->wide ? 56 : 44), 2);
	if (n && ent < psize)
		return damaged(e, "segment entries are too small");
	if (n > PHDR_MAX) {
		damaged(e, "too many segments");
		n = PHDR_MAX;
	}
	e->loads = arena_calloc(a, n ? n : 1, sizeof(*e->loads));
	for (i = 0; i < n; i++) {
		struct elf_load l;
		uint32_t type;

		if (phoff > e->file_size || !elf_at(e, p, psize, phoff + i * ent))
			return damaged(e, "the segment table lies past the end");
		type = (uint32_t)elf_le(p, 4);
		l.off = elf_le(p + (e->wide ? 8 : 4), w);
		l.addr = elf_le(p + (e->wide ? 16 : 8), w);
		l.size = elf_le(p + (e->wide ? 32 : 16), w);
		if (l.off > e->file_size || l.addr > UINT64_MAX - l.size) {
			damaged(e, "a segment lies past the end");
			continue;
		}
		if (l.size > e->file_size - l.off) {
			damaged(e, "a segment lies past the end");
			l.size = e->file_size - l.off;
		}
		if (type == PT_LOAD)
			e->loads[e->n_loads++] = l;
		else if (type == PT_DYNAMIC && !e->dyn_size)
			e->dyn_off = l.off, e->dyn_size = l.size;
		else if (type == PT_INTERP && !e->interp_size)
			e->interp_off = l.off, e->interp_size = l.size;
	}
}

/* Keeps what the entry says. False at the end of the list. */
static bool dynamic_entry(struct elf *e, struct dynamic *d, uint64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_NULL:
		return false;
	case DT_NEEDED:
		if (d->n_needed < NEEDED_MAX)
			d->needed[d->n_needed++] = value;
		else
			damaged(e, "too many needed libraries");
		break;
	case DT_STRTAB:
		d->strtab = value;
		break;
	case DT_STRSZ:
		d->strsz = value;
		break;
	case DT_SONAME:
		d->soname = value;
		d->has_soname = true;
		break;
	case DT_RPATH:
		d->rpath = value;
		d->has_rpath = true;
		break;
	case DT_RUNPATH:
		d->runpath = value;
		d->has_runpath = true;
		break;
	case DT_FLAGS_1:
		d->flags_1 = value;
		break;
	case DT_VERNEED:
		d->verneed = value;
		break;
	default:
		break;
	}
	return true;
}

static void read_dynamic(struct elf *e, struct dynamic *d)
{
	size_t size = e->wide ? 16 : 8, w = e->wide ? 8 : 4, per = 64, at, i,
	       n = e->dyn_size / size;
	unsigned char buf[64 * 16];

	if (n > DYN_MAX) {
		damaged(e, "too many dynamic entries");
		n = DYN_MAX;
	}
	for (at = 0; at < n; at += per) {
		if (per > n - at)
			per = n - at;
		if (!elf_at(e, buf, per * size, e->dyn_off + at * size))
			return damaged(e, "the dynamic section lies past the end");
		for (i = 0; i < per; i++)
			if (!dynamic_entry(e, d, elf_le(buf + i * size, w),
					   elf_le(buf + i * size + w, w)))
				return;
	}
}

/*
 * "2.28" out of "GLIBC_2.28" when it is higher than what is known; GLIBC_PRIVATE, CXXABI_TM_1 and
 * the like say nothing.
 */
static void need_version(const char *version, const char *stem, const char **ret)
{
	size_t n = strlen(stem);
	struct version v;

	if (strncmp(version, stem, n) != 0 || !version_parse(view_of(version + n), &v))
		return;
	if (!*ret || version_cmp_str(version + n, *ret) > 0)
		*ret = version + n;
}

/*
 * Walks .gnu.version_r inside one buffer; every step goes forward, so that a loop in the chain ends
 * (E9).
 */
static void read_version_needs(struct arena *a, struct elf *e, const struct dynamic *d)
{
	uint64_t off, left, at = 0, next, aux, step, name;
	unsigned char *buf;
	const char *s;
	unsigned count;

	if (!d->verneed)
		return;
	if (!elf_offset(e, d->verneed, &off, &left))
		return damaged(e, "version needs lie outside the segments");
	if (left > VERNEED_MAX)
		left = VERNEED_MAX;
	if (off >= e->file_size)
		return damaged(e, "version needs lie past the end");
	if (left > e->file_size - off)
		left = e->file_size - off;
	buf = arena_alloc(a, left);
	if (!elf_at(e, buf, left, off))
		return damaged(e, "version needs lie past the end");
	do {
		if (at + 16 > left)
			return damaged(e, "a version need lies past the end");
		count = (unsigned)elf_le(buf + at + 2, 2);
		aux = at + elf_le(buf + at + 8, 4);
		next = elf_le(buf + at + 12, 4);
		for (; count; count--, aux += step) {
			if (aux + 16 > left)
				return damaged(e, "a version need lies past the end");
			name = elf_le(buf + aux + 8, 4);
			step = elf_le(buf + aux + 12, 4);
			s = dyn_string(a, e, d, name, NAME_MAX_LEN);
			if (!s)
				return;
			need_version(s, "GLIBC_", &e->glibc);
			need_version(s, "GLIBCXX_", &e->glibcxx);
			need_version(s, "CXXABI_", &e->cxxabi);
			if (!step)
				break;
		}
		at += next;
	} while (next);
}

static void read_names(struct arena *a, struct elf *e, struct dynamic *d)
{
	size_t i;

	e->flags_1 = d->flags_1;
	e->dynamic = e->dyn_size > 0;
	if (e->interp_size)
		e->interp = read_string(a, e, e->interp_off, e->interp_size, NAME_MAX_LEN);
	if (d->has_soname)
		e->soname = dyn_string(a, e, d, d->soname, NAME_MAX_LEN);
	if (d->has_rpath)
		e->rpath = dyn_string(a, e, d, d->rpath, PATH_MAX_LEN);
	if (d->has_runpath)
		e->runpath = dyn_string(a, e, d, d->runpath, PATH_MAX_LEN);
	e->needed = arena_calloc(a, d->n_needed ? d->n_needed : 1, sizeof(*e->needed));
	for (i = 0; i < d->n_needed; i++) {
		const char *s = dyn_string(a, e, d, d->needed[i], NAME_MAX_LEN);

		if (s)
			e->needed[e->n_needed++] = s;
	}
}

int elf_read_at(struct arena *a, int fd, uint64_t base, uint64_t size, struct elf *ret)
{
	struct elf e = { .fd = fd, .base = base, .file_size = size };
	struct dynamic *d;

	if (!read_header(&e))
		return -ENOEXEC;
	if (!e.damage) {
		read_segments(a, &e);
		d = arena_alloc(a, sizeof(*d));
		read_dynamic(&e, d);
		read_names(a, &e, d);
		read_version_needs(a, &e, d);
	}
	*ret = e;
	return 0;
}

int elf_read(struct arena *a, int fd, struct elf *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	return elf_read_at(a, fd, 0, (uint64_t)st.st_size, ret);
}

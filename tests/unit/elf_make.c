/* SPDX-License-Identifier: Apache-2.0 */
/* Builds small ELF libraries for tests; checks nothing. */
#include "elf_make.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void elf_put(unsigned char *p, uint64_t v, size_t width)
{
	size_t i;

	for (i = 0; i < width; i++)
		p[i] = (unsigned char)(v >> (8 * i));
}

int elf_make_fd(const void *buf, size_t n)
{
	char name[] = "/tmp/cuvet-elf-XXXXXX";
	int fd = mkstemp(name);

	if (fd < 0 || write(fd, buf, n) != (ssize_t)n)
		abort();
	unlink(name);
	return fd;
}

static size_t str(struct elf_make *m, const char *s)
{
	size_t at = m->n - m->strtab;

	memcpy(m->buf + m->n, s, strlen(s) + 1);
	m->n += strlen(s) + 1;
	return at;
}

static void align(struct elf_make *m)
{
	m->n = (m->n + 7) & ~(size_t)7;
}

static void dyn(struct elf_make *m, uint64_t tag, uint64_t value)
{
	elf_put(m->buf + m->n, tag, 8);
	elf_put(m->buf + m->n + 8, value, 8);
	m->n += 16;
}

static void phdr(struct elf_make *m, unsigned i, uint32_t type, uint64_t off, uint64_t size)
{
	unsigned char *p = m->buf + 64 + i * 56;

	elf_put(p, type, 4);
	elf_put(p + 8, off, 8);
	elf_put(p + 16, off, 8);
	elf_put(p + 32, size, 8);
	elf_put(p + 40, size, 8);
}

static void shdr(struct elf_make *m, unsigned i, uint32_t name, uint32_t type, uint64_t off,
		 uint64_t size)
{
	unsigned char *p = m->buf + m->shdr + i * 64;

	elf_put(p, name, 4);
	elf_put(p + 4, type, 4);
	elf_put(p + 16, off, 8);
	elf_put(p + 24, off, 8);
	elf_put(p + 32, size, 8);
}

static void header(struct elf_make *m)
{
	memcpy(m->buf, "\177ELF\2\1\1", 7);
	elf_put(m->buf + 16, ET_DYN, 2);
	elf_put(m->buf + 18, EM_X86_64, 2);
	elf_put(m->buf + 20, EV_CURRENT, 4);
	elf_put(m->buf + 32, 64, 8);
	elf_put(m->buf + 40, m->shdr, 8);
	elf_put(m->buf + 54, 56, 2);
	elf_put(m->buf + 56, 2, 2);
	elf_put(m->buf + 58, 64, 2);
	elf_put(m->buf + 60, 4, 2);
	elf_put(m->buf + 62, 3, 2);
}

static void version_needs(struct elf_make *m, const size_t *names, size_t n, size_t file)
{
	size_t i;

	align(m);
	m->verneed = m->n;
	elf_put(m->buf + m->n, 1, 2);
	elf_put(m->buf + m->n + 2, n, 2);
	elf_put(m->buf + m->n + 4, file, 4);
	elf_put(m->buf + m->n + 8, 16, 4);
	m->n += 16;
	for (i = 0; i < n; i++, m->n += 16) {
		elf_put(m->buf + m->n + 8, names[i], 4);
		elf_put(m->buf + m->n + 12, i + 1 < n ? 16 : 0, 4);
	}
}

/* Offsets of the names in the string table. */
struct names {
	size_t needed[4], versions[4], n_needed, n_versions, soname, rpath, runpath, file, size;
};

static void strings(struct elf_make *m, struct names *s)
{
	m->n = m->strtab = 64 + 2 * 56;
	m->n++;
	for (s->n_needed = 0; s->n_needed < 4 && m->needed[s->n_needed]; s->n_needed++)
		s->needed[s->n_needed] = str(m, m->needed[s->n_needed]);
	for (s->n_versions = 0; s->n_versions < 4 && m->versions[s->n_versions]; s->n_versions++)
		s->versions[s->n_versions] = str(m, m->versions[s->n_versions]);
	s->file = str(m, "libc.so.6");
	s->soname = m->soname ? str(m, m->soname) : 0;
	s->rpath = m->rpath ? str(m, m->rpath) : 0;
	s->runpath = m->runpath ? str(m, m->runpath) : 0;
	s->size = m->n - m->strtab;
}

static size_t dynamic(struct elf_make *m, const struct names *s)
{
	size_t i;

	align(m);
	m->dyn = m->n;
	for (i = 0; i < s->n_needed; i++)
		dyn(m, DT_NEEDED, s->needed[i]);
	if (s->soname)
		dyn(m, DT_SONAME, s->soname);
	if (s->rpath)
		dyn(m, DT_RPATH, s->rpath);
	if (s->runpath)
		dyn(m, DT_RUNPATH, s->runpath);
	dyn(m, DT_STRTAB, m->strtab);
	dyn(m, DT_STRSZ, s->size);
	if (s->n_versions) {
		dyn(m, DT_VERNEED, m->verneed);
		dyn(m, DT_VERNEEDNUM, 1);
	}
	dyn(m, DT_NULL, 0);
	return m->n - m->dyn;
}

static void code(struct elf_make *m)
{
	size_t i;

	m->fat_at = m->n;
	if (m->fat_n)
		memcpy(m->buf + m->n, m->fat, m->fat_n);
	m->n += m->fat_n;
	align(m);
	m->records = m->n;
	for (i = 0; i < m->n_blobs; i++, m->n += 24) {
		elf_put(m->buf + m->n, 0x466243B1, 4);
		elf_put(m->buf + m->n + 4, 1, 4);
		elf_put(m->buf + m->n + 8, m->fat_at + m->blobs[i], 8);
	}
}

void elf_make(struct elf_make *m)
{
	static const char names[] = "\0.nv_fatbin\0.nvFatBinSegment\0.shstrtab";
	size_t dyn_size, end, names_at;
	struct names s;

	memset(m->buf, 0, sizeof(m->buf));
	strings(m, &s);
	if (s.n_versions)
		version_needs(m, s.versions, s.n_versions, s.file);
	dyn_size = dynamic(m, &s);
	code(m);
	names_at = m->n;
	memcpy(m->buf + m->n, names, sizeof(names));
	m->n += sizeof(names);
	align(m);
	m->shdr = m->n;
	end = m->n += 4 * 64;
	header(m);
	phdr(m, 0, PT_LOAD, 0, end);
	phdr(m, 1, PT_DYNAMIC, m->dyn, dyn_size);
	if (m->fat_n)
		shdr(m, 1, 1, SHT_PROGBITS, m->fat_at, m->fat_n);
	if (m->n_blobs)
		shdr(m, 2, 12, SHT_PROGBITS, m->records, m->n_blobs * 24);
	shdr(m, 3, 29, SHT_STRTAB, names_at, sizeof(names));
}

void fat_blob(struct fat_make *f)
{
	f->n = (f->n + 7) & ~(size_t)7;
	f->blob = f->n;
	elf_put(f->buf + f->n, 0xBA55ED50, 4);
	elf_put(f->buf + f->n + 4, 1, 2);
	elf_put(f->buf + f->n + 6, 16, 2);
	f->n += 16;
}

void fat_entry(struct fat_make *f, unsigned kind, unsigned arch, char suffix, size_t payload)
{
	unsigned char *p = f->buf + f->n;

	payload = (payload + 7) & ~(size_t)7;
	elf_put(p, kind, 2);
	elf_put(p + 2, 0x101, 2);
	elf_put(p + 4, 64, 4);
	elf_put(p + 8, payload, 8);
	elf_put(p + 28, arch, 4);
	elf_put(p + 40, 0x11 | (suffix == 'a' ? 0x100000 : suffix == 'f' ? 0x200000 : 0), 8);
	f->n += 64 + payload;
	elf_put(f->buf + f->blob + 8, f->n - f->blob - 16, 8);
}

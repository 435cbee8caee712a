/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files and what is special to NVIDIA in them. It reads headers, never the code itself. */
#include <elf.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "inspect/parts.h"

enum {
	NOTE_MAX = 64 << 10,
	DRIVERS_MAX = 64,
	MACHINE_CUDA = 190,
	JUNK_LINKED = 1 << 20,
	JUNK_DATA = 512 << 10, /* bundles among other data begin early (CUPTI: at 178016) */
	JUNK_BETWEEN = 16 << 20, /* cuFFT has 11 MiB of other data between two, cuBLASLt 5 */
};

/* Sections that may hold GPU code. What .nv_fatbin holds is registered when the library is loaded.
 */
static const struct {
	const char *name;
	bool linked;
} places[] = {
	{ ".nv_fatbin", true },	   { "__nv_relfatbin", false }, { ".ldata", false },
	{ ".cask_resource", false }, { ".rodata", false },	{ ".lrodata", false },
};

static const char *damage_text(struct arena *a, const char *section, const char *damage)
{
	return arena_printf(a, "%s: %s", section, damage);
}

void inspect_add_code(struct inspect *in, struct inspect_file *f, struct fatbin_place *place,
		      struct inspect_code *proto)
{
	struct inspect_code *c;

	proto->records = fatbin_registered(place);
	place->junk_max = proto->linked ? JUNK_LINKED : JUNK_BETWEEN;
	place->junk_first = proto->linked			     ? JUNK_LINKED :
			    strcmp(proto->section, ".cask_resource") == 0 ? JUNK_BETWEEN :
									    JUNK_DATA;
	fatbin_walk(place, &proto->f);
	f->bytes += proto->f.bytes;
	if (!proto->f.total && !proto->linked)
		return;
	if (!proto->f.total && place->section.size && !proto->f.damage)
		proto->f.damage = "no GPU code in the section";
	if (proto->f.damage && !f->why)
		f->why = damage_text(in->a, proto->section, proto->f.damage);
	c = ARENA_APPEND(in->a, f->code, f->n_code);
	*c = *proto;
}

/* A section that lies in the file, moved to where the object begins. */
static bool in_file(const struct elf *e, const struct elf_named *n, struct elf_section *ret)
{
	if (n->s.type == SHT_NOBITS || n->s.off > e->file_size ||
	    n->s.size > e->file_size - n->s.off)
		return false;
	*ret = n->s;
	ret->off += e->base;
	return true;
}

static const struct elf_named *find(const struct elf_named *list, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

static void gpu_code(struct inspect *in, struct inspect_file *f, const struct elf *e,
		     const struct elf_named *list, size_t n)
{
	const struct elf_named *seg = find(list, n, ".nvFatBinSegment");
	struct elf_section segment;
	bool has_segment = seg && in_file(e, seg, &segment);
	size_t i, k;

	for (k = 0; k < ARRAY_LEN(places); k++) {
		for (i = 0; i < n; i++) {
			struct inspect_code c = { .section = places[k].name,
						  .linked = places[k].linked };
			struct fatbin_place place = { .fd = e->fd, .base = e->base,
						      .segment = has_segment ? &segment : NULL };

			if (strcmp(list[i].name, places[k].name) != 0)
				continue;
			if (in_file(e, &list[i], &place.section))
				inspect_add_code(in, f, &place, &c);
			else if (list[i].s.type != SHT_NOBITS && !f->why)
				f->why = damage_text(in->a, list[i].name,
						     _("lies past the end of the file"));
		}
	}
}

/* -------- the note of compat packages */

static void compat_text(struct inspect *in, struct inspect_compat *c, struct view text)
{
	const struct json *doc, *one;
	struct err err;
	int64_t n;

	while (text.n && !text.p[text.n - 1])
		text.n--;
	if (json_parse(in->a, text, _("note"), &doc, &err) || json_type(doc) != JSON_OBJECT) {
		c->why = _("its text is no JSON object");
		return;
	}
	c->cuda = json_get_str(doc, "CUDA version");
	for (one = json_first(json_get(doc, "driver")); one && c->n_drivers < DRIVERS_MAX;
	     one = json_next(one)) {
		if (json_int(one, &n))
			*ARENA_APPEND(in->a, c->drivers, c->n_drivers) =
				arena_printf(in->a, "%lld", (long long)n);
		else if (json_str(one))
			*ARENA_APPEND(in->a, c->drivers, c->n_drivers) = json_str(one);
	}
}

static void compat_note(struct inspect *in, struct inspect_file *f, const struct elf *e,
			const struct elf_named *list, size_t n)
{
	const struct elf_named *named = find(list, n, ".note.cuda.fwd_compatibility");
	uint64_t name_n, desc_n, at;
	struct inspect_compat *c;
	struct elf_section s;
	char *buf;

	if (!named)
		return;
	c = f->compat = arena_alloc(in->a, sizeof(*c));
	if (!in_file(e, named, &s) || s.size < 12 || s.size > NOTE_MAX) {
		c->why = _("its size makes no sense");
		return;
	}
	buf = arena_alloc(in->a, s.size + 1);
	if (!elf_pread(e->fd, buf, s.size, s.off)) {
		c->why = _("it cannot be read");
		return;
	}
	name_n = elf_le(buf, 4);
	desc_n = elf_le(buf + 4, 4);
	at = 12 + ((name_n + 3) & ~(uint64_t)3);
	if (at > s.size || desc_n > s.size - at)
		c->why = _("its size makes no sense");
	else
		compat_text(in, c, (struct view){ .p = buf + at, .n = desc_n });
}

/* -------- the file itself */

static enum inspect_kind kind_of(const struct elf *e)
{
	if (e->machine == MACHINE_CUDA)
		return INSPECT_CUBIN;
	switch (e->type) {
	case ET_REL:
		return INSPECT_OBJECT;
	case ET_EXEC:
		return INSPECT_PROGRAM;
	case ET_DYN:
		/* libc.so.6 has an interpreter too, so that it can print its version. */
		return e->interp && !e->soname ? INSPECT_PROGRAM : INSPECT_SHARED;
	case ET_CORE:
		return INSPECT_CORE;
	default:
		return INSPECT_UNKNOWN;
	}
}

/* "cpython-312" of _C.cpython-312-x86_64-linux-gnu.so, "abi3" of _C.abi3.so, "cp312" of
 * _C.cp312-win_amd64.pyd. */
const char *inspect_python_tag(struct arena *a, const char *path)
{
	struct view name = view_of(path_base(path)), rest, part;
	bool windows = view_ends(name, ".pyd");

	if (!windows && !view_ends(name, ".so"))
		return NULL;
	(void)view_cut(name, '.', &rest);
	while (rest.n) {
		part = view_cut(rest, '.', &rest);
		if (view_is(part, "abi3"))
			return "abi3";
		if (view_starts(part, "cpython-") || view_starts(part, "pypy")) {
			struct view tail, stem = view_cut(part, '-', &tail);

			return arena_printf(a, "%.*s-%.*s", (int)stem.n, stem.p,
					    (int)view_cut(tail, '-', &tail).n, part.p + stem.n + 1);
		}
		if (windows && view_starts(part, "cp3"))
			return view_dup(a, view_cut(part, '-', &part));
	}
	return windows ? "python" : NULL;
}

/* Target of a cubin that lies bare: the flags of its header hold it. */
static void bare_cubin(struct inspect *in, struct inspect_file *f, const struct elf *e)
{
	unsigned char h[4];
	unsigned sm;
	struct inspect_code *c;

	if (!e->wide || !elf_at(e, h, 4, 48))
		return;
	/* Old: in the low byte and repeated in the third; since 12.8 (ABI 8): in the second byte.
	 */
	sm = h[0] && h[0] == h[2] ? h[0] : h[1] ? h[1] : h[0];
	if (sm < 10)
		return;
	c = ARENA_APPEND(in->a, f->code, f->n_code);
	*c = (struct inspect_code){ .section = "", .linked = true, .records = -1 };
	c->f.targets[0] = (struct fatbin_target){ .kind = FATBIN_CUBIN, .arch = sm, .blobs = 1 };
	c->f.n = c->f.blobs = c->f.total = 1;
}

bool inspect_elf(struct inspect *in, int fd, uint64_t base, uint64_t size, struct inspect_file *f)
{
	struct elf_named *list;
	struct elf e;
	size_t n;

	if (elf_read_at(in->a, fd, base, size, &e) < 0)
		return false;
	f->kind = kind_of(&e);
	f->machine = f->kind == INSPECT_CUBIN ? "cuda" : elf_machine_name(&e);
	f->soname = e.soname;
	f->needed = e.needed;
	f->n_needed = e.n_needed;
	f->rpath = e.rpath;
	f->runpath = e.runpath;
	f->glibc = e.glibc;
	f->glibcxx = e.glibcxx;
	f->cxxabi = e.cxxabi;
	f->interp = e.interp;
	f->why = e.damage;
	f->python = f->kind == INSPECT_SHARED ? inspect_python_tag(in->a, f->path) : NULL;
	if (e.big)
		return true;
	if (f->kind == INSPECT_CUBIN) {
		bare_cubin(in, f, &e);
		return true;
	}
	list = elf_sections(in->a, &e, &n);
	if (!list) {
		n = 0;
		if (e.shnum && !f->why)
			f->why = _("the section table makes no sense");
	}
	gpu_code(in, f, &e, list, n);
	compat_note(in, f, &e, list, n);
	return true;
}

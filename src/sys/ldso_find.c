/* SPDX-License-Identifier: Apache-2.0 */
/* The search for one name, stage by stage. It must end each stage where the loader does, errors
 * included. */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "sys/ldso_private.h"

enum { SHADOWS_MAX = 16, DIRS_MAX = 1024 };

/* What one file name came to. */
enum outcome { TAKEN, PASSED, STOPS_LIST, FATAL };

struct hunt {
	struct load_session *s;
	const char *name;
	const struct load_object *asker;
	struct load_found *f;
	bool done; /* a file was taken, or one ended the load: the rest is shadowed */
};

/* -------- search paths */

/* Length of the token at `in` (behind the '$') when it is `name`, with its braces; else 0. */
static size_t token(struct view in, const char *name)
{
	size_t n = strlen(name), brace = in.n && in.p[0] == '{';
	struct view rest = view_skip(in, brace);
	char next;

	if (!view_starts(rest, name))
		return 0;
	next = rest.n > n ? rest.p[n] : '\0';
	if (brace)
		return next == '}' ? n + 2 : 0;
	if ((next >= 'A' && next <= 'Z') || (next >= 'a' && next <= 'z') ||
	    (next >= '0' && next <= '9') || next == '_')
		return 0;
	return n;
}

const char *load_expand(struct load_session *s, const char *origin, struct view text)
{
	const struct {
		const char *name, *value;
	} tokens[] = {
		{ "ORIGIN", origin }, { "PLATFORM", s->w->platform }, { "LIB", s->w->lib },
	};
	struct strbuf b;
	size_t k, n = 0;

	strbuf_init(&b, s->a);
	while (text.n) {
		if (text.p[0] != '$') {
			strbuf_addc(&b, text.p[0]);
			text = view_skip(text, 1);
			continue;
		}
		for (k = 0; k < ARRAY_LEN(tokens); k++) {
			n = token(view_skip(text, 1), tokens[k].name);
			if (n)
				break;
		}
		if (k == ARRAY_LEN(tokens)) {
			strbuf_addc(&b, '$');
			text = view_skip(text, 1);
			continue;
		}
		if (!tokens[k].value)
			return NULL;
		strbuf_add(&b, tokens[k].value);
		text = view_skip(text, n + 1);
	}
	return b.s;
}

static void add_place(struct load_session *s, struct load_dirs *d, struct ldso_place *p)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (d->v[i] == p)
			return;
	if (d->n < DIRS_MAX)
		*ARENA_APPEND(s->a, d->v, d->n) = p;
}

/* One element; an empty one is the working directory. */
static void add_element(struct load_session *s, struct load_dirs *d, struct view text,
			const char *origin)
{
	const char *dir = "";
	size_t n;

	if (text.n) {
		dir = load_expand(s, origin, text);
		if (!dir || !*dir)
			return;
		n = strlen(dir);
		while (n > 1 && dir[n - 1] == '/')
			n--;
		dir = dir[n - 1] == '/' ? "/" : arena_printf(s->a, "%.*s/", (int)n, dir);
	}
	if (dir[0] != '/' && !s->env.cwd) {
		s->skipped_relative = true;
		return;
	}
	add_place(s, d, ldso_place(s->w, dir));
}

struct load_dirs *load_dirs_new(struct load_session *s, const char *list, const char *seps,
				const char *origin)
{
	struct load_dirs *d = arena_alloc(s->a, sizeof(*d));
	size_t n;

	if (!list || !*list)
		return d;
	for (;; list += n + 1) {
		n = strcspn(list, seps);
		add_element(s, d, (struct view){ .p = list, .n = n }, origin);
		if (!list[n])
			return d;
	}
}

static const char *absolute(struct load_session *s, const char *path)
{
	return path[0] == '/' ? path : path_join(s->a, s->env.cwd, path);
}

static void know(struct load_session *s, struct ldso_place *p)
{
	struct ldso_root *w = s->w;
	const char *dir = absolute(s, p->dir[0] ? p->dir : ".");
	size_t i;

	if (p->known)
		return;
	p->known = true;
	p->exists = sysroot_is_dir(w->r, dir);
	/* The last one is the directory itself. */
	for (i = 0; i < w->n_caps; i++)
		p->caps[i] = p->exists && (!w->caps[i][0] ||
					   sysroot_is_dir(w->r, path_join(s->a, dir, w->caps[i])));
}

/* -------- one file */

/* The checks of open_verify in glibc: NULL when it may be mapped; "" to pass it over; else why not.
 */
static const char *verify(const struct load_session *s, const struct ldso_file *f)
{
	const struct load_object *main_object = s->n ? s->objects[0] : NULL;
	const unsigned char *h = f->header;
	bool wide = !main_object || main_object->elf.wide;
	unsigned type;

	if (f->error)
		return _("not a regular file");
	if (f->n < (wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
		return _("file too short");
	if (memcmp(h, ELFMAG, SELFMAG) != 0)
		return _("invalid ELF header");
	if (h[EI_CLASS] != (wide ? ELFCLASS64 : ELFCLASS32))
		return "";
	if (h[EI_DATA] != ELFDATA2LSB)
		return _("ELF file data encoding not little-endian");
	if (h[EI_VERSION] != EV_CURRENT || elf_le(h + 20, 4) != EV_CURRENT)
		return _("ELF file version does not match current one");
	if (h[EI_OSABI] != ELFOSABI_SYSV && h[EI_OSABI] != ELFOSABI_LINUX)
		return _("ELF file OS ABI invalid");
	if (h[EI_ABIVERSION] && h[EI_OSABI] == ELFOSABI_SYSV)
		return _("ELF file ABI version invalid");
	if (main_object && elf_le(h + 18, 2) != main_object->elf.machine)
		return "";
	type = (unsigned)elf_le(h + 16, 2);
	if (type != ET_DYN && type != ET_EXEC)
		return _("only ET_DYN and ET_EXEC can be loaded");
	if (elf_le(h + (wide ? 54 : 42), 2) != (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return _("ELF file's phentsize not the expected size");
	return NULL;
}

static void shadow(struct hunt *h, const char *path, enum load_via via,
		   const struct ldso_file *file)
{
	const struct ldso_file *taken = h->f->file;
	struct load_found *f = h->f;
	struct load_shadow *x;
	size_t i;

	if (f->n_shadowed == SHADOWS_MAX ||
	    (taken && file->dev == taken->dev && file->ino == taken->ino))
		return;
	for (i = 0; i < f->n_shadowed; i++)
		if (strcmp(f->shadowed[i].path, path) == 0)
			return;
	x = ARENA_APPEND(h->s->a, f->shadowed, f->n_shadowed);
	x->path = path;
	x->via = via;
}

static enum outcome try(struct hunt *h, const char *path, enum load_via via,
			const struct load_object *holder)
{
	int error = 0;
	const struct ldso_file *file = ldso_file(h->s->w, path, &error);
	const char *why;

	if (!file)
		return error == ENOENT || error == EACCES || error == EXDEV ? PASSED : STOPS_LIST;
	why = verify(h->s, file);
	if (why && !*why)
		return PASSED;
	if (h->done) {
		if (!why)
			shadow(h, path, via, file);
		return PASSED;
	}
	h->done = true;
	*h->f = (struct load_found){ .state = why ? LOAD_FATAL : LOAD_OK, .path = path, .why = why,
				     .file = file, .via = via, .holder = holder };
	return why ? FATAL : TAKEN;
}

/*
 * "/" as a search directory: when glibc does not find the first file that it looks for there, it
 * takes "/" for a directory that does not exist and never looks there again, as it cuts the name
 * down to "" before it asks. The folders for special processors below it are asked for under their
 * own names.
 */
static enum outcome try_slash(struct hunt *h, const char *path, enum load_via via,
			      const struct load_object *holder)
{
	struct load_session *s = h->s;
	bool real = !h->done;
	enum outcome o;

	if (s->slash == SLASH_GONE)
		return PASSED;
	o = try(h, path, via, holder);
	if (real && s->slash == SLASH_UNKNOWN)
		s->slash = o == TAKEN ? SLASH_THERE : SLASH_GONE;
	return s->slash == SLASH_GONE && o == STOPS_LIST ? PASSED : o;
}

/* One directory, the folders for special processors first. */
static enum outcome try_place(struct hunt *h, struct ldso_place *p, enum load_via via,
			      const struct load_object *holder)
{
	struct ldso_root *w = h->s->w;
	enum outcome o = PASSED;
	const char *path;
	size_t i;

	know(h->s, p);
	if (!p->exists && !p->relative)
		return PASSED;
	for (i = 0; i < w->n_caps; i++) {
		if (!p->caps[i] && !(p->relative && !w->caps[i][0]))
			continue;
		path = arena_printf(h->s->a, "%s%s%s", p->dir, w->caps[i], h->name);
		if (!w->caps[i][0] && strcmp(p->dir, "/") == 0)
			o = try_slash(h, path, via, holder);
		else
			o = try(h, absolute(h->s, path), via, holder);
		if (o == TAKEN || o == FATAL)
			return o;
	}
	return o;
}

static void try_dirs(struct hunt *h, const struct load_dirs *d, enum load_via via,
		     const struct load_object *holder)
{
	size_t i;

	/* Behind the file that is taken the search goes on: what is found there is hidden by it. */
	for (i = 0; i < d->n; i++)
		if (try_place(h, d->v[i], via, holder) == STOPS_LIST && !h->done)
			return;
}

/* -------- the stages */

static const struct load_dirs *rpath_of(struct load_session *s, struct load_object *o)
{
	/* With DT_RUNPATH an object's DT_RPATH is not there. */
	if (!o->rpath)
		o->rpath = load_dirs_new(s, o->elf.runpath ? NULL : o->elf.rpath, ":", o->origin);
	return o->rpath;
}

static struct load_object *writable(struct load_session *s, const struct load_object *o)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->objects[i] == o)
			return s->objects[i];
	return NULL;
}

static void try_rpaths(struct hunt *h)
{
	struct load_session *s = h->s;
	const struct load_object *o;
	struct load_object *x;
	bool did_main = false;

	if (h->asker && h->asker->elf.runpath)
		return;
	for (o = h->asker; o; o = o->loader) {
		x = writable(s, o);
		if (x)
			try_dirs(h, rpath_of(s, x), o == h->asker ? VIA_RPATH : VIA_RPATH_INHERITED,
				 o == h->asker ? NULL : o);
		did_main |= o == s->objects[0];
	}
	x = s->n ? s->objects[0] : NULL;
	if (!did_main && x)
		try_dirs(h, rpath_of(s, x), VIA_RPATH_INHERITED, x);
}

/* With DF_1_NODEFLIB the cache may not lead into the default directories. */
static bool in_default_dirs(const struct load_session *s, const char *path)
{
	size_t i;

	for (i = 0; i < s->w->n_dirs; i++)
		if (strncmp(path, s->w->dirs[i], strlen(s->w->dirs[i])) == 0)
			return true;
	return false;
}

static void try_cache(struct hunt *h, bool nodeflib)
{
	struct ldso_root *w = h->s->w;
	const char *path;

	if (w->cache_error)
		return;
	path = ldcache_lookup(&w->cache, h->name, ldcache_flags(w->arch), &w->cpu);
	if (!path || path[0] != '/' || (nodeflib && in_default_dirs(h->s, path)))
		return;
	(void)try(h, arena_strdup(h->s->a, path), VIA_CACHE, NULL);
}

static void try_glibc(struct hunt *h)
{
	struct load_session *s = h->s;
	struct load_object *asker = h->asker ? writable(s, h->asker) : s->n ? s->objects[0] : NULL;
	bool nodeflib = asker && (asker->elf.flags_1 & DF_1_NODEFLIB);

	try_rpaths(h);
	try_dirs(h, s->library_path, VIA_LIBRARY_PATH, NULL);
	if (h->asker && asker) {
		if (!asker->runpath)
			asker->runpath = load_dirs_new(s, asker->elf.runpath, ":", asker->origin);
		try_dirs(h, asker->runpath, VIA_RUNPATH, NULL);
	}
	try_cache(h, nodeflib);
	if (!nodeflib)
		try_dirs(h, s->defaults, VIA_DEFAULT, NULL);
}

/* musl: LD_LIBRARY_PATH, then RPATH or RUNPATH, which are one, of all that led here, then the
 * system's. */
static void try_musl(struct hunt *h)
{
	struct load_session *s = h->s;
	const struct load_object *o;

	try_dirs(h, s->library_path, VIA_LIBRARY_PATH, NULL);
	for (o = h->asker; o; o = o->loader)
		try_dirs(h,
			 load_dirs_new(s, o->elf.runpath ? o->elf.runpath : o->elf.rpath, ":",
				       o->origin),
			 o->elf.runpath ? VIA_RUNPATH : VIA_RPATH, o == h->asker ? NULL : o);
	try_dirs(h, s->defaults, VIA_DEFAULT, NULL);
}

void load_find(struct load_session *s, const char *name, const struct load_object *asker,
	       struct load_found *ret)
{
	struct hunt h = { .s = s, .name = name, .asker = asker, .f = ret };

	*ret = (struct load_found){ .state = LOAD_MISSING, .via = VIA_NONE };
	if (strchr(name, '/')) {
		if (name[0] == '/' || s->env.cwd)
			(void)try(&h, absolute(s, name), VIA_PATH, NULL);
		else
			s->skipped_relative = true;
	} else if (s->w->musl) {
		try_musl(&h);
	} else {
		try_glibc(&h);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* From a path to what it is: by its first bytes, not by its name. */
#include "inspect/inspect.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/errname.h"
#include "base/utf8.h"
#include "inspect/parts.h"
#include "sys/ar.h"
#include "sys/ldso_python.h"

enum {
	FILES_MAX = 20000,
	OPENED_MAX = 200000,
	ENTRIES_MAX = 100000,
	DEPTH_MAX = 24,
	HEAD = 512,
};

static const struct {
	const char *word, *text;
} kinds[] = {
#define KIND(id, w, t) [INSPECT_##id] = { .word = (w), .text = (t) },
	INSPECT_KINDS(KIND)
#undef KIND
};

const char *inspect_kind_word(enum inspect_kind k)
{
	return kinds[k].word;
}

const char *inspect_kind_text(enum inspect_kind k)
{
	return _(kinds[k].text);
}

const char **inspect_targets(struct arena *a, const struct inspect_file *f, enum fatbin_kind kind,
			     bool linked, size_t *ret_n)
{
	const char **names = NULL, **list;
	size_t i, k, m, n;

	*ret_n = 0;
	for (i = 0; i < f->n_code; i++) {
		if (f->code[i].linked != linked)
			continue;
		list = fatbin_names(a, &f->code[i].f, kind, &n);
		for (k = 0; k < n; k++) {
			for (m = 0; m < *ret_n && strcmp(names[m], list[k]) != 0; m++)
				;
			if (m == *ret_n)
				*ARENA_APPEND(a, names, *ret_n) = list[k];
		}
	}
	return names;
}

static bool add(struct inspect *in, const struct inspect_file *f)
{
	if (in->n >= FILES_MAX) {
		in->cut = true;
		return false;
	}
	*ARENA_APPEND(in->a, in->files, in->n) = *f;
	return true;
}

/* -------- archives of objects */

static void members(struct inspect *in, struct inspect_file *f, struct ar *ar)
{
	size_t mine = in->n - 1;
	struct ar_member m;

	while (ar_next(ar, &m)) {
		struct inspect_file sub = { .path = arena_printf(in->a, "%s!%s", f->path, m.name),
					    .container = f->path };

		in->files[mine].members++;
		if (m.size >= 4)
			inspect_bytes(in, ar->fd, m.off, m.size, &sub, false);
	}
	if (ar->damage)
		in->files[mine].why = ar->damage;
}

static bool archive(struct inspect *in, int fd, uint64_t base, uint64_t size,
		    struct inspect_file *f)
{
	struct ar ar;
	int e;

	/* There is no end to how deep archives could lie in archives. */
	if (f->container && strchr(f->container, '!')) {
		f->kind = INSPECT_AR;
		f->note = _("an archive in an archive: not looked into");
		return add(in, f);
	}
	e = ar_open(in->a, fd, base, size, &ar);

	if (e == -ENOTSUP) {
		f->kind = INSPECT_THIN_AR;
		f->why = _("a thin archive: the objects lie in other files, which it only names");
		add(in, f);
		return true;
	}
	if (e)
		return false;
	f->kind = INSPECT_AR;
	if (add(in, f))
		members(in, f, &ar);
	return true;
}

/* -------- what is no binary at all */

static bool is_text(const unsigned char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (p[i] < ' ' && p[i] != '\n' && p[i] != '\r' && p[i] != '\t' && p[i] != '\f')
			return false;
	return n > 0;
}

static void other(struct inspect_file *f, const unsigned char *h, size_t n, uint64_t size)
{
	struct view text = { .p = (const char *)h, .n = n };

	f->kind = INSPECT_UNKNOWN;
	if (!size) {
		f->kind = INSPECT_EMPTY;
		f->why = _("an empty file");
	} else if (n >= 2 && memcmp(h, "#!", 2) == 0) {
		f->kind = INSPECT_SCRIPT;
		f->why = _("a script, no library");
	} else if (is_text(h, n)) {
		bool ld = view_find(text, "GNU ld script") >= 0 || view_find(text, "GROUP") >= 0 ||
			  view_find(text, "INPUT(") >= 0 || view_find(text, "INPUT (") >= 0;

		f->kind = ld ? INSPECT_LDSCRIPT : INSPECT_TEXT;
		f->why = ld ? _("a linker script: the linker follows it, the loader cannot") :
			 view_starts(text, "version https://git-lfs") ?
			      _("a pointer of git-lfs: the file itself was not downloaded") :
			      _("text, no library");
	} else {
		f->why = size < 4 ? _("shorter than any header")
				  : _("of a kind that is not known here");
	}
}

static bool bare_fatbin(struct inspect *in, int fd, uint64_t base, uint64_t size,
			struct inspect_file *f)
{
	struct fatbin_place place = { .fd = fd,
				      .base = base,
				      .section = { .off = base, .size = size } };
	struct inspect_code c = { .section = "", .linked = true };

	f->kind = INSPECT_FATBIN;
	inspect_add_code(in, f, &place, &c);
	return true;
}

static bool starts(const unsigned char *h, size_t n, const char *magic, size_t len)
{
	return n >= len && memcmp(h, magic, len) == 0;
}

static bool named_packed(const char *path)
{
	struct view v = view_of(path);

	return view_ends(v, ".tar.gz") || view_ends(v, ".tgz") || view_ends(v, ".tar") ||
	       view_ends(v, ".tar.xz") || view_ends(v, ".tar.bz2") || view_ends(v, ".tar.zst") ||
	       view_ends(v, ".zip") || view_ends(v, ".whl") || view_ends(v, ".conda");
}

/* Names that promise a library: when the content is something else, that is to be said. */
static bool named_library(const char *path)
{
	const char *base = path_base(path), *so = strstr(base, ".so");
	struct view v = view_of(base);

	return (so && (!so[3] || so[3] == '.')) || view_ends(v, ".a") || view_ends(v, ".dll") ||
	       view_ends(v, ".pyd") || view_ends(v, ".o");
}

static void loads(struct inspect *in, struct inspect_file *f)
{
	const struct package_load_row *row;
	struct load_session *s;

	if (!in->w || f->container || !in->w->arch || !f->machine ||
	    (f->kind != INSPECT_SHARED && f->kind != INSPECT_PROGRAM) ||
	    strcmp(in->w->arch, f->machine) != 0)
		return;
	s = load_session_new(in->a, in->w, &in->env);
	if (load_session_main(s, f->path) == 0)
		f->session = s;
	row = package_load(f->path);
	if (row && !f->note)
		f->note = _(row->text);
}

bool inspect_bytes(struct inspect *in, int fd, uint64_t base, uint64_t size, struct inspect_file *f,
		   bool always)
{
	unsigned char h[HEAD];
	size_t n = size < HEAD ? (size_t)size : HEAD;

	if (!elf_pread(fd, h, n, base))
		n = 0;
	if (starts(h, n, "!<arch>\n", 8) || starts(h, n, "!<thin>\n", 8))
		return archive(in, fd, base, size, f);
	if (!f->container &&
	    ((starts(h, n, "PK\003\004", 4) && (always || named_packed(f->path))) ||
	     (named_packed(f->path) && n))) {
		inspect_packed(in, fd, f);
		return true;
	}
	if (starts(h, n, "\177ELF", 4) && inspect_elf(in, fd, base, size, f)) {
		loads(in, f);
	} else if (starts(h, n, "MZ", 2) && inspect_pe(in, fd, base, size, f)) {
		;
	} else if (starts(h, n, "\x50\xed\x55\xba", 4)) {
		bare_fatbin(in, fd, base, size, f);
	} else if (always || named_library(f->path)) {
		other(f, h, n, size);
	} else {
		return false;
	}
	return add(in, f);
}

/* -------- paths */

static int failed(const char *path, int e, struct err *err)
{
	return e == -EINVAL
		       ? err_set(err, ERR_TYPE, _("%s: neither a regular file nor a folder"), path)
		       : err_errno(err, -e, "%s", path);
}

static int one_file(struct inspect *in, const char *path, bool always)
{
	struct inspect_file f = { .path = path };
	_cleanup_fd_ int fd = sysroot_open_file(in->r, path);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	inspect_bytes(in, fd, 0, (uint64_t)st.st_size, &f, always);
	return 0;
}

static void folder(struct inspect *in, const char *path, int depth)
{
	struct dirlist list;
	struct stat st;
	size_t i;

	if (sysroot_list_marked(in->r, in->a, path, ENTRIES_MAX, &list) < 0)
		return;
	in->cut |= list.cut;
	for (i = 0; i < list.n && !in->cut; i++) {
		const char *name = list.names[i], *sub = path_join(in->a, path, name);
		size_t n = strlen(name);

		if (in->opened++ >= OPENED_MAX) {
			in->cut = true;
		} else if (n && name[n - 1] == '/') {
			if (depth < DEPTH_MAX)
				folder(in, arena_strndup(in->a, sub, strlen(sub) - 1), depth + 1);
			else
				in->cut = true;
		} else if (sysroot_stat(in->r, sub, false, &st) == 0 && S_ISREG(st.st_mode)) {
			int e = one_file(in, sub, false);

			if (e < 0) {
				struct inspect_file f = { .path = sub, .kind = INSPECT_UNKNOWN,
							  .why = errname(-e) };

				add(in, &f);
			}
		}
	}
}

int inspect_path(struct inspect *in, const char *path, struct err *err)
{
	int e;

	if (sysroot_is_dir(in->r, path)) {
		folder(in, path, 0);
		return 0;
	}
	e = one_file(in, path, true);
	return e < 0 ? failed(path, e, err) : 0;
}

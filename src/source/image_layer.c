/* SPDX-License-Identifier: Apache-2.0 */
/* One layer: its members, what is kept of them, and how they are laid over the layers below. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/view.h"
#include "source/image.h"
#include "sys/elf.h"

enum { ENTRIES_MAX = 2000000, SMALL = 64 << 10, BLOCK = 512, HEADERS_MAX = 64 };

static bool under(const char *path, const char *dir)
{
	return view_starts(view_of(path), dir);
}

static bool ends(const char *path, const char *tail)
{
	return view_ends(view_of(path), tail);
}

/* Folders that no probe looks into, and that hold most of the files of many images. */
static bool is_dull(const char *path)
{
	static const char *const dirs[] = { "usr/share/doc/",	   "usr/share/man/",
					    "usr/share/locale/",   "usr/share/info/",
					    "usr/share/zoneinfo/", "var/cache/apt/" };
	static const char *const parts[] = { "/node_modules/", "/__pycache__/", "/tests/",
					     "/test/" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(dirs); i++)
		if (under(path, dirs[i]))
			return true;
	for (i = 0; i < ARRAY_LEN(parts); i++)
		if (strstr(path, parts[i]))
			return true;
	return ends(path, ".pyc") || ends(path, ".pyi") || ends(path, ".html") ||
	       ends(path, ".js") || ends(path, ".png") || ends(path, ".mo");
}

static bool is_library(const char *base)
{
	return ends(base, ".so") || strstr(base, ".so.") || strncmp(base, "python", 6) == 0 ||
	       strncmp(base, "ptxas", 5) == 0 || ends(base, ".ko");
}

/* Modules of Python that are read; of the others the name is enough, and of most not even that. */
static bool is_read(const char *base)
{
	static const char *const names[] = { "__init__.py", "version.py", "_version.py",
					     "build_info.py", "torch.py",
					     "build_and_package_info.py" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], base) == 0)
			return true;
	return false;
}

enum keep_how layer_keep(const char *path, uint64_t size, bool *ret_name)
{
	const char *slash, *base;

	while (path[0] == '.' && path[1] == '/')
		path += 2;
	while (path[0] == '/')
		path++;
	slash = strrchr(path, '/');
	base = slash ? slash + 1 : path;
	*ret_name = !is_dull(path);
	if (!*ret_name)
		return KEEP_NOTHING;
	if (is_library(base))
		return KEEP_LIBRARY;
	if (ends(base, ".py")) {
		*ret_name = is_read(base);
		return *ret_name ? KEEP_HEAD : KEEP_NOTHING;
	}
	if (strcmp(path, "var/lib/dpkg/status") == 0 || strcmp(path, "etc/ld.so.cache") == 0)
		return KEEP_ALL;
	/* Headers are asked for by name alone, but for those that say a version. */
	if (ends(base, ".h") && !strstr(base, "version") && strcmp(base, "cudnn.h") != 0)
		return KEEP_NOTHING;
	return size <= SMALL ? KEEP_ALL : KEEP_HEAD;
}

/* -------- reading */

static uint64_t octal(const unsigned char *p, size_t n)
{
	uint64_t v = 0;
	size_t i = 0;

	while (i < n && p[i] == ' ')
		i++;
	for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
		v = v * 8 + (uint64_t)(p[i] - '0');
	return v;
}

uint64_t layer_data(int fd, uint64_t header)
{
	unsigned char h[BLOCK];
	unsigned n;

	/* Headers that speak of the next one (pax, long names) come in front of it. */
	for (n = 0; n < HEADERS_MAX; n++) {
		if (!elf_pread(fd, h, sizeof(h), header))
			return 0;
		header += BLOCK;
		if (!strchr("xgLKX", h[156]) || !h[156])
			return header;
		header += (octal(h + 124, 12) + BLOCK - 1) / BLOCK * BLOCK;
	}
	return 0;
}

/* The contents stay in the archive. */
static struct tree_data *in_place(struct arena *a, int fd, uint64_t from, uint64_t size)
{
	struct tree_data *d = arena_calloc(a, 1, sizeof(*d));

	d->fd = fd;
	d->size = size;
	*ARENA_APPEND(a, d->pieces, d->n_pieces) =
		(struct tree_piece){ .at = 0, .n = size, .from = from };
	return d;
}

static int stream(struct arena *a, struct tar *t, uint64_t size, enum keep_how how, struct spill *s,
		  struct tree_data **ret, struct err *err)
{
	struct keeper *k = keep_begin(a, s, size, how, ret);
	static const char zeros[BLOCK];
	int64_t n, at, pos = 0;
	const void *p;
	int e;

	while (how != KEEP_NOTHING && (n = tar_data(t, &p, &at, err)) != 0) {
		if (n < 0)
			return (int)n;
		/* The hole of a sparse file. */
		while (pos < at && at - pos < (int64_t)SMALL * BLOCK) {
			int64_t step = at - pos < BLOCK ? at - pos : BLOCK;

			e = keep_push(k, zeros, (size_t)step);
			if (e)
				return err_errno(err, -e, "%s", _("temporary file"));
			pos += step;
		}
		e = keep_push(k, p, (size_t)n);
		if (e)
			return err_errno(err, -e, "%s", _("temporary file"));
		pos = at + n;
	}
	e = keep_end(k);
	return e ? err_errno(err, -e, "%s", _("temporary file")) : 0;
}

int layer_add(struct arena *a, struct tar *t, const struct tar_member *m, int fd, uint64_t base,
	      uint64_t end, struct spill *s, struct layer *ret, struct err *err)
{
	struct layer_entry *e;
	struct tree_data *data = NULL;
	bool name = true, special;
	uint64_t from;
	int r = 0;

	special = !S_ISREG(m->mode) && !S_ISDIR(m->mode) && !S_ISLNK(m->mode);
	if (S_ISREG(m->mode) && !m->hardlink && !strstr(m->name, ".wh.")) {
		enum keep_how how = layer_keep(m->name, (uint64_t)m->size, &name);

		if (!name)
			return 0;
		from = fd >= 0 && !m->sparse && m->size ? layer_data(fd, base + (uint64_t)m->header)
							: 0;
		if (from && from < end && (uint64_t)m->size <= end - from && how != KEEP_NOTHING)
			data = in_place(a, fd, from, (uint64_t)m->size);
		else
			r = stream(a, t, (uint64_t)m->size, how, s, &data, err);
	}
	if (r)
		return r;
	if (ret->n >= ENTRIES_MAX)
		return err_set(err, ERR_TOOBIG, _("more than %d members"), ENTRIES_MAX);
	e = ARENA_APPEND(a, ret->entries, ret->n);
	e->name = arena_strdup(a, m->name);
	e->symlink = m->symlink ? arena_strdup(a, m->symlink) : NULL;
	e->hardlink = m->hardlink ? arena_strdup(a, m->hardlink) : NULL;
	e->mode = special ? (m->mode & S_IFMT) : m->mode;
	e->data = data;
	return 0;
}

int layer_read(struct arena *a, struct tar *t, int fd, uint64_t base, uint64_t end, struct spill *s,
	       struct layer *ret, struct err *err)
{
	struct tar_member m;
	int r;

	while ((r = tar_next(t, &m, err)) > 0) {
		/* A packed stream has no place of its own in the archive. */
		bool packed = tar_is_packed(t);

		r = layer_add(a, t, &m, packed ? -1 : fd, base, end, s, ret, err);
		if (r)
			return r;
	}
	return r;
}

/* -------- laying over */

/* "a/b/.wh.c" takes away a/b/c of the layers below; "a/.wh..wh..opq" all that they have in a. */
static bool whiteout(struct ftree *t, const char *name, unsigned number)
{
	const char *base = path_base(name);
	char path[PATH_MAX];
	size_t dir = (size_t)(base - name);

	if (strncmp(base, ".wh.", 4) != 0)
		return false;
	if (strlen(name) >= sizeof(path))
		return true;
	memcpy(path, name, dir);
	path[dir] = '\0';
	if (strcmp(base, ".wh..wh..opq") == 0) {
		ftree_make_opaque(t, dir ? path : "/", number);
		return true;
	}
	/* Other names of the form .wh..wh.* are aufs's own. */
	if (strncmp(base, ".wh..wh.", 8) == 0 || strcmp(base, ".wh...") == 0 || !base[4])
		return true;
	memcpy(path + dir, base + 4, strlen(base + 4) + 1);
	ftree_remove(t, path, number);
	return true;
}

static void put(struct ftree *t, const struct layer_entry *e, unsigned number)
{
	const struct tree_node *from;
	struct tree_node *n;

	if (e->hardlink) {
		/* Names of this layer or of those below; of what it leads to, the contents are
		 * shared. */
		if (ftree_find(t, e->hardlink, false, NULL, &from) != 0 || S_ISDIR(from->mode))
			return;
		struct tree_node copy = *from;

		n = ftree_put(t, e->name, copy.mode, number);
		if (n) {
			n->link = copy.link;
			n->data = copy.data;
		}
		return;
	}
	n = ftree_put(t, e->name, e->mode, number);
	if (!n)
		return;
	n->link = S_ISLNK(e->mode) ? (e->symlink ? e->symlink : "") : NULL;
	n->data = e->data;
}

void layer_apply(struct ftree *t, const struct layer *l, unsigned number)
{
	size_t i;

	/* First what goes, wherever it stands in the layer. */
	for (i = 0; i < l->n; i++)
		whiteout(t, l->entries[i].name, number);
	for (i = 0; i < l->n; i++)
		if (!strstr(l->entries[i].name, ".wh.") || !whiteout(t, l->entries[i].name, number))
			put(t, &l->entries[i], number);
}

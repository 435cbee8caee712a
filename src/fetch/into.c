/* SPDX-License-Identifier: Apache-2.0 */
/* Puts files into a foreign tree and takes them out; must not replace or leave anything of others.
 */
#include "fetch/into.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "fetch/prefix.h"
#include "fetch/tree.h"
#include "fetch/walk.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_renameat2
#ifdef __x86_64__
#define SYS_renameat2 316
#else
#define SYS_renameat2 276
#endif
#endif

struct how {
	unsigned long long flags, mode, resolve;
};
enum { NO_MAGICLINKS = 0x02, BENEATH = 0x08, NO_REPLACE = 1 };

const char *into_id(struct arena *a, const char *name, const char *dir, const char *toolkit)
{
	return arena_printf(a, "%s-%s@%016llx", name, dir,
			    (unsigned long long)walk_fingerprint(0, toolkit));
}

static int open_beneath(int root, const char *path)
{
	const struct how how = { .flags = OPEN_DIR, .resolve = BENEATH | NO_MAGICLINKS };
	long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd >= 0)
		return (int)fd;
	if (errno == ENOSYS || errno == EPERM)
		return tree_open(root, path, OPEN_DIR, 0);
	return -errno;
}

int into_open_dir(int root, const char *path, bool make)
{
	char part[4096];
	const char *slash;
	int fd;

	if (!*path)
		path = ".";
	fd = strcmp(path, ".") == 0 ? dup(root) : open_beneath(root, path);
	if (fd != -ENOENT || !make)
		return fd;
	/* The parent first, then its last part. */
	slash = strrchr(path, '/');
	if (slash && (size_t)(slash - path) < sizeof(part)) {
		int parent, r;

		memcpy(part, path, (size_t)(slash - path));
		part[slash - path] = '\0';
		parent = into_open_dir(root, part, true);
		if (parent < 0)
			return parent;
		r = mkdirat(parent, slash + 1, 0755) < 0 && errno != EEXIST ? -errno : 0;
		close(parent);
		if (r)
			return r;
	} else if (slash || (mkdirat(root, path, 0755) < 0 && errno != EEXIST)) {
		return slash ? -ENAMETOOLONG : -errno;
	}
	return open_beneath(root, path);
}

static int dir_of(struct arena *a, int root, const char *path, bool make, const char **ret_base)
{
	const char *slash = strrchr(path, '/');

	*ret_base = slash ? slash + 1 : path;
	return into_open_dir(root, slash ? arena_strndup(a, path, (size_t)(slash - path)) : ".",
			     make);
}

/* Has the toolkit a lib64? -code when that cannot be told. */
static int has_lib64(struct into *t, struct err *err)
{
	struct stat st;

	if (fstatat(t->fd, "lib64", &st, 0) == 0)
		return S_ISDIR(st.st_mode);
	return errno == ENOENT ? 0 : err_errno(err, errno, "%.300s/lib64", t->toolkit);
}

/* Where a file of the archive goes: lib to lib64 as in a toolkit, what lies at the top aside. */
static const char *place_file(struct arena *a, const struct fetch_item *item,
			      const struct record_file *f, bool lib64)
{
	if (!strchr(f->path, '/'))
		return arena_printf(a, "share/doc/%s-%s/%s", item->name, item->dir, f->path);
	if (lib64 && strncmp(f->path, "lib/", 4) == 0)
		return arena_printf(a, "lib64/%s", f->path + 4);
	return f->path;
}

bool fetch_is_toolkit(const char *path)
{
	static const char *const marks[] = { "version.json", "version.txt", "bin/nvcc" };
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	size_t i;

	for (i = 0; fd >= 0 && i < ARRAY_LEN(marks); i++)
		if (fstatat(fd, marks[i], &st, 0) == 0)
			return fstatat(fd, "lib64", &st, 0) == 0 || fstatat(fd, "lib", &st, 0) == 0;
	return false;
}

static int records_dir(struct prefix *s, struct err *err)
{
	int fd = tree_make_dir(s->fd, PREFIX_INTO);

	return fd < 0 ? err_errno(err, -fd, "%.300s/%s", s->path, PREFIX_INTO) : fd;
}

static int write_pending(struct prefix *s, const char *id, const char *text, struct err *err)
{
	_cleanup_fd_ int dir = records_dir(s, err);

	if (dir < 0)
		return dir;
	return prefix_write(s, dir, arena_printf(s->a, "%s%s", id, INTO_PENDING), text, err);
}

static const char *head_text(struct prefix *s, const struct fetch_item *item, const char *toolkit)
{
	const struct record r = { .name = item->name, .version = item->version, .into = toolkit };
	struct strbuf b;

	strbuf_init(&b, s->a);
	record_put_head(&b, &r);
	record_put_end(&b);
	return b.s;
}

static const char *stage_name(struct arena *a, const char *id)
{
	return arena_printf(a, "%sstage-%s", RECORD_PREFIX, id);
}

int into_begin(struct prefix *s, const struct fetch_item *item, const char *toolkit,
	       struct into *ret, struct err *err)
{
	struct into t = { .toolkit = toolkit, .fd = -1, .stage_fd = -1 };
	int r;

	t.id = into_id(s->a, item->name, item->dir, toolkit);
	t.stage = stage_name(s->a, t.id);
	r = tree_user_dir(s->a, toolkit, &t.fd, err);
	if (r)
		return r;
	*ret = t;
	r = write_pending(s, t.id, head_text(s, item, toolkit), err);
	if (!r && mkdirat(t.fd, t.stage, 0755) < 0)
		r = err_errno(err, errno, _("%.300s cannot be written"), toolkit);
	if (!r) {
		t.stage_fd = openat(t.fd, t.stage, OPEN_DIR | O_NOFOLLOW);
		if (t.stage_fd < 0)
			r = err_errno(err, errno, "%.300s", toolkit);
	}
	*ret = t;
	if (r)
		into_end(s, ret);
	return r;
}

static int there_already(struct prefix *s, const struct into *t, const struct record *r,
			 struct err *err)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		const char *base;
		_cleanup_fd_ int dir = -1;
		struct stat st;

		if (r->files[i].type == 'd')
			continue;
		dir = dir_of(s->a, t->fd, r->files[i].path, false, &base);
		if (dir == -ENOENT)
			continue;
		if (dir < 0)
			return err_errno(err, -dir, "%.300s/%s", t->toolkit, r->files[i].path);
		if (fstatat(dir, base, &st, AT_SYMLINK_NOFOLLOW) == 0)
			return err_set(
				err, ERR_IO,
				_("%.300s/%.300s is there already and is not replaced; nothing was changed"),
				t->toolkit, r->files[i].path);
	}
	return 0;
}

static int move_one(struct prefix *s, const struct into *t, const char *from, const char *to,
		    struct err *err)
{
	const char *from_base, *to_base;
	_cleanup_fd_ int source = tree_parent(t->stage_fd, from, false, &from_base);
	_cleanup_fd_ int dir = dir_of(s->a, t->fd, to, true, &to_base);

	if (source < 0 || dir < 0)
		return err_errno(err, source < 0 ? -source : -dir, "%.300s/%s", t->toolkit, to);
	if (syscall(SYS_renameat2, source, from_base, dir, to_base, NO_REPLACE) < 0) {
		struct stat st;

		if (errno != ENOSYS && errno != EINVAL)
			return err_errno(err, errno, "%.300s/%s", t->toolkit, to);
		if (fstatat(dir, to_base, &st, AT_SYMLINK_NOFOLLOW) == 0)
			return err_errno(err, EEXIST, "%.300s/%s", t->toolkit, to);
		if (renameat(source, from_base, dir, to_base) < 0)
			return err_errno(err, errno, "%.300s/%s", t->toolkit, to);
	}
	return fsync(dir) < 0 ? err_errno(err, errno, "%.300s/%s", t->toolkit, to) : 0;
}

/* Folders of the toolkit that were made for what was merged before: whoever goes last takes them.
 */
static void made_before(struct prefix *s, const struct into *t, struct record *ret)
{
	int fd = tree_open(s->fd, PREFIX_INTO, OPEN_DIR, 0);
	_cleanup_dir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		cleanup_fd(&fd);
		return;
	}
	while ((entry = readdir(dir))) {
		struct installed_item one = {
			.record = arena_printf(s->a, PREFIX_INTO "/%s", entry->d_name) };
		struct record r;
		size_t i;

		if (!view_ends(view_of(entry->d_name), INTO_DONE) ||
		    prefix_read_record(s, &one, &r, NULL) || !r.into ||
		    strcmp(r.into, t->toolkit) != 0)
			continue;
		for (i = 0; i < r.n; i++)
			if (r.files[i].type == 'd')
				*ARENA_APPEND(s->a, ret->files, ret->n) = r.files[i];
	}
}

static bool lists_dir(const struct record *r, const char *dir)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->files[i].type == 'd' && strcmp(r->files[i].path, dir) == 0)
			return true;
	return false;
}

/*
 * Folders that are to be made, so that they can be taken away: those that are not there yet, or
 * that an earlier one has made.
 */
static void add_dirs(struct prefix *s, const struct into *t, const struct record *before,
		     struct record *r, const char *path)
{
	const char *slash;

	for (slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		const char *dir = arena_strndup(s->a, path, (size_t)(slash - path));
		int fd = into_open_dir(t->fd, dir, false);

		if (fd >= 0)
			close(fd);
		if ((fd >= 0 && !lists_dir(before, dir)) || lists_dir(r, dir))
			continue;
		*ARENA_APPEND(s->a, r->files, r->n) =
			(struct record_file){ .type = 'd', .path = dir };
	}
}

static const char *text_of(struct prefix *s, const struct record *r)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, s->a);
	record_put_head(&b, r);
	for (i = 0; i < r->n; i++)
		record_put_file(&b, &r->files[i]);
	record_put_end(&b);
	return b.s;
}

int into_commit(struct prefix *s, struct into *t, struct fetch_item *item, const char *accepted,
		struct err *err)
{
	struct record from, to, before = { 0 };
	const char *text, **sources = NULL;
	size_t n = 0, i, k;
	int r, lib64 = has_lib64(t, err);

	if (lib64 < 0)
		return lib64;
	if (prefix_record(s, t->stage_fd, item, accepted, t->toolkit, &text, &from, err))
		return -(int)err->code;
	made_before(s, t, &before);
	to = from;
	to.files = NULL;
	to.n = 0;
	for (i = 0; i < from.n; i++) {
		const char *path;

		if (from.files[i].type == 'd')
			continue;
		path = place_file(s->a, item, &from.files[i], lib64 > 0);
		add_dirs(s, t, &before, &to, path);
		*ARENA_APPEND(s->a, to.files, to.n) = from.files[i];
		to.files[to.n - 1].path = path;
		*ARENA_APPEND(s->a, sources, n) = from.files[i].path;
	}
	if (there_already(s, t, &to, err) || write_pending(s, t->id, text_of(s, &to), err))
		return -(int)err->code;
	for (i = 0, k = 0; i < to.n; i++)
		if (to.files[i].type != 'd' &&
		    move_one(s, t, sources[k++], to.files[i].path, err))
			return -(int)err->code;
	/* Before the record is one for good: nobody would look for what is left here. */
	r = tree_remove(t->fd, t->stage);
	if (r < 0)
		return err_errno(err, -r, "%.300s/%s", t->toolkit, t->stage);
	{
		_cleanup_fd_ int dir = records_dir(s, err);

		if (dir < 0)
			return dir;
		if (renameat(dir, arena_printf(s->a, "%s%s", t->id, INTO_PENDING), dir,
			     arena_printf(s->a, "%s%s", t->id, INTO_DONE)) < 0 ||
		    fsync(dir) < 0)
			return err_errno(err, errno, "%.300s/%s", s->path, PREFIX_INTO);
	}
	item->files = to.n_files;
	item->licence_file = record_licence(&to);
	return 0;
}

/* A folder is not there, is none any more, or others use it too. */
static bool is_gone(int errnum)
{
	return errnum == ENOENT || errnum == ENOTDIR || errnum == ENOTEMPTY || errnum == EEXIST ||
	       errnum == EBUSY;
}

int into_take_away(struct arena *a, int root, const struct record *r, size_t *ret_gone,
		   struct err *err)
{
	size_t i;

	*ret_gone = 0;
	for (i = 0; i < r->n; i++) {
		const char *base;
		_cleanup_fd_ int dir = -1;

		if (r->files[i].type == 'd')
			continue;
		dir = dir_of(a, root, r->files[i].path, false, &base);
		if (dir < 0 && dir != -ENOENT && dir != -ENOTDIR)
			return err_errno(err, -dir, "%.300s", r->files[i].path);
		/* A folder that somebody put in its place is not ours. */
		if (dir >= 0 && unlinkat(dir, base, 0) < 0) {
			if (errno != ENOENT && errno != EISDIR)
				return err_errno(err, errno, "%.300s", r->files[i].path);
			continue;
		}
		*ret_gone += dir >= 0;
	}
	/* Deeper ones stand behind those that hold them. */
	for (i = r->n; i-- > 0;) {
		const char *base;
		_cleanup_fd_ int dir = -1;

		if (r->files[i].type != 'd')
			continue;
		dir = dir_of(a, root, r->files[i].path, false, &base);
		if (dir < 0 ? !is_gone(-dir)
			    : unlinkat(dir, base, AT_REMOVEDIR) < 0 && !is_gone(errno))
			return err_errno(err, dir < 0 ? -dir : errno, "%.300s", r->files[i].path);
	}
	return 0;
}

static void undo(struct prefix *s, const char *name)
{
	_cleanup_fd_ int dir = tree_open(s->fd, PREFIX_INTO, OPEN_DIR, 0), fd = -1, toolkit = -1;
	const char *id = arena_strndup(s->a, name, strlen(name) - strlen(INTO_PENDING));
	struct record r;
	struct view text;
	size_t gone;

	if (dir < 0)
		return;
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || file_read_fd(s->a, fd, name, RECORD_MAX, &text, NULL) ||
	    record_read(s->a, text, name, &r, NULL) || !r.into || r.into[0] != '/')
		return;
	toolkit = open(r.into, OPEN_DIR);
	if (toolkit >= 0) {
		(void)tree_remove(toolkit, stage_name(s->a, id));
		if (into_take_away(s->a, toolkit, &r, &gone, NULL))
			return;
	} else if (errno != ENOENT) {
		return;
	}
	(void)unlinkat(dir, name, 0);
}

void into_end(struct prefix *s, struct into *t)
{
	_cleanup_fd_ int dir = tree_open(s->fd, PREFIX_INTO, OPEN_DIR, 0);
	const char *pending = arena_printf(s->a, "%s%s", t->id, INTO_PENDING);
	struct stat st;

	cleanup_fd(&t->stage_fd);
	t->stage_fd = -1;
	if (t->fd >= 0)
		(void)tree_remove(t->fd, t->stage);
	cleanup_fd(&t->fd);
	t->fd = -1;
	if (dir >= 0 && fstatat(dir, pending, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		undo(s, pending);
		(void)unlinkat(s->fd, PREFIX_INTO, AT_REMOVEDIR);
	}
}

bool into_recover(struct prefix *s, bool undo_them)
{
	int fd = tree_open(s->fd, PREFIX_INTO, OPEN_DIR, 0);
	_cleanup_dir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool any = false;

	if (!dir) {
		cleanup_fd(&fd);
		return false;
	}
	while ((entry = readdir(dir))) {
		bool pending = view_ends(view_of(entry->d_name), INTO_PENDING);
		bool fresh = strncmp(entry->d_name, RECORD_PREFIX, strlen(RECORD_PREFIX)) == 0;

		any |= pending || fresh;
		if (undo_them && pending)
			undo(s, entry->d_name);
		else if (undo_them && fresh)
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (undo_them && any)
		(void)unlinkat(s->fd, PREFIX_INTO, AT_REMOVEDIR);
	return any;
}

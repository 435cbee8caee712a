/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what walk.c admits; must not touch anything outside its folder. */
#include "fetch/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "fetch/record.h"
#include "fetch/tree.h"
#include "net/crypto.h"

enum {
	BLOCK = 256 << 10,
	WRITE_BACK = 8 << 20, /* bytes after which the disk is set to work */
	SYNC_EACH = 48,	      /* up to so many of each are synced alone, else the file system */
};

struct unpack {
	struct arena *a;
	struct packed *p;
	struct walk *walk;
	struct digest *digest;
	int root;
	int dir;	      /* the folder of the last entry */
	const char *dir_path; /* its path; NULL when there is none */
	struct strbuf list;
	char *block;
	const char **files, **dirs; /* what is to be synced: up to one more than SYNC_EACH */
	size_t n_files, n_dirs;
	struct unpack_done done;
};

static int failed(struct err *err, int errnum, const char *path)
{
	if (errnum == ENOSPC || errnum == EDQUOT)
		return err_set(err, ERR_IO, _("no space left while unpacking \"%.300s\" (%s)"),
			       path, strerror(errnum));
	return err_errno(err, errnum, _("unpacking \"%.300s\""), path);
}

static int no_links(struct err *err, const char *path)
{
	return err_set(
		err, ERR_IO,
		_("unpacking \"%.300s\": the file system takes no symbolic links; name a --prefix on another one"),
		path);
}

static void note_file(struct unpack *u, const char *path)
{
	if (u->n_files <= SYNC_EACH)
		*ARENA_APPEND(u->a, u->files, u->n_files) = path;
}

/* A folder and those above it, each once. */
static void note_dirs(struct unpack *u, const char *path)
{
	const char *slash;
	size_t i;

	for (i = 0; i < u->n_dirs; i++)
		if (strcmp(u->dirs[i], path) == 0)
			return;
	if (u->n_dirs > SYNC_EACH)
		return;
	*ARENA_APPEND(u->a, u->dirs, u->n_dirs) = path;
	slash = strrchr(path, '/');
	if (slash)
		note_dirs(u, arena_strndup(u->a, path, (size_t)(slash - path)));
}

/* Descriptor of the folder of `path`, kept for the next entry. -errno. */
static int parent_of(struct unpack *u, const char *path, const char **ret_base)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;
	int fd;

	*ret_base = slash ? slash + 1 : path;
	if (!slash)
		return u->root;
	if (u->dir_path && strlen(u->dir_path) == n && memcmp(u->dir_path, path, n) == 0)
		return u->dir;
	fd = tree_parent(u->root, path, true, ret_base);
	if (fd < 0)
		return fd;
	cleanup_fd(&u->dir);
	u->dir = fd;
	u->dir_path = arena_strndup(u->a, path, n);
	note_dirs(u, u->dir_path);
	return fd;
}

/* The body of a file. `size`: as its header says. */
static int write_body(struct unpack *u, int fd, const char *path, struct record_file *f,
		      struct err *err)
{
	uint64_t flushed = 0;

	digest_restart(u->digest);
	for (;;) {
		int64_t n = packed_read(u->p, u->block, BLOCK, err);
		struct err e = { 0 };

		if (n < 0)
			return (int)n;
		if (n == 0)
			return 0;
		if (walk_bytes(u->walk, (uint64_t)n, err))
			return -(int)ERR_TOOBIG;
		digest_add(u->digest, u->block, (size_t)n);
		errno = 0;
		if (file_write_fd(fd, path, (struct view){ .p = u->block, .n = (size_t)n }, &e))
			return failed(err, errno ? errno : EIO, path);
		f->size += (uint64_t)n;
		if (f->size - flushed >= WRITE_BACK) {
			/* Only a hint: the sync at the end is what counts. */
			(void)sync_file_range(fd, (off_t)flushed, (off_t)(f->size - flushed),
					      SYNC_FILE_RANGE_WRITE);
			flushed = f->size;
		}
	}
}

static int make_file(struct unpack *u, const struct walk_entry *e, int dir, const char *base,
		     struct record_file *f, struct err *err)
{
	_cleanup_fd_ int fd =
		openat(dir, base, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	unsigned char hash[HASH_BYTES];
	int r;

	if (fd < 0)
		return failed(err, errno, e->path);
	r = write_body(u, fd, e->path, f, err);
	if (r)
		return r;
	if (e->size && f->size != e->size)
		return err_set(
			err, ERR_DATA,
			_("the archive is damaged: \"%.300s\" has %llu bytes, %llu are announced"),
			e->path, (unsigned long long)f->size, (unsigned long long)e->size);
	if (fchmod(fd, (mode_t)f->mode) < 0)
		return failed(err, errno, e->path);
	(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	/* Some file systems report a full disk only now. */
	if (close(take_fd(&fd)) < 0)
		return failed(err, errno, e->path);
	if (!digest_end(u->digest, hash))
		return err_set(err, ERR_UNSUPPORTED, _("this libcrypto does not do SHA-256"));
	f->sha256 = hex_text(u->a, hash, HASH_BYTES);
	u->done.bytes += f->size;
	note_file(u, e->path);
	return 0;
}

/* For file systems without hard links, or that do not make them between folders. */
static int copy_file(struct unpack *u, int home, const char *from, int dir, const char *base,
		     const struct walk_entry *e, struct err *err)
{
	_cleanup_fd_ int in = openat(home, from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	_cleanup_fd_ int out =
		openat(dir, base, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat st;

	if (in < 0 || out < 0 || fstat(in, &st) < 0)
		return failed(err, errno, e->path);
	for (;;) {
		struct err ignored;
		ssize_t n = read(in, u->block, BLOCK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			break;
		if (n > 0 && walk_bytes(u->walk, (uint64_t)n, err))
			return -(int)ERR_TOOBIG;
		errno = n < 0 ? errno : 0;
		if (n < 0 ||
		    file_write_fd(out, base, (struct view){ .p = u->block, .n = (size_t)n },
				  &ignored))
			return failed(err, errno ? errno : EIO, e->path);
	}
	if (fchmod(out, st.st_mode & 07777) < 0 || close(take_fd(&out)) < 0)
		return failed(err, errno, e->path);
	note_file(u, e->path);
	return 0;
}

static bool no_hard_links(int errnum)
{
	return errnum == EPERM || errnum == EOPNOTSUPP || errnum == EXDEV || errnum == EMLINK ||
	       errnum == ENOSYS;
}

/* A second name of a file that lies here already, under the same hash. */
static int make_hard(struct unpack *u, const struct walk_entry *e, int dir, const char *base,
		     struct record_file *f, struct err *err)
{
	const char *from, *line;
	_cleanup_fd_ int home = tree_parent(u->root, e->link, false, &from);
	struct view rest = { .p = u->list.s, .n = u->list.n }, one;

	if (home < 0)
		return failed(err, -home, e->path);
	if (linkat(home, from, dir, base, 0) < 0) {
		if (!no_hard_links(errno))
			return failed(err, errno, e->path);
		if (copy_file(u, home, from, dir, base, e, err))
			return -(int)err->code;
	}
	line = arena_printf(u->a, " %s", e->link);
	while (view_line(&rest, &one))
		if (view_starts(one, "f ") && view_ends(one, line)) {
			struct record whole;
			const char *text = arena_printf(
				u->a, "cuvet-record 1\nname x\nversion 1\n%.*s\nend\n", (int)one.n,
				one.p);

			/* Another name may end in this one. */
			if (record_read(u->a, view_of(text), e->path, &whole, err))
				return -(int)ERR_DATA;
			if (strcmp(whole.files[0].path, e->link) != 0)
				continue;
			f->size = whole.files[0].size;
			f->sha256 = whole.files[0].sha256;
			f->mode = whole.files[0].mode;
			return 0;
		}
	return err_set(err, ERR_DATA, _("the archive is damaged: \"%.300s\" is a link to nothing"),
		       e->path);
}

static int make_entry(struct unpack *u, const struct walk_entry *e, struct err *err)
{
	struct record_file f = { .type = 'f', .mode = e->mode, .path = e->path };
	const char *base;
	int dir = parent_of(u, e->path, &base), r = 0;

	if (dir < 0)
		return failed(err, -dir, e->path);
	switch (e->kind) {
	case WALK_DIR:
		f.type = 'd';
		/* It may be there as the folder of an earlier entry; what else is there is not one.
		 */
		if (mkdirat(dir, base, 0755) < 0 && errno != EEXIST)
			return failed(err, errno, e->path);
		note_dirs(u, e->path);
		break;
	case WALK_LINK:
		f.type = 'l';
		f.link = e->link;
		if (symlinkat(e->link, dir, base) < 0)
			return errno == EPERM ? no_links(err, e->path)
					      : failed(err, errno, e->path);
		break;
	case WALK_HARD:
		r = make_hard(u, e, dir, base, &f, err);
		break;
	case WALK_FILE:
		r = make_file(u, e, dir, base, &f, err);
		break;
	}
	if (r)
		return r;
	u->done.files += f.type != 'd';
	record_put_file(&u->list, &f);
	return 0;
}

static int sync_path(struct unpack *u, const char *path, int flags, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	int r = path ? tree_open(u->root, path, O_RDONLY | flags, 0)
		     : openat(u->root, ".", O_RDONLY);

	if (r < 0)
		return failed(err, path ? -r : errno, path ? path : ".");
	fd = r;
	return fsync(fd) < 0 ? failed(err, errno, path ? path : ".") : 0;
}

static int sync_all(struct unpack *u, struct err *err)
{
	size_t i;

	if (u->n_files > SYNC_EACH || u->n_dirs > SYNC_EACH)
		return syncfs(u->root) < 0 ? failed(err, errno, ".") : 0;
	for (i = 0; i < u->n_files; i++)
		if (sync_path(u, u->files[i], O_NOFOLLOW, err))
			return -(int)ERR_IO;
	for (i = 0; i < u->n_dirs; i++)
		if (sync_path(u, u->dirs[i], O_DIRECTORY, err))
			return -(int)ERR_IO;
	return sync_path(u, NULL, O_DIRECTORY, err);
}

static int write_list(struct unpack *u, struct err *err)
{
	_cleanup_fd_ int fd = openat(u->root, RECORD_LIST,
				     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct err e;

	if (fd < 0)
		return failed(err, errno, RECORD_LIST);
	errno = 0;
	if (file_write_fd(fd, RECORD_LIST, (struct view){ .p = u->list.s, .n = u->list.n }, &e))
		return failed(err, errno ? errno : EIO, RECORD_LIST);
	return 0;
}

static int unpack_all(struct unpack *u, struct err *err)
{
	struct packed_member m;
	struct walk_entry e;
	int r;

	while ((r = packed_next(u->p, &m, err)) > 0) {
		r = walk_admit(u->walk, &m, &e, err);
		if (r < 0)
			return r;
		u->done.fingerprint = walk_fingerprint(u->done.fingerprint, m.name);
		if (r > 0 && make_entry(u, &e, err))
			return -(int)err->code;
	}
	if (r < 0)
		return r;
	if (!u->done.files)
		return err_set(err, ERR_DATA, _("the archive holds no file"));
	return 0;
}

int unpack_into(struct arena *a, struct packed *p, int root, const struct walk_limits *limits,
		struct crypto *c, struct unpack_done *ret, struct err *err)
{
	struct unpack u = { .a = a, .p = p, .root = root, .dir = -1 };
	int r;

	u.walk = walk_new(a, limits);
	u.digest = digest_new(a, c);
	u.block = arena_alloc(a, BLOCK);
	strbuf_init(&u.list, a);
	if (!u.digest)
		return err_set(err, ERR_UNSUPPORTED, _("this libcrypto does not do SHA-256"));
	r = unpack_all(&u, err);
	if (!r)
		r = write_list(&u, err);
	if (!r)
		r = sync_all(&u, err);
	cleanup_fd(&u.dir);
	if (r)
		return r;
	*ret = u.done;
	return 0;
}

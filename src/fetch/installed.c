/* SPDX-License-Identifier: Apache-2.0 */
/* What is installed below a prefix, which is in use, and whether it is still as it was; takes
 * nothing away. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "fetch/into.h"
#include "fetch/manifest.h"
#include "fetch/prefix.h"
#include "fetch/tree.h"
#include "model/version.h"
#include "net/crypto.h"

enum {
	OPEN_DIR = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
	HEAD_BYTES = 32 << 10,
	ITEMS_MAX = 10000,
	BLOCK = 256 << 10,
};

/* -------- finding */

/* What stands for "no folder of ours" rather than for one that could not be looked at. */
static bool is_none(int errnum)
{
	return errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP;
}

/*
 * The beginning of a record, which holds its head; cut to whole lines. 1, 0 when there is no
 * record, -errno when it cannot be read.
 */
static int read_head(struct arena *a, int dir, const char *path, struct record *ret)
{
	_cleanup_fd_ int fd = tree_open(dir, path, O_RDONLY | O_NONBLOCK, 0);
	char *text = arena_alloc(a, HEAD_BYTES + 8);
	struct stat st;
	ssize_t n;
	size_t end;

	if (fd < 0)
		return is_none(-fd) ? 0 : fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	do {
		n = pread(fd, text, HEAD_BYTES, 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	for (end = (size_t)n; end && text[end - 1] != '\n'; end--)
		;
	memcpy(text + end, "end\n", 4);
	return record_head(a, (struct view){ .p = text, .n = end + 4 }, path, ret, NULL) == 0;
}

/* A folder for reading; NULL and *ret_errnum, 0 when there is none. */
static DIR *open_folder(int root, const char *path, int *ret_errnum)
{
	int fd = tree_open(root, path, OPEN_DIR, 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	*ret_errnum = fd < 0 ? (is_none(-fd) ? 0 : -fd) : dir ? 0 : errno;
	if (!dir)
		cleanup_fd(&fd);
	return dir;
}

struct found {
	struct installed_item *items;
	size_t n;
	const char *where;  /* what is looked at, for messages */
	const char *denied; /* a folder that may not be read; NULL */
};

static void add_item(struct prefix *s, struct found *f, const struct record *r,
		     const struct installed_item *where)
{
	struct installed_item *i;

	if (f->n >= ITEMS_MAX)
		return;
	i = ARENA_APPEND(s->a, f->items, f->n);
	*i = *where;
	i->version = r->version;
	i->cuda = r->cuda;
	i->label = r->label;
	i->platform = r->platform;
	i->url = r->url;
	i->sha256 = r->sha256;
	i->into = r->into;
}

static const char *current_of(struct prefix *s, int home)
{
	char target[256];
	ssize_t n = readlinkat(home, PREFIX_CURRENT, target, sizeof(target) - 1);

	return n > 0 ? arena_strndup(s->a, target, (size_t)n) : "";
}

/* 0 or -errno with *ret_where, what could not be read. */
static int look_into_name(struct prefix *s, const char *name, struct found *f)
{
	int e;
	_cleanup_dir_ DIR *dir = open_folder(s->fd, name, &e);
	const struct dirent *entry;
	const char *current;

	f->where = name;
	if (!dir) {
		/* The prefix may be shared: what is denied may be another's. */
		if (e == EACCES || e == EPERM)
			f->denied = name;
		return e == EACCES || e == EPERM ? 0 : -e;
	}
	current = current_of(s, dirfd(dir));
	while ((errno = 0, entry = readdir(dir))) {
		struct installed_item where = { .name = name };
		struct record r;

		if (entry->d_name[0] == '.' || strcmp(entry->d_name, PREFIX_CURRENT) == 0)
			continue;
		where.dir = arena_strdup(s->a, entry->d_name);
		where.path = arena_printf(s->a, "%s/%s/%s", s->path, name, where.dir);
		where.record = arena_printf(s->a, "%s/%s/%s", name, where.dir, RECORD_NAME);
		where.current = strcmp(current, where.dir) == 0;
		f->where = where.record;
		e = read_head(s->a, s->fd, where.record, &r);
		if (e < 0)
			return e;
		if (e && strcmp(r.name, name) == 0)
			add_item(s, f, &r, &where);
	}
	return -errno;
}

static int look_into_merged(struct prefix *s, struct found *f)
{
	int e;
	_cleanup_dir_ DIR *dir = open_folder(s->fd, PREFIX_INTO, &e);
	const struct dirent *entry;

	f->where = PREFIX_INTO;
	if (!dir)
		return -e;
	while ((errno = 0, entry = readdir(dir))) {
		struct installed_item where = { 0 };
		struct record r;

		if (!view_ends(view_of(entry->d_name), INTO_DONE))
			continue;
		where.record = arena_printf(s->a, "%s/%s", PREFIX_INTO, entry->d_name);
		f->where = where.record;
		e = read_head(s->a, s->fd, where.record, &r);
		if (e < 0)
			return e;
		if (!e || !r.into || r.into[0] != '/')
			continue;
		where.name = r.name;
		where.dir = arena_printf(s->a, "%s%s%s", r.version, r.cuda ? "-cuda" : "",
					 r.cuda ? r.cuda : "");
		where.path = r.into;
		add_item(s, f, &r, &where);
	}
	return -errno;
}

static int by_name(const void *a, const void *b)
{
	const struct installed_item *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	if (!r)
		r = version_cmp_str(x->version, y->version);
	if (!r)
		r = version_cmp_str(x->cuda, y->cuda);
	return r ? r : strcmp(x->path, y->path);
}

/* -errno with f->where. */
static int look_all(struct prefix *s, struct found *f)
{
	int e;
	_cleanup_dir_ DIR *dir = open_folder(s->fd, ".", &e);
	const struct dirent *entry;

	f->where = ".";
	if (!dir)
		return -e;
	while ((errno = 0, entry = readdir(dir))) {
		if (!manifest_name_ok(entry->d_name))
			continue;
		e = look_into_name(s, arena_strdup(s->a, entry->d_name), f);
		if (e)
			return e;
		f->where = ".";
	}
	return errno ? -errno : look_into_merged(s, f);
}

int prefix_items(struct prefix *s, struct installed_item **ret, size_t *ret_n, struct err *err)
{
	struct found f = { 0 };
	int r = s->fd < 0 ? 0 : look_all(s, &f);

	*ret = NULL;
	*ret_n = 0;
	s->denied = f.denied;
	/* ERR_NOENT would say that nothing fits. */
	if (r)
		return err_set(err, ERR_IO, "%.300s/%.200s: %s", s->path, f.where, strerror(-r));
	if (f.n)
		qsort(f.items, f.n, sizeof(*f.items), by_name);
	*ret = f.items;
	*ret_n = f.n;
	return 0;
}

int prefix_read_record(struct prefix *s, const struct installed_item *item, struct record *ret,
		      struct err *err)
{
	_cleanup_fd_ int fd = tree_open(s->fd, item->record, O_RDONLY | O_NONBLOCK, 0);
	const char *name = arena_printf(s->a, "%s/%s", s->path, item->record);
	struct stat st;
	struct view text;

	if (fd < 0)
		return err_errno(err, -fd, "%.400s", name);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_TYPE, _("%.400s: not a regular file"), name);
	if (file_read_fd(s->a, fd, name, RECORD_MAX, &text, err))
		return -(int)err->code;
	return record_read(s->a, text, name, ret, err);
}

/* "9.1" begins "9.1.1.17" by parts; "9.1.1.17-cuda12" is a folder's name. */
static bool version_fits(const struct installed_item *i, const char *wanted)
{
	struct version want, have;
	unsigned k;

	if (strcmp(wanted, i->dir) == 0 || (i->label && strcmp(wanted, i->label) == 0))
		return true;
	if (!version_parse(view_of(wanted), &want) || !version_parse(view_of(i->version), &have) ||
	    want.n > have.n)
		return false;
	for (k = 0; k < want.n; k++)
		if (want.part[k] != have.part[k])
			return false;
	return true;
}

static bool wanted_fits(struct arena *a, const struct installed_item *i, const char *wanted)
{
	const char *slash = strchr(wanted, '/'), *version, *cuda;

	if (!slash)
		return strcmp(i->name, wanted) == 0;
	if (strncmp(i->name, wanted, (size_t)(slash - wanted)) != 0 ||
	    i->name[slash - wanted] != '\0')
		return false;
	version = slash + 1;
	cuda = strstr(version, "-cuda");
	if (cuda && !(i->cuda && strcmp(i->cuda, cuda + 5) == 0))
		return false;
	return version_fits(i,
			    cuda ? arena_strndup(a, version, (size_t)(cuda - version)) : version);
}

static int select_items(struct prefix *s, const char *wanted, struct installed_item **ret,
			size_t *ret_n, struct err *err)
{
	struct installed_item *all, *some = NULL;
	size_t n, n_some = 0, i;

	if (prefix_items(s, &all, &n, err))
		return -(int)err->code;
	for (i = 0; i < n; i++)
		if (!wanted || wanted_fits(s->a, &all[i], wanted))
			*ARENA_APPEND(s->a, some, n_some) = all[i];
	if (wanted && !n_some && s->denied)
		return err_set(err, ERR_ACCESS, "%.400s/%s: %s", s->path, s->denied,
			       strerror(EACCES));
	if (wanted && !n_some)
		return err_set(err, ERR_NOENT, _("%.200s is not installed below %.400s"), wanted,
			       s->path);
	*ret = some;
	*ret_n = n_some;
	return 0;
}

/* -------- verifying */

struct verify {
	struct prefix *s;
	struct installed_item *item;
	struct digest *digest; /* NULL: kinds, sizes and targets alone are compared */
	char *block;
	int root;
	bool merged;
};

/* 1, 0, or -errno when it cannot be read. */
static int same_hash(struct verify *v, int fd, const struct record_file *f)
{
	unsigned char hash[HASH_BYTES];
	uint64_t total = 0;
	ssize_t n;

	digest_restart(v->digest);
	while ((n = pread(fd, v->block, BLOCK, (off_t)total)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		digest_add(v->digest, v->block, (size_t)n);
		total += (uint64_t)n;
	}
	return digest_end(v->digest, hash) && total == f->size &&
	       strcmp(hex_text(v->s->a, hash, HASH_BYTES), f->sha256) == 0;
}

/* Or -errno: it cannot be told. */
enum standing { AS_IT_WAS, CHANGED, MISSING };

static int stand(struct verify *v, const struct record_file *f)
{
	const char *base, *slash = strrchr(f->path, '/');
	_cleanup_fd_ int dir = -1, fd = -1;
	char link[4096];
	struct stat st;
	ssize_t n;
	int k;

	if (v->merged) {
		base = slash ? slash + 1 : f->path;
		dir = into_open_dir(v->root,
				    slash ? arena_strndup(v->s->a, f->path,
							  (size_t)(slash - f->path))
					  : ".",
				    false);
	} else {
		dir = tree_parent(v->root, f->path, false, &base);
	}
	if (dir < 0)
		return dir == -ENOENT ? MISSING : dir == -ELOOP || dir == -ENOTDIR ? CHANGED : dir;
	if (fstatat(dir, base, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? MISSING : -errno;
	if (f->type == 'd')
		return S_ISDIR(st.st_mode) ? AS_IT_WAS : CHANGED;
	if (f->type == 'l') {
		n = readlinkat(dir, base, link, sizeof(link) - 1);
		return n >= 0 && strlen(f->link) == (size_t)n &&
				       memcmp(f->link, link, (size_t)n) == 0
			       ? AS_IT_WAS
			       : CHANGED;
	}
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != f->size)
		return CHANGED;
	if (!v->digest)
		return AS_IT_WAS;
	if ((st.st_mode & 07777) != f->mode)
		return CHANGED;
	fd = openat(dir, base, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	k = fd < 0 ? -errno : same_hash(v, fd, f);
	return k < 0 ? k : k ? AS_IT_WAS : CHANGED;
}

static int text_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int prefix_extra(struct prefix *s, int root, struct installed_item *item, const struct record *r,
		 struct err *err)
{
	const char **known = NULL, *slash;
	struct tree_item *items;
	size_t n, i, n_known = 0;

	for (i = 0; i < r->n; i++)
		*ARENA_APPEND(s->a, known, n_known) = r->files[i].path;
	/* Folders of which only the contents are listed. */
	for (i = 0; i < r->n; i++)
		for (slash = strchr(r->files[i].path, '/'); slash; slash = strchr(slash + 1, '/')) {
			const char *dir = arena_strndup(s->a, r->files[i].path,
							(size_t)(slash - r->files[i].path));

			if (strcmp(known[n_known - 1], dir) != 0)
				*ARENA_APPEND(s->a, known, n_known) = dir;
		}
	if (n_known)
		qsort(known, n_known, sizeof(*known), text_order);
	if (tree_list(s->a, root, &items, &n, err))
		return -(int)err->code;
	for (i = 0; i < n; i++) {
		if (strcmp(items[i].path, RECORD_NAME) == 0 ||
		    (n_known &&
		     bsearch(&items[i].path, known, n_known, sizeof(*known), text_order)))
			continue;
		*ARENA_APPEND(s->a, item->extra, item->n_extra) = items[i].path;
	}
	return 0;
}

static int verify_item(struct verify *v, struct err *err)
{
	struct installed_item *item = v->item;
	struct record r;
	size_t i;

	if (prefix_read_record(v->s, item, &r, err))
		return -(int)err->code;
	v->merged = item->into != NULL;
	v->root =
		open(item->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (v->merged ? 0 : O_NOFOLLOW));
	if (v->root < 0 && !is_none(errno))
		return err_errno(err, errno, "%.400s", item->path);
	item->files = r.n_files;
	for (i = 0; i < r.n; i++) {
		int now = v->root < 0 ? MISSING : stand(v, &r.files[i]);

		if (now < 0)
			return err_set(err, ERR_IO, "%.400s/%.300s: %s", item->path,
				       r.files[i].path, strerror(-now));
		if (now == CHANGED)
			*ARENA_APPEND(v->s->a, item->changed, item->n_changed) = r.files[i].path;
		if (now == MISSING)
			*ARENA_APPEND(v->s->a, item->missing, item->n_missing) = r.files[i].path;
		if (stop_check(err))
			return -(int)err->code;
	}
	if (v->root < 0 || v->merged)
		return 0;
	return prefix_extra(v->s, v->root, item, &r, err);
}

const char *prefix_glance(struct prefix *s, const struct installed_item *item,
			  const struct record *r)
{
	struct verify v = { .s = s, .root = -1, .merged = item->into != NULL };
	const char *first = NULL;
	size_t i;

	v.root =
		open(item->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (v.merged ? 0 : O_NOFOLLOW));
	if (v.root < 0)
		return is_none(errno) ? "." : NULL;
	for (i = 0; i < r->n && !first; i++) {
		int now = stand(&v, &r->files[i]);

		if (now == CHANGED || now == MISSING)
			first = r->files[i].path;
	}
	close(v.root);
	return first;
}

static int verify_all(struct prefix *s, struct installed_item *items, size_t n, struct err *err)
{
	struct verify v = { .s = s, .root = -1 };
	struct crypto *crypto;
	size_t i;
	int r;

	if (crypto_open(s->a, &crypto, err))
		return -(int)err->code;
	v.digest = digest_new(s->a, crypto);
	v.block = arena_alloc(s->a, BLOCK);
	if (!v.digest)
		return err_set(err, ERR_UNSUPPORTED, _("this libcrypto does not do SHA-256"));
	for (i = 0; i < n; i++) {
		v.item = &items[i];
		r = verify_item(&v, err);
		cleanup_fd(&v.root);
		v.root = -1;
		if (r)
			return r;
	}
	return 0;
}

int fetch_list(struct arena *a, const char *prefix, const char *wanted, bool verify,
	       const struct fetch_watch *watch, struct installed_item **ret, size_t *ret_n,
	       struct err *err)
{
	struct prefix s;
	size_t i;
	int r = prefix_look(a, prefix, &s, err);

	s.watch = watch;
	if (!r)
		r = select_items(&s, wanted, ret, ret_n, err);
	if (!r && verify)
		r = verify_all(&s, *ret, *ret_n, err);
	for (i = 0; !r && !verify && i < *ret_n; i++) {
		struct record rec;

		r = prefix_read_record(&s, &(*ret)[i], &rec, err);
		if (!r)
			(*ret)[i].files = rec.n_files;
	}
	prefix_close(&s);
	return r;
}

/* -------- one of them, switching */

int prefix_pick(struct prefix *s, const char *wanted, const char *into, struct installed_item *ret,
		struct err *err)
{
	struct installed_item *items;
	struct strbuf names;
	size_t n, i, hits = 0;

	if (!strchr(wanted, '/'))
		return err_set(err, ERR_USAGE,
			       _("%.200s: say NAME/VERSION, as `cuvet fetch list` shows it"),
			       wanted);
	if (select_items(s, wanted, &items, &n, err))
		return -(int)err->code;
	strbuf_init(&names, s->a);
	for (i = 0; i < n; i++) {
		if (into && (!items[i].into || strcmp(items[i].into, into) != 0))
			continue;
		hits++;
		*ret = items[i];
		strbuf_sep(&names, ", ");
		strbuf_printf(&names, "%s/%s", items[i].name, items[i].dir);
		if (items[i].into)
			strbuf_printf(&names, " --into %s", items[i].into);
	}
	if (!hits)
		return err_set(err, ERR_NOENT, _("%.200s is not installed in %.400s"), wanted,
			       into);
	if (hits > 1)
		return err_set(err, ERR_USAGE, _("%.200s: which one? %.700s"), wanted, names.s);
	return 0;
}

int prefix_open_for(struct arena *a, const char *prefix, const char *wanted, const char *into,
		    const struct fetch_watch *watch, struct prefix *ret_s,
		    struct installed_item *ret, struct err *err)
{
	bool clears;
	int r;

	r = prefix_look(a, prefix, ret_s, err);
	if (!r)
		r = prefix_pick(ret_s, wanted, into, ret, err);
	clears = r && err->code == ERR_NOENT && prefix_has_leftovers(ret_s);
	prefix_close(ret_s);
	if (!r || clears)
		r = prefix_open(a, prefix, watch, ret_s, err);
	if (r)
		return r;
	r = prefix_pick(ret_s, wanted, into, ret, err);
	if (r)
		prefix_close(ret_s);
	return r;
}

int fetch_use(struct arena *a, const char *prefix, const char *wanted,
	      const struct fetch_watch *watch, struct installed_item *ret, struct err *err)
{
	struct prefix s;
	int r = prefix_open_for(a, prefix, wanted, NULL, watch, &s, ret, err);

	if (r)
		return r;
	if (ret->into)
		r = err_set(err, ERR_USAGE,
			    _("%.200s was merged into %.400s: there is nothing to switch"), wanted,
			    ret->into);
	if (!r)
		r = prefix_switch(&s, ret->name, ret->dir, err);
	ret->current = !r;
	prefix_close(&s);
	return r;
}

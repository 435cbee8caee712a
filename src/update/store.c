/* SPDX-License-Identifier: Apache-2.0 */
/* Installing and going back, crash-safe; must not follow a link or write outside its folder. */
#include "update/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/jsonw.h"
#include "compat/embedded.h"

enum {
	KEPT = 2,
	LOCK_TRIES = 100,
	LOCK_PAUSE_MS = 100,
	OPEN_DIR = O_RDONLY | O_DIRECTORY | O_CLOEXEC
};
#define NEW_SET ".new"
#define NEW_CURRENT ".current"

/* The folders above ours, which may be links: where they lie is the user's choice. */
static int make_base(struct arena *a, const char *base, struct err *err)
{
	char *path = arena_strdup(a, base), *slash;

	for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		/* What cannot be made and is not there shows with the last one. */
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_errno(err, errno, "%s", base);
	return 0;
}

static int make_ours(struct arena *a, const char *base, struct err *err)
{
	_cleanup_fd_ int fd = open(base, OPEN_DIR), ours = -1;

	if (fd < 0)
		return err_errno(err, errno, "%s", base);
	if (mkdirat(fd, "cuvet", 0755) < 0 && errno != EEXIST)
		return err_errno(err, errno, "%s/cuvet", base);
	ours = openat(fd, "cuvet", OPEN_DIR | O_NOFOLLOW);
	if (ours < 0)
		return err_set(err, ERR_TYPE, _("%s/cuvet: not a folder of its own"), base);
	if (installed_private(ours, arena_printf(a, "%s/cuvet", base), err))
		return -(int)ERR_ACCESS;
	if (mkdirat(ours, "data", 0755) < 0 && errno != EEXIST)
		return err_errno(err, errno, "%s/cuvet/data", base);
	return 0;
}

static int take_lock(struct store *s, struct err *err)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000000L };
	int i;

	s->lock = openat(s->fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock < 0)
		return err_errno(err, errno, "%s/lock", s->path);
	for (i = 0; i < LOCK_TRIES; i++) {
		if (flock(s->lock, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_errno(err, errno, "%s/lock", s->path);
		nanosleep(&pause, NULL);
	}
	return err_set(err, ERR_TIMEOUT,
		       _("%s: another cuvet is changing it; try again when it has ended"), s->path);
}

int store_open(struct arena *a, struct store *ret, struct err *err)
{
	const char *base;
	int r;

	*ret = (struct store){ .fd = -1, .lock = -1 };
	r = installed_folder(a, &base, &ret->path, err);
	if (!r)
		r = make_base(a, base, err);
	if (!r)
		r = make_ours(a, base, err);
	if (!r)
		r = installed_open(a, &ret->fd, err);
	if (!r)
		r = take_lock(ret, err);
	if (!r && installed_current(a, ret->fd, &ret->current, NULL))
		/* It is not ours or damaged, and about to be replaced: nothing was in use. */
		ret->current =
			(struct installed_current){ .history = arena_calloc(a, 1, sizeof(char *)) };
	if (r)
		store_close(ret);
	return r;
}

void store_close(struct store *s)
{
	cleanup_fd(&s->lock);
	cleanup_fd(&s->fd);
	s->lock = s->fd = -1;
}

static int write_file(int dir, const char *name, struct view data, struct err *err)
{
	_cleanup_fd_ int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	int r;

	if (fd < 0)
		return err_errno(err, errno, "%s", name);
	r = file_write_fd(fd, name, data, err);
	if (!r && (fchmod(fd, 0644) < 0 || fsync(fd) < 0))
		r = err_errno(err, errno, "%s", name);
	/* Some file systems report a full disk only now. */
	if (!r && close(take_fd(&fd)) < 0)
		r = err_errno(err, errno, "%s", name);
	return r;
}

/* A set is flat: no folder in it is gone into. */
static void remove_set(int sets, const char *name)
{
	_cleanup_dir_ DIR *dir = NULL;
	const struct dirent *entry;
	int fd = openat(sets, name, OPEN_DIR | O_NOFOLLOW);

	if (fd < 0) {
		(void)unlinkat(sets, name, 0);
		return;
	}
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	while ((entry = readdir(dir)))
		(void)unlinkat(fd, entry->d_name, 0);
	(void)unlinkat(sets, name, AT_REMOVEDIR);
}

static struct view manifest(struct arena *a, const struct archive *archive,
			    const struct store_note *note)
{
	struct strbuf b;
	struct jsonw w;
	size_t i;

	strbuf_init(&b, a);
	jsonw_init(&w, &b, true);
	jsonw_object(&w);
	jsonw_kstr(&w, "schema", "cuvet.data-installed/1");
	jsonw_kstr(&w, "date", archive->date);
	jsonw_kstr(&w, "from", note->from);
	jsonw_kstr(&w, "key", note->key);
	jsonw_kstr(&w, "sha256", note->sha256);
	jsonw_key(&w, "tables");
	jsonw_object(&w);
	for (i = 0; i < archive->n; i++) {
		jsonw_key(&w, archive->names[i]);
		jsonw_object(&w);
		jsonw_kint(&w, "size", (int64_t)archive->texts[i].n);
		jsonw_end_object(&w);
	}
	jsonw_end_object(&w);
	jsonw_end_object(&w);
	strbuf_addc(&b, '\n');
	return (struct view){ .p = b.s, .n = b.n };
}

static int write_set(struct arena *a, struct store *s, const struct archive *archive,
		     const struct store_note *note, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	size_t i;
	int r = 0;

	if (mkdirat(s->fd, NEW_SET, 0755) < 0)
		return err_errno(err, errno, "%s/" NEW_SET, s->path);
	fd = openat(s->fd, NEW_SET, OPEN_DIR | O_NOFOLLOW);
	if (fd < 0)
		return err_errno(err, errno, "%s/" NEW_SET, s->path);
	for (i = 0; i < archive->n && !r; i++)
		r = write_file(fd, arena_printf(a, "%s.json", archive->names[i]), archive->texts[i],
			       err);
	if (!r)
		r = write_file(fd, "manifest.json", manifest(a, archive, note), err);
	if (!r && fsync(fd) < 0)
		r = err_errno(err, errno, "%s/" NEW_SET, s->path);
	return r ? err_wrap(err, "%s", s->path) : 0;
}

static int write_current(struct arena *a, struct store *s, const struct installed_current *c,
			 struct err *err)
{
	struct strbuf b;
	struct jsonw w;
	int r;

	strbuf_init(&b, a);
	jsonw_init(&w, &b, true);
	jsonw_object(&w);
	jsonw_kstr(&w, "schema", "cuvet.data-current/1");
	jsonw_kstr(&w, "use", c->use);
	jsonw_kstr(&w, "allowed_over", c->allowed_over);
	jsonw_kstrs(&w, "history", (const char *const *)c->history, c->n_history);
	jsonw_end_object(&w);
	strbuf_addc(&b, '\n');
	(void)unlinkat(s->fd, NEW_CURRENT, 0);
	r = write_file(s->fd, NEW_CURRENT, (struct view){ .p = b.s, .n = b.n }, err);
	if (!r && (renameat(s->fd, NEW_CURRENT, s->fd, "current") < 0 || fsync(s->fd) < 0))
		r = err_errno(err, errno, "current");
	if (!r) {
		s->current = *c;
		return 0;
	}
	(void)unlinkat(s->fd, NEW_CURRENT, 0);
	return err_wrap(err, "%s", s->path);
}

static bool kept(const struct installed_current *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n_history; i++)
		if (strcmp(c->history[i], name) == 0)
			return true;
	return c->use && strcmp(c->use, name) == 0;
}

/* What was used before, less what can no longer be; the last KEPT of it. */
static void set_history(struct arena *a, const struct store *s, const char *use,
			struct installed_current *c)
{
	const struct installed_current *was = &s->current;
	struct installed_set set;
	const char *name;
	size_t i;

	c->history = arena_calloc(a, was->n_history + 2, sizeof(*c->history));
	for (i = 0; i <= was->n_history; i++) {
		name = i < was->n_history ? was->history[i] : was->use;
		if (!name || strcmp(name, use) == 0)
			continue;
		installed_set(a, s->fd, name, &set);
		if (!set.unusable)
			c->history[c->n_history++] = name;
	}
	if (c->n_history > KEPT) {
		c->history += c->n_history - KEPT;
		c->n_history = KEPT;
	}
}

int store_install(struct arena *a, struct store *s, const struct archive *archive,
		  const struct store_note *note, struct err *err)
{
	struct installed_current next = { .use = note->name, .allowed_over = note->allowed_over };
	const char **names;
	size_t n, i;
	int r;

	/* Left by one that was killed. */
	remove_set(s->fd, NEW_SET);
	r = write_set(a, s, archive, note, err);
	if (!r) {
		/* Of the same bytes, so that it was damaged or rolled back from. */
		remove_set(s->fd, note->name);
		if (renameat(s->fd, NEW_SET, s->fd, note->name) < 0 || fsync(s->fd) < 0)
			r = err_errno(err, errno, "%s/%s", s->path, note->name);
	}
	if (!r) {
		set_history(a, s, note->name, &next);
		r = write_current(a, s, &next, err);
	}
	if (r) {
		remove_set(s->fd, NEW_SET);
		return r;
	}
	names = installed_names(a, s->fd, &n);
	for (i = 0; i < n; i++)
		if (!kept(&next, names[i]))
			remove_set(s->fd, names[i]);
	return 0;
}

int store_rollback(struct arena *a, struct store *s, const char **ret, struct err *err)
{
	struct installed_current next = s->current;
	struct installed_set set;
	int r;

	if (s->current.use)
		installed_set(a, s->fd, s->current.use, &set);
	if (!s->current.use || (!set.unusable && !installed_preferred(&set, &s->current)))
		return err_set(
			err, ERR_DATA,
			_("there is nothing to go back to: the tables of the program are in use"));
	next.use = NULL;
	while (!next.use && next.n_history) {
		next.use = next.history[--next.n_history];
		installed_set(a, s->fd, next.use, &set);
		if (set.unusable)
			next.use = NULL;
	}
	/* Going back is asked for as plainly as --allow-older. */
	next.allowed_over = next.use ? view_dup(a, compat_embedded_date()) : NULL;
	r = write_current(a, s, &next, err);
	if (!r)
		*ret = next.use;
	return r;
}

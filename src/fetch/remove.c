/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking away what was installed: out of sight in one step, then file by file, so that a run that
 * ends half-way is finished by the next one. Must not touch what no record lists.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "fetch/into.h"
#include "fetch/manifest.h"
#include "fetch/prefix.h"
#include "fetch/tree.h"

enum { OPEN_DIR = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW };

/*
 * A merged one: its record becomes one that is pending, which the next run takes back whatever
 * becomes of this one.
 */
static int remove_merged(struct prefix *s, const struct installed_item *item,
			 const struct record *r, struct err *err)
{
	_cleanup_fd_ int toolkit = open(item->into, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t stem = strlen(item->record) - strlen(INTO_DONE), gone = 0;
	const char *pending =
		arena_printf(s->a, "%.*s%s", (int)stem, item->record, INTO_PENDING);

	if (toolkit < 0 && errno != ENOENT)
		return err_errno(err, errno, "%.400s", item->into);
	if (renameat(s->fd, item->record, s->fd, pending) < 0)
		return err_errno(err, errno, "%.300s/%s", s->path, item->record);
	(void)fsync(s->fd);
	if (toolkit >= 0 && into_take_away(s->a, toolkit, r, &gone, err)) {
		/* Nothing was changed: it is still there. */
		if (!gone)
			(void)renameat(s->fd, pending, s->fd, item->record);
		return -(int)err->code;
	}
	if (unlinkat(s->fd, pending, 0) < 0)
		return err_errno(err, errno, "%.300s/%s", s->path, item->record);
	(void)unlinkat(s->fd, PREFIX_INTO, AT_REMOVEDIR);
	return 0;
}

/* The record with folders that it knows only through what lies in them. */
static void add_folders(struct arena *a, const struct record *r, struct record *ret)
{
	const char *slash;
	size_t i;

	*ret = *r;
	ret->files = NULL;
	ret->n = 0;
	for (i = 0; i < r->n; i++)
		*ARENA_APPEND(a, ret->files, ret->n) = r->files[i];
	for (i = 0; i < r->n; i++)
		for (slash = strchr(r->files[i].path, '/'); slash; slash = strchr(slash + 1, '/'))
			*ARENA_APPEND(a, ret->files, ret->n) = (struct record_file){
				.type = 'd',
				.path = arena_strndup(a, r->files[i].path,
						      (size_t)(slash - r->files[i].path)),
			};
}

/* The folders where they are empty now, and `current` when it led there. */
static void drop_folders(struct prefix *s, const char *name, const char *dir)
{
	int home = tree_open(s->fd, name, OPEN_DIR, 0);
	char target[256];
	ssize_t n;

	if (home < 0)
		return;
	n = readlinkat(home, PREFIX_CURRENT, target, sizeof(target));
	if (n > 0 && (size_t)n == strlen(dir) && memcmp(target, dir, (size_t)n) == 0)
		(void)unlinkat(home, PREFIX_CURRENT, 0);
	(void)unlinkat(home, dir, AT_REMOVEDIR);
	close(home);
	(void)unlinkat(s->fd, name, AT_REMOVEDIR);
}

/* *ret_gone: so many files are away, after a failure too. */
static int finish(struct prefix *s, const char *name, size_t *ret_gone, struct err *err)
{
	const char *what = name + strlen(PREFIX_REMOVING), *at = strchr(what, '@'), *home;
	_cleanup_fd_ int fd = tree_open(s->fd, name, O_RDONLY | O_NONBLOCK, 0), root = -1;
	struct record r, all;
	struct view text;

	*ret_gone = 0;
	if (fd < 0)
		return err_errno(err, -fd, "%.300s/%.300s", s->path, name);
	home = arena_strndup(s->a, what, at ? (size_t)(at - what) : 0);
	if (!at || !manifest_name_ok(home) || !tree_name_ok(at + 1) ||
	    file_read_fd(s->a, fd, name, RECORD_MAX, &text, err) ||
	    record_read(s->a, text, name, &r, err))
		return err_set(err, ERR_DATA, _("%.300s/%.300s: damaged"), s->path, name);
	root = tree_open(s->fd, arena_printf(s->a, "%s/%s", home, at + 1), OPEN_DIR, 0);
	if (root < 0 && root != -ENOENT)
		return err_errno(err, -root, "%.300s/%s/%s", s->path, home, at + 1);
	add_folders(s->a, &r, &all);
	if (root >= 0 && into_take_away(s->a, root, &all, ret_gone, err))
		return -(int)err->code;
	drop_folders(s, home, at + 1);
	if (unlinkat(s->fd, name, 0) < 0)
		return err_errno(err, errno, "%.300s/%.300s", s->path, name);
	return 0;
}

int prefix_finish_removal(struct prefix *s, const char *name, struct err *err)
{
	size_t gone;

	return finish(s, name, &gone, err);
}

/* What others have put into the folder stays, and the folder with it. */
static int remove_around(struct prefix *s, const struct installed_item *item, struct err *err)
{
	const char *to = arena_printf(s->a, PREFIX_REMOVING "%s@%s", item->name, item->dir);
	size_t gone;
	int r;

	if (renameat(s->fd, item->record, s->fd, to) < 0)
		return err_errno(err, errno, "%.400s/%s", item->path, RECORD_NAME);
	(void)fsync(s->fd);
	r = finish(s, to, &gone, err);
	/* Nothing was changed: it is still there. */
	if (r && !gone)
		(void)renameat(s->fd, to, s->fd, item->record);
	return r;
}

/* Nothing but ours is there: out of sight in one step, then gone. */
static int remove_whole(struct prefix *s, const struct installed_item *item, struct err *err)
{
	const char *from = arena_printf(s->a, "%s/%s", item->name, item->dir);
	const char *trash;
	int fd;

	if (prefix_stage(s, &trash, &fd, err))
		return -(int)err->code;
	close(fd);
	/* The lock is held: nobody clears it before it is in there. */
	if (renameat(s->fd, from, s->fd, arena_printf(s->a, "%s/x", trash)) < 0) {
		int e = errno;

		prefix_unstage(s, trash);
		return err_errno(err, e, "%.400s", item->path);
	}
	(void)fsync(s->fd);
	prefix_unstage(s, trash);
	return 0;
}

static int remove_item(struct prefix *s, struct installed_item *item, size_t *ret_kept,
		       struct err *err)
{
	const char *dir = arena_printf(s->a, "%s/%s", item->name, item->dir);
	_cleanup_fd_ int root = -1, home = -1;
	struct record r;
	int e;

	*ret_kept = 0;
	if (prefix_read_record(s, item, &r, err))
		return -(int)err->code;
	item->files = r.n_files;
	if (item->into)
		return remove_merged(s, item, &r, err);
	root = tree_open(s->fd, dir, OPEN_DIR, 0);
	if (root < 0)
		return err_errno(err, -root, "%.400s", item->path);
	e = prefix_extra(s, root, item, &r, err);
	if (e)
		return e;
	home = tree_open(s->fd, item->name, OPEN_DIR, 0);
	*ret_kept = item->n_extra;
	e = item->n_extra ? remove_around(s, item, err) : remove_whole(s, item, err);
	if (e)
		return e;
	/* Only now: where this run ends before, the next one clears a link to what is gone. */
	if (home >= 0 && item->current)
		(void)unlinkat(home, PREFIX_CURRENT, 0);
	(void)unlinkat(s->fd, item->name, AT_REMOVEDIR);
	return 0;
}

int fetch_remove(struct arena *a, const char *prefix, const char *wanted, const char *into,
		 const struct fetch_watch *watch, struct installed_item *ret, size_t *ret_kept,
		 struct err *err)
{
	struct prefix s;
	int r = prefix_open_for(a, prefix, wanted, into, watch, &s, ret, err);

	if (r)
		return r;
	r = remove_item(&s, ret, ret_kept, err);
	prefix_close(&s);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Changes in the prefix, crash-safe; must not follow a link below it. */
#include "fetch/prefix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "fetch/into.h"
#include "fetch/manifest.h"
#include "fetch/tree.h"
#include "model/version.h"

enum {
	OPEN_DIR = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
	LOCK_PAUSE_MS = 50,
	PATH_PART = 255,
};

/* -------- signals */

static void stop_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

void stop_block(void *ret_mask)
{
	sigset_t set;

	stop_set(&set);
	sigprocmask(SIG_BLOCK, &set, ret_mask);
}

void stop_unblock(const void *mask)
{
	/* What waited ends the process now, as it would have. */
	sigprocmask(SIG_SETMASK, mask, NULL);
}

int stop_check(struct err *err)
{
	sigset_t waiting;

	if (sigpending(&waiting) == 0 &&
	    (sigismember(&waiting, SIGINT) == 1 || sigismember(&waiting, SIGTERM) == 1 ||
	     sigismember(&waiting, SIGHUP) == 1))
		return err_set(err, ERR_IO, _("interrupted; what was downloaded is kept"));
	return 0;
}

/* -------- opening */

int prefix_look(struct arena *a, const char *path, struct prefix *ret, struct err *err)
{
	*ret = (struct prefix){ .a = a, .path = path, .fd = -1, .lock = -1 };
	ret->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->fd < 0 && errno != ENOENT)
		return err_errno(err, errno, "%.400s", path);
	return 0;
}

static int take_lock(struct prefix *s, struct err *err)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000000L };
	bool said = false;
	int r;

	s->lock = openat(s->fd, PREFIX_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (s->lock < 0)
		return err_errno(err, errno, "%.400s/%s", s->path, PREFIX_LOCK);
	while (flock(s->lock, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_errno(err, errno, "%.400s/%s", s->path, PREFIX_LOCK);
		if (!said && s->watch && s->watch->note)
			s->watch->note(
				s->watch->ctx,
				arena_printf(s->a,
					     _("%s: waiting for another cuvet that changes it"),
					     s->path));
		said = true;
		r = stop_check(err);
		if (r)
			return r;
		nanosleep(&pause, NULL);
	}
	return 0;
}

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* Is `current` a link as this program makes them, to a version's folder that is not there? */
static bool leads_nowhere(int home)
{
	char target[PATH_PART + 1];
	ssize_t n = readlinkat(home, PREFIX_CURRENT, target, PATH_PART);
	struct version v;
	struct stat st;

	if (n <= 0)
		return false;
	target[n] = '\0';
	return tree_name_ok(target) && version_prefix(view_of(target), &v) && v.n >= 3 &&
	       fstatat(home, target, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

/*
 * Below PREFIX/<name>: links that were not named yet, and `current` where the run ended between the
 * link and what it leads to. The prefix may hold what is not ours: nothing else is touched.
 */
static bool clear_name(struct prefix *s, const char *name, bool clear)
{
	int fd = openat(s->fd, name, OPEN_DIR);
	_cleanup_dir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool ours = false;

	if (!dir) {
		cleanup_fd(&fd);
		return false;
	}
	while ((entry = readdir(dir)))
		if (begins(entry->d_name, RECORD_NEW))
			ours |= !clear || unlinkat(fd, entry->d_name, 0) == 0;
	if (leads_nowhere(fd))
		ours |= !clear || unlinkat(fd, PREFIX_CURRENT, 0) == 0;
	if (clear && ours)
		(void)unlinkat(s->fd, name, AT_REMOVEDIR);
	return ours;
}

/*
 * With `clear`, the lock is held: whoever made these is dead, they are cleared. Without, it is told
 * whether there are any.
 */
static bool leftovers(struct prefix *s, bool clear)
{
	int fd = openat(s->fd, ".", OPEN_DIR);
	_cleanup_dir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool any = false;

	if (!dir) {
		cleanup_fd(&fd);
		return false;
	}
	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;
		bool staged = begins(name, PREFIX_STAGE) || begins(name, PREFIX_TRASH);
		bool removing = begins(name, PREFIX_REMOVING);

		any |= staged || removing;
		if (clear && staged)
			(void)tree_remove(s->fd, name);
		/* What cannot be taken away now is tried again by the next run. */
		if (clear && removing && prefix_finish_removal(s, name, NULL))
			continue;
		if (manifest_name_ok(name))
			any |= clear_name(s, name, clear);
	}
	return into_recover(s, clear) || any;
}

bool prefix_has_leftovers(struct prefix *s)
{
	return s->fd >= 0 && leftovers(s, false);
}

int prefix_open(struct arena *a, const char *path, const struct fetch_watch *watch,
	       struct prefix *ret, struct err *err)
{
	int r;

	*ret = (struct prefix){ .a = a, .path = path, .fd = -1, .lock = -1, .watch = watch };
	r = tree_user_dir(a, path, &ret->fd, err);
	if (!r)
		r = take_lock(ret, err);
	if (r) {
		prefix_close(ret);
		return err_wrap(err, _("the prefix %.300s cannot be used"), path);
	}
	(void)leftovers(ret, true);
	return 0;
}

void prefix_close(struct prefix *s)
{
	cleanup_fd(&s->lock);
	cleanup_fd(&s->fd);
	s->lock = s->fd = -1;
}

/* -------- staging and publishing */

static const char *fresh_name(struct prefix *s, const char *before)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (uint64_t)getpid();
	return arena_printf(s->a, "%s%016llx", before, (unsigned long long)number);
}

int prefix_stage(struct prefix *s, const char **ret_name, int *ret_fd, struct err *err)
{
	const char *name = fresh_name(s, PREFIX_STAGE);
	int fd;

	if (mkdirat(s->fd, name, 0755) < 0)
		return err_errno(err, errno, _("the prefix %.300s cannot be written"), s->path);
	fd = openat(s->fd, name, OPEN_DIR);
	if (fd < 0)
		return err_errno(err, errno, "%.300s/%s", s->path, name);
	*ret_name = name;
	*ret_fd = fd;
	return 0;
}

void prefix_unstage(struct prefix *s, const char *name)
{
	if (name)
		(void)tree_remove(s->fd, name);
}

int prefix_write(struct prefix *s, int dir, const char *name, const char *text, struct err *err)
{
	const char *fresh = fresh_name(s, RECORD_NEW);
	_cleanup_fd_ int fd =
		openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	int r;

	if (fd < 0)
		return err_errno(err, errno, "%.300s: %s", s->path, name);
	r = file_write_fd(fd, name, view_of(text), err);
	if (!r && (fsync(fd) < 0 || renameat(dir, fresh, dir, name) < 0 || fsync(dir) < 0))
		r = err_errno(err, errno, "%.300s: %s", s->path, name);
	if (r)
		(void)unlinkat(dir, fresh, 0);
	return r;
}

int prefix_record(struct prefix *s, int stage, const struct fetch_item *item, const char *accepted,
		 const char *into, const char **ret, struct record *ret_parsed, struct err *err)
{
	struct record head = {
		.name = item->name,
		.version = item->version,
		.label = item->label,
		.cuda = item->cuda,
		.platform = item->platform,
		.url = item->url,
		.sha256 = item->sha256,
		.size = arena_printf(s->a, "%llu", (unsigned long long)item->size),
		.licence = item->licence,
		.licence_url = item->licence_url,
		.accepted = accepted,
		.into = into,
	};
	_cleanup_fd_ int fd = openat(stage, RECORD_LIST, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct strbuf out;
	struct view list;

	if (fd < 0)
		return err_errno(err, errno, "%.300s/%s", s->path, RECORD_LIST);
	if (file_read_fd(s->a, fd, RECORD_LIST, RECORD_MAX, &list, err))
		return -(int)err->code;
	strbuf_init(&out, s->a);
	record_put_head(&out, &head);
	strbuf_addv(&out, list);
	record_put_end(&out);
	*ret = out.s;
	/* The list comes from the worker, which has read the archive: it is not trusted. */
	return record_read(s->a, (struct view){ .p = out.s, .n = out.n }, RECORD_LIST, ret_parsed,
			   err);
}

/* Never over what is there. 0 or -errno. */
static int rename_fresh(int from_dir, const char *from, int to_dir, const char *to)
{
#ifdef SYS_renameat2
	if (syscall(SYS_renameat2, from_dir, from, to_dir, to, 1U) == 0)
		return 0;
	if (errno != ENOSYS && errno != EINVAL)
		return -errno;
#endif
	/* A folder that is not empty is not renamed over, and the lock is held. */
	return renameat(from_dir, from, to_dir, to) < 0 ? -errno : 0;
}

/* Makes or replaces the link; it may lead to what gets its name next. */
static int link_current(struct prefix *s, int home, const char *name, const char *dir,
			struct err *err)
{
	const char *fresh = fresh_name(s, RECORD_NEW);

	if (symlinkat(dir, home, fresh) < 0)
		return err_errno(err, errno, "%.300s/%s/" PREFIX_CURRENT, s->path, name);
	if (renameat(home, fresh, home, PREFIX_CURRENT) < 0 || fsync(home) < 0) {
		int e = errno;

		(void)unlinkat(home, fresh, 0);
		return err_errno(err, e, "%.300s/%s/" PREFIX_CURRENT, s->path, name);
	}
	return 0;
}

/* Up to three names in a folder; NULL when it is empty. */
static const char *names_in(struct prefix *s, int fd)
{
	int copy = openat(fd, ".", OPEN_DIR);
	_cleanup_dir_ DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	struct strbuf b;
	int n = 0;

	if (!dir) {
		cleanup_fd(&copy);
		return "?";
	}
	strbuf_init(&b, s->a);
	while (n < 3 && (entry = readdir(dir))) {
		if (!tree_name_ok(entry->d_name))
			continue;
		strbuf_sep(&b, ", ");
		strbuf_printf(&b, "%.60s", entry->d_name);
		n++;
	}
	return n ? b.s : NULL;
}

int prefix_free_for(struct prefix *s, const struct fetch_item *item, struct err *err)
{
	const char *dir = arena_printf(s->a, "%s/%s", item->name, item->dir), *names;
	struct installed_item probe = {
		.record = arena_printf(s->a, "%s/%s", dir, RECORD_NAME) };
	struct record r;
	_cleanup_fd_ int fd = -1;
	int k = s->fd < 0 ? -ENOENT : tree_open(s->fd, dir, OPEN_DIR, 0);

	if (k == -ENOENT)
		return 0;
	if (k < 0)
		return err_errno(err, -k, "%.400s", item->path);
	fd = k;
	names = names_in(s, fd);
	if (!names)
		return 0;
	k = prefix_read_record(s, &probe, &r, NULL);
	if (!k && r.platform && strcmp(r.platform, item->platform) != 0)
		return err_set(
			err, ERR_IO,
			_("%.400s holds the build for %.64s: take it away (cuvet fetch remove %s/%s), or name another --prefix"),
			item->path, r.platform, item->name, item->dir);
	if (k == -(int)ERR_DATA)
		return err_set(
			err, ERR_IO,
			_("%.400s is there, and the record of what was installed is damaged: move the folder away, then fetch again"),
			item->path);
	return k ? err_set(err, ERR_IO,
			   _("%.400s is there and holds what cuvet did not put there (%s): move it away, or name another --prefix; nothing was changed"),
			   item->path, names)
		 : 0;
}

/* The name, and `current` where there is none yet: the link first, so that both come at once. */
static int give_name(struct prefix *s, const char *stage, struct fetch_item *item, int home,
		     struct err *err)
{
	struct stat st;
	bool linked = fstatat(home, PREFIX_CURRENT, &st, AT_SYMLINK_NOFOLLOW) < 0;
	int r;

	if (linked && link_current(s, home, item->name, item->dir, err))
		return -(int)err->code;
	/* An empty folder of that name is nobody's. */
	(void)unlinkat(home, item->dir, AT_REMOVEDIR);
	r = rename_fresh(s->fd, stage, home, item->dir);
	if (r < 0) {
		if (linked)
			(void)unlinkat(home, PREFIX_CURRENT, 0);
		if ((r == -EEXIST || r == -ENOTEMPTY) && prefix_free_for(s, item, err))
			return -(int)err->code;
		return err_errno(err, -r, "%.300s/%s/%s", s->path, item->name, item->dir);
	}
	return 0;
}

int prefix_publish(struct prefix *s, const char *stage, struct fetch_item *item,
		   const char *accepted, struct err *err)
{
	_cleanup_fd_ int fd = openat(s->fd, stage, OPEN_DIR), home = -1;
	struct record parsed;
	const char *text;

	if (fd < 0)
		return err_errno(err, errno, "%.300s/%s", s->path, stage);
	if (prefix_record(s, fd, item, accepted, NULL, &text, &parsed, err) ||
	    prefix_write(s, fd, RECORD_NAME, text, err))
		return -(int)err->code;
	if (unlinkat(fd, RECORD_LIST, 0) < 0 || fsync(fd) < 0)
		return err_errno(err, errno, "%.300s/%s", s->path, stage);
	home = tree_make_dir(s->fd, item->name);
	if (home < 0)
		return err_errno(err, -home, "%.300s/%s", s->path, item->name);
	if (give_name(s, stage, item, home, err)) {
		(void)unlinkat(s->fd, item->name, AT_REMOVEDIR);
		return -(int)err->code;
	}
	item->files = parsed.n_files;
	item->licence_file = record_licence(&parsed);
	/* It is there, whole; whether the disk has it, too, is what can still fail. */
	if (fsync(home) < 0 || fsync(s->fd) < 0)
		return err_errno(err, errno, "%.300s/%s", s->path, item->name);
	return 0;
}

int prefix_switch(struct prefix *s, const char *name, const char *dir, struct err *err)
{
	_cleanup_fd_ int home = tree_open(s->fd, name, O_RDONLY | O_DIRECTORY, 0);
	struct stat st;

	if (home < 0)
		return err_errno(err, -home, "%.300s/%s", s->path, name);
	if (fstatat(home, PREFIX_CURRENT, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISLNK(st.st_mode))
		return err_set(err, ERR_TYPE, _("%.300s/%s/" PREFIX_CURRENT ": not a link"),
			       s->path, name);
	return link_current(s, home, name, dir, err);
}

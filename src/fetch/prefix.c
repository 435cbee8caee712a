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
#include "fetch/tree.h"

enum {
	OPEN_DIR = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
	LOCK_PAUSE_MS = 50,
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

/* Whoever made these is dead: the lock was free. */
static void clear_leftovers(struct prefix *s)
{
	int fd = openat(s->fd, ".", OPEN_DIR);
	_cleanup_dir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		cleanup_fd(&fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (strncmp(entry->d_name, PREFIX_STAGE, strlen(PREFIX_STAGE)) == 0 ||
		    strncmp(entry->d_name, PREFIX_TRASH, strlen(PREFIX_TRASH)) == 0)
			(void)tree_remove(s->fd, entry->d_name);
	into_recover(s);
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
	clear_leftovers(ret);
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
	const char *fresh = fresh_name(s, RECORD_PREFIX "new-");
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

int prefix_publish(struct prefix *s, const char *stage, struct fetch_item *item,
		  const char *accepted, struct err *err)
{
	_cleanup_fd_ int fd = openat(s->fd, stage, OPEN_DIR), home = -1;
	struct record parsed;
	const char *text;
	int r;

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
	r = rename_fresh(s->fd, stage, home, item->dir);
	if (r < 0) {
		(void)unlinkat(s->fd, item->name, AT_REMOVEDIR);
		return err_errno(err, -r, "%.300s/%s/%s", s->path, item->name, item->dir);
	}
	if (fsync(home) < 0 || fsync(s->fd) < 0)
		return err_errno(err, errno, "%.300s/%s", s->path, item->name);
	item->files = parsed.n_files;
	return 0;
}

int prefix_switch(struct prefix *s, const char *name, const char *dir, bool if_none,
		  struct err *err)
{
	_cleanup_fd_ int home = tree_open(s->fd, name, O_RDONLY | O_DIRECTORY, 0);
	const char *fresh = fresh_name(s, RECORD_PREFIX "new-");
	struct stat st;

	if (home < 0)
		return err_errno(err, -home, "%.300s/%s", s->path, name);
	if (fstatat(home, "current", &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (if_none)
			return 0;
		if (!S_ISLNK(st.st_mode))
			return err_set(err, ERR_TYPE, _("%.300s/%s/current: not a link"), s->path,
				       name);
	}
	if (symlinkat(dir, home, fresh) < 0)
		return err_errno(err, errno, "%.300s/%s", s->path, name);
	if (renameat(home, fresh, home, "current") < 0 || fsync(home) < 0) {
		int e = errno;

		(void)unlinkat(home, fresh, 0);
		return err_errno(err, e, "%.300s/%s/current", s->path, name);
	}
	return 0;
}

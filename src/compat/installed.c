/* SPDX-License-Identifier: Apache-2.0 */
/* Finding this user's installed tables; must not use one that somebody else could have written. */
#include "compat/installed.h"

#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "compat/embedded.h"
#include "compat/validate.h"

enum { SMALL_MAX = 256 << 10, OPEN_DIR = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

const char *data_kind_name(enum data_kind kind)
{
	static const char *const names[] = {
		[DATA_EMBEDDED] = "embedded",
		[DATA_USER] = "user",
		[DATA_FOLDER] = "--data",
	};

	return names[kind];
}

int installed_folder(struct arena *a, const char **ret_base, const char **ret_path, struct err *err)
{
	const char *xdg = getenv("XDG_DATA_HOME"), *home = getenv("HOME"), *base;

	/* A relative XDG_DATA_HOME is to be ignored, says the specification of these folders. */
	if (xdg && xdg[0] == '/')
		base = xdg;
	else if (home && home[0] == '/')
		base = arena_printf(a, "%s/.local/share", home);
	else
		return err_set(
			err, ERR_NOENT,
			_("neither XDG_DATA_HOME nor HOME names a folder, so that there is no place for "
			  "this user's data"));
	*ret_base = base;
	*ret_path = arena_printf(a, "%s/cuvet/data", base);
	return 0;
}

static bool trusted_stat(const struct stat *st)
{
	return (st->st_uid == geteuid() || st->st_uid == 0) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

int installed_private(int fd, const char *name, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "%s", name);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return err_set(err, ERR_ACCESS, _("%s: belongs to another user"), name);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(err, ERR_ACCESS,
			       _("%s: others may write to it (chmod go-w ends that)"), name);
	return 0;
}

/* One component below a folder, which must be a folder of this user's and no link. */
static int step(struct arena *a, int *fd, const char *path, const char *name, struct err *err)
{
	int below = openat(*fd, name, OPEN_DIR | O_NOFOLLOW), r;

	/* O_DIRECTORY makes of a link "not a directory". */
	if (below < 0 && (errno == ENOTDIR || errno == ELOOP))
		r = err_set(err, ERR_TYPE, _("%s/%s: not a folder of its own"), path, name);
	else if (below < 0)
		r = err_errno(err, errno, "%s/%s", path, name);
	else
		r = installed_private(below, arena_printf(a, "%s/%s", path, name), err);
	if (r && below >= 0)
		close(below);
	if (r)
		return r;
	close(*fd);
	*fd = below;
	return 0;
}

int installed_open(struct arena *a, int *ret_fd, struct err *err)
{
	_cleanup_fd_ int fd = -1;
	const char *base, *path;
	int r = installed_folder(a, &base, &path, err);

	if (r)
		return r;
	fd = open(base, OPEN_DIR);
	if (fd < 0)
		return err_errno(err, errno, "%s", base);
	r = step(a, &fd, base, "cuvet", err);
	if (!r)
		r = step(a, &fd, arena_printf(a, "%s/cuvet", base), "data", err);
	if (!r)
		*ret_fd = take_fd(&fd);
	return r;
}

/* A small JSON file of ours. */
static int read_json(struct arena *a, int dir, const char *name, const struct json **ret,
		     struct err *err)
{
	_cleanup_fd_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct view text;
	struct stat st;
	int r;

	if (fd < 0)
		return err_errno(err, errno, "%s", name);
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_TYPE, _("%s: not a regular file"), name);
	if (!trusted_stat(&st))
		return err_set(err, ERR_ACCESS, _("%s: others may write to it"), name);
	r = file_read_fd(a, fd, name, SMALL_MAX, &text, err);
	return r ? r : json_parse(a, text, name, ret, err);
}

bool installed_name_ok(const char *name)
{
	char date[11] = { 0 };
	size_t i;

	if (strlen(name) != 19 || name[10] != '-')
		return false;
	memcpy(date, name, 10);
	for (i = 11; i < 19; i++)
		if (!strchr("0123456789abcdef", name[i]))
			return false;
	return compat_is_date(date, false);
}

int installed_current(struct arena *a, int fd, struct installed_current *ret, struct err *err)
{
	const struct json *doc;
	struct err e;
	size_t i;
	int r = read_json(a, fd, "current", &doc, &e);

	*ret = (struct installed_current){ .use = NULL };
	ret->history = arena_calloc(a, 1, sizeof(*ret->history));
	if (r == -(int)ERR_NOENT)
		return 0;
	if (r)
		return err_set(err, e.code, "%s", e.msg);
	ret->use = json_get_str(doc, "use");
	ret->allowed_over = json_get_str(doc, "allowed_over");
	if (json_type(json_get(doc, "history")) == JSON_ARRAY)
		ret->history = json_str_list(a, json_get(doc, "history"), &ret->n_history);
	for (i = 0; i < ret->n_history; i++)
		if (!installed_name_ok(ret->history[i]))
			return err_set(err, ERR_DATA, _("current: not written by this program"));
	if (ret->use && !installed_name_ok(ret->use))
		return err_set(err, ERR_DATA, _("current: not written by this program"));
	return 0;
}

/* The table's file is there as it was written; NULL or what is wrong. */
static const char *table_wrong(struct arena *a, int fd, const struct json *tables,
			       const char *table)
{
	const struct json *one;
	struct stat st;
	int64_t size;

	one = json_get(tables, table);
	if (!json_get_int(one, "size", &size))
		return arena_printf(
			a, _("it lacks the table %s, which this version of cuvet needs"), table);
	if (fstatat(fd, arena_printf(a, "%s.json", table), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return arena_printf(a, _("%s.json: %m"), table);
	if (!S_ISREG(st.st_mode) || !trusted_stat(&st))
		return arena_printf(a, _("%s.json: others may write to it"), table);
	if (st.st_size != size)
		return arena_printf(a, _("%s.json: not the file that was installed"), table);
	return NULL;
}

static const char *set_wrong(struct arena *a, int sets, const char *name, struct installed_set *ret)
{
	_cleanup_fd_ int fd = openat(sets, name, OPEN_DIR | O_NOFOLLOW);
	const struct json *doc;
	const char *table, *wrong = NULL, *schema;
	struct err e;
	size_t i;

	if (fd < 0)
		return arena_printf(a, "%s: %m", name);
	if (installed_private(fd, name, &e) || read_json(a, fd, "manifest.json", &doc, &e))
		return arena_strdup(a, e.msg);
	ret->from = json_get_str(doc, "from");
	ret->key = json_get_str(doc, "key");
	schema = json_get_str(doc, "schema");
	if (!schema || strcmp(schema, "cuvet.data-installed/1") != 0)
		return _("manifest.json: not written by this program");
	for (i = 0; !wrong && (table = compat_embedded_table(i)); i++)
		wrong = table_wrong(a, fd, json_get(doc, "tables"), table);
	return wrong;
}

void installed_set(struct arena *a, int fd, const char *name, struct installed_set *ret)
{
	*ret = (struct installed_set){ .name = name, .date = arena_strndup(a, name, 10) };
	ret->unusable = set_wrong(a, fd, name, ret);
}

static int compare_names(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

const char **installed_names(struct arena *a, int fd, size_t *ret_n)
{
	const char **list = NULL;
	_cleanup_dir_ DIR *dir = NULL;
	const struct dirent *entry;
	size_t n = 0;
	int again = openat(fd, ".", OPEN_DIR);

	dir = again >= 0 ? fdopendir(again) : NULL;
	if (!dir && again >= 0)
		close(again);
	while (dir && (entry = readdir(dir)))
		if (installed_name_ok(entry->d_name))
			*ARENA_APPEND(a, list, n) = arena_strdup(a, entry->d_name);
	if (n)
		qsort(list, n, sizeof(*list), compare_names);
	*ret_n = n;
	(void)ARENA_APPEND(a, list, n);
	return list;
}

bool installed_preferred(const struct installed_set *set, const struct installed_current *current)
{
	struct view embedded = compat_embedded_date();

	if (embedded.n != 10 || memcmp(set->date, embedded.p, 10) > 0)
		return true;
	return current->allowed_over && strlen(current->allowed_over) == 10 &&
	       memcmp(embedded.p, current->allowed_over, 10) <= 0;
}

const char *installed_active(struct arena *a, const char **ret_ignored)
{
	const char *hidden = getenv("CUVET_NO_USER_DATA"), *base, *path;
	_cleanup_fd_ int fd = -1;
	struct installed_current current;
	struct installed_set set;
	struct err e;
	int r;

	*ret_ignored = NULL;
	if ((hidden && *hidden) || installed_folder(a, &base, &path, &e))
		return NULL;
	r = installed_open(a, &fd, &e);
	if (r == -(int)ERR_NOENT)
		return NULL;
	if (r || installed_current(a, fd, &current, &e)) {
		*ret_ignored = arena_strdup(a, e.msg);
		return NULL;
	}
	if (!current.use)
		return NULL;
	installed_set(a, fd, current.use, &set);
	*ret_ignored = set.unusable;
	if (!set.unusable && !installed_preferred(&set, &current))
		*ret_ignored = _("they are not newer than those of the program");
	return *ret_ignored ? NULL : arena_printf(a, "%s/%s", path, current.use);
}

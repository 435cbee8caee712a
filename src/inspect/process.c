/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/N/maps against the emulated loader. The process is only looked at, never stopped or traced.
 */
#include "inspect/process.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"

enum { MAPS_MAX = 16 << 20, ENVIRON_MAX = 4 << 20, FILES_MAX = 8192 };

const char *mapped_state_word(enum mapped_state s)
{
	static const char *const words[] = {
		[MAPPED_SAME] = "same",
		[MAPPED_DLOPENED] = "dlopened",
		[MAPPED_OTHER] = "other",
		[MAPPED_GONE] = "gone",
	};

	return words[s];
}

/* "\012" and the like, as the kernel writes newlines in names. */
static const char *unescape(struct arena *a, struct view v)
{
	char *out = arena_alloc(a, v.n + 1);
	size_t i, n = 0;

	for (i = 0; i < v.n; i++) {
		if (v.p[i] == '\\' && v.n - i >= 4 && memcmp(v.p + i, "\\012", 4) == 0) {
			out[n++] = '\n';
			i += 3;
		} else {
			out[n++] = v.p[i];
		}
	}
	return out;
}

struct map_line *process_maps(struct arena *a, struct view text, size_t *ret_n)
{
	struct map_line *list = NULL;
	struct view line, word, perms = { 0 };
	bool deleted;
	const char *path;
	size_t i, k;

	*ret_n = 0;
	while (view_line(&text, &line)) {
		/* address perms offset dev inode path, and the path may hold blanks */
		for (k = 0; k < 5 && view_word(&line, &word); k++)
			if (k == 1)
				perms = word;
		while (line.n && line.p[0] == ' ')
			line = view_skip(line, 1);
		if (k < 5 || !line.n || line.p[0] != '/')
			continue;
		deleted = view_ends(line, " (deleted)");
		if (deleted)
			line.n -= strlen(" (deleted)");
		path = unescape(a, line);
		for (i = 0; i < *ret_n && strcmp(list[i].path, path) != 0; i++)
			;
		if (i == *ret_n) {
			if (*ret_n == FILES_MAX)
				return list;
			ARENA_APPEND(a, list, *ret_n)->path = path;
		}
		list[i].deleted |= deleted;
		list[i].code |= view_chr(perms, 'x') >= 0;
	}
	return list;
}

static const char *variable(struct arena *a, struct view block, const char *name)
{
	size_t n = strlen(name);
	struct view one;

	while (block.n) {
		one = view_cut(block, '\0', &block);
		if (view_starts(one, name) && one.n > n && one.p[n] == '=')
			return view_dup(a, view_skip(one, n + 1));
	}
	return NULL;
}

static const char *proc(struct arena *a, long pid, const char *file)
{
	return arena_printf(a, "/proc/%ld/%s", pid, file);
}

int process_open(struct inspect *in, long pid, struct err *err)
{
	struct sysroot *host, *root;
	struct view block;
	int e;

	if (sysroot_open(in->a, "/", &host, err))
		return -(int)err->code;
	e = sysroot_read(host, in->a, proc(in->a, pid, "environ"), ENVIRON_MAX, &block, NULL);
	if (e == -ENOENT)
		return err_set(err, ERR_NOENT, _("no process has the number %ld"), pid);
	if (e)
		return err_errno(err, -e, "%s", proc(in->a, pid, "environ"));
	/* Its root may be that of a container. */
	if (sysroot_open(in->a, proc(in->a, pid, "root"), &root, err))
		return -(int)err->code;
	in->r = root;
	in->env = (struct load_env){ .library_path = variable(in->a, block, "LD_LIBRARY_PATH"),
				     .preload = variable(in->a, block, "LD_PRELOAD") };
	if (sysroot_readlink(host, in->a, proc(in->a, pid, "cwd"), &in->env.cwd) < 0)
		in->env.cwd = NULL;
	in->w = arena_alloc(in->a, sizeof(*in->w));
	ldso_root_init(in->w, in->r, in->a, NULL);
	return 0;
}

static const char *soname_of(struct inspect *in, const char *path)
{
	_cleanup_fd_ int fd = sysroot_open_file(in->r, path);
	struct elf e;

	return fd >= 0 && elf_read(in->a, fd, &e) == 0 ? e.soname : NULL;
}

static bool is_library(struct inspect *in, const char *path)
{
	_cleanup_fd_ int fd = sysroot_open_file(in->r, path);
	char magic[4];

	return fd >= 0 && elf_pread(fd, magic, 4, 0) && memcmp(magic, "\177ELF", 4) == 0;
}

static bool same_file(struct inspect *in, const char *a, const char *b)
{
	struct stat x, y;

	return strcmp(a, b) == 0 ||
	       (sysroot_stat(in->r, a, true, &x) == 0 && sysroot_stat(in->r, b, true, &y) == 0 &&
		x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

/* The object of the session that is this file, or that answers to its soname. */
static void compare(struct inspect *in, struct load_session *s, struct mapped *m)
{
	const struct load_answer *list;
	const struct load_object *o;
	size_t n, i;

	m->soname = soname_of(in, m->path);
	list = load_session_answers(s, &n);
	for (i = 0; i < n; i++)
		if (list[i].object->path && same_file(in, list[i].object->path, m->path))
			return;
	m->state = MAPPED_DLOPENED;
	if (!m->soname)
		return;
	o = load_session_loaded(s, m->soname);
	if (!o) {
		o = load_session_dlopen(s, m->soname, NULL, NULL);
		if (!o || o->state != LOAD_OK)
			return;
		if (same_file(in, o->path, m->path))
			return;
		m->expected = o->path;
		m->via = o->via;
		return;
	}
	m->state = MAPPED_OTHER;
	m->expected = o->path;
	m->via = o->via;
}

/* What the program needs and has not got: it would get it if it were started anew. */
static void find_missing(struct inspect *in, struct process *p)
{
	const struct load_answer *list;
	size_t n, i, k;

	list = load_session_answers(p->session, &n);
	for (i = 0; i < n; i++) {
		if (list[i].object->via == VIA_LOADER || list[i].via == VIA_LOADED ||
		    !list[i].object->path)
			continue;
		for (k = 0; k < p->n; k++)
			if (same_file(in, list[i].object->path, p->v[k].path))
				break;
		if (k == p->n)
			*ARENA_APPEND(in->a, p->missing, p->n_missing) = &list[i];
	}
}

int process_read(struct inspect *in, long pid, struct process *ret, struct err *err)
{
	struct load_session *s = load_session_new(in->a, in->w, &in->env);
	struct sysroot *host;
	struct map_line *lines;
	struct view text;
	size_t n, i;
	int e;

	*ret = (struct process){ .pid = pid };
	if (sysroot_open(in->a, "/", &host, err))
		return -(int)err->code;
	e = sysroot_readlink(host, in->a, proc(in->a, pid, "exe"), &ret->exe);
	if (e < 0)
		return err_errno(err, -e, "%s", proc(in->a, pid, "exe"));
	e = sysroot_read(host, in->a, proc(in->a, pid, "maps"), MAPS_MAX, &text, NULL);
	if (e < 0)
		return err_errno(err, -e, "%s", proc(in->a, pid, "maps"));
	lines = process_maps(in->a, text, &n);
	e = load_session_main(s, ret->exe);
	if (e)
		return err_set(err, ERR_PARSE, _("%s: cannot be read as a program"), ret->exe);
	ret->session = s;
	/* First those that are there, then the session may grow by what was opened later. */
	for (i = 0; i < n; i++) {
		struct mapped *m;

		if (!lines[i].code || strcmp(lines[i].path, ret->exe) == 0)
			continue;
		if (!lines[i].deleted && !is_library(in, lines[i].path))
			continue;
		m = ARENA_APPEND(in->a, ret->v, ret->n);
		*m = (struct mapped){ .path = lines[i].path, .via = VIA_NONE,
				      .state = lines[i].deleted ? MAPPED_GONE : MAPPED_SAME };
	}
	find_missing(in, ret);
	for (i = 0; i < ret->n; i++)
		if (ret->v[i].state != MAPPED_GONE)
			compare(in, s, &ret->v[i]);
	return 0;
}

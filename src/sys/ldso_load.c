/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of one process in the order in which the loader takes them; must follow its order, not
 * ours. */
#include "sys/ldso_load.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "sys/ldso_private.h"

enum { OBJECTS_MAX = 4096, ANSWERS_MAX = 16384, PRELOAD_FILE_MAX = 64 << 10 };

#define PRELOAD_FILE "/etc/ld.so.preload"

const char *load_via_name(enum load_via via)
{
	static const char *const names[] = {
		[VIA_MAIN] = "main",
		[VIA_PRELOAD] = "LD_PRELOAD",
		[VIA_PATH] = "path",
		[VIA_RPATH] = "DT_RPATH",
		[VIA_RPATH_INHERITED] = "DT_RPATH of a loading object",
		[VIA_LIBRARY_PATH] = "LD_LIBRARY_PATH",
		[VIA_RUNPATH] = "DT_RUNPATH",
		[VIA_CACHE] = "ld.so.cache",
		[VIA_DEFAULT] = "default",
		[VIA_LOADER] = "loader",
		[VIA_LOADED] = "already loaded",
		[VIA_NONE] = "not found",
	};

	return names[via];
}

static void add_name(struct load_session *s, struct load_object *o, const char *name)
{
	size_t i;

	for (i = 0; i < o->n_names; i++)
		if (strcmp(o->names[i], name) == 0)
			return;
	*ARENA_APPEND(s->a, o->names, o->n_names) = name;
}

static void answer(struct load_session *s, const char *name, const struct load_object *asker,
		   const struct load_object *o, enum load_via via)
{
	size_t i;

	for (i = 0; i < s->n_answers; i++)
		if (strcmp(s->answers[i].name, name) == 0 &&
		    (s->answers[i].object == o || (!o->path && !s->answers[i].object->path &&
						   !asker == !s->answers[i].asker)))
			return;
	if (s->n_answers < ANSWERS_MAX)
		*ARENA_APPEND(s->a, s->answers, s->n_answers) = (struct load_answer){
			.name = name, .asker = asker, .object = o, .via = via
		};
}

static bool has_name(const struct load_object *o, const char *name)
{
	size_t i;

	for (i = 0; i < o->n_names; i++)
		if (strcmp(o->names[i], name) == 0)
			return true;
	return o->elf.soname && strcmp(o->elf.soname, name) == 0;
}

static struct load_object *loaded(const struct load_session *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->objects[i]->state == LOAD_OK && has_name(s->objects[i], name))
			return s->objects[i];
	return NULL;
}

const struct load_object *load_session_loaded(const struct load_session *s, const char *name)
{
	return loaded(s, name);
}

static struct load_object *by_file(const struct load_session *s, const struct ldso_file *f)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->objects[i]->state == LOAD_OK && s->objects[i]->dev == f->dev &&
		    s->objects[i]->ino == f->ino)
			return s->objects[i];
	return NULL;
}

static void spoil(struct load_object *o, const char *why)
{
	o->state = LOAD_FATAL;
	o->why = why;
}

/* What the loader would find out when it maps the file. */
static void map_object(struct load_object *o, const struct ldso_file *f)
{
	if (!f->is_elf)
		return spoil(o, _("invalid ELF header"));
	o->elf = f->elf;
	o->dev = f->dev;
	o->ino = f->ino;
	if (!o->elf.n_loads)
		return spoil(o, _("object file has no loadable segments"));
	if (!o->elf.dynamic && o->via != VIA_MAIN)
		return spoil(o, _("object file has no dynamic section"));
	if (o->via == VIA_MAIN)
		return;
	if (o->elf.type == ET_EXEC)
		return spoil(o, _("cannot dynamically load executable"));
	if (o->elf.flags_1 & DF_1_PIE)
		return spoil(o, _("cannot dynamically load position-independent executable"));
}

static struct load_object *add_object(struct load_session *s, const struct load_object *proto)
{
	struct load_object *o = arena_alloc(s->a, sizeof(*o));

	*o = *proto;
	if (s->n < OBJECTS_MAX)
		*ARENA_APPEND(s->a, s->objects, s->n) = o;
	add_name(s, o, o->name);
	return o;
}

/* The object for a file that was found: one that is there under another name, or a new one. */
static struct load_object *take(struct load_session *s, const char *name,
				const struct load_object *asker, struct load_found *f)
{
	struct load_object proto = { .name = name,
				     .path = f->path,
				     .via = f->via,
				     .holder = f->holder,
				     .loader = asker,
				     .state = f->state,
				     .why = f->why,
				     .shadowed = f->shadowed,
				     .n_shadowed = f->n_shadowed };
	struct load_object *o;

	if (f->state == LOAD_OK) {
		o = by_file(s, f->file);
		if (o) {
			add_name(s, o, name);
			return o;
		}
		proto.origin = path_dir(s->a, f->path);
		map_object(&proto, f->file);
	}
	o = add_object(s, &proto);
	if (o->path)
		add_name(s, o, o->path);
	return o;
}

/* One request, from an object or (asker NULL) from outside. *ret_new: it came with this request. */
static struct load_object *request(struct load_session *s, const char *name,
				   const struct load_object *asker, bool *ret_new)
{
	size_t before = s->n;
	struct load_object *o;
	const char *text = name;
	struct load_found f;

	*ret_new = false;
	if (strchr(name, '$')) {
		name = load_expand(s, asker ? asker->origin : s->objects[0]->origin, view_of(name));
		if (!name || !*name)
			name = text;
	}
	o = loaded(s, name);
	if (o) {
		add_name(s, o, name);
		answer(s, name, asker, o, o->via == VIA_LOADER ? VIA_LOADER : VIA_LOADED);
		return o;
	}
	load_find(s, name, asker ? asker : s->objects[0], &f);
	o = take(s, name, asker ? asker : s->objects[0], &f);
	*ret_new = s->n > before;
	answer(s, name, asker, o, *ret_new ? o->via : VIA_LOADED);
	return o;
}

/* Everything that the objects from `first` on need, breadth first; what is found joins the queue.
 */
static void load_needed(struct load_session *s, size_t first)
{
	size_t i, k;
	bool is_new;

	for (i = first; i < s->n; i++) {
		const struct load_object *o = s->objects[i];

		if (o->state != LOAD_OK || o->via == VIA_LOADER)
			continue;
		for (k = 0; k < o->elf.n_needed; k++)
			request(s, o->elf.needed[k], o, &is_new);
	}
}

static void preload(struct load_session *s, const char *list, const char *seps)
{
	struct load_object *o;
	bool is_new;
	size_t n;

	while (list && *list) {
		n = strcspn(list, seps);
		if (n) {
			o = request(s, arena_strndup(s->a, list, n), NULL, &is_new);
			/* It says so and goes on without it. */
			if (is_new && o->state != LOAD_OK)
				s->n--;
			else if (is_new)
				o->via = VIA_PRELOAD;
		}
		list += n + (list[n] != '\0');
	}
}

/* /etc/ld.so.preload: as LD_PRELOAD, with comments. */
static const char *preload_file(struct load_session *s)
{
	struct view text;
	char *copy;
	bool comment = false;
	size_t i;

	if (s->w->musl ||
	    sysroot_read(s->w->r, s->a, PRELOAD_FILE, PRELOAD_FILE_MAX, &text, NULL) < 0)
		return NULL;
	copy = arena_strndup(s->a, text.p, text.n);
	for (i = 0; copy[i]; i++) {
		comment = copy[i] == '#' || (comment && copy[i] != '\n');
		if (comment)
			copy[i] = ' ';
	}
	return copy;
}

/* The loader is in the process before anything that is needed. */
static void add_loader(struct load_session *s, const char *interp)
{
	struct load_object proto = { .name = s->w->soname, .path = interp ? interp : s->w->loader,
				     .via = VIA_LOADER };
	struct load_object *o;
	struct stat st;

	if (!s->w->loader)
		return;
	if (sysroot_stat(s->w->r, proto.path, true, &st) == 0) {
		proto.dev = st.st_dev;
		proto.ino = st.st_ino;
	}
	o = add_object(s, &proto);
	add_name(s, o, o->path);
	add_name(s, o, s->w->loader);
	add_name(s, o, "linux-vdso.so.1");
}

struct load_session *load_session_new(struct arena *a, struct ldso_root *w,
				      const struct load_env *env)
{
	struct load_session *s = arena_alloc(a, sizeof(*s));
	size_t i;

	*s = (struct load_session){ .a = a, .w = w, .env = *env };
	s->defaults = arena_alloc(a, sizeof(*s->defaults));
	for (i = 0; i < w->n_dirs; i++)
		*ARENA_APPEND(a, s->defaults->v, s->defaults->n) = ldso_place(w, w->dirs[i]);
	return s;
}

int load_session_main(struct load_session *s, const char *path)
{
	struct load_object proto = { .name = path, .path = path, .via = VIA_MAIN };
	const struct ldso_file *f;
	const char *real;
	int error = 0;

	f = ldso_file(s->w, path, &error);
	if (!f)
		return -error;
	map_object(&proto, f);
	if (proto.state != LOAD_OK)
		return -ENOEXEC;
	/* The kernel hands over a program, and its links are gone then; ldd hands over a library's
	 * path. */
	if (!proto.elf.interp || sysroot_realpath(s->w->r, s->a, path, &real) < 0)
		real = path;
	proto.origin = path_dir(s->a, real);
	add_object(s, &proto);
	add_loader(s, proto.elf.interp);
	s->library_path = load_dirs_new(s, s->env.library_path, ":;", proto.origin);
	preload(s, s->env.preload, " :");
	preload(s, preload_file(s), " :\t\n");
	load_needed(s, 0);
	return 0;
}

const struct load_object *load_session_dlopen(struct load_session *s, const char *name,
					      const struct load_object *caller,
					      const struct load_object **ret_failed)
{
	size_t before = s->n, i;
	const struct load_object *o, *failed = NULL;
	bool is_new;

	o = request(s, arena_strdup(s->a, name), caller, &is_new);
	if (is_new)
		load_needed(s, before);
	for (i = before; i < s->n && !failed; i++)
		if (s->objects[i]->state != LOAD_OK)
			failed = s->objects[i];
	if (failed)
		s->n = before;
	if (ret_failed)
		*ret_failed = failed;
	return o;
}

const struct load_answer *load_session_answers(const struct load_session *s, size_t *ret_n)
{
	*ret_n = s->n_answers;
	return s->answers;
}

bool load_session_skipped_relative(const struct load_session *s)
{
	return s->skipped_relative;
}

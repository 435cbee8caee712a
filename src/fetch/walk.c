/* SPDX-License-Identifier: Apache-2.0 */
/* Decides on entries; touches no file. */
#include "fetch/walk.h"

#include <string.h>

#include "base/arena.h"
#include "fetch/record.h"

enum {
	PATH_LENGTH = 1024,
	PART_LENGTH = 255,
	DEPTH = 32,
	BUCKETS = 4096, /* a power of two */
	RATIO_FREE = 1 << 20, /* bytes before the ratio counts */
};

struct seen {
	struct seen *next;
	const char *path;
	enum walk_kind kind;
	bool implied; /* a folder that only stands in the names of others */
};

struct walk {
	struct arena *a;
	struct walk_limits limits;
	struct seen *buckets[BUCKETS];
	const char *top;
	uint64_t bytes;
	unsigned entries;
	const char *shown; /* name of the entry, for messages */
};

struct walk *walk_new(struct arena *a, const struct walk_limits *limits)
{
	struct walk *w = arena_alloc(a, sizeof(*w));

	w->a = a;
	w->limits = *limits;
	return w;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* FNV-1a. */
static uint64_t hash_byte(uint64_t h, char c)
{
	return (h ^ (unsigned char)c) * UINT64_C(0x100000001b3);
}

uint64_t walk_fingerprint(uint64_t before, const char *name)
{
	uint64_t h = before ? before : UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		h = hash_byte(h, *name);
	return hash_byte(h, '\0');
}

static struct seen **bucket(struct walk *w, const char *path)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *path; path++)
		h = hash_byte(h, lower(*path));
	return &w->buckets[(h ^ (h >> 32)) & (BUCKETS - 1)];
}

static bool same_nocase(const char *a, const char *b)
{
	for (; *a && lower(*a) == lower(*b); a++)
		b++;
	return !*a && !*b;
}

static struct seen *find(struct walk *w, const char *path)
{
	struct seen *s;

	for (s = *bucket(w, path); s; s = s->next)
		if (same_nocase(s->path, path))
			return s;
	return NULL;
}

static void remember(struct walk *w, const char *path, enum walk_kind kind, bool implied)
{
	struct seen **at = bucket(w, path), *s = arena_alloc(w->a, sizeof(*s));

	*s = (struct seen){ .next = *at, .path = path, .kind = kind, .implied = implied };
	*at = s;
}

static int refuse(struct walk *w, struct err *err, const char *why)
{
	return err_set(err, ERR_DATA,
		       _("the archive is refused, nothing is installed: entry \"%.300s\" %s"),
		       w->shown, why);
}

static const char *part_fault(struct view part)
{
	size_t i;

	if (!part.n)
		return _("has an empty part");
	if (view_is(part, ".."))
		return _("holds \"..\"");
	if (view_is(part, "."))
		return _("holds \".\"");
	if (part.n > PART_LENGTH)
		return _("has a part that is too long");
	for (i = 0; i < part.n; i++)
		if ((unsigned char)part.p[i] < ' ' || (unsigned char)part.p[i] > '~' ||
		    part.p[i] == '\\')
			return _("has a character that names do not hold here");
	if (part.n >= 2 && part.p[1] == ':')
		return _("begins like a drive");
	if (part.p[0] == ' ' || part.p[part.n - 1] == ' ')
		return _("begins or ends with a blank");
	return NULL;
}

/*
 * The path below the top folder: *ret is empty for the top folder itself. One "./" in front and one
 * "/" behind are what tar writes; nothing else is mended.
 */
static const char *strip(struct walk *w, const char *name, struct view *ret)
{
	struct view v = view_of(name), rest, part;
	const char *why;
	int depth = 0;

	if (v.n > PATH_LENGTH)
		return _("has a name that is too long");
	if (v.n && v.p[0] == '/')
		return _("has an absolute name");
	if (view_starts(v, "./"))
		v = view_skip(v, 2);
	else if (view_is(v, "."))
		v.n = 0;
	if (v.n && v.p[v.n - 1] == '/')
		v.n--;
	*ret = (struct view){ .p = v.p };
	if (!v.n)
		return *name ? NULL : _("has an empty name");
	for (rest = v; rest.n || depth == 0; depth++) {
		part = view_cut(rest, '/', &rest);
		why = part_fault(part);
		if (why)
			return why;
		if (depth == DEPTH)
			return _("lies too deep");
		if (depth == 0) {
			if (!w->top)
				w->top = view_dup(w->a, part);
			if (!view_is(part, w->top))
				return _("does not lie in the archive's top folder");
			*ret = rest;
		}
	}
	return NULL;
}

/*
 * A link's target: "..", then names. Where the ".." lead is known, since no folder above an entry
 * is a link; behind a name there could be one, so that no ".." is taken there.
 */
static const char *link_fault(const char *path, const char *target)
{
	struct view rest = view_of(target), part;
	int depth = 0;
	bool names = false;
	size_t i;

	if (!rest.n || rest.n > PATH_LENGTH)
		return _("is a link to nothing that can be");
	if (rest.p[0] == '/')
		return _("is a link to an absolute name");
	for (i = 0; path[i]; i++)
		depth += path[i] == '/';
	while (rest.n) {
		part = view_cut(rest, '/', &rest);
		if (view_is(part, "..")) {
			if (names)
				return _("is a link with \"..\" behind a name");
			if (--depth < 0)
				return _("is a link that leads out");
			continue;
		}
		if (part_fault(part))
			return _("is a link to an odd name");
		names = true;
	}
	return names ? NULL : _("is a link to a folder above it");
}

/* Parents that have no entry of their own are folders; none of them may be anything else. */
static const char *parents_fault(struct walk *w, const char *path)
{
	const char *slash;

	for (slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		const char *dir = arena_strndup(w->a, path, (size_t)(slash - path));
		const struct seen *s = find(w, dir);

		if (!s)
			remember(w, dir, WALK_DIR, true);
		else if (s->kind != WALK_DIR)
			return _("lies below what is no folder");
		else if (strcmp(s->path, dir) != 0)
			return _("differs from another in case alone");
	}
	return NULL;
}

static const char *type_fault(const struct packed_member *m)
{
	if (m->is_locked)
		return _("is encrypted");
	if (m->type == '?')
		return _("is a device, a pipe or another thing that has no place in it");
	if (m->mode & 06000)
		return _("has a set-id bit");
	if ((m->mode & 01000) && m->type != 'd')
		return _("has a sticky bit");
	if (m->capabilities)
		return _("brings file capabilities");
	if ((m->type == 'l' || m->type == 'h') && !m->link)
		return _("is a link whose target cannot be read");
	return NULL;
}

static const char *name_fault(struct walk *w, const struct packed_member *m, const char *path)
{
	struct seen *s = find(w, path);

	if (strncmp(path, RECORD_PREFIX, strlen(RECORD_PREFIX)) == 0)
		return _("has a name that cuvet keeps for itself");
	if (!s)
		return NULL;
	if (strcmp(s->path, path) != 0)
		return _("differs from another in case alone");
	if (s->kind == WALK_DIR && s->implied && m->type == 'd') {
		s->implied = false;
		return NULL;
	}
	return _("comes twice");
}

static const char *hard_fault(struct walk *w, const char *target, const char **ret)
{
	struct view rest;
	const struct seen *s;

	if (strip(w, target, &rest) || !rest.n)
		return _("is a hard link to outside");
	*ret = view_dup(w->a, rest);
	s = find(w, *ret);
	if (!s || s->kind != WALK_FILE || strcmp(s->path, *ret) != 0)
		return _("is a hard link to what is no file before it");
	return NULL;
}

static const char *fault(struct walk *w, const struct packed_member *m, struct walk_entry *e,
			 bool *ret_top)
{
	const char *why = m->name_ok ? NULL : _("has a name that cannot be read");
	struct view rest = { .p = "" };

	if (!why)
		why = strip(w, m->name, &rest);
	if (!why)
		why = type_fault(m);
	if (why)
		return why;
	*ret_top = !rest.n;
	if (!rest.n)
		return m->type == 'd' ? NULL : _("lies in no folder");
	e->path = view_dup(w->a, rest);
	e->kind = (enum walk_kind)m->type;
	why = name_fault(w, m, e->path);
	if (!why)
		why = parents_fault(w, e->path);
	if (!why && m->type == 'l')
		why = link_fault(e->path, m->link);
	if (!why && m->type == 'h')
		why = hard_fault(w, m->link, &e->link);
	return why;
}

int walk_admit(struct walk *w, const struct packed_member *m, struct walk_entry *ret,
	       struct err *err)
{
	struct walk_entry e = { .size = m->size, .mode = m->mode & 0111 ? 0755 : 0644 };
	const char *why;
	bool top = false;

	w->shown = m->name;
	if (++w->entries > w->limits.entries)
		return err_set(
			err, ERR_TOOBIG,
			_("the archive is refused, nothing is installed: more than %u entries"),
			w->limits.entries);
	why = fault(w, m, &e, &top);
	if (why)
		return refuse(w, err, why);
	if (top)
		return 0;
	if (e.kind == WALK_LINK)
		e.link = arena_strdup(w->a, m->link);
	if (e.kind == WALK_FILE && w->bytes + m->size > w->limits.total)
		return walk_bytes(w, m->size, err);
	if (!find(w, e.path))
		remember(w, e.path, e.kind == WALK_HARD ? WALK_FILE : e.kind, false);
	*ret = e;
	return 1;
}

int walk_bytes(struct walk *w, uint64_t n, struct err *err)
{
	const struct walk_limits *l = &w->limits;

	w->bytes += n;
	if (w->bytes > l->total)
		return err_set(
			err, ERR_TOOBIG,
			_("the archive is refused, nothing is installed: it unpacks to more than %llu MiB at \"%.300s\" "
			  "(--max-size SIZE raises the limit)"),
			(unsigned long long)(l->total >> 20), w->shown);
	if (l->archive && w->bytes > RATIO_FREE && w->bytes / l->ratio > l->archive)
		return err_set(
			err, ERR_TOOBIG,
			_("the archive is refused, nothing is installed: it unpacks to more than %u times its size at "
			  "\"%.300s\" (--max-size SIZE raises the limit)"),
			l->ratio, w->shown);
	return 0;
}

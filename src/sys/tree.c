/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a tree that is not on a disk. Paths are taken apart here alone; ".." never leaves. */
#include "sys/tree.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/view.h"

enum {
	NODES_MAX = 2000000,
	SLOTS_FIRST = 1 << 12,
	DEPTH_MAX = 256,
	LINKS_MAX = 40,
	NAME_LIMIT = 255
};

struct ftree *ftree_new(struct arena *a)
{
	struct ftree *t = arena_calloc(a, 1, sizeof(*t));

	t->a = a;
	t->n_slots = SLOTS_FIRST;
	t->slots = arena_calloc(a, t->n_slots, sizeof(*t->slots));
	t->root.name = "";
	t->root.mode = S_IFDIR | 0755;
	return t;
}

static size_t hash(const struct tree_node *parent, struct view name)
{
	uint64_t h = (uintptr_t)parent / 16 * UINT64_C(0x9e3779b97f4a7c15);
	size_t i;

	for (i = 0; i < name.n; i++)
		h = (h ^ (unsigned char)name.p[i]) * UINT64_C(0x100000001b3);
	return (size_t)(h ^ h >> 29);
}

static struct tree_node **slot(const struct ftree *t, const struct tree_node *parent,
			       struct view name)
{
	size_t i = hash(parent, name);

	for (;; i++) {
		struct tree_node **s = &t->slots[i & (t->n_slots - 1)];

		if (!*s || ((*s)->parent == parent && view_is(name, (*s)->name)))
			return s;
	}
}

static void grow(struct ftree *t)
{
	struct tree_node **old = t->slots;
	size_t n = t->n_slots, i;

	t->n_slots *= 2;
	t->slots = arena_calloc(t->a, t->n_slots, sizeof(*t->slots));
	for (i = 0; i < n; i++)
		if (old[i])
			*slot(t, old[i]->parent, view_of(old[i]->name)) = old[i];
}

static struct tree_node *child(const struct ftree *t, const struct tree_node *dir, struct view name)
{
	struct tree_node *n = *slot(t, dir, name);

	return n && !n->gone ? n : NULL;
}

/* The child of that name, made anew or revived when it is not there. */
static struct tree_node *add_child(struct ftree *t, struct tree_node *dir, struct view name)
{
	struct tree_node **s = slot(t, dir, name), *n = *s;

	if (n)
		return n;
	if (t->n >= NODES_MAX) {
		t->full = true;
		return NULL;
	}
	if (t->n * 2 >= t->n_slots) {
		grow(t);
		s = slot(t, dir, name);
	}
	n = arena_calloc(t->a, 1, sizeof(*n));
	n->name = arena_strndup(t->a, name.p, name.n);
	n->parent = dir;
	n->gone = true;
	n->next = dir->children;
	dir->children = n;
	*s = n;
	t->n++;
	return n;
}

/*
 * Everything below goes that was put there before `layer`; a folder stays for what a later layer
 * put into it. Is anything left?
 */
static bool drop(struct tree_node *dir, unsigned layer, unsigned depth)
{
	struct tree_node *n;
	bool left = false, below;

	if (depth > DEPTH_MAX)
		return true;
	for (n = dir->children; n; n = n->next) {
		if (n->gone)
			continue;
		below = drop(n, layer, depth + 1);
		if (n->layer < layer && !below)
			n->gone = true;
		left |= !n->gone;
	}
	return left;
}

static struct tree_node *make_folder(struct tree_node *n, unsigned layer)
{
	if (!n)
		return NULL;
	n->gone = false;
	n->mode = S_IFDIR | 0755;
	n->link = NULL;
	n->data = NULL;
	n->layer = layer;
	return n;
}

/* Next component; false at the end. "." and doubled slashes are passed over. */
static bool component(struct view *rest, struct view *ret)
{
	do {
		if (!rest->n)
			return false;
		*ret = view_cut(*rest, '/', rest);
	} while (!ret->n || view_is(*ret, "."));
	return true;
}

static bool more(struct view rest)
{
	struct view c;

	return component(&rest, &c);
}

/* Is it a name that a file can have? */
static bool possible(struct view name)
{
	return name.n <= NAME_LIMIT && !view_is(name, "..") && !memchr(name.p, '\0', name.n);
}

/* The folder above the last component, made where it is not there; *ret_name is that component. */
static struct tree_node *above(struct ftree *t, const char *path, unsigned layer,
			       struct view *ret_name)
{
	struct view rest = view_of(path), c;
	struct tree_node *dir = &t->root, *n;
	const struct tree_node *led;
	char real[PATH_MAX];
	unsigned depth = 0;

	if (strlen(path) >= PATH_MAX)
		return NULL;
	while (component(&rest, &c)) {
		if (!possible(c) || ++depth > DEPTH_MAX)
			return NULL;
		if (!more(rest)) {
			*ret_name = c;
			return dir;
		}
		n = add_child(t, dir, c);
		if (!n)
			return NULL;
		if (!n->gone && S_ISLNK(n->mode)) {
			/* /lib leads to /usr/lib: what a layer puts there goes where it leads. */
			char at[PATH_MAX];
			size_t off = (size_t)(c.p + c.n - path);

			memcpy(at, path, off);
			at[off] = '\0';
			if (ftree_find(t, at, true, real, &led) == 0 && S_ISDIR(led->mode)) {
				dir = (struct tree_node *)(uintptr_t)led;
				continue;
			}
		}
		if (n->gone || !S_ISDIR(n->mode))
			n = make_folder(n, layer);
		dir = n;
	}
	return NULL;
}

struct tree_node *ftree_put(struct ftree *t, const char *path, mode_t mode, unsigned layer)
{
	struct view name;
	struct tree_node *dir = above(t, path, layer, &name),
			 *n = dir ? add_child(t, dir, name) : NULL;

	if (!n)
		return NULL;
	/* What is no folder any longer holds nothing; a folder that was gone comes back empty. */
	if (n->gone || !S_ISDIR(mode) || !S_ISDIR(n->mode))
		drop(n, layer + 1, 0);
	n->gone = false;
	n->mode = mode;
	n->layer = layer;
	n->link = NULL;
	n->data = NULL;
	return n;
}

void ftree_remove(struct ftree *t, const char *path, unsigned layer)
{
	const struct tree_node *found;
	struct tree_node *n;

	if (ftree_find(t, path, false, NULL, &found) != 0 || found == &t->root)
		return;
	n = (struct tree_node *)(uintptr_t)found;
	if (!drop(n, layer, 0) && n->layer < layer)
		n->gone = true;
}

void ftree_make_opaque(struct ftree *t, const char *path, unsigned layer)
{
	const struct tree_node *found;

	if (ftree_find(t, path, true, NULL, &found) == 0)
		drop((struct tree_node *)(uintptr_t)found, layer, 0);
}

/* -------- looking up */

struct walk {
	char todo[PATH_MAX]; /* what is still to be gone through */
	const struct tree_node *at;
	unsigned links;
};

/* Puts the link's target in front of what is still to do. */
static int follow_link(const struct ftree *t, struct walk *w, const struct tree_node *n,
		       struct view rest)
{
	char next[PATH_MAX];
	size_t k = strlen(n->link);

	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if (!k)
		return -ENOENT;
	if (k + 1 + rest.n >= sizeof(next))
		return -ENAMETOOLONG;
	memcpy(next, n->link, k);
	next[k] = '/';
	memcpy(next + k + 1, rest.p, rest.n);
	next[k + 1 + rest.n] = '\0';
	if (n->link[0] == '/')
		w->at = &t->root;
	memcpy(w->todo, next, k + 2 + rest.n);
	return 0;
}

static int path_of(const struct tree_node *n, char *ret)
{
	const struct tree_node *up;
	size_t len = 0, k;

	for (up = n; up->parent; up = up->parent)
		len += strlen(up->name) + 1;
	if (len >= PATH_MAX)
		return -ENAMETOOLONG;
	if (!len) {
		memcpy(ret, "/", 2);
		return 0;
	}
	ret[len] = '\0';
	for (up = n; up->parent; up = up->parent) {
		k = strlen(up->name);
		len -= k;
		memcpy(ret + len, up->name, k);
		ret[--len] = '/';
	}
	return 0;
}

int ftree_find(const struct ftree *t, const char *path, bool follow, char *ret_path,
	      const struct tree_node **ret)
{
	struct walk w = { .at = &t->root };
	struct view rest, c;
	int e;

	if (!path[0])
		return -ENOENT;
	if (strlen(path) >= sizeof(w.todo))
		return -ENAMETOOLONG;
	memcpy(w.todo, path, strlen(path) + 1);
	rest = view_of(w.todo);
	while (component(&rest, &c)) {
		const struct tree_node *n;

		if (!S_ISDIR(w.at->mode))
			return -ENOTDIR;
		if (view_is(c, "..")) {
			if (w.at->parent)
				w.at = w.at->parent;
			continue;
		}
		n = child(t, w.at, c);
		if (!n)
			return -ENOENT;
		if (S_ISLNK(n->mode) && (follow || more(rest))) {
			e = follow_link(t, &w, n, rest);
			if (e)
				return e;
			rest = view_of(w.todo);
			continue;
		}
		w.at = n;
	}
	*ret = w.at;
	return ret_path ? path_of(w.at, ret_path) : 0;
}

void ftree_stat(const struct tree_node *n, struct stat *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->st_mode = n->mode;
	ret->st_ino = (ino_t)(uintptr_t)n;
	ret->st_nlink = 1;
	if (n->data && n->data->size < INT64_MAX)
		ret->st_size = (off_t)n->data->size;
}

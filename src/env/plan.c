/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has to be set for a toolkit and a cuDNN. Never a stubs folder, never a compat folder, and
 * LD_LIBRARY_PATH only where the loader needs it.
 */
#include <string.h>

#include "base/arena.h"
#include "env/env.h"
#include "rule/look.h"

/* CUDNN_ROOT is CMake's, CUDNN_PATH NVIDIA's own packages', CUDNN_HOME older ones'. */
const struct env_name env_names[] = {
	{ .name = "PATH", .kind = ENV_LIST },
	{ .name = "LD_LIBRARY_PATH", .kind = ENV_LIST },
	{ .name = "CPATH", .kind = ENV_LIST },
	{ .name = "LIBRARY_PATH", .kind = ENV_LIST },
	{ .name = "MANPATH", .kind = ENV_MANLIST },
	{ .name = "CUDA_HOME", .kind = ENV_SCALAR },
	{ .name = "CUDA_PATH", .kind = ENV_SCALAR },
	{ .name = "CUDNN_HOME", .kind = ENV_SCALAR },
	{ .name = "CUDNN_PATH", .kind = ENV_SCALAR },
	{ .name = "CUDNN_ROOT", .kind = ENV_SCALAR },
	{ .name = NULL },
};

static struct env_item *item_of(struct arena *a, struct env_set *set, const char *name)
{
	struct env_item *it;
	size_t i;

	for (i = 0; i < set->n_items; i++)
		if (strcmp(set->items[i].name, name) == 0)
			return &set->items[i];
	it = ARENA_APPEND(a, set->items, set->n_items);
	it->name = name;
	for (i = 0; env_names[i].name; i++)
		if (strcmp(env_names[i].name, name) == 0)
			it->kind = env_names[i].kind;
	return it;
}

static void put(struct arena *a, struct env_set *set, const char *name, const char *value)
{
	struct env_item *it = item_of(a, set, name);
	size_t i;

	for (i = 0; i < it->n; i++)
		if (strcmp(it->values[i], value) == 0)
			return;
	*ARENA_APPEND(a, it->values, it->n) = value;
}

static void note(struct arena *a, struct env_set *set, const char *text)
{
	*ARENA_APPEND(a, set->notes, set->n_notes) = text;
}

static void add_lib(struct arena *a, const struct sysroot *root, struct env_set *set,
		    const char *dir, bool always)
{
	*ARENA_APPEND(a, set->lib_dirs, set->n_lib_dirs) = dir;
	if (always || !env_loader_finds(root, a, dir))
		put(a, set, "LD_LIBRARY_PATH", dir);
	else
		note(a, set,
		     arena_printf(
			     a, _("LD_LIBRARY_PATH is left alone: the loader's cache leads to %s"),
			     dir));
}

/* A wheel of PyTorch loads what came with it; a toolkit in front would only get into its way. */
static bool wheels_bring_theirs(const struct snapshot *s)
{
	const struct python *p = look_deciding(s);

	if (!p || !fact_known(&p->torch.version))
		return false;
	return python_package(p, "nvidia-cuda-runtime-cu12") ||
	       python_package(p, "nvidia-cuda-runtime-cu11") ||
	       python_package(p, "nvidia-cuda-runtime");
}

static void add_man(struct arena *a, const struct sysroot *root, struct env_set *set)
{
	static const char *const dirs[] = { "share/man", "doc/man", "man" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(dirs); i++)
		if (sysroot_is_dir(root, path_join(a, set->toolkit, dirs[i])))
			put(a, set, "MANPATH", path_join(a, set->toolkit, dirs[i]));
}

static void add_toolkit(struct arena *a, const struct sysroot *root, const struct snapshot *s,
			const struct env_request *q, const struct env_toolkit *t,
			struct env_set *set)
{
	set->toolkit = t->prefix;
	set->version = t->version;
	set->why = t->why;
	put(a, set, "PATH", path_join(a, t->prefix, "bin"));
	if (!q->unset && !t->asked && !q->elsewhere && wheels_bring_theirs(s))
		note(a, set,
		     _("LD_LIBRARY_PATH is left alone: the wheels of PyTorch bring their own "
		       "libraries, and a toolkit's would hide them"));
	else
		add_lib(a, root, set, t->lib, q->unset || q->elsewhere);
	if (q->dev || q->unset) {
		put(a, set, "CPATH", path_join(a, t->prefix, "include"));
		put(a, set, "LIBRARY_PATH", t->lib);
	}
	add_man(a, root, set);
	put(a, set, "CUDA_HOME", t->prefix);
	put(a, set, "CUDA_PATH", t->prefix);
}

static void add_cudnn(struct arena *a, const struct sysroot *root, const struct env_request *q,
		      struct env_set *set)
{
	const char *lib = env_cudnn_lib(root, a, set->cudnn);

	add_lib(a, root, set, lib, q->unset || q->elsewhere);
	if (!q->dev && !q->unset)
		return;
	put(a, set, "CPATH", path_join(a, set->cudnn, "include"));
	put(a, set, "LIBRARY_PATH", lib);
	put(a, set, "CUDNN_HOME", set->cudnn);
	put(a, set, "CUDNN_PATH", set->cudnn);
	put(a, set, "CUDNN_ROOT", set->cudnn);
}

/* C:\... or C:/...: a prefix of Windows, which this system cannot look into. */
static bool is_windows_prefix(const char *p)
{
	return ((p[0] >= 'A' && p[0] <= 'Z') || (p[0] >= 'a' && p[0] <= 'z')) && p[1] == ':' &&
	       (p[2] == '\\' || p[2] == '/');
}

static void windows(struct arena *a, const char *prefix, bool dev, struct env_set *set)
{
	set->windows = true;
	set->toolkit = prefix;
	set->why = _("named by --cuda; paths of Windows are not looked into from here");
	put(a, set, "PATH", arena_printf(a, "%s\\bin", prefix));
	put(a, set, "CUDA_HOME", prefix);
	put(a, set, "CUDA_PATH", prefix);
	if (dev)
		note(a, set, _("nvcc finds its headers and libraries on Windows by itself"));
}

static int lists_can_hold(const struct env_set *set, struct err *err)
{
	char sep = set->windows ? ';' : ':';
	size_t i, k;

	for (i = 0; i < set->n_items; i++)
		for (k = 0; set->items[i].kind != ENV_SCALAR && k < set->items[i].n; k++)
			if (strchr(set->items[i].values[k], sep))
				return err_set(err, ERR_USAGE,
					       _("%.300s: a search path cannot hold a '%c', which "
						 "separates its elements"),
					       set->items[i].values[k], sep);
	return 0;
}

/* A toolkit that the driver does not run is said to be one, and set all the same. */
static void note_driver(struct arena *a, struct compat *c, const struct snapshot *s,
			struct env_set *set)
{
	const struct fact *driver = look_cuda_driver(s);
	const char *least;
	bool inferred;

	if (!set->version || !driver || !fact_known(driver))
		return;
	least = compat_min_driver(c, set->version, look_is_windows(s), &inferred);
	if (least && look_driver_below(driver->value, least))
		note(a, set,
		     arena_printf(a,
				  _("driver %s does not run CUDA %s, which needs %s: it compiles "
				    "here and starts elsewhere"),
				  driver->value, set->version, least));
}

/* One that is installed goes along, if machine and CUDA are known and no wheel brings its own. */
static bool wants_cudnn(struct arena *a, const struct snapshot *s, struct env_set *set)
{
	if (!set->version || fact_is(&s->source, "assumed"))
		return false;
	if (!wheels_bring_theirs(s))
		return true;
	note(a, set, _("no cuDNN is added: PyTorch's wheels bring theirs"));
	return false;
}

int env_plan(struct arena *a, const struct sysroot *root, struct compat *c,
	     const struct snapshot *s, const struct env_request *q, struct env_set *ret,
	     struct err *err)
{
	struct env_set set = { .dev = q->dev, .unset = q->unset };
	struct env_toolkit t = { .prefix = NULL };
	int r;

	if (q->unset && !q->cuda && !q->cudnn) {
		*ret = set;
		return 0;
	}
	if (q->cuda && is_windows_prefix(q->cuda)) {
		windows(a, q->cuda, q->dev, &set);
	} else if (!q->unset || q->cuda) {
		r = env_choose_toolkit(a, root, c, s, q->cuda, &t, err);
		if (r)
			return r;
		add_toolkit(a, root, s, q, &t, &set);
		note_driver(a, c, s, &set);
	}
	if (!set.windows && (!q->unset || q->cudnn)) {
		r = 0;
		if (q->cudnn || wants_cudnn(a, s, &set))
			r = env_choose_cudnn(a, root, s, q->cudnn, set.version, &set.cudnn, err);
		if (r)
			return r;
		if (set.cudnn)
			add_cudnn(a, root, q, &set);
	}
	r = lists_can_hold(&set, err);
	if (!r)
		*ret = set;
	return r;
}

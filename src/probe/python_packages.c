/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Installed packages by the names of their metadata folders; reads the metadata of few and imports
 * none.
 */
#include <string.h>

#include "base/arena.h"
#include "probe/python.h"

enum {
	PACKAGES_MAX = 5000,
	NAMES_MAX = 50000,
	TEXT_MAX = 1 << 16,
	SLOTS = 1 << 14 /* more than twice the packages */
};

struct packages {
	struct probe_ctx *p;
	struct python *out;
	unsigned short *slots; /* 1 + index, by hash of the name */
	bool cut;
};

static unsigned short *slot(struct packages *k, const char *name)
{
	unsigned h = 5381;
	const char *c;

	for (c = name; *c; c++)
		h = h * 33 + (unsigned char)*c;
	for (;; h++) {
		unsigned short *s = &k->slots[h % SLOTS];

		if (!*s || fact_is(&k->out->packages[*s - 1].name, name))
			return s;
	}
}

/* Packages whose files are read: the frameworks and what they load. */
static bool matters(const char *name)
{
	static const char *const stems[] = {
		"torch",	  "nvidia-",	 "jax",	     "tensorflow", "triton",
		"pytorch-triton", "onnxruntime", "xformers", "flash-",	   "bitsandbytes",
		"numpy",	  "vllm",	 "cupy",     "apex",	   "deepspeed",
	};

	return py_begins(name, stems, ARRAY_LEN(stems));
}

/* Conda packages whose channel matters. */
static bool channel_matters(const char *name)
{
	static const char *const stems[] = { "pytorch", "libtorch", "torch",  "cuda",
					     "cudnn",	"libcudnn", "jaxlib", "tensorflow" };

	return py_begins(name, stems, ARRAY_LEN(stems));
}

/* A new package, or NULL when one of that name came first on the path or there are too many. */
static struct package *new_package(struct packages *k, const char *name)
{
	unsigned short *s = slot(k, name);

	if (*s)
		return NULL;
	if (k->out->n_packages == PACKAGES_MAX) {
		k->cut = true;
		return NULL;
	}
	struct package *pkg = ARENA_APPEND(k->p->a, k->out->packages, k->out->n_packages);

	*s = (unsigned short)k->out->n_packages;
	return pkg;
}

/*
 * "numpy-1.26.4" and "foo-bar-1.0-py3.10": the version begins behind the first '-' that a digit
 * follows.
 */
static void split_name(struct view stem, struct view *ret_name, struct view *ret_version)
{
	size_t i;

	*ret_name = stem;
	*ret_version = (struct view){ .p = stem.p + stem.n, .n = 0 };
	for (i = 1; i + 1 < stem.n; i++) {
		if (stem.p[i] != '-' || stem.p[i + 1] < '0' || stem.p[i + 1] > '9')
			continue;
		*ret_name = (struct view){ .p = stem.p, .n = i };
		*ret_version = view_cut(view_skip(stem, i + 1), '-', &stem);
		return;
	}
}

static bool read_text(struct packages *k, const char *dir, const char *name, struct view *ret)
{
	return sysroot_read(k->p->root, k->p->a, path_join(k->p->a, dir, name), TEXT_MAX, ret,
			    NULL) == 0;
}

static void read_details(struct packages *k, struct package *pkg, const char *meta)
{
	const char *name = pkg->name.value, *tag, *installer;
	struct view text;

	if (strncmp(name, "torch", 5) == 0 && read_text(k, meta, "WHEEL", &text)) {
		tag = py_wheel_tag(k->p->a, text);
		if (tag)
			fact_set(&pkg->tag, tag, path_join(k->p->a, meta, "WHEEL"));
	}
	if (sysroot_read_line(k->p->root, k->p->a, path_join(k->p->a, meta, "INSTALLER"),
			      &installer) == 0 &&
	    py_is_word(view_of(installer)))
		fact_set(&pkg->installer, installer, path_join(k->p->a, meta, "INSTALLER"));
}

/* The version that only the file says ("foo.egg-info" of a development install). */
static void version_of_file(struct packages *k, struct package *pkg, const char *meta,
			    const char *file)
{
	struct py_metadata m = { 0 };
	struct view text;

	if (read_text(k, meta, file, &text))
		py_metadata_parse(k->p->a, text, &m);
	if (m.version)
		fact_set(&pkg->version, m.version, path_join(k->p->a, meta, file));
}

static void add_metadata(struct packages *k, const char *dir, const char *entry)
{
	struct view stem = view_of(entry), name, version;
	bool wheel = view_ends(stem, ".dist-info");
	const char *normal, *meta;
	struct package *pkg;

	if (!wheel && !view_ends(stem, ".egg-info"))
		return;
	stem.n -= wheel ? strlen(".dist-info") : strlen(".egg-info");
	split_name(stem, &name, &version);
	normal = py_normalize(k->p->a, name);
	if (!normal) /* no package can have that name */
		return;
	pkg = new_package(k, normal);
	if (!pkg)
		return;
	meta = path_join(k->p->a, dir, entry);
	fact_set(&pkg->name, normal, meta);
	fact_set(&pkg->location, dir, meta);
	if (py_is_word(version))
		fact_set(&pkg->version, view_dup(k->p->a, version), meta);
	else if (version.n)
		fact_broken(&pkg->version, meta, N_("no version"));
	else if (matters(normal))
		version_of_file(k, pkg, meta, wheel ? "METADATA" : "PKG-INFO");
	if (wheel && matters(normal))
		read_details(k, pkg, meta);
}

/*
 * "https://conda.anaconda.org/conda-forge/linux-64" is conda-forge, ".../pkgs/main/linux-64" is
 * pkgs/main. A private channel's token ("/t/TOKEN/") is left out.
 */
static const char *channel_name(struct arena *a, struct view url)
{
	ptrdiff_t at = view_find(url, "://"), end;
	struct view rest = url, last;

	if (at >= 0) {
		rest = view_skip(url, (size_t)at + 3);
		view_cut(rest, '/', &rest);
	}
	if (view_starts(rest, "t/")) {
		view_cut(view_skip(rest, 2), '/', &rest);
	}
	while (rest.n && rest.p[rest.n - 1] == '/')
		rest.n--;
	for (end = (ptrdiff_t)rest.n; end > 0 && rest.p[end - 1] != '/'; end--)
		;
	last = view_skip(rest, (size_t)end);
	if (end > 0 && (view_starts(last, "linux-") || view_is(last, "noarch") ||
			view_starts(last, "osx-") || view_starts(last, "win-")))
		rest.n = (size_t)end - 1;
	for (at = 0; (size_t)at < rest.n; at++)
		if (rest.p[at] != '/' && !py_is_word((struct view){ .p = rest.p + at, .n = 1 }))
			return NULL;
	return rest.n ? view_dup(a, rest) : NULL;
}

/*
 * Keys are sorted in these files, so "channel" stands near the top; the rest can be megabytes of
 * file names.
 */
const char *py_conda_channel(struct arena *a, struct view text)
{
	ptrdiff_t at = view_find(text, "\"channel\"");

	if (at < 0)
		return NULL;
	text = view_trim(view_skip(text, (size_t)at + strlen("\"channel\"")));
	if (!view_starts(text, ":"))
		return NULL;
	text = view_trim(view_skip(text, 1));
	if (!view_starts(text, "\""))
		return NULL;
	return channel_name(a, view_cut(view_skip(text, 1), '"', &text));
}

static const char *read_channel(struct packages *k, const char *path)
{
	struct view text;

	if (sysroot_read(k->p->root, k->p->a, path, TEXT_MAX, &text, NULL) != 0)
		return NULL;
	return py_conda_channel(k->p->a, text);
}

/* NAME-VERSION-BUILD.json */
static void add_conda(struct packages *k, const char *dir, const char *entry)
{
	struct view stem = view_of(entry), part[3];
	const char *normal, *path, *channel;
	unsigned short *s;
	struct package *pkg;
	int i;

	if (!view_ends(stem, ".json"))
		return;
	stem.n -= strlen(".json");
	for (i = 2; i > 0; i--) {
		size_t at = stem.n;

		while (at && stem.p[at - 1] != '-')
			at--;
		if (!at)
			return;
		part[i] = view_skip(stem, at);
		stem.n = at - 1;
	}
	/* Names like _libgcc_mutex are conda's own and of no interest. */
	normal = py_normalize(k->p->a, stem);
	if (!normal || !py_is_word(part[1]) || !py_is_word(part[2]))
		return;
	path = path_join(k->p->a, dir, entry);
	s = slot(k, normal);
	pkg = *s ? &k->out->packages[*s - 1] : new_package(k, normal);
	if (!pkg)
		return;
	if (!fact_known(&pkg->name)) {
		fact_set(&pkg->name, normal, path);
		fact_set(&pkg->version, view_dup(k->p->a, part[1]), path);
		fact_set(&pkg->location, dir, path);
		fact_set(&pkg->installer, "conda", path);
	} else if (fact_known(&pkg->build) || !view_is(part[1], fact_value(&pkg->version, ""))) {
		return; /* pip put another version over it */
	}
	fact_set(&pkg->build, view_dup(k->p->a, part[2]), path);
	channel = channel_matters(normal) ? read_channel(k, path) : NULL;
	if (channel)
		fact_set(&pkg->channel, channel, path);
}

static void list_into(struct packages *k, const char *dir,
		      void (*fn)(struct packages *k, const char *dir, const char *entry))
{
	struct dirlist l;
	size_t i;

	if (sysroot_list(k->p->root, k->p->a, dir, NAMES_MAX, &l) != 0)
		return;
	k->cut |= l.cut;
	for (i = 0; i < l.n; i++)
		fn(k, dir, l.names[i]);
}

void py_packages(struct probe_ctx *p, const struct py_env *e, struct python *out)
{
	struct packages k = { .p = p, .out = out };
	const char **dirs;
	size_t n, i;

	k.slots = arena_calloc(p->a, SLOTS, sizeof(*k.slots));
	dirs = py_site_dirs(p, e, &n);
	for (i = 0; i < n; i++)
		list_into(&k, dirs[i], add_metadata);
	if (e->kind == PY_CONDA)
		list_into(&k, path_join(p->a, e->prefix, "conda-meta"), add_conda);
	fact_list_set(&out->site_dirs, dirs, n, e->prefix);
	if (k.cut)
		out->site_dirs.why = N_("not all packages were listed: there are too many");
}

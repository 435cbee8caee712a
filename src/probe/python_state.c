/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which state an environment is: what a broken installation left, copies of one package, from
 * where packages came and what they require, a torch.py that hides PyTorch. Reads metadata alone.
 */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "probe/python.h"

enum { NAMES_MAX = 50000, TEXT_MAX = 256 << 10, LIST_MAX = 64, REQUIRES_MAX = 64, ENVS_MAX = 16 };

/* Packages whose requirements decide whether a GPU is used. */
static bool matters(const char *name)
{
	static const char *const stems[] = {
		"torch",	   "vllm",	"xformers",   "flash-attn", "bitsandbytes",
		"deepspeed",	   "jax",	"tensorflow", "triton",	    "cupy",
		"onnxruntime-gpu", "lightning", "accelerate", "auto-gptq",  "mmcv",
		"detectron2",	   "apex",	"fastai",
	};

	return py_begins(name, stems, ARRAY_LEN(stems));
}

/* A requirement as it stands: printable ASCII, without what only an extra asks for. */
static const char *requirement(struct arena *a, struct view v)
{
	size_t i;

	if (!v.n || v.n > 200 || view_find(v, "extra ==") >= 0 || view_find(v, "extra==") >= 0)
		return NULL;
	for (i = 0; i < v.n; i++)
		if (v.p[i] < ' ' || v.p[i] > '~')
			return NULL;
	return view_dup(a, v);
}

static void read_requires(struct probe_ctx *p, struct package *pkg, const char *meta)
{
	const char *path = path_join(p->a, meta, "METADATA"), **list = NULL, *r;
	struct view text, line;
	size_t n = 0;

	if (sysroot_read(p->root, p->a, path, TEXT_MAX, &text, NULL) != 0)
		return;
	while (n < REQUIRES_MAX && view_line(&text, &line) && line.n) {
		if (!view_starts(line, "Requires-Dist:"))
			continue;
		r = requirement(p->a, view_trim(view_skip(line, strlen("Requires-Dist:"))));
		if (r)
			*ARENA_APPEND(p->a, list, n) = r;
	}
	fact_list_set(&pkg->requires, list, n, path);
}

/* direct_url.json of PEP 610: what was not taken from an index. */
static void read_url(struct probe_ctx *p, struct package *pkg, const char *meta)
{
	const char *path = path_join(p->a, meta, "direct_url.json"), *url;
	const struct json *doc;
	struct view text;

	if (sysroot_read(p->root, p->a, path, TEXT_MAX, &text, NULL) != 0 ||
	    json_parse(p->a, text, path, &doc, NULL) != 0)
		return;
	url = json_get_str(doc, "url");
	if (url && requirement(p->a, view_of(url)))
		fact_set(&pkg->direct_url, url, path);
}

static struct package *find(struct python *out, const char *name)
{
	size_t i;

	for (i = 0; i < out->n_packages; i++)
		if (fact_is(&out->packages[i].name, name))
			return &out->packages[i];
	return NULL;
}

/* "foo-1.0.dist-info": the package of that name, when this is its metadata or another copy of it.
 */
static void look_at(struct probe_ctx *p, struct python *out, const char *dir, const char *entry)
{
	struct view stem = view_of(entry), rest, name;
	const char *meta, *normal;
	struct package *pkg;

	/* pip renames what it replaces: "~orch" is what an interrupted one left. */
	if (entry[0] == '~') {
		fact_list_add(p->a, &out->leftovers, path_join(p->a, dir, entry), dir, LIST_MAX);
		return;
	}
	if (!view_ends(stem, ".dist-info"))
		return;
	name = view_cut(stem, '-', &rest);
	normal = py_normalize(p->a, name);
	pkg = normal && matters(normal) ? find(out, normal) : NULL;
	if (!pkg)
		return;
	meta = path_join(p->a, dir, entry);
	if (pkg->name.source && strcmp(pkg->name.source, meta) != 0) {
		fact_list_add(p->a, &pkg->copies, meta, dir, LIST_MAX);
		return;
	}
	read_url(p, pkg, meta);
	read_requires(p, pkg, meta);
}

/*
 * A file torch.py that comes earlier on the path than the package: in the user's own directory of
 * modules, never beside the package itself, where the folder wins.
 */
static void find_hiding(struct probe_ctx *p, struct python *out)
{
	size_t i;

	for (i = 0; i < out->site_dirs.n; i++) {
		const char *dir = out->site_dirs.values[i],
			   *file = path_join(p->a, dir, "torch.py");

		if (fact_known(&out->torch.path) &&
		    strcmp(path_dir(p->a, out->torch.path.value), dir) == 0)
			return;
		if (sysroot_exists(p->root, file)) {
			fact_set(&out->hidden_by, file, dir);
			return;
		}
	}
}

void py_state(struct probe_ctx *p, const struct py_env *e, struct python *out)
{
	struct dirlist l;
	size_t i, k, n = 0;

	for (i = 0; i < p->s->n_pythons; i++)
		n += fact_known(&p->s->pythons[i].torch.version);
	if (!e->why_active && (!fact_known(&out->torch.version) || n > ENVS_MAX))
		return;
	for (i = 0; i < out->site_dirs.n; i++) {
		if (sysroot_list(p->root, p->a, out->site_dirs.values[i], NAMES_MAX, &l) != 0)
			continue;
		for (k = 0; k < l.n; k++)
			look_at(p, out, out->site_dirs.values[i], l.names[k]);
	}
	find_hiding(p, out);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of an image: its files by the probes, its configuration as what it says of itself. */
#include "source/image_facts.h"

#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "probe/probe.h"
#include "source/image.h"

enum { LABELS_MAX = 256 };

static bool is_root_folder(const char *dir)
{
	static const char *const signs[] = { "usr", "etc" };
	struct stat st;
	char path[4096];
	size_t i, n = strlen(dir);

	for (i = 0; i < ARRAY_LEN(signs); i++) {
		if (n + 8 > sizeof(path))
			return false;
		memcpy(path, dir, n);
		path[n] = '/';
		memcpy(path + n + 1, signs[i], strlen(signs[i]) + 1);
		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
			return true;
	}
	return false;
}

bool source_is_tree(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	if (S_ISDIR(st.st_mode))
		return source_is_oci(path) || is_root_folder(path);
	return source_is_archive(path);
}

static const char *joined(struct arena *a, const struct json *list)
{
	const struct json *v;
	struct strbuf b;

	strbuf_init(&b, a);
	for (v = json_first(list); v; v = json_next(v)) {
		if (!json_str(v))
			continue;
		strbuf_sep(&b, " ");
		strbuf_add(&b, json_str(v));
	}
	return b.n ? b.s : NULL;
}

static void set_labels(struct arena *a, struct fact_list *f, const struct json *labels,
		       const char *source)
{
	const struct json *v;
	const char **list = NULL;
	size_t n = 0;

	for (v = json_first(labels); v && n < LABELS_MAX; v = json_next(v))
		if (json_key(v) && json_str(v))
			*ARENA_APPEND(a, list, n) =
				arena_printf(a, "%s=%s", json_key(v), json_str(v));
	if (n)
		fact_list_set(f, list, n, source);
}

static void set_arch(struct snapshot *s, const struct json *config, const char *source)
{
	static const struct {
		const char *oci, *uname;
	} rows[] = { { .oci = "amd64", .uname = "x86_64" },
		     { .oci = "arm64", .uname = "aarch64" } };
	const char *arch = json_get_str(config, "architecture");
	size_t i;

	for (i = 0; arch && i < ARRAY_LEN(rows); i++)
		if (strcmp(arch, rows[i].oci) == 0)
			fact_set(&s->host.arch, rows[i].uname, source);
}

static void set_config(struct arena *a, struct probe_ctx *p, const struct image *image,
		       const char *path)
{
	const struct json *c = json_get(image->config, "config");
	const char *source = arena_printf(a, "%s: config", path), *text;
	struct container *k = &p->s->container;

	if (!image->config)
		return;
	p->env = json_str_list(a, json_get(c, "Env"), &p->n_env);
	p->env_source = arena_printf(a, "%s: Env", path);
	set_arch(p->s, image->config, source);
	text = joined(a, json_get(c, "Entrypoint"));
	if (!text)
		text = joined(a, json_get(c, "Cmd"));
	if (text)
		fact_set(&k->entrypoint, text, source);
	text = json_get_str(c, "WorkingDir");
	if (text && *text)
		fact_set(&k->workdir, text, source);
	text = json_get_str(c, "User");
	if (text && *text)
		fact_set(&k->user, text, source);
	set_labels(a, &k->labels, json_get(c, "Labels"), source);
}

static int from_folder(struct arena *a, const struct source_options *o, struct snapshot *s,
		       struct err *err)
{
	struct probe_ctx p = { .a = a, .s = s, .python = o->python };
	struct sysroot *root;
	int r = sysroot_open(a, o->inputs[0], &root, err);

	if (r)
		return r;
	root->live = false;
	p.root = root;
	if (o->facts) {
		r = probe_facts_load(&p, o->facts, err);
		if (r)
			return r;
	}
	fact_set(&s->source, p.facts ? "root" : "image", o->inputs[0]);
	fact_set(&s->root, o->inputs[0], "argument");
	probe_all(&p);
	return 0;
}

int source_from_image(struct arena *a, const struct source_options *o, struct snapshot *s,
		      struct err *err)
{
	const char *path = o->inputs[0];
	struct probe_ctx p = { .a = a, .s = s, .python = o->python };
	struct image image;
	struct stat st;
	int r;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode) && !source_is_oci(path))
		return from_folder(a, o, s, err);
	r = source_image(a, path, o->deep, &image, err);
	if (r)
		return r;
	p.root = sysroot_of_tree(a, image.tree, path);
	fact_set(&s->source, "image", path);
	fact_set(&s->root, path, "argument");
	set_config(a, &p, &image, path);
	probe_all(&p);
	/* Whatever its files look like: it is an image. */
	fact_set(&s->container.kind, "image", path);
	fact_set(&s->container.layout, image.layout, path);
	if (image.reference)
		fact_set(&s->container.image, image.reference, path);
	if (image.n_notes)
		fact_list_set(&s->container.left_out, image.notes, image.n_notes, path);
	return 0;
}

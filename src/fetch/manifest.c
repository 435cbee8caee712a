/* SPDX-License-Identifier: Apache-2.0 */
/* Reads manifests; opens nothing and asks nobody. */
#include "fetch/manifest.h"

#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "model/version.h"

static const uint64_t size_max = UINT64_C(64) << 30;

bool manifest_label_ok(const char *label)
{
	struct version v;

	return strlen(label) <= 32 && version_parse(view_of(label), &v) && v.n <= 4;
}

static bool plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

bool manifest_name_ok(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++)
		if (!plain(name[i]))
			return false;
	return i > 0 && i <= 64 && name[0] != '-';
}

/* Becomes part of a URL and of a path of the cache. */
static const char *path_fault(const char *path)
{
	struct view rest = view_of(path), part;
	size_t i;

	if (strlen(path) > 512)
		return N_("its relative_path is too long");
	for (i = 0; path[i]; i++)
		if (!plain(path[i]) && !strchr("./+", path[i]))
			return N_("its relative_path leaves the manifest's folder");
	if (!path[0] || path[0] == '/' || path[i - 1] == '/')
		return N_("its relative_path leaves the manifest's folder");
	while (rest.n) {
		part = view_cut(rest, '/', &rest);
		if (!part.n || part.p[0] == '.')
			return N_("its relative_path leaves the manifest's folder");
	}
	return NULL;
}

static bool hex_ok(const char *s)
{
	return s && strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64;
}

/* Sizes are strings; a number is taken too. */
static bool size_of(const struct json *leaf, uint64_t *ret)
{
	const struct json *v = json_get(leaf, "size");
	int64_t n;

	if (json_type(v) == JSON_NUMBER) {
		if (!json_int(v, &n) || n <= 0)
			return false;
		*ret = (uint64_t)n;
	} else if (!json_str(v) || !view_u64(view_of(json_str(v)), 10, ret)) {
		return false;
	}
	return *ret > 0 && *ret <= size_max;
}

/* "13.4" out of "..._cuda13.4-archive.zip"; NULL when the name says none. */
static const char *cuda_of_path(struct arena *a, const char *path)
{
	const char *at = strstr(path, "_cuda");
	size_t n;

	if (!at)
		return NULL;
	at += strlen("_cuda");
	n = strspn(at, "0123456789.");
	if (!n || n > 8 || at[n] != '-')
		return NULL;
	return arena_strndup(a, at, n);
}

struct reader {
	struct arena *a;
	struct manifest *m;
	const struct json *component;
	const char *name;
	bool full;
};

static void add_leaf(struct reader *r, const char *platform, const char *cuda,
		     const struct json *v)
{
	const char *path = json_get_str(v, "relative_path");
	struct leaf *l;

	if (r->m->n >= MANIFEST_LEAVES) {
		r->full = true;
		return;
	}
	l = ARENA_APPEND(r->a, r->m->leaves, r->m->n);
	*l = (struct leaf){
		.component = r->name,
		.version = json_get_str(r->component, "version"),
		.licence = json_get_str(r->component, "license"),
		.licence_path = json_get_str(r->component, "license_path"),
		.platform = platform,
		.cuda = cuda ? cuda : path ? cuda_of_path(r->a, path) : NULL,
		.path = path,
		.sha256 = json_get_str(v, "sha256"),
	};
	if (l->licence_path && path_fault(l->licence_path))
		l->licence_path = NULL;
	if (!path)
		l->bad = N_("it has no relative_path");
	else
		l->bad = path_fault(path);
	if (!l->bad && !hex_ok(l->sha256))
		l->bad = N_("its sha256 is not 64 digits");
	if (!l->bad && !size_of(v, &l->size))
		l->bad = N_("its size is not a number of bytes");
	if (!l->bad && (!l->version || !manifest_label_ok(l->version)))
		l->bad = N_("its component's version is not one");
}

/* "cuda12" and "cuda13.5" beside each other, a leaf, or both at once. */
static void read_platform(struct reader *r, const char *platform, const struct json *v)
{
	const struct json *one;

	if (json_get(v, "relative_path") || json_get(v, "sha256"))
		add_leaf(r, platform, NULL, v);
	for (one = json_first(v); one; one = json_next(one)) {
		const char *key = json_key(one);

		if (json_type(one) == JSON_OBJECT && strncmp(key, "cuda", 4) == 0 &&
		    strlen(key) <= 12 && manifest_label_ok(key + 4))
			add_leaf(r, platform, key + 4, one);
	}
}

static void read_component(struct reader *r)
{
	const struct json *v;

	for (v = json_first(r->component); v; v = json_next(v))
		if (json_type(v) == JSON_OBJECT && manifest_name_ok(json_key(v)))
			read_platform(r, json_key(v), v);
}

static int refuse(struct err *err, const char *name, const char *why)
{
	return err_set(err, ERR_DATA, _("%.400s: not a redist manifest: %s"), name, why);
}

int manifest_read(struct arena *a, struct view text, const char *name, struct manifest *ret,
		  struct err *err)
{
	struct manifest m = { .name = name };
	struct reader r = { .a = a, .m = &m };
	const struct json *doc, *v;
	struct err e = { 0 };

	if (text.n > MANIFEST_MAX)
		return refuse(err, name, _("larger than 16 MiB"));
	if (json_parse(a, text, name, &doc, &e))
		return err_set(err, ERR_DATA, _("not a redist manifest: %.900s"), e.msg);
	if (json_type(doc) != JSON_OBJECT)
		return refuse(err, name, _("not an object"));
	m.label = json_get_str(doc, "release_label");
	m.date = json_get_str(doc, "release_date");
	m.product = json_get_str(doc, "release_product");
	for (v = json_first(doc); v; v = json_next(v)) {
		if (json_type(v) != JSON_OBJECT || !manifest_name_ok(json_key(v)))
			continue;
		r.component = v;
		r.name = json_key(v);
		read_component(&r);
	}
	if (r.full)
		return refuse(err, name, _("it lists more archives than any does"));
	if (!m.n)
		return refuse(err, name, _("it lists no archive"));
	*ret = m;
	return 0;
}

static bool platform_fits(const struct leaf *l, const char *platform, bool source)
{
	if (strcmp(l->platform, platform) == 0)
		return true;
	if (strcmp(l->platform, "linux-all") == 0)
		return strncmp(platform, "linux-", 6) == 0;
	return source && strcmp(l->platform, "source") == 0;
}

static bool has_platform(const struct manifest *m, const char *component, const char *platform)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (strcmp(m->leaves[i].component, component) == 0 &&
		    platform_fits(&m->leaves[i], platform, false))
			return true;
	return false;
}

/* 3: exactly what is wanted, 2: its major, 1: for all; 0: not at all. */
static int cuda_fits(const struct leaf *l, const char *cuda)
{
	struct version have, want;

	if (!l->cuda)
		return 1;
	if (!cuda)
		return strchr(l->cuda, '.') ? 2 : 3;
	if (strcmp(l->cuda, cuda) == 0)
		return 3;
	if (!version_parse(view_of(l->cuda), &have) || !version_parse(view_of(cuda), &want) ||
	    have.part[0] != want.part[0])
		return 0;
	/* A build for all of 13 serves 13.4; one for 13.4 alone does not serve all of 13. */
	if (have.n == 1)
		return 2;
	return want.n > 2 && have.part[1] == want.part[1] ? 3 : 0;
}

static int none_fits(struct arena *a, const struct manifest *m, const char *component,
		     const char *platform, const char *cuda, struct err *err)
{
	struct strbuf there;
	bool known = false;
	const char **names;
	size_t i, n;

	strbuf_init(&there, a);
	for (i = 0; i < m->n; i++) {
		const struct leaf *l = &m->leaves[i];

		if (strcmp(l->component, component) != 0)
			continue;
		known = true;
		if (there.n < 300) {
			strbuf_sep(&there, ", ");
			strbuf_printf(&there, "%s%s%s", l->platform, l->cuda ? " cuda" : "",
				      l->cuda ? l->cuda : "");
		}
	}
	if (known)
		return err_set(err, ERR_NOENT, _("%.300s: no %s for %s%s%s; there is %s"), m->name,
			       component, platform, cuda ? " cuda" : "", cuda ? cuda : "", there.s);
	names = manifest_components(a, m, platform, &n);
	for (i = 0; i < n && there.n < 500; i++) {
		strbuf_sep(&there, ", ");
		strbuf_add(&there, names[i]);
	}
	return err_set(err, ERR_NOENT, _("%.300s: no component %.64s; there is %s"), m->name,
		       component, there.n ? there.s : _("nothing for this platform"));
}

int manifest_pick(struct arena *a, const struct manifest *m, const char *component,
		  const char *platform, const char *cuda, const struct leaf **ret, struct err *err)
{
	const struct leaf *best = NULL;
	bool source = !has_platform(m, component, platform);
	int best_fit = 0;
	size_t i;

	for (i = 0; i < m->n; i++) {
		const struct leaf *l = &m->leaves[i];
		int fit;

		if (strcmp(l->component, component) != 0 || !platform_fits(l, platform, source))
			continue;
		fit = cuda_fits(l, cuda);
		if (fit > best_fit || (fit && fit == best_fit && !cuda &&
				       version_cmp_str(l->cuda, best->cuda) > 0)) {
			best = l;
			best_fit = fit;
		}
	}
	if (!best)
		return none_fits(a, m, component, platform, cuda, err);
	if (best->bad)
		return err_set(err, ERR_DATA,
			       _("%.400s: the archive of %s for %s is refused: %s%s%.200s"),
			       m->name, component, best->platform, _(best->bad),
			       best->path ? ": " : "", best->path ? best->path : "");
	*ret = best;
	return 0;
}

const char **manifest_components(struct arena *a, const struct manifest *m, const char *platform,
				 size_t *ret_n)
{
	const char **names = NULL;
	size_t n = 0, i;

	for (i = 0; i < m->n; i++) {
		const struct leaf *l = &m->leaves[i];

		if (platform_fits(l, platform, true) &&
		    (!n || strcmp(names[n - 1], l->component) != 0))
			*ARENA_APPEND(a, names, n) = l->component;
	}
	*ret_n = n;
	*ARENA_APPEND(a, names, n) = NULL;
	return names;
}

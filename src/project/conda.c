/* SPDX-License-Identifier: Apache-2.0 */
/* conda environments (environment.yml), pixi manifests, and match specs. */
#include <string.h>

#include "base/arena.h"
#include "base/doc.h"
#include "base/strbuf.h"
#include "model/requirement.h"
#include "project/project.h"

/* conda's version part as PEP 440: "2.5" and "=2.5" are 2.5.*, "==2.5.1" exact. */
static const char *conda_spec(struct arena *a, struct view v, bool fuzzy)
{
	struct view rest = v, one;
	struct strbuf b;

	strbuf_init(&b, a);
	if (view_chr(v, '|') >= 0)
		return "";
	while (rest.n) {
		one = view_trim(view_cut(rest, ',', &rest));
		if (!one.n || view_is(one, "*"))
			continue;
		strbuf_sep(&b, ",");
		if (one.p[0] == '=' && !view_starts(one, "==")) {
			one = view_skip(one, 1);
			fuzzy = true;
		}
		if (strchr("<>!~=", one.p[0])) {
			strbuf_addv(&b, one);
		} else if (view_ends(one, "*")) {
			one.n--;
			if (one.n && one.p[one.n - 1] == '.')
				one.n--;
			strbuf_printf(&b, "==%.*s.*", (int)one.n, one.p);
		} else {
			strbuf_printf(&b, fuzzy ? "==%.*s.*" : "==%.*s", (int)one.n, one.p);
		}
	}
	return b.s;
}

/* "name[version=2.5,build=cuda*]" behind the bracket. */
static void in_brackets(struct project_reader *r, struct want *w, struct view inside,
			struct view *ret_build)
{
	struct view item;

	if (inside.n && inside.p[inside.n - 1] == ']')
		inside.n--;
	while (inside.n) {
		item = view_trim(view_cut(inside, ',', &inside));
		if (view_starts(item, "build="))
			*ret_build = view_skip(item, 6);
		if (view_starts(item, "version="))
			w->spec = conda_spec(r->a, view_skip(item, 8), false);
	}
}

void conda_want(struct project_reader *r, struct step *s, struct view text, struct place at)
{
	struct view v = view_trim(text), name, rest, version, build = { 0 };
	ptrdiff_t colons = view_find(v, "::"), bracket;
	struct want *w = step_want(r, s, at);
	bool fuzzy = false;
	size_t n = 0;

	w->text = view_dup(r->a, v);
	if (colons >= 0) {
		w->channel = view_dup(r->a, (struct view){ .p = v.p, .n = (size_t)colons });
		v = view_skip(v, (size_t)colons + 2);
	}
	bracket = view_chr(v, '[');
	if (bracket >= 0) {
		in_brackets(r, w, view_skip(v, (size_t)bracket + 1), &build);
		v.n = (size_t)bracket;
	}
	while (n < v.n && !strchr(" =<>!~", v.p[n]))
		n++;
	name = (struct view){ .p = v.p, .n = n };
	rest = view_trim(view_skip(v, n));
	w->name = requirement_normal(r->a, name);
	if (rest.n && rest.p[0] == '=' && !view_starts(rest, "==")) {
		/* name=version=build */
		version = view_cut(view_skip(rest, 1), '=', &rest);
		/* "name=1.2=": more than one "=" in a range ("=1.2,>=1") is not of this form. */
		if (rest.n)
			build = view_trim(rest);
		fuzzy = !rest.n;
	} else {
		struct view tail = rest;

		if (!view_word(&tail, &version))
			version = rest;
		if (rest.n && strchr("<>=!~", rest.p[0])) {
			version = rest;
			if (view_chr(rest, ' ') >= 0 && view_chr(rest, ',') < 0) {
				tail = rest;
				view_word(&tail, &version);
				build = view_trim(tail);
			}
		} else {
			build = tail.n ? view_trim(tail) : build;
		}
		/* "==2.5.1=build" */
		if (view_starts(version, "==")) {
			struct view after, v2 = view_cut(view_skip(version, 2), '=', &after);

			if (after.n) {
				build = after;
				version = (struct view){ .p = version.p, .n = v2.n + 2 };
			}
		}
	}
	if (bracket < 0 || version.n)
		w->spec = conda_spec(r->a, version, fuzzy);
	w->build = build.n ? view_dup(r->a, build) : NULL;
}

static struct place place_of(const char *path, const struct doc *d)
{
	return (struct place){ .file = path, .line = d->line, .column = d->column };
}

static void pip_lines(struct project_reader *r, struct project *p, const struct doc *list,
		      const char *path, size_t pip)
{
	const struct doc *d;

	for (d = doc_first(list); d; d = d->next)
		if (doc_str(d)) {
			struct strbuf b;
			size_t i, before = p->steps[pip].n_wants, n_index = p->steps[pip].n_indexes;

			strbuf_init(&b, r->a);
			strbuf_add(&b, doc_str(d));
			requirements_text(r, p, &p->steps[pip], view_of(b.s), path, false);
			for (i = before; i < p->steps[pip].n_wants; i++)
				if (p->steps[pip].wants[i].at.file == path)
					p->steps[pip].wants[i].at = place_of(path, d);
			for (i = n_index; i < p->steps[pip].n_indexes; i++)
				p->steps[pip].indexes[i].at = place_of(path, d);
		}
}

static size_t step_number(const struct project *p, const struct step *s)
{
	return (size_t)(s - p->steps);
}

/* conda-lock names the build in the address alone: ".../pytorch-2.5.1-cpu_generic_0.conda". */
static const char *build_of(struct arena *a, const char *url, const char *version)
{
	const char *base = url ? strrchr(url, '/') : NULL, *at;
	size_t n = strlen(version);

	for (at = base ? strchr(base, '-') : NULL; at; at = strchr(at + 1, '-'))
		if (strncmp(at + 1, version, n) == 0 && at[n + 1] == '-')
			break;
	if (!at)
		return NULL;
	at += n + 2;
	n = strlen(at);
	n -= n > 6 && strcmp(at + n - 6, ".conda") == 0    ? 6
	     : n > 8 && strcmp(at + n - 8, ".tar.bz2") == 0 ? 8
							    : 0;
	return arena_strndup(a, at, n);
}

int conda_read(struct project_reader *r, struct project *p, struct step *s, struct view text,
	       const char *path, struct err *err)
{
	size_t own = step_number(p, s), pip;
	const struct doc *docs, *doc, *d;
	int rc = yaml_parse(r->a, text, path, &docs, err);

	if (rc)
		return rc;
	doc = doc_first(docs);
	for (d = doc_first(doc_get(doc, "channels")); d; d = d->next)
		if (doc_str(d))
			*ARENA_APPEND(r->a, p->steps[own].channels, p->steps[own].n_channels) =
				doc_str(d);
	for (d = doc_first(doc_get(doc, "dependencies")); d; d = d->next)
		if (doc_str(d))
			conda_want(r, &p->steps[own], view_of(doc_str(d)), place_of(path, d));
	for (d = doc_first(doc_get(doc, "dependencies")); d; d = d->next) {
		if (!doc_get(d, "pip"))
			continue;
		pip = p->n_steps;
		project_step(r, p, BY_PIP, place_of(path, d));
		pip_lines(r, p, doc_get(d, "pip"), path, pip);
	}
	for (d = doc_first(doc_get(doc, "variables")); d; d = d->next)
		if (doc_str(d))
			project_set(r, p, d->key, doc_str(d), place_of(path, d));
	/* conda-lock: what is in it is what is installed. */
	for (d = doc_first(doc_get(doc, "package")); d; d = d->next) {
		const char *name = doc_get_str(d, "name"), *version = doc_get_str(d, "version");
		const char *platform = doc_get_str(d, "platform"), *build = doc_get_str(d, "build");
		struct want *w;

		if (!name || !version || (platform && strcmp(platform, "linux-64") != 0) ||
		    (strcmp(name, "pytorch") != 0 && strcmp(name, "python") != 0 &&
		     strcmp(name, "tensorflow") != 0 && strcmp(name, "jaxlib") != 0))
			continue;
		w = step_want(r, &p->steps[own], place_of(path, doc_get(d, "version")));
		w->name = name;
		w->spec = arena_printf(r->a, "==%s", version);
		w->text = arena_printf(r->a, "%s=%s", name, version);
		w->build = build ? build : build_of(r->a, doc_get_str(d, "url"), version);
		w->locked = true;
		w->channel = doc_get_str(d, "url") && strstr(doc_get_str(d, "url"), "conda-forge")
				     ? "conda-forge"
				     : NULL;
	}
	return 0;
}

/* -------- lists */

/* "pytorch=2.0.1" and "numpy=1.21=py39_0" are conda's alone: pip knows "==". */
static bool conda_line(struct view line)
{
	ptrdiff_t eq = view_chr(line, '=');

	return eq > 0 && (size_t)eq + 1 < line.n && !strchr("<>!~=", line.p[eq - 1]) &&
	       line.p[eq + 1] != '=' && line.p[0] != '-' && view_find(line, "://") < 0;
}

bool conda_list_name(struct view text)
{
	struct view line;
	size_t n = 0, conda = 0, pip = 0;

	/* A mapping is environment.yml. */
	if (view_has_line(text, "dependencies:") || view_has_line(text, "package:"))
		return false;
	while (n++ < 400 && view_line(&text, &line)) {
		line = view_trim(line);
		if (!line.n || line.p[0] == '#')
			continue;
		conda += conda_line(line);
		pip += view_find(line, "==") > 0;
	}
	return conda > pip;
}

/* The comment at its head says how it was meant: "conda create --file <this file> -c pytorch". */
static void list_channels(struct project_reader *r, struct step *s, struct view line)
{
	struct view word;

	if (view_find(line, "conda ") < 0)
		return;
	while (view_word(&line, &word))
		if ((view_is(word, "-c") || view_is(word, "--channel")) && view_word(&line, &word))
			*ARENA_APPEND(r->a, s->channels, s->n_channels) = view_dup(r->a, word);
}

void conda_list_read(struct project_reader *r, struct project *p, struct step *s, struct view text,
		     const char *path)
{
	struct place at = { .file = path };
	struct view line, trimmed;

	(void)p;
	while (view_line(&text, &line)) {
		at.line++;
		trimmed = view_trim((struct view){ .p = line.p, .n = view_comment(line) });
		at.column = trimmed.n ? (size_t)(trimmed.p - line.p) + 1 : 1;
		if (trimmed.n && view_chr(trimmed, '/') < 0 && trimmed.p[0] != '@')
			conda_want(r, s, trimmed, at);
		else if (!trimmed.n)
			list_channels(r, s, line);
	}
}

/* -------- pixi */

static void pixi_conda(struct project_reader *r, struct project *p, size_t own,
		       const struct doc *table, const char *path)
{
	const struct doc *d;

	for (d = doc_first(table); d; d = d->next) {
		const char *version = d->kind == DOC_MAP ? doc_get_str(d, "version") : doc_str(d);
		struct place at = { .file = path, .line = d->key_line, .column = d->key_column };
		struct want *w = step_want(r, &p->steps[own], at);

		w->name = requirement_normal(r->a, view_of(d->key));
		w->text = arena_printf(r->a, "%s %s", d->key, version ? version : "*");
		w->spec = version ? conda_spec(r->a, view_of(version), false) : "";
		w->build = doc_get_str(d, "build");
		w->channel = doc_get_str(d, "channel");
	}
}

static void pixi_pypi(struct project_reader *r, struct project *p, size_t pip,
		      const struct doc *table, const char *path)
{
	const struct doc *d, *e;

	for (d = doc_first(table); d; d = d->next) {
		const char *version = d->kind == DOC_MAP ? doc_get_str(d, "version") : doc_str(d);
		struct place at = { .file = path, .line = d->key_line, .column = d->key_column };
		struct want *w = step_want(r, &p->steps[pip], at);
		struct strbuf b;

		w->name = requirement_normal(r->a, view_of(d->key));
		w->spec = !version || strcmp(version, "*") == 0 ? "" : version;
		w->text = arena_printf(r->a, "%s%s", d->key, w->spec);
		strbuf_init(&b, r->a);
		for (e = doc_first(doc_get(d, "extras")); e; e = e->next) {
			strbuf_sep(&b, ",");
			strbuf_add(&b, doc_str(e) ? doc_str(e) : "");
		}
		w->extras = b.n ? b.s : NULL;
		if (doc_get_str(d, "index")) {
			struct index *i =
				step_index(r, &p->steps[pip], doc_get_str(d, "index"), at);

			i->name = i->url;
			i->only_named = true;
			w->index = i->url;
		}
		if (doc_get_str(d, "url") || doc_get_str(d, "git") || doc_get_str(d, "path")) {
			w->url = doc_get_str(d, "url") ? doc_get_str(d, "url") : ".";
			w->spec = NULL;
		}
	}
}

int pixi_read(struct project_reader *r, struct project *p, struct view text, const char *path,
	      bool pyproject, struct err *err)
{
	const struct doc *doc, *d, *ws;
	size_t own, pip;
	struct index *i;
	int rc = toml_parse(r->a, text, path, &doc, err);

	if (rc)
		return rc;
	project_use(r, path);
	if (pyproject)
		doc = doc_at(doc, "tool.pixi");
	ws = doc_get(doc, "workspace") ? doc_get(doc, "workspace") : doc_get(doc, "project");
	own = p->n_steps;
	project_step(r, p, BY_PIXI, (struct place){ .file = path, .line = 1 });
	pip = p->n_steps;
	project_step(r, p, BY_UV, (struct place){ .file = path, .line = 1 });
	p->steps[own].cuda = "";
	for (d = doc_first(doc_get(ws, "channels")); d; d = d->next)
		if (doc_str(d) || doc_get_str(d, "channel"))
			*ARENA_APPEND(r->a, p->steps[own].channels, p->steps[own].n_channels) =
				doc_str(d) ? doc_str(d) : doc_get_str(d, "channel");
	for (d = doc_first(doc_get(ws, "platforms")); d; d = d->next)
		if (doc_get_str(d, "cuda"))
			p->steps[own].cuda = doc_get_str(d, "cuda");
	d = doc_at(doc, "system-requirements.cuda");
	if (!d)
		d = doc_at(doc, "system-requirements.cuda.version");
	if (doc_str(d)) {
		p->steps[own].cuda = doc_str(d);
		p->steps[own].cuda_at = place_of(path, d);
	}
	pixi_conda(r, p, own, doc_get(doc, "dependencies"), path);
	pixi_conda(r, p, own, doc_at(doc, "target.linux-64.dependencies"), path);
	for (d = doc_first(doc_get(doc, "feature")); d; d = d->next)
		if (strstr(d->key, "gpu") || strstr(d->key, "cuda")) {
			pixi_conda(r, p, own, doc_get(d, "dependencies"), path);
			pixi_pypi(r, p, pip, doc_get(d, "pypi-dependencies"), path);
			if (doc_str(doc_at(d, "system-requirements.cuda")))
				p->steps[own].cuda = doc_str(doc_at(d, "system-requirements.cuda"));
		}
	pixi_pypi(r, p, pip, doc_get(doc, "pypi-dependencies"), path);
	if (pixi_lock_read(r, p, &p->steps[own], beside_file(r->a, path, "pixi.lock")))
		project_use(r, beside_file(r->a, path, "pixi.lock"));
	d = doc_at(doc, "pypi-options.index-url");
	if (doc_str(d))
		step_index(r, &p->steps[pip], doc_str(d), place_of(path, d))->main = true;
	for (d = doc_first(doc_at(doc, "pypi-options.extra-index-urls")); d; d = d->next)
		if (doc_str(d)) {
			i = step_index(r, &p->steps[pip], doc_str(d), place_of(path, d));
			i->main = false;
		}
	return 0;
}

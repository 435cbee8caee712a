/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders of the checkout that a command installs ("pip install -e '.[gpu]'"): where they lie, and
 * what their pyproject.toml, setup.cfg or setup.py asks for. Never follows a path out of the
 * checkout.
 */
#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "project/command.h"
#include "project/pyproject.h"

/* "/a/./b/../c/" is "/a/c"; NULL when it leads above the root. */
static const char *normal(struct arena *a, const char *dir, const char *path)
{
	const char *parts[2] = { path[0] == '/' ? "" : dir, path };
	struct strbuf b;
	struct view rest, one;
	size_t i;

	strbuf_init(&b, a);
	for (i = 0; i < ARRAY_LEN(parts); i++) {
		rest = view_of(parts[i]);
		while (rest.n) {
			one = view_cut(rest, '/', &rest);
			if (!one.n || view_is(one, "."))
				continue;
			if (view_is(one, "..")) {
				const char *up = b.n ? strrchr(b.s, '/') : NULL;

				if (!up)
					return NULL;
				b.n = (size_t)(up - b.s);
				b.s[b.n] = '\0';
				continue;
			}
			strbuf_addc(&b, '/');
			strbuf_addv(&b, one);
		}
	}
	return b.n ? b.s : "";
}

static bool readable(struct project_reader *r, const char *path)
{
	struct view text;
	struct err e;

	return !project_open(r, path, &text, &e);
}

/* The rest of a path below a folder of the image, without "/" in front; NULL: it is not below. */
static const char *below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

const char *local_file(struct shell *sh, const char *path)
{
	const char *dir = normal(sh->r->a, "", sh->workdir ? sh->workdir : ""), *file, *found;
	size_t i;

	if (sh->moved)
		dir = normal(sh->r->a, dir ? dir : "", sh->moved);
	file = normal(sh->r->a, dir ? dir : "", path);
	if (!file || !dir)
		return NULL;
	if (sh->p->kind != PROJECT_DOCKERFILE) {
		found = context_file(sh->r, sh->m->file, file + 1);
		return readable(sh->r, found) ? found : NULL;
	}
	for (i = sh->n_copied; i > 0; i--) {
		const struct copied *c = &sh->copied[i - 1];
		const char *to = normal(sh->r->a, sh->workdir ? sh->workdir : "", c->to), *rest;
		const char *from = path_base(c->from);

		if (!to)
			continue;
		rest = below(file, to);
		if (strcmp(file, to) == 0 || (rest && strcmp(rest, from) == 0))
			found = c->from;
		else if (rest && (!*from || strcmp(from, ".") == 0))
			found = context_file(sh->r, sh->m->file, rest);
		else if (rest)
			found = arena_printf(sh->r->a, "%s/%s", c->from, rest);
		else
			continue;
		if (readable(sh->r, found))
			return found;
	}
	return NULL;
}

const char *pattern_folder(struct arena *a, const char *src)
{
	const char *slash = strrchr(src, '/');

	if (!strpbrk(slash ? slash : src, "*?["))
		return src;
	return slash ? arena_strndup(a, src, (size_t)(slash - src)) : ".";
}

/* What stands in the brackets of ".[gpu,test]" becomes the extras that were chosen. */
static void take_extras(struct project_reader *r, const char *url)
{
	const char *open = strchr(url, '[');
	struct view rest, one;

	r->extras.n = 0;
	r->extras.chosen = true;
	rest = open ? (struct view){ .p = open + 1, .n = strcspn(open + 1, "]") } : view_of("");
	while (rest.n && r->extras.n < ARRAY_LEN(r->extras.name)) {
		one = view_trim(view_cut(rest, ',', &rest));
		r->extras.name[r->extras.n++] = view_dup(r->a, one);
	}
}

static bool read_one(struct shell *sh, size_t step, const char *dir, const char *base)
{
	const char *path = local_file(sh, arena_printf(sh->r->a, "%s/%s", dir, base));
	struct view text;
	struct err e;

	if (!path || project_open(sh->r, path, &text, &e))
		return false;
	if (strcmp(base, "pyproject.toml") != 0) {
		setup_wants(sh->r, sh->p, step, text, path);
		project_use(sh->r, path);
		return true;
	}
	if (pyproject_wants(sh->r, sh->p, step, text, path, &e)) {
		project_doubt(sh->r, sh->p, sh->p->steps[step].at, "%s", e.msg);
		return false;
	}
	return true;
}

void local_read(struct shell *sh, size_t step)
{
	static const char *const names[] = { "pyproject.toml", "setup.cfg", "setup.py" };
	size_t i, k, n = sh->p->steps[step].n_wants;

	if (sh->p->kind != PROJECT_DOCKERFILE && sh->p->kind != PROJECT_CI)
		return;
	if (sh->r->no_files || sh->p->steps[step].no_deps)
		return;
	for (i = 0; i < n; i++) {
		const char *url = sh->p->steps[step].wants[i].url, *dir;
		bool found = false;

		if (!url || strstr(url, "://") || strncmp(url, "git+", 4) == 0 ||
		    strstr(url, ".whl"))
			continue;
		dir = arena_strndup(sh->r->a, url, strcspn(url, "["));
		take_extras(sh->r, url);
		for (k = 0; k < ARRAY_LEN(names); k++)
			found |= read_one(sh, step, dir, names[k]);
		sh->r->extras.chosen = false;
		sh->p->steps[step].wants[i].known = found;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads .cuvet.toml. Judges nothing: what its words mean is the caller's. */
#include "project/config.h"

#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/doc.h"
#include "base/file.h"
#include "base/suggest.h"

static const char name[] = ".cuvet.toml";
enum { CONFIG_MAX = 1 << 20 };

static int complain(struct project_config *c, const struct doc *d, struct err *err,
		    const char *what)
{
	return err_set(err, ERR_PARSE, "%.300s:%zu:%zu: %s", c->path,
		       d->key_line ? d->key_line : d->line, d->key_line ? d->key_column : d->column,
		       what);
}

static bool known_key(const char *key, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(*list, key) == 0)
			return true;
	return false;
}

static void assume(struct arena *a, struct config_target *t, const char *key, const char *value)
{
	*ARENA_APPEND(a, t->assume, t->n_assume) = arena_printf(a, "%s=%s", key, value);
}

static int read_target(struct arena *a, struct project_config *c, const struct doc *d,
		       struct err *err)
{
	static const char *const keys[] = { "name",   "gpu",  "driver", "driver-flavor", "os",
					    "distro", "arch", "glibc",	"python",	 "cuda",
					    "cudnn",  "gcc",  NULL };
	struct config_target *t;
	const struct doc *k, *v;
	const char *near;

	if (d->kind != DOC_MAP)
		return complain(c, d, err, _("a target is a table: [[target]]"));
	if (c->n_targets >= CONFIG_TARGETS)
		return complain(c, d, err, _("too many targets"));
	t = ARENA_APPEND(a, c->targets, c->n_targets);
	t->name = doc_get_str(d, "name");
	for (k = d->first; k; k = k->next) {
		if (!known_key(k->key, keys)) {
			near = suggest(k->key, keys);
			return complain(
				c, k, err,
				near ? arena_printf(a, _("unknown key; did you mean %s?"), near)
				     : _("unknown key"));
		}
		if (strcmp(k->key, "name") == 0)
			continue;
		if (doc_str(k))
			assume(a, t, k->key, doc_str(k));
		else if (k->kind == DOC_LIST && strcmp(k->key, "gpu") == 0)
			for (v = k->first; v; v = v->next) {
				if (!doc_str(v))
					return complain(c, v, err,
							_("the name of a GPU is needed"));
				assume(a, t, "gpu", doc_str(v));
			}
		else
			return complain(c, k, err, _("a string is needed"));
	}
	if (!t->name)
		t->name = arena_printf(a, "%zu", c->n_targets);
	return 0;
}

static int read_ignore(struct arena *a, struct project_config *c, const struct doc *d,
		       struct err *err)
{
	struct config_ignore *i;

	if (!doc_get_str(d, "name"))
		return complain(c, d, err, _("the name of a finding is needed"));
	if (!doc_get_str(d, "reason"))
		return complain(c, d, err, _("a reason is needed: reason = \"...\""));
	if (doc_get(d, "expires") && doc_get(d, "expires")->kind != DOC_DATE)
		return complain(c, doc_get(d, "expires"), err,
				_("a date such as 2026-12-31 is needed"));
	i = ARENA_APPEND(a, c->ignores, c->n_ignores);
	i->name = doc_get_str(d, "name");
	i->reason = doc_get_str(d, "reason");
	i->file = doc_get_str(d, "file");
	i->expires = doc_get_str(d, "expires");
	i->at = arena_printf(a, "%s:%zu", c->path, d->line);
	return 0;
}

static int read_config(struct arena *a, struct project_config *c, const struct doc *doc,
		       struct err *err)
{
	const struct doc *k, *d;
	int rc = 0;

	for (k = doc->first; k && !rc; k = k->next) {
		bool target = strcmp(k->key, "target") == 0, ignore = strcmp(k->key, "ignore") == 0;

		if ((target || ignore) && k->kind == DOC_LIST) {
			for (d = k->first; d && !rc; d = d->next)
				rc = target ? read_target(a, c, d, err) : read_ignore(a, c, d, err);
		} else if (strcmp(k->key, "require") == 0 && k->kind == DOC_LIST) {
			for (d = k->first; d; d = d->next) {
				if (!doc_str(d))
					return complain(c, d, err, _("a string is needed"));
				*ARENA_APPEND(a, c->require, c->n_require) = doc_str(d);
			}
		} else {
			return complain(
				c, k, err,
				_("unknown key; [[target]], [[ignore]] and require are known"));
		}
	}
	return rc;
}

int project_config_read(struct arena *a, const char *input, struct project_config *ret,
			struct err *err)
{
	const char *paths[2] = { NULL, name }, *slash;
	const struct doc *doc;
	struct view text;
	struct stat st;
	size_t i;
	int rc;

	*ret = (struct project_config){ .path = NULL };
	slash = strrchr(input, '/');
	if (!stat(input, &st) && S_ISDIR(st.st_mode))
		paths[0] = strcmp(input, ".") == 0 ? NULL : arena_printf(a, "%s/%s", input, name);
	else if (slash)
		paths[0] = arena_printf(a, "%.*s/%s", (int)(slash - input), input, name);
	for (i = 0; i < 2; i++) {
		if (!paths[i] || lstat(paths[i], &st) || !S_ISREG(st.st_mode))
			continue;
		ret->path = paths[i];
		rc = file_read(a, paths[i], CONFIG_MAX, &text, err);
		if (!rc)
			rc = toml_parse(a, text, paths[i], &doc, err);
		return rc ? rc : read_config(a, ret, doc, err);
	}
	return 0;
}

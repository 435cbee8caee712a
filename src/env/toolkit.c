/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which toolkit: the one that was asked for, else CUDA_HOME's, else the one for torch, else the
 * newest that the driver runs. A toolkit is what looks like one; nothing in it is started.
 */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "env/env.h"
#include "model/version.h"
#include "rule/look.h"

enum { VERSION_FILE_MAX = 256 << 10 };

bool env_is_prefix(const char *text)
{
	struct version v;

	return strchr(text, '/') || strchr(text, '\\') || !version_parse(view_of(text), &v);
}

bool env_is_toolkit(const struct sysroot *root, struct arena *a, const char *prefix,
		    const char **ret_lib)
{
	static const char *const signs[] = { "version.json", "version.txt", "bin/nvcc" };
	static const char *const libs[] = { "lib64", "lib" };
	bool sign = false;
	size_t i;

	*ret_lib = NULL;
	for (i = 0; i < ARRAY_LEN(signs) && !sign; i++)
		sign = sysroot_exists(root, path_join(a, prefix, signs[i]));
	for (i = 0; i < ARRAY_LEN(libs) && !*ret_lib; i++)
		if (sysroot_is_dir(root, path_join(a, prefix, libs[i])))
			*ret_lib = libs[i];
	return sign && *ret_lib;
}

const char *env_toolkit_version(const struct sysroot *root, struct arena *a, const char *prefix)
{
	const struct json *doc;
	struct view text, line, word;
	struct version v;
	const char *s;

	if (sysroot_read(root, a, path_join(a, prefix, "version.json"), VERSION_FILE_MAX, &text,
			 NULL) == 0 &&
	    json_parse(a, text, "version.json", &doc, NULL) == 0) {
		s = json_get_str(json_get(doc, "cuda"), "version");
		if (s && version_parse(view_of(s), &v))
			return s;
	}
	if (sysroot_read(root, a, path_join(a, prefix, "version.txt"), VERSION_FILE_MAX, &text,
			 NULL) == 0)
		while (view_line(&text, &line)) {
			if (!view_starts(line, "CUDA Version "))
				continue;
			line = view_skip(line, strlen("CUDA Version "));
			if (view_word(&line, &word) && version_parse(word, &v))
				return view_dup(a, word);
		}
	return NULL;
}

/* -------- those that are there */

static bool use(struct arena *a, const struct sysroot *root, const char *prefix, const char *why,
		struct env_toolkit *ret)
{
	const char *lib;

	if (!prefix || prefix[0] != '/' || !env_is_toolkit(root, a, prefix, &lib))
		return false;
	ret->prefix = prefix;
	ret->lib = path_join(a, prefix, lib);
	ret->version = env_toolkit_version(root, a, prefix);
	ret->why = why;
	return true;
}

static const char *version_of(const struct toolkit *t)
{
	return fact_value(&t->version, NULL);
}

/* "12.4" fits 12.4.127, "12" both: component by component. */
static bool version_fits(const char *version, const char *asked)
{
	size_t n = strlen(asked);

	return version && strncmp(version, asked, n) == 0 && (!version[n] || version[n] == '.');
}

/* /usr/local/cuda is a link that moves on; the folder with the version in its name stays. */
static const struct toolkit *newest(struct arena *a, const struct sysroot *root,
				    const struct snapshot *s, const char *asked)
{
	const struct toolkit *best = NULL, *t;
	const char *lib;
	size_t i;

	for (i = 0; i < s->n_toolkits; i++) {
		t = &s->toolkits[i];
		if (!fact_known(&t->path) || !env_is_toolkit(root, a, t->path.value, &lib) ||
		    (asked && !version_fits(version_of(t), asked)))
			continue;
		if (!best || version_cmp_str(fact_value(&t->version, "0"),
					     fact_value(&best->version, "0")) > 0)
			best = t;
	}
	return best;
}

static const char *names_of_all(struct arena *a, const struct sysroot *root,
				const struct snapshot *s)
{
	struct strbuf b;
	const char *lib;
	size_t i;

	strbuf_init(&b, a);
	for (i = 0; i < s->n_toolkits; i++) {
		const struct toolkit *t = &s->toolkits[i];

		if (!fact_known(&t->path) || !env_is_toolkit(root, a, t->path.value, &lib))
			continue;
		strbuf_sep(&b, ", ");
		strbuf_printf(&b, "%s (%s)", fact_value(&t->version, "?"), t->path.value);
	}
	return b.n ? b.s : NULL;
}

static int none(struct arena *a, const struct sysroot *root, const struct snapshot *s,
		const char *asked, struct err *err)
{
	const char *all = names_of_all(a, root, s);

	if (asked && all)
		return err_set(err, ERR_NOENT,
			       _("no toolkit of CUDA %.40s is here, but %.600s; install it beside "
				 "them, or name its prefix with --cuda"),
			       asked, all);
	if (asked)
		return err_set(
			err, ERR_NOENT,
			_("no toolkit of CUDA %.40s is here; install one (wheels need none, "
			  "only what is compiled here does), or name its prefix with --cuda"),
			asked);
	return err_set(err, ERR_NOENT, "%s",
		       _("no CUDA toolkit is here; install one (wheels need none, only what is "
			 "compiled here does), or name its prefix with --cuda"));
}

/* -------- choosing */

static bool by_variable(struct arena *a, const struct sysroot *root, const struct snapshot *s,
			struct env_toolkit *ret)
{
	static const char *const names[] = { "CUDA_HOME", "CUDA_PATH" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (use(a, root, snapshot_env(s, names[i]),
			arena_printf(a, _("%s names it"), names[i]), ret))
			return true;
	return false;
}

static bool by_torch(struct judge *j, const struct sysroot *root, struct env_toolkit *ret)
{
	const struct python *p = look_deciding(j->s);
	const char *cuda = p ? look_torch_cuda(j, &p->torch) : NULL;
	const struct toolkit *t;
	struct version v;

	if (!cuda || !version_parse(view_of(cuda), &v) || v.n < 2)
		return false;
	t = newest(j->a, root, j->s, arena_printf(j->a, "%u.%u", v.part[0], v.part[1]));
	if (!t)
		t = newest(j->a, root, j->s, arena_printf(j->a, "%u", v.part[0]));
	return t && use(j->a, root, t->path.value,
			arena_printf(j->a, _("PyTorch is built with CUDA %s"), cuda), ret);
}

/* 1 it runs, 0 it does not, -1 not known. */
static int driver_runs(struct judge *j, const struct fact *driver, const char *cuda)
{
	const char *least;
	bool inferred;

	least = cuda ? compat_min_driver(j->c, cuda, look_is_windows(j->s), &inferred) : NULL;
	return least ? !look_driver_below(driver->value, least) : -1;
}

static bool by_driver(struct judge *j, const struct sysroot *root, struct env_toolkit *ret)
{
	const struct fact *driver = look_cuda_driver(j->s);
	const struct toolkit *best = NULL, *lowest = NULL, *t;
	const char *lib;
	size_t i;

	if (!driver || !fact_known(driver))
		return false;
	for (i = 0; i < j->s->n_toolkits; i++) {
		t = &j->s->toolkits[i];
		if (!version_of(t) || !fact_known(&t->path) ||
		    !env_is_toolkit(root, j->a, t->path.value, &lib))
			continue;
		if (!lowest || version_cmp_str(version_of(t), version_of(lowest)) < 0)
			lowest = t;
		if (driver_runs(j, driver, version_of(t)) == 1 &&
		    (!best || version_cmp_str(version_of(t), version_of(best)) > 0))
			best = t;
	}
	if (best)
		return use(j->a, root, best->path.value,
			   arena_printf(j->a, _("the newest that driver %s runs"), driver->value),
			   ret);
	return lowest &&
	       use(j->a, root, lowest->path.value,
		   arena_printf(j->a, _("driver %s is known to run none here; this is the oldest"),
				driver->value),
		   ret);
}

static int asked_prefix(struct arena *a, const struct sysroot *root, const char *prefix,
			struct env_toolkit *ret, struct err *err)
{
	const char *lib;

	if (use(a, root, prefix, _("named by --cuda"), ret))
		return 0;
	if (!sysroot_exists(root, prefix))
		return err_set(err, ERR_USAGE, _("--cuda %.300s: there is no such folder"), prefix);
	env_is_toolkit(root, a, prefix, &lib);
	if (!lib)
		return err_set(err, ERR_USAGE,
			       _("--cuda %.300s: no libraries (neither lib64 nor lib is in it)"),
			       prefix);
	return err_set(err, ERR_USAGE,
		       _("--cuda %.300s: no toolkit (no version.json, version.txt or bin/nvcc)"),
		       prefix);
}

int env_choose_toolkit(struct arena *a, const struct sysroot *root, struct compat *c,
		       const struct snapshot *s, const char *asked, struct env_toolkit *ret,
		       struct err *err)
{
	struct judge j = { .a = a, .s = s, .c = c };
	const struct toolkit *t;

	ret->asked = asked != NULL;
	if (asked && env_is_prefix(asked))
		return asked_prefix(a, root, asked, ret, err);
	if (asked) {
		t = newest(a, root, s, asked);
		return t && use(a, root, t->path.value,
				arena_printf(a, _("CUDA %s was asked for"), asked), ret)
			       ? 0
			       : none(a, root, s, asked, err);
	}
	if (by_variable(a, root, s, ret) || by_torch(&j, root, ret) || by_driver(&j, root, ret))
		return 0;
	t = newest(a, root, s, NULL);
	if (t && use(a, root, t->path.value,
		     s->n_toolkits == 1 ? _("the only one here")
					: _("the newest here; no driver is known"),
		     ret))
		return 0;
	return none(a, root, s, NULL, err);
}

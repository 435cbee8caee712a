/* SPDX-License-Identifier: Apache-2.0 */
/* Environments of hatch (tool.hatch.envs): each is a project of its own beside the package. */
#include <string.h>

#include "base/arena.h"
#include "project/pyproject.h"

static const struct doc *setting_of(const struct doc *envs, const struct doc *env, const char *key)
{
	const char *from = doc_get_str(env, "template");
	const struct doc *own = doc_get(env, key);

	/* What an environment does not say it has from "default", or from the one that it names. */
	return own ? own : doc_get(doc_get(envs, from ? from : "default"), key);
}

static void variables(struct py *y, const struct doc *vars)
{
	static const struct {
		const char *name;
		bool main, links;
	} rows[] = {
		{ .name = "PIP_INDEX_URL", .main = true },
		{ .name = "UV_DEFAULT_INDEX", .main = true },
		{ .name = "UV_INDEX_URL", .main = true },
		{ .name = "PIP_EXTRA_INDEX_URL" },
		{ .name = "UV_EXTRA_INDEX_URL" },
		{ .name = "UV_INDEX" },
		{ .name = "PIP_FIND_LINKS", .links = true },
	};
	struct view rest, url;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const struct doc *d = doc_get(vars, rows[i].name);

		rest = doc_str(d) ? view_of(doc_str(d)) : view_of("");
		while (view_word(&rest, &url)) {
			struct index *x = step_index(y->r, py_step(y), view_dup(y->r->a, url),
						     py_value(y, d));

			x->main = rows[i].main;
			x->links = rows[i].links;
		}
	}
}

static void environment(struct py *y, const struct doc *envs, const struct doc *env)
{
	const struct doc *project = doc_get(y->doc, "project"), *d;
	struct py one = { .r = y->r, .path = y->path, .doc = y->doc };
	const char *installer = doc_str(setting_of(envs, env, "installer"));
	bool uv = installer && strcmp(installer, "uv") == 0;

	one.p = project_new(y->r, PROJECT_PYPROJECT, y->path);
	one.p->name = env->key;
	project_step(y->r, one.p, uv ? BY_UV_PIP : BY_PIP, py_key(y, env));
	d = setting_of(envs, env, "python");
	if (doc_str(d) && strncmp(doc_str(d), "3.", 2) == 0) {
		one.p->python = doc_str(d);
		one.p->python_at = py_value(y, d);
	}
	if (!doc_true(setting_of(envs, env, "skip-install")) &&
	    !doc_true(setting_of(envs, env, "detached"))) {
		py_wants(&one, doc_get(project, "dependencies"));
		for (d = doc_first(setting_of(envs, env, "features")); d; d = d->next)
			if (doc_str(d))
				py_wants(&one, doc_get(doc_get(project, "optional-dependencies"),
						       doc_str(d)));
	}
	py_wants(&one, setting_of(envs, env, "dependencies"));
	py_wants(&one, setting_of(envs, env, "extra-dependencies"));
	variables(&one, setting_of(envs, env, "env-vars"));
}

void hatch_environments(struct py *y)
{
	const struct doc *envs = doc_at(y->doc, "tool.hatch.envs"), *env;

	for (env = doc_first(envs); env; env = env->next)
		if (doc_is(env, DOC_MAP) &&
		    (doc_get(env, "dependencies") || doc_get(env, "extra-dependencies")) &&
		    !project_apart(y->r->a, env->key))
			environment(y, envs, env);
}

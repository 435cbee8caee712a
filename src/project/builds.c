/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services that build Dockerfiles: which stage, with which arguments. Reads nothing; the readers of
 * compose and devcontainer.json note what they say in the reader.
 */
#include <string.h>

#include "base/arena.h"
#include "project/project.h"

/* The same file, as a service ("a/./Dockerfile") and the command line call it. */
static bool same_build(const char *context, const char *file)
{
	const char *dot = strstr(context, "/./"), *slash = strrchr(file, '/');

	return same_path(context, file) || (dot && strcmp(dot + 3, slash ? slash + 1 : file) == 0);
}

void link_builds(struct project_reader *r)
{
	size_t i, k;

	for (i = 0; i < r->list.n; i++) {
		struct project *p = r->list.v[i];

		for (k = 0; p->context && k < r->list.n; k++) {
			struct project *d = r->list.v[k];

			if (d->kind == PROJECT_DOCKERFILE && d->final &&
			    same_build(p->context, d->file) &&
			    (!p->target || (d->name && strcmp(p->target, d->name) == 0)))
				p->build = d;
		}
	}
}

const char *build_arg(const struct project_reader *r, const char *file, const char *name)
{
	size_t i, k;

	for (i = 0; i < r->n_builds; i++) {
		const struct build *b = &r->builds[i];

		for (k = 0; same_build(b->file, file) && k < b->n_args; k++)
			if (strcmp(b->args[k].name, name) == 0)
				return b->args[k].value;
	}
	return NULL;
}

bool build_stage(const struct project_reader *r, const char *file, const char *const *names,
		 size_t n, size_t stage)
{
	bool last = stage + 1 == n, named = false;
	size_t i, k;

	for (i = 0; i < r->n_builds; i++) {
		const struct build *b = &r->builds[i];

		if (!same_build(b->file, file))
			continue;
		for (k = 0; b->target && k < n; k++)
			if (names[k] && strcmp(names[k], b->target) == 0)
				break;
		/* A target that is no stage here: the last one stands for it. */
		if (!b->target || k == n)
			k = n - 1;
		if (k == stage)
			return true;
		named = true;
	}
	return last && !named;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Project files as a source. Decides only whether the inputs are such; src/project reads them. */
#include "source/project.h"

#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/file.h"
#include "project/project.h"

bool source_is_project(struct arena *a, const struct source_options *o)
{
	enum project_kind kind;
	struct view text;
	struct stat st;

	if (!o->n_inputs)
		return false;
	if (o->n_inputs > 1)
		return true;
	if (stat(o->inputs[0], &st))
		return false;
	if (S_ISDIR(st.st_mode))
		return true;
	if (!S_ISREG(st.st_mode) || st.st_size > PROJECT_FILE_MAX ||
	    file_read(a, o->inputs[0], PROJECT_FILE_MAX, &text, NULL))
		return false;
	if (project_detect(o->inputs[0], text, &kind))
		return true;
	/* JSON that is none of ours is taken for a snapshot, whose reader says what is wrong with
	 * it. */
	if (view_starts(text, "\xef\xbb\xbf"))
		text = view_skip(text, 3);
	text = view_trim(text);
	return !text.n || text.p[0] != '{';
}

/* The NAME=VALUE of --assume arg.NAME=VALUE. */
static void build_args(struct project_reader *r, const struct source_options *o)
{
	const char **list = arena_calloc(r->a, o->n_assume + 1, sizeof(*list));
	size_t i;

	for (i = 0; i < o->n_assume; i++)
		if (strncmp(o->assume[i], "arg.", 4) == 0)
			list[r->n_args++] = o->assume[i] + 4;
	r->args = list;
}

int source_project_read(struct arena *a, struct compat *c, const struct source_options *o,
			struct project_reader **ret, struct snapshot *s, struct err *err)
{
	struct project_reader *r = arena_alloc(a, sizeof(*r));
	int rc;

	r->a = a;
	r->c = c;
	build_args(r, o);
	r->overlay = o->overlay;
	r->n_overlay = o->n_overlay;
	rc = project_read(r, o->inputs, o->n_inputs, err);
	if (rc)
		return rc;
	if (!r->list.n)
		return err_set(err, ERR_NOENT, _("%.300s: no project files are here"),
			       o->inputs[0]);
	fact_set(&s->source, "project", o->inputs[0]);
	*ret = r;
	return 0;
}

void source_project_fill(struct project_reader *r, struct snapshot *s)
{
	project_fill(r, s);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what the user named to one snapshot: a file, a root, this machine or nothing, then the
 * assumptions.
 */
#include "source/source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "probe/probe.h"
#include "source/image_facts.h"
#include "source/project.h"
#include "source/snapshot_file.h"

/* What was asked about has to be there: the absence of a mistyped path finds no fault. */
static int python_there(const struct probe_ctx *p, struct err *err)
{
	struct stat st;
	size_t i;

	for (i = 0; i < p->s->n_pythons; i++) {
		const struct python *y = &p->s->pythons[i];

		if (fact_is(&y->active_why, "--python") && fact_known(&y->prefix) &&
		    sysroot_stat(p->root, y->prefix.value, true, &st) == -ENOENT)
			return err_set(err, ERR_NOENT, _("--python %.300s: nothing is there"),
				       p->python);
	}
	return 0;
}

static int from_root(struct arena *a, const struct source_options *o, struct snapshot *s,
		     struct err *err)
{
	struct probe_ctx p = { .a = a, .s = s, .python = o->python, .deep = o->deep,
				.timeout_ms = o->timeout_ms };
	struct sysroot *root;
	int r;

	r = sysroot_open(a, o->root ? o->root : "/", &root, err);
	if (r)
		return r;
	p.root = root;
	/* "--root /" names this machine, but as a tree: only the plain call asks live. */
	if (o->root)
		root->live = false;
	if (o->root) {
		r = probe_facts_load(&p, o->facts, err);
		if (r)
			return r;
	}
	fact_set(&s->source, o->root ? (p.facts ? "root" : "image") : "live",
		 o->root ? o->root : "/");
	fact_set(&s->root, root->dir, "--root");
	probe_all(&p);
	return o->python ? python_there(&p, err) : 0;
}

int source_snapshot(struct arena *a, struct compat *c, const struct source_options *o,
		    struct snapshot *ret, struct err *err)
{
	struct project_reader *project = NULL;
	struct snapshot s = { 0 };
	int r = 0;

	if (o->json.p)
		r = source_snapshot_json(a, o->json, o->json_name, &s, err);
	else if (o->n_inputs == 1 && source_is_tree(o->inputs[0]))
		r = source_from_image(a, o, &s, err);
	else if (source_is_project(a, o))
		r = source_project_read(a, c, o, &project, &s, err);
	else if (o->n_inputs)
		r = source_snapshot_file(a, o->inputs[0], &s, err);
	else if (o->root || !o->no_live)
		r = from_root(a, o, &s, err);
	else
		fact_set(&s.source, "assumed", "--no-live");
	if (r)
		return r;
	source_enrich(a, c, &s);
	r = source_assume(a, c, o->assume, o->n_assume, &s, err);
	if (!r && project)
		source_project_fill(project, &s);
	if (!r)
		r = source_require(a, o->require, o->n_require, &s, err);
	if (!r)
		*ret = s;
	return r;
}

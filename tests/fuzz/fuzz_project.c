/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as each kind of project file: the first byte says which. Read, resolved and judged; what
 * it names lies in a folder that is not there.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "project/project.h"
#include "rule/rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct compat *tables(void)
{
	static struct compat *c;

	if (!c && compat_open(arena_new(NULL), NULL, &c, NULL))
		abort();
	return c;
}

/* Locks are opened by their names: the text stands in for the file. */
static int read_lock(struct project_reader *r, struct project *p, struct view text,
		     const char *path)
{
	struct project_overlay o = { .path = path, .text = text };
	struct lock_scope scope = { .project = "p", .extra = "gpu" };

	r->overlay = &o;
	r->n_overlay = 1;
	project_step(r, p, BY_UV, (struct place){ .file = path });
	if (strcmp(path, "/nonexistent/pixi.lock") == 0)
		pixi_lock_read(r, p, &p->steps[0], path);
	else
		lock_read(r, p, &p->steps[0], path, &scope);
	r->n_overlay = 0;
	return 0;
}

static int read_kind(struct project_reader *r, char kind, struct view text, struct err *err)
{
	struct project *p;

	switch (kind) {
	case 'D':
		return dockerfile_read(r, text, "/nonexistent/Dockerfile", err);
	case 'A':
		return apptainer_read(r, text, "/nonexistent/c.def", err);
	case 'C':
		return yaml_project_read(r, PROJECT_COMPOSE, text, "/nonexistent/compose.yml", err);
	case 'K':
		return yaml_project_read(r, PROJECT_KUBERNETES, text, "/nonexistent/pod.yml", err);
	case 'G':
		return yaml_project_read(r, PROJECT_CI, text, "/nonexistent/ci.yml", err);
	case 'O':
		return yaml_project_read(r, PROJECT_COG, text, "/nonexistent/cog.yaml", err);
	case 'Y':
		return yaml_project_read(r, PROJECT_SPACK, text, "/nonexistent/spack.yaml", err);
	case 'T':
		return yaml_project_read(r, PROJECT_SKYPILOT, text, "/nonexistent/task.yaml", err);
	case 'M':
		return modal_read(r, text, "/nonexistent/app.py", err);
	case 'B':
		return script_read(r, text, "/nonexistent/setup.sh", err);
	case 'V':
		return yaml_project_read(r, PROJECT_DEVCONTAINER, text,
					 "/nonexistent/devcontainer.json", err);
	default:
		break;
	}
	p = project_new(r, PROJECT_PYPROJECT, "/nonexistent/f");
	switch (kind) {
	case 'P':
		return pyproject_read(r, p, text, "/nonexistent/pyproject.toml", BY_PIP, err);
	case 'X':
		return pixi_read(r, p, text, "/nonexistent/pixi.toml", false, err);
	case 'F':
		return pipfile_read(r, p, text, "/nonexistent/Pipfile", err);
	case 'S':
		return setup_read(r, p, text, "/nonexistent/setup.cfg", err);
	case 's':
		return setup_read(r, p, text, "/nonexistent/setup.py", err);
	case 'L':
		return read_lock(r, p, text, "/nonexistent/uv.lock");
	case 'o':
		return read_lock(r, p, text, "/nonexistent/poetry.lock");
	case 'J':
		return read_lock(r, p, text, "/nonexistent/Pipfile.lock");
	case 'x':
		return read_lock(r, p, text, "/nonexistent/pixi.lock");
	case 'c':
		requirements_text(r, p, project_step(r, p, BY_PIP, (struct place){ .line = 1 }),
				  text, "/nonexistent/c.txt", true);
		return 0;
	case 'e':
		project_step(r, p, BY_CONDA,
			     (struct place){ .file = "/nonexistent/requirements.txt" });
		conda_list_read(r, p, &p->steps[0], text, "/nonexistent/requirements.txt");
		return 0;
	case 'E':
		project_step(r, p, BY_CONDA,
			     (struct place){ .file = "/nonexistent/environment.yml" });
		return conda_read(r, p, &p->steps[0], text, "/nonexistent/environment.yml", err);
	default:
		project_step(r, p, BY_PIP, (struct place){ .file = "/nonexistent/r.txt" });
		requirements_text(r, p, &p->steps[0], text, "/nonexistent/r.txt", false);
		return 0;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(NULL);
	struct project_reader r = { .a = a, .c = tables() };
	struct snapshot s = { 0 };
	struct results results = { 0 };
	struct err err = { .code = ERR_OK };
	struct view text;

	if (size) {
		text = (struct view){ .p = (const char *)data + 1, .n = size - 1 };
		pragma_scan(&r, text, "/nonexistent/f");
		if (read_kind(&r, (char)data[0], text, &err) && (!err.code || !err.msg[0]))
			abort();
		project_fill(&r, &s);
		judge_run(a, &s, r.c, NULL, &results);
	}
	arena_free(a);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the reader of pyproject.toml to each other. Private to project/. */
#ifndef PROJECT_PYPROJECT_H
#define PROJECT_PYPROJECT_H

#include "base/doc.h"
#include "project/project.h"

struct py {
	struct project_reader *r;
	struct project *p;
	const char *path;
	const struct doc *doc;
	const char *extra; /* the extra or group that was taken, NULL */
	const char *workspace; /* pyproject.toml of the root; NULL */
	size_t step;
};

struct step *py_step(struct py *y);
struct place py_value(const struct py *y, const struct doc *d);
struct place py_key(const struct py *y, const struct doc *d);

/* What a pyproject.toml that pip or uv pip installs asks for, into a step; no lock, no sources. */
int pyproject_wants(struct project_reader *r, struct project *p, size_t step, struct view text,
		    const char *path, struct err *err) ATTR_MUST;
/* The same of a setup.cfg or setup.py. */
void setup_wants(struct project_reader *r, struct project *p, size_t step, struct view text,
		 const char *path);
/* Each string of a list as a requirement of the step. */
void py_wants(struct py *y, const struct doc *list);
/* Projects of their own for the environments of hatch. */
void hatch_environments(struct py *y);
void uv_indexes(struct py *y);
/* One source of tool.uv.sources for a package: its index, url, and marker. */
void uv_source(struct py *y, struct want *w, const struct doc *src);
/* Each want gets its source. */
void uv_sources(struct py *y);
/* The same of the workspace that this project is a member of; notes it in y->workspace. */
void uv_workspace(struct py *y);

#endif

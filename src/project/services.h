/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of services and jobs to each other. Private to project/. */
#ifndef PROJECT_SERVICES_H
#define PROJECT_SERVICES_H

#include "base/doc.h"
#include "project/project.h"

struct yml {
	struct project_reader *r;
	const char *path;
};

/* Where a value and where its key stand; line 0 without one. */
struct place yml_value(const struct yml *y, const struct doc *d);
struct place yml_key(const struct yml *y, const struct doc *d);
/* environment: a map, a list of NAME=VALUE, or Kubernetes' list of name and value. */
void yml_environment(struct yml *y, struct project *p, const struct doc *env);
/* Shell text of a scalar. */
void yml_run(struct yml *y, struct project *p, const struct doc *d);
/* A workflow of GitHub or a file of GitLab's CI. */
void ci_read(struct yml *y, const struct doc *doc);

#endif

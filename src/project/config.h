/* SPDX-License-Identifier: Apache-2.0 */
/* .cuvet.toml: the targets that a project is for, what must hold, what is left out and why. */
#ifndef PROJECT_CONFIG_H
#define PROJECT_CONFIG_H

#include "base/err.h"

struct arena;

enum { CONFIG_TARGETS = 64 };

struct config_target {
	const char *name;
	const char **assume; /* "gpu=T4", "driver=535.183.01" */
	size_t n_assume;
};

struct config_ignore {
	const char *name, *reason;
	const char *file;    /* NULL: everywhere */
	const char *expires; /* "2026-12-31", NULL */
	const char *at;	     /* ".cuvet.toml:12" */
};

struct project_config {
	const char *path;
	struct config_target *targets;
	size_t n_targets;
	struct config_ignore *ignores;
	size_t n_ignores;
	const char **require;
	size_t n_require;
};

/*
 * The file beside the first input (or in it, when that is a folder), else in the working folder.
 * `ret->path` NULL: there is none. Broken or with unknown keys: ERR_PARSE with its place.
 */
int project_config_read(struct arena *a, const char *input, struct project_config *ret,
			struct err *err) ATTR_MUST;

#endif

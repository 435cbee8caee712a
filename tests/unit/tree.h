/* SPDX-License-Identifier: Apache-2.0 */
/* A small root in a temporary folder, and one probe run over it. */
#ifndef TESTS_TREE_H
#define TESTS_TREE_H

#include "probe/probe.h"

struct tree {
	char top[64]; /* the root */
	struct arena *a;
	struct snapshot *s;
	struct probe_ctx p;
};

/* For cmocka: *state is a struct tree. */
int tree_setup(void **state);
int tree_teardown(void **state);
/* Parent folders come by themselves; paths are absolute below the root. */
void tree_put(struct tree *t, const char *path, const char *text);
void tree_put_bytes(struct tree *t, const char *path, const void *bytes, size_t n);
void tree_dir(struct tree *t, const char *path);
void tree_link(struct tree *t, const char *text, const char *path);
void tree_fifo(struct tree *t, const char *path);
/* A library with that soname for x86_64. */
void tree_library(struct tree *t, const char *path, const char *soname);
/* Facts as a JSON document; without one the root is an image. */
void tree_facts(struct tree *t, const char *json);
/* A variable of the audited environment. */
void tree_env(struct tree *t, const char *name, const char *value);
/* Runs a probe over a fresh snapshot that keeps host and environment. */
void tree_probe(struct tree *t, const struct probe *probe);

#endif

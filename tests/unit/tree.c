/* SPDX-License-Identifier: Apache-2.0 */
/* Building the root and running the probe. */
#include "tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/json.h"
#include "elf_make.h"

int tree_setup(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));
	struct sysroot *root;

	strcpy(t->top, "/tmp/cuvet-tree-XXXXXX");
	if (!mkdtemp(t->top))
		return -1;
	t->a = arena_new(NULL);
	t->s = arena_alloc(t->a, sizeof(*t->s));
	if (sysroot_open(t->a, t->top, &root, NULL))
		return -1;
	t->p = (struct probe_ctx){ .a = t->a, .root = root, .s = t->s, .facts_name = "facts.json" };
	*state = t;
	return 0;
}

int tree_teardown(void **state)
{
	struct tree *t = *state;
	char cmd[256];

	snprintf(cmd, sizeof(cmd), "chmod -R u+rwX %s; rm -rf %s", t->top, t->top);
	arena_free(t->a);
	free(t);
	return system(cmd);
}

/* The full path, after making its parents. */
static const char *full(struct tree *t, const char *path)
{
	char *s = arena_printf(t->a, "%s%s", t->top, path);
	char *q;

	for (q = s + strlen(t->top) + 1; *q; q++)
		if (*q == '/') {
			*q = '\0';
			mkdir(s, 0755);
			*q = '/';
		}
	return s;
}

void tree_put_bytes(struct tree *t, const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(full(t, path), "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

void tree_put(struct tree *t, const char *path, const char *text)
{
	tree_put_bytes(t, path, text, strlen(text));
}

void tree_dir(struct tree *t, const char *path)
{
	assert_int_equal(mkdir(full(t, path), 0755), 0);
}

void tree_link(struct tree *t, const char *text, const char *path)
{
	assert_int_equal(symlink(text, full(t, path)), 0);
}

void tree_fifo(struct tree *t, const char *path)
{
	assert_int_equal(mkfifo(full(t, path), 0644), 0);
}

void tree_library(struct tree *t, const char *path, const char *soname)
{
	struct elf_make *m = arena_alloc(t->a, sizeof(*m));

	m->soname = soname;
	elf_make(m);
	tree_put_bytes(t, path, m->buf, m->n);
}

void tree_facts(struct tree *t, const char *json)
{
	assert_int_equal(json_parse(t->a, view_of(json), "facts.json", &t->p.facts, NULL), 0);
}

void tree_env(struct tree *t, const char *name, const char *value)
{
	struct var *v = ARENA_APPEND(t->a, t->s->environment, t->s->n_environment);

	fact_set(&v->name, name, "environment");
	fact_set(&v->value, value, "environment");
}

void tree_probe(struct tree *t, const struct probe *probe)
{
	struct snapshot old = *t->s;

	memset(t->s, 0, sizeof(*t->s));
	t->s->host = old.host;
	t->s->environment = old.environment;
	t->s->n_environment = old.n_environment;
	probe->run(&t->p);
}

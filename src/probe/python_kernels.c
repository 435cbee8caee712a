/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of Jupyter: which interpreter each starts, and with which variables. Starts none. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "probe/python.h"

enum { TEXT_MAX = 1 << 16, KERNELS_MAX = 128, ENV_MAX = 64 };

static bool is_known(const struct snapshot *s, const char *path)
{
	size_t i;

	for (i = 0; i < s->n_kernels; i++)
		if (fact_is(&s->kernels[i].path, path))
			return true;
	return false;
}

static void set_env(struct arena *a, struct kernelspec *k, const struct json *doc, const char *path)
{
	const struct json *v;
	const char **list = NULL;
	size_t n = 0;

	for (v = json_first(json_get(doc, "env")); v && n < ENV_MAX; v = json_next(v))
		if (json_key(v) && json_str(v))
			*ARENA_APPEND(a, list, n) =
				arena_printf(a, "%s=%s", json_key(v), json_str(v));
	if (n)
		fact_list_set(&k->env, list, n, path);
}

const char *py_kernel(struct py_find *f, const char *path)
{
	struct probe_ctx *p = f->p;
	const struct json *doc;
	struct kernelspec *k;
	const char **argv, *name;
	struct view text;
	size_t n;

	if (sysroot_read(p->root, p->a, path, TEXT_MAX, &text, NULL) != 0 ||
	    json_parse(p->a, text, path, &doc, NULL) != 0)
		return NULL;
	argv = json_str_list(p->a, json_get(doc, "argv"), &n);
	if (!argv || !n || argv[0][0] != '/' || !strstr(path_base(argv[0]), "python"))
		return NULL;
	if (p->s->n_kernels < KERNELS_MAX && !is_known(p->s, path)) {
		k = ARENA_APPEND(p->a, p->s->kernels, p->s->n_kernels);
		name = json_get_str(doc, "display_name");
		fact_set(&k->name, name ? name : path_base(path_dir(p->a, path)), path);
		fact_set(&k->path, path, path);
		fact_set(&k->interpreter, argv[0], path);
		set_env(p->a, k, doc, path);
	}
	return argv[0];
}

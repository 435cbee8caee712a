/* SPDX-License-Identifier: Apache-2.0 */
/* --require K>=V: what must hold, as rows of the snapshot that rules judge. */
#include <string.h>

#include "base/arena.h"
#include "base/suggest.h"
#include "model/version.h"
#include "source/source.h"

static const char *const keys[] = { "gpu",	   "cc",	 "driver", "driver-flavor", "os",
				    "distro",	   "arch",	 "glibc",  "python",	    "torch",
				    "torchvision", "tensorflow", "jax",	   "cuda",	    "cudnn",
				    "gcc",	   "vram",	 NULL };

static const char *const ops[] = { ">=", "<=", "==", "!=", ">", "<", "=" };

static bool known_key(const char *key)
{
	size_t i;

	for (i = 0; keys[i]; i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static int parse(struct arena *a, const char *text, struct require *ret, struct err *err)
{
	size_t n = strcspn(text, "<>=!"), i;
	const char *key = arena_strndup(a, text, n), *near;

	key = view_dup(a, view_trim(view_of(key)));
	for (i = 0; i < ARRAY_LEN(ops); i++)
		if (strncmp(text + n, ops[i], strlen(ops[i])) == 0)
			break;
	if (i == ARRAY_LEN(ops) || !text[n + strlen(ops[i])])
		return err_set(
			err, ERR_USAGE,
			_("--require %.200s: KEY>=VALUE is needed (operators >= <= > < == !=)"),
			text);
	if (!known_key(key)) {
		near = suggest(key, keys);
		return err_set(err, ERR_USAGE, _("--require %.100s: unknown key%s%s%s"), key,
			       near ? _("; did you mean ") : "", near ? near : "", near ? "?" : "");
	}
	fact_set(&ret->key, key, "--require");
	fact_set(&ret->op, strcmp(ops[i], "=") == 0 ? "==" : ops[i], "--require");
	fact_set(&ret->value, view_dup(a, view_trim(view_of(text + n + strlen(ops[i])))),
		 "--require");
	return 0;
}

int source_require(struct arena *a, const char *const *require, size_t n, struct snapshot *s,
		   struct err *err)
{
	size_t i;
	int r;

	for (i = 0; i < n; i++) {
		r = parse(a, require[i], ARENA_APPEND(a, s->require, s->n_require), err);
		if (r)
			return r;
	}
	return 0;
}

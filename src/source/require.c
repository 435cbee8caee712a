/* SPDX-License-Identifier: Apache-2.0 */
/* --require K>=V: what must hold, as rows of the snapshot that rules judge. */
#include <string.h>

#include "base/arena.h"
#include "base/suggest.h"
#include "model/version.h"
#include "source/source.h"

typedef bool sense_fn(struct view value);

static bool is_text(struct view value)
{
	return value.n > 0;
}

static bool is_version(struct view value)
{
	struct version v;

	return version_prefix(value, &v);
}

static bool is_one_of(struct view value, const char *const *list)
{
	for (; *list; list++)
		if (view_is(value, *list))
			return true;
	return false;
}

static bool is_system(struct view value)
{
	static const char *const list[] = { "linux", "windows", "wsl2", "macos", NULL };

	return is_one_of(value, list);
}

static bool is_arch(struct view value)
{
	static const char *const list[] = { "x86_64", "aarch64", "amd64", "arm64", NULL };

	return is_one_of(value, list);
}

static bool is_flavor(struct view value)
{
	static const char *const list[] = { "open", "proprietary", NULL };

	return is_one_of(value, list);
}

static bool is_size(struct view value)
{
	uint64_t mib;

	return view_mib(value, &mib);
}

/* A value that means nothing for its key could only ever fail, and would blame the machine. */
static const struct {
	const char *key;
	sense_fn *sense;
	const char *wanted;
} keys[] = {
	{ "gpu", is_text, N_("the name of a GPU") },
	{ "cc", is_version, N_("a compute capability such as 8.0") },
	{ "vram", is_size, N_("a size such as 24GiB or 24576MiB") },
	{ "driver", is_version, N_("a version such as 550.54.14") },
	{ "driver-flavor", is_flavor, N_("open or proprietary") },
	{ "os", is_system, N_("linux, windows, wsl2 or macos") },
	{ "distro", is_text, N_("a distribution such as ubuntu22.04") },
	{ "arch", is_arch, N_("x86_64 or aarch64") },
	{ "glibc", is_version, N_("a version such as 2.28") },
	{ "python", is_version, N_("a version such as 3.12") },
	{ "torch", is_version, N_("a version such as 2.6.0") },
	{ "torchvision", is_version, N_("a version such as 0.21.0") },
	{ "torchaudio", is_version, N_("a version such as 2.6.0") },
	{ "tensorflow", is_version, N_("a version such as 2.18.0") },
	{ "jax", is_version, N_("a version such as 0.5.0") },
	{ "cuda", is_version, N_("a version such as 12.4") },
	{ "cudnn", is_version, N_("a version such as 9.1") },
	{ "gcc", is_version, N_("a version such as 12") },
};

static const char *const ops[] = { ">=", "<=", "==", "!=", ">", "<", "=" };

static int unknown_key(const char *key, struct err *err)
{
	const char *names[ARRAY_LEN(keys) + 1] = { 0 }, *near;
	size_t i;

	for (i = 0; i < ARRAY_LEN(keys); i++)
		names[i] = keys[i].key;
	near = suggest(key, names);
	return err_set(err, ERR_USAGE, _("--require %.100s: unknown key%s%s%s"), key,
		       near ? _("; did you mean ") : "", near ? near : "", near ? "?" : "");
}

static int parse(struct arena *a, const char *text, struct require *ret, struct err *err)
{
	size_t n = strcspn(text, "<>=!"), i, k;
	const char *key = arena_strndup(a, text, n);
	struct view value;

	key = view_dup(a, view_trim(view_of(key)));
	for (i = 0; i < ARRAY_LEN(ops); i++)
		if (strncmp(text + n, ops[i], strlen(ops[i])) == 0)
			break;
	if (i == ARRAY_LEN(ops) || !text[n + strlen(ops[i])])
		return err_set(
			err, ERR_USAGE,
			_("--require %.200s: KEY>=VALUE is needed (operators >= <= > < == !=)"),
			text);
	for (k = 0; k < ARRAY_LEN(keys); k++)
		if (strcmp(keys[k].key, key) == 0)
			break;
	if (k == ARRAY_LEN(keys))
		return unknown_key(key, err);
	value = view_trim(view_of(text + n + strlen(ops[i])));
	if (!keys[k].sense(value))
		return err_set(err, ERR_USAGE, _("--require %.200s: %s is %s"), text, key,
			       _(keys[k].wanted));
	fact_set(&ret->key, key, "--require");
	fact_set(&ret->op, strcmp(ops[i], "=") == 0 ? "==" : ops[i], "--require");
	fact_set(&ret->value,
		 view_is(value, "amd64")   ? "x86_64"
		 : view_is(value, "arm64") ? "aarch64"
					   : view_dup(a, value),
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

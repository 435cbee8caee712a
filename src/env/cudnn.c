/* SPDX-License-Identifier: Apache-2.0 */
/* Which cuDNN, and whether the loader finds a library directory by itself. Opens no library. */
#include <string.h>

#include "base/arena.h"
#include "env/env.h"
#include "model/version.h"
#include "sys/ldcache.h"

enum { NAMES_MAX = 4096, STEMS_MAX = 64 };

static bool holds_cudnn(const struct sysroot *root, struct arena *a, const char *dir)
{
	struct dirlist list;
	size_t i;

	if (sysroot_list(root, a, dir, NAMES_MAX, &list) != 0)
		return false;
	for (i = 0; i < list.n; i++)
		if (strncmp(list.names[i], "libcudnn.so", strlen("libcudnn.so")) == 0)
			return true;
	return false;
}

const char *env_cudnn_lib(const struct sysroot *root, struct arena *a, const char *prefix)
{
	static const char *const libs[] = { "lib64", "lib" };
	const char *dir;
	size_t i;

	for (i = 0; i < ARRAY_LEN(libs); i++) {
		dir = path_join(a, prefix, libs[i]);
		if (holds_cudnn(root, a, dir))
			return dir;
	}
	return NULL;
}

/* -------- those that `cuvet fetch` unpacked: PREFIX/cudnn/<version>-cuda<major> */

static const char *best_below(const struct sysroot *root, struct arena *a, const char *top,
			      const char *asked, const char *cuda)
{
	const char *best = NULL, *best_version = NULL, *tail, *version;
	struct dirlist list;
	struct version v;
	size_t i, n;

	if (sysroot_list(root, a, top, NAMES_MAX, &list) != 0)
		return NULL;
	for (i = 0; i < list.n; i++) {
		tail = strstr(list.names[i], "-cuda");
		if (!tail)
			continue;
		version = arena_strndup(a, list.names[i], (size_t)(tail - list.names[i]));
		n = asked ? strlen(asked) : 0;
		if (!version_parse(view_of(version), &v) ||
		    (asked && (strncmp(version, asked, n) != 0 ||
			       (version[n] && version[n] != '.'))))
			continue;
		if (cuda && version_prefix(view_of(cuda), &v) &&
		    strcmp(tail + strlen("-cuda"), arena_printf(a, "%u", v.part[0])) != 0)
			continue;
		if (!env_cudnn_lib(root, a, path_join(a, top, list.names[i])))
			continue;
		if (!best || version_cmp_str(version, best_version) > 0) {
			best = path_join(a, top, list.names[i]);
			best_version = version;
		}
	}
	return best;
}

static const char *installed(const struct sysroot *root, struct arena *a, const struct snapshot *s,
			     const char *asked, const char *cuda)
{
	const char *home = snapshot_env(s, "HOME"), *found = NULL;

	if (home && home[0] == '/')
		found = best_below(root, a, path_join(a, home, ".local/cuvet/cudnn"), asked, cuda);
	if (!found)
		found = best_below(root, a, "/usr/local/cuvet/cudnn", asked, cuda);
	return found ? found : best_below(root, a, "/opt/cuvet/cudnn", asked, cuda);
}

int env_choose_cudnn(struct arena *a, const struct sysroot *root, const struct snapshot *s,
		     const char *asked, const char *cuda, const char **ret_prefix,
		     struct err *err)
{
	const char *prefix;

	*ret_prefix = NULL;
	if (asked && env_is_prefix(asked)) {
		if (!sysroot_exists(root, asked))
			return err_set(err, ERR_USAGE, _("--cudnn %.300s: there is no such folder"),
				       asked);
		if (!env_cudnn_lib(root, a, asked))
			return err_set(err, ERR_USAGE,
				       _("--cudnn %.300s: no libcudnn.so in its lib64 or lib"),
				       asked);
		*ret_prefix = asked;
		return 0;
	}
	prefix = installed(root, a, s, asked, cuda);
	if (!prefix && asked)
		return err_set(err, ERR_NOENT,
			       _("no cuDNN %.40s for CUDA %.40s is installed here; get it with "
				 "`cuvet fetch cudnn`, or name its prefix with --cudnn"),
			       asked, cuda ? cuda : "?");
	*ret_prefix = prefix;
	return 0;
}

/* -------- the loader */

/* "libcudart.so.12": the name that programs ask for, one number behind ".so.". */
static bool is_asked_for(const char *name)
{
	const char *at = strstr(name, ".so.");

	return at && strncmp(name, "lib", 3) == 0 && at[4] && !at[4 + strspn(at + 4, "0123456789")];
}

bool env_loader_finds(const struct sysroot *root, struct arena *a, const char *dir)
{
	struct ldcache_entry e;
	struct dirlist list;
	struct ldcache c;
	const char *real, *file;
	size_t i, pos, seen = 0;

	if (sysroot_realpath(root, a, dir, &real) != 0 ||
	    sysroot_list(root, a, real, NAMES_MAX, &list) != 0 || ldcache_read(root, a, &c) != 0)
		return false;
	for (i = 0; i < list.n && seen < STEMS_MAX; i++) {
		if (!is_asked_for(list.names[i]))
			continue;
		pos = 0;
		seen++;
		if (!ldcache_find(&c, list.names[i], LDCACHE_ANY, &pos, &e) ||
		    sysroot_realpath(root, a, path_dir(a, e.path), &file) != 0 ||
		    strcmp(file, real) != 0)
			return false;
	}
	return seen > 0;
}

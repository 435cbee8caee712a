/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a path as text: nothing is looked up. */
#include "base/path.h"

#include <string.h>

#include "base/arena.h"

const char *path_join(struct arena *a, const char *dir, const char *name)
{
	size_t n = strlen(dir);

	while (n && dir[n - 1] == '/')
		n--;
	while (name[0] == '/')
		name++;
	return arena_printf(a, "%.*s/%s", (int)n, dir, name);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *path_dir(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return ".";
	return slash == path ? "/" : arena_strndup(a, path, (size_t)(slash - path));
}

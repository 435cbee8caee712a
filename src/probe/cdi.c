/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CDI specification as text. It is YAML or JSON; the lines that matter look alike in both, and a
 * reader of whole YAML is not worth its size here. Opens nothing.
 */
#include <string.h>

#include "base/arena.h"
#include "model/version.h"
#include "probe/runtime.h"

enum { PATH_LENGTH = 1024 };

static bool ends_path(char c)
{
	return c == '\0' || c == '"' || c == '\'' || c == ',' || c == '\n' || c == '\r' ||
	       c == ' ' || c == '}' || c == ']';
}

/* The value of the next `key` in *text ("hostPath: /usr/lib/x", "\"hostPath\":\"/usr/lib/x\"");
 * NULL when it is no absolute path. false at the end. */
static bool next_path(struct arena *a, struct view *text, const char *key, const char **ret)
{
	ptrdiff_t at = view_find(*text, key);
	size_t i = 0, n = 0;

	if (at < 0)
		return false;
	*text = view_skip(*text, (size_t)at + strlen(key));
	while (i < text->n && (text->p[i] == '"' || text->p[i] == '\'' || text->p[i] == ' ' ||
			       text->p[i] == ':' || text->p[i] == '\t'))
		i++;
	*text = view_skip(*text, i);
	while (n < text->n && n < PATH_LENGTH && !ends_path(text->p[n]))
		n++;
	*ret = n && text->p[0] == '/' ? arena_strndup(a, text->p, n) : NULL;
	*text = view_skip(*text, n);
	return true;
}

/* "570.124.06" of /usr/lib/libcuda.so.570.124.06; NULL for other files. */
static const char *driver_version(const char *path)
{
	const char *base = strrchr(path, '/') + 1, *so = strstr(base, ".so.");
	struct version v;

	if (!so || (strncmp(base, "libcuda.", 8) != 0 && strncmp(base, "libnvidia-", 10) != 0 &&
		    strncmp(base, "libcudadebugger.", 16) != 0))
		return NULL;
	so += 4;
	/* Libraries with versions of their own (libnvidia-egl-wayland.so.1.1.13) count from 1. */
	return version_parse(view_of(so), &v) && v.n >= 2 && v.part[0] > 99 ? so : NULL;
}

void cdi_scan(struct arena *a, struct view text, const char **ret_version, cdi_path_fn *fn,
	      void *ctx)
{
	const char *path;
	bool more = true;

	*ret_version = NULL;
	while (next_path(a, &text, "hostPath", &path)) {
		if (!path)
			continue;
		if (!*ret_version)
			*ret_version = driver_version(path);
		if (more)
			more = fn(ctx, path);
	}
}

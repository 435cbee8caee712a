/* SPDX-License-Identifier: Apache-2.0 */
/* dlopen of a path, and the way back from a symbol to its file. */
#include "sys/dl_path.h"

#include <dlfcn.h>
#include <stdio.h>

#include "base/attr.h"

void *dl_open_path(const char *path, char *why, size_t size)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	const char *text;

	if (handle)
		return handle;
	text = dlerror();
	snprintf(why, size, "%s", text ? text : "dlopen");
	return NULL;
}

void *dl_find(void *handle, const char *name)
{
	return dlsym(handle, name);
}

bool dl_where(const void *p, char *path, size_t size)
{
	Dl_info info;

	if (!dladdr(p, &info) || !info.dli_fname)
		return false;
	snprintf(path, size, "%s", info.dli_fname);
	return true;
}

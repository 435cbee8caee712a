/* SPDX-License-Identifier: Apache-2.0 */
/* Destructors for scope-owned resources; each accepts the empty state and keeps errno. */
#include "base/attr.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

void cleanup_fd(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

void cleanup_dir(void *dirp)
{
	DIR **d = dirp;
	int saved = errno;

	if (*d)
		closedir(*d);
	*d = NULL;
	errno = saved;
}

void cleanup_free(void *p)
{
	void **v = p;

	free(*v);
	*v = NULL;
}

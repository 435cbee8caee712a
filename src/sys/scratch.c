/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and removes one folder; must touch nothing outside it. */
#include "sys/scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	/* What stays is for the system's own cleaning; the rest goes. */
	(void)remove(path);
	return 0;
}

const char *scratch_make(struct arena *a)
{
	const char *dir = getenv("TMPDIR");
	char *path = arena_printf(a, "%s/cuvet-XXXXXX", dir && dir[0] == '/' ? dir : "/tmp");

	return mkdtemp(path);
}

void scratch_remove(const char *path)
{
	enum { OPEN_MAX_FDS = 16 };

	nftw(path, remove_one, OPEN_MAX_FDS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

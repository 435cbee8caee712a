/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading one certain file, and asking which file a symbol came from. To be called in a child
 * (sys/child) alone: constructors run. Nothing that was loaded is ever unloaded.
 */
#ifndef SYS_DL_PATH_H
#define SYS_DL_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* The file at PATH, its symbols open to what is loaded later. NULL: `why` has the loader's words.
 */
void *dl_open_path(const char *path, char *why, size_t size);
/* NULL when it has no such symbol. */
void *dl_find(void *handle, const char *name);
/* The file that holds the code at p, as the loader names it; false when it is in none. */
bool dl_where(const void *p, char *path, size_t size);

#endif

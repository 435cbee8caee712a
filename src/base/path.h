/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a path as text: nothing is looked up. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

struct arena;

/* Joins with exactly one slash. */
const char *path_join(struct arena *a, const char *dir, const char *name);
const char *path_base(const char *path); /* behind the last slash */
const char *path_dir(struct arena *a, const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One region of memory a run: snapshot, tables, findings and plans live on it until the run ends.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/attr.h"

struct arena;

/* Called when memory runs out; must not return. NULL: one line on stderr, exit 4 at once. */
typedef void arena_oom_fn(void);

struct arena *arena_new(arena_oom_fn *oom) ATTR_NONNULL;
/*
 * The same for a caller that must not be ended: `oom` is called with `with`, must not return, and
 * holds for every arena_exhausted() of it. NULL when there is no memory even for the arena.
 */
typedef void arena_oom_with_fn(void *with);
struct arena *arena_new_with(arena_oom_with_fn *oom, void *with);
/*
 * Ends the run as a failed allocation of `a` does: for memory that the C library or another one
 * asks for, so that its lack is never taken for an answer. NULL: the default way.
 */
_Noreturn void arena_exhausted(const struct arena *a);
void arena_free(struct arena *a); /* accepts NULL; frees all that was allocated */

/*
 * Calls fn(p) when the arena is freed, newest first: for what a library allocates and only it can
 * free. Without memory to remember it, fn(p) is called before the run ends.
 */
void arena_defer(struct arena *a, void (*fn)(void *), void *p);

/* Zeroed memory, aligned for any type; never NULL. */
void *arena_alloc(struct arena *a, size_t size) ATTR_NONNULL;
void *arena_calloc(struct arena *a, size_t n, size_t size) ATTR_NONNULL;
/*
 * A larger copy of p (old bytes kept, the rest zeroed); grows in place when p is the newest block.
 */
void *arena_grow(struct arena *a, void *p, size_t old_size, size_t new_size) ATTR_NONNULL;
char *arena_strdup(struct arena *a, const char *s) ATTR_NONNULL;
char *arena_strndup(struct arena *a, const char *s, size_t n) ATTR_NONNULL;
char *arena_printf(struct arena *a, const char *fmt, ...) ATTR_PRINTF(2, 3) ATTR_NONNULL;
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap) ATTR_PRINTF(2, 0) ATTR_NONNULL;

/*
 * Appends a zeroed element to the array `*arr` (element type T) whose length is `*n`; returns it.
 */
void *arena_append(struct arena *a, void *arr_ptr, size_t *n, size_t elem_size) ATTR_NONNULL;
/* Elements for which an array of n has to have room so that it can be appended to. */
size_t arena_room(size_t n);
#define ARENA_APPEND(a, arr, n) \
	((__typeof__(arr))arena_append((a), &(arr), &(n), sizeof(*(arr))))

#endif

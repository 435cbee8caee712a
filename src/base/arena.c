/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena: chunks that double up to 1 MiB, freed together. Out of memory ends the run here and
 * nowhere else.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_MIN = 16 << 10, CHUNK_MAX = 1 << 20, EXIT_NO_MEMORY = 4 };

struct chunk {
	struct chunk *next;
	size_t size, used;
	alignas(max_align_t) unsigned char data[];
};

struct deferred {
	struct deferred *next;
	void (*fn)(void *);
	void *p;
};

struct arena {
	struct chunk *top;
	struct deferred *deferred;
	size_t next_size;
	arena_oom_fn *oom;
	arena_oom_with_fn *oom_with;
	void *with;
};

static void oom_default(void)
{
	static const char text[] = "cuvet: out of memory\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_NO_MEMORY);
	_exit(EXIT_NO_MEMORY);
}

static _Noreturn void out_of_memory(arena_oom_fn *oom)
{
	if (oom)
		oom();
	oom_default();
	abort();
}

void arena_exhausted(const struct arena *a)
{
	if (a && a->oom_with)
		a->oom_with(a->with);
	out_of_memory(a ? a->oom : NULL);
}

struct arena *arena_new(arena_oom_fn *oom)
{
	struct arena *a = calloc(1, sizeof(*a));

	if (!a)
		out_of_memory(oom);
	a->oom = oom;
	a->next_size = CHUNK_MIN;
	return a;
}

struct arena *arena_new_with(arena_oom_with_fn *oom, void *with)
{
	struct arena *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->oom_with = oom;
	a->with = with;
	a->next_size = CHUNK_MIN;
	return a;
}

void arena_free(struct arena *a)
{
	struct chunk *c, *next;
	struct deferred *d;

	if (!a)
		return;
	for (d = a->deferred; d; d = d->next)
		d->fn(d->p);
	for (c = a->top; c; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

static size_t aligned(struct arena *a, size_t size)
{
	size_t al = alignof(max_align_t);

	if (size > SIZE_MAX / 2)
		arena_exhausted(a);
	return (size + al - 1) / al * al;
}

/* NULL when there is no memory. */
static void *try_alloc(struct arena *a, size_t size)
{
	size_t need = aligned(a, size ? size : 1), room;
	struct chunk *c = a->top;
	void *p;

	if (!c || c->size - c->used < need) {
		room = need > a->next_size ? need : a->next_size;
		c = calloc(1, sizeof(*c) + room);
		if (!c)
			return NULL;
		c->size = room;
		c->next = a->top;
		a->top = c;
		if (a->next_size < CHUNK_MAX)
			a->next_size *= 2;
	}
	p = c->data + c->used;
	c->used += need;
	return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	void *p = try_alloc(a, size);

	if (!p)
		arena_exhausted(a);
	return p;
}

void *arena_calloc(struct arena *a, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		arena_exhausted(a);
	return arena_alloc(a, total);
}

void arena_defer(struct arena *a, void (*fn)(void *), void *p)
{
	struct deferred *d = try_alloc(a, sizeof(*d));

	if (!d) {
		fn(p);
		arena_exhausted(a);
	}
	*d = (struct deferred){ .next = a->deferred, .fn = fn, .p = p };
	a->deferred = d;
}

void *arena_grow(struct arena *a, void *p, size_t old_size, size_t new_size)
{
	struct chunk *c = a->top;
	size_t old = aligned(a, old_size ? old_size : 1), need = aligned(a, new_size);
	void *q;

	if (new_size <= old_size && p)
		return p;
	if (p && c && c->used >= old && (unsigned char *)p == c->data + c->used - old &&
	    c->size - c->used >= need - old) {
		c->used += need - old;
		return p;
	}
	q = arena_alloc(a, new_size);
	if (p && old_size)
		memcpy(q, p, old_size);
	return q;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);

	if (n)
		memcpy(p, s, n);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list copy;
	char *p;
	int n;

	va_copy(copy, ap);
	n = vsnprintf(NULL, 0, fmt, copy);
	va_end(copy);
	if (n < 0)
		return arena_strdup(a, "");
	p = arena_alloc(a, (size_t)n + 1);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	p = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return p;
}

size_t arena_room(size_t n)
{
	size_t room = 4;

	while (room < n && room <= SIZE_MAX / 2)
		room *= 2;
	return room < n ? n : room;
}

/*
 * Capacity is the next power of two, so it need not be stored: growth happens when n is a power of
 * two.
 */
void *arena_append(struct arena *a, void *arr_ptr, size_t *n, size_t elem_size)
{
	void *arr;
	size_t cap = *n ? *n : 4;

	memcpy(&arr, arr_ptr, sizeof(arr));
	if (*n == 0 || (*n >= 4 && (*n & (*n - 1)) == 0)) {
		size_t want = *n ? cap * 2 : 4, bytes;

		if (__builtin_mul_overflow(want, elem_size, &bytes))
			arena_exhausted(a);
		arr = arena_grow(a, *n ? arr : NULL, *n * elem_size, bytes);
		memcpy(arr_ptr, &arr, sizeof(arr));
	}
	return (unsigned char *)arr + elem_size * (*n)++;
}

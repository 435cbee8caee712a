/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For LD_PRELOAD: lets the CUVET_FAIL_AT'th allocation fail, and with CUVET_FAIL_ON all later ones
 * too. How many there were it writes into the file CUVET_FAIL_COUNT at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* What glibc's own are called when malloc and the rest are taken. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

static long calls, at = -1;

static int fails(void)
{
	const char *s;

	if (at < 0) {
		s = getenv("CUVET_FAIL_AT");
		at = s ? strtol(s, NULL, 10) : 0;
	}
	calls++;
	if (!at || (getenv("CUVET_FAIL_ON") ? calls < at : calls != at))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

__attribute__((destructor)) static void count(void)
{
	const char *name = getenv("CUVET_FAIL_COUNT");
	long n = calls;
	FILE *f;

	at = 0;
	f = name ? fopen(name, "w") : NULL;
	if (!f)
		return;
	fprintf(f, "%ld\n", n);
	fclose(f);
}

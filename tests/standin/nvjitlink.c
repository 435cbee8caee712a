/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libnvJitLink.so that "links" to nothing, or as $CUVET_STANDIN_LINK says: segv,
 * loop, code, exit. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static int does(const char *what)
{
	const char *say = getenv("CUVET_STANDIN_LINK");

	return say && strcmp(say, what) == 0;
}

EXPORT int nvJitLinkVersion(unsigned *major, unsigned *minor);
EXPORT int nvJitLinkVersion(unsigned *major, unsigned *minor)
{
	*major = 13;
	*minor = 1;
	return 0;
}

EXPORT int nvJitLinkCreate(void **link, uint32_t n, const char **options);
EXPORT int nvJitLinkCreate(void **link, uint32_t n, const char **options)
{
	*link = link;
	return n == 1 && strncmp(options[0], "-arch=sm_", 9) == 0 ? 0 : 1;
}

EXPORT int nvJitLinkAddData(void *link, int type, const void *data, size_t n, const char *name);
EXPORT int nvJitLinkAddData(void *link, int type, const void *data, size_t n, const char *name)
{
	(void)link;
	(void)name;
	return type == 2 && n && ((const char *)data)[n - 1] == '\0' ? 0 : 1;
}

EXPORT int nvJitLinkComplete(void *link);
EXPORT int nvJitLinkComplete(void *link)
{
	(void)link;
	if (does("segv"))
		*(volatile int *)8 = 1;
	if (does("exit"))
		exit(0);
	while (does("loop"))
		usleep(1000);
	return does("code") ? 6 : 0;
}

EXPORT int nvJitLinkGetLinkedCubinSize(void *link, size_t *n);
EXPORT int nvJitLinkGetLinkedCubinSize(void *link, size_t *n)
{
	(void)link;
	*n = does("size") ? (size_t)1 << 40 : 128;
	return 0;
}

#ifndef STANDIN_LACKS
EXPORT int nvJitLinkGetLinkedCubin(void *link, void *to);
EXPORT int nvJitLinkGetLinkedCubin(void *link, void *to)
{
	(void)link;
	memcpy(to, "\177ELF", 4);
	return 0;
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Compiler attributes, gettext marks and scope-owned resources. Holds no logic. */
#ifndef BASE_ATTR_H
#define BASE_ATTR_H

#include <stddef.h>

#include "base/lang.h"

#define ATTR_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define ATTR_MUST __attribute__((warn_unused_result))
#define ATTR_NONNULL __attribute__((returns_nonnull))
#define ATTR_UNUSED __attribute__((unused))

#define _(s) lang_text(s)
#define N_(s) s

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Scope-owned resources: `_cleanup_fd_ int fd = -1;`. take_fd() gives one away. */
void cleanup_fd(int *fd);
void cleanup_dir(void *dirp); /* DIR ** */
void cleanup_free(void *p);   /* void ** */
#define _cleanup_fd_ __attribute__((cleanup(cleanup_fd)))
#define _cleanup_dir_ __attribute__((cleanup(cleanup_dir)))
#define _cleanup_free_ __attribute__((cleanup(cleanup_free)))
static inline int take_fd(int *fd)
{
	int v = *fd;

	*fd = -1;
	return v;
}

#endif

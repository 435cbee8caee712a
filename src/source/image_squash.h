/* SPDX-License-Identifier: Apache-2.0 */
/* A squashfs image as a tar stream, through the tool that comes with it. */
#ifndef SOURCE_IMAGE_SQUASH_H
#define SOURCE_IMAGE_SQUASH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "sys/tar.h"

struct arena;
struct squash;

/* Does the file begin as a squashfs (little endian, as all since 4.0)? */
bool squash_is(int fd);
/*
 * Starts the tool, which ends with the arena at the latest. ERR_UNSUPPORTED: there is none. `path`
 * stays the caller's for as long.
 */
int squash_open(struct arena *a, const char *path, struct squash **ret, struct tar_source *ret_src,
		struct err *err) ATTR_MUST;
/* Was it all? To be called behind the last member. */
int squash_end(struct squash *q, struct err *err) ATTR_MUST;

#endif

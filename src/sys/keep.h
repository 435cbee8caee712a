/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of a file that passes by once, as a stream: all of it, its beginning, or of a large
 * library what probes read (everything but machine code and the payload of GPU code). Kept bytes go
 * to one unnamed file that is nowhere in a folder.
 */
#ifndef SYS_KEEP_H
#define SYS_KEEP_H

#include "sys/tree.h"

enum keep_how { KEEP_NOTHING, KEEP_HEAD, KEEP_LIBRARY, KEEP_ALL };

struct spill {
	int fd; /* -1 until something is kept */
	uint64_t size, limit;
	unsigned char *window; /* of the file that passes by; one at a time */
};

struct keeper;
/* For a file of `size` bytes. The result, which is ready after keep_end(), is *ret. */
struct keeper *keep_begin(struct arena *a, struct spill *s, uint64_t size, enum keep_how how,
			  struct tree_data **ret);
/* The next bytes. 0 or -errno; -ENOSPC beyond the spill's limit. */
int keep_push(struct keeper *k, const void *data, size_t n) ATTR_MUST;
int keep_end(struct keeper *k) ATTR_MUST;

#endif

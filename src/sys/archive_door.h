/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door to libarchive, which is loaded when a wheel or a source archive is looked into and never before.
 * Only tar and zip, plain or packed with gzip, xz, zstd or bzip2. Members come as a stream; nothing is written
 * to disk. Bounded in members, in bytes that are unpacked, and in the ratio of both (bombs).
 */
#ifndef SYS_ARCHIVE_DOOR_H
#define SYS_ARCHIVE_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct arena;
struct packed;

struct packed_member {
	const char *name;
	uint64_t size;	/* as its header says; 0 when it does not */
	bool is_file;	/* a regular file; links and folders are not */
	bool is_locked; /* encrypted */
};

/* Reads through fd, from its beginning, which stays the caller's. ERR_UNSUPPORTED: no libarchive here. */
int packed_open(struct arena *a, int fd, struct packed **ret, struct err *err) ATTR_MUST;
/* The next member. 1, 0 at the end, or -code for an archive that is damaged or beyond a limit. */
int packed_next(struct packed *p, struct packed_member *ret, struct err *err) ATTR_MUST;
/* Bytes of the member, 0 at its end, or -code. */
int64_t packed_read(struct packed *p, void *buf, size_t n, struct err *err) ATTR_MUST;
/* Gives back what libarchive holds; the arena does it otherwise. */
void packed_close(struct packed *p);

#endif

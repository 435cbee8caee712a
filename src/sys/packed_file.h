/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the compression off a file, or a member out of an archive, into an anonymous file: what is
 * parsed then is read as any file is. Bounded; nothing gets a name on a disk.
 */
#ifndef SYS_PACKED_FILE_H
#define SYS_PACKED_FILE_H

#include <stddef.h>

#include "base/err.h"
#include "sys/archive_door.h"

/*
 * What the regular file `fd` (borrowed, read by pread) holds behind the filter of this letter (as
 * packed_open_filter names them), as a new descriptor that the caller closes. ERR_TOOBIG: more than
 * `max` bytes come out; ERR_UNSUPPORTED: there is no libarchive, or it lacks the filter; else it is
 * damaged.
 */
int packed_file(struct arena *a, int fd, char filter, size_t max, struct err *err) ATTR_MUST;
/* The rest of the member that packed_next gave last, in the same way. */
int packed_member_file(struct packed *p, size_t max, struct err *err) ATTR_MUST;

#endif

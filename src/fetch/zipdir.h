/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The central directory of a zip, read on its own: libarchive goes by the local headers, other
 * readers by the directory, and what the two could read differently is not taken.
 */
#ifndef FETCH_ZIPDIR_H
#define FETCH_ZIPDIR_H

#include <stdint.h>

#include "base/err.h"

struct arena;

/*
 * The fingerprint (walk_fingerprint) of the directory's names in the order in which the entries lie
 * in the file. ERR_DATA: damaged, a local header has another name or method, or an entry is packed
 * by anything but deflate.
 */
int zipdir_fingerprint(struct arena *a, int fd, uint64_t *ret, struct err *err) ATTR_MUST;

#endif

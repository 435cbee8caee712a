/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second look at the headers of a plain tar while it passes by, beside the one of libarchive:
 * what two readers could take for different lengths is refused, since one of them would see an
 * archive where the other sees the contents of a file. Formats: POSIX ustar and pax, GNU sparse
 * headers.
 */
#ifndef FETCH_TARCHECK_H
#define FETCH_TARCHECK_H

#include <stddef.h>

#include "base/err.h"

struct arena;
struct tarcheck;

struct tarcheck *tarcheck_new(struct arena *a);
/* The next bytes of the stream. -ERR_DATA naming the entry; then every call says the same. */
int tarcheck_add(struct tarcheck *t, const void *p, size_t n, struct err *err) ATTR_MUST;

#endif

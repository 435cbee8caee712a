/* SPDX-License-Identifier: Apache-2.0 */
/* Members of an archive to files below a folder, with the list of them. Runs in the worker. */
#ifndef FETCH_UNPACK_H
#define FETCH_UNPACK_H

#include "base/err.h"
#include "fetch/walk.h"

struct arena;
struct crypto;
struct packed;

struct unpack_done {
	uint64_t files, bytes; /* without folders */
	uint64_t fingerprint;  /* of the names */
};

/*
 * Unpacks all of `p` below the empty folder `root` and writes RECORD_LIST there; everything is on
 * the disk when it returns. What is there after a failure is to be thrown away.
 */
int unpack_into(struct arena *a, struct packed *p, int root, const struct walk_limits *limits,
		struct crypto *c, struct unpack_done *ret, struct err *err) ATTR_MUST;

#endif

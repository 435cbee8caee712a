/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacking in sandboxed children, while the archive is still arriving: one takes off the
 * compression, the other takes the members out. Both read the file of the archive by a descriptor
 * of their own and are told how much of it is there. They say how it ended; they never print.
 */
#ifndef FETCH_UNPACKER_H
#define FETCH_UNPACKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "fetch/unpack.h"

struct arena;
struct crypto;

struct unpacker_ask {
	const char *name; /* of the archive: its ending says what it is */
	int fd;		  /* the file, which the worker reads without moving its offset */
	int staging;	  /* empty folder */
	struct walk_limits limits;
	struct crypto *crypto;
};

struct unpacker {
	pid_t decoder, unpacker; /* 0: none */
	int feed[2];		 /* write ends: how much is there, for each */
	int answer[2];		 /* read ends */
	uint64_t told;
};

/* Does the name end as an archive that can be unpacked? ERR_DATA when not. */
int unpacker_kind_ok(const char *name, struct err *err) ATTR_MUST;
int unpacker_start(struct arena *a, const struct unpacker_ask *ask, struct unpacker *w,
		 struct err *err) ATTR_MUST;
/* `n` bytes of the archive can be read; `last`: that is all, and it is the right file. */
void unpacker_feed(struct unpacker *w, uint64_t n, bool last);
/* Did it end already, for whatever reason? Waits up to `ms`. */
bool unpacker_ended(struct unpacker *w, int ms);
/* After the last feed: takes the answers. `tick` (may be NULL) is called while waiting. */
int unpacker_wait(struct unpacker *w, int (*tick)(void *ctx, struct err *err), void *ctx,
		struct unpack_done *ret, struct err *err) ATTR_MUST;
/* Ends it at once, if it runs. */
void unpacker_stop(struct unpacker *w);

#endif

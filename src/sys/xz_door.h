/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door to liblzma, for streams of xz that are made of several blocks: these are decoded by
 * several threads at once, which libarchive does not do. Loaded when it is opened and never before.
 */
#ifndef SYS_XZ_DOOR_H
#define SYS_XZ_DOOR_H

#include <stdint.h>

#include "base/err.h"
#include "sys/archive_door.h"

struct arena;
struct xz_threads;

/*
 * ERR_UNSUPPORTED: this liblzma (before 5.4) does not do it. With xz_read the bytes come, 0 at the
 * end of the last stream, or -code; -ERR_DATA for what is no xz or is damaged. Threads hold at most
 * XZ_THREADS_BYTES together; a stream that needs more, or is one block, has one thread.
 */
enum { XZ_THREADS_BYTES = 80 << 20 };
/* Loads the library now where it is, so that later nothing has to be opened. */
void xz_threads_load(void);
int xz_threads_open(struct arena *a, packed_source *source, void *ctx, struct xz_threads **ret,
		    struct err *err) ATTR_MUST;
int64_t xz_threads_read(struct xz_threads *x, void *buf, size_t n, struct err *err) ATTR_MUST;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door to libarchive, which is loaded when an archive is looked into or unpacked and never
 * before. Only tar and zip, plain or packed with gzip, xz, zstd or bzip2. Members come as a stream;
 * nothing is written to disk. Bounded in members, in bytes that are unpacked, and in the ratio of
 * both (bombs).
 */
#ifndef SYS_ARCHIVE_DOOR_H
#define SYS_ARCHIVE_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/view.h"

struct arena;
struct packed;

struct packed_member {
	const char *name;
	uint64_t size;	/* as its header says; 0 when it does not */
	bool is_file;	/* a regular file; links and folders are not */
	bool is_locked; /* encrypted */
	char type;	/* 'f', 'd', 'l' symbolic link, 'h' hard link, '?' what has no place here */
	const char *link;  /* target of 'l' and 'h'; NULL when it cannot be read */
	bool name_ok;	   /* false: the name cannot be read, `name` is "?" */
	unsigned mode;	   /* permission bits with set-id and sticky */
	bool capabilities; /* it brings file capabilities along */
};

/*
 * A stream of bytes: fills `buf`, returns how many, 0 at the end, or -1 (the reader then fails with
 * a message of its own).
 */
typedef int64_t packed_source(void *ctx, void *buf, size_t n);

/*
 * A file as such, through one filter of `filters` (letters: x xz, g gzip, z zstd; "" none): its
 * bytes come by packed_read after one packed_next. More than one filter is an error.
 */
int packed_open_filter(struct arena *a, packed_source *source, void *ctx, const char *filters,
		       struct packed **ret, struct err *err) ATTR_MUST;
/* A plain tar. No limit but those of the caller. */
int packed_open_tar(struct arena *a, packed_source *source, void *ctx, struct packed **ret,
		    struct err *err) ATTR_MUST;
/*
 * A cpio behind the filter of this letter (as above, also b bzip2, l lz4, m lzma), or plain ('\0').
 * No limit but those of the caller.
 */
int packed_open_cpio(struct arena *a, packed_source *source, void *ctx, char filter,
		     struct packed **ret, struct err *err) ATTR_MUST;
/* A zip by its central directory. No limit but those of the caller. */
int packed_open_zip(struct arena *a, int fd, struct packed **ret, struct err *err) ATTR_MUST;
/* The same zip by its local headers, as a reader of streams sees it. */
int packed_open_zip_stream(struct arena *a, packed_source *source, void *ctx, struct packed **ret,
			   struct err *err) ATTR_MUST;
/* Loads the library now, so that later nothing has to be opened. */
int packed_load(struct err *err) ATTR_MUST;

/* Reads through fd, from its beginning, which stays the caller's. ERR_UNSUPPORTED: no libarchive.
 */
int packed_open(struct arena *a, int fd, struct packed **ret, struct err *err) ATTR_MUST;
/* The next member. 1, 0 at the end, or -code for an archive that is damaged or beyond a limit. */
int packed_next(struct packed *p, struct packed_member *ret, struct err *err) ATTR_MUST;
/* Bytes of the member, 0 at its end, or -code. */
int64_t packed_read(struct packed *p, void *buf, size_t n, struct err *err) ATTR_MUST;
/*
 * Of a stream whose end packed_next has reported: what its source gave last and the reader did not
 * take.
 */
struct view packed_rest(struct packed *p);
/* Gives back what libarchive holds; the arena does it otherwise. */
void packed_close(struct packed *p);

#endif

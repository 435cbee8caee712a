/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of a tar stream, plain or packed with gzip, xz or zstd, read through libarchive (loaded
 * when first asked for). The bytes come from a source that can be asked for more and told to leave
 * some out. Every kind of member is given, links with their targets; nothing is written anywhere.
 */
#ifndef SYS_TAR_H
#define SYS_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"

struct arena;
struct tar;

struct tar_source {
	void *ctx;
	/* At least one byte and where it lies, 0 at the end, -1 on an error. */
	ssize_t (*read)(void *ctx, const void **ret);
	/* Leaves out up to n bytes; how many. NULL when the source cannot. */
	int64_t (*skip)(void *ctx, int64_t n);
};

struct tar_member {
	const char *name;    /* bytes as they are; valid until the next member */
	const char *symlink; /* target of a symbolic link, or NULL */
	const char *hardlink;
	mode_t mode;	   /* type and permissions */
	int64_t size;
	int64_t header;	   /* where its header begins in the unpacked stream */
	bool sparse;	   /* the data are a list of pieces */
};

int tar_open(struct arena *a, const struct tar_source *src, struct tar **ret,
	     struct err *err) ATTR_MUST;
/* 1, 0 at the end, -code when the stream is damaged or beyond a limit. */
int tar_next(struct tar *t, struct tar_member *ret, struct err *err) ATTR_MUST;
/* The next piece of the member's data and its offset in the file; 0 at its end. */
int64_t tar_data(struct tar *t, const void **ret, int64_t *ret_offset, struct err *err) ATTR_MUST;
/* Is the stream packed?  Only known after the first member. */
bool tar_is_packed(const struct tar *t);
void tar_close(struct tar *t);

#endif

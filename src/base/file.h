/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that the user names: capped reads and whole writes. Not for files of an audited system
 * (sys/sysroot).
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/err.h"
#include "base/view.h"

struct arena;

/*
 * Whole file, at most `limit` bytes (more is ERR_TOOBIG); only regular files, /dev/null and, for
 * "-", standard input.
 */
int file_read(struct arena *a, const char *path, size_t limit, struct view *ret,
	      struct err *err) ATTR_MUST;
/*
 * The same for an operand of the command line, which may be a pipe that the shell opened: <(...),
 * /dev/stdin. Never for a path that a file names.
 */
int file_read_operand(struct arena *a, const char *path, size_t limit, struct view *ret,
		      struct err *err) ATTR_MUST;
/* Reads an open descriptor to its end, at most `limit` bytes; `name` for messages. */
int file_read_fd(struct arena *a, int fd, const char *name, size_t limit, struct view *ret,
		 struct err *err) ATTR_MUST;
/* Writes all bytes (EINTR and short writes handled). 0 or -code. */
int file_write_fd(int fd, const char *name, struct view data, struct err *err) ATTR_MUST;
/*
 * May file_write_new() write PATH? It must not be there; with `replace` it may be a regular file.
 * ERR_USAGE names what is in the way.
 */
int file_may_be_new(const char *path, bool replace, struct err *err) ATTR_MUST;
/* The same as file_write(), and refuses what file_may_be_new() refuses, at the moment of naming. */
int file_write_new(const char *path, struct view data, bool replace, struct err *err) ATTR_MUST;
/* Atomic: temp file beside PATH, fsync, rename. PATH keeps its old content on any failure. */
int file_write(const char *path, struct view data, struct err *err) ATTR_MUST;

#endif

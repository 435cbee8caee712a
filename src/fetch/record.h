/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of what an installation put down, with hashes: a text file in it. Lines of a head, then
 * one line a file, then the line "end", without which it is not whole:
 *
 *   cuvet-record 1
 *   name cudnn                     also: version, label, cuda, platform, url, sha256, size,
 * licence,
 *   ...                            licence-url, accepted, into (a folder that it was merged into)
 *   f 755 1048576 <sha256> lib/libcudnn.so.9.1.1
 *   l libcudnn.so.9.1.1<TAB>lib/libcudnn.so.9
 *   d lib
 *   end
 *
 * It is read as if an enemy had written it: what is taken away is what it lists, below the folder
 * in which it lies and nowhere else.
 */
#ifndef FETCH_RECORD_H
#define FETCH_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/view.h"

struct arena;

#define RECORD_PREFIX ".cuvet-"
#define RECORD_NAME RECORD_PREFIX "record"
#define RECORD_NEW RECORD_PREFIX "new-" /* what has no name yet */
#define RECORD_LIST RECORD_PREFIX "files" /* the lines of files, while it is being unpacked */
enum { RECORD_MAX = 96 << 20 };

struct record_file {
	char type; /* 'f', 'l', 'd' */
	unsigned mode;
	uint64_t size;
	const char *sha256; /* of 'f' */
	const char *link;   /* of 'l' */
	const char *path;
};

struct record {
	const char *name, *version, *label, *cuda, *platform, *url, *sha256, *size, *licence,
		*licence_url, *accepted, *into;
	struct record_file *files;
	size_t n;
	size_t n_files; /* without folders */
};

/* -ERR_DATA with the line when it is no whole record. `name` for messages. */
int record_read(struct arena *a, struct view text, const char *name, struct record *ret,
		struct err *err) ATTR_MUST;
/* The head alone, which is enough to know what it is; the files are not looked at. */
int record_head(struct arena *a, struct view text, const char *name, struct record *ret,
		struct err *err) ATTR_MUST;
/* The file among them that is the licence's text: its path; NULL when none is. */
const char *record_licence(const struct record *r);

void record_put_head(struct strbuf *out, const struct record *r);
void record_put_file(struct strbuf *out, const struct record_file *f);
void record_put_end(struct strbuf *out);
/* May it stand in a record: relative, no empty, "." or ".." part, no control character? */
bool record_path_ok(const char *path);

#endif

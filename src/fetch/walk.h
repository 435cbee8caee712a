/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of an archive may be unpacked, and under which name: the policy alone, without a disk. What
 * two readers could read differently, or what could leave the folder, is refused and never
 * rewritten.
 *
 * Every name lies in the archive's one top folder, which is stripped. Refused: absolute names,
 * "..",
 * ".", empty parts, names that are not printable ASCII, that are too long or too deep, that come
 * twice or differ from another in case alone; links that lead out, hard links to anything but a
 * file that came before; devices and the like, set-id and sticky bits, file capabilities;
 * encryption.
 */
#ifndef FETCH_WALK_H
#define FETCH_WALK_H

#include "base/err.h"
#include "sys/archive_door.h"

struct arena;
struct walk;

struct walk_limits {
	uint64_t total;	  /* bytes of all files */
	uint64_t archive; /* its size: a file of more than `ratio` times that is a bomb; 0: none */
	unsigned ratio, entries;
};

enum walk_kind { WALK_FILE = 'f', WALK_DIR = 'd', WALK_LINK = 'l', WALK_HARD = 'h' };

struct walk_entry {
	enum walk_kind kind;
	const char *path; /* below the top folder; never empty */
	const char *link; /* target: as it is written of WALK_LINK, a path of WALK_HARD */
	unsigned mode;	  /* 0644 or 0755 */
	uint64_t size;	  /* as its header says */
};

struct walk *walk_new(struct arena *a, const struct walk_limits *limits);
/* 1 and *ret filled; 0 for the top folder itself; -ERR_DATA or -ERR_TOOBIG naming the entry. */
int walk_admit(struct walk *w, const struct packed_member *m, struct walk_entry *ret,
	       struct err *err) ATTR_MUST;
/* Counts bytes that were unpacked. -ERR_TOOBIG beyond a limit. */
int walk_bytes(struct walk *w, uint64_t n, struct err *err) ATTR_MUST;
/* Names in the order in which a reader of a stream sees them, to be compared with another's. */
uint64_t walk_fingerprint(uint64_t before, const char *name);

#endif

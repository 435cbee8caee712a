/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of an ar archive (lib*.a), by bounded reads: names of 16 bytes, long names of GNU ("//")
 * and of BSD
 * ("#1/"). A thin archive holds no members and is refused. Format: ar(5).
 */
#ifndef SYS_AR_H
#define SYS_AR_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

struct ar {
	struct arena *a;
	int fd;
	uint64_t base, size; /* of the archive in the file */
	uint64_t at;	     /* next header */
	const char *names;   /* the table "//"; NULL */
	uint64_t names_n;
	unsigned count;
	const char *damage; /* untranslated; NULL when sound */
};

struct ar_member {
	const char *name;
	uint64_t off, size; /* in the file */
};

/* 0; -ENOEXEC: no archive; -ENOTSUP: a thin one. */
int ar_open(struct arena *a, int fd, uint64_t base, uint64_t size, struct ar *ret);
/* The next member that is no table; false at the end, or when the next header makes no sense
 * (ar->damage). */
bool ar_next(struct ar *ar, struct ar_member *ret);

#endif

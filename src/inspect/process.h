/* SPDX-License-Identifier: Apache-2.0 */
/* A running process: what is mapped into it, against what the loader would take now. */
#ifndef INSPECT_PROCESS_H
#define INSPECT_PROCESS_H

#include "inspect/inspect.h"

enum mapped_state {
	MAPPED_SAME,	 /* the loader would take this file for this name again */
	MAPPED_DLOPENED, /* nothing that the program needs: it was opened later */
	MAPPED_OTHER,	 /* the loader would take another file now: `expected` */
	MAPPED_GONE,	 /* the file was deleted or replaced since */
};

struct mapped {
	const char *path;
	const char *soname; /* NULL: none, or the file is gone */
	enum mapped_state state;
	const char *expected; /* what a load by name gives now; NULL: nothing, or not asked */
	enum load_via via;    /* of `expected` */
};

struct process {
	long pid;
	const char *exe;
	struct mapped *v;
	size_t n;
	const struct load_answer **missing; /* what the program needs, and is not mapped */
	size_t n_missing;
	const struct load_session *session;
};

/*
 * Root, environment and working directory of the process become those of `in`, whose other members
 * are zero but for the arena. ERR_NOENT: no such process; ERR_ACCESS.
 */
int process_open(struct inspect *in, long pid, struct err *err) ATTR_MUST;
int process_read(struct inspect *in, long pid, struct process *ret, struct err *err) ATTR_MUST;
const char *mapped_state_word(enum mapped_state s);

/* The lines of /proc/N/maps that name a file: each file once, in the order of the first; "
 * (deleted)" cut off. */
struct map_line {
	const char *path;
	bool deleted, code; /* code: some part of it may be run */
};
struct map_line *process_maps(struct arena *a, struct view text, size_t *ret_n);

#endif

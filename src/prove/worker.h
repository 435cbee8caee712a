/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process a GPU that climbs the ladder and reports over a pipe, and its keeper, who has the
 * clock: a rung that does not answer in time is "hung", a process that ends is "crashed", and
 * neither stops the keeper.
 */
#ifndef PROVE_WORKER_H
#define PROVE_WORKER_H

#include "prove/lab.h"
#include "sys/child.h"

enum { WORKER_GPUS_MAX = 64, WORKER_RUNGS_MAX = 64 };

enum worker_note_kind { NOTE_BEGIN = 1, NOTE_END, NOTE_GPU, NOTE_DRIVER, NOTE_WAIT, NOTE_DONE };

/* As it goes through the pipe: less than PIPE_BUF, so that each comes whole. */
struct worker_note {
	uint32_t magic;
	uint32_t kind;
	int32_t rung; /* index into the ladder; NOTE_GPU: index of the GPU */
	int32_t n;    /* NOTE_GPU: how many there are; NOTE_DRIVER: the driver's CUDA version */
	union {
		struct proof_outcome o;
		struct proof_gpu gpu;
	};
};

struct worker {
	struct arena *a;
	const struct prove_options *opt;
	struct child child;
	struct lab_progress *progress;
	int gpu;     /* by which it is called in the report */
	int ordinal; /* in its process */
	int from;    /* first rung that is open: before it only what all rest on is climbed again */
	bool scout;  /* it says which GPUs there are */
	const char *const *env;
	struct proof_test tests[WORKER_RUNGS_MAX]; /* one a rung of the ladder */
	bool ended[WORKER_RUNGS_MAX];
	int current;	 /* rung under way; -1: none */
	long started_ms; /* of it */
	bool waiting;	 /* for its turn: no deadline runs */
	bool done;	 /* nothing more comes: all rows are filled */
	bool gone;	 /* reaped, or given up */
	long done_ms;
	size_t have; /* bytes of `note` that came */
	struct worker_note note;
};

/* Starts the process. */
void worker_start(struct worker *w);
/* Milliseconds until its rung is overdue; 0: it is. */
long worker_left(const struct worker *w);
/*
 * Takes what came, without waiting. 1: *ret is a note that the caller may look at (already entered
 * into the rows); 0: nothing for now, or the worker is done.
 */
int worker_take(struct worker *w, struct worker_note *ret);
/* Its rung is overdue: kills it and fills the rows. */
void worker_hung(struct worker *w);
/* Ends it whatever it does; rows that are open become "skip" with `why`. */
void worker_stop(struct worker *w, const char *why);
/* Tries to take its status; true when it is gone. */
bool worker_reap(struct worker *w);

#endif

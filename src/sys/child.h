/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a function in a forked child with a deadline: the only way in which a driver library is
 * called. The child gets /dev/null as stdin, stdout and stderr, no inherited descriptors above 2
 * but its answer pipe, default signals, a built-up environment, no core dump (piped ones included)
 * and PR_SET_PDEATHSIG. It may crash, hang, exit or flood: all are results.
 */
#ifndef SYS_CHILD_H
#define SYS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Where the child has its end of the answer pipe. A function with more to say than one answer may
 * write there itself, when its parent reads child.fd itself.
 */
enum { CHILD_FD = 3 };

enum child_end {
	CHILD_ANSWERED, /* the whole answer came and the child ended with 0 */
	CHILD_HUNG,	/* deadline passed; it got TERM, then KILL */
	CHILD_CRASHED,	/* ended by a signal: `detail` holds it */
	CHILD_EXITED,	/* ended without a whole answer: `detail` holds the exit status */
	CHILD_FAILED,	/* could not be started: `detail` holds the errno */
};

struct child {
	pid_t pid;
	int fd; /* read end of the answer pipe */
	long deadline_ms;
	long started_ms; /* CLOCK_MONOTONIC */
};

struct child_result {
	enum child_end end;
	int detail;
	size_t n; /* bytes of the answer that came */
	long ms;  /* how long it ran */
	bool left; /* hung, and no signal ends it: it waits in the kernel (D state) and was left */
};

/* Fills `answer` (at most size bytes) and returns how many bytes are valid, or negative for none.
 */
typedef long child_fn(void *ctx, void *answer, size_t size);

/* Starts; with fork failing, child_wait reports CHILD_FAILED. `env`: NULL keeps the present
 * environment. */
void child_start(struct child *c, child_fn *fn, void *ctx, size_t answer_size,
		 const char *const *env, long deadline_ms);
/* Waits up to wait_ms (at most until the deadline; negative: until the deadline). Returns 1 when it
 * ended, else 0. */
int child_poll(struct child *c, long wait_ms);
/*
 * Waits until the deadline, copies the answer; what is left then gets TERM, a tenth of a second
 * later KILL, and is reaped, or left alone where it stays. At most 0.2 s longer than the deadline.
 */
void child_wait(struct child *c, void *answer, size_t size, struct child_result *ret);
/* Ends it now without an answer (it was not needed any more). */
void child_drop(struct child *c);
/* The same for one that clears away when TERM asks for it: that has `grace_ms`. */
void child_end(struct child *c, long grace_ms);

long clock_ms(void); /* CLOCK_MONOTONIC in milliseconds */

#endif

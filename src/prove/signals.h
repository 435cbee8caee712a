/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT, SIGTERM and SIGHUP while processes of a proof run: they wait until somebody looks, so
 * that no process is left behind and what was found by then is told. In the keeper alone.
 */
#ifndef PROVE_SIGNALS_H
#define PROVE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct child;

struct prove_signals {
	int fd; /* readable when one came; -1: they are not held */
	bool caught;
	sigset_t was;
};

void signals_hold(struct prove_signals *s);
/* They work as before again. One that came takes effect at once, unless one was caught before. */
void signals_release(struct prove_signals *s);
/* Did one come by now? `s` may be NULL. */
bool signals_caught(struct prove_signals *s);
/*
 * Waits until the child has something to say, has ended or is overdue (child_wait then takes it);
 * false: a signal came before, and the child is ended, after `grace_ms` if it has to clear away.
 */
bool signals_wait(struct prove_signals *s, struct child *c, long grace_ms);

#endif

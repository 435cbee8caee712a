/* SPDX-License-Identifier: Apache-2.0 */
/* Signals by a descriptor. */
#include "prove/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "sys/child.h"

enum { SLICE_MS = 50 };

void signals_hold(struct prove_signals *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	s->caught = false;
	sigprocmask(SIG_BLOCK, &set, &s->was);
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd < 0)
		sigprocmask(SIG_SETMASK, &s->was, NULL);
}

void signals_release(struct prove_signals *s)
{
	struct signalfd_siginfo info;

	if (s->fd < 0)
		return;
	/* One was obeyed: what came after it is the same wish. */
	while (s->caught && read(s->fd, &info, sizeof(info)) == sizeof(info))
		continue;
	close(s->fd);
	s->fd = -1;
	sigprocmask(SIG_SETMASK, &s->was, NULL);
}

bool signals_caught(struct prove_signals *s)
{
	struct signalfd_siginfo info;

	if (!s)
		return false;
	if (s->fd >= 0 && read(s->fd, &info, sizeof(info)) == sizeof(info))
		s->caught = true;
	return s->caught;
}

bool signals_wait(struct prove_signals *s, struct child *c, long grace_ms)
{
	while (!child_poll(c, SLICE_MS)) {
		if (signals_caught(s)) {
			if (grace_ms)
				child_end(c, grace_ms);
			else
				child_drop(c);
			return false;
		}
		if (clock_ms() - c->started_ms >= c->deadline_ms)
			break;
	}
	return true;
}

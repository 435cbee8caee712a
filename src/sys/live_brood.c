/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends everything below this process; /proc says what that is. Signals nothing that is not a
 * descendant at that moment: the number of one that is gone may be given to a stranger.
 */
#include "sys/live_brood.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/view.h"
#include "sys/child.h"

/* The same number on every machine; older headers lack them. */
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum {
	PROCESSES_MAX = 1 << 16, /* of the machine; one beyond is seen when others are gone */
	STAT_MAX = 512,
	GRACE_TERM_MS = 100, /* as sys/child gives */
	PAUSE_MS = 5,
};

struct process {
	pid_t pid, parent;
};

struct scan {
	struct process *p;
	size_t n, below; /* the first `below` are descendants of this process */
};

void brood_keep(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* "12 (any ) name) S 1 ...": the name ends at the last parenthesis. */
pid_t brood_parent(const char *stat)
{
	const char *end = strrchr(stat, ')');
	struct view rest;
	uint64_t parent;

	if (!end || end[1] != ' ')
		return 0;
	(void)view_cut(view_of(end + 2), ' ', &rest);
	if (!view_u64(view_cut(rest, ' ', &rest), 10, &parent) || parent > INT32_MAX)
		return 0;
	return (pid_t)parent;
}

static pid_t parent_of(int proc, pid_t pid)
{
	char name[32], text[STAT_MAX];
	_cleanup_fd_ int fd = -1;
	ssize_t n;

	snprintf(name, sizeof(name), "%d/stat", (int)pid);
	fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return brood_parent(text);
}

static bool is_below(const struct scan *s, pid_t pid)
{
	size_t i;

	for (i = 0; i < s->below; i++)
		if (s->p[i].pid == pid)
			return true;
	return pid == getpid();
}

/* Children of what is below are below, until a pass finds no more. */
static void sort_below(struct scan *s)
{
	struct process p;
	size_t before, i;

	do {
		before = s->below;
		for (i = s->below; i < s->n; i++) {
			p = s->p[i];
			if (!is_below(s, p.parent))
				continue;
			s->p[i] = s->p[s->below];
			s->p[s->below++] = p;
		}
	} while (s->below > before);
}

/* All processes and who is below this one; false without /proc. */
static bool scan(struct scan *s)
{
	_cleanup_dir_ DIR *d = opendir("/proc");
	struct dirent *e;
	uint64_t pid;
	pid_t parent;

	if (!d)
		return false;
	s->n = s->below = 0;
	while (s->n < PROCESSES_MAX && (e = readdir(d))) {
		if (!view_u64(view_of(e->d_name), 10, &pid) || pid > INT32_MAX)
			continue;
		parent = parent_of(dirfd(d), (pid_t)pid);
		if (parent)
			s->p[s->n++] = (struct process){ .pid = (pid_t)pid, .parent = parent };
	}
	sort_below(s);
	return s->n > 0;
}

/*
 * A child of this process keeps its number until its status is taken, which nobody does meanwhile.
 * A child's child is held by a descriptor first, and looked at again; where the kernel has none
 * (before 5.3) it waits until it falls to us.
 */
static void strike(int proc, const struct process *p, int sig)
{
	_cleanup_fd_ int fd = -1;

	if (p->parent == getpid()) {
		kill(p->pid, sig);
		return;
	}
	fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (fd >= 0 && parent_of(proc, p->pid) == p->parent)
		syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
}

static void strike_all(const struct scan *s, int sig)
{
	_cleanup_fd_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t i;

	for (i = 0; i < s->below; i++) {
		strike(proc, &s->p[i], sig);
		/* One that was stopped would never hear of it. */
		if (sig == SIGTERM)
			strike(proc, &s->p[i], SIGCONT);
	}
}

/* Takes the status of what has ended; false when there is no child left, and so nothing below. */
static bool any_left(void)
{
	pid_t r;

	do
		r = waitpid(-1, NULL, WNOHANG);
	while (r > 0 || (r < 0 && errno == EINTR));
	return r == 0;
}

static bool end_all(struct scan *s, long patience_ms, long limit_ms)
{
	struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
	long start = clock_ms(), spent;
	bool asked = false;

	while (any_left()) {
		spent = clock_ms() - start;
		if (spent >= limit_ms)
			return false;
		if (spent >= patience_ms + GRACE_TERM_MS || (spent >= patience_ms && !asked)) {
			if (!scan(s))
				return false;
			strike_all(s, asked ? SIGKILL : SIGTERM);
			asked = true;
		}
		nanosleep(&pause, NULL);
	}
	return true;
}

bool brood_end(long patience_ms, long limit_ms)
{
	struct scan s = { 0 };
	bool gone;

	if (!any_left())
		return true;
	s.p = malloc(PROCESSES_MAX * sizeof(*s.p));
	gone = s.p && end_all(&s, patience_ms, limit_ms);
	free(s.p);
	return gone;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function in a forked child, with a deadline. What the child does must never stop, kill or
 * confuse the parent; so the parent trusts nothing but a whole answer in the agreed form, and never
 * waits without a limit.
 */
#include "sys/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* In front of the answer; whatever else a library writes into the pipe is then seen as foreign. */
struct header {
	uint32_t magic;
	uint32_t n;
};

enum {
	MAGIC = 0x43555654,
	PIPE_FD = CHILD_FD,
	GRACE_TERM_MS = 100, /* for a child that was asked to end, and what it started */
	GRACE_KILL_MS = 50,  /* for a killed child to go; one in D state is then left to init */
	GRACE_EXIT_MS = 1,  /* for the status of a child whose answer is whole */
	SLICE_MS = 20,	    /* how often the death of a child is looked for whose pipe stays open */
	EXIT_SETUP = 121,
	EXIT_NO_ANSWER = 120,
};

long clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ------------------------------------------------------------------------------------- child */

static void reset_signals(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		sigaction(i, &dfl, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * /dev/null, if it is the real one: in broken containers it can be a plain file, which a flood
 * would fill. Else a pipe that nobody reads.
 */
static int open_null(void)
{
	struct stat st;
	int fd = open("/dev/null", O_RDWR | O_NOCTTY), ends[2];

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode))
		return fd;
	if (pipe(ends) < 0)
		_exit(EXIT_SETUP);
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	return ends[1];
}

static void close_from(unsigned first)
{
	struct rlimit lim;
	unsigned fd, last = 65536;

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
	if (syscall(SYS_close_range, first, ~0U, 0) == 0)
		return;
	if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < last)
		last = (unsigned)lim.rlim_cur;
	for (fd = first; fd < last; fd++)
		close((int)fd);
}

static void arrange_fds(int answer)
{
	int null, i;

	/* The parent may itself run with closed standard streams: first out of their range. */
	answer = fcntl(answer, F_DUPFD_CLOEXEC, PIPE_FD + 1);
	if (answer < 0)
		_exit(EXIT_SETUP);
	null = open_null();
	for (i = 0; i < 3; i++)
		if (null != i && dup2(null, i) < 0)
			_exit(EXIT_SETUP);
	/* Close-on-exec: what the driver starts (nvidia-modprobe) must not hold the pipe open. */
	if (dup3(answer, PIPE_FD, O_CLOEXEC) < 0)
		_exit(EXIT_SETUP);
	close_from(PIPE_FD + 1);
}

/* A limit of 1 byte, not 0: with 0 the kernel still starts a core_pattern that is a program
 * (core(5)). */
static void forbid_core(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_CORE, &lim) < 0)
		return;
	lim.rlim_cur = lim.rlim_max = lim.rlim_max < 1 ? 0 : 1;
	setrlimit(RLIMIT_CORE, &lim);
}

static void write_all(const void *p, size_t n)
{
	const char *at = p;
	ssize_t r;

	while (n) {
		r = write(PIPE_FD, at, n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			_exit(EXIT_NO_ANSWER);
		at += r;
		n -= (size_t)r;
	}
}

static _Noreturn void child_main(child_fn *fn, void *ctx, size_t size, int answer_fd, pid_t parent)
{
	struct header h = { .magic = MAGIC };
	void *answer;
	long n;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_SETUP);
	reset_signals();
	arrange_fds(answer_fd);
	forbid_core();
	answer = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (answer == MAP_FAILED)
		_exit(EXIT_SETUP);
	n = fn(ctx, answer, size);
	if (n < 0 || (size_t)n > size)
		_exit(EXIT_NO_ANSWER);
	h.n = (uint32_t)n;
	write_all(&h, sizeof(h));
	write_all(answer, (size_t)n);
	_exit(0);
}

/* ------------------------------------------------------------------------------------ parent */

/* SIG_IGN is inherited, and with it the kernel throws away how children end. */
static void keep_status_of_children(void)
{
	struct sigaction now, dfl = { .sa_handler = SIG_DFL };

	if (sigaction(SIGCHLD, NULL, &now) == 0 &&
	    (now.sa_handler == SIG_IGN || (now.sa_flags & SA_NOCLDWAIT)))
		sigaction(SIGCHLD, &dfl, NULL);
}

void child_start(struct child *c, child_fn *fn, void *ctx, size_t answer_size,
		 const char *const *env, long deadline_ms)
{
	pid_t parent = getpid();
	int ends[2];

	/* fd holds the negative errno where there is no child. */
	*c = (struct child){ .pid = -1, .deadline_ms = deadline_ms, .started_ms = clock_ms() };
	keep_status_of_children();
	if (pipe2(ends, O_CLOEXEC) < 0) {
		c->fd = -errno;
		return;
	}
	c->pid = fork();
	if (c->pid == 0) {
		if (env)
			environ = (char **)(uintptr_t)env;
		child_main(fn, ctx, answer_size, ends[1], parent);
	}
	if (c->pid < 0) {
		c->fd = -errno;
		close(ends[0]);
		close(ends[1]);
		return;
	}
	/* Also here, so that a kill of the group cannot come before the child made it. */
	setpgid(c->pid, c->pid);
	close(ends[1]);
	c->fd = ends[0];
	fcntl(c->fd, F_SETFL, O_NONBLOCK);
}

/* Has the child ended, without taking its status? */
static int is_dead(const struct child *c)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return errno == ECHILD;
	return info.si_pid == c->pid;
}

/* Waits for something to read, until `until`. 1: there is, or the child ended; 0: the time is over.
 */
static int wait_readable(const struct child *c, long until)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	long left;

	for (;;) {
		left = until - clock_ms();
		if (left < 0)
			left = 0;
		if (poll(&p, 1, (int)(left < SLICE_MS ? left : SLICE_MS)) > 0)
			return 1;
		/* A process that the library started can hold the pipe open after the child died.
		 */
		if (is_dead(c))
			return 1;
		if (!left)
			return 0;
	}
}

int child_poll(struct child *c, long wait_ms)
{
	long deadline = c->started_ms + c->deadline_ms, until = clock_ms() + wait_ms;

	if (c->pid < 0)
		return 1;
	return wait_readable(c, wait_ms < 0 || until > deadline ? deadline : until);
}

/* Reads n bytes; 1: all came; 0: end before that; -1: the deadline passed. Adds to *got. */
static int read_until(const struct child *c, void *to, size_t n, size_t *got)
{
	long deadline = c->started_ms + c->deadline_ms;
	int dead = 0;
	ssize_t r;

	while (n) {
		r = read(c->fd, to, n);
		if (r > 0) {
			to = (char *)to + r;
			n -= (size_t)r;
			*got += (size_t)r;
			continue;
		}
		if (r < 0 && errno == EINTR)
			continue;
		if (r == 0 || errno != EAGAIN || dead)
			return 0;
		if (!wait_readable(c, deadline))
			return -1;
		/* Once more after its death: what it wrote before stays in the pipe. */
		dead = is_dead(c);
	}
	return 1;
}

/* Takes the status within `limit_ms`; 0 when there was none in that time. */
static int reap(pid_t pid, long limit_ms, int *ret_status)
{
	long end = clock_ms() + limit_ms;
	struct timespec pause = { .tv_nsec = 50000 };
	pid_t r;

	for (;;) {
		*ret_status = -1;
		r = waitpid(pid, ret_status, WNOHANG);
		if (r == pid || (r < 0 && errno == ECHILD))
			return 1;
		if (clock_ms() >= end)
			return 0;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 2000000)
			pause.tv_nsec *= 2;
	}
}

static void signal_group(pid_t pid, int sig)
{
	kill(-pid, sig);
	kill(pid, sig);
}

/* Asked first, then made to; false when it stays, which only the kernel can make it do. */
static bool end_group(pid_t pid)
{
	int status;
	bool gone;

	signal_group(pid, SIGTERM);
	/* One that was stopped would never hear of it. */
	signal_group(pid, SIGCONT);
	gone = reap(pid, GRACE_TERM_MS, &status);
	/* The group may outlive its first process. */
	signal_group(pid, SIGKILL);
	return gone || reap(pid, GRACE_KILL_MS, &status);
}

/* 1: the whole answer came; 0: it ended before; -1: the deadline passed. */
static int read_answer(const struct child *c, void *answer, size_t size, size_t *ret_n)
{
	struct header h;
	size_t got = 0;
	int r = read_until(c, &h, sizeof(h), &got);

	*ret_n = 0;
	if (r != 1)
		return r;
	if (h.magic != MAGIC || h.n > size)
		return 0;
	return read_until(c, answer, h.n, ret_n);
}

void child_wait(struct child *c, void *answer, size_t size, struct child_result *ret)
{
	long left;
	int whole, status;

	*ret = (struct child_result){ .end = CHILD_FAILED };
	if (c->pid < 0) {
		ret->detail = -c->fd;
		return;
	}
	whole = read_answer(c, answer, size, &ret->n);
	close(c->fd);
	c->fd = -1;
	if (whole == 1) {
		/* Nothing of the library runs after the answer: its unloading in the kernel may
		 * take long (the last client of a GPU goes), and the answer is as good without. */
		ret->end = CHILD_ANSWERED;
		if (reap(c->pid, GRACE_EXIT_MS, &status)) {
			if (status != -1 && WIFSIGNALED(status)) {
				ret->end = CHILD_CRASHED;
				ret->detail = WTERMSIG(status);
			}
			c->pid = -1;
		}
		ret->ms = clock_ms() - c->started_ms;
		return;
	}
	/* It closed the pipe, or wrote what is no answer: until the deadline it may still end by
	 * itself. */
	left = c->started_ms + c->deadline_ms - clock_ms();
	if (whole == 0 && reap(c->pid, left > 0 ? left : 0, &status)) {
		ret->end = status != -1 && WIFSIGNALED(status) ? CHILD_CRASHED : CHILD_EXITED;
		ret->detail = status == -1	    ? -1
			      : WIFSIGNALED(status) ? WTERMSIG(status)
						    : WEXITSTATUS(status);
		kill(-c->pid, SIGKILL); /* what it started */
	} else {
		ret->end = CHILD_HUNG;
		ret->left = !end_group(c->pid);
	}
	ret->ms = clock_ms() - c->started_ms;
	c->pid = -1;
}

void child_drop(struct child *c)
{
	int status;

	if (c->pid < 0)
		return;
	signal_group(c->pid, SIGKILL);
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	if (reap(c->pid, 0, &status))
		c->pid = -1;
}

void child_end(struct child *c, long grace_ms)
{
	int status;

	if (c->pid < 0)
		return;
	kill(c->pid, SIGTERM);
	if (!reap(c->pid, grace_ms, &status)) {
		child_drop(c);
		return;
	}
	kill(-c->pid, SIGKILL); /* what it started */
	close(c->fd);
	*c = (struct child){ .pid = -1, .fd = -1 };
}

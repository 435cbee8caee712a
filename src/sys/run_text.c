/* SPDX-License-Identifier: Apache-2.0 */
/* A program in a child with a deadline, and its output up to a bound. It must not start a shell. */
#include "sys/run_text.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/child.h"

/* In the child: the program's output goes where an answer would. */
static long start(void *ctx, void *answer, size_t size)
{
	const char *const *argv = ctx;
	static const char *const env[] = { "LC_ALL=C", "PATH=/usr/bin:/bin", NULL };

	(void)answer;
	(void)size;
	if (dup2(CHILD_FD, STDOUT_FILENO) < 0)
		return -1;
	execve(argv[0], (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
	return -1;
}

/* 1: the output ended; 0: the bound was reached; -1: the deadline passed. */
static int take(struct child *c, char *buf, size_t limit, size_t *ret_n)
{
	ssize_t n;

	*ret_n = 0;
	while (*ret_n < limit) {
		n = read(c->fd, buf + *ret_n, limit - *ret_n);
		if (n == 0)
			return 1;
		if (n > 0)
			*ret_n += (size_t)n;
		else if (errno == EAGAIN && !child_poll(c, -1))
			return -1;
		else if (errno != EAGAIN && errno != EINTR)
			return 1;
	}
	return 0;
}

int run_text(struct arena *a, const char *const *argv, size_t limit, long deadline_ms,
	     struct view *ret)
{
	char *buf = arena_alloc(a, limit);
	struct child_result end;
	struct child c;
	size_t n;
	int r;

	child_start(&c, start, (void *)(uintptr_t)argv, 0, NULL, deadline_ms);
	if (c.pid < 0)
		return c.fd;
	r = take(&c, buf, limit, &n);
	*ret = (struct view){ .p = buf, .n = n };
	if (r == 0) {
		child_drop(&c);
		return 0;
	}
	child_wait(&c, NULL, 0, &end);
	if (end.end == CHILD_HUNG)
		return -ETIMEDOUT;
	return n || (end.end == CHILD_EXITED && end.detail == 0) ? 0 : -EPROTO;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The border of libcuvet: memory that runs out comes back as a status, and what scopes own is
 * closed on the way (X1).
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/context.h"
#include "base/arena.h"

struct opened {
	int fd, inner;
	bool came_back;
};

static void fill(struct arena *a, struct opened *o)
{
	_cleanup_fd_ int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	o->inner = fd;
	arena_alloc(a, SIZE_MAX);
	o->came_back = true;
}

static int use_too_much(struct cuvet *c, const void *with)
{
	struct opened *o = *(struct opened *const *)with;
	_cleanup_fd_ int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *p = malloc(100);

	o->fd = fd;
	assert_non_null(p);
	if (!c->look)
		c->look = api_arena(c);
	fill(c->look, o);
	return CUVET_OK;
}

static int in_a_child(struct cuvet *c, const void *with)
{
	struct opened o = { 0 }, *p = &o;
	int status = 0;
	pid_t pid = fork();

	(void)with;
	if (pid == 0)
		use_too_much(c, &p);
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? 10 + WEXITSTATUS(status) : -1;
}

static void scopes_are_closed_when_memory_runs_out(void **state)
{
	struct opened o = { .fd = -1, .inner = -1 }, *p = &o;
	struct cuvet *c;

	(void)state;
	assert_int_equal(cuvet_open(NULL, &c), CUVET_OK);
	assert_int_equal(api_call(c, use_too_much, &p), CUVET_ERROR_MEMORY);
	assert_false(o.came_back);
	assert_true(o.fd >= 0 && o.inner >= 0);
	assert_int_equal(fcntl(o.fd, F_GETFD), -1);
	assert_int_equal(fcntl(o.inner, F_GETFD), -1);
	assert_string_equal(cuvet_error(c), "out of memory");
	/* Its tables may be half read, so that it answers nothing any more. */
	assert_int_equal(cuvet_look_assumed(c), CUVET_ERROR_MEMORY);
	assert_int_equal(cuvet_judge(c), CUVET_ERROR_MEMORY);
	cuvet_close(c);
}

static void a_forked_child_never_returns_to_the_caller(void **state)
{
	struct cuvet *c;

	(void)state;
	assert_int_equal(cuvet_open(NULL, &c), CUVET_OK);
	assert_int_equal(api_call(c, in_a_child, NULL), 14);
	cuvet_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scopes_are_closed_when_memory_runs_out),
		cmocka_unit_test(a_forked_child_never_returns_to_the_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

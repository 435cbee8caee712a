/* SPDX-License-Identifier: Apache-2.0 */
/* All that a process started, ended. Daemons of a real Python: tests/prove/stack.bats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/child.h"
#include "sys/live_brood.h"


static void test_parent(void **state)
{
	(void)state;
	assert_int_equal(brood_parent("12 (sh) S 7 12 12 0 -1"), 7);
	/* A process names itself. */
	assert_int_equal(brood_parent("12 (a) S 1 (b) R 99 0"), 99);
	assert_int_equal(brood_parent("12 () ) D 4194304 0"), 4194304);
	assert_int_equal(brood_parent("12 (sh) S 99999999999 0"), 0);
	assert_int_equal(brood_parent("12 (sh) S -1 0"), 0);
	assert_int_equal(brood_parent("12 (sh)"), 0);
	assert_int_equal(brood_parent("12 (sh) S"), 0);
	assert_int_equal(brood_parent(""), 0);
}

/* A daemon that is deaf for TERM, and stopped; its number and whether all is gone by then. */
struct answer {
	pid_t daemon;
	bool ended;
};

static long keep_and_end(void *ctx, void *answer, size_t size)
{
	struct answer an = { .daemon = 0 };
	int ends[2];
	pid_t pid;

	(void)ctx;
	if (size < sizeof(an) || pipe(ends) < 0)
		return -1;
	brood_keep();
	pid = fork();
	if (pid == 0) {
		setsid();
		pid = fork();
		if (pid)
			_exit(0);
		signal(SIGTERM, SIG_IGN);
		pid = getpid();
		(void)!write(ends[1], &pid, sizeof(pid));
		raise(SIGSTOP);
		for (;;)
			pause();
	}
	if (read(ends[0], &an.daemon, sizeof(an.daemon)) != sizeof(an.daemon))
		return -1;
	an.ended = brood_end(0, 5000);
	memcpy(answer, &an, sizeof(an));
	return (long)sizeof(an);
}

static void test_daemon(void **state)
{
	struct child_result r;
	struct answer an;
	struct child c;

	(void)state;
	child_start(&c, keep_and_end, NULL, sizeof(an), NULL, 20000);
	child_wait(&c, &an, sizeof(an), &r);
	assert_int_equal(r.end, CHILD_ANSWERED);
	assert_true(an.ended);
	assert_true(an.daemon > 1);
	assert_int_equal(kill(an.daemon, 0), -1);
}

/* Who has no child waits for nothing, and nobody else is touched. */
static void test_nothing(void **state)
{
	long start = clock_ms();

	(void)state;
	assert_true(brood_end(1000, 5000));
	assert_true(clock_ms() - start < 900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parent),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_daemon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Children with a deadline: each way in which the called function can misbehave (V8 to V13, X2). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "sys/child.h"

static volatile int forever = 1;

/* Runs fn with an answer of `size` bytes at most. */
static struct child_result run(child_fn *fn, void *ctx, void *answer, size_t size, long deadline_ms)
{
	struct child_result r;
	struct child c;

	child_start(&c, fn, ctx, size, NULL, deadline_ms);
	child_wait(&c, answer, size, &r);
	return r;
}

static long add_one(void *ctx, void *answer, size_t size)
{
	int v = *(int *)ctx + 1;

	assert_true(size >= sizeof(v));
	memcpy(answer, &v, sizeof(v));
	return sizeof(v);
}

static void an_answer_comes_back(void **state)
{
	int in = 41, out = 0;
	struct child_result r = run(add_one, &in, &out, sizeof(out), 5000);

	(void)state;
	assert_int_equal(r.end, CHILD_ANSWERED);
	assert_int_equal(r.n, sizeof(out));
	assert_int_equal(out, 42);
}

enum { LARGE = 1 << 20 };

static long large(void *ctx, void *answer, size_t size)
{
	(void)ctx;
	memset(answer, 'z', size);
	return (long)size;
}

/* More than a pipe holds: the child has to wait for its reader. */
static void a_large_answer_comes_whole(void **state)
{
	char *buf = malloc(LARGE);
	struct child_result r = run(large, NULL, buf, LARGE, 5000);

	(void)state;
	assert_int_equal(r.end, CHILD_ANSWERED);
	assert_int_equal(r.n, LARGE);
	assert_int_equal(buf[0], 'z');
	assert_int_equal(buf[LARGE - 1], 'z');
	free(buf);
}

static long no_answer(void *ctx, void *answer, size_t size)
{
	(void)ctx, (void)answer, (void)size;
	return -1;
}

static long too_much(void *ctx, void *answer, size_t size)
{
	(void)ctx, (void)answer;
	return (long)size + 1;
}

static void no_answer_is_an_exit(void **state)
{
	char buf[8];

	(void)state;
	assert_int_equal(run(no_answer, NULL, buf, sizeof(buf), 5000).end, CHILD_EXITED);
	assert_int_equal(run(too_much, NULL, buf, sizeof(buf), 5000).end, CHILD_EXITED);
}

static long die_of(void *ctx, void *answer, size_t size)
{
	(void)answer, (void)size;
	raise(*(int *)ctx);
	return 0;
}

static void V8_death_by_a_signal_is_a_crash(void **state)
{
	int signals[] = { SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGKILL, SIGPIPE }, i;
	struct child_result r;
	char buf[8];

	(void)state;
	for (i = 0; i < (int)ARRAY_LEN(signals); i++) {
		r = run(die_of, &signals[i], buf, sizeof(buf), 5000);
		assert_int_equal(r.end, CHILD_CRASHED);
		assert_int_equal(r.detail, signals[i]);
	}
}

/* The sanitizer would report the fault as its own. */
#ifndef __SANITIZE_ADDRESS__
static long fault(void *ctx, void *answer, size_t size)
{
	volatile char *volatile nowhere = NULL;

	(void)ctx, (void)answer, (void)size;
	nowhere[8] = 1;
	return 0;
}

static void V8_a_real_fault_is_a_crash(void **state)
{
	struct child_result r;
	char buf[8];

	(void)state;
	r = run(fault, NULL, buf, sizeof(buf), 5000);
	assert_int_equal(r.end, CHILD_CRASHED);
	assert_int_equal(r.detail, SIGSEGV);
}
#endif

static long leave(void *ctx, void *answer, size_t size)
{
	(void)answer, (void)size;
	exit(*(int *)ctx);
}

static void V9_exit_inside_is_no_answer(void **state)
{
	int codes[] = { 0, 7 }, i;
	struct child_result r;
	char buf[8];

	(void)state;
	for (i = 0; i < 2; i++) {
		r = run(leave, &codes[i], buf, sizeof(buf), 5000);
		assert_int_equal(r.end, CHILD_EXITED);
		assert_int_equal(r.detail, codes[i]);
	}
}

static long spin(void *ctx, void *answer, size_t size)
{
	(void)ctx, (void)answer, (void)size;
	while (forever)
		;
	return 0;
}

static long stop_self(void *ctx, void *answer, size_t size)
{
	(void)ctx, (void)answer, (void)size;
	raise(SIGSTOP);
	return 0;
}

static long stubborn(void *ctx, void *answer, size_t size)
{
	int i;

	(void)ctx, (void)answer, (void)size;
	for (i = 1; i < NSIG; i++)
		signal(i, SIG_IGN);
	close(3);
	while (forever)
		pause();
	return 0;
}

static void V10_endless_work_ends_at_the_deadline(void **state)
{
	child_fn *fns[] = { spin, stop_self, stubborn };
	struct child_result r;
	char buf[8];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(fns); i++) {
		r = run(fns[i], NULL, buf, sizeof(buf), 150);
		assert_int_equal(r.end, CHILD_HUNG);
		assert_false(r.left);
		assert_in_range(r.ms, 149, 150 + 500);
	}
}

static char *term_mark;

static void on_term(int sig)
{
	(void)sig;
	*term_mark = 1;
	_exit(0);
}

static long tidy(void *ctx, void *answer, size_t size)
{
	(void)ctx, (void)answer, (void)size;
	signal(SIGTERM, on_term);
	while (forever)
		pause();
	return 0;
}

/* TERM comes before KILL, so that what a library started can end in order. */
static void V10_a_hung_child_is_asked_before_it_is_killed(void **state)
{
	struct child_result r;
	char buf[8];

	(void)state;
	term_mark = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(term_mark, MAP_FAILED);
	r = run(tidy, NULL, buf, sizeof(buf), 100);
	assert_int_equal(r.end, CHILD_HUNG);
	assert_false(r.left);
	assert_int_equal(*term_mark, 1);
	munmap(term_mark, 1);
}

/*
 * Makes the present process one that no signal can take away from its parent's view: its tracer,
 * which is in another group, has to let it go first. That is how a process in D state looks from
 * outside.
 */
static long unkillable(void *ctx, void *answer, size_t size)
{
	pid_t me = getpid();

	(void)ctx, (void)answer, (void)size;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (fork() == 0) {
		setsid();
		close(3);
		prctl(PR_SET_PDEATHSIG, 0);
		if (ptrace(PTRACE_SEIZE, me, NULL, NULL) < 0)
			_exit(1);
		sleep(2);
		_exit(0);
	}
	while (forever)
		pause();
	return 0;
}

static long may_trace(void *ctx, void *answer, size_t size)
{
	pid_t me = getpid(), kid;
	int status = -1;

	(void)ctx, (void)answer, (void)size;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	kid = fork();
	if (kid == 0)
		_exit(ptrace(PTRACE_SEIZE, me, NULL, NULL) < 0);
	waitpid(kid, &status, 0);
	return status == 0 ? 0 : -1;
}

static void V11_what_cannot_be_killed_is_left_behind(void **state)
{
	struct child_result r;
	char buf[8];

	(void)state;
	if (run(may_trace, NULL, buf, sizeof(buf), 5000).end != CHILD_ANSWERED)
		return; /* main() says so */
	r = run(unkillable, NULL, buf, sizeof(buf), 300);
	assert_int_equal(r.end, CHILD_HUNG);
	assert_true(r.left);
	assert_in_range(r.ms, 299, 300 + 500);
}

static long flood(void *ctx, void *answer, size_t size)
{
	static char junk[65536];
	int i;

	(void)ctx, (void)answer, (void)size;
	for (i = 0; i < 64; i++)
		if (write(1, junk, sizeof(junk)) < 0 || write(2, junk, sizeof(junk)) < 0)
			return -1;
	return read(0, junk, 1) == 0 ? 0 : -1;
}

static void V12_output_of_the_child_goes_nowhere(void **state)
{
	char buf[8];
	int ends[2], out = dup(1), err = dup(2);
	struct child_result r;
	ssize_t n;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], 1);
	dup2(ends[1], 2);
	r = run(flood, NULL, buf, sizeof(buf), 5000);
	dup2(out, 1);
	dup2(err, 2);
	close(ends[1]);
	n = read(ends[0], buf, sizeof(buf));
	close(ends[0]);
	close(out);
	close(err);
	assert_int_equal(r.end, CHILD_ANSWERED);
	assert_int_equal(n, 0);
}

static long junk_in_pipe(void *ctx, void *answer, size_t size)
{
	/* A length that would do, behind a word that is not the agreed one. */
	uint32_t junk[4] = { 0x6b6e756a, 8, 0x6b6e756a, 0x6b6e756a };

	(void)ctx, (void)answer;
	return write(3, junk, sizeof(junk)) == sizeof(junk) ? (long)size : -1;
}

static void V12_foreign_bytes_in_the_answer_are_no_answer(void **state)
{
	char buf[8] = "";
	struct child_result r = run(junk_in_pipe, NULL, buf, sizeof(buf), 5000);

	(void)state;
	assert_true(r.end == CHILD_EXITED || r.end == CHILD_CRASHED);
	assert_string_equal(buf, "");
}

struct inherited {
	int fds, blocked, ignored, core, other_group, stdin_null;
	long parent;
};

static long look_around(void *ctx, void *answer, size_t size)
{
	struct inherited *h = answer;
	struct sigaction sa;
	struct rlimit lim;
	struct stat st, null;
	sigset_t set;
	int i;

	(void)ctx, (void)size;
	for (i = 3; i < 200; i++)
		h->fds += fcntl(i, F_GETFD) >= 0;
	sigprocmask(SIG_SETMASK, NULL, &set);
	h->blocked = sigismember(&set, SIGTERM);
	sigaction(SIGINT, NULL, &sa);
	h->ignored = sa.sa_handler == SIG_IGN;
	getrlimit(RLIMIT_CORE, &lim);
	h->core = lim.rlim_cur > 1;
	h->other_group = getpgrp() == getpid();
	h->stdin_null =
		fstat(0, &st) == 0 && stat("/dev/null", &null) == 0 && st.st_rdev == null.st_rdev;
	return sizeof(*h);
}

static void V13_nothing_is_inherited(void **state)
{
	struct rlimit old, lim;
	struct inherited h = { 0 };
	struct child_result r;
	sigset_t set, before;
	int extra[20], i;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	signal(SIGINT, SIG_IGN);
	getrlimit(RLIMIT_CORE, &old);
	lim = (struct rlimit){ old.rlim_max, old.rlim_max };
	setrlimit(RLIMIT_CORE, &lim);
	for (i = 0; i < 20; i++)
		extra[i] = dup(0);
	r = run(look_around, NULL, &h, sizeof(h), 5000);
	for (i = 0; i < 20; i++)
		close(extra[i]);
	setrlimit(RLIMIT_CORE, &old);
	signal(SIGINT, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(r.end, CHILD_ANSWERED);
	assert_int_equal(h.fds, 1); /* the answer's pipe */
	assert_int_equal(h.blocked, 0);
	assert_int_equal(h.ignored, 0);
	assert_int_equal(h.core, 0);
	assert_int_equal(h.other_group, 1);
	assert_int_equal(h.stdin_null, 1);
}

static void V13_an_ignored_SIGCHLD_does_not_hide_the_end(void **state)
{
	int sig = SIGSEGV;
	struct child_result r;
	char buf[8];

	(void)state;
	signal(SIGCHLD, SIG_IGN);
	r = run(die_of, &sig, buf, sizeof(buf), 5000);
	signal(SIGCHLD, SIG_DFL);
	assert_int_equal(r.end, CHILD_CRASHED);
	assert_int_equal(r.detail, SIGSEGV);
}

/* Runs in a process of its own, as it takes the standard streams away. */
static void V13_closed_standard_streams_do_no_harm(void **state)
{
	int in = 1, out = 0, status = -1;
	struct child_result r;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		close(0);
		close(1);
		close(2);
		r = run(add_one, &in, &out, sizeof(out), 5000);
		_exit(r.end == CHILD_ANSWERED && out == 2 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static long env_of(void *ctx, void *answer, size_t size)
{
	(void)ctx;
	snprintf(answer, size, "%s|%s", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "",
		 getenv("A"));
	return (long)size;
}

static void V13_the_environment_is_the_given_one(void **state)
{
	const char *const env[] = { "A=b", NULL };
	struct child_result r;
	struct child c;
	char buf[64];

	(void)state;
	setenv("LD_PRELOAD", "", 1);
	child_start(&c, env_of, NULL, sizeof(buf), env, 5000);
	child_wait(&c, buf, sizeof(buf), &r);
	unsetenv("LD_PRELOAD");
	assert_int_equal(r.end, CHILD_ANSWERED);
	assert_string_equal(buf, "|b");
}

/* A process that outlives the child and holds what it inherited. */
static long leave_daemon(void *ctx, void *answer, size_t size)
{
	(void)ctx, (void)answer, (void)size;
	if (fork() == 0) {
		setsid();
		sleep(3);
		_exit(0);
	}
	abort();
}

static void V8_a_pipe_held_by_others_does_not_hide_the_crash(void **state)
{
	struct child_result r;
	char buf[8];

	(void)state;
	r = run(leave_daemon, NULL, buf, sizeof(buf), 2500);
	assert_int_equal(r.end, CHILD_CRASHED);
	assert_int_equal(r.detail, SIGABRT);
	assert_true(r.ms < 1000);
}

static void X2_no_descriptors_is_a_failed_start(void **state)
{
	struct rlimit old, lim;
	struct child_result r;
	char buf[8];

	(void)state;
	getrlimit(RLIMIT_NOFILE, &old);
	lim = (struct rlimit){ 3, old.rlim_max };
	setrlimit(RLIMIT_NOFILE, &lim);
	r = run(add_one, buf, buf, sizeof(buf), 5000);
	setrlimit(RLIMIT_NOFILE, &old);
	assert_int_equal(r.end, CHILD_FAILED);
	assert_int_equal(r.detail, EMFILE);
}

static void X2_no_process_is_a_failed_start(void **state)
{
	struct rlimit lim = { 0, 0 };
	int status = -1;
	pid_t pid = fork();
	struct child_result r;
	char buf[8];

	(void)state;
	if (pid == 0) {
		/* Root is not held by this limit. */
		if (getuid() == 0 && setresuid(65534, 65534, 65534) < 0)
			_exit(77);
		setrlimit(RLIMIT_NPROC, &lim);
		r = run(add_one, buf, buf, sizeof(buf), 5000);
		_exit(r.end == CHILD_FAILED && r.detail == EAGAIN ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void on_alarm(int sig)
{
	(void)sig;
}

static long slow_answer(void *ctx, void *answer, size_t size)
{
	int i;

	/* Not in one sleep: the parent's timer is not the child's. */
	for (i = 0; i < 20; i++)
		usleep(10000);
	return add_one(ctx, answer, size);
}

static void X2_interrupted_waits_go_on(void **state)
{
	struct itimerval every = { { 0, 3000 }, { 0, 3000 } }, off = { 0 };
	struct sigaction sa = { .sa_handler = on_alarm };
	int in = 1, out = 0;
	struct child_result r;

	(void)state;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	r = run(slow_answer, &in, &out, sizeof(out), 5000);
	setitimer(ITIMER_REAL, &off, NULL);
	assert_int_equal(r.end, CHILD_ANSWERED);
	assert_int_equal(out, 2);
}

static void polling_waits_no_longer_than_told(void **state)
{
	int in = 1, out = 0;
	struct child_result r;
	struct child c;
	long before = clock_ms();

	(void)state;
	child_start(&c, slow_answer, &in, sizeof(out), NULL, 5000);
	assert_int_equal(child_poll(&c, 20), 0);
	assert_in_range(clock_ms() - before, 19, 150);
	assert_int_equal(child_poll(&c, -1), 1);
	child_wait(&c, &out, sizeof(out), &r);
	assert_int_equal(r.end, CHILD_ANSWERED);
}

static int open_fds(void)
{
	int i, n = 0;

	for (i = 0; i < 256; i++)
		n += fcntl(i, F_GETFD) >= 0;
	return n;
}

static void dropping_is_quick_and_leaves_nothing(void **state)
{
	long before = clock_ms();
	int fds = open_fds(), status;
	struct child c;
	pid_t pid;

	(void)state;
	child_start(&c, spin, NULL, 8, NULL, 60000);
	pid = c.pid;
	child_drop(&c);
	assert_true(clock_ms() - before < 100);
	assert_int_equal(open_fds(), fds);
	if (c.pid > 0)
		assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(kill(pid, 0), -1);
}

/* The child of a parent that dies must not go on alone. */
static void V10_the_child_dies_with_its_parent(void **state)
{
	int status = 0, tries;
	struct child c;
	pid_t pid, kid;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork();
	if (pid == 0) {
		child_start(&c, spin, NULL, 8, NULL, 60000);
		usleep(50000);
		if (write(ends[1], &c.pid, sizeof(c.pid)) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(read(ends[0], &kid, sizeof(kid)), sizeof(kid));
	waitpid(pid, &status, 0);
	for (tries = 0; tries < 200 && waitpid(kid, &status, WNOHANG) == 0; tries++)
		usleep(10000);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	close(ends[0]);
	close(ends[1]);
	assert_true(tries < 200);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_comes_back),
		cmocka_unit_test(a_large_answer_comes_whole),
		cmocka_unit_test(no_answer_is_an_exit),
		cmocka_unit_test(V8_death_by_a_signal_is_a_crash),
#ifndef __SANITIZE_ADDRESS__
		cmocka_unit_test(V8_a_real_fault_is_a_crash),
#endif
		cmocka_unit_test(V8_a_pipe_held_by_others_does_not_hide_the_crash),
		cmocka_unit_test(V9_exit_inside_is_no_answer),
		cmocka_unit_test(V10_endless_work_ends_at_the_deadline),
		cmocka_unit_test(V10_a_hung_child_is_asked_before_it_is_killed),
		cmocka_unit_test(V10_the_child_dies_with_its_parent),
		cmocka_unit_test(V11_what_cannot_be_killed_is_left_behind),
		cmocka_unit_test(V12_output_of_the_child_goes_nowhere),
		cmocka_unit_test(V12_foreign_bytes_in_the_answer_are_no_answer),
		cmocka_unit_test(V13_nothing_is_inherited),
		cmocka_unit_test(V13_an_ignored_SIGCHLD_does_not_hide_the_end),
		cmocka_unit_test(V13_closed_standard_streams_do_no_harm),
		cmocka_unit_test(V13_the_environment_is_the_given_one),
		cmocka_unit_test(X2_no_descriptors_is_a_failed_start),
		cmocka_unit_test(X2_no_process_is_a_failed_start),
		cmocka_unit_test(X2_interrupted_waits_go_on),
		cmocka_unit_test(polling_waits_no_longer_than_told),
		cmocka_unit_test(dropping_is_quick_and_leaves_nothing),
	};

	/* cmocka's way to skip is a failure in TAP. */
	if (run(may_trace, NULL, NULL, 0, 5000).end != CHILD_ANSWERED)
		puts("ok 0 - V11_what_cannot_be_killed_is_left_behind # SKIP needs ptrace");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

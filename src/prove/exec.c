/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the environment's own Python with a script of ours, that says a line a step:
 * "cuvet NAME RESULT MS TEXT". Only with --exec: this is code of the environment. Nothing is
 * downloaded.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prove/stack.h"
#include "sys/child.h"

enum { OUTPUT_MAX = 64 << 10, DEADLINE_S = 240, ROWS_MAX = 32 };

#define SCRIPT_START                                                          \
	__asm__(".pushsection .rodata\n.globl exec_script, exec_script_end\n" \
		".hidden exec_script, exec_script_end\nexec_script:\n"        \
		".incbin \"kernels/exec.py\"\nexec_script_end:\n.byte 0\n.popsection\n")

SCRIPT_START;
extern const char exec_script[] __attribute__((visibility("hidden")));

struct exec_ask {
	const char *python;
	const char *gpu; /* text of its number */
};

/* Python's standard output is a file in memory, which becomes the answer. */
static long in_child(void *ctx, void *answer, size_t size)
{
	const struct exec_ask *ask = ctx;
	char *argv[] = { (char *)(uintptr_t)ask->python, (char *)(uintptr_t) "-c",
			 (char *)(uintptr_t)exec_script, (char *)(uintptr_t)ask->gpu, NULL };
	int fd = memfd_create("cuvet", MFD_CLOEXEC), status = 0;
	pid_t pid;
	ssize_t n;

	if (fd < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		/* It goes with us, whoever ends us. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		execv(ask->python, argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	n = pread(fd, answer, size - 1, 0);
	if (n < 0)
		return -1;
	((char *)answer)[n] = WIFSIGNALED(status) ? 'S' : WEXITSTATUS(status) ? 'X' : '.';
	return n + 1;
}

static struct proof_test *add(struct arena *a, struct proof *p, const char *name, int gpu)
{
	struct proof_test *t = ARENA_APPEND(a, p->tests, p->n);

	*t = (struct proof_test){ .name = arena_printf(a, "exec-%s", name), .gpu = gpu };
	return t;
}

static bool plain(struct view v)
{
	size_t i;

	for (i = 0; i < v.n; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-", v.p[i]))
			return false;
	return v.n > 0 && v.n < 32;
}

/* One line of the script's; others are what libraries print. */
static int take_line(struct arena *a, struct view line, int gpu, struct proof *p)
{
	static const char *const results[] = { "pass", "fail", "skip" };
	struct view rest, word;
	struct proof_test *t;
	uint64_t ms = 0;
	size_t i;

	word = view_cut(line, ' ', &rest);
	if (!view_is(word, "cuvet"))
		return 0;
	word = view_cut(rest, ' ', &rest);
	if (!plain(word))
		return 0;
	t = add(a, p, arena_strndup(a, word.p, word.n), gpu);
	word = view_cut(rest, ' ', &rest);
	t->o.result = PROOF_FAIL;
	for (i = 0; i < ARRAY_LEN(results); i++)
		if (view_is(word, results[i]))
			t->o.result = (enum proof_result)i;
	word = view_cut(rest, ' ', &rest);
	if (view_u64(word, 10, &ms))
		t->o.ms = (double)ms;
	snprintf(t->o.why, sizeof(t->o.why), "%.*s", (int)(rest.n < 200 ? rest.n : 200), rest.p);
	return 1;
}

void exec_run(struct arena *a, const struct prove_options *o, const struct stack *s, int gpu,
	      struct proof *p)
{
	const char *visible = prove_visible(p, gpu);
	struct exec_ask ask = { .python = s->python,
				.gpu = arena_printf(a, "%d", visible ? 0 : gpu) };
	char *answer = arena_alloc(a, OUTPUT_MAX + 1);
	long start = clock_ms(), limit = o->timeout_s ? o->timeout_s : DEADLINE_S;
	struct view rest, line;
	struct child_result r;
	struct proof_test *t;
	struct child c;
	int rows = 0;

	if (!s->python) {
		t = add(a, p, "python", gpu);
		t->o.result = PROOF_SKIP;
		snprintf(t->o.why, sizeof(t->o.why), "%s", _("the environment has no Python"));
		return;
	}
	child_start(&c, in_child, &ask, OUTPUT_MAX, prove_environment(a, visible), limit * 1000);
	child_wait(&c, answer, OUTPUT_MAX, &r);
	p->ms += clock_ms() - start;
	for (rest = (struct view){ .p = answer, .n = r.n ? r.n - 1 : 0 };
	     rest.n && rows < ROWS_MAX;) {
		line = view_cut(rest, '\n', &rest);
		rows += take_line(a, line, gpu, p);
	}
	if (r.end == CHILD_ANSWERED && r.n && answer[r.n - 1] == '.' && rows)
		return;
	t = add(a, p, "python", gpu);
	t->o.result = r.end == CHILD_HUNG ? PROOF_HUNG : PROOF_CRASHED;
	snprintf(t->o.path, sizeof(t->o.path), "%.*s", PROOF_TEXT - 1, s->python);
	if (r.end == CHILD_HUNG)
		snprintf(t->o.why, sizeof(t->o.why), _("no end within %ld s"), limit);
	else
		snprintf(t->o.why, sizeof(t->o.why),
			 _("Python ended before its last step; it said: %.160s"),
			 r.n > 160 ? answer + r.n - 161 : answer);
}

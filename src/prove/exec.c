/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the environment's own Python with a script of ours, that says two lines a step, "cuvet begin
 * NAME" and "cuvet NAME RESULT MS TEXT", and "cuvet end". Only with --exec: this is code of the
 * environment. Nothing is downloaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <signal.h>

#include "base/signame.h"
#include "prove/signals.h"
#include "prove/stack.h"
#include "sys/child.h"
#include "sys/scratch.h"

enum { LINES_MAX = 32 << 10, LINE_MAX_BYTES = 400, DEADLINE_S = 240, SLICE_MS = 20 };

#define SCRIPT_START                                                          \
	__asm__(".pushsection .rodata\n.globl exec_script, exec_script_end\n" \
		".hidden exec_script, exec_script_end\nexec_script:\n"        \
		".incbin \"kernels/exec.py\"\nexec_script_end:\n.byte 0\n.popsection\n")

SCRIPT_START;
extern const char exec_script[] __attribute__((visibility("hidden")));

/* Shared with the keeper, so that what was said before a hang is known. */
struct exec_page {
	uint32_t n;		 /* bytes of `said` */
	char said[LINES_MAX];	 /* lines of the script's */
	char last[LINE_MAX_BYTES]; /* the last line of others; ends with NUL */
};

struct exec_ask {
	const char *python, *gpu, *keep; /* gpu: text of its number; keep: a folder, or "" */
	struct exec_page *page;
};

/* What Python writes, line by line: a library may print any amount between ours. */
struct sieve {
	struct exec_page *page;
	char line[LINE_MAX_BYTES];
	size_t n;
};

static void sieve_end(struct sieve *s)
{
	struct exec_page *g = s->page;
	static const char ours[] = "cuvet ";

	if (s->n > strlen(ours) && memcmp(s->line, ours, strlen(ours)) == 0) {
		if (g->n + s->n < sizeof(g->said)) {
			memcpy(g->said + g->n, s->line, s->n);
			g->said[g->n + s->n] = '\n';
			g->n += (uint32_t)s->n + 1;
		}
	} else if (s->n) {
		memcpy(g->last, s->line, s->n);
		g->last[s->n] = '\0';
	}
	s->n = 0;
}

static void sieve_add(struct sieve *s, const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (p[i] == '\n')
			sieve_end(s);
		else if (s->n + 1 < sizeof(s->line))
			s->line[s->n++] = p[i];
	}
}

/* Reads to the end of the stream, or until Python is gone: what it started may hold the stream. */
static int listen(struct sieve *s, int fd, pid_t pid)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char buf[4096];
	int status = 0;
	bool gone = false;
	ssize_t n = 1;

	while (n) {
		if (poll(&p, 1, gone ? 0 : SLICE_MS) > 0) {
			n = read(fd, buf, sizeof(buf));
			if (n > 0)
				sieve_add(s, buf, (size_t)n);
			else if (n < 0 && errno != EINTR)
				break;
		} else if (gone) {
			break;
		}
		if (!gone)
			gone = waitpid(pid, &status, WNOHANG) == pid;
	}
	sieve_end(s);
	if (!gone && waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

/* The answer is how Python ended, as waitpid says it. */
static long in_child(void *ctx, void *answer, size_t size)
{
	const struct exec_ask *ask = ctx;
	char *argv[] = { (char *)(uintptr_t)ask->python, (char *)(uintptr_t) "-c",
			 (char *)(uintptr_t)exec_script, (char *)(uintptr_t)ask->gpu,
			 (char *)(uintptr_t)ask->keep,	 NULL };
	struct sieve s = { .page = ask->page };
	int ends[2], status;
	pid_t pid;

	if (size < sizeof(status) || pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		/* It goes with us, whoever ends us. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		execv(ask->python, argv);
		_exit(127);
	}
	close(ends[1]);
	if (pid < 0)
		return -1;
	status = listen(&s, ends[0], pid);
	memcpy(answer, &status, sizeof(status));
	return (long)sizeof(status);
}

struct steps {
	struct arena *a;
	struct proof *p;
	int gpu;
	const char *doing; /* the step that began and did not end; NULL */
	size_t rows;
	bool ended;
};

static struct proof_test *add(struct steps *s, const char *name)
{
	struct proof_test *t = ARENA_APPEND(s->a, s->p->tests, s->p->n);

	*t = (struct proof_test){ .name = arena_printf(s->a, "exec-%s", name), .gpu = s->gpu };
	return t;
}

static bool plain(struct view v)
{
	size_t i;

	for (i = 0; i < v.n; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-", v.p[i]))
			return false;
	return v.n > 0 && v.n < 32 && v.p[0] != '-' && v.p[v.n - 1] != '-';
}

/* One line of the script's. */
static void take_line(struct steps *s, struct view line)
{
	static const char *const results[] = { "pass", "fail", "skip" };
	struct view rest, word;
	struct proof_test *t;
	uint64_t ms = 0;
	size_t i;

	(void)view_cut(line, ' ', &rest);
	word = view_cut(rest, ' ', &rest);
	if (view_is(word, "end")) {
		s->ended = true;
		return;
	}
	if (view_is(word, "begin")) {
		word = view_cut(rest, ' ', &rest);
		s->doing = plain(word) ? arena_strndup(s->a, word.p, word.n) : NULL;
		return;
	}
	if (!plain(word))
		return;
	t = add(s, arena_strndup(s->a, word.p, word.n));
	s->doing = NULL;
	s->rows++;
	word = view_cut(rest, ' ', &rest);
	t->o.result = PROOF_FAIL;
	for (i = 0; i < ARRAY_LEN(results); i++)
		if (view_is(word, results[i]))
			t->o.result = (enum proof_result)i;
	word = view_cut(rest, ' ', &rest);
	if (view_u64(word, 10, &ms))
		t->o.ms = (double)ms;
	snprintf(t->o.why, sizeof(t->o.why), "%.*s", (int)(rest.n < 200 ? rest.n : 200), rest.p);
}

static void take_lines(struct steps *s, const struct exec_page *page)
{
	struct view rest = { .p = page->said,
			     .n = page->n < sizeof(page->said) ? page->n : sizeof(page->said) };

	while (rest.n)
		take_line(s, view_cut(rest, '\n', &rest));
}

/* The step that was under way when it ended, else Python as a whole. */
static void end_badly(struct steps *s, const struct exec_ask *ask, const struct child_result *r,
		      int status, long limit)
{
	struct proof_test *t = add(s, s->doing ? s->doing : "python");
	const char *last = ask->page->last, *how;

	snprintf(t->o.path, sizeof(t->o.path), "%.*s", PROOF_TEXT - 1, ask->python);
	t->o.result = r->end == CHILD_HUNG ? PROOF_HUNG : PROOF_CRASHED;
	if (r->end == CHILD_HUNG)
		how = arena_printf(s->a, _("no end within %ld s"), limit);
	else if (r->end == CHILD_ANSWERED && WIFSIGNALED(status))
		how = arena_printf(s->a, "SIG%s", signame(WTERMSIG(status)));
	else if (r->end == CHILD_ANSWERED)
		how = arena_printf(s->a, _("Python ended with code %d before its last step"),
				   WEXITSTATUS(status));
	else
		how = _("Python could not be run");
	snprintf(t->o.why, sizeof(t->o.why), last[0] ? _("%s; it said: %.160s") : "%s", how, last);
}

static void run_python(struct steps *s, struct exec_ask *ask, const struct prove_options *o,
		       const char *const *env)
{
	long limit = o->timeout_s ? o->timeout_s : DEADLINE_S;
	struct child_result r;
	struct child c;
	int status = 0;

	child_start(&c, in_child, ask, sizeof(status), env, limit * 1000);
	if (!signals_wait(o->signals, &c)) {
		s->p->interrupted = true;
		take_lines(s, ask->page);
		prove_skip(s->a, s->p,
			   arena_printf(s->a, "exec-%s", s->doing ? s->doing : "python"), s->gpu,
			   _("interrupted"));
		return;
	}
	child_wait(&c, &status, sizeof(status), &r);
	take_lines(s, ask->page);
	if (r.end != CHILD_ANSWERED || r.n != sizeof(status) || status || !s->ended || !s->rows)
		end_badly(s, ask, &r, status, limit);
}

void exec_run(struct arena *a, const struct prove_options *o, const struct stack *s, int gpu,
	      struct proof *p)
{
	const char *visible = prove_visible(p, gpu), *why = prove_obstacle(a, p, gpu), *keep;
	struct steps steps = { .a = a, .p = p, .gpu = gpu };
	struct exec_ask ask = { .python = s->python,
				.gpu = arena_printf(a, "%d", visible ? 0 : gpu) };
	long start = clock_ms();

	if (!why && !s->python)
		why = _("the environment has no Python");
	ask.page = why ? NULL
		       : mmap(NULL, sizeof(*ask.page), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ask.page == MAP_FAILED)
		why = _("too little memory of the host is free");
	if (why) {
		prove_skip(a, p, "exec-python", gpu, why);
		return;
	}
	/* Made and removed here: Python may be killed before it could. */
	keep = scratch_make(a);
	ask.keep = keep ? keep : "";
	run_python(&steps, &ask, o, prove_environment(a, visible));
	if (keep)
		scratch_remove(keep);
	munmap(ask.page, sizeof(*ask.page));
	p->ms += clock_ms() - start;
}

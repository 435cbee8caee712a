/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the environment's own Python with a script of ours, that says two lines a step, "cuvet begin
 * NAME" and "cuvet NAME RESULT MS TEXT", and "cuvet end". Only with --exec: this is code of the
 * environment. Nothing is downloaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signame.h"
#include "prove/signals.h"
#include "prove/stack.h"
#include "sys/child.h"
#include "sys/live_brood.h"
#include "sys/scratch.h"

enum {
	LINES_MAX = 32 << 10,
	LINE_MAX_BYTES = 400,
	DEADLINE_S = 240,
	SLICE_MS = 20,
	PIPE_MAX = 1 << 20, /* what a pipe may hold */
	PATIENCE_MS = 100,  /* for helpers of Python that end when it does */
	SWEEP_MS = 3000,    /* for all that it started: a GPU's memory takes a while to go */
	BACKSTOP_MS = 6000, /* longer than Python has, for the process that minds it */
};

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
	long limit_ms; /* for Python */
};

struct exec_answer {
	int status; /* how Python ended, as waitpid says it */
	bool hung;  /* it did not end by itself */
	bool left;  /* something that it started could not be ended */
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

/*
 * Reads until Python is gone (what it started may hold the stream), its time is over or a signal
 * asks for the end. Its status is taken here alone.
 */
static void listen_to(struct sieve *s, const int fds[2], pid_t pid, struct exec_answer *an,
		      long end)
{
	struct pollfd p[2] = { { .fd = fds[0], .events = POLLIN },
			       { .fd = fds[1], .events = POLLIN } };
	char buf[4096];
	size_t rest = PIPE_MAX;
	bool gone = false;
	ssize_t n;

	while (!an->hung && rest) {
		n = 0;
		if (poll(p, 2, gone ? 0 : SLICE_MS) > 0 && p[0].revents) {
			n = read(fds[0], buf, sizeof(buf));
			if (n > 0)
				sieve_add(s, buf, (size_t)n);
			else if (n == 0 || errno != EINTR)
				p[0].fd = -1;
		}
		/* What it said before its end; others may go on for ever. */
		if (gone)
			rest = n > 0 && (size_t)n < rest ? rest - (size_t)n : 0;
		else
			gone = waitpid(pid, &an->status, WNOHANG) == pid;
		an->hung = !gone && (p[1].revents || clock_ms() >= end);
	}
	sieve_end(s);
}

static pid_t start_python(const struct exec_ask *ask, int to, const sigset_t *mask)
{
	char *argv[] = { (char *)(uintptr_t)ask->python, (char *)(uintptr_t) "-c",
			 (char *)(uintptr_t)exec_script, (char *)(uintptr_t)ask->gpu,
			 (char *)(uintptr_t)ask->keep,	 NULL };
	pid_t pid = fork();

	if (pid)
		return pid;
	/* It goes with us, whoever ends us. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	dup2(to, STDOUT_FILENO);
	dup2(to, STDERR_FILENO);
	execv(ask->python, argv);
	_exit(127);
}

/*
 * All that Python starts stays below this process and is ended before it ends, also when the
 * keeper asks with TERM, or is itself killed.
 */
static long in_child(void *ctx, void *answer, size_t size)
{
	const struct exec_ask *ask = ctx;
	struct exec_answer an = { .status = 0 };
	struct sieve s = { .page = ask->page };
	long end = clock_ms() + ask->limit_ms;
	int ends[2], fds[2];
	sigset_t term, was;
	pid_t pid, keeper = getppid();

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &was);
	fds[1] = signalfd(-1, &term, SFD_CLOEXEC);
	if (size < sizeof(an) || fds[1] < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	fds[0] = ends[0];
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	brood_keep();
	if (getppid() != keeper)
		return -1;
	pid = start_python(ask, ends[1], &was);
	close(ends[1]);
	if (pid < 0)
		return -1;
	listen_to(&s, fds, pid, &an, end);
	an.left = !brood_end(an.hung ? 0 : PATIENCE_MS, SWEEP_MS);
	memcpy(answer, &an, sizeof(an));
	return (long)sizeof(an);
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
		      const struct exec_answer *an)
{
	struct proof_test *t = add(s, s->doing ? s->doing : "python");
	bool hung = r->end == CHILD_HUNG || an->hung;
	const char *last = ask->page->last, *how;

	snprintf(t->o.path, sizeof(t->o.path), "%.*s", PROOF_TEXT - 1, ask->python);
	t->o.result = hung ? PROOF_HUNG : PROOF_CRASHED;
	if (hung && (an->left || r->left))
		how = arena_printf(s->a, _("no end within %ld s, and no signal ends it"),
				   ask->limit_ms / 1000);
	else if (hung)
		how = arena_printf(s->a, _("no end within %ld s"), ask->limit_ms / 1000);
	else if (r->end == CHILD_ANSWERED && WIFSIGNALED(an->status))
		how = arena_printf(s->a, "SIG%s", signame(WTERMSIG(an->status)));
	else if (r->end == CHILD_ANSWERED)
		how = arena_printf(s->a, _("Python ended with code %d before its last step"),
				   WEXITSTATUS(an->status));
	else
		how = _("Python could not be run");
	snprintf(t->o.why, sizeof(t->o.why), last[0] ? _("%s; it said: %.160s") : "%s", how, last);
}

static void run_python(struct steps *s, struct exec_ask *ask, const struct prove_options *o,
		       const char *const *env)
{
	struct exec_answer an = { .status = 0 };
	struct child_result r;
	struct child c;

	ask->limit_ms = 1000 * (o->timeout_s ? o->timeout_s : DEADLINE_S);
	/* It keeps the time itself, so that it can clear away. */
	child_start(&c, in_child, ask, sizeof(an), env, ask->limit_ms + BACKSTOP_MS);
	if (!signals_wait(o->signals, &c, BACKSTOP_MS)) {
		s->p->interrupted = true;
		take_lines(s, ask->page);
		prove_skip(s->a, s->p,
			   arena_printf(s->a, "exec-%s", s->doing ? s->doing : "python"), s->gpu,
			   _("interrupted"));
		return;
	}
	child_wait(&c, &an, sizeof(an), &r);
	take_lines(s, ask->page);
	if (r.end != CHILD_ANSWERED || r.n != sizeof(an) || an.hung || an.status || !s->ended ||
	    !s->rows)
		end_badly(s, ask, &r, &an);
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

/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper's side of a worker. Believes nothing that comes through the pipe before it was looked
 * at. */
#include "prove/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/signame.h"
#include "prove/climb.h"

static void unmap(void *page)
{
	munmap(page, sizeof(struct lab_progress));
}

/* A process for the rungs from `from` on. Its own deadline is never reached: a rung's is. */
static void process_start(struct worker *w, int from)
{
	w->from = from;
	w->have = 0;
	w->current = -1;
	w->waiting = false;
	w->started_ms = clock_ms();
	w->progress->call = -1;
	w->progress->doing[0] = '\0';
	child_start(&w->child, climb, w, 0, w->env, 24L * 3600 * 1000);
	if (w->child.pid < 0)
		worker_stop(w, _("the worker's process could not be started"));
}

void worker_start(struct worker *w)
{
	size_t i;

	w->progress = mmap(NULL, sizeof(*w->progress), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; ladder[i]; i++)
		w->tests[i] = (struct proof_test){ .name = ladder[i]->name, .gpu = w->gpu };
	if (w->progress == MAP_FAILED) {
		w->progress = NULL;
		w->child.pid = -1;
		worker_stop(w, _("no memory for the worker"));
		return;
	}
	arena_defer(w->a, unmap, w->progress);
	process_start(w, 0);
}

static long deadline_ms(const struct worker *w)
{
	long s = w->opt->timeout_s;

	if (!s)
		s = w->current < 0 ? 20 : ladder[w->current]->deadline_s;
	return s * 1000;
}

long worker_left(const struct worker *w)
{
	long left = w->started_ms + deadline_ms(w) - clock_ms();

	/* Whom it waits for has a deadline. */
	if (w->waiting)
		return 1000;
	return left > 0 ? left : 0;
}

/* "cuInit", or what else it was at, as text that ends. */
static void last_call(const struct worker *w, char *to, size_t size)
{
	int call = w->progress ? w->progress->call : -1;
	size_t i;

	if (call >= 0 && call < CU_CALLS) {
		snprintf(to, size, "%s", cu_call_names[call]);
		return;
	}
	for (i = 0; w->progress && i + 1 < size && i < sizeof(w->progress->doing); i++)
		if (!(to[i] = w->progress->doing[i]))
			return;
	to[i] = '\0';
}

void give_turn(struct lab_turn *t, int gpu)
{
	int32_t mine = gpu + 1;

	if (t)
		atomic_compare_exchange_strong(&t->holder, &mine, 0);
}

/* Rows that did not come get a reason. */
static void close_rows(struct worker *w, const char *why)
{
	size_t i;

	for (i = 0; ladder[i]; i++) {
		struct proof_outcome *o = &w->tests[i].o;

		if (w->ended[i])
			continue;
		w->ended[i] = true;
		o->result = PROOF_SKIP;
		snprintf(o->why, sizeof(o->why), "%s", why);
	}
	w->done = true;
	w->done_ms = clock_ms();
	give_turn(w->opt->turn, w->gpu);
}

/*
 * The rung that is under way (the first open one, when it never said) ends in this way. The process
 * is gone or given up; with keep_going the rest goes on in a new one.
 */
static void end_badly(struct worker *w, enum proof_result r, const char *how)
{
	int i = w->current >= 0 ? w->current : 0;
	struct proof_outcome *o;
	char call[sizeof(o->call)] = "";

	/* On its way up again it came not even as far as before. */
	if (w->from && w->current >= 0 && w->ended[w->current]) {
		close_rows(w, arena_printf(w->a, _("a new process broke at %s"),
					   ladder[w->current]->name));
		return;
	}
	while (ladder[i] && w->ended[i])
		i++;
	if (!ladder[i])
		return;
	o = &w->tests[i].o;
	*o = (struct proof_outcome){ .result = r, .ms = (double)(clock_ms() - w->started_ms) };
	last_call(w, call, sizeof(call));
	memcpy(o->call, call, sizeof(call));
	snprintf(o->why, sizeof(o->why), "%s%s%s", how, call[0] ? _(", inside ") : "", call);
	w->ended[i] = true;
	give_turn(w->opt->turn, w->gpu);
	if (w->opt->keep_going && !ladder[i]->base && ladder[i + 1])
		process_start(w, i + 1);
	else
		close_rows(w, arena_printf(w->a, _("%s %s before"), ladder[i]->name,
					   r == PROOF_HUNG ? _("hung") : _("crashed")));
}

void worker_hung(struct worker *w)
{
	child_drop(&w->child);
	end_badly(w, PROOF_HUNG,
		  arena_printf(w->a, _("no answer within %ld s"), deadline_ms(w) / 1000));
}

void worker_stop(struct worker *w, const char *why)
{
	close_rows(w, why);
	if (w->child.pid > 0)
		child_drop(&w->child);
	else
		w->gone = true;
}

bool worker_reap(struct worker *w)
{
	if (w->gone || w->child.pid <= 0)
		return w->gone = true;
	if (waitpid(w->child.pid, NULL, WNOHANG) != 0) {
		w->child.pid = -1;
		w->gone = true;
	}
	return w->gone;
}

static void crashed(struct worker *w)
{
	int status = 0, i;
	pid_t r = 0;
	bool signalled;
	struct timespec pause = { .tv_nsec = 1000000 };

	for (i = 0; i < 500 && r == 0; i++) {
		r = waitpid(w->child.pid, &status, WNOHANG);
		if (r == 0)
			nanosleep(&pause, NULL);
	}
	signalled = r == w->child.pid && WIFSIGNALED(status);
	if (r != 0)
		w->child.pid = -1;
	child_drop(&w->child);
	if (w->child.fd >= 0)
		close(w->child.fd);
	w->child.fd = -1;
	end_badly(w, PROOF_CRASHED,
		  signalled ? arena_printf(w->a, "SIG%s", signame(WTERMSIG(status)))
			    : _("the process ended by itself"));
	w->gone = w->child.pid < 0;
}

static bool seal_text(char *s, size_t size)
{
	s[size - 1] = '\0';
	return true;
}

/* Makes texts end and numbers keep to their ranges; false: this is no note of ours. */
static bool seal(struct worker_note *n)
{
	uint32_t i;

	if (n->magic != WORKER_MAGIC)
		return false;
	if (n->kind == NOTE_GPU) {
		seal_text(n->gpu.name, sizeof(n->gpu.name));
		seal_text(n->gpu.uuid, sizeof(n->gpu.uuid));
		seal_text(n->gpu.address, sizeof(n->gpu.address));
		n->gpu.known = true;
		return n->rung >= 0 && n->n > n->rung && n->n <= WORKER_GPUS_MAX;
	}
	seal_text(n->o.call, sizeof(n->o.call));
	seal_text(n->o.why, sizeof(n->o.why));
	seal_text(n->o.path, sizeof(n->o.path));
	if (n->o.n_figures > PROOF_FIGURES || n->o.result > PROOF_INCONCLUSIVE)
		return false;
	for (i = 0; i < n->o.n_figures; i++)
		seal_text(n->o.figures[i].name, sizeof(n->o.figures[i].name));
	for (i = 0; ladder[i]; i++)
		;
	return n->kind >= NOTE_BEGIN && n->kind <= NOTE_DONE && n->rung >= 0 &&
	       (uint32_t)n->rung < i;
}

static void enter(struct worker *w, const struct worker_note *n)
{
	w->waiting = n->kind == NOTE_WAIT;
	switch (n->kind) {
	case NOTE_BEGIN:
		w->current = n->rung;
		w->started_ms = clock_ms();
		break;
	case NOTE_END:
		if (w->ended[n->rung])
			break;
		w->tests[n->rung].o = n->o;
		w->ended[n->rung] = true;
		/* Until the next one begins it has the time of this one. */
		w->started_ms = clock_ms();
		break;
	case NOTE_DONE:
		close_rows(w, _("not run"));
		break;
	default:
		break;
	}
}

int worker_take(struct worker *w, struct worker_note *ret)
{
	ssize_t r;

	while (!w->done) {
		r = read(w->child.fd, (char *)&w->note + w->have, sizeof(w->note) - w->have);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0 && errno == EAGAIN)
			return 0;
		if (r > 0)
			w->have += (size_t)r;
		if (r > 0 && w->have < sizeof(w->note))
			continue;
		/* The end, or what a library wrote into a pipe that is not its own. */
		if (r <= 0 || !seal(&w->note)) {
			if (r > 0)
				kill(w->child.pid, SIGKILL);
			crashed(w);
			return 0;
		}
		w->have = 0;
		enter(w, &w->note);
		*ret = w->note;
		return 1;
	}
	return 0;
}

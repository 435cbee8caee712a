/* SPDX-License-Identifier: Apache-2.0 */
/* Stack rungs: a process each, all started at once, each with its deadline. */
#include "prove/stack.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/signame.h"
#include "prove/signals.h"
#include "sys/child.h"
#include "sys/dl_path.h"
#include "sys/sysroot.h"

const struct stack_rung *const stack_rungs[] = {
	&stack_cudart, &stack_cublas, &stack_cublaslt,	&stack_cudnn, &stack_cufft, &stack_cusolver,
	&stack_nvrtc,  &stack_ptxas,  &stack_nvjitlink, &stack_nccl,  &stack_gemm,  NULL,
};

enum { N_RUNGS = ARRAY_LEN(stack_rungs) - 1 };

struct stack_job {
	const struct prove_options *opt;
	const struct stack *s;
	const struct stack_rung *rung;
	volatile struct lab_progress *progress;
	int gpu, ordinal;
	const char *const *env;
	const char *obstacle; /* why it cannot be run; NULL: it can */
	struct child child;
};

/* ---- in the child */

void *stack_open(struct lab *l, const struct stack *s, enum stack_id id)
{
	const struct stack_library *b = &s->libraries[id];
	char why[PROOF_TEXT - 16];
	void *handle;

	lab_doing(l, b->soname);
	handle = dl_open_path(b->path, why, sizeof(why));
	if (!handle)
		lab_fail(l, "%s", why);
	return handle;
}

void *stack_symbol(struct lab *l, void *handle, const char *name)
{
	void *p = dl_find(handle, name);

	if (!p) {
		lab_fail(l, N_("the library has no %s"), name);
		return NULL;
	}
	/* The file that answers in truth. */
	if (!l->o->path[0] && !dl_where(p, l->o->path, sizeof(l->o->path)))
		l->o->path[0] = '\0';
	lab_doing(l, name);
	return p;
}

/* Is the file that answers the one that was meant? */
static int check_file(struct lab *l, const struct stack_library *b)
{
	struct sysroot *root;
	const char *is, *meant;
	struct err e;

	if (l->o->path[0] && !sysroot_open(l->a, "/", &root, &e) &&
	    !sysroot_realpath(root, l->a, l->o->path, &is) &&
	    !sysroot_realpath(root, l->a, b->path, &meant) && strcmp(is, meant) != 0)
		return lab_fail(l, N_("%.100s answers in place of %.100s"), is, meant);
	if (b->own)
		return lab_fail(l, N_("%.90s comes before the environment's own %.90s (by %s)"),
				b->path, b->own, b->via);
	return 0;
}

static int prepare(struct lab *l, const struct stack_job *j)
{
	static const struct rung *const base[] = { &rung_library, &rung_init, &rung_device,
						   &rung_context };
	const struct stack_library *b;
	size_t i;

	for (i = 0; i < ARRAY_LEN(base); i++)
		if (base[i]->run(l))
			return -1;
	memset(l->o, 0, sizeof(*l->o));
	for (i = 0; i < ARRAY_LEN(j->rung->before); i++) {
		if (j->rung->before[i] == STACK_LIBRARIES)
			break;
		b = &j->s->libraries[j->rung->before[i]];
		if (b->path && !stack_open(l, j->s, j->rung->before[i]))
			return -1;
	}
	return 0;
}

static long in_child(void *ctx, void *answer, size_t size)
{
	const struct stack_job *j = ctx;
	struct proof_outcome *o = answer;
	struct lab l = {
		.opt = j->opt,
		.progress = (struct lab_progress *)(uintptr_t)j->progress,
		.o = o,
		.ordinal = j->ordinal,
	};
	const struct stack_library *b =
		j->rung->needs < STACK_LIBRARIES ? &j->s->libraries[j->rung->needs] : NULL;
	double start = lab_now_ms();
	int code;

	if (size < sizeof(*o))
		return -1;
	l.a = arena_new(NULL);
	l.random = j->opt->seed;
	code = prepare(&l, j);
	if (!code)
		code = j->rung->run(&l, j->s);
	if (code == 0 && b)
		code = check_file(&l, b);
	if (b && !o->path[0])
		snprintf(o->path, sizeof(o->path), "%.*s", PROOF_TEXT - 1, b->path);
	if (code && o->result == PROOF_PASS)
		o->result = PROOF_FAIL;
	o->ms = lab_now_ms() - start;
	return (long)sizeof(*o);
}

/* ---- in the parent */

static bool wanted(const struct stack_job *j, struct proof_outcome *o)
{
	const struct stack_library *b;

	o->result = PROOF_SKIP;
	if (j->obstacle) {
		snprintf(o->why, sizeof(o->why), "%s", j->obstacle);
		return false;
	}
	if (j->rung->bench && !j->opt->bench) {
		snprintf(o->why, sizeof(o->why), "%s", _("only with --bench"));
		return false;
	}
	if (j->rung->needs == STACK_LIBRARIES) {
		o->result = j->s->ptxas ? PROOF_PASS : PROOF_SKIP;
		snprintf(o->why, sizeof(o->why), "%s", j->s->ptxas ? "" : _("Triton is not there"));
		return j->s->ptxas != NULL;
	}
	b = &j->s->libraries[j->rung->needs];
	if (!b->soname) {
		snprintf(o->why, sizeof(o->why), _("the environment has no %s"), b->stem);
		return false;
	}
	o->result = PROOF_PASS;
	return true;
}

static void collect(struct arena *a, struct stack_job *j, struct proof_outcome *o)
{
	struct proof_outcome *an = arena_alloc(a, sizeof(*an));
	struct child_result r;
	const char *doing;
	int call;

	child_wait(&j->child, an, sizeof(*an), &r);
	if (r.end == CHILD_ANSWERED && r.n == sizeof(*an)) {
		outcome_seal(an);
		*o = *an;
		return;
	}
	call = j->progress->call;
	doing = call >= 0 && call < CU_CALLS
			? cu_call_names[call]
			: arena_strndup(a, (const char *)(uintptr_t)j->progress->doing,
					sizeof(j->progress->doing) - 1);
	*o = (struct proof_outcome){ .ms = (double)r.ms };
	o->result = r.end == CHILD_HUNG ? PROOF_HUNG : PROOF_CRASHED;
	if (r.end == CHILD_HUNG)
		snprintf(o->why, sizeof(o->why), _("no answer within %ld s, at %s"),
			 j->child.deadline_ms / 1000, doing);
	else if (r.end == CHILD_CRASHED)
		snprintf(o->why, sizeof(o->why), _("SIG%s at %s"), signame(r.detail),
			 doing);
	else
		snprintf(o->why, sizeof(o->why), _("the process ended by itself at %s"), doing);
	if (j->rung->needs < STACK_LIBRARIES)
		snprintf(o->path, sizeof(o->path), "%.*s", PROOF_TEXT - 1,
			 j->s->libraries[j->rung->needs].path);
}

static int is_alone(const struct stack_job *j)
{
	return j->opt->bench && (j->rung->bench || j->rung->all_gpus);
}

static void job_start(struct stack_job *j)
{
	struct proof_outcome o = { 0 };

	if (wanted(j, &o))
		child_start(&j->child, in_child, j, sizeof(struct proof_outcome), j->env,
			    (j->opt->timeout_s ? j->opt->timeout_s : j->rung->deadline_s) * 1000L);
}

static void job_end(struct arena *a, struct stack_job *j, struct proof *p)
{
	struct proof_outcome o = { 0 };
	int gpu = j->rung->all_gpus ? -1 : j->gpu;
	struct proof_test *t;

	if (wanted(j, &o)) {
		/* Of those that run alone the next was not started. */
		if (p->interrupted && j->child.pid > 0)
			child_drop(&j->child);
		else if (!p->interrupted && !signals_wait(j->opt->signals, &j->child, 0))
			p->interrupted = true;
		if (p->interrupted) {
			prove_skip(a, p, j->rung->name, gpu, _("interrupted"));
			return;
		}
		collect(a, j, &o);
	}
	t = ARENA_APPEND(a, p->tests, p->n);
	*t = (struct proof_test){ .name = j->rung->name, .gpu = gpu, .o = o };
}

void stack_run(struct arena *a, const struct prove_options *o, const struct stack *s, int gpu,
	       struct proof *p)
{
	struct stack_job *jobs = arena_calloc(a, N_RUNGS, sizeof(*jobs));
	struct lab_progress *pages = mmap(NULL, N_RUNGS * sizeof(*pages), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long start = clock_ms();
	struct prove_options *own = arena_alloc(a, sizeof(*own));
	size_t i;
	int alone;

	if (pages == MAP_FAILED)
		return;
	*own = *o;
	if (!own->library)
		own->library = "libcuda.so.1";
	/* All at once; what is measured after the rest, and alone. */
	for (i = 0; i < N_RUNGS && stack_rungs[i]; i++) {
		/* Start-up takes longer the more GPUs are seen. */
		const char *visible = stack_rungs[i]->all_gpus ? NULL : prove_visible(p, gpu);

		jobs[i] = (struct stack_job){
			.opt = own,
			.s = s,
			.rung = stack_rungs[i],
			.gpu = gpu,
			.ordinal = visible ? 0 : gpu,
			.env = prove_environment(a, visible),
			.progress = &pages[i],
			.obstacle = prove_obstacle(a, p, stack_rungs[i]->all_gpus ? -1 : gpu),
		};
		if (!is_alone(&jobs[i]))
			job_start(&jobs[i]);
	}
	for (alone = 0; alone < 2; alone++) {
		for (i = 0; i < N_RUNGS && stack_rungs[i]; i++) {
			if (is_alone(&jobs[i]) != alone)
				continue;
			if (alone && !p->interrupted)
				job_start(&jobs[i]);
			job_end(a, &jobs[i], p);
		}
	}
	p->ms += clock_ms() - start;
	munmap(pages, N_RUNGS * sizeof(*pages));
}

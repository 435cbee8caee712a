/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between GPUs: every ordered pair, with peer access and, as the control, without. What is wrong
 * both ways is no fault of the link. In a child that sees all GPUs.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/signame.h"
#include "prove/prove.h"
#include "prove/signals.h"
#include "sys/child.h"

enum { PEERS_MAX = 16, CHECK_BYTES = 16 << 20, SPEED_BYTES = 256 << 20, TIMES = 5 };

struct peer_row {
	int32_t from, to;
	struct proof_outcome o;
};

struct peer_answer {
	uint32_t n;
	struct peer_row rows[PEERS_MAX * PEERS_MAX];
};

/* Shared with the keeper. */
struct peer_page {
	struct lab_progress progress;
	int32_t from, to; /* the pair that is under way; equal: none */
};

struct peer_ask {
	const struct prove_options *opt;
	volatile struct peer_page *page;
};

struct peers {
	int n;
	CUdevice dev[PEERS_MAX];
	CUcontext ctx[PEERS_MAX];
	CUdeviceptr p[PEERS_MAX];
	uint32_t *random, *got;
};

static int peers_make(struct lab *l, struct peers *s)
{
	int i;

	TRY(l, cuDeviceGetCount, &s->n);
	if (s->n > PEERS_MAX)
		s->n = PEERS_MAX;
	s->random = arena_calloc(l->a, CHECK_BYTES / 4, 4);
	s->got = arena_calloc(l->a, CHECK_BYTES / 4, 4);
	for (i = 0; i < s->n; i++) {
		TRY(l, cuDeviceGet, &s->dev[i], i);
		TRY(l, cuDevicePrimaryCtxRetain, &s->ctx[i], s->dev[i]);
		TRY(l, cuCtxSetCurrent, s->ctx[i]);
		TRY(l, cuMemAlloc_v2, &s->p[i], SPEED_BYTES);
	}
	return 0;
}

/* New data from one to the other; 0: right, 1: wrong, -1: a call failed. */
static int move_checked(struct lab *l, struct peers *s, int from, int to)
{
	size_t i;

	lab_fill_u32(l, s->random, CHECK_BYTES / 4);
	TRY(l, cuCtxSetCurrent, s->ctx[to]);
	TRY(l, cuMemsetD8_v2, s->p[to], 0xff, CHECK_BYTES);
	TRY(l, cuCtxSynchronize);
	TRY(l, cuCtxSetCurrent, s->ctx[from]);
	TRY(l, cuMemcpyHtoD_v2, s->p[from], s->random, CHECK_BYTES);
	TRY(l, cuMemcpyPeer, s->p[to], s->ctx[to], s->p[from], s->ctx[from], CHECK_BYTES);
	TRY(l, cuCtxSynchronize);
	TRY(l, cuCtxSetCurrent, s->ctx[to]);
	TRY(l, cuCtxSynchronize);
	memset(s->got, 0xff, CHECK_BYTES);
	TRY(l, cuMemcpyDtoH_v2, s->got, s->p[to], CHECK_BYTES);
	for (i = 0; i < CHECK_BYTES / 4; i++)
		if (s->got[i] != s->random[i])
			return 1;
	return 0;
}

static int move_timed(struct lab *l, struct peers *s, int from, int to, const char *name)
{
	CUevent start, end;
	float best = 0, ms = 0;
	int i;

	TRY(l, cuCtxSetCurrent, s->ctx[from]);
	TRY(l, cuEventCreate, &start, 0);
	TRY(l, cuEventCreate, &end, 0);
	for (i = -1; i < TIMES; i++) {
		TRY(l, cuEventRecord, start, NULL);
		TRY(l, cuMemcpyPeerAsync, s->p[to], s->ctx[to], s->p[from], s->ctx[from],
		    SPEED_BYTES, NULL);
		TRY(l, cuEventRecord, end, NULL);
		TRY(l, cuEventSynchronize, end);
		TRY(l, cuEventElapsedTime, &ms, start, end);
		if (i >= 0 && (best == 0 || ms < best))
			best = ms;
	}
	if (best > 0)
		lab_figure(l, name, SPEED_BYTES * 1e-6 / (double)best);
	TRY(l, cuEventDestroy_v2, start);
	TRY(l, cuEventDestroy_v2, end);
	return 0;
}

static int enable(struct lab *l, struct peers *s, int at, int of)
{
	TRY(l, cuCtxSetCurrent, s->ctx[at]);
	CU(l, cuCtxEnablePeerAccess, s->ctx[of], 0);
	if (l->code && l->code != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
		return -1;
	return 0;
}

static int disable(struct lab *l, struct peers *s, int at, int of)
{
	TRY(l, cuCtxSetCurrent, s->ctx[at]);
	TRY(l, cuCtxDisablePeerAccess, s->ctx[of]);
	return 0;
}

static int pair(struct lab *l, struct peers *s, int from, int to)
{
	int can = 0, back = 0, direct = 0, control;

	lab_figure(l, "peer", to);
	TRY(l, cuDeviceCanAccessPeer, &can, s->dev[from], s->dev[to]);
	TRY(l, cuDeviceCanAccessPeer, &back, s->dev[to], s->dev[from]);
	can = can && back;
	if (can) {
		if (enable(l, s, from, to) || enable(l, s, to, from))
			return -1;
		direct = move_checked(l, s, from, to);
		if (direct < 0 || move_timed(l, s, from, to, "gb_per_s") ||
		    disable(l, s, from, to) || disable(l, s, to, from))
			return -1;
	}
	control = move_checked(l, s, from, to);
	if (control < 0)
		return -1;
	if (l->opt->bench && move_timed(l, s, from, to, "without_p2p_gb_per_s"))
		return -1;
	if (control)
		return direct || !can
			       ? lab_doubt(
					 l,
					 N_("data to GPU %d comes out wrong with and without peer access"),
					 to)
			       : lab_fail(l,
					  N_("data to GPU %d comes out wrong without peer access"),
					  to);
	if (direct)
		return lab_fail(
			l, N_("data to GPU %d comes out wrong by peer access, right without"), to);
	return can ? 0
		   : lab_skip(l, N_("no peer access to GPU %d; by way of the host it works"), to);
}

static long in_child(void *ctx, void *answer, size_t size)
{
	static const struct rung *const base[] = { &rung_library, &rung_init, &rung_device };
	const struct peer_ask *ask = ctx;
	struct peer_answer *an = answer;
	struct lab l = { .opt = ask->opt,
			 .progress = &((struct peer_page *)(uintptr_t)ask->page)->progress,
			 .random = ask->opt->seed };
	struct peers s = { .n = 0 };
	double start;
	size_t i;
	int from, to;

	if (size < sizeof(*an))
		return -1;
	l.a = arena_new(NULL);
	an->n = 1;
	l.o = &an->rows[0].o;
	for (i = 0; i < ARRAY_LEN(base); i++)
		if (base[i]->run(&l))
			return (long)sizeof(*an);
	if (peers_make(&l, &s))
		return (long)sizeof(*an);
	memset(an, 0, sizeof(*an));
	for (from = 0; from < s.n; from++) {
		for (to = 0; to < s.n; to++) {
			struct peer_row *r = &an->rows[an->n];

			if (from == to)
				continue;
			*r = (struct peer_row){ .from = from, .to = to };
			an->n++;
			ask->page->from = from;
			ask->page->to = to;
			l.o = &r->o;
			start = lab_now_ms();
			if (pair(&l, &s, from, to) == 0) {
				r->o.result = PROOF_PASS;
				r->o.why[0] = r->o.call[0] = '\0';
				r->o.code = 0;
			}
			r->o.ms = lab_now_ms() - start;
		}
	}
	return (long)sizeof(*an);
}

static void bad_end(struct proof_outcome *o, const struct child_result *r,
		    const volatile struct peer_page *page)
{
	int call = page->progress.call;
	size_t n;

	*o = (struct proof_outcome){ .result = PROOF_CRASHED, .ms = (double)r->ms };
	if (call >= 0 && call < CU_CALLS)
		snprintf(o->call, sizeof(o->call), "%s", cu_call_names[call]);
	if (r->end == CHILD_HUNG) {
		o->result = PROOF_HUNG;
		snprintf(o->why, sizeof(o->why), "%s", _("no answer in time"));
	} else if (r->end == CHILD_CRASHED) {
		snprintf(o->why, sizeof(o->why), "SIG%s", signame(r->detail));
	} else {
		snprintf(o->why, sizeof(o->why), "%s", _("the process ended by itself"));
	}
	n = strlen(o->why);
	if (page->from != page->to)
		snprintf(o->why + n, sizeof(o->why) - n, _(", GPU %d to GPU %d"), (int)page->from,
			 (int)page->to);
}

void peer_run(struct arena *a, const struct prove_options *o, struct proof *p)
{
	struct prove_options *own = arena_alloc(a, sizeof(*own));
	struct peer_ask ask = { .opt = own };
	struct peer_answer *an = arena_alloc(a, sizeof(*an));
	struct child_result r;
	struct proof_test *t;
	struct child c;
	long start = clock_ms();
	void *page = mmap(NULL, sizeof(struct peer_page), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *why = prove_obstacle(a, p, -1);
	uint32_t i;

	if (page == MAP_FAILED || p->n_gpus < 2)
		return;
	if (why) {
		prove_skip(a, p, "p2p", -1, why);
		return;
	}
	*own = *o;
	if (!own->library)
		own->library = "libcuda.so.1";
	ask.page = page;
	child_start(&c, in_child, &ask, sizeof(*an), prove_environment(a, NULL),
		    o->timeout_s ? o->timeout_s * 1000
				 : 60000 + 3000 * (long)(p->n_gpus * p->n_gpus));
	if (!signals_wait(o->signals, &c, 0)) {
		p->interrupted = true;
		prove_skip(a, p, "p2p", -1, _("interrupted"));
		return;
	}
	child_wait(&c, an, sizeof(*an), &r);
	if (r.end != CHILD_ANSWERED || r.n != sizeof(*an) || an->n > PEERS_MAX * PEERS_MAX) {
		an->n = 1;
		an->rows[0] = (struct peer_row){ .from = -1 };
		bad_end(&an->rows[0].o, &r, ask.page);
	}
	for (i = 0; i < an->n; i++) {
		outcome_seal(&an->rows[i].o);
		t = ARENA_APPEND(a, p->tests, p->n);
		*t = (struct proof_test){ .name = "p2p",
					  .gpu = an->rows[i].from,
					  .o = an->rows[i].o };
	}
	p->ms += clock_ms() - start;
	munmap(page, sizeof(struct peer_page));
}

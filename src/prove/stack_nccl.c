/* SPDX-License-Identifier: Apache-2.0 */
/* An all-reduce over all GPUs by NCCL, one process, sums checked. Facts: NCCL documentation. */
#include <string.h>

#include "prove/stack_call.h"

enum { DEVICES_MAX = 16, WORDS = 1 << 20, TIMES = 5, BENCH_WORDS = 64 << 20 };
enum { NCCL_FLOAT32 = 7, NCCL_SUM = 0 };

struct ring {
	void *comms[DEVICES_MAX];
	CUcontext ctx[DEVICES_MAX];
	CUdeviceptr in[DEVICES_MAX], out[DEVICES_MAX];
	CUstream stream[DEVICES_MAX];
	int n;
	int (*start)(void);
	int (*end)(void);
	int (*reduce)(const void *, void *, size_t, int, int, void *, void *);
};

static int ring_reduce(struct lab *l, struct ring *r, size_t words)
{
	int i;

	MUST(l, "ncclGroupStart", r->start());
	for (i = 0; i < r->n; i++)
		MUST(l, "ncclAllReduce",
		     r->reduce((void *)r->in[i], (void *)r->out[i], words, NCCL_FLOAT32, NCCL_SUM,
			       r->comms[i], r->stream[i]));
	MUST(l, "ncclGroupEnd", r->end());
	for (i = 0; i < r->n; i++) {
		TRY(l, cuCtxSetCurrent, r->ctx[i]);
		TRY(l, cuStreamSynchronize, r->stream[i]);
	}
	return 0;
}

/* Whole numbers, so that the sum is exact whatever its order. */
static int ring_fill(struct lab *l, struct ring *r, float *sum)
{
	float *host = arena_calloc(l->a, WORDS, 4);
	size_t bytes = r->n > 1 && l->opt->bench ? BENCH_WORDS * 4UL : WORDS * 4UL, k;
	CUdevice dev;
	int i;

	for (i = 0; i < r->n; i++) {
		for (k = 0; k < WORDS; k++) {
			host[k] = (float)(lab_u32(l) >> 14);
			sum[k] += host[k];
		}
		TRY(l, cuDeviceGet, &dev, i);
		TRY(l, cuDevicePrimaryCtxRetain, &r->ctx[i], dev);
		TRY(l, cuCtxSetCurrent, r->ctx[i]);
		TRY(l, cuMemAlloc_v2, &r->in[i], bytes);
		TRY(l, cuMemAlloc_v2, &r->out[i], bytes);
		TRY(l, cuMemsetD8_v2, r->in[i], 0, bytes);
		TRY(l, cuMemsetD8_v2, r->out[i], 0xff, bytes);
		TRY(l, cuMemcpyHtoD_v2, r->in[i], host, WORDS * 4UL);
		TRY(l, cuStreamCreate, &r->stream[i], CU_STREAM_NON_BLOCKING);
		TRY(l, cuCtxSynchronize);
	}
	return 0;
}

static int ring_check(struct lab *l, struct ring *r, const float *sum)
{
	uint32_t *got = arena_calloc(l->a, WORDS, 4);
	int i;

	for (i = 0; i < r->n; i++) {
		TRY(l, cuCtxSetCurrent, r->ctx[i]);
		memset(got, 0xff, WORDS * 4UL);
		TRY(l, cuMemcpyDtoH_v2, got, r->out[i], WORDS * 4UL);
		if (lab_compare(l, "ncclAllReduce", got, (const uint32_t *)(const void *)sum,
				WORDS))
			return -1;
	}
	return 0;
}

static int ring_speed(struct lab *l, struct ring *r)
{
	double best = 1e30, start;
	int i;

	if (r->n < 2 || !l->opt->bench)
		return 0;
	for (i = -1; i < TIMES; i++) {
		start = lab_now_ms();
		if (ring_reduce(l, r, BENCH_WORDS))
			return -1;
		start = lab_now_ms() - start;
		best = i >= 0 && start < best ? start : best;
	}
	/* Bus bandwidth: what each GPU's links carry, 2 (n - 1) / n times the data. */
	lab_figure(l, "bus_gb_per_s", BENCH_WORDS * 4.0 * 1e-6 / best * 2 * (r->n - 1) / r->n);
	return 0;
}

static int nccl(struct lab *l, const struct stack *s)
{
	void *h = stack_open(l, s, STACK_NCCL);
	struct ring r = { .n = 0 };
	float *sum = arena_calloc(l->a, WORDS, 4);
	int version = 0, devices[DEVICES_MAX], i;

	if (!h)
		return -1;
	FUNCTION(l, h, int, get_version, "ncclGetVersion", (int *));
	FUNCTION(l, h, int, init, "ncclCommInitAll", (void **, int, const int *));
	FUNCTION(l, h, int, destroy, "ncclCommDestroy", (void *));
	FUNCTION(l, h, int, start, "ncclGroupStart", (void));
	FUNCTION(l, h, int, end, "ncclGroupEnd", (void));
	FUNCTION(l, h, int, reduce, "ncclAllReduce",
		 (const void *, void *, size_t, int, int, void *, void *));

	r.start = start;
	r.end = end;
	r.reduce = reduce;
	MUST(l, "ncclGetVersion", get_version(&version));
	stack_version(l, version);
	TRY(l, cuDeviceGetCount, &r.n);
	if (r.n > DEVICES_MAX)
		r.n = DEVICES_MAX;
	for (i = 0; i < r.n; i++)
		devices[i] = i;
	lab_figure(l, "gpus", r.n);
	if (ring_fill(l, &r, sum))
		return -1;
	MUST(l, "ncclCommInitAll", init(r.comms, r.n, devices));
	if (ring_reduce(l, &r, WORDS) || ring_check(l, &r, sum) || ring_speed(l, &r))
		return -1;
	for (i = 0; i < r.n; i++)
		MUST(l, "ncclCommDestroy", destroy(r.comms[i]));
	return 0;
}

const struct stack_rung stack_nccl = {
	.name = "stack-nccl",
	.run = nccl,
	.deadline_s = 180,
	.needs = STACK_NCCL,
	.before = { STACK_LIBRARIES },
	.all_gpus = true,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, graphs, pinned and mapped memory, printf and assert on the device. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prove/lab.h"

enum { WORDS = 1 << 18 };

/* Pinned memory of the host on both sides of a chain of kernels on the GPU. */
struct chain {
	uint32_t *in, *out; /* pinned */
	struct lab_buffer a, b;
	CUfunction f;
	uint32_t n, factor, add;
};

static int chain_make(struct lab *l, struct chain *c)
{
	*c = (struct chain){ .n = WORDS, .factor = lab_u32(l) | 1, .add = lab_u32(l) };
	TRY(l, cuMemHostAlloc, (void **)&c->in, WORDS * 4UL, 0);
	TRY(l, cuMemHostAlloc, (void **)&c->out, WORDS * 4UL, 0);
	return lab_kernel(l, IMAGE_BASE, "cuvet_affine", &c->f) || lab_out(l, WORDS * 4UL, &c->a) ||
			       lab_out(l, WORDS * 4UL, &c->b)
		       ? -1
		       : 0;
}

static void chain_fill(struct lab *l, struct chain *c)
{
	lab_fill_u32(l, c->in, WORDS);
	memset(c->out, 0xff, WORDS * 4UL);
}

static int chain_step(struct lab *l, struct chain *c, struct lab_buffer *to,
		      struct lab_buffer *from, CUstream s)
{
	struct lab_launch how = {
		.f = c->f, .blocks = (unsigned)l->sms, .threads = 128, .stream = s
	};
	void *args[] = { &to->p, &from->p, &c->n, &c->factor, &c->add };

	return lab_launch(l, &how, args);
}

/* out = in after `times` steps? */
static int chain_check(struct lab *l, const struct chain *c, int times, const char *what)
{
	uint32_t *want = arena_calloc(l->a, WORDS, 4), i;
	int t;

	for (i = 0; i < WORDS; i++)
		for (want[i] = c->in[i], t = 0; t < times; t++)
			want[i] = want[i] * c->factor + c->add;
	return lab_compare(l, what, c->out, want, WORDS);
}

static int chain_free(struct lab *l, struct chain *c)
{
	TRY(l, cuMemFreeHost, c->in);
	TRY(l, cuMemFreeHost, c->out);
	return lab_free(l, &c->a) || lab_free(l, &c->b) ? -1 : 0;
}

/* Two kernels of one block each that wait for a while: in one stream, then in two. */
static int overlap(struct lab *l, const CUstream *s)
{
	uint32_t ticks = 1 << 21, got[2];
	struct lab_launch how = { .blocks = 1, .threads = 32 };
	double start, ms[2];
	struct lab_buffer b;
	void *args[] = { &b.p, &ticks };
	int i;

	if (lab_kernel(l, IMAGE_BASE, "cuvet_spin", &how.f))
		return -1;
	for (i = 0; i < 2; i++) {
		if (lab_out(l, sizeof(got), &b))
			return -1;
		TRY(l, cuCtxSynchronize);
		start = lab_now_ms();
		how.stream = s[0];
		if (lab_launch(l, &how, args))
			return -1;
		how.stream = s[i];
		if (lab_launch(l, &how, args))
			return -1;
		TRY(l, cuCtxSynchronize);
		ms[i] = lab_now_ms() - start;
		if (lab_take(l, &b, got))
			return -1;
		if (got[0] != 0x600d)
			return lab_fail(l, N_("a kernel in a stream did not run"));
	}
	lab_figure(l, "overlap", ms[1] > 0 ? ms[0] / ms[1] : 0);
	return 0;
}

static int streams(struct lab *l)
{
	CUevent start, middle, end;
	struct chain c;
	CUstream s[2];
	float ms = -1;

	if (chain_make(l, &c))
		return -1;
	chain_fill(l, &c);
	TRY(l, cuStreamCreate, &s[0], CU_STREAM_NON_BLOCKING);
	TRY(l, cuStreamCreate, &s[1], CU_STREAM_NON_BLOCKING);
	TRY(l, cuEventCreate, &start, 0);
	TRY(l, cuEventCreate, &middle, 0);
	TRY(l, cuEventCreate, &end, 0);
	/* The poison of the buffers came by the null stream, which these do not wait for. */
	TRY(l, cuCtxSynchronize);
	TRY(l, cuEventRecord, start, s[0]);
	TRY(l, cuMemcpyHtoDAsync_v2, c.a.p, c.in, WORDS * 4UL, s[0]);
	if (chain_step(l, &c, &c.b, &c.a, s[0]))
		return -1;
	TRY(l, cuEventRecord, middle, s[0]);
	TRY(l, cuStreamWaitEvent, s[1], middle, 0);
	if (chain_step(l, &c, &c.a, &c.b, s[1]))
		return -1;
	TRY(l, cuMemcpyDtoHAsync_v2, c.out, c.a.p, WORDS * 4UL, s[1]);
	TRY(l, cuEventRecord, end, s[1]);
	TRY(l, cuEventSynchronize, end);
	TRY(l, cuEventElapsedTime, &ms, start, end);
	if (chain_check(l, &c, 2, "two streams"))
		return -1;
	if (!(ms > 0 && ms < 60000))
		return lab_fail(l, N_("two events lie %g ms apart"), (double)ms);
	if (overlap(l, s) || chain_free(l, &c))
		return -1;
	TRY(l, cuEventDestroy_v2, start);
	TRY(l, cuEventDestroy_v2, middle);
	TRY(l, cuEventDestroy_v2, end);
	TRY(l, cuStreamDestroy_v2, s[0]);
	TRY(l, cuStreamDestroy_v2, s[1]);
	return 0;
}

static int instantiate(struct lab *l, CUgraph g, CUgraphExec *ret)
{
	if (l->cu.cuGraphInstantiateWithFlags)
		TRY(l, cuGraphInstantiateWithFlags, ret, g, 0);
	else
		TRY(l, cuGraphInstantiate_v2, ret, g, NULL, NULL, 0);
	return 0;
}

static int graph(struct lab *l)
{
	CUgraphExec ready;
	struct chain c;
	CUgraph g;
	CUstream s;
	double start = 0;
	int i;

	if (chain_make(l, &c))
		return -1;
	TRY(l, cuStreamCreate, &s, CU_STREAM_NON_BLOCKING);
	TRY(l, cuCtxSynchronize);
	TRY(l, cuStreamBeginCapture_v2, s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
	TRY(l, cuMemcpyHtoDAsync_v2, c.a.p, c.in, WORDS * 4UL, s);
	if (chain_step(l, &c, &c.b, &c.a, s) || chain_step(l, &c, &c.a, &c.b, s) ||
	    chain_step(l, &c, &c.b, &c.a, s))
		return -1;
	TRY(l, cuMemcpyDtoHAsync_v2, c.out, c.b.p, WORDS * 4UL, s);
	TRY(l, cuStreamEndCapture, s, &g);
	if (instantiate(l, g, &ready))
		return -1;
	/* What was captured reads the input anew each time. */
	for (i = 0; i < 3; i++) {
		chain_fill(l, &c);
		start = lab_now_ms();
		TRY(l, cuGraphLaunch, ready, s);
		TRY(l, cuStreamSynchronize, s);
		start = lab_now_ms() - start;
		if (chain_check(l, &c, 3, "graph"))
			return -1;
	}
	lab_figure(l, "replay_us", start * 1e3);
	TRY(l, cuGraphExecDestroy, ready);
	TRY(l, cuGraphDestroy, g);
	TRY(l, cuStreamDestroy_v2, s);
	return chain_free(l, &c);
}

/* A kernel that reads and writes memory of the host. */
static int mapped_run(struct lab *l, uint32_t *in, uint32_t *out, CUdeviceptr din, CUdeviceptr dout,
		      const char *what)
{
	struct chain c = {
		.in = in, .out = out, .n = 1 << 14, .factor = lab_u32(l) | 1, .add = lab_u32(l)
	};
	uint32_t *want = arena_calloc(l->a, c.n, 4), i;
	void *args[] = { &dout, &din, &c.n, &c.factor, &c.add };

	lab_fill_u32(l, in, c.n);
	memset(out, 0xff, c.n * 4UL);
	for (i = 0; i < c.n; i++)
		want[i] = in[i] * c.factor + c.add;
	if (lab_run(l, IMAGE_BASE, "cuvet_affine", (unsigned)l->sms, 128, args))
		return -1;
	TRY(l, cuCtxSynchronize);
	return lab_compare(l, what, out, want, c.n);
}

static int managed(struct lab *l)
{
	CUdeviceptr p = 0;
	uint32_t *host;
	int can = 0;

	TRY(l, cuDeviceGetAttribute, &can, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, l->dev);
	if (!can)
		return 0;
	/* A token only: a machine that is short of it must not be made to page. */
	TRY(l, cuMemAllocManaged, &p, 128 << 10, CU_MEM_ATTACH_GLOBAL);
	host = (uint32_t *)(uintptr_t)p;
	if (mapped_run(l, host, host + (1 << 14), p, p + (64 << 10), "managed memory"))
		return -1;
	TRY(l, cuMemFree_v2, p);
	return 0;
}

static int pinned(struct lab *l)
{
	CUdeviceptr din = 0, dout = 0;
	void *in = NULL, *out = NULL;
	int can = 0;

	TRY(l, cuDeviceGetAttribute, &can, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, l->dev);
	if (!can)
		return lab_skip(l, N_("this GPU cannot map memory of the host"));
	TRY(l, cuMemHostAlloc, &in, 64 << 10, CU_MEMHOSTALLOC_DEVICEMAP);
	TRY(l, cuMemHostAlloc, &out, 64 << 10, CU_MEMHOSTALLOC_DEVICEMAP);
	if (!in || !out)
		return lab_fail(l, N_("cuMemHostAlloc gave no address"));
	TRY(l, cuMemHostGetDevicePointer_v2, &din, in, 0);
	TRY(l, cuMemHostGetDevicePointer_v2, &dout, out, 0);
	if (mapped_run(l, in, out, din, dout, "mapped memory"))
		return -1;
	TRY(l, cuMemFreeHost, in);
	TRY(l, cuMemFreeHost, out);
	return managed(l);
}

/* What the kernel prints comes out of this process's standard output, which is a file for a while.
 */
static int print(struct lab *l)
{
	uint32_t number = lab_u32(l), thread;
	void *args[] = { &number };
	char *text = arena_alloc(l->a, 16 << 10), line[64];
	int fd = memfd_create("cuvet", MFD_CLOEXEC),
	    was = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
	int code;
	ssize_t n;

	if (fd < 0 || was < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return lab_skip(l, N_("no file in memory to catch the output with"));
	code = lab_run(l, IMAGE_BASE, "cuvet_print", 2, 32, args);
	if (!code)
		code = CU(l, cuCtxSynchronize);
	fflush(NULL);
	dup2(was, STDOUT_FILENO);
	close(was);
	n = pread(fd, text, (16 << 10) - 1, 0);
	close(fd);
	if (code)
		return -1;
	text[n > 0 ? n : 0] = '\0';
	for (thread = 0; thread < 64; thread++) {
		snprintf(line, sizeof(line), "cuvet %u says %u\n", thread, number);
		if (!strstr(text, line))
			return lab_fail(l, N_("what thread %u printed did not come out"), thread);
	}
	return 0;
}

/* The last one: afterwards this context is dead, as it should be. */
static int trap(struct lab *l)
{
	uint32_t fails = 0;
	void *args[] = { &fails };

	if (lab_run(l, IMAGE_BASE, "cuvet_assert", 1, 32, args))
		return -1;
	TRY(l, cuCtxSynchronize);
	fails = 1;
	if (lab_run(l, IMAGE_BASE, "cuvet_assert", 1, 32, args))
		return -1;
	CU(l, cuCtxSynchronize);
	if (l->code != CUDA_ERROR_ASSERT)
		return lab_fail(l, N_("an assertion that fails gave %d, not %d"), l->code,
				CUDA_ERROR_ASSERT);
	memset(l->o->why, 0, sizeof(l->o->why));
	memset(l->o->call, 0, sizeof(l->o->call));
	l->o->code = 0;
	l->o->result = PROOF_PASS;
	return 0;
}

const struct rung rung_streams = { .name = "streams", .run = streams, .deadline_s = 20 };
const struct rung rung_graph = { .name = "graph", .run = graph, .deadline_s = 20 };
const struct rung rung_pinned = { .name = "pinned-mapped", .run = pinned, .deadline_s = 20 };
const struct rung rung_print = { .name = "printf", .run = print, .deadline_s = 20 };
/* Not in --quick: the kernel log gets a line of it (Xid 43 or 13), which monitoring may count. */
const struct rung rung_assert = {
	.name = "assert-trap", .run = trap, .deadline_s = 20, .when = RUNG_FULL
};

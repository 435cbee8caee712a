/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory test: patterns over a tenth of what is free, or with --full over nearly all of it.
 * Takes plain allocations, in pieces where one is not to be had.
 */
#include <string.h>

#include "prove/lab.h"

/* As in kernels/memory.cu. */
enum { SOLID, CHECKER, WALKING_ONE, WALKING_ZERO, ADDRESS, RANDOM };
enum { PIECES = 64, FOUND = 5 };

struct piece {
	CUdeviceptr p;
	uint64_t words; /* of 16 bytes */
	uint64_t base;
};

struct memory {
	struct piece pieces[PIECES];
	size_t n;
	uint64_t bytes;
	CUfunction write, check;
	CUevent start, end;
	unsigned blocks;
	double write_ms, check_ms, moved;
};

static const struct {
	const char *name;
	uint32_t kind, key;
	int full; /* in --full alone */
} patterns[] = {
	{ "zeros", SOLID, 0, 0 },
	{ "ones", SOLID, 0xffffffffU, 1 },
	{ "checkerboard", CHECKER, 0, 0 },
	{ "checkerboard turned over", CHECKER, 0xffffffffU, 1 },
	{ "walking one", WALKING_ONE, 0, 0 },
	{ "walking zero", WALKING_ZERO, 11, 0 },
	{ "own address", ADDRESS, 0, 0 },
	{ "own address turned over", ADDRESS, 0xffffffffU, 1 },
	{ "random", RANDOM, 1, 0 }, /* the key is a new one in every run */
};

static int memory_take(struct lab *l, struct memory *m, uint64_t wanted)
{
	uint64_t size = wanted;
	int code;

	while (m->bytes < wanted && m->n < PIECES && size >= 1 << 20) {
		struct piece *p = &m->pieces[m->n];

		if (size > wanted - m->bytes)
			size = wanted - m->bytes;
		size &= ~(uint64_t)15;
		if (!size)
			break;
		code = CU(l, cuMemAlloc_v2, &p->p, size);
		/* Others may have taken it meanwhile, or it is in pieces. */
		if (code == CUDA_ERROR_OUT_OF_MEMORY) {
			size /= 2;
			continue;
		}
		if (code)
			return -1;
		p->words = size / 16;
		p->base = m->bytes / 16;
		m->bytes += size;
		m->n++;
	}
	if (!m->n)
		return lab_fail(l, N_("no memory to test: %llu bytes are free"),
				(unsigned long long)l->free_bytes);
	memset(l->o, 0, sizeof(*l->o));
	return 0;
}

static int timed(struct lab *l, struct memory *m, CUfunction f, void **args, double *total)
{
	struct lab_launch how = { .f = f, .blocks = m->blocks, .threads = 512 };
	float ms = 0;

	TRY(l, cuEventRecord, m->start, NULL);
	if (lab_launch(l, &how, args))
		return -1;
	TRY(l, cuEventRecord, m->end, NULL);
	TRY(l, cuEventSynchronize, m->end);
	TRY(l, cuEventElapsedTime, &ms, m->start, m->end);
	*total += (double)ms;
	return 0;
}

static int check_piece(struct lab *l, struct memory *m, size_t pattern, uint32_t key,
		       struct lab_buffer *found)
{
	uint32_t kind = patterns[pattern].kind;
	uint64_t zero[FOUND] = { 0 }, got[FOUND];
	size_t i;

	for (i = 0; i < m->n; i++) {
		struct piece *p = &m->pieces[i];
		void *args[] = { &found->p, &p->p, &p->words, &p->base, &kind, &key };

		TRY(l, cuMemcpyHtoD_v2, found->p, zero, sizeof(zero));
		if (timed(l, m, m->check, args, &m->check_ms))
			return -1;
		memset(got, 0xff, sizeof(got));
		TRY(l, cuMemcpyDtoH_v2, got, found->p, sizeof(got));
		if (got[4] != m->blocks)
			return lab_fail(l, N_("memory: the check of %s did not run to its end"),
					patterns[pattern].name);
		if (got[0] == 0)
			continue;
		lab_figure(l, "wrong_words", (double)got[0]);
		return lab_fail(
			l,
			N_("memory: %llu words of 16 bytes are wrong after %s; at byte 0x%llx of "
			   "the test is 0x%08x, not 0x%08x"),
			(unsigned long long)got[0], patterns[pattern].name,
			(unsigned long long)(got[1] - 1) * 16, (unsigned)got[2], (unsigned)got[3]);
	}
	return 0;
}

static int pattern_run(struct lab *l, struct memory *m, size_t pattern, struct lab_buffer *found)
{
	uint32_t kind = patterns[pattern].kind;
	uint32_t key = kind == RANDOM ? lab_u32(l) : patterns[pattern].key;
	size_t i;

	lab_doing(l, patterns[pattern].name);
	for (i = 0; i < m->n; i++) {
		struct piece *p = &m->pieces[i];
		void *args[] = { &p->p, &p->words, &p->base, &kind, &key };

		if (timed(l, m, m->write, args, &m->write_ms))
			return -1;
	}
	if (check_piece(l, m, pattern, key, found))
		return -1;
	m->moved += (double)m->bytes;
	return 0;
}

static int memory(struct lab *l)
{
	struct memory *m = arena_alloc(l->a, sizeof(*m));
	uint64_t nothing[FOUND] = { 0 };
	struct lab_buffer found;
	size_t free = 0, total = 0, i;

	TRY(l, cuMemGetInfo_v2, &free, &total);
	l->free_bytes = free;
	if (lab_kernel(l, IMAGE_MEMORY, "cuvet_memory_write", &m->write) ||
	    lab_kernel(l, IMAGE_MEMORY, "cuvet_memory_check", &m->check) ||
	    lab_in(l, nothing, sizeof(nothing), &found) ||
	    memory_take(l, m, l->opt->full ? free / 100 * 95 : free / 10))
		return -1;
	m->blocks = (unsigned)l->sms * 4;
	TRY(l, cuEventCreate, &m->start, 0);
	TRY(l, cuEventCreate, &m->end, 0);
	for (i = 0; i < ARRAY_LEN(patterns); i++)
		if ((l->opt->full || !patterns[i].full) && pattern_run(l, m, i, &found))
			return -1;
	lab_figure(l, "mib", (double)(m->bytes >> 20));
	if (m->write_ms > 0 && m->check_ms > 0) {
		lab_figure(l, "write_gb_per_s", m->moved / m->write_ms * 1e-6);
		lab_figure(l, "read_gb_per_s", m->moved / m->check_ms * 1e-6);
	}
	for (i = 0; i < m->n; i++)
		TRY(l, cuMemFree_v2, m->pieces[i].p);
	TRY(l, cuEventDestroy_v2, m->start);
	TRY(l, cuEventDestroy_v2, m->end);
	return lab_free(l, &found);
}

/* An old card with much memory reads some 100 GB/s. */
const struct rung rung_memory = { .name = "memory", .run = memory, .deadline_s = 120 };

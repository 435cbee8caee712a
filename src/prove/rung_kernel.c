/* SPDX-License-Identifier: Apache-2.0 */
/* Rungs of one kernel each: what the cores compute. Inputs are new in every run. */
#include <math.h>

#include "prove/lab.h"
#include "prove/reference.h"

static int fma32(struct lab *l)
{
	uint32_t n = 16384, steps = 32, i;
	float *a = arena_calloc(l->a, n, 4), *b = arena_calloc(l->a, n, 4);
	uint32_t *want = arena_calloc(l->a, n, 4), *got = arena_calloc(l->a, n, 4);
	struct lab_buffer da, db, out;
	void *args[] = { &out.p, &da.p, &db.p, &n, &steps };

	for (i = 0; i < n; i++) {
		a[i] = lab_float(l, -4, 4);
		b[i] = lab_float(l, -1, 1);
	}
	/* Denormals are kept, not flushed. */
	a[7] = 0x1p-130f;
	b[7] = 0;
	ref_fma((float *)(void *)want, a, b, n, steps);
	if (lab_in(l, a, n * 4UL, &da) || lab_in(l, b, n * 4UL, &db) || lab_out(l, n * 4UL, &out) ||
	    lab_run(l, IMAGE_BASE, "cuvet_fma", (unsigned)l->sms, 128, args) ||
	    lab_take(l, &out, got) || lab_free(l, &da) || lab_free(l, &db))
		return -1;
	return lab_compare(l, "cuvet_fma", got, want, n);
}

static int fma64(struct lab *l)
{
	uint32_t n = 4096, steps = 16, i;
	double *a = arena_calloc(l->a, n, 8), *b = arena_calloc(l->a, n, 8);
	uint32_t *want = arena_calloc(l->a, n, 8), *got = arena_calloc(l->a, n, 8);
	struct lab_buffer da, db, out;
	void *args[] = { &out.p, &da.p, &db.p, &n, &steps };

	for (i = 0; i < n; i++) {
		a[i] = (double)lab_float(l, -4, 4) + (double)lab_u32(l) * 0x1p-60;
		b[i] = (double)lab_float(l, -1, 1) + (double)lab_u32(l) * 0x1p-60;
	}
	ref_fma64((double *)(void *)want, a, b, n, steps);
	if (lab_in(l, a, n * 8UL, &da) || lab_in(l, b, n * 8UL, &db) || lab_out(l, n * 8UL, &out) ||
	    lab_run(l, IMAGE_BASE, "cuvet_fma64", (unsigned)l->sms, 128, args) ||
	    lab_take(l, &out, got) || lab_free(l, &da) || lab_free(l, &db))
		return -1;
	return lab_compare(l, "cuvet_fma64", got, want, n * 2UL);
}

static int fma_both(struct lab *l)
{
	return fma32(l) || fma64(l) ? -1 : 0;
}

static int integers(struct lab *l)
{
	uint32_t n = 32768;
	uint64_t *a = arena_calloc(l->a, n, 8), *b = arena_calloc(l->a, n, 8);
	uint32_t *want = arena_calloc(l->a, n, 8), *got = arena_calloc(l->a, n, 8);
	struct lab_buffer da, db, out;
	void *args[] = { &out.p, &da.p, &db.p, &n };
	uint32_t i;

	lab_fill_u32(l, (uint32_t *)(void *)a, n * 2UL);
	lab_fill_u32(l, (uint32_t *)(void *)b, n * 2UL);
	for (i = 0; i < n; i += 3)
		b[i] >>= i & 63;
	ref_int((uint64_t *)(void *)want, a, b, n);
	if (lab_in(l, a, n * 8UL, &da) || lab_in(l, b, n * 8UL, &db) || lab_out(l, n * 8UL, &out) ||
	    lab_run(l, IMAGE_BASE, "cuvet_int", (unsigned)l->sms, 128, args) ||
	    lab_take(l, &out, got) || lab_free(l, &da) || lab_free(l, &db))
		return -1;
	return lab_compare(l, "cuvet_int", got, want, n * 2UL);
}

static int atomics(struct lab *l)
{
	enum { CELLS = 64 };
	uint32_t n = 65536, got[CELLS * 2], i;
	uint64_t *in = arena_calloc(l->a, n, 8), cell[CELLS];
	struct lab_buffer din, out;
	void *args[] = { &out.p, &din.p, &n };

	lab_fill_u32(l, (uint32_t *)(void *)in, n * 2UL);
	for (i = 0; i < CELLS; i++)
		cell[i] = i % 8 == 2 ? ~0ULL : 0;
	if (lab_in(l, in, n * 8UL, &din) || lab_out(l, sizeof(cell), &out))
		return -1;
	TRY(l, cuMemcpyHtoD_v2, out.p, cell, sizeof(cell));
	ref_atomics(cell, in, n);
	if (lab_run(l, IMAGE_BASE, "cuvet_atomics", (unsigned)l->sms, 128, args) ||
	    lab_take(l, &out, got) || lab_free(l, &din))
		return -1;
	return lab_compare(l, "cuvet_atomics", got, (const uint32_t *)(const void *)cell,
			   CELLS * 2UL);
}

static int integer_both(struct lab *l)
{
	return integers(l) || atomics(l) ? -1 : 0;
}

/* Kernels of the form (out, in) over whole blocks. */
static int in_out(struct lab *l, enum lab_image image, const char *name, unsigned blocks,
		  void (*reference)(uint32_t *out, const uint32_t *in, uint32_t blocks))
{
	size_t n = blocks * 256UL;
	uint32_t *in = arena_calloc(l->a, n, 4);
	uint32_t *want = arena_calloc(l->a, n, 4), *got = arena_calloc(l->a, n, 4);
	struct lab_buffer din, out;
	void *args[] = { &out.p, &din.p };

	lab_fill_u32(l, in, n);
	reference(want, in, blocks);
	if (lab_in(l, in, n * 4, &din) || lab_out(l, n * 4, &out) ||
	    lab_run(l, image, name, blocks, 256, args) || lab_take(l, &out, got) ||
	    lab_free(l, &din))
		return -1;
	return lab_compare(l, name, got, want, n);
}

static int shared(struct lab *l)
{
	return in_out(l, IMAGE_BASE, "cuvet_shared", (unsigned)l->sms * 2, ref_shared);
}

static void ref_warp_blocks(uint32_t *out, const uint32_t *in, uint32_t blocks)
{
	ref_warp(out, in, blocks * 8);
}

static int warp(struct lab *l)
{
	enum lab_image image = l->cc >= 70 ? IMAGE_WARP70 : IMAGE_WARP50;
	uint32_t blocks = (uint32_t)l->sms, *want, *got;
	struct lab_buffer out;
	void *args[] = { &out.p };

	if (in_out(l, image, "cuvet_warp", blocks * 2, ref_warp_blocks))
		return -1;
	if (l->cc < 70)
		return 0;
	want = arena_calloc(l->a, blocks * 256UL, 4);
	got = arena_calloc(l->a, blocks * 256UL, 4);
	ref_diverge(want, blocks);
	if (lab_out(l, blocks * 1024UL, &out) ||
	    lab_run(l, image, "cuvet_diverge", blocks, 256, args) || lab_take(l, &out, got))
		return -1;
	return lab_compare(l, "cuvet_diverge", got, want, blocks * 256UL);
}

static int reduction(struct lab *l)
{
	enum { BLOCKS = 256 };
	uint32_t n = 1 << 20, blocks = BLOCKS, i;
	float *in = arena_calloc(l->a, n, 4), sums[BLOCKS], want[BLOCKS], total, want_total;
	struct lab_buffer din, out, last;
	void *first[] = { &out.p, &din.p, &n }, *second[] = { &last.p, &out.p, &blocks };
	double exact = 0, size = 0, bound;

	for (i = 0; i < n; i++) {
		in[i] = lab_float(l, -1, 1);
		exact += (double)in[i];
		size += fabs((double)in[i]);
	}
	ref_reduce(want, in, n, BLOCKS);
	ref_reduce(&want_total, want, BLOCKS, 1);
	if (lab_in(l, in, n * 4UL, &din) || lab_out(l, sizeof(sums), &out) ||
	    lab_out(l, sizeof(total), &last) ||
	    lab_run(l, IMAGE_BASE, "cuvet_reduce", BLOCKS, 256, first) ||
	    lab_run(l, IMAGE_BASE, "cuvet_reduce", 1, 256, second) || lab_take(l, &out, sums) ||
	    lab_take(l, &last, &total) || lab_free(l, &din))
		return -1;
	/* Rounding of a sum in this order: 16 + 8 + 8 additions of which each may lose 2^-24. */
	bound = size * 33 * 0x1p-24;
	if (lab_compare(l, "cuvet_reduce", (const uint32_t *)(const void *)sums,
			(const uint32_t *)(const void *)want, BLOCKS) ||
	    lab_compare(l, "cuvet_reduce (sum of sums)", (const uint32_t *)(const void *)&total,
			(const uint32_t *)(const void *)&want_total, 1))
		return -1;
	return lab_near(l, "cuvet_reduce against double precision", &total, &exact, &bound, 1);
}

static int dynamic(struct lab *l)
{
	uint32_t blocks = (uint32_t)l->sms, threads = 256, seed = lab_u32(l), words;
	uint32_t *want = arena_calloc(l->a, blocks * 256UL, 4);
	uint32_t *got = arena_calloc(l->a, blocks * 256UL, 4);
	struct lab_launch how = { .blocks = blocks, .threads = threads };
	struct lab_buffer out;
	void *args[] = { &out.p, &words, &seed };
	int bytes = 0;

	TRY(l, cuDeviceGetAttribute, &bytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
	    l->dev);
	if (bytes <= 48 << 10)
		return lab_skip(l, N_("this GPU has no more than 48 KiB for a block"));
	if (bytes > 16 << 20)
		return lab_fail(l, N_("%d bytes of shared memory make no sense"), bytes);
	words = (uint32_t)bytes / 4;
	how.shared = words * 4;
	lab_figure(l, "bytes", bytes);
	ref_dynamic(want, blocks, threads, words, seed);
	if (lab_kernel(l, IMAGE_BASE, "cuvet_dynamic", &how.f) || lab_out(l, blocks * 1024UL, &out))
		return -1;
	TRY(l, cuFuncSetAttribute, how.f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
	if (lab_launch(l, &how, args) || lab_take(l, &out, got))
		return -1;
	return lab_compare(l, "cuvet_dynamic", got, want, blocks * 256UL);
}

static int cooperative(struct lab *l)
{
	uint32_t blocks = l->sms > 1024 ? 1024 : (uint32_t)l->sms, rounds = 20, seed = lab_u32(l);
	uint32_t *want = arena_calloc(l->a, blocks, 4), *got = arena_calloc(l->a, blocks, 4);
	struct lab_buffer out, cell, count;
	void *args[] = { &out.p, &cell.p, &count.p, &rounds, &seed };
	int can = 0, fit = 0;
	CUfunction f;

	TRY(l, cuDeviceGetAttribute, &can, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, l->dev);
	if (!can)
		return lab_skip(l, N_("this GPU or driver has no cooperative launch"));
	ref_grid(want, blocks, rounds, seed);
	if (lab_kernel(l, IMAGE_BASE, "cuvet_grid", &f) || lab_out(l, blocks * 4UL, &out) ||
	    lab_out(l, blocks * 8UL, &cell) || lab_out(l, 4, &count))
		return -1;
	TRY(l, cuOccupancyMaxActiveBlocksPerMultiprocessor, &fit, f, 64, 0);
	lab_figure(l, "blocks_per_multiprocessor", fit);
	if (fit < 1)
		return lab_fail(l, N_("not one block of 64 threads fits a multiprocessor"));
	TRY(l, cuMemsetD8_v2, count.p, 0, 4);
	TRY(l, cuLaunchCooperativeKernel, f, blocks, 1, 1, 64, 1, 1, 0, NULL, args);
	if (lab_take(l, &out, got) || lab_free(l, &cell) || lab_free(l, &count))
		return -1;
	return lab_compare(l, "cuvet_grid", got, want, blocks);
}

const struct rung rung_fma = { .name = "fp32-fma", .run = fma_both, .deadline_s = 20 };
const struct rung rung_integer = { .name = "int-atomics", .run = integer_both, .deadline_s = 20 };
const struct rung rung_shared = { .name = "shared-memory", .run = shared, .deadline_s = 20 };
const struct rung rung_warp = { .name = "warp", .run = warp, .deadline_s = 30 };
const struct rung rung_reduction = { .name = "reduction", .run = reduction, .deadline_s = 20 };
const struct rung rung_dynamic = { .name = "dynamic-shared", .run = dynamic, .deadline_s = 20 };
const struct rung rung_cooperative = { .name = "cooperative",
				       .run = cooperative,
				       .deadline_s = 20 };

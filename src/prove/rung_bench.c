/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain measurements, no stress: each several times, the median and the spread of it. Buffers are
 * far larger than the L2 cache and hold random data.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "prove/gauge.h"

enum { TIMES = 9, HOST_BYTES = 256 << 20 };

static void sort(double *v, size_t n)
{
	double x;
	size_t i, k;

	for (i = 1; i < n; i++) {
		x = v[i];
		for (k = i; k && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* ms of TIMES runs, the fastest first; in units by `amount`: amount / ms * scale. */
static double figures(struct lab *l, const char *name, double *ms, double gigabytes)
{
	char full[PROOF_NAME];

	sort(ms, TIMES);
	snprintf(full, sizeof(full), "%s%sgb_per_s", name, name[0] ? "_" : "");
	lab_figure(l, full, gigabytes / ms[TIMES / 2] * 1e3);
	snprintf(full, sizeof(full), "%s%sspread", name, name[0] ? "_" : "");
	/* From the second slowest to the second fastest, in parts of the median. */
	lab_figure(l, full, (ms[TIMES - 2] - ms[1]) / ms[TIMES / 2]);
	return gigabytes / ms[TIMES / 2] * 1e3;
}

/* ---- between host and device */

struct link {
	void *host;
	CUdeviceptr device;
	CUevent start, end;
	bool up;
	struct gauge g;
	double rate; /* the result */
};

static int link_once(struct lab *l, struct link *k, double *ret_ms)
{
	float ms = 0;

	TRY(l, cuEventRecord, k->start, NULL);
	if (k->up)
		TRY(l, cuMemcpyHtoDAsync_v2, k->device, k->host, HOST_BYTES, NULL);
	else
		TRY(l, cuMemcpyDtoHAsync_v2, k->host, k->device, HOST_BYTES, NULL);
	TRY(l, cuEventRecord, k->end, NULL);
	/* The copy is under way. */
	gauge_read(&k->g);
	TRY(l, cuEventSynchronize, k->end);
	TRY(l, cuEventElapsedTime, &ms, k->start, k->end);
	*ret_ms = (double)ms;
	return 0;
}

static int link_measure(struct lab *l, struct link *k, const char *name)
{
	double ms[TIMES];
	size_t i;

	TRY(l, cuMemAlloc_v2, &k->device, HOST_BYTES);
	TRY(l, cuEventCreate, &k->start, 0);
	TRY(l, cuEventCreate, &k->end, 0);
	lab_fill_u32(l, k->host, HOST_BYTES / 4);
	if (link_once(l, k, &ms[0]))
		return -1;
	for (i = 0; i < TIMES; i++)
		if (link_once(l, k, &ms[i]))
			return -1;
	k->rate = figures(l, name, ms, HOST_BYTES * 1e-9);
	TRY(l, cuMemFree_v2, k->device);
	return 0;
}

static int pinned_link(struct lab *l, bool up)
{
	struct gauge_claim c = { .of = GAUGE_LINK, .name = "" };
	struct link k = { .up = up };

	gauge_open(l, &k.g);
	TRY(l, cuMemHostAlloc, &k.host, HOST_BYTES, 0);
	if (link_measure(l, &k, ""))
		return -1;
	TRY(l, cuMemFreeHost, k.host);
	if (k.g.gen)
		lab_figure(l, "link_generation", k.g.gen);
	if (k.g.width)
		lab_figure(l, "link_lanes", k.g.width);
	c.value = k.rate;
	c.expected = gauge_link_rate(l, &k.g);
	gauge_figures(l, &c);
	return gauge_judge(l, &k.g, &c);
}

static int host_to_device(struct lab *l)
{
	return pinned_link(l, true);
}

static int device_to_host(struct lab *l)
{
	return pinned_link(l, false);
}

static int pageable(struct lab *l)
{
	struct link up = { .up = true }, down = { .up = false };
	int r;

	/* As allocators have it for blocks of this size. */
	up.host =
		mmap(NULL, HOST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (up.host == MAP_FAILED)
		return lab_skip(l, N_("too little memory of the host is free"));
	madvise(up.host, HOST_BYTES, MADV_HUGEPAGE);
	down.host = up.host;
	r = link_measure(l, &up, "to_device") || link_measure(l, &down, "to_host") ? -1 : 0;
	munmap(up.host, HOST_BYTES);
	return r;
}

/* ---- the device's memory */

struct inside {
	CUdeviceptr a, b;
	uint64_t bytes;
	CUevent start, end;
	CUfunction copy, read, write;
	unsigned blocks;
	double rate; /* of the last one */
	struct gauge g;
};

enum inside_kind { INSIDE_MEMCPY, INSIDE_COPY, INSIDE_READ, INSIDE_WRITE };

static int inside_start(struct lab *l, struct inside *d, enum inside_kind kind)
{
	struct lab_launch how = { .blocks = d->blocks, .threads = 512 };
	uint64_t words = d->bytes / 16, base = 0;
	uint32_t random = 5, key = 77;
	void *copying[] = { &d->b, &d->a, &words };
	void *writing[] = { &d->b, &words, &base, &random, &key };

	switch (kind) {
	case INSIDE_MEMCPY:
		TRY(l, cuMemcpyDtoDAsync_v2, d->b, d->a, d->bytes, NULL);
		return 0;
	case INSIDE_COPY:
		how.f = d->copy;
		return lab_launch(l, &how, copying);
	case INSIDE_READ:
		how.f = d->read;
		return lab_launch(l, &how, copying);
	case INSIDE_WRITE:
		break;
	}
	how.f = d->write;
	return lab_launch(l, &how, writing);
}

static int inside_measure(struct lab *l, struct inside *d, enum inside_kind kind, const char *name)
{
	double ms[TIMES], bytes = (double)d->bytes;
	float once = 0;
	int i;

	if (kind == INSIDE_MEMCPY || kind == INSIDE_COPY)
		bytes *= 2;
	for (i = -2; i < TIMES; i++) {
		TRY(l, cuEventRecord, d->start, NULL);
		if (inside_start(l, d, kind))
			return -1;
		TRY(l, cuEventRecord, d->end, NULL);
		/* It is under way. */
		gauge_read(&d->g);
		TRY(l, cuEventSynchronize, d->end);
		TRY(l, cuEventElapsedTime, &once, d->start, d->end);
		if (i >= 0)
			ms[i] = (double)once;
	}
	d->rate = figures(l, name, ms, bytes * 1e-9);
	return 0;
}

/* By the table where the driver's bus and clock agree with it to a factor of two, else by those. */
static int judge_memory(struct lab *l, const struct inside *d)
{
	struct gauge_claim c = { .of = GAUGE_MEMORY, .name = "", .value = d->rate };
	double share = d->g.perf.share[PERF_MEMORY], bus, table = d->g.perf.peak[PERF_MEMORY];
	int clock = 0, width = 0;

	TRY(l, cuDeviceGetAttribute, &clock, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, l->dev);
	TRY(l, cuDeviceGetAttribute, &width, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, l->dev);
	/* Two transfers a clock on a bus of that many bits. */
	bus = 2.0 * clock * 1e3 * width / 8 * 1e-9;
	if (bus > 0)
		lab_figure(l, "bus_gb_per_s", bus);
	if (d->g.slice)
		return 0;
	c.expected = bus * share;
	if (table > 0 && (bus <= 0 || (table >= bus / 2 && table <= bus * 1.05))) {
		c.expected = table * share;
		c.inferred = d->g.perf.inferred[PERF_MEMORY];
	}
	gauge_figures(l, &c);
	return gauge_judge(l, &d->g, &c);
}

static int device_memory(struct lab *l)
{
	struct inside d = { .bytes = 2ULL << 30, .blocks = (unsigned)l->sms * 4 };

	if (d.bytes > l->free_bytes / 4)
		d.bytes = l->free_bytes / 4 & ~(uint64_t)0xfffff;
	/* Whole rounds of the grid, four words of 16 bytes a thread. */
	d.bytes -= d.bytes % (d.blocks * 512ULL * 64);
	if (d.bytes < 1 << 20)
		return lab_skip(l, N_("too little memory is free"));
	if (lab_kernel(l, IMAGE_MEMORY, "cuvet_copy", &d.copy) ||
	    lab_kernel(l, IMAGE_MEMORY, "cuvet_read", &d.read) ||
	    lab_kernel(l, IMAGE_MEMORY, "cuvet_memory_write", &d.write))
		return -1;
	TRY(l, cuMemAlloc_v2, &d.a, d.bytes);
	TRY(l, cuMemAlloc_v2, &d.b, d.bytes);
	TRY(l, cuEventCreate, &d.start, 0);
	TRY(l, cuEventCreate, &d.end, 0);
	gauge_open(l, &d.g);
	if (inside_measure(l, &d, INSIDE_WRITE, "write"))
		return -1;
	TRY(l, cuMemcpyDtoD_v2, d.a, d.b, d.bytes);
	/* Bytes read and bytes written, both counted. */
	if (inside_measure(l, &d, INSIDE_COPY, "copy_rw") ||
	    inside_measure(l, &d, INSIDE_READ, "read") ||
	    inside_measure(l, &d, INSIDE_MEMCPY, "memcpy_rw"))
		return -1;
	TRY(l, cuMemFree_v2, d.a);
	TRY(l, cuMemFree_v2, d.b);
	return judge_memory(l, &d);
}

static int latency(struct lab *l)
{
	enum { LAUNCHES = 200 };
	uint32_t one = 1, seed = 1;
	struct lab_launch how = { .blocks = 1, .threads = 32 };
	double ms[TIMES], start;
	struct lab_buffer out;
	void *args[] = { &out.p, &one, &seed };
	int i, k;

	if (lab_kernel(l, IMAGE_BASE, "cuvet_fill", &how.f) || lab_out(l, 4, &out))
		return -1;
	for (i = 0; i < TIMES; i++) {
		TRY(l, cuCtxSynchronize);
		start = lab_now_ms();
		for (k = 0; k < LAUNCHES; k++)
			if (lab_launch(l, &how, args))
				return -1;
		TRY(l, cuCtxSynchronize);
		ms[i] = (lab_now_ms() - start) / LAUNCHES;
	}
	sort(ms, TIMES);
	lab_figure(l, "launch_us", ms[TIMES / 2] * 1e3);
	for (i = 0; i < TIMES; i++) {
		start = lab_now_ms();
		if (lab_launch(l, &how, args))
			return -1;
		TRY(l, cuCtxSynchronize);
		ms[i] = lab_now_ms() - start;
	}
	sort(ms, TIMES);
	lab_figure(l, "launch_and_wait_us", ms[TIMES / 2] * 1e3);
	return lab_free(l, &out);
}

const struct rung bench_host_to_device = {
	.name = "bench-h2d", .run = host_to_device, .deadline_s = 60, .when = RUNG_BENCH
};
const struct rung bench_device_to_host = {
	.name = "bench-d2h", .run = device_to_host, .deadline_s = 60, .when = RUNG_BENCH
};
const struct rung bench_pageable = {
	.name = "bench-pageable", .run = pageable, .deadline_s = 60, .when = RUNG_BENCH
};
const struct rung bench_device = {
	.name = "bench-memory", .run = device_memory, .deadline_s = 60, .when = RUNG_BENCH
};
const struct rung bench_launch = {
	.name = "bench-launch", .run = latency, .deadline_s = 60, .when = RUNG_BENCH
};

/* SPDX-License-Identifier: Apache-2.0 */
/* The first rungs: from the library to machine code that the GPU takes. All others rest on them. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "prove/lab.h"
#include "prove/reference.h"

static const struct dl_symbol symbols[] = {
#define REQ(name, args) { #name, offsetof(struct cu_api, name), true },
#define OPT(name, args) { #name, offsetof(struct cu_api, name), false },
#include "prove/cu.def"
};

static int library(struct lab *l)
{
	const char *was = setlocale(LC_MESSAGES, NULL);

	was = arena_strdup(l->a, was ? was : "C");
	/* dl_load tells causes apart by the loader's words. */
	setlocale(LC_MESSAGES, "C");
	lab_doing(l, "loading libcuda");
	dl_load(l->opt->library, symbols, ARRAY_LEN(symbols), &l->cu, &l->library);
	setlocale(LC_MESSAGES, was);
	/* A path that is too long for the row is cut. */
	snprintf(l->o->path, sizeof(l->o->path), "%.*s", (int)sizeof(l->o->path) - 1,
		 l->library.path);
	switch (l->library.state) {
	case DL_LOADED:
		return 0;
	case DL_ABSENT:
		return lab_fail(l, N_("there is no %s on the loader's search path"),
				l->opt->library);
	case DL_LACKS:
		return lab_fail(l, N_("%s has no %s: no driver's libcuda, or one before 340"),
				l->opt->library, l->library.text);
	case DL_BROKEN:
		break;
	}
	return lab_fail(l, "%.*s", PROOF_TEXT - 1, l->library.text);
}

static int init(struct lab *l)
{
	TRY(l, cuInit, 0);
	TRY(l, cuDriverGetVersion, &l->version);
	if (l->version < 1000 || l->version > 99990)
		return lab_fail(l, N_("cuDriverGetVersion: %d is no version"), l->version);
	return 0;
}

static int device(struct lab *l)
{
	int major = 0, minor = 0, n = -1;
	char name[96] = "";

	TRY(l, cuDeviceGetCount, &n);
	if (n < 0 || n > 1024)
		return lab_fail(l, N_("cuDeviceGetCount: %d is no number of devices"), n);
	if (n <= l->ordinal)
		return lab_fail(l, N_("cuDeviceGetCount: %d devices, GPU %d is not among them"), n,
				l->ordinal);
	TRY(l, cuDeviceGet, &l->dev, l->ordinal);
	TRY(l, cuDeviceGetName, name, (int)sizeof(name), l->dev);
	TRY(l, cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, l->dev);
	TRY(l, cuDeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, l->dev);
	TRY(l, cuDeviceGetAttribute, &l->sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, l->dev);
	l->cc = major * 10 + minor;
	if (major < 1 || major > 99 || minor < 0 || minor > 9)
		return lab_fail(l, N_("compute capability %d.%d makes no sense"), major, minor);
	if (l->sms < 1 || l->sms > 4096)
		return lab_fail(l, N_("%d is no number of multiprocessors"), l->sms);
	lab_figure(l, "multiprocessors", l->sms);
	if (l->cc < 50)
		return lab_skip(l, N_("compute capability %d.%d is older than the kernels (5.0)"),
				major, minor);
	return 0;
}

static int context(struct lab *l)
{
	/* The primary one, as every framework uses it. */
	if (l->cu.cuDevicePrimaryCtxRetain)
		TRY(l, cuDevicePrimaryCtxRetain, &l->ctx, l->dev);
	else
		TRY(l, cuCtxCreate_v2, &l->ctx, 0, l->dev);
	TRY(l, cuCtxSetCurrent, l->ctx);
	TRY(l, cuCtxSynchronize);
	return 0;
}

static int allocation(struct lab *l)
{
	static const size_t sizes[] = { 1, 4096, 1 << 20, 16 << 20 };
	CUdeviceptr p[ARRAY_LEN(sizes)] = { 0 };
	size_t free = 0, total = 0, i, k;

	TRY(l, cuMemGetInfo_v2, &free, &total);
	if (total == 0 || free > total)
		return lab_fail(l, N_("cuMemGetInfo: %zu of %zu bytes free makes no sense"), free,
				total);
	l->free_bytes = free;
	lab_figure(l, "free_mib", (double)(free >> 20));
	lab_figure(l, "total_mib", (double)(total >> 20));
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		TRY(l, cuMemAlloc_v2, &p[i], sizes[i]);
		if (!p[i])
			return lab_fail(l, N_("cuMemAlloc gave no address"));
		for (k = 0; k < i; k++)
			if (p[i] < p[k] + sizes[k] && p[k] < p[i] + sizes[i])
				return lab_fail(l, N_("cuMemAlloc gave the same memory twice"));
	}
	for (i = 0; i < ARRAY_LEN(sizes); i++)
		TRY(l, cuMemFree_v2, p[i]);
	return 0;
}

static int copy(struct lab *l)
{
	size_t words = (4 << 20) / 4, odd = words * 4 - 13;
	uint32_t *from = arena_calloc(l->a, words, 4), *to = arena_calloc(l->a, words, 4);
	struct lab_buffer first, second;

	lab_fill_u32(l, from, words);
	if (lab_in(l, from, words * 4, &first) || lab_out(l, words * 4, &second))
		return -1;
	TRY(l, cuMemcpyDtoD_v2, second.p, first.p, words * 4);
	if (lab_free(l, &first) || lab_take(l, &second, to) ||
	    lab_compare(l, "copy", to, from, words))
		return -1;
	/* From and to odd places, of an odd length. */
	if (lab_out(l, words * 4, &second))
		return -1;
	TRY(l, cuMemcpyHtoD_v2, second.p + 5, (char *)from + 3, odd);
	memset(to, 0, words * 4);
	TRY(l, cuMemcpyDtoH_v2, (char *)to + 3, second.p + 5, odd);
	if (memcmp((char *)to + 3, (char *)from + 3, odd) != 0)
		return lab_fail(l, N_("bytes at odd addresses came back changed"));
	return lab_free(l, &second);
}

int lab_fill_check(struct lab *l)
{
	uint32_t n = 100003, seed = lab_u32(l), i;
	uint32_t *want = arena_calloc(l->a, n, 4), *got = arena_calloc(l->a, n, 4);
	struct lab_buffer out;
	void *args[] = { &out.p, &n, &seed };

	for (i = 0; i < n; i++)
		want[i] = ref_mix(seed + i);
	if (lab_out(l, n * 4UL, &out) ||
	    lab_run(l, IMAGE_BASE, "cuvet_fill", (unsigned)l->sms, 256, args) ||
	    lab_take(l, &out, got))
		return -1;
	return lab_compare(l, "cuvet_fill", got, want, n);
}

static int jit(struct lab *l)
{
	CUfunction f;
	double start = lab_now_ms();

	if (lab_kernel(l, IMAGE_BASE, "cuvet_fill", &f))
		return -1;
	lab_figure(l, "compile_ms", lab_now_ms() - start);
	return lab_fill_check(l);
}

const struct rung rung_library = {
	.name = "load-libcuda", .run = library, .deadline_s = 20, .base = true
};
/* A GPU that slept, or persistence off on a machine with many: cuInit can take many seconds. */
const struct rung rung_init = { .name = "cuinit", .run = init, .deadline_s = 60, .base = true };
const struct rung rung_device = { .name = "device", .run = device, .deadline_s = 20, .base = true };
const struct rung rung_context = {
	.name = "context", .run = context, .deadline_s = 60, .base = true
};
const struct rung rung_allocation = {
	.name = "allocation", .run = allocation, .deadline_s = 20, .base = true
};
const struct rung rung_copy = { .name = "copy", .run = copy, .deadline_s = 20, .base = true };
/* Minutes in bad cases. */
const struct rung rung_jit = { .name = "ptx-jit", .run = jit, .deadline_s = 180, .base = true };

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compute part of the stand-in for libcuda: memory of the host in place of the GPU's, kernels
 * by their names as the references compute them, one after the other. Keys of the script besides
 * those of script.h (`at` and `behave` hold for every call here too): code.CALL=N   what the call
 * gives in place of doing its work flip=WHAT     one bit of what the kernel, or the copy, writes is
 * wrong; drop=WHAT: it does nothing nth=N         only the N-th time (from 1); bit=N: which bit
 * (default 5), word=N: which word optin=N       bytes of dynamic shared memory that the device has;
 * coop=0, managed=0, mapped=0
 */
#ifndef STANDIN_COMPUTE_H
#define STANDIN_COMPUTE_H

#include <stdint.h>
#include <time.h>

#include "prove/cu.h"

#include "prove/reference.c"

struct image {
	uint32_t width, height, data[];
};

enum { OPS = 64 };

/* What a captured graph does. */
struct op {
	int kind; /* 0: copy, 1: kernel */
	void *to;
	const void *from;
	size_t n;
	char name[64];
	unsigned blocks, threads, shared;
	uint64_t args[8];
	size_t sizes;
};

struct graph {
	size_t n;
	struct op ops[OPS];
};

static struct graph *capturing;
static uint32_t constant_table[1024];
static int asserted;
static size_t used_bytes;

static int chosen(const char *key, const char *what)
{
	static int counts[2];
	int *count = &counts[key[0] == 'f'];

	if (strcmp(say("", key, -1, ""), what) != 0)
		return 0;
	++*count;
	return say_number("", "nth", -1, 0) == 0 || say_number("", "nth", -1, 0) == *count;
}

static void flip(const char *what, void *to)
{
	if (chosen("flip", what))
		((uint32_t *)to)[say_number("", "word", -1, 2)] ^= 1U
								   << say_number("", "bit", -1, 5);
}

#define ENTER(call)                                                    \
	do {                                                           \
		long code_;                                            \
		behave("", #call, "cuInit");                           \
		code_ = say_code(#call);                               \
		if (code_)                                             \
			return (CUresult)code_;                        \
		if (asserted && strcmp(#call, "cuCtxDestroy_v2") != 0) \
			return CUDA_ERROR_ASSERT;                      \
	} while (0)

/* ---- kernels */

static void pattern(uint32_t kind, uint64_t i, uint32_t key, uint32_t w[4])
{
	uint32_t x = (uint32_t)i * 4 + key, k;

	for (k = 0; k < 4; k++) {
		if (kind == 0)
			w[k] = key;
		else if (kind == 1)
			w[k] = (k & 1 ? 0xaaaaaaaaU : 0x55555555U) ^ key;
		else if (kind == 2 || kind == 3)
			w[k] = kind == 2 ? 1U << ((x + k) & 31) : ~(1U << ((x + k) & 31));
	}
	if (kind == 4) {
		w[0] = (uint32_t)i ^ key;
		w[1] = (uint32_t)(i >> 32) ^ key;
		w[2] = ~(uint32_t)i ^ key;
		w[3] = ((uint32_t)i * 4 + 3) ^ key;
	} else if (kind == 5) {
		x = ((uint32_t)i ^ key) * 0x9e3779b1U;
		x ^= x >> 15;
		w[0] = x * 0x85ebca77U + (uint32_t)(i >> 32);
		w[1] = (x ^ 0x1b873593U) * 0xc2b2ae3dU;
		w[2] = w[0] ^ w[1] >> 7;
		w[3] = w[1] + (w[0] << 9);
	}
}

static void memory_write(uint32_t *at, uint64_t n, uint64_t base, uint32_t kind, uint32_t key)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		pattern(kind, base + i, key, at + i * 4);
}

static void memory_check(uint64_t *found, const uint32_t *at, uint64_t n, const uint64_t *rest,
			 unsigned blocks)
{
	uint32_t w[4], k;
	uint64_t i;

	for (i = 0; i < n; i++) {
		pattern((uint32_t)rest[1], rest[0] + i, (uint32_t)rest[2], w);
		for (k = 0; k < 4; k++) {
			if (at[i * 4 + k] == w[k])
				continue;
			found[0]++;
			found[1] = rest[0] + i + 1;
			found[2] = at[i * 4 + k];
			found[3] = w[k];
			break;
		}
	}
	found[4] += blocks;
}

static void product(const char *format, const uint64_t *a)
{
	static const struct {
		const char *name;
		enum ref_format f;
	} formats[] = {
		{ "f16", REF_F16 },   { "bf16", REF_BF16 }, { "tf32", REF_TF32 }, { "s8", REF_S8 },
		{ "e4m3", REF_E4M3 }, { "e5m2", REF_E5M2 }, { "wgmma", REF_F16 },
	};
	size_t m = a[3], n = a[4], k = a[5], i, f = 0;
	double *da = malloc(m * k * 8), *db = malloc(n * k * 8), *out = malloc(m * n * 8);
	struct ref_product p = { (uint32_t)m, (uint32_t)n, (uint32_t)k, da, db };

	while (strcmp(formats[f].name, format) != 0)
		f++;
	ref_decode(formats[f].f, (const void *)a[1], m * k, da);
	ref_decode(formats[f].f, (const void *)a[2], n * k, db);
	ref_product(&p, out, NULL);
	for (i = 0; i < m * n; i++) {
		if (formats[f].f == REF_S8)
			((int32_t *)a[0])[i] = (int32_t)out[i];
		else
			((float *)a[0])[i] = (float)out[i];
	}
	free(da);
	free(db);
	free(out);
}

static void simple_kernel(const char *name, const uint64_t *a, unsigned blocks)
{
	uint32_t *out = (uint32_t *)a[0], i;
	const uint32_t *in = (const uint32_t *)a[1];

	if (strcmp(name, "fill") == 0)
		for (i = 0; i < a[1]; i++)
			out[i] = ref_mix((uint32_t)a[2] + i);
	else if (strcmp(name, "affine") == 0)
		for (i = 0; i < a[2]; i++)
			out[i] = in[i] * (uint32_t)a[3] + (uint32_t)a[4];
	else if (strcmp(name, "constant") == 0)
		for (i = 0; i < a[2]; i++)
			out[i] = constant_table[in[i] & 1023] ^ in[i];
	else if (strcmp(name, "spin") == 0)
		out[0] = 0x600d;
	else if (strcmp(name, "diverge") == 0)
		ref_diverge(out, blocks);
	else if (strcmp(name, "surface") == 0)
		memcpy(((struct image *)a[0])->data, in, a[2] * a[3] * 4);
	else if (strcmp(name, "texture") == 0)
		ref_texture(out, ((const struct image *)a[1])->data, (uint32_t)a[2],
			    (uint32_t)a[3]);
	else if (strcmp(name, "copy") == 0)
		memcpy(out, in, a[2] * 16);
	else if (strcmp(name, "print") == 0)
		for (i = 0; i < 64; i++) {
			if (i == 9 && chosen("flip", "cuvet_print"))
				continue;
			printf("cuvet %u says %u\n", i, (uint32_t)a[0]);
		}
	else if (strcmp(name, "assert") == 0)
		asserted = (int)a[0];
}

static void run_kernel(const struct op *o)
{
	const char *name = o->name + strlen("cuvet_");
	const uint64_t *a = o->args;

	if (chosen("drop", o->name))
		return;
	if (strncmp(name, "tensor_", 7) == 0)
		product(name + 7, a);
	else if (strcmp(name, "fma") == 0)
		ref_fma((float *)a[0], (const float *)a[1], (const float *)a[2], (uint32_t)a[3],
			(uint32_t)a[4]);
	else if (strcmp(name, "fma64") == 0)
		ref_fma64((double *)a[0], (const double *)a[1], (const double *)a[2],
			  (uint32_t)a[3], (uint32_t)a[4]);
	else if (strcmp(name, "int") == 0)
		ref_int((uint64_t *)a[0], (const uint64_t *)a[1], (const uint64_t *)a[2],
			(uint32_t)a[3]);
	else if (strcmp(name, "atomics") == 0)
		ref_atomics((uint64_t *)a[0], (const uint64_t *)a[1], (uint32_t)a[2]);
	else if (strcmp(name, "shared") == 0)
		ref_shared((uint32_t *)a[0], (const uint32_t *)a[1], o->blocks);
	else if (strcmp(name, "warp") == 0)
		ref_warp((uint32_t *)a[0], (const uint32_t *)a[1], o->blocks * o->threads / 32);
	else if (strcmp(name, "reduce") == 0)
		ref_reduce((float *)a[0], (const float *)a[1], (uint32_t)a[2], o->blocks);
	else if (strcmp(name, "dynamic") == 0)
		ref_dynamic((uint32_t *)a[0], o->blocks, o->threads, (uint32_t)a[1],
			    (uint32_t)a[2]);
	else if (strcmp(name, "grid") == 0)
		ref_grid((uint32_t *)a[0], o->blocks, (uint32_t)a[3], (uint32_t)a[4]);
	else if (strcmp(name, "memory_write") == 0)
		memory_write((uint32_t *)a[0], a[1], a[2], (uint32_t)a[3], (uint32_t)a[4]);
	else if (strcmp(name, "memory_check") == 0)
		memory_check((uint64_t *)a[0], (const uint32_t *)a[1], a[2], a + 3, o->blocks);
	else
		simple_kernel(name, a, o->blocks);
	if (strcmp(name, "print") == 0 || strcmp(name, "assert") == 0)
		return;
	flip(o->name,
	     strcmp(name, "surface") == 0 ? (void *)((struct image *)a[0])->data : (void *)a[0]);
}

/* Sizes of the arguments: q: 8 bytes, d: 4. */
static const char *signature(const char *name)
{
	static const char *const rows[][2] = {
		{ "cuvet_fill", "qdd" },
		{ "cuvet_fma", "qqqdd" },
		{ "cuvet_fma64", "qqqdd" },
		{ "cuvet_int", "qqqd" },
		{ "cuvet_atomics", "qqd" },
		{ "cuvet_shared", "qq" },
		{ "cuvet_reduce", "qqd" },
		{ "cuvet_constant", "qqd" },
		{ "cuvet_surface", "qqdd" },
		{ "cuvet_texture", "qqdd" },
		{ "cuvet_affine", "qqddd" },
		{ "cuvet_spin", "qd" },
		{ "cuvet_dynamic", "qdd" },
		{ "cuvet_grid", "qqqdd" },
		{ "cuvet_warp", "qq" },
		{ "cuvet_diverge", "q" },
		{ "cuvet_print", "d" },
		{ "cuvet_assert", "d" },
		{ "cuvet_memory_write", "qqqdd" },
		{ "cuvet_memory_check", "qqqqdd" },
		{ "cuvet_copy", "qqq" },
		{ "cuvet_read", "qqq" },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i][0], name) == 0)
			return rows[i][1];
	return strncmp(name, "cuvet_tensor_", 13) == 0 ? "qqqddd" : NULL;
}

static void fetch_args(struct op *o, void **args)
{
	const char *s = signature(o->name);
	uint32_t d;
	size_t i;

	for (i = 0; s[i]; i++) {
		if (s[i] == 'q') {
			memcpy(&o->args[i], args[i], 8);
		} else {
			memcpy(&d, args[i], 4);
			o->args[i] = d;
		}
	}
}

static void run_op(const struct op *o)
{
	if (o->kind == 0)
		memcpy(o->to, o->from, o->n);
	else
		run_kernel(o);
}

static void do_op(const struct op *o)
{
	if (capturing && capturing->n < OPS)
		capturing->ops[capturing->n++] = *o;
	else
		run_op(o);
}

/* ---- the calls */

#define CALL(name, args) __attribute__((visibility("default"))) CUresult name args

CALL(cuGetErrorName, (CUresult code, const char **name))
{
	*name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : NULL;
	return *name ? 0 : 1;
}

CALL(cuDevicePrimaryCtxRetain, (CUcontext * c, CUdevice dev))
{
	ENTER(cuDevicePrimaryCtxRetain);
	*c = (CUcontext)(size_t)(dev + 1);
	return 0;
}

CALL(cuCtxCreate_v2, (CUcontext * c, unsigned flags, CUdevice dev))
{
	ENTER(cuCtxCreate_v2);
	(void)flags;
	*c = (CUcontext)(size_t)(dev + 1);
	return 0;
}

CALL(cuCtxSetCurrent, (CUcontext c))
{
	ENTER(cuCtxSetCurrent);
	(void)c;
	return 0;
}

CALL(cuCtxSynchronize, (void))
{
	ENTER(cuCtxSynchronize);
	return 0;
}

CALL(cuCtxDestroy_v2, (CUcontext c))
{
	ENTER(cuCtxDestroy_v2);
	(void)c;
	return 0;
}

CALL(cuMemGetInfo_v2, (size_t * free_, size_t *total))
{
	ENTER(cuMemGetInfo_v2);
	*total = (size_t)say_number("", "memory_mib", -1, 64) << 20;
	*free_ = *total / 8 * 7;
	return 0;
}

CALL(cuMemAlloc_v2, (CUdeviceptr * p, size_t n))
{
	size_t *block;

	ENTER(cuMemAlloc_v2);
	if (n > (size_t)say_number("", "largest_mib", -1, 4096) << 20)
		return CUDA_ERROR_OUT_OF_MEMORY;
	block = malloc(n + 64);
	if (!block)
		return CUDA_ERROR_OUT_OF_MEMORY;
	block[0] = n;
	used_bytes += n;
	*p = is_behaviour("", "same") ? 0x1000 : (CUdeviceptr)(size_t)(block + 8);
	return 0;
}

CALL(cuMemFree_v2, (CUdeviceptr p))
{
	ENTER(cuMemFree_v2);
	if (p == 0x1000)
		return 0;
	free((size_t *)(size_t)p - 8);
	return 0;
}

static CUresult copy(const char *name, void *to, const void *from, size_t n)
{
	struct op o = { .to = to, .from = from, .n = n };

	if (chosen("drop", name))
		return 0;
	do_op(&o);
	if (!capturing && n >= 64)
		flip(name, to);
	return 0;
}

#define COPY(name, args, to, from)                                                         \
	CALL(name, args)                                                                   \
	{                                                                                  \
		ENTER(name);                                                               \
		return copy(#name, (void *)(size_t)(to), (const void *)(size_t)(from), n); \
	}

COPY(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t n), to, from)
COPY(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t n), to, from)
COPY(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t n), to, from)
COPY(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t n, CUstream s), to,
	((void)s, from))
COPY(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t n, CUstream s), to, ((void)s, from))
COPY(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s), to,
	((void)s, from))
COPY(cuMemcpyPeer, (CUdeviceptr to, CUcontext c, CUdeviceptr from, CUcontext d, size_t n),
	((void)c, to), ((void)d, from))
COPY(cuMemcpyPeerAsync,
	(CUdeviceptr to, CUcontext c, CUdeviceptr from, CUcontext d, size_t n, CUstream s),
	((void)c, to), ((void)d, (void)s, from))

CALL(cuMemsetD8_v2, (CUdeviceptr p, unsigned char v, size_t n))
{
	ENTER(cuMemsetD8_v2);
	memset((void *)(size_t)p, v, n);
	return 0;
}

CALL(cuMemHostAlloc, (void **p, size_t n, unsigned flags))
{
	ENTER(cuMemHostAlloc);
	(void)flags;
	*p = malloc(n);
	return *p ? 0 : CUDA_ERROR_OUT_OF_MEMORY;
}

CALL(cuMemHostGetDevicePointer_v2, (CUdeviceptr * d, void *p, unsigned flags))
{
	ENTER(cuMemHostGetDevicePointer_v2);
	(void)flags;
	*d = (CUdeviceptr)(size_t)p;
	return 0;
}

CALL(cuMemFreeHost, (void *p))
{
	ENTER(cuMemFreeHost);
	free(p);
	return 0;
}

CALL(cuMemAllocManaged, (CUdeviceptr * p, size_t n, unsigned flags))
{
	ENTER(cuMemAllocManaged);
	(void)flags;
	return cuMemAlloc_v2(p, n);
}

CALL(cuModuleLoadDataEx,
	(CUmodule * m, const void *image, unsigned n, CUjit_option *options, void **values))
{
	ENTER(cuModuleLoadDataEx);
	(void)n;
	(void)options;
	(void)values;
	*m = (CUmodule)(size_t)image;
	return 0;
}

CALL(cuModuleLoadData, (CUmodule * m, const void *image))
{
	const unsigned char *elf = image;

	ENTER(cuModuleLoadData);
	*m = (CUmodule)(size_t)image;
	/* Of machine "CUDA": what a compiler made, not cuLinkComplete below. */
	if (memcmp(elf, "\177ELF", 4) == 0 && elf[18] == 190)
		return (CUresult)say_number("code.", "sass", -1, 0);
	return 0;
}

CALL(cuModuleUnload, (CUmodule m))
{
	ENTER(cuModuleUnload);
	(void)m;
	return 0;
}

CALL(cuModuleGetFunction, (CUfunction * f, CUmodule m, const char *name))
{
	/* A function is its name, kept for as long as the library: handles are never given back. */
	static char *names[256];
	size_t i;

	ENTER(cuModuleGetFunction);
	(void)m;
	for (i = 0; i < sizeof(names) / sizeof(names[0]) - 1 && names[i]; i++)
		if (strcmp(names[i], name) == 0)
			break;
	if (!names[i])
		names[i] = strdup(name);
	*f = (CUfunction)(void *)names[i];
	return signature(name) ? 0 : 500;
}

CALL(cuModuleGetGlobal_v2, (CUdeviceptr * p, size_t *n, CUmodule m, const char *name))
{
	ENTER(cuModuleGetGlobal_v2);
	(void)m;
	(void)name;
	*p = (CUdeviceptr)(size_t)constant_table;
	*n = sizeof(constant_table);
	return 0;
}

CALL(cuLinkCreate_v2, (unsigned n, CUjit_option *options, void **values, CUlinkState *s))
{
	ENTER(cuLinkCreate_v2);
	(void)n;
	(void)options;
	(void)values;
	*s = (CUlinkState)(size_t)1;
	return 0;
}

CALL(cuLinkAddData_v2, (CUlinkState s, CUjitInputType type, void *data, size_t size,
			const char *name, unsigned n, CUjit_option *options, void **values))
{
	ENTER(cuLinkAddData_v2);
	(void)s;
	(void)type;
	(void)data;
	(void)size;
	(void)name;
	(void)n;
	(void)options;
	(void)values;
	return 0;
}

CALL(cuLinkComplete, (CUlinkState s, void **cubin, size_t *n))
{
	static char elf[256] = "\177ELF";

	ENTER(cuLinkComplete);
	(void)s;
	if (chosen("drop", "cuLinkComplete"))
		elf[0] = 'x';
	*cubin = elf;
	*n = sizeof(elf);
	return 0;
}

CALL(cuLinkDestroy, (CUlinkState s))
{
	ENTER(cuLinkDestroy);
	(void)s;
	return 0;
}

static CUresult launch(CUfunction f, unsigned blocks, unsigned threads, unsigned shared,
		       void **args)
{
	struct op o = { .kind = 1, .blocks = blocks, .threads = threads, .shared = shared };

	snprintf(o.name, sizeof(o.name), "%s", (const char *)f);
	fetch_args(&o, args);
	do_op(&o);
	return 0;
}

CALL(cuLaunchKernel, (CUfunction f, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty,
		      unsigned tz, unsigned shared, CUstream s, void **args, void **extra))
{
	ENTER(cuLaunchKernel);
	(void)s;
	(void)extra;
	return launch(f, x * y * z, tx * ty * tz, shared, args);
}

CALL(cuLaunchCooperativeKernel,
	(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
	unsigned shared, CUstream s, void **args))
{
	ENTER(cuLaunchCooperativeKernel);
	(void)s;
	return launch(f, x * y * z, tx * ty * tz, shared, args);
}

CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor,
	(int *n, CUfunction f, int threads, size_t shared))
{
	ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor);
	(void)f;
	(void)threads;
	(void)shared;
	*n = 2;
	return 0;
}

CALL(cuFuncSetAttribute, (CUfunction f, CUfunction_attribute which, int value))
{
	ENTER(cuFuncSetAttribute);
	(void)f;
	(void)which;
	return value > say_number("", "optin", -1, 101376) ? 1 : 0;
}

/* Handles that are nothing but a number. */
#define HANDLE(name, args, to) \
	CALL(name, args)       \
	{                      \
		ENTER(name);   \
		to;            \
		return 0;      \
	}

HANDLE(cuStreamCreate, (CUstream * s, unsigned flags), ((void)flags, *s = (CUstream)(size_t)1))
HANDLE(cuStreamSynchronize, (CUstream s), (void)s)
HANDLE(cuStreamWaitEvent, (CUstream s, CUevent e, unsigned f), ((void)s, (void)e, (void)f))
HANDLE(cuStreamDestroy_v2, (CUstream s), (void)s)
HANDLE(cuEventCreate, (CUevent * e, unsigned flags),
	((void)flags, *e = (CUevent)calloc(1, sizeof(struct timespec))))
HANDLE(cuEventRecord, (CUevent e, CUstream s),
	((void)s, clock_gettime(CLOCK_MONOTONIC, (struct timespec *)(void *)e)))
HANDLE(cuEventSynchronize, (CUevent e), (void)e)
HANDLE(cuEventDestroy_v2, (CUevent e), free(e))
HANDLE(cuStreamBeginCapture_v2, (CUstream s, CUstreamCaptureMode m),
	((void)s, (void)m, capturing = calloc(1, sizeof(*capturing))))
HANDLE(cuStreamEndCapture, (CUstream s, CUgraph *g),
	((void)s, *g = (CUgraph)(void *)capturing, capturing = NULL))
HANDLE(cuGraphInstantiateWithFlags, (CUgraphExec * e, CUgraph g, unsigned long long f),
	((void)f, *e = (CUgraphExec)(void *)g))
HANDLE(cuGraphExecDestroy, (CUgraphExec e), (void)e)
HANDLE(cuGraphDestroy, (CUgraph g), free(g))
HANDLE(cuArrayDestroy, (CUarray a), free(a))
HANDLE(cuTexObjectCreate,
	(CUtexObject * t, const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *d,
	const CUDA_RESOURCE_VIEW_DESC *v),
	((void)d, (void)v, *t = (CUtexObject)(size_t)r->res.array.hArray))
HANDLE(cuTexObjectDestroy, (CUtexObject t), (void)t)
HANDLE(cuSurfObjectCreate, (CUsurfObject * s, const CUDA_RESOURCE_DESC *r),
       *s = (CUsurfObject)(size_t)r->res.array.hArray)
HANDLE(cuSurfObjectDestroy, (CUsurfObject s), (void)s)
HANDLE(cuDeviceCanAccessPeer, (int *can, CUdevice a, CUdevice b),
	((void)a, (void)b, *can = (int)say_number("", "p2p", -1, 1)))
HANDLE(cuCtxEnablePeerAccess, (CUcontext c, unsigned f), ((void)c, (void)f))
HANDLE(cuCtxDisablePeerAccess, (CUcontext c), (void)c)

CALL(cuEventElapsedTime, (float *ms, CUevent a, CUevent b))
{
	const struct timespec *s = (void *)a, *e = (void *)b;
	const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *slow = say("", "slow", -1, NULL);

	ENTER(cuEventElapsedTime);
	*ms = (float)((double)(e->tv_sec - s->tv_sec) * 1e3 +
		      (double)(e->tv_nsec - s->tv_nsec) * 1e-6) +
	      0.0001f;
	/* slow=GPU-2222: of the process that sees that one alone */
	if (slow && visible && strncmp(visible, slow, strlen(slow)) == 0)
		*ms *= 20;
	if (chosen("flip", "cuEventElapsedTime"))
		*ms = -*ms;
	return 0;
}

CALL(cuGraphLaunch, (CUgraphExec e, CUstream s))
{
	struct graph *g = (void *)e;
	size_t i;

	ENTER(cuGraphLaunch);
	(void)s;
	for (i = 0; i < g->n; i++)
		run_op(&g->ops[i]);
	return 0;
}

CALL(cuArray3DCreate_v2, (CUarray * a, const CUDA_ARRAY3D_DESCRIPTOR *d))
{
	struct image *m;

	ENTER(cuArray3DCreate_v2);
	m = malloc(sizeof(*m) + d->Width * d->Height * 4);
	m->width = (uint32_t)d->Width;
	m->height = (uint32_t)d->Height;
	*a = (CUarray)(void *)m;
	return 0;
}

/* Attributes that only compute asks for; false: not one of them. */
static int compute_attribute(int *value, CUdevice_attribute which)
{
	switch (which) {
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		*value = (int)say_number("", "sms", -1, 4);
		return 1;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
		*value = (int)say_number("", "optin", -1, 101376);
		return 1;
	case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
		*value = (int)say_number("", "coop", -1, 1);
		return 1;
	case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
		*value = (int)say_number("", "managed", -1, 1);
		return 1;
	case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
		*value = (int)say_number("", "mapped", -1, 1);
		return 1;
	case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
	case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
		*value = (int)say_number("", "bus", -1, 1000);
		return 1;
	case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
	case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
		*value = 1000;
		return 1;
	default:
		return 0;
	}
}

#endif

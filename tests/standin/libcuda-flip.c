/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcuda that hands every call to another one, by $CUVET_REAL_LIBCUDA, which lies beside it as
 * libcuda-real.so too (for what it does not have itself, and libraries ask for), and changes a bit
 * of what the CUVET_FLIP_NTH'th result brings to the host: copies of 64 bytes and more (those of a
 * stream once it was waited for), mapped memory, and of the GPU's own memory before the check of a
 * pattern. So a wrong result of a real GPU is made. CUVET_FLIP_WITH names a library: only in
 * processes that have loaded it.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "prove/cu.h"

static struct cu_api real;
static long results;

/* What has no copy of its own: looked at when somebody waits. */
static struct {
	uint32_t *to;
	size_t n;
	int armed; /* something was started since */
} stream, mapped;
static CUfunction check;

/* Jumps on to the real function, whatever its arguments. */
#ifdef __aarch64__
#define JUMP(name) \
	"	adrp x16, real_" #name "\n	ldr x16, [x16, :lo12:real_" #name "]\n	br x16\n"
#else
#define JUMP(name) "	jmp *real_" #name "(%rip)\n"
#endif
#define PASS(name)                                                                  \
	__asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" \
		JUMP(name));                                                        \
	void *real_##name __attribute__((visibility("hidden")));

/* Those below are our own; their names are spared from the jumps. */
#define cuMemcpyDtoH_v2	      own_cuMemcpyDtoH_v2
#define cuMemcpyDtoHAsync_v2  own_cuMemcpyDtoHAsync_v2
#define cuStreamSynchronize   own_cuStreamSynchronize
#define cuEventSynchronize    own_cuEventSynchronize
#define cuCtxSynchronize      own_cuCtxSynchronize
#define cuGraphLaunch	      own_cuGraphLaunch
#define cuMemHostGetDevicePointer_v2 own_cuMemHostGetDevicePointer_v2
#define cuModuleGetFunction   own_cuModuleGetFunction
#define cuLaunchKernel	      own_cuLaunchKernel
#define REQ(name, args)	      PASS(name)
#define OPT(name, args)	      PASS(name)
#include "prove/cu.def"
#define SET(name) real_##name = dlsym(h, #name);
static void set_jumps(void *h)
{
#define REQ(name, args) SET(name)
#define OPT(name, args) SET(name)
#include "prove/cu.def"
}
#undef cuMemcpyDtoH_v2
#undef cuMemcpyDtoHAsync_v2
#undef cuStreamSynchronize
#undef cuEventSynchronize
#undef cuCtxSynchronize
#undef cuGraphLaunch
#undef cuMemHostGetDevicePointer_v2
#undef cuModuleGetFunction
#undef cuLaunchKernel
/* By which libraries of CUDA find the rest. */
PASS(cuGetProcAddress)
PASS(cuGetProcAddress_v2)
PASS(cuGetExportTable)

#define EXPORT __attribute__((visibility("default"))) CUresult

/* Is it this one's turn? */
static int chosen(void)
{
	const char *nth = getenv("CUVET_FLIP_NTH"), *with = getenv("CUVET_FLIP_WITH");

	if (with && !dlopen(with, RTLD_NOW | RTLD_NOLOAD))
		return 0;
	return nth && ++results == strtol(nth, NULL, 10);
}

static void flip(uint32_t *to, size_t n)
{
	if (n >= 64 && chosen())
		to[n / 8] ^= 1U << 30; /* far beyond what rounding may do */
}

static void waited(void)
{
	if (stream.armed) {
		stream.armed = 0;
		flip(stream.to, stream.n);
	}
	if (mapped.armed) {
		mapped.armed = 0;
		flip(mapped.to, mapped.n);
	}
}

EXPORT cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t n)
{
	CUresult code = real.cuMemcpyDtoH_v2(to, from, n);

	flip(to, n);
	return code;
}

EXPORT cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s)
{
	stream.to = to;
	stream.n = n;
	stream.armed = 1;
	return real.cuMemcpyDtoHAsync_v2(to, from, n, s);
}

EXPORT cuGraphLaunch(CUgraphExec e, CUstream s)
{
	stream.armed = stream.to != NULL;
	return real.cuGraphLaunch(e, s);
}

EXPORT cuStreamSynchronize(CUstream s)
{
	CUresult code = real.cuStreamSynchronize(s);

	waited();
	return code;
}

EXPORT cuEventSynchronize(CUevent e)
{
	CUresult code = real.cuEventSynchronize(e);

	waited();
	return code;
}

EXPORT cuCtxSynchronize(void)
{
	CUresult code = real.cuCtxSynchronize();

	waited();
	return code;
}

EXPORT cuMemHostGetDevicePointer_v2(CUdeviceptr *d, void *p, unsigned flags)
{
	/* The last one that is asked for is what the kernel writes. */
	mapped.to = p;
	mapped.n = 64 << 10;
	mapped.armed = 1;
	return real.cuMemHostGetDevicePointer_v2(d, p, flags);
}

EXPORT cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name)
{
	CUresult code = real.cuModuleGetFunction(f, m, name);

	if (!code && strcmp(name, "cuvet_memory_check") == 0)
		check = *f;
	return code;
}

EXPORT cuLaunchKernel(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty,
		      unsigned tz, unsigned shared, CUstream s, void **args, void **extra)
{
	CUdeviceptr at;
	uint32_t word;

	if (f == check && chosen()) {
		memcpy(&at, args[1], sizeof(at));
		at += 64 * 1001;
		if (!real.cuMemcpyDtoH_v2(&word, at, 4)) {
			word ^= 1U << 17;
			real.cuMemcpyHtoD_v2(at, &word, 4);
		}
	}
	return real.cuLaunchKernel(f, x, y, z, tx, ty, tz, shared, s, args, extra);
}

__attribute__((constructor)) static void load(void)
{
	const char *path = getenv("CUVET_REAL_LIBCUDA");
	void *h = path ? dlopen(path, RTLD_NOW) : NULL;

	if (!h)
		abort();
	set_jumps(h);
	SET(cuGetProcAddress)
	SET(cuGetProcAddress_v2)
	SET(cuGetExportTable)
#define REQ(name, args) *(void **)&real.name = dlsym(h, #name);
#define OPT(name, args) *(void **)&real.name = dlsym(h, #name);
#include "prove/cu.def"
}

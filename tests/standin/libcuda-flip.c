/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For machines with a GPU: a libcuda that hands every call to the real one, by $CUVET_REAL_LIBCUDA,
 * and changes one bit of what the CUVET_FLIP_NTH'th copy to the host brings (of 64 bytes and more).
 * So a wrong result of a real GPU is made.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#include "prove/cu.h"

static struct cu_api real;
static long copies;

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

#define REQ(name, args) PASS(name)
#define OPT(name, args) PASS(name)
#define cuMemcpyDtoH_v2 unused_cuMemcpyDtoH_v2
#include "prove/cu.def"
#undef cuMemcpyDtoH_v2

__attribute__((visibility("default"))) CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from,
								size_t n)
{
	const char *nth = getenv("CUVET_FLIP_NTH");
	CUresult code = real.cuMemcpyDtoH_v2(to, from, n);

	if (n >= 64 && nth && ++copies == strtol(nth, NULL, 10))
		((uint32_t *)to)[n / 8] ^= 1;
	return code;
}

__attribute__((constructor)) static void load(void)
{
	const char *path = getenv("CUVET_REAL_LIBCUDA");
	void *h = path ? dlopen(path, RTLD_NOW) : NULL;

	if (!h)
		abort();
#define REQ(name, args) real_##name = dlsym(h, #name);
#define OPT(name, args) real_##name = dlsym(h, #name);
#define real_cuMemcpyDtoH_v2 real_unused_cuMemcpyDtoH_v2
#include "prove/cu.def"
#undef real_cuMemcpyDtoH_v2
	real.cuMemcpyDtoH_v2 =
		(CUresult(*)(void *, CUdeviceptr, size_t))dlsym(h, "cuMemcpyDtoH_v2");
}

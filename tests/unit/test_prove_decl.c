/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The declarations of src/prove/cu.def against the real cuda.h, where this machine has one: what
 * differs does not compile. Without the header its test is skipped by name.
 */
#include <stddef.h>
#include <stdio.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#define HAVE_CUDA_H 1
#elif __has_include("/usr/local/cuda/include/cuda.h")
#include "/usr/local/cuda/include/cuda.h"
#define HAVE_CUDA_H 1
#else
#define HAVE_CUDA_H 0
#endif

#if HAVE_CUDA_H
#define CONST(name, value) _Static_assert((long long)(name) == (value), #name);
#include "prove/cu.def"

/* Older forms that newer headers declare no more, or under the plain name. */
#undef cuDeviceGetUuid
#undef cuEventElapsedTime
#undef cuGraphInstantiate
extern CUresult cuGraphInstantiate_v2(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t);
extern CUresult cuDeviceGetUuid(CUuuid *, CUdevice);
extern CUresult cuEventElapsedTime(float *, CUevent, CUevent);
extern CUresult cuCtxCreate_v2(CUcontext *, unsigned int, CUdevice);

#define SAME(name, args) \
	_Static_assert(__builtin_types_compatible_p(CUresult args, __typeof__(name)), #name);
#define REQ(name, args) SAME(name, args)
#define OPT(name, args) SAME(name, args)
#include "prove/cu.def"

enum {
	REAL_RESOURCE = sizeof(CUDA_RESOURCE_DESC),
	REAL_TEXTURE = sizeof(CUDA_TEXTURE_DESC),
	REAL_ARRAY = sizeof(CUDA_ARRAY3D_DESCRIPTOR),
	REAL_RESOURCE_FLAGS = offsetof(CUDA_RESOURCE_DESC, flags),
	REAL_TEXTURE_FLAGS = offsetof(CUDA_TEXTURE_DESC, flags),
	REAL_ARRAY_FLAGS = offsetof(CUDA_ARRAY3D_DESCRIPTOR, Flags),
};
#endif

int main(void)
{
	puts("1..1");
#if HAVE_CUDA_H
	/* The project's own types have the same names, so their sizes stand here as numbers. */
	if (REAL_RESOURCE == 144 && REAL_TEXTURE == 104 && REAL_ARRAY == 40 &&
	    REAL_RESOURCE_FLAGS == 136 && REAL_TEXTURE_FLAGS == 16 && REAL_ARRAY_FLAGS == 32)
		puts("ok 1 cu.def agrees with cuda.h");
	else
		printf("not ok 1 sizes %d %d %d, flags at %d %d %d\n", REAL_RESOURCE, REAL_TEXTURE,
		       REAL_ARRAY, REAL_RESOURCE_FLAGS, REAL_TEXTURE_FLAGS, REAL_ARRAY_FLAGS);
#else
	puts("ok 1 # SKIP no cuda.h here");
#endif
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Own declarations of the compute part of the CUDA driver API, so that no toolkit is needed to
 * build. */
#ifndef PROVE_CU_H
#define PROVE_CU_H

#include <stddef.h>

#include "probe/cuda_api.h"

typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUarray_st *CUarray;
typedef struct CUevent_st *CUevent;
typedef struct CUstream_st *CUstream;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUlinkState_st *CUlinkState;
/* Enums there; same size and sign. */
typedef unsigned int CUjit_option;
typedef unsigned int CUjitInputType;
typedef unsigned int CUfunction_attribute;
typedef unsigned int CUstreamCaptureMode;
typedef struct cu_resource_view_desc CUDA_RESOURCE_VIEW_DESC; /* never made */

typedef struct cu_array3d_descriptor {
	size_t Width, Height, Depth;
	unsigned int Format, NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;

typedef struct cu_resource_desc {
	unsigned int resType;
	union {
		struct {
			CUarray hArray;
		} array;
		struct {
			int reserved[32];
		} reserved;
	} res;
	unsigned int flags;
} CUDA_RESOURCE_DESC;

typedef struct cu_texture_desc {
	unsigned int addressMode[3], filterMode, flags, maxAnisotropy, mipmapFilterMode;
	float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp, borderColor[4];
	int reserved[12];
} CUDA_TEXTURE_DESC;

enum {
#define CONST(name, value) name = (value),
#include "prove/cu.def"
};

/* Its functions as pointers; NULL where this libcuda has none. */
struct cu_api {
#define REQ(name, args) CUresult(*name) args;
#define OPT(name, args) CUresult(*name) args;
#include "prove/cu.def"
};

/* Numbers of the calls, for the note of the last one. */
enum cu_call {
#define REQ(name, args) CU_CALL_##name,
#define OPT(name, args) CU_CALL_##name,
#include "prove/cu.def"
	CU_CALLS
};

extern const char *const cu_call_names[CU_CALLS];

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Own declarations of the part of the CUDA driver API that is called, so that no toolkit is needed
 * to build. */
#ifndef PROBE_CUDA_API_H
#define PROBE_CUDA_API_H

#include <stddef.h>

typedef unsigned int CUresult;		 /* an enum there; same size and sign */
typedef unsigned int CUdevice_attribute; /* likewise */
typedef int CUdevice;
typedef struct cuda_uuid {
	char bytes[16];
} CUuuid;

enum {
#define CONST(name, value) name = (value),
#include "probe/cuda_api.def"
};

/* Its functions as pointers; NULL where this libcuda has none. */
struct cuda_api {
#define REQ(name, args) CUresult(*name) args;
#define OPT(name, args) CUresult(*name) args;
#include "probe/cuda_api.def"
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels need in place of the CUDA headers, which are not needed to build them: clang's
 * own names for the attributes, the special registers and the barriers. Nothing of the host.
 */
#ifndef KERNELS_DEVICE_H
#define KERNELS_DEVICE_H

#define KERNEL	  extern "C" __attribute__((global)) void
#define DEVICE	  static __attribute__((device, always_inline)) inline
#define SHARED	  __attribute__((shared))
#define CONSTANT  __attribute__((constant))

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define TID   ((u32)__nvvm_read_ptx_sreg_tid_x())
#define BID   ((u32)__nvvm_read_ptx_sreg_ctaid_x())
#define NTID  ((u32)__nvvm_read_ptx_sreg_ntid_x())
#define NBID  ((u32)__nvvm_read_ptx_sreg_nctaid_x())
#define INDEX (BID * NTID + TID)
#define TOTAL (NBID * NTID)

/* Before a loop: compiled as it stands. The driver compiles all of it at every start. */
#define ROLLED _Pragma("clang loop unroll(disable)")

#define barrier() __syncthreads()

/* The project's mixing function; src/prove/reference.h has the same one. */
DEVICE u32 mix(u32 x)
{
	x ^= x >> 16;
	x *= 0x7feb352dU;
	x ^= x >> 15;
	x *= 0x846ca68bU;
	x ^= x >> 16;
	return x;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products by wmma, the instructions whose fragments the hardware lays out itself. D = A * B
 * with A row by row, B column by column; a warp for each 16 x 16 tile of D. k: a multiple of 16.
 * TENSOR_INT8: the integer product (from 7.2 on) in place of the one of half precision (7.0).
 */
#include "device.h"

#define EIGHT(c)                                                                       \
	"=r"((c)[0]), "=r"((c)[1]), "=r"((c)[2]), "=r"((c)[3]), "=r"((c)[4]), "=r"((c)[5]), \
		"=r"((c)[6]), "=r"((c)[7])

#ifndef TENSOR_INT8
KERNEL cuvet_tensor_f16(float *d, const u16 *a, const u16 *b, u32 m, u32 n, u32 k)
{
	u32 tile = INDEX / 32, x = tile % (n / 16), y = tile / (n / 16);
	float c[8] = { 0 };

	if (y >= m / 16)
		return;
	ROLLED
	for (u32 at = 0; at < k; at += 16) {
		u32 p[8], q[8];

		asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
			     "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
			     : EIGHT(p)
			     : "l"(a + y * 16 * k + at), "r"(k)
			     : "memory");
		asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.global.f16 "
			     "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
			     : EIGHT(q)
			     : "l"(b + x * 16 * k + at), "r"(k)
			     : "memory");
		asm volatile("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 "
			     "{%0, %1, %2, %3, %4, %5, %6, %7}, "
			     "{%8, %9, %10, %11, %12, %13, %14, %15}, "
			     "{%16, %17, %18, %19, %20, %21, %22, %23}, "
			     "{%0, %1, %2, %3, %4, %5, %6, %7};"
			     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]),
			       "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
			     : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(p[4]), "r"(p[5]),
			       "r"(p[6]), "r"(p[7]), "r"(q[0]), "r"(q[1]), "r"(q[2]), "r"(q[3]),
			       "r"(q[4]), "r"(q[5]), "r"(q[6]), "r"(q[7]));
	}
	asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0], "
		     "{%2, %3, %4, %5, %6, %7, %8, %9}, %1;" ::"l"(d + y * 16 * n + x * 16),
		     "r"(n), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]),
		     "f"(c[6]), "f"(c[7])
		     : "memory");
}
#else
KERNEL cuvet_tensor_s8(int *d, const u8 *a, const u8 *b, u32 m, u32 n, u32 k)
{
	u32 tile = INDEX / 32, x = tile % (n / 16), y = tile / (n / 16);
	int c[8] = { 0 };

	if (y >= m / 16)
		return;
	ROLLED
	for (u32 at = 0; at < k; at += 16) {
		u32 p[2], q[2];

		asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%0, %1}, [%2], %3;"
			     : "=r"(p[0]), "=r"(p[1])
			     : "l"(a + y * 16 * k + at), "r"(k)
			     : "memory");
		asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.global.s8 {%0, %1}, [%2], %3;"
			     : "=r"(q[0]), "=r"(q[1])
			     : "l"(b + x * 16 * k + at), "r"(k)
			     : "memory");
		asm volatile("wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 "
			     "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, "
			     "{%0, %1, %2, %3, %4, %5, %6, %7};"
			     : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]),
			       "+r"(c[5]), "+r"(c[6]), "+r"(c[7])
			     : "r"(p[0]), "r"(p[1]), "r"(q[0]), "r"(q[1]));
	}
	asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.s32 [%0], "
		     "{%2, %3, %4, %5, %6, %7, %8, %9}, %1;" ::"l"(d + y * 16 * n + x * 16),
		     "r"(n), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(c[5]),
		     "r"(c[6]), "r"(c[7])
		     : "memory");
}
#endif

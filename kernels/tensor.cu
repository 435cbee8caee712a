/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products by mma.sync. D = A * B with A row by row, B column by column; a warp for each
 * 16 x 8 tile of D. k: a multiple of 64 bytes. Which lane holds which elements is fixed by the PTX
 * ISA ("Matrix Fragments for mma.m16n8k8", and so on): with g = lane / 4 and t = lane % 4, word w of
 * A lies in row g + 8 * (w % 2), word w of B in column g, both at 4 * t + 16 * (w / 2) bytes (tf32:
 * element t + 4 * (w / 2)), elements 2 * t and 2 * t + 1 of D in the rows g and g + 8.
 */
#include "device.h"

/* Words of one k step of 32 bytes a row: 16 halves, 32 bytes, 8 floats. */
DEVICE void product(void *d, const u8 *a, const u8 *b, u32 m, u32 n, u32 row_bytes, int kind)
{
	u32 tile = INDEX / 32, x = tile % (n / 8), y = tile / (n / 8);
	u32 g = (TID & 31) / 4, t = TID & 3, i[4] = { 0 };
	float c[4] = { 0 };

	if (y >= m / 16)
		return;
	a += (u64)(y * 16 + g) * row_bytes + t * 4;
	b += (u64)(x * 8 + g) * row_bytes + t * 4;
	ROLLED
	for (u32 at = 0; at < row_bytes; at += 32) {
		u32 p0 = *(const u32 *)(a + at), p1 = *(const u32 *)(a + 8 * row_bytes + at);
		u32 p2 = *(const u32 *)(a + at + 16), p3 = *(const u32 *)(a + 8 * row_bytes + at + 16);
		u32 q0 = *(const u32 *)(b + at), q1 = *(const u32 *)(b + at + 16);

#define MMA(shape)                                                                    \
	asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, " \
		     "{%8, %9}, {%0, %1, %2, %3};"                                      \
		     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                    \
		     : "r"(p0), "r"(p1), "r"(p2), "r"(p3), "r"(q0), "r"(q1))
#ifdef TENSOR_FP8
		if (kind == 4)
			MMA("m16n8k32.row.col.f32.e4m3.e4m3.f32");
		else
			MMA("m16n8k32.row.col.f32.e5m2.e5m2.f32");
#else
		if (kind == 0)
			MMA("m16n8k16.row.col.f32.f16.f16.f32");
		else if (kind == 1)
			MMA("m16n8k16.row.col.f32.bf16.bf16.f32");
		else if (kind == 2)
			MMA("m16n8k8.row.col.f32.tf32.tf32.f32");
		else
			asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, "
				     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
				     : "+r"(i[0]), "+r"(i[1]), "+r"(i[2]), "+r"(i[3])
				     : "r"(p0), "r"(p1), "r"(p2), "r"(p3), "r"(q0), "r"(q1));
#endif
	}
	u32 *out = (u32 *)d + (y * 16 + g) * n + x * 8 + t * 2;
	for (u32 j = 0; j < 4; j++)
		out[(j & 1) + (j >> 1) * 8 * n] = kind == 3 ? i[j] : __builtin_bit_cast(u32, c[j]);
}

#define PRODUCT(name, bytes, kind)                                                              \
	KERNEL name(void *d, const u8 *a, const u8 *b, u32 m, u32 n, u32 k)                     \
	{                                                                                       \
		product(d, a, b, m, n, k * (bytes), kind);                                      \
	}
#ifdef TENSOR_FP8
PRODUCT(cuvet_tensor_e4m3, 1, 4)
PRODUCT(cuvet_tensor_e5m2, 1, 5)
#else
PRODUCT(cuvet_tensor_f16, 2, 0)
PRODUCT(cuvet_tensor_bf16, 2, 1)
PRODUCT(cuvet_tensor_tf32, 4, 2)
PRODUCT(cuvet_tensor_s8, 1, 3)
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hopper's own matrix instruction: a group of four warps, A from registers, B from shared memory by a
 * descriptor. D = A * B, A row by row, B column by column, halves; a block of 128 threads for each
 * 64 x 8 tile of D. k: a multiple of 16.
 */
#include "device.h"

KERNEL cuvet_tensor_wgmma(float *d, const u8 *a, const u8 *b, u32 m, u32 n, u32 k)
{
	/* Two core matrices of 8 columns by 16 bytes, one behind the other. */
	SHARED static u32 s[64] __attribute__((aligned(128)));
	u32 x = BID % (n / 8), y = BID / (n / 8), g = (TID & 31) / 4, t = TID & 3, row = k * 2;
	float c[4] = { 0 };
	u64 where;
	u32 at32;

	asm("{ .reg .u64 p; cvta.to.shared.u64 p, %1; cvt.u32.u64 %0, p; }" : "=r"(at32) : "l"(s));
	/* Start, distance of the core matrices along k (128 bytes) and along n (unused), in units of 16. */
	where = (u64)((at32 & 0x3ffff) >> 4) | (u64)(128 >> 4) << 16 | (u64)(256 >> 4) << 32;
	if (y >= m / 64)
		return;
	a += (u64)(y * 64 + (TID >> 5) * 16 + g) * row + t * 4;
	ROLLED
	for (u32 at = 0; at < row; at += 32) {
		u32 p0 = *(const u32 *)(a + at), p1 = *(const u32 *)(a + 8 * row + at);
		u32 p2 = *(const u32 *)(a + at + 16), p3 = *(const u32 *)(a + 8 * row + at + 16);

		if (TID < 64)
			s[TID] = *(const u32 *)(b + (u64)(x * 8 + (TID & 31) / 4) * row + at +
						(TID >> 5) * 16 + t * 4);
		asm volatile("fence.proxy.async;" ::: "memory");
		barrier();
		asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
		asm volatile("{ .reg .pred p; setp.ne.b32 p, %9, 0;\n"
			     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, "
			     "{%4, %5, %6, %7}, %8, p, 1, 1, 0; }"
			     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
			     : "r"(p0), "r"(p1), "r"(p2), "r"(p3), "l"(where), "r"(1));
		asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
		asm volatile("wgmma.wait_group.sync.aligned 0;"
			     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])::"memory");
		barrier();
	}
	float *out = d + (y * 64 + (TID >> 5) * 16 + g) * n + x * 8 + t * 2;
	for (u32 j = 0; j < 4; j++)
		out[(j & 1) + (j >> 1) * 8 * n] = c[j];
}

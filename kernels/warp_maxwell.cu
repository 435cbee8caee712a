/* SPDX-License-Identifier: Apache-2.0 */
/* The warp's instructions as Maxwell and Pascal have them; from Volta on: warp.cu. */
#include "device.h"

KERNEL cuvet_warp(u32 *out, const u32 *in)
{
	u32 i = INDEX, lane = TID & 31, v = in[i], w, h = 0, ballot, any, all;

	asm volatile("shfl.bfly.b32 %0, %1, 5, 31;" : "=r"(w) : "r"(v));
	h += w;
	asm volatile("shfl.up.b32 %0, %1, 3, 0;" : "=r"(w) : "r"(v));
	h = h * 31 + w;
	asm volatile("shfl.down.b32 %0, %1, 7, 31;" : "=r"(w) : "r"(v));
	h = h * 31 + w;
	asm volatile("shfl.idx.b32 %0, %1, %2, 31;" : "=r"(w) : "r"(v), "r"(v & 31));
	h = h * 31 + w;
	asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.ballot.b32 %0, p; }"
		     : "=r"(ballot)
		     : "r"(v & 4));
	asm volatile("{ .reg .pred p, q; setp.eq.u32 p, %1, 9; vote.any.pred q, p; selp.u32 %0, 1, 0, q; }"
		     : "=r"(any)
		     : "r"(v & 31));
	asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 9; vote.all.pred q, p; selp.u32 %0, 1, 0, q; }"
		     : "=r"(all)
		     : "r"(v & 63));
	h = h * 31 + (ballot ^ (any << 8) ^ (all << 9));
	/* Every lane on a way of its own length, then together again. */
	ROLLED
	for (u32 k = 0; k < lane; k++)
		h = (h & 1) ? h * 3 + k : (h >> 1) ^ lane;
	out[i] = h;
}

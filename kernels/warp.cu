/* SPDX-License-Identifier: Apache-2.0 */
/* The warp's instructions from Volta on: each names its members, and lanes run on their own. */
#include "device.h"

KERNEL cuvet_warp(u32 *out, const u32 *in)
{
	u32 i = INDEX, lane = TID & 31, v = in[i], w, h = 0, ballot, any, all;

	asm volatile("shfl.sync.bfly.b32 %0, %1, 5, 31, -1;" : "=r"(w) : "r"(v));
	h += w;
	asm volatile("shfl.sync.up.b32 %0, %1, 3, 0, -1;" : "=r"(w) : "r"(v));
	h = h * 31 + w;
	asm volatile("shfl.sync.down.b32 %0, %1, 7, 31, -1;" : "=r"(w) : "r"(v));
	h = h * 31 + w;
	asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=r"(w) : "r"(v), "r"(v & 31));
	h = h * 31 + w;
	asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, -1; }"
		     : "=r"(ballot)
		     : "r"(v & 4));
	asm volatile("{ .reg .pred p, q; setp.eq.u32 p, %1, 9; vote.sync.any.pred q, p, -1; selp.u32 %0, 1, 0, q; }"
		     : "=r"(any)
		     : "r"(v & 31));
	asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 9; vote.sync.all.pred q, p, -1; selp.u32 %0, 1, 0, q; }"
		     : "=r"(all)
		     : "r"(v & 63));
	h = h * 31 + (ballot ^ (any << 8) ^ (all << 9));
	ROLLED
	for (u32 k = 0; k < lane; k++)
		h = (h & 1) ? h * 3 + k : (h >> 1) ^ lane;
	asm volatile("bar.warp.sync -1;" ::: "memory");
	out[i] = h;
}

/*
 * Lanes of one warp hand a token on through shared memory, each waiting in a loop for the one before
 * it: only where lanes make progress on their own does this end.
 */
KERNEL cuvet_diverge(u32 *out)
{
	SHARED static volatile u32 turn[8];
	u32 lane = TID & 31, warp = TID >> 5;

	if (lane == 0)
		turn[warp] = 0;
	asm volatile("bar.warp.sync -1;" ::: "memory");
	ROLLED
	while (turn[warp] != lane)
		;
	out[INDEX] = turn[warp] * 0x01010101U + BID;
	asm volatile("membar.cta;" ::: "memory");
	turn[warp] = lane + 1;
}

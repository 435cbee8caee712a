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
 * A word goes from lane to lane of a warp: in each round one lane changes it, on a branch of its own,
 * while the others wait at a barrier on theirs. Before Volta lanes on two branches could not meet.
 * No lane waits in a loop, so that tools which run lanes one after the other get through.
 */
KERNEL cuvet_diverge(u32 *out)
{
	SHARED static volatile u32 word[8];
	u32 lane = TID & 31, warp = TID >> 5, h = INDEX;

	if (lane == 0)
		word[warp] = BID;
	asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
	ROLLED
	for (u32 round = 0; round < 32; round++) {
		if (lane == round) {
			word[warp] = mix(word[warp] + lane);
			asm volatile("// the one lane\n\tbar.warp.sync -1;" ::: "memory");
		} else {
			h = h * 31 + round;
			asm volatile("// the others\n\tbar.warp.sync -1;" ::: "memory");
		}
		h ^= word[warp];
		asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
	}
	out[INDEX] = h;
}

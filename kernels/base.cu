/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels for every GPU from Maxwell on: arithmetic, atomics, shared memory, reductions, constant,
 * texture and surface memory, dynamic shared memory, a barrier of the whole grid. Each has its
 * reference in src/prove/reference.c, to the bit.
 */
#include "device.h"

KERNEL cuvet_fill(u32 *out, u32 n, u32 seed)
{
	ROLLED
	for (u32 i = INDEX; i < n; i += TOTAL)
		out[i] = mix(seed + i);
}

/* A chain of fused multiply-adds, which IEEE 754 rounds in one way only. */
KERNEL cuvet_fma(float *out, const float *a, const float *b, u32 n, u32 steps)
{
	ROLLED
	for (u32 i = INDEX; i < n; i += TOTAL) {
		float x = a[i], y = b[i];

		ROLLED
		for (u32 s = 0; s < steps; s++)
			x = __builtin_fmaf(x, y, a[(i + s) % n]);
		out[i] = x;
	}
}

KERNEL cuvet_fma64(double *out, const double *a, const double *b, u32 n, u32 steps)
{
	ROLLED
	for (u32 i = INDEX; i < n; i += TOTAL) {
		double x = a[i], y = b[i];

		ROLLED
		for (u32 s = 0; s < steps; s++)
			x = __builtin_fma(x, y, a[(i + s) % n]);
		out[i] = x;
	}
}

/* 64-bit multiplication, division, shifts, counts of bits. */
KERNEL cuvet_int(u64 *out, const u64 *a, const u64 *b, u32 n)
{
	ROLLED
	for (u32 i = INDEX; i < n; i += TOTAL) {
		u64 x = a[i], y = b[i] | 1, h = 0;

		h ^= x * y;
		h ^= (u64)((unsigned __int128)x * y >> 64);
		h += x / y + (x % y) * 3;
		h ^= (x << (y & 63)) | (y >> (x & 63));
		h += (u64)__builtin_popcountll(x) << 32 | (u64)__builtin_clzll(y);
		h ^= (u64)((s64)x >> 7);
		out[i] = h;
	}
}

/* Every thread of the grid on eight places; the result does not depend on the order. */
KERNEL cuvet_atomics(u64 *cell, const u64 *in, u32 n)
{
	ROLLED
	for (u32 i = INDEX; i < n; i += TOTAL) {
		u64 v = in[i], old;
		u64 *set = cell + (i & 7) * 8;

		asm volatile("atom.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(set), "l"(v));
		asm volatile("red.global.max.u64 [%0], %1;" ::"l"(set + 1), "l"(v) : "memory");
		asm volatile("red.global.min.u64 [%0], %1;" ::"l"(set + 2), "l"(v) : "memory");
		asm volatile("red.global.xor.b64 [%0], %1;" ::"l"(set + 3), "l"(v) : "memory");
		asm volatile("red.global.add.u32 [%0], %1;" ::"l"(set + 4), "r"((u32)v) : "memory");
		/* The sum once more, by compare-and-swap. */
		old = *(volatile u64 *)(set + 5);
		ROLLED
		for (;;) {
			u64 seen;

			asm volatile("atom.global.cas.b64 %0, [%1], %2, %3;"
				     : "=l"(seen)
				     : "l"(set + 5), "l"(old), "l"(old + v * 3)
				     : "memory");
			if (seen == old)
				break;
			old = seen;
		}
	}
}

/* Blocks of 256: sixteen rounds in which each thread reads what another one wrote. */
KERNEL cuvet_shared(u32 *out, const u32 *in)
{
	SHARED static u32 s[256];
	u32 t = TID, i = INDEX;

	s[t] = in[i];
	barrier();
	ROLLED
	for (u32 r = 1; r <= 16; r++) {
		u32 v = s[(t + r * 17) & 255] * 2654435761U + s[t ^ r];

		barrier();
		s[t] = v ^ (v >> 13);
		barrier();
	}
	out[i] = s[255 - t];
}

/* Sum of 256 floats a block by a tree; block 0 of the second launch sums the sums. */
KERNEL cuvet_reduce(float *out, const float *in, u32 n)
{
	SHARED static float s[256];
	u32 t = TID;
	float x = 0;

	ROLLED
	for (u32 i = INDEX; i < n; i += TOTAL)
		x += in[i];
	s[t] = x;
	barrier();
	ROLLED
	for (u32 d = 128; d; d >>= 1) {
		if (t < d)
			s[t] += s[t + d];
		barrier();
	}
	if (t == 0)
		out[BID] = s[0];
}

extern "C" {
CONSTANT u32 cuvet_table[1024];
}

KERNEL cuvet_constant(u32 *out, const u32 *in, u32 n)
{
	ROLLED
	for (u32 i = INDEX; i < n; i += TOTAL)
		out[i] = cuvet_table[in[i] & 1023] ^ in[i];
}

/* Image of 32-bit words, `width` a power of two. */
KERNEL cuvet_surface(u64 surface, const u32 *in, u32 width, u32 height)
{
	ROLLED
	for (u32 i = INDEX; i < width * height; i += TOTAL)
		asm volatile("sust.b.2d.b32.trap [%0, {%1, %2}], {%3};" ::"l"(surface),
			     "r"((i & (width - 1)) * 4), "r"(i / width), "r"(in[i])
			     : "memory");
}

/* Reads the image turned by 90 degrees, one column beyond its edge as well (clamped). */
KERNEL cuvet_texture(u32 *out, u64 texture, u32 width, u32 height)
{
	ROLLED
	for (u32 i = INDEX; i < width * height; i += TOTAL) {
		u32 x = i / height, y = i % height, v, w, unused;

		asm volatile("tex.2d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
			     : "=r"(v), "=r"(unused), "=r"(unused), "=r"(unused)
			     : "l"(texture), "r"(x), "r"(y));
		/* Whole numbers as coordinates are not clamped; these are. */
		asm volatile("tex.2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
			     : "=r"(w), "=r"(unused), "=r"(unused), "=r"(unused)
			     : "l"(texture), "f"(x + 1.5f), "f"(y + 0.5f));
		out[i] = v + 31 * w;
	}
}

KERNEL cuvet_affine(u32 *out, const u32 *in, u32 n, u32 factor, u32 add)
{
	ROLLED
	for (u32 i = INDEX; i < n; i += TOTAL)
		out[i] = in[i] * factor + add;
}

/* Busy for so many ticks of the SM's clock. */
KERNEL cuvet_spin(u32 *out, u32 ticks)
{
	u32 start, now;

	asm volatile("mov.u32 %0, %%clock;" : "=r"(start));
	do
		asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
	while (now - start < ticks);
	if (TID == 0)
		out[BID] = 0x600dU;
}

/* Uses all of the dynamic shared memory: `words` of it, written by one thread and read by another. */
KERNEL cuvet_dynamic(u32 *out, u32 words, u32 seed)
{
	extern SHARED u32 dynamic[];
	u32 sum = 0;

	ROLLED
	for (u32 i = TID; i < words; i += NTID)
		dynamic[i] = mix(seed + BID * words + i);
	barrier();
	ROLLED
	for (u32 i = TID; i < words; i += NTID)
		sum += dynamic[words - 1 - i] * (i + 1);
	out[INDEX] = sum;
}

/* Rounds in which each block reads what its neighbour wrote before a barrier of the grid. */
KERNEL cuvet_grid(u32 *out, u32 *cell, u32 *count, u32 rounds, u32 seed)
{
	u32 v = mix(seed + BID);

	ROLLED
	for (u32 r = 1; r <= rounds; r++) {
		if (TID == 0) {
			((volatile u32 *)cell)[(r & 1) * NBID + BID] = v;
			asm volatile("membar.gl;" ::: "memory");
			asm volatile("red.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
			ROLLED
			while (*(volatile u32 *)count < r * NBID)
				;
			asm volatile("membar.gl;" ::: "memory");
		}
		barrier();
		v = v * 3 + ((volatile u32 *)cell)[(r & 1) * NBID + (BID + r) % NBID];
		barrier();
	}
	if (TID == 0)
		out[BID] = v;
}

extern "C" __attribute__((device)) int vprintf(const char *format, const void *arguments);
extern "C" __attribute__((device)) void __assertfail(const char *what, const char *file, u32 line,
						     const char *function, u64 size);

KERNEL cuvet_print(u32 number)
{
	struct {
		u32 thread, number;
	} arguments = { INDEX, number };

	vprintf("cuvet %u says %u\n", &arguments);
}

KERNEL cuvet_assert(u32 fails)
{
	if (fails)
		__assertfail("not a failure: cuvet asks for it", "base.cu", 1, "cuvet_assert", 1);
}

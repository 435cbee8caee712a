/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory test: a pattern is written over all of the memory, then read back and compared. Words
 * of 16 bytes; `n` is their number, `base` the number of the first one.
 */
#include "device.h"

enum { SOLID, CHECKER, WALKING_ONE, WALKING_ZERO, ADDRESS, RANDOM };

struct word {
	u32 a, b, c, d;
};

DEVICE void put(struct word *at, struct word w)
{
	asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(w.a), "r"(w.b),
		     "r"(w.c), "r"(w.d)
		     : "memory");
}

DEVICE struct word get(const struct word *at)
{
	struct word w;

	asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(w.a), "=r"(w.b), "=r"(w.c), "=r"(w.d)
		     : "l"(at)
		     : "memory");
	return w;
}

/* What belongs into word i; `key` turns the pattern over or shifts it. */
DEVICE struct word pattern(u32 kind, u64 i, u32 key)
{
	struct word w;
	u32 x;

	switch (kind) {
	case SOLID:
		w.a = w.b = w.c = w.d = key;
		break;
	case CHECKER:
		w.a = w.c = 0x55555555U ^ key;
		w.b = w.d = 0xaaaaaaaaU ^ key;
		break;
	case WALKING_ONE:
	case WALKING_ZERO:
		x = (u32)i * 4 + key;
		w.a = 1U << (x & 31);
		w.b = 1U << ((x + 1) & 31);
		w.c = 1U << ((x + 2) & 31);
		w.d = 1U << ((x + 3) & 31);
		if (kind == WALKING_ZERO)
			w.a = ~w.a, w.b = ~w.b, w.c = ~w.c, w.d = ~w.d;
		break;
	case ADDRESS:
		w.a = (u32)i ^ key;
		w.b = (u32)(i >> 32) ^ key;
		w.c = ~(u32)i ^ key;
		w.d = ((u32)i * 4 + 3) ^ key;
		break;
	default:
		x = ((u32)i ^ key) * 0x9e3779b1U;
		x ^= x >> 15;
		w.a = x * 0x85ebca77U + (u32)(i >> 32);
		w.b = (x ^ 0x1b873593U) * 0xc2b2ae3dU;
		w.c = w.a ^ (w.b >> 7);
		w.d = w.b + (w.a << 9);
		break;
	}
	return w;
}

KERNEL cuvet_memory_write(struct word *at, u64 n, u64 base, u32 kind, u32 key)
{
	ROLLED
	for (u64 i = INDEX; i < n; i += TOTAL)
		put(at + i, pattern(kind, base + i, key));
}

/*
 * found[0]: number of bad words; [1]: one of them, plus one; [2], [3]: what was there and what was
 * wanted (of any bad one); [4]: number of blocks that came to their end.
 */
KERNEL cuvet_memory_check(u64 *found, const struct word *at, u64 n, u64 base, u32 kind, u32 key)
{
	u64 t = TOTAL, bad = 0;

	/* Four words under way at once: reading waits for nothing but the memory. */
	ROLLED
	for (u64 i = INDEX; i < n; i += 4 * t) {
		u64 last = n - 1, i1 = i + t, i2 = i1 + t, i3 = i2 + t;
		struct word w[4];

		i1 = i1 < n ? i1 : last;
		i2 = i2 < n ? i2 : last;
		i3 = i3 < n ? i3 : last;
		w[0] = get(at + i);
		w[1] = get(at + i1);
		w[2] = get(at + i2);
		w[3] = get(at + i3);
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			u64 where = base + (k == 0 ? i : k == 1 ? i1 : k == 2 ? i2 : i3);
			struct word p = pattern(kind, where, key), g = w[k];

			if (((g.a ^ p.a) | (g.b ^ p.b) | (g.c ^ p.c) | (g.d ^ p.d)) == 0)
				continue;
			bad++;
			found[2] = g.a != p.a ? g.a : g.b != p.b ? g.b : g.c != p.c ? g.c : g.d;
			found[3] = g.a != p.a ? p.a : g.b != p.b ? p.b : g.c != p.c ? p.c : p.d;
			found[1] = where + 1;
		}
	}
	if (bad)
		asm volatile("red.global.add.u64 [%0], %1;" ::"l"(found), "l"(bad) : "memory");
	/* So that a check which did not run is not taken for a clean one. */
	if (TID == 0)
		asm volatile("red.global.add.u64 [%0], 1;" ::"l"(found + 4) : "memory");
}

/* For the measurement of copies and of reading alone; n is a multiple of the grid times four. */
KERNEL cuvet_copy(struct word *to, const struct word *from, u64 n)
{
	u64 t = TOTAL;

	ROLLED
	for (u64 i = INDEX; i + 3 * t < n; i += 4 * t) {
		struct word w0 = get(from + i), w1 = get(from + i + t);
		struct word w2 = get(from + i + 2 * t), w3 = get(from + i + 3 * t);

		put(to + i, w0);
		put(to + i + t, w1);
		put(to + i + 2 * t, w2);
		put(to + i + 3 * t, w3);
	}
}

KERNEL cuvet_read(u32 *out, const struct word *from, u64 n)
{
	u64 t = TOTAL;
	u32 x = 0;

	ROLLED
	for (u64 i = INDEX; i + 3 * t < n; i += 4 * t) {
		struct word w0 = get(from + i), w1 = get(from + i + t);
		struct word w2 = get(from + i + 2 * t), w3 = get(from + i + 3 * t);

		x ^= w0.a ^ w0.b ^ w0.c ^ w0.d ^ w1.a ^ w1.b ^ w1.c ^ w1.d;
		x ^= w2.a ^ w2.b ^ w2.c ^ w2.d ^ w3.a ^ w3.b ^ w3.c ^ w3.d;
	}
	asm volatile("red.global.xor.b32 [%0], %1;" ::"l"(out), "r"(x) : "memory");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Range coder, literals and matches of LZMA. Every distance is held against what has come out. */
#include "sys/lzma.h"

#include <string.h>
#include <unistd.h>

enum { HALF = 1 << 10, MODEL_END = 14, ALIGN_BITS = 4, TOP = 1 << 24 };

/* -------- input */

uint32_t lzma_byte(struct lzma *z)
{
	ssize_t n;

	if (z->pos == z->n) {
		n = z->bad ? 0 : pread(z->fd, z->buf, sizeof(z->buf), (off_t)z->at);
		if (n <= 0) {
			z->bad = true;
			return 0;
		}
		z->at += (uint64_t)n;
		z->pos = 0;
		z->n = (size_t)n;
	}
	return z->buf[z->pos++];
}

bool lzma_bytes(struct lzma *z, unsigned char *to, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] = (unsigned char)lzma_byte(z);
	return !z->bad;
}

uint64_t lzma_tell(const struct lzma *z)
{
	return z->at - (z->n - z->pos);
}

void lzma_seek(struct lzma *z, uint64_t at)
{
	uint64_t here = lzma_tell(z);

	if (at >= here && at - here <= z->n - z->pos) {
		z->pos += (size_t)(at - here);
		return;
	}
	z->at = at;
	z->pos = z->n = 0;
}

/* -------- output */

static bool put(struct lzma *z, unsigned char byte)
{
	if (z->used >= z->max) {
		z->full = true;
		return false;
	}
	z->out[z->used++] = byte;
	return true;
}

bool lzma_plain(struct lzma *z, size_t n)
{
	while (n--)
		if (!put(z, (unsigned char)lzma_byte(z)) || z->bad)
			return false;
	return true;
}

/* -------- state */

static void half(uint16_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = HALF;
}

#define ALL_HALF(a) half((uint16_t *)(a), sizeof(a) / sizeof(uint16_t))

static void reset_length(struct lzma_length *l)
{
	l->choice = l->choice2 = HALF;
	ALL_HALF(l->low);
	ALL_HALF(l->mid);
	ALL_HALF(l->high);
}

bool lzma_props(struct lzma *z, uint32_t props)
{
	if (z->bad || props >= 9 * 5 * 5)
		return false;
	z->lc = props % 9;
	z->lp = props / 9 % 5;
	z->pb = props / 45;
	z->ready = false;
	return z->lc + z->lp <= 4;
}

void lzma_reset(struct lzma *z)
{
	z->state = 0;
	memset(z->rep, 0, sizeof(z->rep));
	ALL_HALF(z->match);
	ALL_HALF(z->is_rep);
	ALL_HALF(z->rep0);
	ALL_HALF(z->rep1);
	ALL_HALF(z->rep2);
	ALL_HALF(z->rep0_long);
	ALL_HALF(z->slot);
	ALL_HALF(z->special);
	ALL_HALF(z->align);
	ALL_HALF(z->literal);
	reset_length(&z->len);
	reset_length(&z->rep_len);
	z->ready = true;
}

/* -------- range coder */

static void normalize(struct lzma *z)
{
	if (z->range < TOP) {
		z->range <<= 8;
		z->code = z->code << 8 | lzma_byte(z);
	}
}

static unsigned bit(struct lzma *z, uint16_t *p)
{
	uint32_t bound;

	normalize(z);
	bound = (z->range >> 11) * *p;
	if (z->code < bound) {
		z->range = bound;
		*p = (uint16_t)(*p + ((2 * HALF - *p) >> 5));
		return 0;
	}
	z->range -= bound;
	z->code -= bound;
	*p = (uint16_t)(*p - (*p >> 5));
	return 1;
}

static unsigned tree(struct lzma *z, uint16_t *p, unsigned bits)
{
	unsigned m = 1, i;

	for (i = 0; i < bits; i++)
		m = m << 1 | bit(z, p + m);
	return m - (1u << bits);
}

/* Lowest bit first; p[0] is not used. */
static uint32_t tree_reverse(struct lzma *z, uint16_t *p, unsigned bits)
{
	unsigned m = 1, b, i;
	uint32_t v = 0;

	for (i = 0; i < bits; i++) {
		b = bit(z, p + m);
		m = m << 1 | b;
		v |= (uint32_t)b << i;
	}
	return v;
}

static uint32_t direct(struct lzma *z, unsigned bits)
{
	uint32_t v = 0, low;

	while (bits--) {
		normalize(z);
		z->range >>= 1;
		low = z->code >= z->range ? 1 : 0;
		z->code -= low ? z->range : 0;
		v = v << 1 | low;
	}
	return v;
}

/* -------- literals and matches */

static bool literal(struct lzma *z)
{
	size_t pos = z->used - z->base;
	unsigned before = pos ? z->out[z->used - 1] : 0, m = 1, b, like, offset = 0x100;
	uint16_t *p = z->literal[((pos & ((1u << z->lp) - 1)) << z->lc) +
				 (before >> (8 - z->lc))];

	if (z->state < 7) {
		while (m < 0x100)
			m = m << 1 | bit(z, p + m);
	} else {
		if (z->rep[0] >= pos)
			return false;
		/* After a match, the byte that would have come next weighs in. */
		like = z->out[z->used - z->rep[0] - 1];
		while (m < 0x100) {
			like <<= 1;
			b = bit(z, p + offset + (like & offset) + m);
			m = m << 1 | b;
			offset &= b ? like : ~like;
		}
	}
	z->state = z->state < 4 ? 0 : z->state < 10 ? z->state - 3 : z->state - 6;
	return put(z, (unsigned char)m);
}

static unsigned length(struct lzma *z, struct lzma_length *l, unsigned pos_state)
{
	if (!bit(z, &l->choice))
		return 2 + tree(z, l->low[pos_state], 3);
	if (!bit(z, &l->choice2))
		return 10 + tree(z, l->mid[pos_state], 3);
	return 18 + tree(z, l->high, 8);
}

static uint32_t distance(struct lzma *z, unsigned len)
{
	unsigned slot = tree(z, z->slot[len < 6 ? len - 2 : 3], 6), bits;
	uint32_t v;

	if (slot < 4)
		return slot;
	bits = (slot >> 1) - 1;
	v = (2 | (slot & 1)) << bits;
	if (slot < MODEL_END)
		return v + tree_reverse(z, z->special + (v - slot), bits);
	v += direct(z, bits - ALIGN_BITS) << ALIGN_BITS;
	return v + tree_reverse(z, z->align, ALIGN_BITS);
}

/* Which of the last four distances is used again comes to the front; true: one byte alone. */
static bool repeat(struct lzma *z, unsigned pos_state)
{
	uint32_t d;

	if (!bit(z, &z->rep0[z->state])) {
		if (!bit(z, &z->rep0_long[z->state][pos_state]))
			return true;
		return false;
	}
	if (!bit(z, &z->rep1[z->state])) {
		d = z->rep[1];
	} else {
		if (!bit(z, &z->rep2[z->state])) {
			d = z->rep[2];
		} else {
			d = z->rep[3];
			z->rep[3] = z->rep[2];
		}
		z->rep[2] = z->rep[1];
	}
	z->rep[1] = z->rep[0];
	z->rep[0] = d;
	return false;
}

static unsigned match(struct lzma *z, unsigned pos_state)
{
	unsigned len;

	if (bit(z, &z->is_rep[z->state])) {
		if (repeat(z, pos_state)) {
			z->state = z->state < 7 ? 9 : 11;
			return 1;
		}
		len = length(z, &z->rep_len, pos_state);
		z->state = z->state < 7 ? 8 : 11;
		return len;
	}
	z->rep[3] = z->rep[2];
	z->rep[2] = z->rep[1];
	z->rep[1] = z->rep[0];
	len = length(z, &z->len, pos_state);
	z->rep[0] = distance(z, len);
	z->state = z->state < 7 ? 7 : 10;
	return len;
}

bool lzma_chunk(struct lzma *z, size_t n)
{
	unsigned char h[5];
	size_t end = z->used + n;
	unsigned pos_state, len;

	if (!z->ready || !lzma_bytes(z, h, 5) || h[0])
		return false;
	z->range = UINT32_MAX;
	z->code = (uint32_t)h[1] << 24 | (uint32_t)h[2] << 16 | (uint32_t)h[3] << 8 | h[4];
	while (z->used < end && !z->bad) {
		pos_state = (unsigned)(z->used - z->base) & ((1u << z->pb) - 1);
		if (!bit(z, &z->match[z->state][pos_state])) {
			if (!literal(z))
				return false;
			continue;
		}
		len = match(z, pos_state);
		if (z->rep[0] >= z->used - z->base || len > end - z->used)
			return false;
		while (len--)
			if (!put(z, z->out[z->used - z->rep[0] - 1]))
				return false;
	}
	normalize(z);
	return !z->bad;
}

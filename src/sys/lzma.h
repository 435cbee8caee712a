/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The codes of LZMA inside one chunk: bounded input by pread, output into memory that is also the
 * dictionary. Only xz.c uses it.
 */
#ifndef SYS_LZMA_H
#define SYS_LZMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lzma_length {
	uint16_t choice, choice2, low[16][8], mid[16][8], high[256];
};

/* All zero but fd, out and max to begin with. */
struct lzma {
	int fd;
	uint64_t at;		/* where buf ends in the file */
	unsigned char buf[16384];
	size_t pos, n;
	unsigned char *out;
	size_t used, max, base; /* base: where the dictionary begins */
	bool bad;		/* input is at its end, or makes no sense */
	bool full;		/* more than max bytes would come out */
	uint32_t range, code;
	unsigned lc, lp, pb, state;
	bool ready; /* properties were given and the state was reset */
	uint32_t rep[4];
	uint16_t match[12][16], is_rep[12], rep0[12], rep1[12], rep2[12], rep0_long[12][16];
	uint16_t slot[4][64], special[115], align[16];
	struct lzma_length len, rep_len;
	uint16_t literal[16][0x300];
};

uint32_t lzma_byte(struct lzma *z); /* 0 and bad at the end */
bool lzma_bytes(struct lzma *z, unsigned char *to, size_t n);
uint64_t lzma_tell(const struct lzma *z);
void lzma_seek(struct lzma *z, uint64_t at);
bool lzma_props(struct lzma *z, uint32_t props); /* lc, lp and pb in one byte */
void lzma_reset(struct lzma *z);
/* Copies n bytes as they are. */
bool lzma_plain(struct lzma *z, size_t n);
/* Decodes one chunk, from its range coder's five bytes on, into n bytes. */
bool lzma_chunk(struct lzma *z, size_t n);

#endif

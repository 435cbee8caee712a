/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4) of a stream, for digests in image archives: no library is needed for that.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_HEX = 64 };

struct sha256 {
	uint32_t h[8];
	uint64_t n; /* bytes so far */
	unsigned char block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t n);
/* 64 lower-case digits and a NUL. */
void sha256_hex(struct sha256 *s, char ret[SHA256_HEX + 1]);

#endif

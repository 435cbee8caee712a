/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door to libcrypto: Ed25519 and SHA-256. The library is loaded when first asked for, since no
 * other command needs it and it would cost every start some milliseconds.
 */
#ifndef NET_CRYPTO_H
#define NET_CRYPTO_H

#include "base/view.h"
#include "net/encode.h"

struct crypto;

/* ERR_UNSUPPORTED when there is no libcrypto of OpenSSL 3 or 1.1.1. */
int crypto_open(struct arena *a, struct crypto **ret, struct err *err) ATTR_MUST;
/* 0 when `signature` is that of `key` over exactly `data` (RFC 8032), else -ERR_DATA. */
int crypto_verify(struct crypto *c, struct view data,
		  const unsigned char signature[SIGNATURE_BYTES],
		  const unsigned char key[KEY_BYTES], struct err *err) ATTR_MUST;
int crypto_sha256(struct crypto *c, struct view data, unsigned char ret[HASH_BYTES],
		  struct err *err) ATTR_MUST;

/* SHA-256 of what comes in pieces. */
struct digest;
/* NULL when this libcrypto does not do it. The arena frees it. */
struct digest *digest_new(struct arena *a, struct crypto *c);
void digest_restart(struct digest *d);
void digest_add(struct digest *d, const void *p, size_t n);
/* Ends it; false when libcrypto failed at any point: then there is no digest. */
bool digest_end(struct digest *d, unsigned char ret[HASH_BYTES]);

#endif

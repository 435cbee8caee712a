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

#endif

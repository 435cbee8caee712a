/* SPDX-License-Identifier: Apache-2.0 */
/* Text forms of keys, signatures and hashes. No cryptography is done here. */
#ifndef NET_ENCODE_H
#define NET_ENCODE_H

#include "base/err.h"
#include "base/view.h"

struct arena;

enum { KEY_BYTES = 32, SIGNATURE_BYTES = 64, HASH_BYTES = 32 };

/*
 * Base64 of exactly `n` bytes, with "=" at the end and blanks and newlines anywhere. False for
 * anything else, unused bits that are set included, so that a value has one text.
 */
bool base64_read(struct view text, unsigned char *ret, size_t n);
const char *base64_text(struct arena *a, const unsigned char *p, size_t n);
const char *hex_text(struct arena *a, const unsigned char *p, size_t n);

/* A public Ed25519 key as PEM ("openssl pkey -pubout"; RFC 8410). `name` for the message. */
int key_read(struct view pem, const char *name, unsigned char ret[KEY_BYTES],
	     struct err *err) ATTR_MUST;
/* A detached signature: 64 bytes as they are, or in base64. */
int signature_read(struct view file, const char *name, unsigned char ret[SIGNATURE_BYTES],
		   struct err *err) ATTR_MUST;

#endif

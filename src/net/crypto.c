/* SPDX-License-Identifier: Apache-2.0 */
/* libcrypto by dlopen; no other file includes its headers. */
#include "net/crypto.h"

#include "base/arena.h"
#include "sys/dl.h"

#if __has_include(<openssl/evp.h>)
#include <openssl/evp.h>

#define CRYPTO_API(ROW)                                          \
	ROW(pkey_new, EVP_PKEY_new_raw_public_key)               \
	ROW(pkey_free, EVP_PKEY_free)                            \
	ROW(ctx_new, EVP_MD_CTX_new)                             \
	ROW(ctx_free, EVP_MD_CTX_free)                           \
	ROW(verify_init, EVP_DigestVerifyInit)                   \
	ROW(verify, EVP_DigestVerify)                            \
	ROW(sha256, EVP_sha256)                                  \
	ROW(digest, EVP_Digest)                                  \
	ROW(init, EVP_DigestInit_ex)                             \
	ROW(update, EVP_DigestUpdate)                            \
	ROW(final, EVP_DigestFinal_ex)

struct crypto {
#define ROW(field, symbol) __typeof__(symbol) *field;
	CRYPTO_API(ROW)
#undef ROW
};

static const struct dl_symbol symbols[] = {
#define ROW(field, symbol) DL_ROW(struct crypto, field, symbol),
	CRYPTO_API(ROW)
#undef ROW
};

int crypto_open(struct arena *a, struct crypto **ret, struct err *err)
{
	/* The functions above are the same in both. */
	static const char *const names[] = { "libcrypto.so.3", "libcrypto.so.1.1" };
	struct crypto *c = arena_alloc(a, sizeof(*c));
	struct dl_report first = { .state = DL_ABSENT }, r;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		dl_load(names[i], symbols, ARRAY_LEN(symbols), c, &r);
		if (r.state == DL_LOADED) {
			*ret = c;
			return 0;
		}
		if (i == 0)
			first = r;
	}
	return err_set(
		err, ERR_UNSUPPORTED,
		_("nothing can be verified without libcrypto.so.3 (Debian, Ubuntu: install libssl3): %s"),
		first.text);
}

int crypto_verify(struct crypto *c, struct view data,
		  const unsigned char signature[SIGNATURE_BYTES],
		  const unsigned char key[KEY_BYTES], struct err *err)
{
	EVP_PKEY *pkey = c->pkey_new(EVP_PKEY_ED25519, NULL, key, KEY_BYTES);
	EVP_MD_CTX *ctx = c->ctx_new();
	bool ready = pkey && ctx && c->verify_init(ctx, NULL, NULL, NULL, pkey) == 1;
	bool good = ready && c->verify(ctx, signature, SIGNATURE_BYTES,
				       (const unsigned char *)data.p, data.n) == 1;

	c->ctx_free(ctx);
	c->pkey_free(pkey);
	if (good)
		return 0;
	if (!ready)
		return err_set(err, ERR_UNSUPPORTED, _("this libcrypto does not do Ed25519"));
	return err_set(
		err, ERR_DATA,
		_("the signature does not fit: these are not the bytes that were signed, or another key signed them"));
}

int crypto_sha256(struct crypto *c, struct view data, unsigned char ret[HASH_BYTES],
		  struct err *err)
{
	unsigned n = 0;

	if (c->digest(data.p, data.n, ret, &n, c->sha256(), NULL) == 1 && n == HASH_BYTES)
		return 0;
	return err_set(err, ERR_UNSUPPORTED, _("this libcrypto does not do SHA-256"));
}

struct digest {
	struct crypto *c;
	EVP_MD_CTX *ctx;
	bool good;
};

static void digest_free(void *p)
{
	struct digest *d = p;

	d->c->ctx_free(d->ctx);
}

struct digest *digest_new(struct arena *a, struct crypto *c)
{
	struct digest *d = arena_alloc(a, sizeof(*d));

	d->c = c;
	d->ctx = c->ctx_new();
	if (!d->ctx)
		return NULL;
	arena_defer(a, digest_free, d);
	digest_restart(d);
	return d->good ? d : NULL;
}

void digest_restart(struct digest *d)
{
	d->good = d->c->init(d->ctx, d->c->sha256(), NULL) == 1;
}

void digest_add(struct digest *d, const void *p, size_t n)
{
	d->good = d->good && d->c->update(d->ctx, p, n) == 1;
}

bool digest_end(struct digest *d, unsigned char ret[HASH_BYTES])
{
	unsigned n = 0;
	bool good = d->good && d->c->final(d->ctx, ret, &n) == 1 && n == HASH_BYTES;

	d->good = false;
	return good;
}

#else

int crypto_open(struct arena *a, struct crypto **ret, struct err *err)
{
	(void)a;
	(void)ret;
	return err_set(
		err, ERR_UNSUPPORTED,
		_("this cuvet was built without OpenSSL's headers and cannot verify signatures"));
}

int crypto_verify(struct crypto *c, struct view data,
		  const unsigned char signature[SIGNATURE_BYTES],
		  const unsigned char key[KEY_BYTES], struct err *err)
{
	(void)c;
	(void)data;
	(void)signature;
	(void)key;
	return err_set(err, ERR_UNSUPPORTED, "%s", _(err_text(ERR_UNSUPPORTED)));
}

int crypto_sha256(struct crypto *c, struct view data, unsigned char ret[HASH_BYTES],
		  struct err *err)
{
	(void)c;
	(void)data;
	(void)ret;
	return err_set(err, ERR_UNSUPPORTED, "%s", _(err_text(ERR_UNSUPPORTED)));
}

struct digest *digest_new(struct arena *a, struct crypto *c)
{
	(void)a;
	(void)c;
	return NULL;
}

void digest_restart(struct digest *d)
{
	(void)d;
}

void digest_add(struct digest *d, const void *p, size_t n)
{
	(void)d;
	(void)p;
	(void)n;
}

bool digest_end(struct digest *d, unsigned char ret[HASH_BYTES])
{
	(void)d;
	(void)ret;
	return false;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Base64, keys, signatures and URLs of data updates: one value has one text, and what is refused
 * (N3, N5, N17). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "compat/embedded.h"
#include "net/crypto.h"
#include "net/encode.h"
#include "net/http.h"

static void base64_of_every_length_comes_back(void **state)
{
	struct arena *a = arena_new(NULL);
	unsigned char in[70], out[70];
	size_t n, i;

	(void)state;
	for (i = 0; i < sizeof(in); i++)
		in[i] = (unsigned char)(i * 37 + 11);
	for (n = 1; n <= sizeof(in); n++) {
		const char *text = base64_text(a, in, n);

		assert_int_equal(strlen(text), (n + 2) / 3 * 4);
		assert_true(base64_read(view_of(text), out, n));
		assert_memory_equal(in, out, n);
		assert_false(base64_read(view_of(text), out, n - 1));
		if (n < sizeof(in))
			assert_false(base64_read(view_of(text), out, n + 1));
	}
	assert_string_equal(base64_text(a, (const unsigned char *)"foobar", 6), "Zm9vYmFy");
	assert_string_equal(base64_text(a, (const unsigned char *)"foob", 4), "Zm9vYg==");
	assert_string_equal(hex_text(a, (const unsigned char *)"\x00\xff\x1a", 3), "00ff1a");
	arena_free(a);
}

static void N17_base64_has_one_text_a_value(void **state)
{
	static const char *const bad[] = { "Zm9vYg",	   "Zm9vYg=",  "Zm9vYg===", "Zm9vYh==",
					   "Zm9v=Yg=",	   "=Zm9vYg=", "Zm9vYg==A", "Zm9v-g==",
					   "Zm9vYg==\x01", "" };
	unsigned char out[4];
	size_t i;

	(void)state;
	assert_true(base64_read(view_of(" Zm9v\r\nYg==\n"), out, 4));
	for (i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(base64_read(view_of(bad[i]), out, 4));
}

static void the_built_in_key_is_one(void **state)
{
	struct view pem = compat_embedded("data/keys/cuvet-data.pub");
	unsigned char key[KEY_BYTES], zero[KEY_BYTES] = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_true(pem.n > 0);
	assert_int_equal(key_read(pem, "key", key, &err), 0);
	assert_memory_not_equal(key, zero, KEY_BYTES);
	pem.n -= 30;
	assert_int_equal(key_read(pem, "key", key, &err), -ERR_DATA);
}

/* Test 2 of RFC 8032, section 7.1: one byte. */
static const unsigned char rfc_key[KEY_BYTES] = {
	0x3d, 0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92, 0xb7, 0x0a,
	0xa7, 0x4d, 0x1b, 0x7e, 0xbc, 0x9c, 0x98, 0x2c, 0xcf, 0x2e, 0xc4,
	0x96, 0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c,
};
static const unsigned char rfc_signature[SIGNATURE_BYTES] = {
	0x92, 0xa0, 0x09, 0xa9, 0xf0, 0xd4, 0xca, 0xb8, 0x72, 0x0e, 0x82, 0x0b, 0x5f,
	0x64, 0x25, 0x40, 0xa2, 0xb2, 0x7b, 0x54, 0x16, 0x50, 0x3f, 0x8f, 0xb3, 0x76,
	0x22, 0x23, 0xeb, 0xdb, 0x69, 0xda, 0x08, 0x5a, 0xc1, 0xe4, 0x3e, 0x15, 0x99,
	0x6e, 0x45, 0x8f, 0x36, 0x13, 0xd0, 0xf1, 0x1d, 0x8c, 0x38, 0x7b, 0x2e, 0xae,
	0xb4, 0x30, 0x2a, 0xee, 0xb0, 0x0d, 0x29, 0x16, 0x12, 0xbb, 0x0c, 0x00,
};

static void N17_a_signature_holds_for_its_bytes_and_key_alone(void **state)
{
	struct arena *a = arena_new(NULL);
	unsigned char key[KEY_BYTES], signature[SIGNATURE_BYTES], hash[HASH_BYTES];
	struct crypto *c;
	struct err err = { 0 };
	size_t i;

	(void)state;
	if (crypto_open(a, &c, &err)) {
		arena_free(a);
		skip();
	}
	assert_int_equal(crypto_verify(c, VIEW("\x72"), rfc_signature, rfc_key, &err), 0);
	assert_int_equal(crypto_verify(c, VIEW("\x73"), rfc_signature, rfc_key, &err), -ERR_DATA);
	assert_int_equal(crypto_verify(c, VIEW("\x72\x72"), rfc_signature, rfc_key, &err),
			 -ERR_DATA);
	assert_int_equal(crypto_verify(c, VIEW(""), rfc_signature, rfc_key, &err), -ERR_DATA);
	for (i = 0; i < SIGNATURE_BYTES; i++) {
		memcpy(signature, rfc_signature, sizeof(signature));
		signature[i] ^= 0x20;
		assert_int_equal(crypto_verify(c, VIEW("\x72"), signature, rfc_key, &err),
				 -ERR_DATA);
	}
	for (i = 0; i < KEY_BYTES; i++) {
		memcpy(key, rfc_key, sizeof(key));
		key[i] ^= 0x20;
		assert_true(crypto_verify(c, VIEW("\x72"), rfc_signature, key, &err) < 0);
	}
	assert_int_equal(crypto_sha256(c, VIEW("abc"), hash, &err), 0);
	assert_string_equal(hex_text(a, hash, sizeof(hash)),
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	arena_free(a);
}

static void N2_a_page_in_place_of_a_signature_is_called_so(void **state)
{
	unsigned char s[SIGNATURE_BYTES];
	struct err err = { 0 };

	(void)state;
	assert_int_equal(signature_read(VIEW("\n<!DOCTYPE html>"), "x.sig", s, &err), -ERR_DATA);
	assert_non_null(strstr(err.msg, "web page"));
	assert_int_equal(signature_read(VIEW(""), "x.sig", s, &err), -ERR_DATA);
}

static void N5_only_https_and_this_machine(void **state)
{
	static const struct {
		const char *url;
		bool taken;
	} rows[] = {
		{ "https://example.org/a.json", true },
		{ "HTTPS://example.org", true },
		{ "https://example.org:8443/a?b#c", true },
		{ "https://[2001:db8::1]/a", true },
		{ "http://localhost/a", true },
		{ "http://LOCALHOST:8080", true },
		{ "http://127.0.0.1:8080/a", true },
		{ "http://127.1.2.3/a", true },
		{ "http://[::1]:80/a", true },
		{ "http://example.org/a", false },
		{ "http://127.0.0.1.example.org/a", false },
		{ "http://127.0.0.1./a", false },
		{ "http://127.0.0/a", false },
		{ "http://127.0.0.256/a", false },
		{ "http://128.0.0.1/a", false },
		{ "http://localhost.example.org/a", false },
		{ "http://[::1].example.org/a", false },
		{ "http://[::2]/a", false },
		{ "http://example.org/http://localhost/", false },
		{ "http://example.org#localhost", false },
		{ "http://localhost@example.org/", false },
		{ "https://user:pass@example.org/", false },
		{ "https://example.org\\@localhost/", false },
		{ "https://", false },
		{ "https:///a", false },
		{ "https://?a", false },
		{ "https://example.org/a b", false },
		{ "https://example.org/a\nb", false },
		{ "ftp://example.org/a", false },
		{ "file:///etc/passwd", false },
		{ "gopher://localhost/", false },
	};
	struct err err = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(http_is_url(rows[i].url));
		assert_int_equal(http_allowed(rows[i].url, &err), rows[i].taken ? 0 : -ERR_USAGE);
	}
	assert_false(http_is_url("a.json"));
	assert_false(http_is_url("/tmp/a://b"));
	assert_false(http_is_url("://x"));
	assert_false(http_is_url("./https://x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base64_of_every_length_comes_back),
		cmocka_unit_test(N17_base64_has_one_text_a_value),
		cmocka_unit_test(the_built_in_key_is_one),
		cmocka_unit_test(N17_a_signature_holds_for_its_bytes_and_key_alone),
		cmocka_unit_test(N2_a_page_in_place_of_a_signature_is_called_so),
		cmocka_unit_test(N5_only_https_and_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

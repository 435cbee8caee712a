/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing base64, PEM and hexadecimal; strict, as one value must have one text. */
#include "net/encode.h"

#include <string.h>

#include "base/arena.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value_of(char c)
{
	const char *at = c ? strchr(alphabet, c) : NULL;

	return at ? (int)(at - alphabet) : -1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool base64_read(struct view text, unsigned char *ret, size_t n)
{
	size_t want_pad = (3 - n % 3) % 3, pad = 0, out = 0, i;
	unsigned bits = 0, have = 0;
	int v;

	for (i = 0; i < text.n; i++) {
		if (is_blank(text.p[i]))
			continue;
		if (text.p[i] == '=') {
			pad++;
			continue;
		}
		v = value_of(text.p[i]);
		if (v < 0 || pad)
			return false;
		bits = (bits << 6 | (unsigned)v) & 0xFFFF;
		have += 6;
		if (have < 8)
			continue;
		if (out == n)
			return false;
		have -= 8;
		ret[out++] = (unsigned char)(bits >> have);
	}
	return out == n && pad == want_pad && have < 6 && (bits & ((1U << have) - 1)) == 0;
}

const char *base64_text(struct arena *a, const unsigned char *p, size_t n)
{
	char *s = arena_alloc(a, (n + 2) / 3 * 4 + 1), *out = s;
	unsigned three;
	size_t i, k, left;

	for (i = 0; i < n; i += 3) {
		left = n - i < 3 ? n - i : 3;
		three = 0;
		for (k = 0; k < 3; k++)
			three = three << 8 | (k < left ? p[i + k] : 0);
		for (k = 0; k < 4; k++)
			*out++ = k <= left ? alphabet[three >> (18 - 6 * k) & 63] : '=';
	}
	return s;
}

const char *hex_text(struct arena *a, const unsigned char *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *s = arena_alloc(a, 2 * n + 1);
	size_t i;

	for (i = 0; i < n; i++) {
		s[2 * i] = digits[p[i] >> 4];
		s[2 * i + 1] = digits[p[i] & 15];
	}
	return s;
}

int key_read(struct view pem, const char *name, unsigned char ret[KEY_BYTES], struct err *err)
{
	/* SubjectPublicKeyInfo of RFC 8410: what stands before the 32 bytes is always this. */
	static const unsigned char head[] = { 0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
					      0x2b, 0x65, 0x70, 0x03, 0x21, 0x00 };
	static const char begin[] = "-----BEGIN PUBLIC KEY-----";
	unsigned char der[sizeof(head) + KEY_BYTES];
	ptrdiff_t from = view_find(pem, begin), to = view_find(pem, "-----END PUBLIC KEY-----");
	struct view body = { .p = NULL, .n = 0 };

	if (from >= 0 && to > from) {
		body = view_skip(pem, (size_t)from + sizeof(begin) - 1);
		body.n = (size_t)(pem.p + to - body.p);
	}
	if (!body.n || !base64_read(body, der, sizeof(der)) || memcmp(der, head, sizeof(head)) != 0)
		return err_set(err, ERR_DATA, _("%s: not a public Ed25519 key in PEM form"), name);
	memcpy(ret, der + sizeof(head), KEY_BYTES);
	return 0;
}

int signature_read(struct view file, const char *name, unsigned char ret[SIGNATURE_BYTES],
		   struct err *err)
{
	if (file.n == SIGNATURE_BYTES) {
		memcpy(ret, file.p, SIGNATURE_BYTES);
		return 0;
	}
	if (base64_read(file, ret, SIGNATURE_BYTES))
		return 0;
	if (view_starts(view_trim(file), "<"))
		return err_set(
			err, ERR_DATA,
			_("%s: a web page in place of a signature (does this network want a login?)"),
			name);
	return err_set(err, ERR_DATA, _("%s: not a signature (64 bytes, or those in base64)"),
		       name);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of whatever encoding to UTF-8: UTF-16 by its mark or its zeros, else UTF-8, else CP949. */
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "triage/text.h"

/* Share of NUL at even and odd places tells UTF-16 without a mark. */
static const char *utf16_of(struct view raw)
{
	size_t even = 0, odd = 0, i, n = raw.n < 4096 ? raw.n : 4096;

	if (raw.n >= 2 && memcmp(raw.p, "\xff\xfe", 2) == 0)
		return "UTF-16LE";
	if (raw.n >= 2 && memcmp(raw.p, "\xfe\xff", 2) == 0)
		return "UTF-16BE";
	for (i = 0; i + 1 < n; i += 2) {
		even += raw.p[i] == 0;
		odd += raw.p[i + 1] == 0;
	}
	if (n < 8)
		return NULL;
	if (odd > n / 5 && even < n / 50)
		return "UTF-16LE";
	return even > n / 5 && odd < n / 50 ? "UTF-16BE" : NULL;
}

/* Bytes that cannot be converted become '?'; the rest goes on. */
static struct view convert(struct arena *a, struct view raw, const char *from)
{
	iconv_t cd = iconv_open("UTF-8", from);
	size_t cap = raw.n + raw.n / 2 + 16, left = cap, n = raw.n;
	char *out, *q, *p = (char *)(uintptr_t)raw.p;

	if (cd == (iconv_t)-1)
		return raw;
	out = q = arena_alloc(a, cap);
	while (n && left > 4) {
		if (iconv(cd, &p, &n, &q, &left) != (size_t)-1)
			break;
		if (!n || left <= 4)
			break;
		*q++ = '?';
		left--;
		p++;
		n--;
	}
	iconv_close(cd);
	return (struct view){ .p = out, .n = (size_t)(q - out) };
}

/* Is it a program's file, not text in an encoding that is not known?  By its share of such bytes.
 */
static bool is_binary(struct view raw)
{
	struct view head = { .p = raw.p, .n = raw.n < 65536 ? raw.n : 65536 };
	size_t i = 0, bad = 0;

	while (i < head.n) {
		unsigned char c = (unsigned char)head.p[i];

		if (utf8_next(head, &i) < 0 || !c)
			bad++;
	}
	return bad * 8 > head.n;
}

/* Of a binary what strings(1) would show, in place; line ends stay. */
static struct view only_strings(struct view raw)
{
	enum { LEAST = 6 };
	char *out = (char *)(uintptr_t)raw.p;
	size_t i = 0, k = 0, start;

	while (i < raw.n) {
		for (start = i; i < raw.n && raw.p[i] >= ' ' && raw.p[i] < 0x7f; i++)
			;
		if (i - start >= LEAST) {
			memmove(out + k, raw.p + start, i - start);
			k += i - start;
			out[k++] = i < raw.n && raw.p[i] == '\n' ? '\n' : ' ';
		} else if (i < raw.n && raw.p[i] == '\n') {
			out[k++] = '\n';
		}
		i++;
	}
	return (struct view){ .p = out, .n = k < raw.n ? k : raw.n };
}

/* Korean Windows pastes are CP949: most high bytes then come in pairs of lead and trail. */
static bool looks_cp949(struct view raw)
{
	size_t i, pairs = 0, lone = 0;

	for (i = 0; i < raw.n && i < 65536; i++) {
		unsigned char c = (unsigned char)raw.p[i];
		unsigned char d = i + 1 < raw.n ? (unsigned char)raw.p[i + 1] : 0;

		if (c < 0x80)
			continue;
		if (c >= 0x81 && c <= 0xfe && d >= 0x41 && d != 0x7f) {
			pairs++;
			i++;
		} else {
			lone++;
		}
	}
	return pairs >= 2 && lone * 10 < pairs;
}

/* -------- mail */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Is it quoted-printable, as mail is saved?  "=3D" and lines that end in "=" do not come by chance.
 */
static bool is_quoted_printable(struct view raw)
{
	struct view head = { .p = raw.p, .n = raw.n < 65536 ? raw.n : 65536 };
	size_t i, equals = 0, soft = 0, other = 0;

	if (view_find(head, "quoted-printable") >= 0)
		return true;
	for (i = 0; i + 2 < head.n; i++) {
		if (head.p[i] != '=')
			continue;
		if (head.p[i + 1] == '3' && head.p[i + 2] == 'D')
			equals++;
		else if (head.p[i + 1] == '\n' || (head.p[i + 1] == '\r' && head.p[i + 2] == '\n'))
			soft++;
		else if (hex_digit(head.p[i + 1]) < 0 || hex_digit(head.p[i + 2]) < 0)
			other++;
	}
	return equals + soft >= 2 && !other && equals;
}

static struct view unquote_printable(struct view raw)
{
	char *out = (char *)(uintptr_t)raw.p;
	size_t i = 0, k = 0;

	while (i < raw.n) {
		if (raw.p[i] != '=' || i + 1 >= raw.n) {
			out[k++] = raw.p[i++];
		} else if (raw.p[i + 1] == '\n') {
			i += 2;
		} else if (raw.p[i + 1] == '\r' && i + 2 < raw.n && raw.p[i + 2] == '\n') {
			i += 3;
		} else if (i + 2 < raw.n && hex_digit(raw.p[i + 1]) >= 0 &&
			   hex_digit(raw.p[i + 2]) >= 0) {
			out[k++] = (char)(hex_digit(raw.p[i + 1]) * 16 + hex_digit(raw.p[i + 2]));
			i += 3;
		} else {
			out[k++] = raw.p[i++];
		}
	}
	return (struct view){ .p = out, .n = k };
}

struct view text_decode(struct arena *a, struct view raw)
{
	const char *wide = utf16_of(raw);
	bool nul;

	if (wide)
		return convert(a, raw, wide);
	if (raw.n >= 3 && memcmp(raw.p, "\xef\xbb\xbf", 3) == 0)
		raw = view_skip(raw, 3);
	if (is_quoted_printable(raw))
		raw = unquote_printable(raw);
	if (utf8_valid(raw, NULL))
		return raw;
	nul = memchr(raw.p, 0, raw.n) != NULL;
	if (!nul && looks_cp949(raw))
		return convert(a, raw, "CP949");
	/* text_clean takes out the bytes that are no UTF-8. */
	return is_binary(raw) ? only_strings(raw) : raw;
}

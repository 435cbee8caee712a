/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 decoding by the rules of Unicode 15 table 3-7; keeps no state and allocates nothing. */
#include "base/utf8.h"

#include <string.h>

#include "base/attr.h"

static bool is_tail(struct view v, size_t i)
{
	return i < v.n && ((unsigned char)v.p[i] & 0xC0) == 0x80;
}

int32_t utf8_next(struct view v, size_t *i)
{
	unsigned char b = (unsigned char)v.p[*i];
	size_t k, len;
	int32_t cp, min;

	if (b < 0x80) {
		++*i;
		return b;
	}
	if (b >= 0xC2 && b <= 0xDF) {
		len = 2;
		cp = b & 0x1F;
		min = 0x80;
	} else if (b >= 0xE0 && b <= 0xEF) {
		len = 3;
		cp = b & 0x0F;
		min = 0x800;
	} else if (b >= 0xF0 && b <= 0xF4) {
		len = 4;
		cp = b & 0x07;
		min = 0x10000;
	} else {
		++*i;
		return -1;
	}
	for (k = 1; k < len; k++) {
		if (!is_tail(v, *i + k)) {
			++*i;
			return -1;
		}
		cp = cp << 6 | ((unsigned char)v.p[*i + k] & 0x3F);
	}
	if (cp < min || cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF)) {
		++*i;
		return -1;
	}
	*i += len;
	return cp;
}

bool utf8_valid(struct view v, size_t *ret_bad_offset)
{
	size_t i = 0, at;
	uint64_t eight;

	while (i < v.n) {
		if (i + sizeof(eight) <= v.n) {
			memcpy(&eight, v.p + i, sizeof(eight));
			if (!(eight & 0x8080808080808080u)) {
				i += sizeof(eight);
				continue;
			}
		}
		if ((unsigned char)v.p[i] < 0x80) {
			i++;
			continue;
		}
		at = i;
		if (utf8_next(v, &i) < 0) {
			if (ret_bad_offset)
				*ret_bad_offset = at;
			return false;
		}
	}
	return true;
}

bool utf8_is_control(int32_t cp)
{
	return cp < 0x20 || (cp >= 0x7F && cp <= 0x9F);
}

struct range {
	int32_t from, to;
};

static bool in_ranges(const struct range *r, size_t n, int32_t cp)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (cp >= r[i].from && cp <= r[i].to)
			return true;
	return false;
}

bool utf8_is_format(int32_t cp)
{
	static const struct range format[] = {
		{ .from = 0x00AD, .to = 0x00AD },   { .from = 0x061C, .to = 0x061C },
		{ .from = 0x180E, .to = 0x180E },   { .from = 0x200B, .to = 0x200F },
		{ .from = 0x2028, .to = 0x202E },   { .from = 0x2060, .to = 0x206F },
		{ .from = 0xFEFF, .to = 0xFEFF },   { .from = 0xFFF9, .to = 0xFFFB },
		{ .from = 0xE0000, .to = 0xE007F },
	};

	return cp >= 0xAD && in_ranges(format, ARRAY_LEN(format), cp);
}

int utf8_width(int32_t cp)
{
	static const struct range combining[] = {
		{ .from = 0x0300, .to = 0x036F }, { .from = 0x0483, .to = 0x0489 },
		{ .from = 0x0591, .to = 0x05BD }, { .from = 0x1AB0, .to = 0x1AFF },
		{ .from = 0x20D0, .to = 0x20FF }, { .from = 0xFE00, .to = 0xFE0F },
		{ .from = 0xFE20, .to = 0xFE2F },
	};
	static const struct range wide[] = {
		{ .from = 0x1100, .to = 0x115F },   { .from = 0x2E80, .to = 0x303E },
		{ .from = 0x3041, .to = 0xA4CF },   { .from = 0xA960, .to = 0xA97C },
		{ .from = 0xAC00, .to = 0xD7A3 },   { .from = 0xF900, .to = 0xFAFF },
		{ .from = 0xFE30, .to = 0xFE6F },   { .from = 0xFF00, .to = 0xFF60 },
		{ .from = 0xFFE0, .to = 0xFFE6 },   { .from = 0x1F300, .to = 0x1F64F },
		{ .from = 0x1F900, .to = 0x1F9FF }, { .from = 0x20000, .to = 0x3FFFD },
	};

	if (cp < 0x300)
		return 1;
	if (in_ranges(combining, ARRAY_LEN(combining), cp))
		return 0;
	return in_ranges(wide, ARRAY_LEN(wide), cp) ? 2 : 1;
}

size_t utf8_columns(const char *s)
{
	struct view v = view_of(s);
	size_t i = 0, cols = 0;
	int32_t cp;

	while (i < v.n) {
		cp = utf8_next(v, &i);
		cols += cp < 0 ? 1 : (size_t)utf8_width(cp);
	}
	return cols;
}

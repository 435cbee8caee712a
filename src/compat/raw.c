/* SPDX-License-Identifier: Apache-2.0 */
/* A walk over the top-level members of a JSON object; bounded by its view, it must not allocate. */
#include "compat/raw.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_blanks(struct view v, size_t i)
{
	while (i < v.n && is_blank(v.p[i]))
		i++;
	return i;
}

/* Position after the string that begins at i, or 0 when it does not end. */
static size_t skip_string(struct view v, size_t i)
{
	for (i++; i < v.n; i++) {
		if (v.p[i] == '\\')
			i++;
		else if (v.p[i] == '"')
			return i + 1;
	}
	return 0;
}

/* Position after a list or object that begins at i, or 0. */
static size_t skip_nested(struct view v, size_t i)
{
	size_t depth = 0;

	while (i < v.n) {
		char c = v.p[i];

		if (c == '"') {
			i = skip_string(v, i);
			if (!i)
				return 0;
			continue;
		}
		if (c == '[' || c == '{')
			depth++;
		else if ((c == ']' || c == '}') && --depth == 0)
			return i + 1;
		i++;
	}
	return 0;
}

static size_t skip_value(struct view v, size_t i)
{
	size_t start = i;

	if (i >= v.n)
		return 0;
	if (v.p[i] == '"')
		return skip_string(v, i);
	if (v.p[i] == '[' || v.p[i] == '{')
		return skip_nested(v, i);
	while (i < v.n && v.p[i] != ',' && v.p[i] != '}' && v.p[i] != ']' && !is_blank(v.p[i]))
		i++;
	return i > start ? i : 0;
}

bool raw_member(struct view v, const char *key, struct view *ret_value)
{
	size_t len = strlen(key), i = skip_blanks(v, 0), name, end;

	if (i >= v.n || v.p[i] != '{')
		return false;
	do {
		name = skip_blanks(v, i + 1);
		if (name >= v.n || v.p[name] != '"')
			return false;
		end = skip_string(v, name);
		if (!end)
			return false;
		i = skip_blanks(v, end);
		if (i >= v.n || v.p[i] != ':')
			return false;
		i = skip_blanks(v, i + 1);
		if (end - name == len + 2 && memcmp(v.p + name + 1, key, len) == 0) {
			end = skip_value(v, i);
			if (!end)
				return false;
			*ret_value = (struct view){ .p = v.p + i, .n = end - i };
			return true;
		}
		i = skip_value(v, i);
		if (!i)
			return false;
		i = skip_blanks(v, i);
	} while (i < v.n && v.p[i] == ',');
	return false;
}

bool raw_string(struct view object, const char *key, struct view *ret)
{
	struct view v;

	if (!raw_member(object, key, &v) || v.n < 2 || v.p[0] != '"' || view_chr(v, '\\') >= 0)
		return false;
	*ret = (struct view){ .p = v.p + 1, .n = v.n - 2 };
	return true;
}

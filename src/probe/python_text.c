/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small texts that describe Python environments and packages; knows no files and trusts no
 * line.
 */
#include <string.h>

#include "base/arena.h"
#include "model/requirement.h"
#include "model/version.h"
#include "probe/python.h"

enum { WORD_MAX = 256, PATH_LIMIT = 4096 };

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool py_begins(const char *name, const char *const *stems, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strncmp(name, stems[i], strlen(stems[i])) == 0)
			return true;
	return false;
}

bool py_is_word(struct view v)
{
	size_t i;

	if (!v.n || v.n > WORD_MAX)
		return false;
	for (i = 0; i < v.n; i++)
		if (!v.p[i] || (!is_alnum(v.p[i]) && !strchr(".+-_!~", v.p[i])))
			return false;
	return true;
}

/* A path that can be shown and opened: absolute, no controls. */
static bool is_path(struct view v)
{
	size_t i;

	if (!v.n || v.n > PATH_LIMIT || v.p[0] != '/')
		return false;
	for (i = 0; i < v.n; i++)
		if ((unsigned char)v.p[i] < 0x20 || v.p[i] == 0x7f)
			return false;
	return true;
}

const char *py_normalize(struct arena *a, struct view name)
{
	size_t i;

	if (!name.n || name.n > WORD_MAX || !is_alnum(name.p[0]) || !is_alnum(name.p[name.n - 1]))
		return NULL;
	for (i = 0; i < name.n; i++)
		if (!is_alnum(name.p[i]) && name.p[i] != '-' && name.p[i] != '_' &&
		    name.p[i] != '.')
			return NULL;
	return requirement_normal(a, name);
}

const char *py_minor(struct arena *a, const char *version)
{
	struct version v;

	if (!version || !version_prefix(view_of(version), &v) || v.n < 2 || v.part[0] > 9 ||
	    v.part[1] > 99)
		return NULL;
	return arena_printf(a, "%u.%u", v.part[0], v.part[1]);
}

void pyvenv_parse(struct arena *a, struct view text, struct pyvenv *ret)
{
	struct view line, value, key;

	*ret = (struct pyvenv){ 0 };
	while (view_line(&text, &line)) {
		if (view_chr(line, '=') < 0)
			continue;
		key = view_trim(view_cut(line, '=', &value));
		value = view_trim(value);
		if (view_is_nocase(key, "home"))
			ret->home = is_path(value) ? view_dup(a, value) : NULL;
		else if (view_is_nocase(key, "version") || view_is_nocase(key, "version_info"))
			ret->version = py_is_word(value) ? view_dup(a, value) : NULL;
		else if (view_is_nocase(key, "uv"))
			ret->uv = py_is_word(value) ? view_dup(a, value) : NULL;
		else if (view_is_nocase(key, "include-system-site-packages"))
			ret->system_site = view_is_nocase(value, "true");
	}
}

void py_metadata_parse(struct arena *a, struct view text, struct py_metadata *ret)
{
	struct view line, value, key;

	*ret = (struct py_metadata){ 0 };
	/* The header ends at the first empty line. */
	while (view_line(&text, &line) && line.n && !(ret->name && ret->version)) {
		if (view_chr(line, ':') < 0)
			continue;
		key = view_cut(line, ':', &value);
		value = view_trim(value);
		if (view_is_nocase(key, "name") && !ret->name)
			ret->name = py_normalize(a, value);
		else if (view_is_nocase(key, "version") && !ret->version && py_is_word(value))
			ret->version = view_dup(a, value);
	}
}

const char *py_wheel_tag(struct arena *a, struct view text)
{
	struct view line, value;

	while (view_line(&text, &line)) {
		if (!view_starts(line, "Tag:"))
			continue;
		view_cut(line, ':', &value);
		value = view_trim(value);
		return py_is_word(value) ? view_dup(a, value) : NULL;
	}
	return NULL;
}

/* glibc of one platform tag. Source: PEP 513, 571, 599 (old names) and 600 (manylinux_X_Y). */
static const char *platform_glibc(struct arena *a, struct view tag)
{
	static const struct {
		const char *name, *glibc;
	} old[] = {
		{ .name = "manylinux1_", .glibc = "2.5" },
		{ .name = "manylinux2010_", .glibc = "2.12" },
		{ .name = "manylinux2014_", .glibc = "2.17" },
	};
	struct view major, minor;
	uint64_t x, y;
	size_t i;

	for (i = 0; i < ARRAY_LEN(old); i++)
		if (view_starts(tag, old[i].name))
			return old[i].glibc;
	if (!view_starts(tag, "manylinux_"))
		return NULL;
	major = view_cut(view_skip(tag, strlen("manylinux_")), '_', &minor);
	minor = view_cut(minor, '_', &tag);
	if (!view_u64(major, 10, &x) || !view_u64(minor, 10, &y) || x > 99 || y > 999)
		return NULL;
	return arena_printf(a, "%u.%u", (unsigned)x, (unsigned)y);
}

const char *py_tag_glibc(struct arena *a, const char *tag)
{
	struct view rest = view_of(tag), part;
	const char *best = NULL, *one;

	/*
	 * python-abi-platforms, and platforms are separated by dots; the lowest of them is enough.
	 */
	view_cut(rest, '-', &rest);
	view_cut(rest, '-', &rest);
	while (rest.n) {
		part = view_cut(rest, '.', &rest);
		one = platform_glibc(a, part);
		if (one && (!best || version_cmp_str(one, best) < 0))
			best = one;
	}
	return best;
}

/* What stands behind '=': a quoted string without escapes, or a bare word (None, True). */
static const char *literal(struct arena *a, struct view v)
{
	struct view text;

	v = view_trim(v);
	if (v.n && (v.p[0] == '\'' || v.p[0] == '"')) {
		ptrdiff_t end = view_chr(view_skip(v, 1), v.p[0]);

		if (end < 0)
			return NULL;
		text = (struct view){ .p = v.p + 1, .n = (size_t)end };
	} else {
		text = view_trim(view_cut(v, '#', &v));
	}
	return py_is_word(text) ? view_dup(a, text) : NULL;
}

const char *py_assigned(struct arena *a, struct view text, const char *name)
{
	struct view line, left, right, type;
	const char *found = NULL;

	/*
	 * At the left margin only: `cuda: Optional[str] = '12.4'`, `__version__ = '2.6.0+cu124'`.
	 */
	while (view_line(&text, &line)) {
		if (!view_starts(line, name))
			continue;
		left = view_cut(line, '=', &right);
		if (left.n == line.n)
			continue;
		left = view_trim(view_cut(left, ':', &type));
		if (view_is(left, name))
			found = literal(a, right);
		if (view_is(left, name) && !found)
			found = "";
	}
	return found;
}

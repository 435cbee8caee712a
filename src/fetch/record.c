/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes lists of installed files as text; opens nothing. */
#include "fetch/record.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"

#define FIRST_LINE "cuvet-record 1"
enum { FILES_MAX = 200000, HEAD_LINES = 64 };

static const struct {
	const char *key;
	size_t offset;
} heads[] = {
#define HEAD(key_text, field) { .key = key_text, .offset = offsetof(struct record, field) }
	HEAD("name", name),
	HEAD("version", version),
	HEAD("label", label),
	HEAD("cuda", cuda),
	HEAD("platform", platform),
	HEAD("url", url),
	HEAD("sha256", sha256),
	HEAD("size", size),
	HEAD("licence", licence),
	HEAD("licence-url", licence_url),
	HEAD("accepted", accepted),
	HEAD("into", into),
#undef HEAD
};

static const char **head_at(struct record *r, size_t i)
{
	return (const char **)(void *)((unsigned char *)r + heads[i].offset);
}

bool record_path_ok(const char *path)
{
	struct view rest = view_of(path), part;
	size_t i;

	if (!rest.n || rest.n > 4000 || rest.p[rest.n - 1] == '/')
		return false;
	for (i = 0; i < rest.n; i++)
		if ((unsigned char)path[i] < ' ' || path[i] == 0x7F)
			return false;
	while (rest.n) {
		part = view_cut(rest, '/', &rest);
		if (!part.n || view_is(part, ".") || view_is(part, ".."))
			return false;
	}
	return true;
}

static bool text_ok(struct view v)
{
	size_t i;

	for (i = 0; i < v.n; i++)
		if ((unsigned char)v.p[i] < ' ' || v.p[i] == 0x7F)
			return false;
	return v.n > 0 && v.n <= 4000;
}

static bool hex_ok(struct view v)
{
	size_t i;

	for (i = 0; i < v.n; i++)
		if (!(v.p[i] >= '0' && v.p[i] <= '9') && !(v.p[i] >= 'a' && v.p[i] <= 'f'))
			return false;
	return v.n == 64;
}

/* "755 1048576 HASH PATH" */
static bool read_file(struct arena *a, struct view rest, struct record_file *f)
{
	struct view mode = view_cut(rest, ' ', &rest), size = view_cut(rest, ' ', &rest);
	struct view hash = view_cut(rest, ' ', &rest);

	if (view_is(mode, "755"))
		f->mode = 0755;
	else if (view_is(mode, "644"))
		f->mode = 0644;
	else
		return false;
	if (!view_u64(size, 10, &f->size) || !hex_ok(hash))
		return false;
	f->sha256 = view_dup(a, hash);
	f->path = view_dup(a, rest);
	return strlen(f->path) == rest.n && record_path_ok(f->path);
}

static bool read_entry(struct arena *a, struct view line, struct record_file *f)
{
	struct view rest = view_skip(line, 2), link;

	if (line.n < 3 || line.p[1] != ' ')
		return false;
	*f = (struct record_file){ .type = line.p[0] };
	if (f->type == 'f')
		return read_file(a, rest, f);
	if (f->type == 'l') {
		link = view_cut(rest, '\t', &rest);
		f->link = view_dup(a, link);
		if (!text_ok(link) || strlen(f->link) != link.n)
			return false;
	} else if (f->type != 'd') {
		return false;
	}
	f->path = view_dup(a, rest);
	return strlen(f->path) == rest.n && record_path_ok(f->path);
}

/* Next line, exactly as it stands: nothing is trimmed. */
static bool next_line(struct view *text, struct view *ret)
{
	ptrdiff_t n = view_chr(*text, '\n');

	if (n < 0)
		return false;
	*ret = (struct view){ .p = text->p, .n = (size_t)n };
	*text = view_skip(*text, (size_t)n + 1);
	return true;
}

static int refuse(struct err *err, const char *name, size_t line)
{
	return err_set(err, ERR_DATA,
		       _("%.400s: damaged at line %zu: not the list that was written"), name, line);
}

static bool read_head_line(struct arena *a, struct view line, struct record *r)
{
	struct view value, key = view_cut(line, ' ', &value);
	size_t i;

	for (i = 0; i < ARRAY_LEN(heads); i++) {
		if (!view_is(key, heads[i].key))
			continue;
		if (*head_at(r, i) || !text_ok(value))
			return false;
		*head_at(r, i) = view_dup(a, value);
		return strlen(*head_at(r, i)) == value.n;
	}
	/* A newer cuvet may say more. */
	return key.n > 2 && text_ok(line);
}

static bool is_entry(struct view line)
{
	return line.n > 2 && line.p[1] == ' ' && strchr("fld", line.p[0]) != NULL;
}

static int read_record(struct arena *a, struct view text, const char *name, bool files,
		       struct record *ret, struct err *err)
{
	struct record r = { 0 };
	struct view line;
	size_t n = 1;

	if (!next_line(&text, &line) || !view_is(line, FIRST_LINE))
		return refuse(err, name, 1);
	for (;;) {
		n++;
		if (!next_line(&text, &line))
			return refuse(err, name, n);
		if (is_entry(line) || view_is(line, "end"))
			break;
		if (n > HEAD_LINES || !read_head_line(a, line, &r))
			return refuse(err, name, n);
	}
	if (!r.name || !r.version)
		return refuse(err, name, n);
	for (; files && !view_is(line, "end"); n++) {
		struct record_file *f;

		if (r.n >= FILES_MAX)
			return refuse(err, name, n);
		f = ARENA_APPEND(a, r.files, r.n);
		if (!read_entry(a, line, f))
			return refuse(err, name, n);
		r.n_files += f->type != 'd';
		if (!next_line(&text, &line))
			return refuse(err, name, n + 1);
	}
	if (files && text.n)
		return refuse(err, name, n + 1);
	*ret = r;
	return 0;
}

int record_read(struct arena *a, struct view text, const char *name, struct record *ret,
		struct err *err)
{
	return read_record(a, text, name, true, ret, err);
}

int record_head(struct arena *a, struct view text, const char *name, struct record *ret,
		struct err *err)
{
	return read_record(a, text, name, false, ret, err);
}

const char *record_licence(const struct record *r)
{
	static const char *const names[] = { "LICENSE", "LICENSE.txt" };
	size_t i, k;

	for (i = 0; i < r->n; i++) {
		const char *path = r->files[i].path, *slash = strrchr(path, '/');

		/* At the top, or where --into puts what lies there. */
		if (r->files[i].type != 'f' || (slash && strncmp(path, "share/doc/", 10) != 0))
			continue;
		for (k = 0; k < ARRAY_LEN(names); k++)
			if (strcmp(slash ? slash + 1 : path, names[k]) == 0)
				return path;
	}
	return NULL;
}

void record_put_head(struct strbuf *out, const struct record *r)
{
	struct record copy = *r;
	size_t i;

	strbuf_add(out, FIRST_LINE "\n");
	for (i = 0; i < ARRAY_LEN(heads); i++)
		if (*head_at(&copy, i) && text_ok(view_of(*head_at(&copy, i))))
			strbuf_printf(out, "%s %s\n", heads[i].key, *head_at(&copy, i));
}

void record_put_file(struct strbuf *out, const struct record_file *f)
{
	if (f->type == 'f')
		strbuf_printf(out, "f %o %llu %s %s\n", f->mode, (unsigned long long)f->size,
			      f->sha256, f->path);
	else if (f->type == 'l')
		strbuf_printf(out, "l %s\t%s\n", f->link, f->path);
	else
		strbuf_printf(out, "d %s\n", f->path);
}

void record_put_end(struct strbuf *out)
{
	strbuf_add(out, "end\n");
}

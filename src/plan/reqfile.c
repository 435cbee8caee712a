/* SPDX-License-Identifier: Apache-2.0 */
/* requirements.txt: lines, comments, continuations and includes as pip reads them. Opens files
 * through base/file alone. */
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "plan/reqfile.h"

enum { FILE_MAX = 1 << 20, INCLUDE_DEPTH = 16, INCLUDES_MAX = 200 };

/* Where a piece of a joined line came from. */
struct piece {
	size_t offset; /* in the joined line */
	size_t line;   /* 1 for the first */
	size_t column; /* 0 for the first */
};

struct line {
	struct view text;
	struct piece *pieces;
	size_t n_pieces;
};

struct reader {
	struct arena *a;
	struct requirement_list *list;
	struct err *err;
	const char *stack[INCLUDE_DEPTH]; /* files that are being read, outermost first */
	size_t depth, n_files;
};

struct file {
	struct reader *r;
	const char *name;
	bool constraint;
	size_t line; /* of the text that was taken */
};

static int file_parse(struct reader *r, struct view text, const char *name, bool constraint);

static int complain(const struct file *f, const struct line *l, size_t at, const char *what)
{
	const struct piece *p = &l->pieces[0];
	size_t i;

	for (i = 1; i < l->n_pieces && l->pieces[i].offset <= at; i++)
		p = &l->pieces[i];
	return err_set(f->r->err, ERR_PARSE, "%.300s:%zu:%zu: %s", f->name, p->line,
		       at - p->offset + p->column + 1, what);
}

/* Next logical line: those that end in "\" go on. A comment ends where its own line ends. */
static bool next_line(struct file *f, struct view *text, struct line *ret)
{
	struct strbuf b;
	struct view one;
	bool more = true, any = false;

	*ret = (struct line){ .n_pieces = 0 };
	strbuf_init(&b, f->r->a);
	while (more && view_line(text, &one)) {
		*ARENA_APPEND(f->r->a, ret->pieces, ret->n_pieces) =
			(struct piece){ .offset = b.n, .line = ++f->line };
		any = true;
		more = view_ends(one, "\\") && view_comment(one) == one.n;
		one.n = more ? one.n - 1 : view_comment(one);
		strbuf_addv(&b, one);
	}
	ret->text = (struct view){ .p = b.s, .n = b.n };
	return any;
}

static bool is_option(struct view word, const char *letter, const char *name,
		      struct view *ret_value)
{
	*ret_value = (struct view){ .p = NULL };
	if (view_is(word, letter) || view_is(word, name))
		return true;
	if (view_starts(word, name) && word.n > strlen(name) && word.p[strlen(name)] == '=') {
		*ret_value = view_skip(word, strlen(name) + 1);
		return true;
	}
	/* pip takes "-rfile" too */
	if (view_starts(word, letter) && !view_starts(word, "--")) {
		*ret_value = view_skip(word, strlen(letter));
		return true;
	}
	return false;
}

static const char *beside(struct arena *a, const char *file, const char *path)
{
	const char *slash = strrchr(file, '/');

	if (path[0] == '/' || !slash)
		return path;
	return arena_printf(a, "%.*s/%s", (int)(slash - file), file, path);
}

static int include(struct file *f, const struct line *l, struct view value, bool constraint)
{
	struct reader *r = f->r;
	size_t at = value.p ? (size_t)(value.p - l->text.p) : l->text.n, i;
	const char *path;
	struct view text;
	struct err e;
	int rc;

	if (!value.n)
		return complain(f, l, l->text.n, _("a file name is missing"));
	if (view_find(value, "://") >= 0)
		return complain(f, l, at,
				_("a file on the network is not read: save it and name the copy"));
	path = beside(r->a, f->name, view_dup(r->a, value));
	for (i = 0; i < r->depth; i++)
		if (strcmp(r->stack[i], path) == 0)
			return complain(f, l, at, _("this file includes itself"));
	if (r->depth == INCLUDE_DEPTH || r->n_files == INCLUDES_MAX)
		return complain(f, l, at, _("too many files include each other"));
	rc = file_read(r->a, path, FILE_MAX, &text, &e);
	if (rc) {
		complain(f, l, at, e.msg);
		return r->err ? -(int)r->err->code : rc;
	}
	return file_parse(r, text, path, constraint || f->constraint);
}

/* Options that say from where and how to install: they are pip's business and change no choice. */
static bool harmless_option(struct view word)
{
	static const char *const names[] = {
		"-i",
		"--index-url",
		"--extra-index-url",
		"-f",
		"--find-links",
		"--no-index",
		"--pre",
		"--no-binary",
		"--only-binary",
		"--prefer-binary",
		"--trusted-host",
		"--use-feature",
		"--require-hashes",
	};
	struct view value;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (is_option(word, names[i], names[i], &value))
			return true;
	return false;
}

static int option_line(struct file *f, const struct line *l, struct view rest)
{
	struct view word, value, at = rest;

	if (!view_word(&rest, &word))
		return 0;
	if (is_option(word, "-r", "--requirement", &value) ||
	    is_option(word, "-c", "--constraint", &value)) {
		bool constraint = view_starts(word, "-c") || view_starts(word, "--constraint");

		return include(f, l, value.p ? value : view_trim(rest), constraint);
	}
	if (view_starts(word, "-e") || view_starts(word, "--editable"))
		return complain(f, l, (size_t)(at.p - l->text.p),
				_("an editable package cannot be planned: leave the line out"));
	if (harmless_option(word))
		return 0;
	return complain(f, l, (size_t)(at.p - l->text.p), _("no option of a requirements file"));
}

static int one_line(struct file *f, const struct line *l)
{
	struct view v = view_trim(l->text);
	struct requirement q = { .file = f->name, .constraint = f->constraint };
	const char *what;
	size_t at;

	if (!v.n)
		return 0;
	if (v.p[0] == '-')
		return option_line(f, l, v);
	v = requirement_without_options(v);
	if (!requirement_parse(f->r->a, v, &q, &at, &what))
		return complain(f, l, (size_t)(v.p - l->text.p) + at, _(what));
	q.from = arena_printf(f->r->a, "%s:%zu", f->name, l->pieces[0].line);
	*ARENA_APPEND(f->r->a, f->r->list->v, f->r->list->n) = q;
	return 0;
}

static int file_parse(struct reader *r, struct view text, const char *name, bool constraint)
{
	struct file f = { .r = r, .name = name, .constraint = constraint };
	struct line l;
	int rc = 0;

	r->stack[r->depth++] = name;
	r->n_files++;
	if (view_starts(text, "\xef\xbb\xbf"))
		text = view_skip(text, 3);
	while (!rc && next_line(&f, &text, &l))
		rc = one_line(&f, &l);
	r->depth--;
	return rc;
}

int reqfile_parse(struct arena *a, struct view text, const char *name,
		  struct requirement_list *list, struct err *err)
{
	struct err own;
	struct reader r = { .a = a, .list = list, .err = err ? err : &own };

	return file_parse(&r, text, name, false);
}

int reqfile_read(struct arena *a, const char *path, bool constraint, struct requirement_list *list,
		 struct err *err)
{
	struct err own;
	struct reader r = { .a = a, .list = list, .err = err ? err : &own };
	struct view text;
	int rc = file_read_operand(a, path, FILE_MAX, &text, r.err);

	return rc ? rc : file_parse(&r, text, path, constraint);
}

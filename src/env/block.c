/* SPDX-License-Identifier: Apache-2.0 */
/* The marked block in a text, and the difference that it makes. Opens no file. */
#include <string.h>

#include "base/arena.h"
#include "env/env.h"

#define BEGIN ">>> cuvet env >>>"
/* The text before it had no line feed at its end: it gets its old end back. */
#define BEGIN_NO_EOL ">>> cuvet env (joined) >>>"
#define END "<<< cuvet env <<<"

/* Comment styles of all forms; a block is found in whichever it stands. */
static const char *const styles[] = { "#", "--", "rem" };

enum mark { MARK_NONE, MARK_BEGIN, MARK_BEGIN_NO_EOL, MARK_END };

static enum mark mark_of(struct view line)
{
	size_t i, n;

	line = view_trim(line);
	for (i = 0; i < ARRAY_LEN(styles); i++) {
		n = strlen(styles[i]);
		if (line.n <= n || memcmp(line.p, styles[i], n) != 0 || line.p[n] != ' ')
			continue;
		if (view_is(view_skip(line, n + 1), BEGIN))
			return MARK_BEGIN;
		if (view_is(view_skip(line, n + 1), BEGIN_NO_EOL))
			return MARK_BEGIN_NO_EOL;
		if (view_is(view_skip(line, n + 1), END))
			return MARK_END;
	}
	return MARK_NONE;
}

struct found {
	size_t from, to; /* bytes of the text, both marker lines included */
	bool found, joined;
	bool crlf; /* how its own lines end */
};

static int find(struct view text, struct found *b, struct err *err)
{
	size_t at = 0, line_no = 0;
	bool open = false;

	while (at < text.n) {
		ptrdiff_t eol = view_chr(view_skip(text, at), '\n');
		size_t next = eol < 0 ? text.n : at + (size_t)eol + 1;
		enum mark m = mark_of((struct view){ .p = text.p + at, .n = next - at });

		line_no++;
		if (m == MARK_END && !open)
			return err_set(err, ERR_PARSE,
				       _("line %zu ends a block of cuvet that does not begin"),
				       line_no);
		if ((m == MARK_BEGIN || m == MARK_BEGIN_NO_EOL) && (open || b->found))
			return err_set(err, ERR_PARSE, _("line %zu begins a second block of cuvet"),
				       line_no);
		if (m == MARK_BEGIN || m == MARK_BEGIN_NO_EOL) {
			open = true;
			b->joined = m == MARK_BEGIN_NO_EOL;
			b->crlf = next - at > 1 && memcmp(text.p + next - 2, "\r\n", 2) == 0;
			b->from = at;
		} else if (m == MARK_END) {
			open = false;
			b->found = true;
			b->to = next;
		}
		at = next;
	}
	if (open)
		return err_set(err, ERR_PARSE, "%s", _("a block of cuvet begins and does not end"));
	return 0;
}

/* Body between markers, with the line ends of the text around. */
static void put_block(struct strbuf *out, const char *comment, const char *body, bool joined,
		      bool crlf)
{
	struct view rest = view_of(body), line;
	const char *eol = crlf ? "\r\n" : "\n";

	strbuf_printf(out, "%s %s%s", comment, joined ? BEGIN_NO_EOL : BEGIN, eol);
	while (view_line(&rest, &line)) {
		strbuf_addv(out, line);
		strbuf_add(out, eol);
	}
	strbuf_printf(out, "%s %s%s", comment, END, eol);
}

int env_block_edit(struct arena *a, struct view text, const char *comment, const char *body,
		   const char **ret, size_t *ret_n, bool *ret_had, struct err *err)
{
	struct found b = { .from = text.n, .to = text.n };
	struct strbuf out;
	ptrdiff_t eol = view_chr(text, '\n');
	bool crlf = (eol > 0 && text.p[eol - 1] == '\r') ||
		    (!text.n && comment && strcmp(comment, "rem") == 0);
	int r;

	if (text.n && memchr(text.p, '\0', text.n))
		return err_set(err, ERR_PARSE, "%s",
			       _("it holds a NUL byte, so that it is no text"));
	r = find(text, &b, err);
	if (r)
		return r;
	if (b.found)
		crlf = b.crlf;
	strbuf_init(&out, a);
	strbuf_addn(&out, text.p ? text.p : "", b.from);
	if (body) {
		if (!b.found && out.n && out.s[out.n - 1] != '\n') {
			strbuf_add(&out, crlf ? "\r\n" : "\n");
			b.joined = true;
		}
		put_block(&out, comment, body, b.joined, crlf);
	} else if (b.joined && b.to == text.n) {
		/* What is behind the block was added later and keeps it on its own line. */
		size_t cut = out.n && out.s[out.n - 1] == '\n' ? 1 : 0;

		if (cut && out.n > 1 && crlf && out.s[out.n - 2] == '\r')
			cut = 2;
		out.n -= cut;
		out.s[out.n] = '\0';
	}
	if (b.to < text.n)
		strbuf_addn(&out, text.p + b.to, text.n - b.to);
	*ret = out.s;
	*ret_n = out.n;
	*ret_had = b.found;
	return 0;
}

/* -------- difference */

struct lines {
	struct view *v;
	size_t n;
};

/* Lines with their line feeds. */
static struct lines split(struct arena *a, struct view t)
{
	struct lines l = { .n = 0 };

	while (t.n) {
		ptrdiff_t eol = view_chr(t, '\n');
		size_t n = eol < 0 ? t.n : (size_t)eol + 1;

		*ARENA_APPEND(a, l.v, l.n) = (struct view){ .p = t.p, .n = n };
		t = view_skip(t, n);
	}
	return l;
}

static bool same(struct view x, struct view y)
{
	return x.n == y.n && (!x.n || memcmp(x.p, y.p, x.n) == 0);
}

static void put_lines(struct strbuf *out, char sign, const struct lines *l, size_t from, size_t to)
{
	for (; from < to; from++) {
		strbuf_addc(out, sign);
		strbuf_addv(out, l->v[from]);
		if (!view_ends(l->v[from], "\n"))
			strbuf_add(out, "\n\\ No newline at end of file\n");
	}
}

/* "12,3" of a hunk's head; an empty side is counted from the line before. */
static void put_range(struct strbuf *out, char sign, size_t from, size_t n)
{
	strbuf_printf(out, " %c%zu,%zu", sign, n ? from + 1 : from, n);
}

const char *env_diff(struct arena *a, const char *path, struct view from, struct view to)
{
	enum { CONTEXT = 3 };
	struct lines x = split(a, from), y = split(a, to);
	size_t head = 0, tail = 0, start, after;
	struct strbuf out;

	strbuf_init(&out, a);
	if (same(from, to))
		return out.s;
	while (head < x.n && head < y.n && same(x.v[head], y.v[head]))
		head++;
	while (tail < x.n - head && tail < y.n - head &&
	       same(x.v[x.n - 1 - tail], y.v[y.n - 1 - tail]))
		tail++;
	start = head > CONTEXT ? head - CONTEXT : 0;
	after = tail > CONTEXT ? CONTEXT : tail;
	strbuf_printf(&out, "--- %s\n+++ %s\n@@", path, path);
	put_range(&out, '-', start, x.n - tail + after - start);
	put_range(&out, '+', start, y.n - tail + after - start);
	strbuf_add(&out, " @@\n");
	put_lines(&out, ' ', &x, start, head);
	put_lines(&out, '-', &x, head, x.n - tail);
	put_lines(&out, '+', &y, head, y.n - tail);
	put_lines(&out, ' ', &x, x.n - tail, x.n - tail + after);
	return out.s;
}

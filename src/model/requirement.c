/* SPDX-License-Identifier: Apache-2.0 */
/* One requirement: what a line or an operand says. Knows no package. */
#include "model/requirement.h"

#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/utf8.h"

struct parse {
	struct arena *a;
	struct view text;
	size_t at;
	const char *what;
};

static bool fault(struct parse *p, size_t at, const char *what)
{
	p->at = at;
	p->what = what;
	return false;
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool name_mark(char c)
{
	return c == '-' || c == '_' || c == '.';
}

static char peek(const struct parse *p)
{
	return p->at < p->text.n ? p->text.p[p->at] : '\0';
}

static void blanks(struct parse *p)
{
	while (peek(p) == ' ' || peek(p) == '\t')
		p->at++;
}

void requirement_fold(struct view name, char *buf)
{
	size_t i, n = 0;

	for (i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (!name_mark(c))
			buf[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
		else if (i == 0 || !name_mark(name.p[i - 1]))
			buf[n++] = '-';
	}
	buf[n] = '\0';
}

const char *requirement_normal(struct arena *a, struct view name)
{
	char *s = arena_alloc(a, name.n + 1);

	requirement_fold(name, s);
	return s;
}

static bool name(struct parse *p, struct view *ret)
{
	size_t start = p->at;

	while (name_char(peek(p)) || name_mark(peek(p)))
		p->at++;
	if (p->at == start)
		return fault(p, p->at, N_("a package name is missing"));
	if (!name_char(p->text.p[start]))
		return fault(p, start, N_("a package name begins with a letter or a digit"));
	if (!name_char(p->text.p[p->at - 1]))
		return fault(p, p->at - 1, N_("a package name ends with a letter or a digit"));
	*ret = (struct view){ .p = p->text.p + start, .n = p->at - start };
	return true;
}

static bool extras(struct parse *p, const char **ret)
{
	struct strbuf b;
	struct view one;

	strbuf_init(&b, p->a);
	p->at++;
	for (blanks(p); peek(p) != ']'; blanks(p)) {
		if (!name(p, &one))
			return fault(p, p->at, N_("the extras end with \"]\""));
		strbuf_sep(&b, ",");
		strbuf_add(&b, requirement_normal(p->a, one));
		blanks(p);
		if (peek(p) == ',')
			p->at++;
		else if (peek(p) != ']')
			return fault(p, p->at, N_("the extras end with \"]\""));
	}
	p->at++;
	*ret = b.n ? b.s : NULL;
	return true;
}

static bool specifiers(struct parse *p, struct pep440_spec *ret)
{
	struct view rest = view_skip(p->text, p->at), spec;
	ptrdiff_t semicolon = view_chr(rest, ';');
	bool closed = true;
	const char *what;
	size_t at;

	spec = (struct view){ .p = rest.p, .n = semicolon < 0 ? rest.n : (size_t)semicolon };
	p->at += spec.n;
	spec = view_trim(spec);
	if (spec.n && spec.p[0] == '(') {
		closed = spec.p[spec.n - 1] == ')';
		spec = view_trim((struct view){ .p = spec.p + 1, .n = spec.n - (closed ? 2 : 1) });
	}
	if (!closed)
		return fault(p, p->at, N_("a parenthesis is not closed"));
	if (!pep440_spec_parse(p->a, spec, ret, &at, &what))
		return fault(p, (size_t)(spec.p - p->text.p) + at, what);
	return true;
}

static bool looks_like_path(struct view v)
{
	struct view word;

	return view_word(&v, &word) &&
	       (word.p[0] == '.' || word.p[0] == '/' || view_find(word, "://") >= 0);
}

static bool parse(struct parse *p, struct requirement *r)
{
	struct view word;
	bool holds;
	size_t at;

	blanks(p);
	if (looks_like_path(view_skip(p->text, p->at)))
		return fault(p, p->at,
			     N_("files and addresses cannot be planned: name the package"));
	if (!name(p, &word))
		return false;
	r->name = requirement_normal(p->a, word);
	blanks(p);
	if (peek(p) == '[' && !extras(p, &r->extras))
		return false;
	blanks(p);
	if (peek(p) == '@')
		return fault(
			p, p->at,
			N_("an address (NAME @ URL) cannot be planned: give a version instead"));
	if (!specifiers(p, &r->spec))
		return false;
	if (peek(p) != ';')
		return true;
	p->at++;
	blanks(p);
	r->marker = view_trim(view_skip(p->text, p->at));
	if (!marker_eval(p->a, r->marker, NULL, &holds, &at, &p->what))
		return fault(p, p->at + at, p->what);
	return true;
}

bool requirement_parse(struct arena *a, struct view text, struct requirement *ret, size_t *ret_at,
		       const char **ret_what)
{
	struct parse p = { .a = a };
	struct requirement r = *ret;
	size_t bad;

	/* What is kept points into a copy, so that the requirement outlives the text. */
	p.text = view_of(arena_strndup(a, text.p ? text.p : "", text.n));
	if (p.text.n != text.n || !utf8_valid(text, &bad)) {
		*ret_at = p.text.n != text.n ? p.text.n : bad;
		*ret_what = N_("not text");
		return false;
	}
	r.extras = NULL;
	r.marker = (struct view){ .p = NULL };
	if (!parse(&p, &r)) {
		*ret_at = p.at;
		*ret_what = p.what;
		return false;
	}
	r.text = view_dup(a, view_trim(p.text));
	*ret = r;
	return true;
}

int requirement_argument(struct arena *a, const char *text, size_t number, struct requirement *ret,
			 struct err *err)
{
	const char *what;
	size_t at;

	*ret = (struct requirement){ .from = arena_printf(a, _("argument %zu"), number) };
	if (requirement_parse(a, view_of(text), ret, &at, &what))
		return 0;
	return err_set(err, ERR_PARSE, _("%.200s: column %zu: %s"), text, at + 1, _(what));
}

bool requirement_applies(struct arena *a, const struct requirement *r, const struct marker_env *env)
{
	const char *what;
	bool holds;
	size_t at;

	return !r->marker.n || !marker_eval(a, r->marker, env, &holds, &at, &what) || holds;
}

struct view requirement_without_options(struct view line)
{
	size_t i;

	for (i = 0; i + 2 < line.n; i++)
		if ((line.p[i] == ' ' || line.p[i] == '\t') && line.p[i + 1] == '-' &&
		    line.p[i + 2] == '-')
			return view_trim((struct view){ .p = line.p, .n = i });
	return view_trim(line);
}

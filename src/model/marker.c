/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over a marker that checks its syntax and its truth together. Never looks at the machine.
 */
#include "model/marker.h"

#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "model/pep440.h"

enum { MARKER_DEPTH = 24 };

struct marker {
	struct arena *a;
	struct view text;
	size_t at;
	const struct marker_env *env;
	const char *what; /* set at the first fault, which stands at `at` */
	int depth;
};

struct operand {
	struct view value; /* p NULL: a variable that is not known */
	bool variable, ignored;
};

static const struct {
	const char *name;
	size_t offset;
	const char *fixed;
} vars[] = {
	{ .name = "python_version", .offset = offsetof(struct marker_env, python) },
	{ .name = "python_full_version", .offset = offsetof(struct marker_env, python_full) },
	{ .name = "sys_platform", .offset = offsetof(struct marker_env, sys_platform) },
	{ .name = "platform_system", .offset = offsetof(struct marker_env, platform_system) },
	{ .name = "platform_machine", .offset = offsetof(struct marker_env, platform_machine) },
	{ .name = "os_name", .offset = offsetof(struct marker_env, os_name) },
	{ .name = "implementation_name", .fixed = "cpython" },
	{ .name = "platform_python_implementation", .fixed = "CPython" },
	{ .name = "extra", .fixed = "" },
	{ .name = "platform_release" },
	{ .name = "platform_version" },
	{ .name = "implementation_version" },
};

static bool fault(struct marker *m, const char *what)
{
	if (!m->what)
		m->what = what;
	return false;
}

static void blanks(struct marker *m)
{
	while (m->at < m->text.n && (m->text.p[m->at] == ' ' || m->text.p[m->at] == '\t'))
		m->at++;
}

static bool word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

static struct view word(const struct marker *m)
{
	size_t n = m->at;

	while (n < m->text.n && word_char(m->text.p[n]))
		n++;
	return (struct view){ .p = m->text.p + m->at, .n = n - m->at };
}

static bool take_word(struct marker *m, const char *w)
{
	blanks(m);
	if (!view_is(word(m), w))
		return false;
	m->at += strlen(w);
	return true;
}

static bool take(struct marker *m, const char *token)
{
	blanks(m);
	if (!view_starts(view_skip(m->text, m->at), token))
		return false;
	m->at += strlen(token);
	return true;
}

static bool literal(struct marker *m, char quote, struct operand *ret)
{
	struct view rest = view_skip(m->text, m->at + 1);
	ptrdiff_t end = view_chr(rest, quote);

	if (end < 0)
		return fault(m, N_("a quote is not closed"));
	ret->value = (struct view){ .p = rest.p, .n = (size_t)end };
	m->at += (size_t)end + 2;
	return true;
}

static bool operand(struct marker *m, struct operand *ret)
{
	const unsigned char *env = (const unsigned char *)m->env;
	const char *value = NULL;
	struct view w;
	size_t i;

	*ret = (struct operand){ .variable = false };
	blanks(m);
	if (m->at < m->text.n && (m->text.p[m->at] == '\'' || m->text.p[m->at] == '"'))
		return literal(m, m->text.p[m->at], ret);
	w = word(m);
	for (i = 0; i < ARRAY_LEN(vars); i++)
		if (view_is(w, vars[i].name))
			break;
	if (i == ARRAY_LEN(vars))
		return fault(m, w.n ? N_("not a marker's variable")
				    : N_("a variable or a quoted text is missing"));
	m->at += w.n;
	if (m->env && m->env->extra && view_is(w, "extra"))
		value = m->env->extra;
	else if (vars[i].fixed)
		value = vars[i].fixed;
	else if (env && i < 6)
		value = *(const char *const *)(const void *)(env + vars[i].offset);
	*ret = (struct operand){ .variable = true, .ignored = !value };
	if (value)
		ret->value = view_of(value);
	return true;
}

static bool compare_text(struct view a, const char *op, struct view b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int r = n ? memcmp(a.p, b.p, n) : 0;

	r = r ? r : (a.n > b.n) - (a.n < b.n);
	if (strcmp(op, "==") == 0 || strcmp(op, "===") == 0)
		return r == 0;
	if (strcmp(op, "!=") == 0)
		return r != 0;
	if (strcmp(op, "<") == 0)
		return r < 0;
	if (strcmp(op, ">") == 0)
		return r > 0;
	return strcmp(op, "<=") == 0 ? r <= 0 : r >= 0;
}

/* By version where both sides allow it, else as text. */
static bool compare(struct marker *m, const struct operand *l, const char *op,
		    const struct operand *r)
{
	const char *spec, *what;
	struct pep440_spec s;
	struct pep440 v;
	size_t at;

	if (l->ignored || r->ignored)
		return true;
	spec = arena_printf(m->a, "%s%.*s", op, (int)(r->value.n > 256 ? 256 : r->value.n),
			    r->value.p);
	if (strchr(spec, ',') == NULL && pep440_parse(l->value, &v) &&
	    pep440_spec_parse(m->a, view_of(spec), &s, &at, &what) && s.n == 1)
		return pep440_clause_holds(&s.clauses[0], &v, l->value);
	return compare_text(l->value, op, r->value);
}

static bool contains(const struct operand *l, const struct operand *r, struct arena *a)
{
	if (l->ignored || r->ignored)
		return true;
	return view_find(r->value, view_dup(a, l->value)) >= 0;
}

static bool comparison(struct marker *m, bool *ret)
{
	static const char *const ops[] = { "===", "==", "!=", "<=", ">=", "~=", "<", ">" };
	struct operand l, r;
	bool negated = false;
	size_t i;

	if (!operand(m, &l))
		return false;
	if (take_word(m, "not"))
		negated = true;
	if (negated || take_word(m, "in")) {
		if (negated && !take_word(m, "in"))
			return fault(m, N_("\"in\" is missing after \"not\""));
		if (!operand(m, &r))
			return false;
		*ret = l.ignored || r.ignored || contains(&l, &r, m->a) != negated;
		return true;
	}
	for (i = 0; i < ARRAY_LEN(ops); i++)
		if (take(m, ops[i]))
			break;
	if (i == ARRAY_LEN(ops))
		return fault(m, N_("an operator is missing (== != <= >= < > ~= === in, not in)"));
	if (!operand(m, &r))
		return false;
	*ret = compare(m, &l, ops[i], &r);
	return true;
}

static bool any_of(struct marker *m, bool *ret);

static bool one_of(struct marker *m, bool *ret)
{
	bool ok;

	if (!take(m, "("))
		return comparison(m, ret);
	if (m->depth == MARKER_DEPTH)
		return fault(m, N_("too many parentheses"));
	m->depth++;
	ok = any_of(m, ret);
	m->depth--;
	return ok && (take(m, ")") || fault(m, N_("a parenthesis is not closed")));
}

static bool all_of(struct marker *m, bool *ret)
{
	bool next;

	if (!one_of(m, ret))
		return false;
	while (take_word(m, "and")) {
		if (!one_of(m, &next))
			return false;
		*ret = *ret && next;
	}
	return true;
}

static bool any_of(struct marker *m, bool *ret)
{
	bool next;

	if (!all_of(m, ret))
		return false;
	while (take_word(m, "or")) {
		if (!all_of(m, &next))
			return false;
		*ret = *ret || next;
	}
	return true;
}

bool marker_eval(struct arena *a, struct view text, const struct marker_env *env, bool *ret_holds,
		 size_t *ret_at, const char **ret_what)
{
	struct marker m = { .a = a, .text = text, .env = env };
	bool holds = true, ok = any_of(&m, &holds);

	blanks(&m);
	if (ok && m.at < text.n)
		ok = fault(&m, N_("the marker should end here"));
	if (!ok) {
		*ret_at = m.at;
		*ret_what = m.what;
		return false;
	}
	*ret_holds = holds;
	return true;
}

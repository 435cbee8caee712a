/* SPDX-License-Identifier: Apache-2.0 */
/* Specifiers of Python versions: clauses, and whether a version satisfies them. */
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "model/pep440.h"

/* Longest first, so that "===" is not read as "==". */
static const struct {
	const char *text;
	enum pep440_op op;
} ops[] = {
	{ .text = "===", .op = PEP440_ARBITRARY }, { .text = "==", .op = PEP440_EQ },
	{ .text = "!=", .op = PEP440_NE },	   { .text = "<=", .op = PEP440_LE },
	{ .text = ">=", .op = PEP440_GE },	   { .text = "~=", .op = PEP440_COMPATIBLE },
	{ .text = "<", .op = PEP440_LT },	   { .text = ">", .op = PEP440_GT },
};

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool visible(struct view v)
{
	size_t i;

	for (i = 0; i < v.n; i++)
		if (v.p[i] <= ' ' || v.p[i] == 0x7f)
			return false;
	return v.n > 0;
}

static const char *check_clause(struct pep440_clause *c)
{
	if (c->op == PEP440_ARBITRARY)
		return visible(c->raw) ? NULL : N_("a version is missing");
	if (!c->raw.n)
		return N_("a version is missing");
	if (view_ends(c->raw, ".*")) {
		if (c->op != PEP440_EQ && c->op != PEP440_NE)
			return N_("\".*\" goes with == and != only");
		c->wild = true;
	}
	if (!pep440_parse((struct view){ .p = c->raw.p, .n = c->raw.n - (c->wild ? 2 : 0) },
			  &c->version))
		return N_("not a version");
	if (c->wild && (c->version.has_dev || c->version.local.n))
		return N_("\".*\" cannot follow a development release or a local version");
	if (c->version.local.n && c->op != PEP440_EQ && c->op != PEP440_NE)
		return N_("a local version (+...) goes with == and != only");
	if (c->op == PEP440_COMPATIBLE && c->version.n < 2)
		return N_("~= needs a version of two parts or more");
	return NULL;
}

static const char *parse_clause(struct view text, struct pep440_clause *ret, size_t *ret_at)
{
	struct pep440_clause c = { .text = text };
	size_t i, n;

	*ret_at = 0;
	for (i = 0; i < ARRAY_LEN(ops); i++)
		if (view_starts(text, ops[i].text))
			break;
	if (i == ARRAY_LEN(ops))
		return N_("an operator is missing (== != <= >= < > ~= ===)");
	n = strlen(ops[i].text);
	while (n < text.n && blank(text.p[n]))
		n++;
	*ret_at = n;
	c.op = ops[i].op;
	c.raw = view_skip(text, n);
	*ret = c;
	return check_clause(ret);
}

bool pep440_spec_parse(struct arena *a, struct view text, struct pep440_spec *ret, size_t *ret_at,
		       const char **ret_what)
{
	struct pep440_spec s = { .n = 0 };
	struct view rest = text, one;
	struct pep440_clause c;
	size_t inside;

	while (rest.n) {
		one = view_trim(view_cut(rest, ',', &rest));
		if (!one.n)
			continue;
		*ret_what = parse_clause(one, &c, &inside);
		if (*ret_what) {
			*ret_at = (size_t)(one.p - text.p) + inside;
			return false;
		}
		*ARENA_APPEND(a, s.clauses, s.n) = c;
	}
	*ret = s;
	return true;
}

static struct pep440 public_of(const struct pep440 *v)
{
	struct pep440 p = *v;

	p.local = (struct view){ .p = NULL };
	return p;
}

static int cmp_release(const struct pep440 *a, const struct pep440 *b)
{
	struct pep440 x = { .epoch = a->epoch, .n = a->n }, y = { .epoch = b->epoch, .n = b->n };

	memcpy(x.part, a->part, sizeof(x.part));
	memcpy(y.part, b->part, sizeof(y.part));
	return pep440_cmp(&x, &y);
}

/* Do the first parts, those that the prefix has written, agree? Missing parts of the version count
 * as 0. */
static bool has_prefix(const struct pep440 *v, const struct pep440 *prefix, unsigned n)
{
	unsigned i;

	if (v->epoch != prefix->epoch)
		return false;
	for (i = 0; i < n; i++)
		if (v->part[i] != prefix->part[i])
			return false;
	if (!prefix->pre && !prefix->has_post)
		return true;
	/* "1.0a1.*": the release is over, so it has to be the whole of it. */
	if (cmp_release(v, prefix) != 0 || v->pre != prefix->pre || v->pre_n != prefix->pre_n)
		return false;
	return !prefix->has_post || (v->has_post && v->post_n == prefix->post_n);
}

static bool equal(const struct pep440_clause *c, const struct pep440 *v)
{
	struct pep440 p = public_of(v);

	if (c->wild)
		return has_prefix(&p, &c->version, c->version.n);
	/* A candidate's local part counts only when the clause has one. */
	return pep440_cmp(c->version.local.n ? v : &p, &c->version) == 0;
}

static bool less(const struct pep440 *v, const struct pep440 *than)
{
	if (pep440_cmp(v, than) >= 0)
		return false;
	/* <2.0 does not let in 2.0rc1 */
	return pep440_is_pre(than) || !pep440_is_pre(v) || cmp_release(v, than) != 0;
}

static bool greater(const struct pep440 *v, const struct pep440 *than)
{
	if (pep440_cmp(v, than) <= 0)
		return false;
	/* >1.7 lets in neither 1.7.post1 nor 1.7+local */
	if (!than->has_post && v->has_post && cmp_release(v, than) == 0)
		return false;
	return !v->local.n || cmp_release(v, than) != 0;
}

static bool compatible(const struct pep440 *v, const struct pep440 *with)
{
	struct pep440 p = public_of(v), prefix = { .epoch = with->epoch };

	memcpy(prefix.part, with->part, sizeof(prefix.part));
	return pep440_cmp(&p, with) >= 0 && has_prefix(&p, &prefix, with->n - 1);
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_text(struct view a, struct view b)
{
	size_t i;

	if (a.n != b.n)
		return false;
	for (i = 0; i < a.n; i++)
		if (lower(a.p[i]) != lower(b.p[i]))
			return false;
	return true;
}

bool pep440_clause_holds(const struct pep440_clause *c, const struct pep440 *v, struct view raw)
{
	struct pep440 p = public_of(v);

	switch (c->op) {
	case PEP440_EQ:
		return equal(c, v);
	case PEP440_NE:
		return !equal(c, v);
	case PEP440_LE:
		return pep440_cmp(&p, &c->version) <= 0;
	case PEP440_GE:
		return pep440_cmp(&p, &c->version) >= 0;
	case PEP440_LT:
		return less(v, &c->version);
	case PEP440_GT:
		return greater(v, &c->version);
	case PEP440_COMPATIBLE:
		return compatible(v, &c->version);
	case PEP440_ARBITRARY:
		return same_text(raw, c->raw);
	}
	return false;
}

bool pep440_spec_wants_pre(const struct pep440_spec *s)
{
	struct pep440 v;
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct pep440_clause *c = &s->clauses[i];

		if (c->op == PEP440_ARBITRARY) {
			if (pep440_parse(c->raw, &v) && pep440_is_pre(&v))
				return true;
		} else if (c->op != PEP440_NE && pep440_is_pre(&c->version)) {
			return true;
		}
	}
	return false;
}

bool pep440_spec_holds(const struct pep440_spec *s, const struct pep440 *v, struct view raw)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (!pep440_clause_holds(&s->clauses[i], v, raw))
			return false;
	return !pep440_is_pre(v) || pep440_spec_wants_pre(s);
}

bool pep440_text_holds(struct arena *a, const char *spec, const char *version)
{
	struct pep440_spec s;
	struct pep440 v;
	const char *what;
	size_t at;

	return spec && version && pep440_spec_parse(a, view_of(spec), &s, &at, &what) &&
	       pep440_parse(view_of(version), &v) && pep440_spec_holds(&s, &v, view_of(version));
}

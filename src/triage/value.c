/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of values; what a text says first wins. Knows no fact by its name. */
#include "triage/value.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "triage/sign.h"

bool value_is_version(struct view v)
{
	size_t i;

	if (!v.n || v.n > 60 || !isdigit((unsigned char)v.p[0]))
		return false;
	for (i = 0; i < v.n; i++)
		if (!isalnum((unsigned char)v.p[i]) && !strchr(".+-_~:!", v.p[i]))
			return false;
	return true;
}

struct view value_bare(struct view v)
{
	v = view_trim(v);
	while (v.n && strchr("'\"`([|,;:=", v.p[0]))
		v = view_trim(view_skip(v, 1));
	while (v.n && strchr("'\"`)]|,;:.", v.p[v.n - 1]) &&
	       !(v.p[v.n - 1] == ')' && view_chr(v, '(') > 0))
		v = view_trim((struct view){ v.p, v.n - 1 });
	return v;
}

bool value_same(const char *old, struct view v)
{
	size_t n = strlen(old), k = n < v.n ? n : v.n;

	if (strncasecmp(old, v.p, k) != 0)
		return false;
	return n == v.n || !isalnum((unsigned char)(n < v.n ? v.p[k] : old[k]));
}

bool value_wanted(const struct paste *p, size_t line, enum scope scope)
{
	if (p->filling)
		return scope == SCOPE_MACHINE;
	return scope == SCOPE_ENV || !paste_foreign(p, line, scope);
}

void value_differs(struct paste *p, const char *name, struct view v, size_t line)
{
	sign_add(p, arena_printf(p->a, "differs:%s", name), line, v);
}

void value_set(struct paste *p, struct fact *f, const char *name, struct view v, size_t line)
{
	if (fact_known(f)) {
		if (p->filling)
			return;
		if (!value_same(f->value, v))
			value_differs(p, name, v, line);
		/* The longer form of the same version says more. */
		else if (v.n > strlen(f->value))
			fact_set(f, view_dup(p->a, v), paste_source(p, line));
		return;
	}
	fact_set(f, view_dup(p->a, v), paste_source(p, line));
}

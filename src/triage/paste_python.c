/* SPDX-License-Identifier: Apache-2.0 */
/* What lines say of a Python environment: which one, its PyTorch, its packages. */
#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "triage/sign.h"
#include "triage/value.h"

enum { PACKAGES_MAX = 4000 };

static struct python *first_python(struct paste *p)
{
	struct python *py;

	if (p->s->n_pythons)
		return &p->s->pythons[0];
	py = ARENA_APPEND(p->a, p->s->pythons, p->s->n_pythons);
	fact_set(&py->prefix, _("the pasted environment"), "pasted");
	fact_set(&py->active, "yes", "pasted");
	return py;
}

struct python *paste_python(struct paste *p, size_t line)
{
	struct python *py = first_python(p);
	size_t owner;

	if (!paste_foreign(p, line, SCOPE_ENV))
		return py;
	owner = p->t.lines[line].owner;
	if (p->python_of[owner])
		return &p->s->pythons[p->python_of[owner] - 1];
	py = ARENA_APPEND(p->a, p->s->pythons, p->s->n_pythons);
	p->python_of[owner] = p->s->n_pythons;
	fact_set(&py->prefix, p->owners.v[owner].label, "pasted");
	fact_set(&py->active, "no", "pasted");
	return py;
}

void value_torch(struct paste *p, struct view v, size_t line)
{
	struct torch *t = &paste_python(p, line)->torch;
	ptrdiff_t plus;

	if (fact_known(&t->version) && !value_same(t->version.value, v)) {
		value_differs(p, "torch.version", v, line);
		/* The one that runs is the one that printed itself last with a build tag. */
		return;
	}
	value_set(p, &t->version, "torch.version", v, line);
	plus = view_chr(v, '+');
	if (plus < 0)
		return;
	v = view_skip(v, (size_t)plus + 1);
	if (!fact_known(&t->variant) && v.n < 24)
		fact_set(&t->variant, view_dup(p->a, v), paste_source(p, line));
	if (view_starts(v, "cpu"))
		fact_absent(&t->cuda, paste_source(p, line));
	else if (view_starts(v, "cu") && v.n >= 4 && v.n <= 6 && isdigit((unsigned char)v.p[2]) &&
		 !fact_known(&t->cuda))
		fact_set(&t->cuda,
			 arena_printf(p->a, "%.*s.%c", (int)(v.n - 3), v.p + 2, v.p[v.n - 1]),
			 paste_source(p, line));
}

void value_torch_cuda(struct paste *p, struct view v, size_t line)
{
	struct torch *t = &paste_python(p, line)->torch;

	/* collect_env says "N/A" where PyTorch could not even be imported. */
	if (view_is(v, "N/A"))
		return;
	if (view_is_nocase(v, "none") || view_starts(v, "Could not")) {
		if (t->cuda.state == FACT_NOT_ASKED)
			fact_absent(&t->cuda, paste_source(p, line));
		sign_add(p, "torch-cuda-none", line, v);
		return;
	}
	if (!value_is_version(v))
		return;
	value_set(p, &t->cuda, "torch.cuda", v, line);
}

void value_torch_archs(struct paste *p, struct view v, size_t line)
{
	struct torch *t = &paste_python(p, line)->torch;
	const char **list = NULL;
	struct view w;
	size_t n = 0;

	if (t->arch_list.state == FACT_KNOWN)
		return;
	while (view_word(&v, &w) && n < 64) {
		w = value_bare(w);
		if (view_starts(w, "sm_") || view_starts(w, "compute_"))
			*ARENA_APPEND(p->a, list, n) = view_dup(p->a, w);
	}
	if (n)
		fact_list_set(&t->arch_list, list, n, paste_source(p, line));
}

static char *normal(struct arena *a, struct view name)
{
	char *s = view_dup(a, name);
	size_t i;

	for (i = 0; s[i]; i++)
		s[i] = s[i] == '_' || s[i] == '.' ? '-' : (char)tolower((unsigned char)s[i]);
	return s;
}

void paste_package(struct paste *p, struct view name, struct view version, size_t line)
{
	struct python *py = paste_python(p, line);
	struct package *k;
	char *s;
	size_t i;

	version = value_bare(version);
	if (!name.n || name.n > 100 || !value_is_version(version) || p->filling)
		return;
	s = normal(p->a, name);
	if (strcmp(s, "torch") == 0 || strcmp(s, "pytorch") == 0) {
		value_torch(p, version, line);
		s = arena_strdup(p->a, "torch");
	}
	if (strcmp(s, "torchvision") == 0)
		value_set(p, &py->torch.torchvision, "torchvision", version, line);
	if (strcmp(s, "torchaudio") == 0)
		value_set(p, &py->torch.torchaudio, "torchaudio", version, line);
	for (i = 0; i < py->n_packages; i++)
		if (strcmp(py->packages[i].name.value, s) == 0) {
			if (!value_same(fact_value(&py->packages[i].version, ""), version))
				value_differs(p, arena_printf(p->a, "package.%s", s), version,
					      line);
			return;
		}
	if (py->n_packages >= PACKAGES_MAX)
		return;
	k = ARENA_APPEND(p->a, py->packages, py->n_packages);
	fact_set(&k->name, s, paste_source(p, line));
	fact_set(&k->version, view_dup(p->a, version), paste_source(p, line));
}

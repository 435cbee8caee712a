/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the remedies of a pasted text's root cause: functions that compute them, then rows. */
#include "rule/mend.h"

#include <string.h>

#include "base/arena.h"
#include "base/version.h"
#include "rule/distro.h"
#include "rule/look.h"

enum { MEND_ROOT = 1, MEND_BOOT = 2, MEND_MORE = 4, MEND_DESTROYS = 8 };

struct mend {
	enum finding_id id;
	const char *terms; /* "" always */
	unsigned flags;
	const char *text, *commands;
};

static const struct mend rows[] = {
#define M(id_, terms_, flags_, text_, commands_) \
	{ .id = FINDING_##id_,                   \
	  .terms = (terms_),                     \
	  .flags = (flags_),                     \
	  .text = (text_),                       \
	  .commands = (commands_) },
#include "rule/mend_system.def"
#include "rule/mend_container.def"
#include "rule/mend_python.def"
#undef M
};

static void put(struct triage *t, struct finding *f, const struct mend *m)
{
	struct remedy *r = finding_remedy(t->j, f, "%s", _(m->text));
	struct view rest = view_of(m->commands), line;

	while (view_line(&rest, &line))
		remedy_command(t->j, r, "%.*s", (int)line.n, line.p);
	r->needs_root = (m->flags & MEND_ROOT) != 0;
	r->needs_reboot = (m->flags & MEND_BOOT) != 0;
	if (m->flags & MEND_DESTROYS)
		r->risk = RISK_DESTROYS;
	else if (!r->n_commands)
		r->risk = RISK_SAFE;
}

static void by_rows(struct triage *t, struct finding *f)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].id != f->id || !triage_holds(t, rows[i].terms, NULL))
			continue;
		put(t, f, &rows[i]);
		if (!(rows[i].flags & MEND_MORE))
			return;
	}
}

void triage_mend(struct triage *t, struct finding *root)
{
	static bool (*const list[])(struct triage *, struct finding *) = {
		mend_driver, mend_module, mend_library, mend_packages, mend_toolkit, mend_add_on,
	};
	size_t i;

	if (root->id == FINDING_INSUFFICIENT_EVIDENCE)
		return;
	/* What a rule would ask for decides nothing any more. */
	t->j->n_asks = 0;
	if (root->n_remedies)
		return;
	for (i = 0; i < ARRAY_LEN(list); i++)
		if (list[i](t, root))
			return;
	by_rows(t, root);
}

const char *mend_family(const struct triage *t)
{
	static const char *const names[] = {
		[FAMILY_OTHER] = NULL,	       [FAMILY_UBUNTU] = "on-ubuntu",
		[FAMILY_DEBIAN] = "on-debian", [FAMILY_RHEL] = "on-rhel",
		[FAMILY_FEDORA] = "on-fedora", [FAMILY_SUSE] = "on-suse",
		[FAMILY_ARCH] = "on-arch",     [FAMILY_NIXOS] = "on-nixos",
	};

	return names[distro_family(t->j->s)];
}

/* -------- what the functions share */

const char *mend_piece(struct triage *t, const char *atom, const char *start, const char *set)
{
	size_t i, n, k;

	for (i = 0; i < t->n_atoms; i++) {
		const struct sign *g = t->atoms[i].sign;
		const char *at;

		if (!g || (atom && strcmp(t->atoms[i].name, atom) != 0))
			continue;
		for (at = strstr(fact_value(&g->text, ""), start); at; at = strstr(at + 1, start)) {
			k = strlen(start);
			n = strspn(at + k, set);
			while (n && strchr(".,:;-/", at[k + n - 1]))
				n--;
			if (n)
				return arena_strndup(t->j->a, at, k + n);
		}
	}
	return NULL;
}

const char *mend_minor(struct triage *t, const char *version)
{
	struct version v;

	if (!version || !version_prefix(view_of(version), &v) || v.n < 2)
		return NULL;
	return arena_printf(t->j->a, "%u.%u", v.part[0], v.part[1]);
}

const char *mend_torch_cuda(struct triage *t)
{
	const struct snapshot *s = t->j->s;

	return s->n_pythons ? mend_minor(t, look_torch_cuda(t->j, &s->pythons[0].torch)) : NULL;
}

const char *mend_add_on_name(struct triage *t)
{
	const char *name = triage_value(t, "word-add-on");
	char *copy = name ? arena_strndup(t->j->a, name, strlen(name)) : NULL, *p;

	for (p = copy; p && *p; p++)
		if (*p == '_')
			*p = '-';
	return copy;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences that text and Markdown share. */
#include <string.h>

#include "base/arena.h"
#include "report/formats.h"

const char *remedy_note(struct arena *a, const struct remedy *r)
{
	struct strbuf b;

	strbuf_init(&b, a);
	if (r->needs_root)
		strbuf_add(&b, _("needs root"));
	if (r->needs_reboot) {
		strbuf_sep(&b, ", ");
		strbuf_add(&b, _("reboot afterwards"));
	}
	if (r->risk == RISK_DESTROYS) {
		strbuf_sep(&b, ", ");
		strbuf_add(&b, _("destroys data"));
	}
	return b.s;
}

const char *source_words(struct arena *a, const char *source)
{
	static const char word[] = " line ";
	struct view v = view_of(source), rest;
	ptrdiff_t at = -1, next;
	size_t digits;

	/* The last one: a file's name may hold the word. */
	for (rest = v; (next = view_find(rest, word)) >= 0; rest = view_skip(v, (size_t)at + 1))
		at = (rest.p - v.p) + next;
	if (at <= 0)
		return source;
	rest = view_skip(v, (size_t)at + sizeof(word) - 1);
	digits = strspn(rest.p, "0123456789");
	if (!digits || (digits < rest.n && !view_starts(view_skip(rest, digits), " (")))
		return source;
	v.n = (size_t)at;
	if (view_is(v, "pasted"))
		return arena_printf(a, _("pasted line %.*s%s"), (int)digits, rest.p,
				    rest.p + digits);
	return arena_printf(a, _("%.*s line %.*s%s"), (int)v.n, v.p, (int)digits, rest.p,
			    rest.p + digits);
}

const char *verdict_sentence(const struct report *rep)
{
	switch (rep->r->verdict) {
	case VERDICT_STACK_OK:
		return rep->r->n_skipped ? _("Nothing wrong was found in what could be judged.") :
					   _("Nothing wrong was found.");
	case VERDICT_DEGRADED:
		return _("It runs; the warnings below will bite when what they name is used.");
	case VERDICT_UNDETERMINED:
		return _("What is known does not decide.");
	case VERDICT_BLOCKED:
		break;
	}
	return _("It will not run as it is.");
}

static bool has_word(const char *const *list, size_t n, const char *word)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(list[i], word) == 0)
			return true;
	return false;
}

static const char *joined(struct arena *a, const char *const *list, size_t n)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, a);
	for (i = 0; i < n; i++) {
		strbuf_sep(&b, ", ");
		strbuf_add(&b, list[i]);
	}
	return b.s;
}

/* Skips that speak of the files themselves: doubts, and findings that a line leaves out. */
static struct results of_files(struct arena *a, const struct results *r)
{
	struct results own = { .n_skipped = 0 };
	size_t i;

	for (i = 0; i < r->n_skipped; i++)
		if (!*r->skipped[i].rule || strncmp(r->skipped[i].rule, "project-", 8) == 0)
			*ARENA_APPEND(a, own.skipped, own.n_skipped) = r->skipped[i];
	return own;
}

struct skip_group *skip_groups(struct arena *a, const struct report *rep, size_t *ret_n)
{
	struct skip_group *out = NULL, *g;
	const struct results *r = rep->r;
	const char **needs, **rules;
	size_t n = 0, i, k, n_needs, n_rules;
	struct results own;

	if (fact_is(&rep->s->source, "project")) {
		own = of_files(a, r);
		if (own.n_skipped < r->n_skipped)
			*ARENA_APPEND(a, out, n) = (struct skip_group){
				.needs = _("the machine"),
				.why = _("only what the files would install there was judged"),
			};
		r = &own;
	}
	for (i = 0; i < r->n_skipped; i++) {
		for (k = 0; k < n; k++)
			if (strcmp(out[k].why, r->skipped[i].why) == 0 && out[k].rules)
				break;
		if (k < n)
			continue;
		needs = rules = NULL;
		n_needs = n_rules = 0;
		for (k = i; k < r->n_skipped; k++) {
			if (strcmp(r->skipped[k].why, r->skipped[i].why) != 0)
				continue;
			if (!has_word(needs, n_needs, r->skipped[k].needs))
				*ARENA_APPEND(a, needs, n_needs) = r->skipped[k].needs;
			if (!has_word(rules, n_rules, r->skipped[k].rule))
				*ARENA_APPEND(a, rules, n_rules) = r->skipped[k].rule;
		}
		g = ARENA_APPEND(a, out, n);
		*g = (struct skip_group){ .needs = joined(a, needs, n_needs),
					  .why = r->skipped[i].why,
					  .rules = joined(a, rules, n_rules) };
	}
	*ret_n = n;
	return out;
}

bool bites_next(const struct results *r, const struct finding *f)
{
	return r->root && f != r->root && f->severity == SEVERITY_WARNING &&
	       !(f->has_cause && (f->cause == r->root->id ||
				  finding_explains(r->root->id, f->id)));
}

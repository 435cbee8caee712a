/* SPDX-License-Identifier: Apache-2.0 */
/* The steps from lines to a snapshot: extractors line by line, then the signatures. */
#include "triage/triage.h"

#include "base/arena.h"
#include "triage/fragments.h"
#include "triage/paste.h"
#include "triage/prose.h"
#include "triage/sign.h"

static void extract(struct paste *p, size_t i)
{
	size_t k;

	for (k = 0; p->t.lines[i].s.n && extractors[k]; k++)
		extractors[k]->line(p, i);
}

/* What an earlier time says of the machine holds where the judged one says nothing. */
static bool fills(const struct paste *p, size_t i)
{
	return paste_foreign(p, i, SCOPE_MACHINE) &&
	       !owner_other_machine(&p->owners, p->t.lines[i].owner);
}

static size_t next_line(const struct text *t, size_t i)
{
	i++;
	return i == FACT_LINES_HEAD && t->n > FACT_LINES_HEAD + FACT_LINES_TAIL
		       ? t->n - FACT_LINES_TAIL
		       : i;
}

int triage_snapshot(struct arena *a, struct compat *c, const struct text *t, struct snapshot *ret,
		    struct err *err)
{
	struct paste *p = arena_alloc(a, sizeof(*p));
	size_t i;
	int r;

	*p = (struct paste){ .a = a, .c = c, .t = *t, .s = ret };
	*ret = (struct snapshot){ .n_gpus = 0 };
	fact_set(&ret->source, "pasted", "pasted");
	owners_find(a, &p->t, &p->owners);
	fragments_read(p);
	for (i = 0; i < t->n; i = next_line(t, i))
		extract(p, i);
	p->filling = true;
	for (i = 0; i < t->n && p->owners.judged; i = next_line(t, i))
		if (fills(p, i))
			extract(p, i);
	p->filling = false;
	r = sign_scan(p, err);
	if (!r) {
		prose_take(p);
		distro_take(p);
		fragments_fill(p);
		complaint_take(p);
	}
	if (!r && p->packages_seen >= 4)
		fact_flag(&ret->parts.python, true, "pasted");
	return r;
}

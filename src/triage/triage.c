/* SPDX-License-Identifier: Apache-2.0 */
/* The steps from lines to a snapshot: extractors line by line, then the signatures. */
#include "triage/triage.h"

#include "base/arena.h"
#include "triage/paste.h"
#include "triage/sign.h"

/* Facts are looked for in the first and the last lines of a huge log, signs in all of it. */
enum { HEAD_LINES = 20000, TAIL_LINES = 4000 };

int triage_snapshot(struct arena *a, struct compat *c, const struct text *t, struct snapshot *ret,
		    struct err *err)
{
	struct paste p = { .a = a, .c = c, .t = *t, .s = ret };
	size_t i, k;
	int r;

	*ret = (struct snapshot){ .n_gpus = 0 };
	fact_set(&ret->source, "pasted", "pasted");
	for (i = 0; i < t->n; i++) {
		if (i == HEAD_LINES && t->n > HEAD_LINES + TAIL_LINES)
			i = t->n - TAIL_LINES;
		for (k = 0; t->lines[i].s.n && extractors[k]; k++)
			extractors[k]->line(&p, i);
	}
	r = sign_scan(&p, err);
	if (!r && p.packages_seen >= 4)
		fact_flag(&ret->parts.python, true, "pasted");
	return r;
}

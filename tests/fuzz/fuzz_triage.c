/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes through the extractors and the signatures, then through the rules: the first byte picks
 * one extractor, or all of them and the whole pipeline.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rule/rule.h"
#include "triage/paste.h"
#include "triage/triage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one_extractor(struct arena *a, struct compat *c, const struct text *t, size_t pick)
{
	struct snapshot s = { 0 };
	struct paste p = { .a = a, .c = c, .t = *t, .s = &s };
	size_t i, n = 0;

	while (extractors[n])
		n++;
	for (i = 0; i < t->n; i++)
		if (t->lines[i].s.n)
			extractors[pick % n]->line(&p, i);
}

/* Once for many inputs, as --each does; what look-ups leave on its arena goes now and then. */
static struct compat *matrix(void)
{
	enum { INPUTS = 2000 };
	static struct arena *a;
	static struct compat *c;
	static unsigned n;

	if (a && n++ < INPUTS)
		return c;
	if (a)
		arena_free(a);
	a = arena_new(NULL);
	n = 0;
	if (compat_open(a, NULL, &c, NULL))
		abort();
	return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct judge_options jo = { .triage = true };
	struct arena *a;
	struct compat *c = matrix();
	struct text t = { 0 };
	struct snapshot s;
	struct results r = { 0 };

	if (!size)
		return 0;
	a = arena_new(NULL);
	text_add(a, &t, NULL,
		 (struct view){ arena_strndup(a, (const char *)data + 1, size - 1), size - 1 });
	if (data[0] < 0x20) {
		one_extractor(a, c, &t, data[0]);
	} else {
		if (triage_snapshot(a, c, &t, &s, NULL))
			abort();
		judge_run(a, &s, c, &jo, &r);
		/* Always an answer: a root, or what to ask for. */
		if (!r.root || (r.verdict == VERDICT_UNDETERMINED && !r.n_asks))
			abort();
	}
	arena_free(a);
	return 0;
}

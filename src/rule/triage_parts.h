/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the three parts of triage's weighing, for them alone: what holds (triage_atoms.c), which
 * causes that speaks for (triage.c), which of them is the root (triage_weigh.c).
 */
#ifndef RULE_TRIAGE_PARTS_H
#define RULE_TRIAGE_PARTS_H

#include "rule/triage.h"

struct json;

/* Fills t->atoms, t->points and t->against from the snapshot's signs and facts. */
void triage_atoms(struct triage *t);
/* The row of "signatures" with this id; NULL for the sign of an extractor. */
const struct json *triage_row(const struct triage *t, const char *id);
/* Do the terms hold that the row wants beside it ("with"), before it may name a cause alone? */
bool triage_row_decides(struct triage *t, const struct json *row);
/* Is it of an environment that is shown beside the one which fails? */
bool triage_of_another(const struct snapshot *s, const struct finding *f);
/*
 * Settles weights and severities and returns the root; insufficient-evidence is added when there is
 * none. The first n_ordinary findings are those of the ordinary rules over facts.
 */
struct finding *triage_weigh(struct triage *t, size_t n_ordinary);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a text says without claiming it: others' errors ("the README says you get ..."), what might
 * happen ("what if I get ...?"), words that were read somewhere. Looks at words alone; what they
 * are about is others' to find.
 */
#ifndef TRIAGE_HEARSAY_H
#define TRIAGE_HEARSAY_H

#include "triage/paste.h"

/*
 * Is what stands at `at`, a place in the line, only told of or asked about?  The words that make it
 * so stand before it in its sentence, and none behind them turns to the writer's own ("but I get").
 */
bool hearsay(struct paste *p, size_t line, const char *at);

/* Is what stands at `at` what was installed to mend it ("solved by torch 2.1.2")? */
bool told_of_cure(struct paste *p, size_t line, const char *at);

#endif

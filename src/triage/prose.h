/* SPDX-License-Identifier: Apache-2.0 */
/* Facts that people say in sentences. */
#ifndef TRIAGE_PROSE_H
#define TRIAGE_PROSE_H

#include "triage/paste.h"

/* Takes them where no other part of the text said the same; after extractors and signatures. */
void prose_take(struct paste *p);
/* The distribution, where nothing has said it yet. */
void distro_take(struct paste *p);
/*
 * The sign "complaint", where any line complains of anything, and "plain-question", where somebody
 * asks about what is shown and nothing is said to fail; for rules that call a text healthy.
 */
void complaint_take(struct paste *p);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* From the findings of all rules to one answer: severities, consequences, root cause, verdict. */
#ifndef RULE_SETTLE_H
#define RULE_SETTLE_H

#include "rule/rule.h"

/*
 * Fills *ret from the finished judge. `judged`: how many rules came to an answer; with none and no
 * finding the verdict is undetermined and the asks say what to give. The steps are those of
 * design.md, in this order:
 * --ignore and --error, environments that are not the active one, consequences, root cause, second
 * causes, verdict.
 */
void settle(struct judge *j, const struct judge_options *opts, int judged, struct results *ret);

#endif

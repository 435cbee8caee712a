/* SPDX-License-Identifier: Apache-2.0 */
/* One declaration a rule, from rules.def. */
#ifndef RULE_RULES_H
#define RULE_RULES_H

#include "rule/rule.h"

#define RULE(id) extern const struct rule rule_##id;
#include "rule/rules.def"
#undef RULE

#endif

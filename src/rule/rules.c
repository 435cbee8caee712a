/* SPDX-License-Identifier: Apache-2.0 */
/* The table of rules, in causal order. Nothing but the table. */
#include "rule/rules.h"

#include <stddef.h>

const struct rule *const rules[] = {
#define RULE(id) &rule_##id,
#include "rule/rules.def"
#undef RULE
	NULL,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Judging the present environment: what the rules do not see, since it needs a look at folders. */
#ifndef ENV_CHECK_H
#define ENV_CHECK_H

#include "rule/rule.h"
#include "sys/sysroot.h"

struct env_check {
	const struct sysroot *root;
	const char *fix; /* command that mends it: "eval \"$(cuvet env)\"" */
};

/* For judge_options.more: adds findings about search paths; `with` is a struct env_check. */
void env_check(struct judge *j, const void *with);
/* Is this finding about the environment? The others are left out of `cuvet env --check`. */
bool env_check_covers(enum finding_id id);

#endif

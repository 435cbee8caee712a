/* SPDX-License-Identifier: Apache-2.0 */
/* check over project files and the targets of .cuvet.toml. */
#ifndef CLI_TARGETS_H
#define CLI_TARGETS_H

#include "cli/cmd.h"
#include "compat/compat.h"
#include "rule/finding.h"

struct project_overlay;

/* Are the operands project files? */
bool targets_apply(struct run *r);
int targets_run(struct run *r, const char *command);
/*
 * The same without a report, with texts in the place of files. *c is opened when it is NULL. 0 or
 * the exit code of a complaint that was printed.
 */
int targets_judge(struct run *r, struct compat **c, const struct project_overlay *overlay,
		  size_t n_overlay, struct results *ret);
/* check --fix: shows what it would write, asks, writes; says what it left alone. */
int correct_run(struct run *r);

#endif

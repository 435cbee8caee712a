/* SPDX-License-Identifier: Apache-2.0 */
/* check over project files and the targets of .cuvet.toml. */
#ifndef CLI_TARGETS_H
#define CLI_TARGETS_H

#include "cli/cmd.h"

/* Are the operands project files? */
bool targets_apply(struct run *r);
int targets_run(struct run *r, const char *command);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* show --check: validates the tables in use. */
#ifndef CLI_SHOW_CHECK_H
#define CLI_SHOW_CHECK_H

#include "cli/cmd.h"
#include "compat/compat.h"

/* Prints one line a problem and returns EXIT_CANNOT, or one line "ok: ..." and EXIT_OK. */
int show_check(struct run *r, struct compat *c);

#endif

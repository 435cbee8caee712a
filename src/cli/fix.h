/* SPDX-License-Identifier: Apache-2.0 */
/* --fix-script: where the script goes. */
#ifndef CLI_FIX_H
#define CLI_FIX_H

#include "base/strbuf.h"
#include "cli/cmd.h"

extern const struct opt opt_fix_script, opt_force;

/* Complains about a file that must not be written before anything is asked. 0 or the exit code. */
int fix_check(const struct run *r);
/* The script goes to standard output alone, in the place of the report? */
bool fix_instead(const struct run *r);
/* Writes it where --fix-script says; 0 or the exit code. */
int fix_write(const struct run *r, const struct strbuf *script);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline behind every command that ends in a report. */
#ifndef CLI_JUDGED_H
#define CLI_JUDGED_H

#include "cli/cmd.h"
#include "compat/compat.h"
#include "model/snapshot.h"

/* Source, rules, report by the options of r; prints and returns the exit code. */
int judged_run(struct run *r, const char *command);
/*
 * The first half: tables opened and the snapshot taken. 0, or the exit code after the complaint was
 * printed.
 */
int judged_snapshot(struct run *r, struct compat **ret_c, struct snapshot *ret_s);

#endif

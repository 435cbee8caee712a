/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program of this machine prints: for the few questions that no file answers (rpm's older
 * databases, the journal). Never for an audited root; never a program that the environment names.
 */
#ifndef SYS_RUN_TEXT_H
#define SYS_RUN_TEXT_H

#include <stddef.h>

#include "base/view.h"

struct arena;

/*
 * Runs argv[0], an absolute path, in the locale C with a built-up environment and no input. *ret is
 * the first `limit` bytes that it printed, on the arena. 0; -ETIMEDOUT, -EPROTO (there is none, or
 * it failed and printed nothing), or another negative errno.
 */
int run_text(struct arena *a, const char *const *argv, size_t limit, long deadline_ms,
	     struct view *ret);

#endif

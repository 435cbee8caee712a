/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that hold several things at once: "/usr/bin/python3 2.3.1+cu121 True". */
#ifndef TRIAGE_TUPLE_H
#define TRIAGE_TUPLE_H

#include "triage/paste.h"

/*
 * Takes from the answer `s` (line i) what the command `cmd` asks for, in the order in which it
 * asks. Nothing when it asks for one thing.
 */
void tuple_answer(struct paste *p, struct view cmd, struct view s, size_t i);

#endif

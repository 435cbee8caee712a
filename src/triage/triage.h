/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From pasted text to a snapshot: what the text says of a machine, each fact with its line, and the
 * signs in it. Judges nothing: that is left to the rules.
 */
#ifndef TRIAGE_TRIAGE_H
#define TRIAGE_TRIAGE_H

#include "base/err.h"
#include "compat/compat.h"
#include "model/snapshot.h"
#include "triage/text.h"

struct arena;

enum { TRIAGE_MAX = 64 << 20 };

/*
 * Fills *ret from the lines of `t` (text_add). Parts of the snapshot that a text cannot answer for
 * stay not asked. ERR_DATA when the table of signatures is damaged.
 */
int triage_snapshot(struct arena *a, struct compat *c, const struct text *t, struct snapshot *ret,
		    struct err *err) ATTR_MUST;

#endif

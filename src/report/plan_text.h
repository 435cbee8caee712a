/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for people: the choice in one line, why, the commands, and what was refused, folded. */
#ifndef REPORT_PLAN_TEXT_H
#define REPORT_PLAN_TEXT_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "plan/plan.h"

struct plan_view {
	int width;   /* columns, 0: unknown */
	bool colour; /* ANSI SGR allowed */
	bool all;    /* every refused build, not folded */
	bool markdown;
	bool upgrade_asked; /* --driver-upgrade */
};

void plan_text(struct arena *a, const struct plan *p, const struct plan_view *v,
	       struct strbuf *out);

#endif

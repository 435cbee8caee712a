/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remedies as a POSIX shell script that a person reads before it is run. What came from outside
 * stands in comments, where no newline survives, or in commands that were looked at word by word;
 * any other command is commented out.
 */
#ifndef REPORT_FIX_SCRIPT_H
#define REPORT_FIX_SCRIPT_H

#include "plan/plan.h"
#include "report/report.h"

/* Of findings: the root cause's remedy is live, what else was found is commented out beside it. */
void fix_script(struct arena *a, const struct report *rep, struct strbuf *out);
/* Of a plan: what it would install, or what would make one fit. */
void fix_script_plan(struct arena *a, const struct plan *p, const char *data_date,
		     struct strbuf *out);

/* May a command run as it stands? Else why it is commented out. */
enum fix_kind {
	FIX_PLAIN,
	FIX_LOOKS,	/* only shows something, and may fail */
	FIX_TAKES_AWAY, /* removes, or restarts the machine */
	FIX_OWN_SHELL,	/* has to be typed in the shell that it is for */
	FIX_OTHER	/* no plain command of a shell: a line of a file, a pattern, foreign text */
};
enum fix_kind fix_kind_of(struct arena *a, const char *command);

#endif

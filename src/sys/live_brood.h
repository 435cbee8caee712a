/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process of ours has started, all of it: also what went into a session of its own or
 * forked twice to be rid of its parent. For a child of ours that runs foreign code, never for the
 * process that the user started: that one may have children which are none of ours.
 */
#ifndef SYS_LIVE_BROOD_H
#define SYS_LIVE_BROOD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/attr.h"

/*
 * From now on whatever loses its parent below this process falls to it instead of to init
 * (PR_SET_CHILD_SUBREAPER, Linux 3.4; prctl(2)). Not inherited by what is forked later.
 */
void brood_keep(void);

/*
 * Ends all that lives below this process. What has not ended by itself after `patience_ms` gets
 * TERM, and KILL a tenth of a second later. Takes the status of every child of this process, so
 * call it when none is needed any more. false: some live on, after `limit_ms` (they wait in the
 * kernel or are another user's) or since there is no /proc that says which they are.
 */
bool brood_end(long patience_ms, long limit_ms) ATTR_MUST;

/* The parent that the text of /proc/PID/stat names; 0: it names none. */
pid_t brood_parent(const char *stat);

#endif

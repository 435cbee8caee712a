/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about what was logged: which event, of which GPU. Pure functions of the snapshot. */
#ifndef RULE_LOOK_LOG_H
#define RULE_LOOK_LOG_H

#include "rule/look.h"

/* The first event of that id, or NULL. */
const struct event *log_event(const struct snapshot *s, const char *id);
/* The first event of that id that names this GPU, or that names none; NULL. */
const struct event *log_event_of(const struct snapshot *s, const char *id, const struct gpu *g);
/* Number of an Xid event; 0 for other events. */
unsigned log_xid(const struct event *e);
/* Does the event name this GPU's address?  Logs leave out the function, and some the domain. */
bool log_is_of(const struct event *e, const struct gpu *g);
/* Index of the GPU that the event names; n_gpus when none has this address. */
size_t log_gpu(const struct snapshot *s, const struct event *e);
/* How often it was written, at least 1. */
unsigned log_count(const struct event *e);
/* The event's line as evidence. */
void log_evidence(struct judge *j, struct finding *f, const struct event *e);

#endif

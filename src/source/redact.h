/* SPDX-License-Identifier: Apache-2.0 */
/* Redaction of a snapshot that leaves the machine. */
#ifndef SOURCE_REDACT_H
#define SOURCE_REDACT_H

#include "base/view.h"
#include "model/snapshot.h"

struct arena;

/*
 * Masks what names a person or a device, the same way wherever it stands: the user in /home/NAME,
 * the two sides of user@host, addresses, serial numbers, what stands behind "password=" and its
 * kin, GPU and MIG UUIDs (GPU-00000000-0000-0000-0000-000000000001, ...), values that look like
 * tokens. What rules compare stays comparable.
 */
void source_redact(struct arena *a, struct snapshot *s);
/*
 * The same for facts that came from `text`: names of users and machines that it gives away anywhere
 * (a prompt, an owner of a file, uname) are masked wherever they stand by themselves.
 */
void source_redact_text(struct arena *a, struct snapshot *s, struct view text);
/* One line by itself: a path that is echoed. */
const char *source_redact_line(struct arena *a, const char *line);

#endif

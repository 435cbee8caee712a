/* SPDX-License-Identifier: Apache-2.0 */
/* Redaction of a snapshot that leaves the machine. */
#ifndef SOURCE_REDACT_H
#define SOURCE_REDACT_H

#include "model/snapshot.h"

struct arena;

/*
 * Masks what names a person or a device, the same way wherever it stands: the user in /home/NAME,
 * the two sides of user@host, addresses, serial numbers, what stands behind "password=" and its
 * kin, GPU and MIG UUIDs (GPU-00000000-0000-0000-0000-000000000001, ...), values that look like
 * tokens. What rules compare stays comparable.
 */
void source_redact(struct arena *a, struct snapshot *s);

#endif

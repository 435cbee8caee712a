/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of nvidia-smi's forms share. */
#ifndef TRIAGE_SMI_H
#define TRIAGE_SMI_H

#include "triage/paste.h"

/*
 * A name that the table cut off ("NVIDIA GeForce RTX 208") and a size of memory: sets the compute
 * capability when all models that fit have the same one, and the name when only one fits.
 */
void smi_narrow(struct paste *p, struct gpu *g, size_t line);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Project files inside a paste (Dockerfile, requirements, environment.yml, compose, ...). */
#ifndef TRIAGE_FRAGMENTS_H
#define TRIAGE_FRAGMENTS_H

#include "triage/paste.h"

/*
 * Finds them and reads them with the readers of src/project, which open no file here. Their lines
 * are marked: what they list is not installed. Broken ones are left out.
 */
void fragments_read(struct paste *p);
/* Works out what they would install for the machine of the paste: snapshot.projects. */
void fragments_fill(struct paste *p);

#endif

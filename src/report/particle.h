/* SPDX-License-Identifier: Apache-2.0 */
/* Korean particles after values that only the run knows; knows nothing of what the text says. */
#ifndef REPORT_PARTICLE_H
#define REPORT_PARTICLE_H

#include "base/strbuf.h"

/*
 * A Korean message leaves the choice of a particle open where a value stands before it: "%s을(를)".
 * At S such a choice begins? Then the particle that follows the text written to OUT so far is added
 * (all of it as it stands when that text doesn't decide: a Latin word is read in more than one way)
 * and the number of bytes that it took of S is given back; else 0.
 */
size_t particle_put(struct strbuf *out, const char *s);

#endif

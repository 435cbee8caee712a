/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked for, sorted: which packages the matrix decides, by which clauses, and what is
 * passed on. Private to plan/. */
#ifndef PLAN_WISHES_H
#define PLAN_WISHES_H

#include "plan/matrix.h"

enum { WISHES_MAX = 16, LIMITS_MAX = 28 };

struct wish {
	const struct product *product;
	const struct requirement
		*asked[8]; /* first requirements that ask for it (constraints apart) */
	size_t n_asked;
	const char *extras; /* "and-cuda,test"; NULL */
	uint64_t limits;    /* bits of the limits on it */
};

/* One clause of one requirement: something that can clash. */
struct limit {
	const struct requirement *requirement;
	const struct pep440_clause *clause;
	size_t wish;
	const char *text; /* "torch>=2.4" */
};

struct wishes {
	struct wish v[WISHES_MAX];
	size_t n;
	struct limit limits[LIMITS_MAX];
	size_t n_limits;
	const struct requirement **others; /* not in the matrix: passed on */
	size_t n_others;
	const struct requirement *requirements;
	size_t n_requirements;
	bool torch;  /* torch is part of the answer */
	bool named;  /* something was asked for at all */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Which packages of a lock are installed. Private to project/. */
#ifndef PROJECT_LOCK_H
#define PROJECT_LOCK_H

#include "base/doc.h"
#include "project/project.h"

struct lock_package {
	const struct doc *doc;
	const char *marker; /* under which it is needed; NULL: always */
};
struct lock_reached {
	struct lock_package *v; /* by address */
	size_t n;
	const char *extra; /* what its markers call the chosen extra; NULL */
};

/*
 * Those that the dependencies of the project (scope->project; without one: of every member of the
 * workspace) and of the chosen extra lead to. False when the lock does not say where to begin.
 */
bool lock_reach(struct arena *a, const struct doc *packages, const struct lock_scope *scope,
		struct lock_reached *ret);
/* NULL: not reached. */
const struct lock_package *lock_find(const struct lock_reached *r, const struct doc *package);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a line is: a paste may show a host and a container, two machines, several environments, or
 * one machine before and after a change. One of them is judged: the one that fails.
 */
#ifndef TRIAGE_OWNER_H
#define TRIAGE_OWNER_H

#include "triage/text.h"

struct arena;

enum owner_place { PLACE_UNSAID, PLACE_HOST, PLACE_CONTAINER };
enum owner_time { TIME_UNSAID, TIME_BEFORE, TIME_AFTER };

enum { OWNERS_MAX = 64 };

struct owner {
	enum owner_place place;
	enum owner_time time;
	struct view machine, env; /* "gpu01" of a prompt, "torch" of "(torch) $"; empty: not said */
	const char *label;	  /* for people: "container", "gpu01, (torch)"; NULL: not said */
	bool other; /* the machine that works, which a heading sets beside the one that fails */
	size_t failures, last_failure;
};

struct owners {
	struct owner *v; /* [0]: nothing is said */
	size_t n;
	size_t judged; /* index; 0: no line tells owners apart */
};

/* What a fact belongs to: a container shares its host's kernel, and an environment its machine. */
enum scope { SCOPE_MACHINE, SCOPE_PLACE, SCOPE_ENV };

/* Fills the owner of every line of `t`. */
void owners_find(struct arena *a, struct text *t, struct owners *ret);
/* Is what line owner `o` says of this scope another's than the judged one's? */
bool owner_foreign(const struct owners *list, size_t o, enum scope scope);
/* Is it another machine by name or heading, not the judged one at another time? */
bool owner_other_machine(const struct owners *list, size_t o);

#endif

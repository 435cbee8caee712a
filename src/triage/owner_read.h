/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One heading, one prompt, one command: what it says of whose the lines below it are. For owner.c
 * alone, which knows what holds until when.
 */
#ifndef TRIAGE_OWNER_READ_H
#define TRIAGE_OWNER_READ_H

#include "triage/owner.h"

/* Words at the beginning of a heading, and what they say. */
struct owner_mark {
	const char *words; /* lower case */
	enum owner_place place;
	enum owner_time time;
	bool other;
};

/* Does v begin with these words, in any case, and not within a longer one? */
bool owner_begins(struct view v, const char *words);
/*
 * "## On the host", "Inside the container:", "=== after the update ===", "[container]", "(host)":
 * the words without their frame, else nothing.
 */
struct view owner_heading(struct view line);
/* What the words of a heading or the name of a file say; NULL: nothing. */
const struct owner_mark *owner_mark_of(struct view words);

/* "(torch) ana@gpu01:~$ ", "[root@0123456789ab /]# ", "root@gpu01:/# ": fills what they say. */
void owner_prompt(struct view prompt, struct owner *o);
/* "# in container: ls", "$ docker exec x nvidia-smi": where the output comes from. */
void owner_command(const struct line *l, struct owner *o);
/* "pct enter 104", "lxc exec c1 -- bash": the prompts that follow are a container's. */
bool owner_enters(struct view cmd);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Between triage_archs.c (lists of code) and triage_age.c (a build's age), for them alone. */
#ifndef RULE_TRIAGE_ARCHS_H
#define RULE_TRIAGE_ARCHS_H

#include "rule/look.h"
#include "rule/triage.h"

/* Of the GPUs whose capability is known; -1 where none is. */
int archs_lowest_cc(const struct snapshot *s);
int archs_highest_cc(const struct snapshot *s);
/* Highest SASS of a list: "sm_70" to 70. */
int archs_highest(const char *const *list, size_t n);
/* A chip of Jetson, which runs no code of the desktop chips beside it in a list. */
bool archs_is_tegra(int cc);
/* Left out by a list that knows newer ones; a Jetson is left out of lists that begin below it. */
bool archs_left_behind(const struct look_archs *a, int cc, int high);
/* Is it PyTorch that lacks the code, or another program, which no PyTorch mends? */
bool archs_of_torch(const struct triage *t);
/* Adds that GPU i is too old for the build, or too new. */
void archs_misfit(struct triage *t, size_t i, bool old, int weight);
/* PyTorch has no code for a GPU for which the build that is named was made: adds that it was
 * replaced. */
bool archs_another_runs(struct triage *t);

void archs_by_age(struct triage *t);
void archs_slow_start(struct triage *t);
void archs_libraries_too_old(struct triage *t);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remedies of triage: what mends the machine that the text shows, by its distribution, its tools
 * and the versions that the text names. Decides no cause, and adds nothing to a finding that has a
 * remedy.
 */
#ifndef RULE_MEND_H
#define RULE_MEND_H

#include "rule/remedy.h"
#include "rule/triage.h"

/* Gives the root remedies, where a row or a function knows some; else the catalogue's stand. */
void triage_mend(struct triage *t, struct finding *root);

/* "on-fedora": the distribution as a term, by what installs there; NULL: not known. */
const char *mend_family(const struct triage *t);

/*
 * Each of these knows some findings: true when it has added a remedy to `f`, whose commands are
 * complete. False: nothing is added.
 */
bool mend_driver(struct triage *t, struct finding *f);
bool mend_module(struct triage *t, struct finding *f);
bool mend_library(struct triage *t, struct finding *f);
bool mend_packages(struct triage *t, struct finding *f);
bool mend_toolkit(struct triage *t, struct finding *f);
bool mend_add_on(struct triage *t, struct finding *f);

/*
 * The first piece of evidence, of the signs of `atom`, that begins with `start` and goes on with
 * characters of `set`: "/usr/local/cuda-11.8" for "/usr/local/cuda-" and digits. NULL: none.
 */
const char *mend_piece(struct triage *t, const char *atom, const char *start, const char *set);
/* "12.4" of "12.4.131"; NULL when it isn't a version. */
const char *mend_minor(struct triage *t, const char *version);
/* The compiled add-on that the text names first, as pip calls it; NULL: none. */
const char *mend_add_on_name(struct triage *t);
/* The CUDA of the pasted build of PyTorch, as "12.4"; NULL not known. */
const char *mend_torch_cuda(struct triage *t);

#endif

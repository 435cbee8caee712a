/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of a fact as a line has it: its shape, and what becomes of it where the text has one
 * already. For paste_*.c alone; extractors call paste_fact() and its like.
 */
#ifndef TRIAGE_VALUE_H
#define TRIAGE_VALUE_H

#include "triage/paste.h"

enum { VALUE_MAX = 4096 };

/* Of a version alone: digits and letters with the marks that versions have between them. */
bool value_is_version(struct view v);
/* Without the quotes, brackets and commas around it. */
struct view value_bare(struct view v);
/* "12.4" and "12.4.131" say the same, one with more words. */
bool value_same(const char *old, struct view v);

/* May what the line says of this scope be taken now?  An environment has a place of its own. */
bool value_wanted(const struct paste *p, size_t line, enum scope scope);
/* The sign "differs:NAME": the text says it twice, and differently. */
void value_differs(struct paste *p, const char *name, struct view v, size_t line);
/* Sets f unless it is known: then the longer form of the same wins, and another is a sign. */
void value_set(struct paste *p, struct fact *f, const char *name, struct view v, size_t line);

/* What needs more than that, by subject: PyTorch (paste_python.c), GPUs (paste_gpu.c). */
void value_torch(struct paste *p, struct view v, size_t line);
void value_torch_cuda(struct paste *p, struct view v, size_t line);
void value_torch_archs(struct paste *p, struct view v, size_t line);
void value_gpu_cc(struct paste *p, struct view v, size_t line);

#endif

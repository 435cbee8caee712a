/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of guide/; nobody else includes it. */
#ifndef GUIDE_PARTS_H
#define GUIDE_PARTS_H

#include "guide/guide.h"

struct guiding {
	struct arena *a;
	const struct guide_input *in;
	struct guide *g;
	struct judge j; /* for the look_ functions; adds no finding */
};

/* A step fills `why` and evidence, and its commands unless it is done. */
enum outcome {
	OUTCOME_DONE,
	OUTCOME_OPEN,
	OUTCOME_NOT_NEEDED,
	OUTCOME_WAITS /* open, and follows from a later step */
};

struct guide_row {
	const char *id, *title;
	enum outcome (*look)(struct guiding *w, struct guide_step *st);
};
extern const struct guide_row guide_rows[]; /* ends with id NULL */

void step_why(struct guiding *w, struct guide_step *st, const char *fmt, ...) ATTR_PRINTF(3, 4);
void step_command(struct guiding *w, struct guide_step *st, const char *fmt, ...)
	ATTR_PRINTF(3, 4);
/* Evidence from a known fact; nothing for any other. */
void step_fact(struct guiding *w, struct guide_step *st, const char *field, const struct fact *f);
/* Takes over message, evidence and first remedy of the finding. */
enum outcome step_finding(struct guiding *w, struct guide_step *st, const struct finding *f);
/* Is a step of this name among those before and not done? */
bool guide_is_open(const struct guiding *w, const char *id);

/*
 * It is known what is broken, and it stands in another step: what cannot be seen before that is
 * mended is not asked for.
 */
bool guide_cause_known(const struct guiding *w);

/* The first error of these layers (1 << LAYER_X), the root cause first; NULL. */
const struct finding *guide_error(const struct guiding *w, unsigned layers);

/* -------- project.c: project files instead of an installation */
bool guide_is_project(const struct guiding *w);
enum outcome guide_project_python(struct guiding *w, struct guide_step *st);
enum outcome guide_project_torch(struct guiding *w, struct guide_step *st);

/* -------- toolkit.c: the steps that only compiling needs */
enum outcome guide_toolkit(struct guiding *w, struct guide_step *st);
enum outcome guide_cudnn(struct guiding *w, struct guide_step *st);
enum outcome guide_variables(struct guiding *w, struct guide_step *st);

/* -------- memory.c, outdated.c */
void guide_add_memory(struct guiding *w);
void guide_add_outdated(struct guiding *w);

#endif

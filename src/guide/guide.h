/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guided path of a set-up: which step is done on this machine, which is next, and its command.
 * Decides nothing that rules, plan, env and fetch have not decided; reads their results. Results
 * live on the arena.
 */
#ifndef GUIDE_GUIDE_H
#define GUIDE_GUIDE_H

#include "compat/compat.h"
#include "model/snapshot.h"
#include "plan/plan.h"
#include "rule/rule.h"
#include "sys/sysroot.h"

struct arena;

enum guide_state { GUIDE_DONE, GUIDE_NEXT, GUIDE_LATER, GUIDE_NOT_NEEDED };
const char *guide_state_name(enum guide_state s); /* "done", "next", "later", "not-needed" */

struct guide_step {
	const char *id;	   /* "driver": stable */
	const char *title; /* untranslated */
	enum guide_state state;
	const char *why; /* one sentence; never NULL */
	struct evidence *evidence;
	size_t n_evidence;
	const char **commands; /* none when it is done or not needed */
	size_t n_commands;
	bool needs_root, needs_reboot;
	const struct finding *finding; /* that stands in the way; NULL */
};

/* What fits into a memory by one rule of thumb of the table vram. */
struct guide_fit {
	const char *what; /* "weights only, fp16/bf16" */
	double bytes_per_param, billions;
	bool inferred;
	const char **sources;
	size_t n_sources;
};

struct guide_memory {
	const char *subject; /* "GPU 0 (...)", "host" */
	int64_t mib;
	const char *source;
	struct guide_fit *fits; /* in the order of the table */
	size_t n_fits;
};

/* A saying of older guides, and what holds by the tables of today. */
struct guide_note {
	const char *id, *said, *holds;
	const char *here; /* about this machine; NULL */
	const char *source;
};

struct guide {
	struct guide_step *steps;
	size_t n_steps;
	const struct guide_step *next; /* NULL: nothing is left */
	bool unfit;		       /* nothing that could be installed fits */
	struct guide_memory *memory;
	size_t n_memory;
	struct guide_note *outdated;
	size_t n_outdated;
};

struct guide_input {
	const struct snapshot *s;
	struct compat *c;
	const struct results *r;
	const struct results *paths; /* with the findings of env_check, where there is a tree */
	const struct plan *plan;   /* NULL: none could be made, and plan_why says why */
	const char *plan_why;
	const struct sysroot *root; /* NULL: no tree to look into */
	bool dev;		   /* something is to be compiled here */
};

struct guide *guide_make(struct arena *a, const struct guide_input *in) ATTR_NONNULL;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What `prove` found: one row a rung and GPU. Plain data; nothing here calls a driver. */
#ifndef PROVE_PROOF_H
#define PROVE_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

struct arena;

enum proof_result {
	PROOF_PASS,
	PROOF_FAIL,
	PROOF_SKIP,
	PROOF_HUNG,
	PROOF_CRASHED,
	PROOF_INCONCLUSIVE,
};

enum { PROOF_FIGURES = 24, PROOF_TEXT = 240, PROOF_NAME = 32 };

struct proof_figure {
	char name[PROOF_NAME]; /* with its unit: "gb_per_s" */
	double value;
};

/* Flat, since it comes through a pipe as it is. */
struct proof_outcome {
	enum proof_result result;
	int code; /* that a driver or a library gave; 0: none */
	double ms;
	char call[48];	       /* that gave the code, or was under way; "" */
	char why[PROOF_TEXT];  /* "" when there is nothing to say */
	char path[PROOF_TEXT]; /* of the library that was tested; "" */
	uint32_t n_figures;
	struct proof_figure figures[PROOF_FIGURES];
};

struct proof_test {
	const char *name;
	int gpu; /* -1: not of one GPU */
	struct proof_outcome o;
};

struct proof_gpu {
	char name[96], uuid[96], address[32];
	int cc; /* 89 */
	bool known;
};

struct proof {
	struct proof_test *tests;
	size_t n;
	struct proof_gpu *gpus;
	size_t n_gpus;
	const char *cause;  /* name of the finding that explains why there is no GPU, or NULL */
	const char *driver; /* libcuda's file; NULL */
	int cuda;	    /* the driver's, "13000" form; 0 */
	long ms;	    /* the whole run */
	bool nothing;	    /* no GPU was reached, and none was expected */
	bool interrupted;
};

/* Rows GPU by GPU, in their order; those of no GPU last. */
void proof_sort(struct proof *p);
const char *proof_result_name(enum proof_result r);
/* "stack-ok", "degraded" (inconclusive ones), "blocked", "undetermined". */
const char *proof_verdict(const struct proof *p);
/* The program's exit code: 0, 1 or 3. */
int proof_exit(const struct proof *p);
/* cuvet.proof/1. */
void proof_json(const struct proof *p, struct strbuf *out);
/* Of one that came from another process: makes its texts end and its numbers keep to their ranges.
 */
void outcome_seal(struct proof_outcome *o);
/* Adds a figure; more than fit are dropped. */
void outcome_figure(struct proof_outcome *o, const char *name, double value);

#endif

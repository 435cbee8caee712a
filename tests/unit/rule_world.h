/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of rules: a machine written as JSON, judged with the embedded tables. */
#ifndef RULE_WORLD_H
#define RULE_WORLD_H

#include "rule/rule.h"

struct arena;

struct world {
	struct arena *a;
	struct snapshot s;
	struct compat *c;
	struct results r;
};

/*
 * Judges the machine. `json` is the object of a snapshot with ' for ", members of several objects
 * being laid over each other from left to right; a member set to null takes the earlier one away.
 * Fails the test on malformed JSON.
 */
void world_judge(struct world *w, const char *const *json, size_t n, const struct judge_options *o);
void world_free(struct world *w);
/* The first finding of that name; NULL when there is none. */
const struct finding *world_find(const struct world *w, const char *name);

/* One line of a table: the machine, and a name that it must show or must not. */
struct world_case {
	const char *what;
	const char *layers[6]; /* JSON objects */
	const char *shows;     /* must be there */
	const char *hides;     /* must not be there */
	const char *root;      /* root cause; "" for none; NULL: not looked at */
};
/* Runs a table; every finding that fires is checked for evidence, a remedy and a message. */
void world_cases(const struct world_case *cases, size_t n);

/* A healthy bare-metal host: RTX 4090, driver 550.90.07, Ubuntu 22.04; all parts asked. */
extern const char HOST[];
/* An active venv with torch 2.5.1+cu124, torchvision 0.20.1. */
extern const char TORCH[];
/* A healthy container, WSL 2 distribution: laid over nothing. */
extern const char CONTAINER[];
extern const char WSL[];
/* An unpacked image: no hardware, kernel, nodes, environment. */
extern const char IMAGE[];
/* Nothing but parts of what was declared. */
extern const char DECLARED[];

#endif

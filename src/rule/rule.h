/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules: each reads the snapshot and the tables and may add findings; it opens nothing and prints
 * nothing. All run; none stops another. A rule whose needs are not met is recorded as skipped,
 * never as passed.
 */
#ifndef RULE_RULE_H
#define RULE_RULE_H

#include "base/err.h"
#include "compat/compat.h"
#include "rule/finding.h"

struct arena;

/* Parts of the snapshot that a rule needs (struct parts); it is skipped when one was not asked. */
enum need {
	NEED_HOST = 1 << 0,
	NEED_PCI = 1 << 1,
	NEED_KERNEL = 1 << 2,
	NEED_NODES = 1 << 3,
	NEED_USERLIB = 1 << 4,
	NEED_CUDA = 1 << 5,
	NEED_NVML = 1 << 6,
	NEED_CONTAINER = 1 << 7,
	NEED_ENVIRONMENT = 1 << 8,
	NEED_SERVICES = 1 << 9,
	NEED_TOOLKIT = 1 << 10,
	NEED_PYTHON = 1 << 11,
	NEED_LOG = 1 << 12,
	/* needs on facts, whoever supplied them (a probe or --assume) */
	NEED_GPU = 1 << 16,    /* at least one GPU with a known compute capability */
	NEED_DRIVER = 1 << 17, /* driver.version known */
	NEED_TORCH = 1 << 18,  /* a torch somewhere */
	NEED_PROJECT =
		1 << 19, /* project files; without them there is nothing to say, not even that */
};

struct judge {
	struct arena *a;
	const struct snapshot *s;
	struct compat *c;
	struct finding **findings;
	size_t n_findings;
	struct skip *skipped;
	size_t n_skipped;
	const char **asks;
	size_t n_asks;
	struct ruled_out *ruled;
	size_t n_ruled;
	const struct rule *rule; /* the one that runs */
	unsigned char *explained; /* settle.c's own: answers of finding_explains by pair */
};

struct rule {
	const char *name;
	unsigned needs;
	enum layer layer;	  /* the layer that it judges */
	void (*run)(struct judge *j);
};

/* -------- for rules */
/* Adds a finding with its default severity, certainty observed. Never NULL. */
struct finding *finding_add(struct judge *j, enum finding_id id, const char *subject);
void finding_message(struct judge *j, struct finding *f, const char *fmt, ...) ATTR_PRINTF(3, 4);
/* Evidence from a fact: its value and source. An assumed fact lowers certainty to assumed. wanted
 * may be NULL. */
void finding_fact(struct judge *j, struct finding *f, const char *field, const struct fact *fact,
		  const char *wanted);
void finding_evidence(struct judge *j, struct finding *f, const char *field, const char *seen,
		      const char *wanted, const char *source);
void finding_inferred(struct finding *f); /* rests on extrapolation or a doubtful row */
struct remedy *finding_remedy(struct judge *j, struct finding *f, const char *fmt, ...)
	ATTR_PRINTF(3, 4);
void remedy_command(struct judge *j, struct remedy *r, const char *fmt, ...) ATTR_PRINTF(3, 4);
/* What --fix writes at the place of this fact; `new` NULL: the line goes. */
void remedy_correct(struct judge *j, struct remedy *r, const struct fact *line, const char *old,
		    const char *new);
void judge_skip(struct judge *j, const char *needs, const char *fmt, ...) ATTR_PRINTF(3, 4);
void judge_ask(struct judge *j, const char *fmt, ...) ATTR_PRINTF(2, 3);
bool judge_has(const struct judge *j, enum finding_id id);
/* "GPU 0 (NVIDIA GeForce RTX 4090)"; index into snapshot.gpus. */
const char *gpu_subject(struct judge *j, size_t index);

/* -------- for commands */
struct judge_options {
	const enum finding_id *ignore, *error; /* --ignore, --error */
	size_t n_ignore, n_error;
	bool triage; /* the complaint decides: see design */
	bool files_alone; /* only the rules about project files */
	/* What a command knows beside the rules: adds findings before they are settled; NULL. */
	void (*more)(struct judge *j, const void *with);
	const void *with;
};
/* Whether --ignore or --error names it. */
bool finding_listed(const enum finding_id *ids, size_t n, enum finding_id id);
/* Runs the whole rule table and settles severities, consequences, root cause and verdict. */
void judge_run(struct arena *a, const struct snapshot *s, struct compat *c,
	       const struct judge_options *opts, struct results *ret);

/* The table, in causal order; NULL-terminated. Each rule is defined in rule/<part>.c. */
extern const struct rule *const rules[];

#endif

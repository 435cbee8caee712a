/* SPDX-License-Identifier: Apache-2.0 */
/* Findings: what a rule found, with evidence and remedies. Names and codes come from finding.def
 * alone. */
#ifndef RULE_FINDING_H
#define RULE_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "model/snapshot.h"

enum layer {
	LAYER_HARDWARE,
	LAYER_KERNEL,
	LAYER_DRIVER,
	LAYER_CONTAINER,
	LAYER_CLUSTER,
	LAYER_TOOLKIT,
	LAYER_LIBRARY,
	LAYER_PYTHON,
	LAYER_FRAMEWORK,
	LAYER_BUILD,
	LAYER_WORKLOAD,
	LAYER_COUNT
};

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR };
enum certainty { CERTAINTY_OBSERVED, CERTAINTY_INFERRED, CERTAINTY_ASSUMED };
enum risk { RISK_SAFE, RISK_CHANGES, RISK_DESTROYS };

enum finding_id {
#define FINDING(id, code, name, layer, severity, title, means, decided, fix, not_this) FINDING_##id,
#include "rule/finding.def"
#undef FINDING
	FINDING_COUNT
};

/* Static description of a name: what `explain` prints. */
struct finding_info {
	const char *code; /* "CV0302": stable, never reused */
	const char *name; /* "driver-too-old" */
	enum layer layer;
	enum severity severity;				    /* by default */
	const char *title, *means, *decided, *fix, *not_this; /* untranslated; not_this may be "" */
};
const struct finding_info *finding_info(enum finding_id id);
/* A cause that is no fault of the stack: used-up memory, a program's own error, a notice. */
bool finding_is_fine(enum finding_id id);
/* By name or code, any case; false when neither. */
bool finding_lookup(const char *name_or_code, enum finding_id *ret);
/* The name nearest to a word that is none, or NULL when none is near. */
const char *finding_near(const char *word);
const char *layer_name(enum layer l);	     /* "hardware" */
const char *severity_name(enum severity s);  /* "error" */
const char *certainty_name(enum certainty c); /* "observed" */
const char *risk_name(enum risk r);	     /* "safe" */
/* Does removing `cause` make `effect` go (cause.def, transitively)? */
bool finding_explains(enum finding_id cause, enum finding_id effect);

struct evidence {
	const char *field, *seen, *wanted, *source; /* wanted may be NULL */
};

/* A line as it has to be. How it is applied: project/edit.h (the same kinds, in this order). */
struct correction {
	enum { CORRECT_WORD, CORRECT_FLOW, CORRECT_LINE, CORRECT_INDEX } kind; /* project/edit.h */
	const char *at; /* FILE:LINE:COLUMN */
	const char *old, *new;
};

struct remedy {
	const char *text;
	struct correction *corrections; /* none: what to write is not certain */
	size_t n_corrections;
	const char **commands;
	size_t n_commands;
	bool needs_root, needs_reboot;
	enum risk risk;
};

struct finding {
	enum finding_id id;
	enum severity severity;
	enum certainty certainty;
	const char *subject; /* "GPU 0 (NVIDIA GeForce RTX 5090)", a prefix, a path; never NULL in
				results */
	const char *message; /* one sentence */
	bool has_cause;
	enum finding_id cause; /* consequence_of */
	struct evidence *evidence;
	size_t n_evidence;
	struct remedy *remedies;
	size_t n_remedies;
	int order; /* in which it was added */
	int weight; /* triage: how strongly the text speaks for it, 0..100; else 0 */
};

enum verdict { VERDICT_STACK_OK, VERDICT_DEGRADED, VERDICT_BLOCKED, VERDICT_UNDETERMINED };
const char *verdict_name(enum verdict v);

struct skip {
	const char *rule, *needs, *why;
};

/* triage: a cause that readers suspect, and the line that speaks against it. */
struct ruled_out {
	enum finding_id id;
	const char *text, *source;
};

/* What comes out of the rules; renderers read this and the snapshot, nothing else. */
struct results {
	enum verdict verdict;
	const struct finding *root; /* NULL when there is none */
	struct finding **findings;  /* root first, then its consequences, then the rest by severity
				       and layer */
	size_t n_findings;
	struct skip *skipped;
	size_t n_skipped;
	const char **asks; /* commands or files that would decide */
	size_t n_asks;
	const struct ruled_out *ruled;
	size_t n_ruled;
	bool layer_judged[LAYER_COUNT];
};

#endif

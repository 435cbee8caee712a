/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules over the signs of a pasted text and the facts beside them. Causes are weighed: a finding
 * says how strongly the text speaks for it, and settling in triage takes the strongest that no
 * other explains. Nothing here runs unless the snapshot holds signs.
 */
#ifndef RULE_TRIAGE_H
#define RULE_TRIAGE_H

#include "rule/rule.h"

/*
 * 50 and more may be the root cause; below, it is no more than a possibility. An ordinary finding
 * over facts weighs TRIAGE_FACTS, and more when a sign points to the same name.
 */
enum {
	TRIAGE_ROOT = 50,
	TRIAGE_FACTS = 62,
	TRIAGE_PROJECT = 54, /* the same over a project file that the text shows */
	TRIAGE_WARNING = 46,
	TRIAGE_POINTED = 20,
	TRIAGE_AGAINST = 40,
	TRIAGE_CLOSE = 12, /* a cause this much weaker than what it explains is still the root */
};

struct triage_atom {
	const char *name;
	const struct sign *sign; /* NULL: follows from facts */
};

/* A row of "signatures" that the text holds, with the first sign of it. */
struct triage_hit {
	const struct sign *sign;
	const struct json *row;
};

struct triage {
	struct judge *j;
	struct triage_atom *atoms;
	size_t n_atoms;
	struct triage_hit *hits;
	size_t n_hits;
	int points[FINDING_COUNT];  /* strongest sign for the name */
	bool against[FINDING_COUNT];
};

/* Is there a sign of this id or tag, or does the fact hold ("wsl", "torch-cpu")? */
bool triage_has(const struct triage *t, const char *atom);
/* A program says that it gets no GPU, in whatever words its framework has for it. */
bool triage_no_gpu_got(const struct triage *t);
/* The same, or that there is no device of the number that it asks for. */
bool triage_device_refused(const struct triage *t);
/*
 * The CUDA that the driver offers by the number in PyTorch's words: "11.4" for "found version
 * 11040". NULL when the text has no such, or no sensible one.
 */
const char *triage_found_cuda(const struct triage *t);
/* The text says that the file which `target` names, by its path or its name, is not there. */
bool triage_path_gone(const struct triage *t, const char *target);
/* The first sign of that id or tag; NULL when there is none. */
const struct sign *triage_sign(const struct triage *t, const char *atom);
/* "pasted line 12" to 12; 0 for what has none. */
long triage_line_of(const char *source);
/* What it names, or NULL. */
const char *triage_value(const struct triage *t, const char *atom);
/* The driver: the loaded one, else the one whose package is installed; NULL when not known. */
const struct fact *triage_driver(const struct triage *t);
/*
 * All of the blank-separated terms: "a", "a|b", "!a". Adds evidence to f (may be NULL) from the
 * signs of the terms when they hold.
 */
bool triage_holds(struct triage *t, const char *terms, struct finding *f);
/* Adds what makes the atom hold, which has to, as evidence: each line once, the first few. */
void triage_evidence(struct triage *t, struct finding *f, const char *atom);
void triage_evidence_sign(struct triage *t, struct finding *f, const struct sign *g);
/* What the text holds besides that a reader wants to see under this finding. */
void triage_evidence_more(struct triage *t, struct finding *f);
/* Adds the finding, or strengthens the one that is there; the signs of `terms` are its evidence. */
struct finding *triage_add(struct triage *t, enum finding_id id, int weight, const char *terms);

/* Rules that compute, in triage_*.c. */
void triage_versions(struct triage *t);
/* Part of triage_versions(). */
void triage_archs(struct triage *t);
/* The newest capability that options of nvcc in the text compile for; -1 where none does. */
int triage_compiled_for(const struct triage *t);
/* Of "FROM x:cu102-ubuntu18": what is built there is built for that CUDA; NULL without one. */
const char *triage_image_cuda(struct triage *t);
/* Was an add-on compiled for other GPUs than the one here? It is a cause then. */
bool triage_compiled(struct triage *t);
void triage_label(struct triage *t);
void triage_cards(struct triage *t);
void triage_modules(struct triage *t);
/* Each GPU that is named has this capability or more: 80 is Ampere, 89 is Ada. */
bool triage_all_of(const struct snapshot *s, int least);
/* The capability of a GPU is known, and each that is known is below this: 70 is Volta. */
bool triage_all_below(const struct snapshot *s, int cc);
/* Each GPU that is named is of a class that has no NVSwitch. */
bool triage_no_fabric(const struct triage *t);
void triage_libraries(struct triage *t);
void triage_machine(struct triage *t);
/* Parts of triage_machine(). */
void triage_visible(struct triage *t);
void triage_toolkit(struct triage *t);
void triage_driver_rules(struct triage *t);
void triage_install(struct triage *t);
/* Part of triage_install(): packages beside each other. */
void triage_packages(struct triage *t);
/* Speaks against causes where the text shows the GPU at work (t->against). */
void triage_refute(struct triage *t);
void triage_frameworks(struct triage *t);
/* A jaxlib of PyPI and none of the plugins that bring CUDA, in a list of packages. */
bool triage_jax_without_cuda(const struct snapshot *s);
/* Does the text show a failure that is none of the harmless finding's own lines, and nothing that
 * works? */
bool triage_failure_left(const struct triage *t, const struct finding *harmless);
/* The driver, the module or a program that wants the GPU is shown to fail, in whatever words. */
bool triage_stack_fails(struct triage *t);
/* Something works, and no line of the text complains of anything, in whatever words. */
bool triage_all_well(struct triage *t);
/* What to ask for when nothing decides. */
void triage_asks(struct triage *t);

/* What the text rules out, in triage_ruled.c. */
void triage_rule_out(struct triage *t, const struct finding *root);

/* For settling: weighs all findings, returns the root; adds insufficient-evidence when there is
 * none. */
const struct finding *triage_root(struct judge *j, const struct judge_options *o);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* One target against the matrix: what is violated by each build, and which one is best. Private to
 * plan/. */
#ifndef PLAN_SOLVE_H
#define PLAN_SOLVE_H

#include "plan/wishes.h"

/* What can clash, one bit each. */
enum {
	ATOM_PYTHON,
	ATOM_DRIVER,
	ATOM_GLIBC,
	ATOM_PLATFORM,
	ATOM_GPU,
	ATOM_LIMIT = 20,
	ATOM_ASK = 48
};
#define ATOM(n) (UINT64_C(1) << (n))

enum violation_kind {
	V_NO_CUDA,    /* a build without CUDA, or for another vendor */
	V_UNVERIFIED, /* the matrix does not know its arch list, or whether it exists */
	V_MUSL,
	V_PLATFORM, /* a package has no wheels for the platform */
	V_DROPPED,  /* GPU arg: the driver no longer drives it */
	V_PREDATES, /* GPU arg: the driver does not know it yet */
	V_APART,    /* GPUs arg / PLAN_GPUS and arg % PLAN_GPUS: no driver drives both */
	V_FLAVOR,   /* GPU arg: the driver's kernel modules are of the other flavour */
	V_FLAVORS,  /* as V_APART: one needs the open modules, the other cannot have them */
	V_LAST,	    /* GPU arg: no driver that drives it is new enough */
	V_GPU,	    /* GPU arg: no code for it */
	V_OLD_GPU,  /* GPU arg: below the least capability */
	V_PTX,	    /* GPU arg: PTX alone, and the driver is too old to compile it */
	V_DRIVER,
	V_GLIBC,
	V_PYTHON,
	V_LIMIT, /* limit arg */
	V_PAIR,	 /* wish arg: the release has no such companion */
	V_PACKAGE, /* wish arg: none of its releases goes with this build */
};

struct violation {
	enum violation_kind kind;
	uint64_t mask; /* all these atoms together; 0: nothing would mend it */
	size_t arg;
};

enum { VIOLATIONS_MAX = 96 };

struct judged {
	const struct build *build;
	struct violation *v;
	size_t n;
	uint64_t bad;	    /* limits that do not hold, whether they apply or not */
	enum arch_fit fit;  /* the worst of all GPUs */
	bool native;
	int python; /* index into the target's; -1: none fits */
	bool fits;
};

struct offer_state {
	uint64_t bad; /* limits that do not hold */
	uint64_t hw;  /* atoms that rule it out: GPUs, driver, platform */
	enum arch_fit fit;
	bool native;
};

struct solver {
	struct arena *a;
	struct matrix *m;
	const struct plan_target *t;
	const struct wishes *w;
	struct version driver, driver_cuda, glibc; /* n 0: not known */
	uint64_t applies[PLAN_PYTHONS]; /* limits whose marker holds under that Python */
	uint64_t any_applies;
	bool asked[PLAN_PYTHONS][WISHES_MAX];
	bool ever_asked[WISHES_MAX];
	struct pep440 python[PLAN_PYTHONS];
	const struct offers *offers[WISHES_MAX]; /* NULL for torch and its companions */
	struct offer_state *states[WISHES_MAX];
	struct judged *verdicts; /* of all builds of the platform, newest first */
	size_t n;
};

void solver_init(struct solver *s, struct arena *a, struct matrix *m, const struct plan_target *t,
		 const struct wishes *w);
/* Judges every build of torch. */
void solver_judge(struct solver *s);
/* The best of them; NULL when none fits. */
const struct judged *solver_best(const struct solver *s);
/* The release of a wish to install with this build (NULL: without torch) and Python; NULL when none
 * goes. */
const struct offer *solver_offer(const struct solver *s, size_t wish, const struct build *b,
				 size_t python, const struct offer_state **ret_state);
/* Without torch: the Python under which the first package asked for is newest; -1 when none fits.
 */
int solver_python(const struct solver *s);
/* Does the Python, the platform's kind of build, apart from all else, allow this offer? */
bool offer_python(const struct solver *s, const struct offer *o, size_t python);
bool offer_torch(const struct solver *s, const struct offer *o, const struct build *b);
/* What rules an offer out, in atoms; 0 when it fits. `b` may be NULL. */
uint64_t offer_atoms(const struct solver *s, size_t wish, size_t i, size_t python);
/* Version that will be pinned: a range is cut to what the user asked for. */
const char *offer_version(const struct solver *s, size_t wish, const struct offer *o);

/* -------- the rest of an answer, one file each */
/* "driver 535.183.01 < 580.65.06" */
struct plan_reason reason_of(const struct solver *s, const struct judged *v,
			     const struct violation *x);
struct plan_reason *reasons_of_offer(const struct solver *s, size_t wish, size_t i, size_t *ret_n);
/* Chosen set with its sentences. */
struct plan_choice *choice_of(const struct solver *s, const struct judged *v);
struct plan_choice *choice_without_torch(const struct solver *s, int python);
void commands_fill(const struct solver *s, struct plan_choice *c);
/* `rest`: what pip has to add; NULL. */
void commands_conda(const struct solver *s, struct plan_choice *c, const char *rest);
/* Nothing fits: clash, why, what each GPU alone would get, remedies. */
/* Which kernel modules alone drive this GPU; its flavor is known. */
const char *flavor_sentence(const struct solver *s, const struct plan_gpu *g);
void unfit_fill(const struct solver *s, struct plan *p, bool brief);
/* With a choice, and no driver yet: how the distribution installs one of the flavour that the GPUs
 * need (else that was wished for). */
void driver_fill(const struct solver *s, struct plan *p);
void clash_fill(const struct solver *s, struct plan *p);
/* A driver upgrade that keeps all GPUs; NULL when none helps. *ret_driver: "580.65.06". */
const struct torch_row *upgrade_of(const struct solver *s, const struct judged *now,
				   const char **ret_driver);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans: from a target and requirements to the best set that fits, with the reason why every other
 * build was refused. All is decided from the tables; nothing is asked of the machine and nothing is
 * printed. Results live on the arena.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "base/err.h"
#include "base/strbuf.h"
#include "compat/compat.h"
#include "model/snapshot.h"
#include "plan/reqfile.h"
#include "rule/finding.h"

struct arena;
struct matrix; /* tables prepared for solving; made once a run */

struct matrix *matrix_new(struct arena *a, struct compat *c) ATTR_NONNULL;

/* -------- the target */

enum { PLAN_GPUS = 16, PLAN_PYTHONS = 24 };

struct plan_gpu {
	const char *name;
	int cc;
	size_t count;		 /* GPUs that are alike */
	const char *last_driver; /* last branch that drives it ("470"); NULL: none has dropped it,
				    or not known */
	const char *first_driver; /* lowest driver or branch; NULL not known */
	bool dropped, predates;	 /* by the target's driver */
	const char *flavor; /* of the kernel modules that alone drive it: "open", "proprietary";
			       NULL: either, or not known */
	bool other_flavor;  /* the target has the other one */
};

struct plan_python {
	const char *text; /* "3.12", "3.13t" */
	const char *full; /* "3.12.4" or as text */
	int minor;	  /* 12; 0 for Python 2.7 */
	bool threaded;
	bool active;	   /* the one that pip belongs to */
	const char *where; /* prefix; NULL: not on the machine */
};

/* What the answer rests on: "driver 535.183.01 (assumed)". */
struct plan_read {
	const char *field, *value, *source;
};

struct plan_target {
	const struct snapshot *s;
	const char *platform; /* "linux_x86_64" */
	bool windows;	      /* drivers are numbered as on Windows (WSL too) */
	bool musl;
	struct plan_gpu gpus[PLAN_GPUS];
	size_t n_gpus;
	bool no_gpu;		 /* it is known that there is none: builds without CUDA */
	const char *driver;	 /* as given: "535"; NULL not known */
	const char *driver_full; /* for comparing: a bare branch stands for the newest of it */
	const char *driver_cuda; /* newest CUDA that it knows; NULL not known */
	const char *flavor; /* of its kernel modules; NULL not known, or but one (Windows) */
	const char *glibc;	 /* NULL not known */
	struct plan_python pythons[PLAN_PYTHONS]; /* in the order of preference */
	size_t n_pythons;
	bool python_known; /* else pythons holds all that the matrix knows */
	struct plan_read *reads;
	size_t n_reads;
};

/* Reads a snapshot. More than PLAN_GPUS different GPUs: ERR_UNSUPPORTED; no GPU whose capability is
 * known: ERR_UNDECIDED. */
int plan_target_read(struct arena *a, struct matrix *m, const struct snapshot *s,
		     struct plan_target *ret, struct err *err) ATTR_MUST;

/* -------- what is asked for */

struct wishes; /* requirements sorted by package */

/*
 * Sorts requirements. A name near to one that the matrix holds, or an operand (not a line of a
 * file) that is neither in the matrix nor commonly installed beside it: ERR_UNKNOWN_NAME.
 */
int plan_wishes(struct arena *a, struct matrix *m, const struct requirement_list *list,
		struct wishes **ret, struct err *err) ATTR_MUST;

/* -------- the answer */

enum plan_tool { TOOL_PIP, TOOL_UV, TOOL_CONDA, TOOL_PIXI, TOOL_POETRY, TOOL_DOCKER, TOOL_COUNT };
const char *plan_tool_name(enum plan_tool t); /* "pip" */

struct plan_commands {
	const char **lines; /* a command, or a fragment of a file when it holds newlines */
	size_t n;
	const char *note; /* why there are none, or what to know; NULL */
};

/* A package beside torch. */
struct plan_package {
	const char *name; /* as it is installed: "cupy-cuda12x" */
	const char *version; /* NULL: not chosen by the matrix */
	const char *pin;     /* "flash-attn==2.8.3", 'jax[cuda12]==0.11.0' */
	const char *cuda;    /* CUDA of its build, NULL not known */
	const char *note;    /* NULL */
	const char *find_links; /* page of links that holds its wheels; NULL */
};

struct plan_choice {
	const struct torch_row *torch; /* NULL when torch was not asked for */
	const char *cuda, *cudnn;
	const struct plan_python *python;
	bool native; /* the driver knows the build's CUDA itself */
	bool ptx;    /* some GPU runs it only through PTX */
	struct plan_package *packages;
	size_t n_packages;
	const char **why; /* sentences */
	size_t n_why;
	struct plan_commands commands[TOOL_COUNT];
};

struct plan_reason {
	enum finding_id id;
	const char *text; /* "driver 535.183.01 < 580.65.06" */
	const char *folded; /* the same for several builds at once ("not torch<2.6"); NULL: text */
};

/* A build of torch, or (torch NULL) a release of another package. */
struct plan_build {
	const struct torch_row *torch;
	const char *package, *version, *cuda;
	const char *python; /* NULL: none of those that are there */
	const char *why;    /* for alternatives; NULL */
	struct plan_reason *reasons;
	size_t n_reasons;
};

/* One of the constraints that clash. */
struct plan_clash {
	const char *what; /* "torch==9.9", "Python 3.12", "driver 470.256.02" */
	const char *from; /* "argument 1", "assumed" */
};

struct plan_serves {
	const struct plan_gpu *gpu;
	const struct torch_row *torch; /* NULL: nothing does */
};

struct plan {
	const struct plan_target *target;
	const struct plan_choice *chosen; /* NULL: nothing fits */
	struct plan_build *alternatives;
	size_t n_alternatives;
	struct plan_build *refused;
	size_t n_refused;
	struct plan_clash *clash;
	size_t n_clash;
	bool gpu_clash; /* a GPU is among them */
	struct plan_serves *serves; /* GPU by GPU, when no build serves all */
	size_t n_serves;
	const char **why; /* when nothing fits */
	size_t n_why;
	struct remedy *remedies; /* cheapest first; with a choice: how to get a driver for it */
	size_t n_remedies;
	const struct torch_row *upgrade; /* what a newer driver would allow */
	const char *upgrade_driver;
};

struct plan_options {
	bool driver_upgrade; /* look for what a newer driver allows */
	bool brief;	     /* no refused builds and no remedies: for many targets in one run */
};

/* Solves. Never NULL; damaged tables are in compat_error. */
const struct plan *plan_solve(struct arena *a, struct matrix *m, const struct plan_target *t,
			      const struct wishes *w, const struct plan_options *o) ATTR_NONNULL;

/* -------- refused builds, folded for a table */
struct plan_fold {
	const char *package; /* NULL: torch */
	const char *first, *last; /* releases */
	const char *variants;	  /* "cu128, cu130" */
	const struct plan_reason *reasons;
	size_t n_reasons;
	size_t n, n_variants; /* builds, and of how many variants */
};
/* Consecutive releases that are refused for the same reasons, newest first. */
struct plan_fold *plan_fold(struct arena *a, const struct plan *p, size_t *ret_n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stack rungs: an environment's own libraries, each in a process of its own, by the very files that
 * its frameworks would get. Runs code of that environment: only where the user asked for it.
 */
#ifndef PROVE_STACK_H
#define PROVE_STACK_H

#include "base/err.h"
#include "prove/prove.h"

struct stack_library {
	const char *stem;   /* "libcublas.so" */
	const char *soname; /* "libcublas.so.13"; NULL: there is none */
	const char *path;   /* the file that the loader takes */
	const char *via;    /* how it is found: "DT_RPATH", "LD_LIBRARY_PATH", ... */
	const char *own;    /* the environment's own copy, when `path` is another one; NULL */
};

enum stack_id {
	STACK_CUDART,
	STACK_CUBLASLT,
	STACK_CUBLAS,
	STACK_CUDNN,
	STACK_CUFFT,
	STACK_CUSPARSE,
	STACK_CUSOLVER,
	STACK_NVRTC,
	STACK_NVJITLINK,
	STACK_NCCL,
	STACK_LIBRARIES
};

struct stack {
	const char *prefix;    /* "/opt/venv" */
	const char *site;      /* its site-packages, or NULL */
	const char *python;    /* its interpreter, or NULL */
	const char *ptxas;     /* Triton's, or NULL */
	const char *ptxas_10;  /* the one that it takes from 10.0 on, where it has two; or NULL */
	const char *framework; /* the library whose search path counted, or NULL */
	struct stack_library libraries[STACK_LIBRARIES];
};

/* PREFIX, or "auto": the active environment, else the python3 on PATH, else the toolkit. ERR_NOENT
 * with the reason. */
int stack_find(struct arena *a, const char *prefix, struct stack *ret, struct err *err) ATTR_MUST;

/* What a stack rung gets: a lab with a context, the libraries it may load. */
struct stack_rung {
	const char *name;
	int (*run)(struct lab *l, const struct stack *s);
	int deadline_s;
	enum stack_id needs;	 /* STACK_LIBRARIES: none of them */
	enum stack_id before[4]; /* to be loaded first; ends with STACK_LIBRARIES */
	bool bench;		 /* with --bench alone */
	bool all_gpus;		 /* its row is not of one GPU */
};
extern const struct stack_rung *const stack_rungs[]; /* NULL-terminated */

/*
 * The rungs on GPU `gpu` of the run `p`, all at once; appends their rows. What rests on a ladder
 * that broke is skipped; gpu -1: all of it.
 */
void stack_run(struct arena *a, const struct prove_options *o, const struct stack *s, int gpu,
	       struct proof *p);

/* The same for the environment's Python and its frameworks. */
void exec_run(struct arena *a, const struct prove_options *o, const struct stack *s, int gpu,
	      struct proof *p);

/*
 * Loads a library (with what goes before it) and its functions; NULL: the outcome says why. Fails
 * when the file that answers is another one than the environment's.
 */
void *stack_open(struct lab *l, const struct stack *s, enum stack_id id);
/* A function of it; NULL: the outcome says which one is missing. */
void *stack_symbol(struct lab *l, void *handle, const char *name);

extern const struct stack_rung stack_cudart, stack_cublas, stack_cublaslt, stack_gemm, stack_cudnn,
	stack_cufft, stack_cusolver, stack_nvrtc, stack_nvjitlink, stack_nccl, stack_ptxas;

#endif

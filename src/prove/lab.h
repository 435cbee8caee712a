/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside a worker: one process, one GPU. The calls of the driver by name, buffers whose results
 * are poisoned before and fenced on both sides, random numbers, modules. Runs in a child
 * (sys/child) alone; nothing here prints. No rung waits for more than the driver: the parent has
 * the clock.
 */
#ifndef PROVE_LAB_H
#define PROVE_LAB_H

#include "base/arena.h"
#include "prove/cu.h"
#include "prove/proof.h"
#include "sys/dl.h"

enum { LAB_CODE_LACKS = -2 }; /* this libcuda has no such call */

/* Shared with the parent: which call is under way, should the worker not live to say it. */
struct lab_progress {
	int32_t call; /* enum cu_call; negative: `doing` */
	char doing[60];
};

/* Shared by all workers: what is measured, is measured by one at a time. 0: nobody. */
struct lab_turn {
	_Atomic int32_t holder; /* its GPU's number and one */
};

struct compat;
struct prove_signals;

struct prove_options {
	bool full, bench;
	bool keep_going; /* a broken rung above the base ends nothing */
	bool busy;	 /* somebody else uses the GPUs: speed is reported, not judged */
	int gpu;	 /* the only one, -1: all */
	long timeout_s;	 /* for one rung; 0: its own */
	uint64_t seed;
	const char *library;   /* "libcuda.so.1" */
	struct lab_turn *turn; /* NULL: there are no others */
	struct compat *compat; /* what is to be expected; NULL: not known */
	struct prove_signals *signals; /* the keeper's; NULL: a signal ends it */
};

struct lab_module;

struct lab {
	struct arena *a;
	const struct prove_options *opt;
	volatile struct lab_progress *progress;
	struct proof_outcome *o; /* of the present rung */
	struct cu_api cu;
	struct dl_report library;
	int code;    /* of the last call */
	int ordinal; /* of the GPU in this process */
	CUdevice dev;
	CUcontext ctx;
	int cc, sms, version;
	CUmodule modules[16]; /* by enum lab_image */
	uint64_t random;
	uint64_t free_bytes;
};

/* The call, noted in advance; gives its code (0: success) and keeps it. */
#define CU(l, fn, ...)                 \
	(lab_calls((l), CU_CALL_##fn), \
	 lab_called((l), CU_CALL_##fn, \
		    (l)->cu.fn ? (int)(l)->cu.fn(__VA_ARGS__) : (int)LAB_CODE_LACKS))
/* In a function that gives 0 or -1: ends it at the first call that fails. */
#define TRY(l, fn, ...)                            \
	do {                                       \
		if (CU((l), fn, __VA_ARGS__) != 0) \
			return -1;                 \
	} while (0)

void lab_calls(struct lab *l, enum cu_call c);
int lab_called(struct lab *l, enum cu_call c, int code);
/* For what is no call of libcuda: "JIT of base_sm50". */
void lab_doing(struct lab *l, const char *what);
/* Results of a rung, with the reason; each gives -1, so that `return lab_fail(...)` ends it. */
int lab_fail(struct lab *l, const char *fmt, ...) ATTR_PRINTF(2, 3);
int lab_skip(struct lab *l, const char *fmt, ...) ATTR_PRINTF(2, 3);
int lab_doubt(struct lab *l, const char *fmt, ...) ATTR_PRINTF(2, 3); /* inconclusive */
void lab_figure(struct lab *l, const char *name, double value);

double lab_now_ms(void);
uint32_t lab_u32(struct lab *l);
void lab_fill_u32(struct lab *l, uint32_t *p, size_t n);
/* In [lo, hi), all bits of the mantissa in use. */
float lab_float(struct lab *l, float lo, float hi);

/* ---- buffers */

enum { LAB_FENCE = 256 };

struct lab_buffer {
	CUdeviceptr p;	  /* what a kernel gets */
	CUdeviceptr base; /* what was allocated */
	size_t bytes;
};

/* Device memory with a copy of `from`. */
int lab_in(struct lab *l, const void *from, size_t bytes, struct lab_buffer *ret);
/* Device memory full of poison (NaN in every format), fenced. */
int lab_out(struct lab *l, size_t bytes, struct lab_buffer *ret);
/* Waits for the GPU, fetches the result, checks that the fences stand, frees it. */
int lab_take(struct lab *l, struct lab_buffer *b, void *to);
int lab_free(struct lab *l, struct lab_buffer *b);
/*
 * Word by word; "word 17 is 0x..., not 0x..." and how many differ when it fails. A result that is
 * the poison is one that was never written.
 */
int lab_compare(struct lab *l, const char *what, const uint32_t *got, const uint32_t *want,
		size_t n);
/* |got - want| <= bound[i]; NaN never passes. Figure "max_error" in units of the bound. */
int lab_near(struct lab *l, const char *what, const float *got, const double *want,
	     const double *bound, size_t n);

/* ---- kernels */

enum lab_image {
	IMAGE_BASE,
	IMAGE_MEMORY,
	IMAGE_WARP50,
	IMAGE_WARP70,
	IMAGE_TENSOR70,
	IMAGE_TENSOR72,
	IMAGE_TENSOR80,
	IMAGE_TENSOR89,
	IMAGE_TENSOR90A,
	IMAGES
};

/* PTX text, NUL-terminated; its length without the NUL. */
const char *lab_image_text(enum lab_image i, size_t *ret_n);
const char *lab_image_name(enum lab_image i);
int lab_kernel(struct lab *l, enum lab_image image, const char *name, CUfunction *ret);

struct lab_launch {
	CUfunction f;
	unsigned blocks, threads, shared;
	CUstream stream;
};
int lab_launch(struct lab *l, const struct lab_launch *how, void **args);
/* Kernel, launch on the null stream, in one. */
int lab_run(struct lab *l, enum lab_image image, const char *name, unsigned blocks,
	    unsigned threads, void **args);
/* Runs cuvet_fill of the base module and looks at every word. */
int lab_fill_check(struct lab *l);

/* ---- the ladder */

struct rung {
	const char *name;
	int (*run)(struct lab *l); /* 0: passed */
	int deadline_s;
	int first_cc; /* 89; 0: all */
	int only_cc;  /* 90; 0: all */
	bool base;    /* all later ones rest on it: where it is skipped, they are too */
	enum { RUNG_ALWAYS, RUNG_FULL, RUNG_BENCH } when;
};

extern const struct rung *const ladder[]; /* NULL-terminated, in order */

extern const struct rung rung_library, rung_init, rung_device, rung_context, rung_allocation,
	rung_copy, rung_jit, rung_sass, rung_embedded;
extern const struct rung rung_fma, rung_integer, rung_shared, rung_warp, rung_reduction,
	rung_constant, rung_dynamic, rung_cooperative;
extern const struct rung rung_streams, rung_graph, rung_pinned, rung_print, rung_assert;
extern const struct rung rung_f16, rung_bf16, rung_tf32, rung_s8, rung_fp8, rung_wgmma;
extern const struct rung rung_memory;
extern const struct rung bench_host_to_device, bench_device_to_host, bench_pageable, bench_device,
	bench_launch;

#endif

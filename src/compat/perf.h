/* SPDX-License-Identifier: Apache-2.0 */
/* What a GPU can give at most, and what part of it a good set-up reaches. Table: perf. */
#ifndef COMPAT_PERF_H
#define COMPAT_PERF_H

#include "compat/compat.h"

enum perf_kind {
	PERF_MEMORY, /* GB/s, reads and writes together */
	PERF_FP32,   /* TFLOP/s from here on, dense, sums kept in fp32 */
	PERF_TF32,
	PERF_BF16,
	PERF_FP16,
	PERF_FP8,
	PERF_KINDS
};

struct perf {
	double peak[PERF_KINDS];    /* 0: not known */
	double share[PERF_KINDS];   /* part of the peak that is to be expected */
	bool inferred[PERF_KINDS];  /* derived, or from memory alone */
};

/* `name` as the driver prints it, with or without "NVIDIA ". Unknown: all peaks 0. */
void compat_perf(struct compat *c, const char *name, struct perf *ret);
/* GB/s one way over a PCIe link of `lanes` of that generation; 0: not known. */
double compat_perf_link(struct compat *c, unsigned generation, unsigned lanes, double *ret_share);
/* "memory", "bf16", ...; PERF_KINDS when there is none of that name. */
enum perf_kind compat_perf_kind(const char *name);

#endif

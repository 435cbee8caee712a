/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions of drivers, CUDA, cuDNN, glibc and compute capabilities: parse and compare. Python's are
 * in pep440.
 */
#ifndef MODEL_VERSION_H
#define MODEL_VERSION_H

#include <stdbool.h>

#include "base/view.h"

struct arena;

enum { VERSION_PARTS = 6 };

/* "580.65.06" is 580, 65, 6. Missing parts compare as 0, so 12.4 equals 12.4.0. */
struct version {
	unsigned part[VERSION_PARTS];
	unsigned n; /* parts that were written */
};

/*
 * Digits and dots, whole view ("12.4", "580.65.06", "9.1.0.70"). More than VERSION_PARTS parts,
 * empty parts and parts above 2^31 are malformed.
 */
bool version_parse(struct view v, struct version *ret);
/*
 * As version_parse, but stops at the first character that cannot belong ("570.86.15-0ubuntu1",
 * "2.6.0+cu124").
 */
bool version_prefix(struct view v, struct version *ret);
int version_cmp(const struct version *a, const struct version *b); /* <0, 0, >0 */
/* Convenience on text: compares a and b, malformed text sorts first. */
int version_cmp_str(const char *a, const char *b);
/* a >= b; false when either is NULL or malformed. */
bool version_at_least(const char *a, const char *b);
/* "11.8.89" is within "11.8" and "11", and not within "11.80": by the parts that `series` has. */
bool version_within(const char *version, const char *series);

/* Number of CUDA's API ("12040", cuDriverGetVersion) to "12.4"; NULL for 0 or less. */
const char *version_of_cuda_number(struct arena *a, long number);
/* "cu124" to "12.4", "cu118" to "11.8", "cu92" to "9.2"; NULL when it is no such tag. */
const char *version_of_cu_tag(struct arena *a, const char *tag);

/*
 * Compute capability as ten times major plus minor: "8.9" is 89, "12.0" is 120. -1 when malformed.
 */
int cc_parse(const char *text);
const char *cc_text(struct arena *a, int cc); /* 89 to "8.9" */

/*
 * One entry of an arch list: "sm_90a", "compute_120", "sm_100f". Malformed or unknown kinds give
 * false.
 */
enum arch_kind { ARCH_SASS, ARCH_PTX };
struct arch {
	enum arch_kind kind;
	int cc;	     /* 90 */
	char suffix; /* '\0', 'a' or 'f' */
};
bool arch_parse(const char *text, struct arch *ret);

/*
 * Does code for `target` run on a device of capability cc?  ARCH_RUNS_JIT: PTX, if the driver knows
 * its ISA. Cubin X.y: X.z with z >= y (Tegra 5.3, 6.2, 7.2, 8.7, 11.0 only from their own); 'a' on
 * exactly its own capability; 'f' on its family (same major, z >= y). sm_101 is sm_110 (renamed in
 * CUDA 13.0). Source: CUDA C++ Programming Guide, binary compatibility; design.md.
 */
enum arch_run { ARCH_NO, ARCH_RUNS, ARCH_RUNS_JIT };
enum arch_run arch_runs(const struct arch *target, int device_cc);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What there is to be proved on a machine with MIG: libcuda shows a process one MIG device at most,
 * so that the list is NVML's. For the keeper.
 */
#ifndef PROVE_TARGET_H
#define PROVE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct prove_signals;

enum { TARGETS_MAX = 64 };

struct targets {
	uint32_t n;
	bool mig; /* a MIG device is among them */
	/* As CUDA_VISIBLE_DEVICES takes them: of MIG devices, and of GPUs that are not divided. */
	char uuid[TARGETS_MAX][96];
};

/* Has the driver made MIG devices? By /proc, without a call. */
bool target_hint(struct arena *a);
/* Asks NVML in a child. False when it does not say, or when there is no MIG device. */
bool target_list(struct targets *ret, struct prove_signals *signals);

#endif

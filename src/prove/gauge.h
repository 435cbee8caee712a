/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVML says about a GPU while it is measured: the link, why clocks are held back, who else
 * uses it. In a worker alone. Without NVML the measurements stand by themselves.
 */
#ifndef PROVE_GAUGE_H
#define PROVE_GAUGE_H

#include "compat/perf.h"
#include "probe/nvml_api.h"
#include "prove/lab.h"

typedef struct nvml_utilization {
	unsigned int gpu, memory; /* percent of the last moments */
} nvmlUtilization_t;

/* Source: NVML API reference. All optional but the first two. */
struct gauge_api {
	nvmlReturn_t (*nvmlInit_v2)(void);
	nvmlReturn_t (*nvmlDeviceGetHandleByPciBusId_v2)(const char *, nvmlDevice_t *);
	nvmlReturn_t (*nvmlDeviceGetCount_v2)(unsigned int *);
	nvmlReturn_t (*nvmlDeviceGetHandleByIndex_v2)(unsigned int, nvmlDevice_t *);
	nvmlReturn_t (*nvmlDeviceGetUtilizationRates)(nvmlDevice_t, nvmlUtilization_t *);
	nvmlReturn_t (*nvmlDeviceGetCurrPcieLinkGeneration)(nvmlDevice_t, unsigned int *);
	nvmlReturn_t (*nvmlDeviceGetCurrPcieLinkWidth)(nvmlDevice_t, unsigned int *);
	nvmlReturn_t (*nvmlDeviceGetMaxPcieLinkGeneration)(nvmlDevice_t, unsigned int *);
	nvmlReturn_t (*nvmlDeviceGetMaxPcieLinkWidth)(nvmlDevice_t, unsigned int *);
	nvmlReturn_t (*nvmlDeviceGetCurrentClocksThrottleReasons)(nvmlDevice_t,
								  unsigned long long *);
	nvmlReturn_t (*nvmlDeviceGetEnforcedPowerLimit)(nvmlDevice_t, unsigned int *);
	nvmlReturn_t (*nvmlDeviceGetPowerManagementDefaultLimit)(nvmlDevice_t, unsigned int *);
	nvmlReturn_t (*nvmlDeviceGetEccMode)(nvmlDevice_t, int *, int *);
};

/* Does somebody use a GPU of this machine? Asks NVML in a child; without it: no. For the keeper. */
bool gauge_busy(struct prove_signals *signals);

struct gauge {
	bool there;
	struct gauge_api api;
	nvmlDevice_t dev;
	unsigned gen, width, max_gen, max_width; /* of the PCIe link; 0: not known */
	unsigned long long held_back; /* bits nvmlClocksThrottleReason*, of all readings */
	unsigned watts, full_watts; /* the limit in force, and the card's own; 0: not known */
	bool ecc;
	bool slice; /* a MIG device: whole figures do not hold for it */
	struct perf perf;
};

/* What is held against what. */
struct gauge_claim {
	enum { GAUGE_LINK, GAUGE_MEMORY, GAUGE_COMPUTE } of;
	const char *name; /* in front of its figures: "bf16"; "" */
	double value, expected; /* expected 0: not known, nothing is said */
	bool inferred;		/* the expected figure is */
};

/* Never fails: without NVML `there` is false. */
void gauge_open(struct lab *l, struct gauge *g);
/* Reads link and reasons: to be called while the GPU works, since both change when it rests. */
void gauge_read(struct gauge *g);
/*
 * GB/s that a good set-up gets one way over the link that card and slot could have, so that fewer
 * lanes or an older generation than that show; 0: not known.
 */
double gauge_link_rate(struct lab *l, const struct gauge *g);
/* Peak x share of the table for a whole GPU; 0: not known. */
double gauge_expected(const struct gauge *g, enum perf_kind kind);
/* Figures "expected_gb_per_s" (of claims without a name) and "ratio"; nothing when not known. */
void gauge_figures(struct lab *l, const struct gauge_claim *c);
/*
 * Below 0.8 the rung becomes inconclusive, with what may be the cause; where others use GPUs it is
 * not judged. 0 or -1.
 */
int gauge_judge(struct lab *l, const struct gauge *g, const struct gauge_claim *c);

#endif

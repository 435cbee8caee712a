/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVML says about a GPU while it is measured: the link, why clocks are held back, who else
 * uses it. In a worker alone. Without NVML the measurements stand by themselves.
 */
#ifndef PROVE_GAUGE_H
#define PROVE_GAUGE_H

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
};

/* Does somebody use a GPU of this machine? Asks NVML in a child; without it: no. For the keeper. */
bool gauge_busy(void);

struct gauge {
	bool there;
	struct gauge_api api;
	nvmlDevice_t dev;
	unsigned gen, width, max_gen, max_width; /* of the PCIe link; 0: not known */
	unsigned long long held_back;		 /* bits nvmlClocksThrottleReason* */
};

/* Never fails: without NVML `there` is false. */
void gauge_open(struct lab *l, struct gauge *g);
/* Reads link and reasons: to be called while the GPU works, since both change when it rests. */
void gauge_read(struct gauge *g);
/* GB/s that the link carries one way, its coding taken off; 0: not known. */
double gauge_link_rate(const struct gauge *g);
/*
 * Figures "expected_..." and "ratio" for `value` against `expected`. Below 0.8 the rung becomes
 * inconclusive, with what may be the cause; a GPU that others use is not judged. 0 or -1.
 */
int gauge_judge(struct lab *l, const struct gauge *g, double value, double expected);

#endif

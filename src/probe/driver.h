/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the driver probe: what its two children answer, and the steps that its files share. The
 * answers come from foreign libraries: each value has a code of its own, and nothing is believed
 * before it was checked.
 */
#ifndef PROBE_DRIVER_H
#define PROBE_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/probe.h"
#include "sys/child.h"
#include "sys/dl.h"

enum {
	DRIVER_GPUS_MAX = 64,	    /* of which details are asked; the count itself may be higher */
	DRIVER_COUNT_MAX = 1024,    /* more is no count */
	DRIVER_PIDS_MAX = 32,	    /* of one GPU */
	DRIVER_MIG_MAX = 128,	    /* over all GPUs */
	DRIVER_TEXT = 96,	    /* NVML's longest name or UUID */
	DRIVER_DEADLINE_MS = 10000, /* unless $CUVET_DRIVER_TIMEOUT_MS says otherwise */
	DRIVER_NVML_SLOW_MS = 100,  /* after which cuInit is called without waiting for NVML */
};

/* Codes of a value: 0 and above is what the call returned; 0 means that the value counts. */
enum { CODE_GARBAGE = -1, CODE_LACKS = -2, CODE_NOT_CALLED = -3 };

struct driver_text {
	int code;
	char s[DRIVER_TEXT]; /* NUL-terminated */
};

struct driver_number {
	int code;
	int64_t n;
};

/* Shared with a child: how far it came, should it not live to answer. */
struct driver_progress {
	int32_t call; /* index into the API's symbols; negative: loading */
	int32_t init_done;
	int32_t init; /* what the first call returned, once init_done */
};

struct driver_ask {
	const char *library;
	volatile struct driver_progress *progress;
};

struct cuda_device {
	struct driver_number handle, major, minor, memory; /* memory in bytes */
	struct driver_text name, address;
	struct driver_number has_uuid;
	unsigned char uuid[16];
};

struct cuda_answer {
	struct dl_report library;
	struct driver_number init, version, count;
	uint32_t n; /* of devices that follow */
	struct cuda_device devices[DRIVER_GPUS_MAX];
};

struct nvml_device {
	struct driver_number handle, major, minor, memory, compute_mode, mig, fabric, pci;
	struct driver_text name, uuid, address;
	uint32_t pci_id, pci_subsystem; /* device in the upper half, vendor in the lower */
	uint32_t fabric_status;
	struct driver_number ecc, remap_pending, remap_failed, retired, persistence, virtualization,
		license; /* license: 1 when a feature is licensed */
	struct driver_number ecc_mode, clocks, processes;
	uint32_t pids[DRIVER_PIDS_MAX]; /* of the first processes */
};

struct nvml_mig {
	uint32_t gpu;
	struct driver_text uuid;
};

struct nvml_answer {
	struct dl_report library;
	struct driver_number init, cuda, count, conf_compute, conf_ready;
	struct driver_text driver;
	uint32_t n_mig;
	struct nvml_mig mig[DRIVER_MIG_MAX];
	uint32_t n; /* of devices that follow */
	struct nvml_device devices[DRIVER_GPUS_MAX];
};

/* A driver call in progress. */
struct driver_call {
	struct child child;
	struct driver_ask ask;
	struct driver_progress *progress;
	struct child_result result;
	const char *const *names; /* of the calls, by progress->call */
	size_t n_names;
};

struct live_calls {
	struct driver_call nvml, cuda;
	struct nvml_answer *nvml_answer;
	struct cuda_answer *cuda_answer;
	bool cuda_started;
	long started_ms, deadline_ms;
};

/* Health and licence of one device: the questions are the child's, the facts the parent's. */
struct nvml_api;
void nvml_health_ask(const struct driver_ask *ask, const struct nvml_api *api, void *dev,
		     struct nvml_device *d);
void nvml_health_facts(struct probe_ctx *p, struct gpu *g, const struct nvml_device *d);

/* The children's functions (child_fn), and the names of the calls that they make. */
long cuda_ask(void *ctx, void *answer, size_t size);
long nvml_ask(void *ctx, void *answer, size_t size);
extern const char *const cuda_call_names[];
extern const char *const nvml_call_names[];
extern const size_t n_cuda_calls, n_nvml_calls;

/* Takes a fixed buffer as a text: one without NUL, or an empty one, is CODE_GARBAGE. */
void driver_take_text(struct driver_text *t, int code, const char *buf, size_t size);

/*
 * What became of a call that gave no whole answer, as a sentence: "SIGSEGV inside cuInit",
 * "hung: no answer within 10 s from cuInit". NULL for an answer.
 */
const char *driver_failure(struct arena *a, const struct driver_call *c, long deadline_ms);
/* The state of the fact of an initialisation ("cuInit", "nvmlInit_v2"). True if further answers
 * count. */
bool driver_init_fact(struct probe_ctx *p, struct fact *f, const struct driver_call *c,
		      const struct dl_report *library, const struct driver_number *init);

/* How the child ended where it did not answer as it should: hung, crashed, exited; refused where
 * the loader does not take the library. */
void driver_end_fact(struct fact *f, const struct driver_call *c, const struct dl_report *library);

/* Ends the texts of an answer with NUL: the child wrote them beside a library that may have overrun
 * them. */
void driver_seal(struct dl_report *r, struct driver_text *t, size_t n);
/* Whole and in the agreed form? Seals its texts. n: bytes that came. */
bool nvml_answer_seal(struct nvml_answer *an, size_t n);
bool cuda_answer_seal(struct cuda_answer *an, size_t n);
/* Put the answers into the snapshot. */
void nvml_facts(struct probe_ctx *p, const struct live_calls *calls);
void cuda_facts(struct probe_ctx *p, const struct live_calls *calls);
/* The same from the facts file. */
void driver_facts_file(struct probe_ctx *p);

/*
 * Why cuInit has to be called, or NULL where all that was seen says that it will succeed. Reads the
 * snapshot of the probes before it and NVML's answer.
 */
const char *driver_doubt(struct probe_ctx *p, const struct live_calls *calls);
/* The same by the environment alone, and by what is known of nodes: before there is an answer of
 * NVML. */
const char *driver_doubt_early(struct probe_ctx *p);

/* "00000000:1B:00.0" or "0000:1b:00.0" to "0000:1b:00.0"; NULL when it is no address. */
const char *driver_address(struct arena *a, const char *text);
/* The GPU at this address, a new one if there is none; address NULL: always a new one. */
struct gpu *driver_gpu(struct probe_ctx *p, const char *address, const char *source);
/* Name of a compute mode as nvidia-smi writes it; NULL for no such number. */
const char *driver_compute_mode(int64_t mode);
/* The driver's version by NVML: nvml_driver, windows_driver on WSL, and version where no module
 * gave it. */
void driver_version_facts(struct probe_ctx *p, const char *version, const char *source);
/* cuda_ceiling from "12040" form; broken if senseless. */
void driver_ceiling_fact(struct probe_ctx *p, int64_t number, const char *source);

#endif

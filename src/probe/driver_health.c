/* SPDX-License-Identifier: Apache-2.0 */
/* NVML's counters of a GPU's health, its place in a virtual machine and its licence. Asks; never
 * resets or sets. */
#include <string.h>

#include "base/arena.h"
#include "probe/driver.h"
#include "probe/nvml_api.h"

enum {
#define REQ(name, args) CALL_##name,
#define OPT(name, args) CALL_##name,
#include "probe/nvml_api.def"
};

#define CALL(ask, api, fn, ...)             \
	((ask)->progress->call = CALL_##fn, \
	 (api)->fn ? (int)(api)->fn(__VA_ARGS__) : (int)CODE_LACKS)

static void ask_license(const struct driver_ask *ask, const struct nvml_api *api, nvmlDevice_t dev,
			struct driver_number *ret)
{
	nvmlGridLicensableFeatures_t f;
	unsigned i;

	ret->code = CODE_NOT_CALLED;
	memset(&f, 0, sizeof(f));
	ret->code = CALL(ask, api, nvmlDeviceGetGridLicensableFeatures_v4, dev, &f);
	ret->n = 0;
	if (!f.isGridLicenseSupported && ret->code == 0)
		ret->code = CODE_NOT_CALLED;
	for (i = 0; i < f.licensableFeaturesCount && i < NVML_GRID_LICENSE_FEATURE_MAX_COUNT; i++)
		if (f.gridLicensableFeatures[i].featureState)
			ret->n = 1;
}

/* What programs compute on it, and what keeps its clocks down: of this moment alone. */
static void ask_load(const struct driver_ask *ask, const struct nvml_api *api, nvmlDevice_t dev,
		     struct nvml_device *d)
{
	nvmlProcessInfo_t list[DRIVER_PIDS_MAX];
	unsigned long long reasons = 0;
	unsigned n = DRIVER_PIDS_MAX, i;

	memset(list, 0, sizeof(list));
	if (api->nvmlDeviceGetCurrentClocksEventReasons)
		d->clocks.code =
			CALL(ask, api, nvmlDeviceGetCurrentClocksEventReasons, dev, &reasons);
	else
		d->clocks.code =
			CALL(ask, api, nvmlDeviceGetCurrentClocksThrottleReasons, dev, &reasons);
	d->clocks.n = (int64_t)(reasons & INT64_MAX);
	d->processes.code =
		CALL(ask, api, nvmlDeviceGetComputeRunningProcesses_v3, dev, &n, list);
	/* More than there is room for: it says how many. */
	if (d->processes.code == NVML_ERROR_INSUFFICIENT_SIZE)
		d->processes.code = 0;
	d->processes.n = n;
	for (i = 0; i < n && i < DRIVER_PIDS_MAX; i++)
		d->pids[i] = list[i].pid;
}

void nvml_health_ask(const struct driver_ask *ask, const struct nvml_api *api, void *dev,
		     struct nvml_device *d)
{
	unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
	nvmlEnableState_t retired = 0, persistence = ~0U, ecc_now = ~0U, ecc_next = ~0U;
	nvmlGpuVirtualizationMode_t mode = ~0U;
	unsigned long long ecc = 0;

	d->ecc.code = CALL(ask, api, nvmlDeviceGetTotalEccErrors, dev,
			   NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC, &ecc);
	d->ecc.n = ecc > INT64_MAX ? INT64_MAX : (int64_t)ecc;
	d->remap_pending.code = d->remap_failed.code =
		CALL(ask, api, nvmlDeviceGetRemappedRows, dev, &corrected, &uncorrected, &pending,
		     &failed);
	d->remap_pending.n = pending;
	d->remap_failed.n = failed;
	/* Pages were retired before rows could be remapped: a GPU has one or the other. */
	d->retired.code = CODE_NOT_CALLED;
	if (d->remap_pending.code)
		d->retired.code =
			CALL(ask, api, nvmlDeviceGetRetiredPagesPendingStatus, dev, &retired);
	d->retired.n = retired;
	d->persistence.code = CALL(ask, api, nvmlDeviceGetPersistenceMode, dev, &persistence);
	d->persistence.n = persistence;
	d->ecc_mode.code = CALL(ask, api, nvmlDeviceGetEccMode, dev, &ecc_now, &ecc_next);
	d->ecc_mode.n = ecc_now;
	ask_load(ask, api, dev, d);
	d->virtualization.code = CALL(ask, api, nvmlDeviceGetVirtualizationMode, dev, &mode);
	d->virtualization.n = mode;
	d->license.code = CODE_NOT_CALLED;
	if (d->virtualization.code == 0 && mode == NVML_GPU_VIRTUALIZATION_MODE_VGPU)
		ask_license(ask, api, dev, &d->license);
}

static const char *virtualization_name(int64_t mode)
{
	static const char *const names[] = { "none", "passthrough", "vgpu", "host-vgpu",
					     "host-vsga" };

	return mode >= 0 && mode < (int64_t)ARRAY_LEN(names) ? names[mode] : NULL;
}

static const char *fabric_name(const struct nvml_device *d)
{
	static const char *const names[] = { "none", "not-started", "in-progress", "completed" };

	if (d->fabric.code || d->fabric.n < 0 || d->fabric.n >= (int64_t)ARRAY_LEN(names))
		return NULL;
	return d->fabric.n == NVML_GPU_FABRIC_STATE_COMPLETED && d->fabric_status
		       ? "failed"
		       : names[d->fabric.n];
}

/* Bits of nvmlClocksEventReasons, by the names that nvidia-smi --query-gpu uses. */
static void clocks_fact(struct probe_ctx *p, struct gpu *g, uint64_t reasons)
{
	static const char *const names[] = {
		"gpu_idle",	       "applications_clocks_setting", "sw_power_cap",
		"hw_slowdown",	       "sync_boost",		      "sw_thermal_slowdown",
		"hw_thermal_slowdown", "hw_power_brake_slowdown",     "display_clock_setting",
	};
	const char **list = arena_calloc(p->a, ARRAY_LEN(names), sizeof(*list));
	size_t n = 0, i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (reasons >> i & 1)
			list[n++] = names[i];
	fact_list_set(&g->clocks_held, list, n, "nvmlDeviceGetCurrentClocksEventReasons");
}

/* The server of MPS holds the GPU for its clients: who it is, /proc says. */
static void processes_fact(struct probe_ctx *p, struct gpu *g, const struct nvml_device *d)
{
	static const char source[] = "nvmlDeviceGetComputeRunningProcesses";
	const char *name, *path;
	int64_t i;

	if (d->processes.n < 0 || d->processes.n > 100000)
		return;
	fact_int(p->a, &g->processes, d->processes.n, source);
	for (i = 0; i < d->processes.n && i < DRIVER_PIDS_MAX; i++) {
		path = arena_printf(p->a, "/proc/%u/comm", d->pids[i]);
		if (sysroot_read_line(p->root, p->a, path, &name) == 0 &&
		    view_starts(view_of(name), "nvidia-cuda-mps"))
			fact_flag(&g->mps_server, true, path);
	}
}

void nvml_health_facts(struct probe_ctx *p, struct gpu *g, const struct nvml_device *d)
{
	const char *fabric = fabric_name(d), *mode = virtualization_name(d->virtualization.n);

	if (d->ecc.code == 0)
		fact_int(p->a, &g->ecc_errors, d->ecc.n, "nvmlDeviceGetTotalEccErrors");
	if (d->remap_pending.code == 0)
		fact_set(&g->row_remap,
			 d->remap_failed.n    ? "failed"
			 : d->remap_pending.n ? "pending"
					      : "none",
			 "nvmlDeviceGetRemappedRows");
	if (d->retired.code == 0)
		fact_flag(&g->retired_pending, d->retired.n != 0,
			  "nvmlDeviceGetRetiredPagesPendingStatus");
	if (d->persistence.code == 0)
		fact_flag(&g->persistence, d->persistence.n == 1, "nvmlDeviceGetPersistenceMode");
	if (d->ecc_mode.code == 0 && d->ecc_mode.n <= 1)
		fact_set(&g->ecc_mode, d->ecc_mode.n ? "on" : "off", "nvmlDeviceGetEccMode");
	if (d->clocks.code == 0)
		clocks_fact(p, g, (uint64_t)d->clocks.n);
	if (d->processes.code == 0)
		processes_fact(p, g, d);
	if (d->virtualization.code == 0 && mode)
		fact_set(&g->virtualization, mode, "nvmlDeviceGetVirtualizationMode");
	if (d->license.code == 0)
		fact_set(&g->license, d->license.n ? "licensed" : "unlicensed",
			 "nvmlDeviceGetGridLicensableFeatures");
	if (fabric)
		fact_set(&g->fabric, fabric, "nvmlDeviceGetGpuFabricInfo");
}
